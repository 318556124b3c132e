"""Intervals come by themselves where they take a second or two; where they take too long, a press computes without."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from openworld_metrics.pages import intervals
from openworld_metrics.pages.events.inputs import Events
from openworld_metrics.pages.events.results import Answers
from openworld_metrics.pages.form.form import Form
from openworld_metrics.pages.runner import Runner
from openworld_metrics.pages.serving import costs
from openworld_metrics.pages.serving.costs import Drawing


@pytest.fixture
def runner(root: Path) -> Runner:
    page = importlib.import_module("openworld_metrics.pages.metrics.ood_bench").PAGE
    return Runner(page, root / "metrics" / "ood_bench")


def form_of(detectors: int = 1, rows: int = 40, groups: int = 1, **options: Any) -> Form:
    """Scores of some detectors on the same samples, in groups of equal size."""
    names = [f"det{chr(97 + i)}" for i in range(detectors)]
    table = pd.DataFrame({name: (np.arange(rows) * (i + 1) % rows) / rows for i, name in enumerate(names)})
    table["label"], table["dataset"] = np.arange(rows) % 2, [f"set {i // 2 % groups}" for i in range(rows)]
    made_of = {"predictions": names, "references": ["label"], "groups": ["dataset"] if groups > 1 else ["no groups"]}
    return Form(tables=[table], made_of=made_of, options={name: str(value) for name, value in options.items()})


def test_the_cost_of_a_resample() -> None:
    """Per group, per number of each, and per sample with a fifth of it for each number."""
    drawing = Drawing(sample=1, group=100, number=10)
    assert drawing.steps({"auroc": 0.5}, groups=1, samples=50) == 100 + 10 + 60
    results = {"auroc": 0.5, "groups": {"group": ["a", "b"], "auroc": [0.4, 0.6]}}
    assert drawing.steps(results, groups=2, samples=50) == 200 + 30 + 60


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (form_of(), True),
        (form_of(detectors=3, rows=1_000), True),  # nine times 2,000 + 2 · 1,000 + 1,400
        (form_of(detectors=3, rows=2_000), True),
        (form_of(detectors=4, rows=1_000), False),
        (form_of(detectors=3, rows=1_000, groups=4), False),
        (form_of(rows=10_000), True),
        (form_of(rows=60_000), False),
    ],
    ids=["small", "three", "three-of-more-rows", "four", "groups", "rows", "many-rows"],
)
def test_cheap_intervals_are_automatic(form: Form, expected: bool, runner: Runner) -> None:
    done = runner.run(form)
    assert intervals.can_be_added(runner.page, done)
    assert intervals.are_automatic(runner.page, done) == expected


def test_samples_of_no_group_count_in_each() -> None:
    groups = {"groups": np.asarray(["", "far", "near"]), "metric": np.asarray("ood_bench")}
    scores = {f"{i}/scores": np.zeros(2) for i in range(3)}
    assert costs.num_rows({**groups, **scores}) == (2, 8)
    assert costs.num_rows({"scores": np.zeros(2), "metric": np.asarray("ood_bench")}) == (1, 2)


def test_a_press_computes_without_intervals(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "MAX_RESAMPLED", 30)
    answers, events = Answers(runner), Events(runner)
    form = form_of(confidence_level=0.9)
    refused = answers.press(form)
    assert "draw intervals of at most 30 rows of the data, not 40" in refused["message"]["value"]
    assert refused["without"]["visible"]
    (change,) = events.without(form)["options"].values()
    plain = answers.press(form._replace(options={"confidence_level": change["value"]}))
    assert plain["results"]["visible"]
    assert not plain["without"]["visible"]
    wrong = answers.press(form_of(confidence_level=2))
    assert not wrong["without"]["visible"], "it would not cure that"


def test_numbers_stay_where_intervals_are_refused(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = Answers(runner)
    form = form_of(detectors=2)
    form = form._replace(token=answers.press(form)["token"])
    monkeypatch.setattr(costs, "MAX_DRAWN", 10)
    changes = answers.add(form)
    assert changes.keys() == {"compared", "add"}
    assert not changes["add"]["visible"], "it would be refused again"
    assert "There are no intervals: pages draw intervals of at most 10 steps" in changes["compared"]
    assert "2 detectors" in changes["compared"]
    assert "on their way" not in changes["compared"]
