"""Detectors and data sets side by side."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import openworld_metrics
from openworld_metrics.metric.results import Rate, Summary
from openworld_metrics.pages import intervals
from openworld_metrics.pages.form.form import Form
from openworld_metrics.pages.results import pairs
from openworld_metrics.pages.results.comparison import compared
from openworld_metrics.pages.runner import Runner
from openworld_metrics.pages.serving import costs
from openworld_metrics.pages.serving.limits import MAX_DETECTORS, RefusedError
from tests.pages.figures.test_figures import page as page_of
from tests.pages.steps import numbers

Load = Any


def controls(one: Runner, **options: Any) -> list[Any]:
    return [options.get(option.name) for option in one.page.options]


def without_tags(text: str) -> str:
    return re.sub("<[^>]*>", "", text)


def runner(root: Path, name: str) -> Runner:
    return Runner(page_of(name), root / "metrics" / name)


def test_several_detectors_and_data_sets(root: Path, three: tuple[Path, dict[str, np.ndarray]], load: Load) -> None:
    """A row for each, near and far means, and the call that gives the same."""
    path, columns = three
    one = runner(root, "ood_bench")
    done = one.run(Form(files=[[path]]))
    shown = one.view(done, Form(detector="energy"))
    groups = [None if name == "cifar10" else name for name in columns["dataset"].tolist()]
    expected = {
        name: load("ood_bench").compute(predictions=columns[name], references=columns["label"], groups=groups)
        for name in ("msp", "energy", "knn")
    }
    assert numbers(shown.json) == expected
    markdown, latex, comma = shown.tables
    assert markdown.splitlines()[0].count("|") == 1 + 1 + 2 * 3, "far, near and the mean of both metrics"
    in_percent = shown.in_percent[0].splitlines()[2].split("|")[2].split()[0]
    assert in_percent == f"{100 * float(markdown.splitlines()[2].split('|')[2].split()[0]):.1f}"
    assert "% and fpr95tpr" in shown.in_percent[2]
    assert "%" not in shown.cite.splitlines()[0], "one at a time"
    lines = list(csv.reader(io.StringIO(comma)))
    assert [line[0] for line in lines[1:]] == ["msp", "energy", "knn"]
    assert float(lines[2][lines[0].index("mean auroc")]) == pytest.approx(expected["energy"]["auroc"])
    assert r"\textbf" not in latex + shown.compared, "nothing is best before it is compared"
    assert "mean of 3 groups" in shown.compared
    assert "Mean of 3 groups (pooled 0." in without_tags(shown.numbers)
    assert "All groups pooled." in shown.threshold
    names = [trace.name for trace in shown.figures[1].data]
    assert [name.split(" =")[0] for name in names[:3]] == ["energy", "msp", "knn"]
    assert shown.figures[1].layout.legend.title.text == "AUROC pooled"
    drawn = {trace.name.split(" =")[0]: (trace.line.color, trace.line.dash) for trace in shown.figures[1].data[:3]}
    assert len({*drawn.values()}) == 3
    other = one.view(done, Form(detector="knn")).figures[1].data[:3]
    assert {trace.name.split(" =")[0]: (trace.line.color, trace.line.dash) for trace in other} == drawn
    found: dict[str, Any] = {}
    exec(shown.call.replace('"scores.csv"', repr(str(path))).replace('"metrics/', f'"{root}/metrics/'), found)
    assert found["results"] == expected


def test_detectors_cost_what_they_are(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = runner(root, "ood_bench")
    path = tmp_path / "a.npz"
    columns: dict[str, Any] = {f"d{chr(97 + i)}": [0.1, 0.9] for i in range(MAX_DETECTORS + 1)}
    np.savez(path, **columns, label=[0, 1])
    made_of = {"predictions": [f"d{chr(97 + i)}" for i in range(MAX_DETECTORS + 1)], "references": ["label"]}
    with pytest.raises(RefusedError, match=f"pages take at most {MAX_DETECTORS} detectors"):
        one.run(Form(files=[[path]], made_of=made_of))
    monkeypatch.setattr(costs, "MAX_RESAMPLED", 3)
    form = Form(files=[[path]], options={"confidence_level": "0.9"})
    two, first = ({**made_of, "predictions": made_of["predictions"][:count]} for count in (2, 1))
    with pytest.raises(RefusedError, match="draw intervals of at most 3 rows of the data, not 4"):
        one.run(form._replace(made_of=two))
    done = one.run(form._replace(made_of=first))
    (found,) = done.detectors.values()
    assert found.results["auroc_low"] == 1.0


def test_every_two_detectors_are_compared(root: Path, three: tuple[Path, dict[str, np.ndarray]]) -> None:
    """Intervals and differences are those of the metric and of `compare`; what equals the best is marked."""
    path, columns = three
    one = runner(root, "ood_bench")
    made_of = {"predictions": ["msp", "energy", "knn"], "references": ["label"], "groups": ["no groups"]}
    done = one.run(Form(files=[[path]], made_of=made_of))
    assert intervals.are_automatic(one.page, done)
    sure = intervals.with_intervals(one.page, done)
    scores = {name: columns[name] for name in ("msp", "energy", "knn")}
    for name, found in sure.detectors.items():
        metric = openworld_metrics.OODBench(confidence_level=0.95)
        assert found.results == metric.compute(predictions=scores[name], references=columns["label"])
    for (first, second), rows in sure.pairs.items():
        table = openworld_metrics.compare(
            "ood_bench", scores[first], scores[second], references=columns["label"], confidence_level=0.95
        )
        for i, key in enumerate(table["key"]):
            assert rows[key] == {name: column[i] for name, column in table.items()}
            mirrored = pairs.difference(sure.pairs, second, first, key)
            assert mirrored is not None
            assert (mirrored["difference"], mirrored["low"]) == (-rows[key]["difference"], -rows[key]["high"])
    summaries = {name: found.summary for name, found in sure.detectors.items()}
    marked = pairs.marks(summaries, sure.pairs)
    for key in ("auroc", "fpr95tpr"):
        best = pairs.best_of(summaries, key)
        assert best is not None
        for name in scores:
            row = None if name == best else pairs.difference(sure.pairs, best, name, key)
            assert ((name, "mean", key) in marked) == (row is None or row["better"] is None)
    view = one.view(sure, Form())
    assert "knn vs msp: auroc +0." in without_tags(view.compared)
    assert "<strong>knn is better</strong>" in view.compared
    assert view.tables[1].count(r"\textbf") == view.compared.count("<b class='best'>") == len(marked)
    assert not intervals.can_be_added(one.page, sure)


def test_too_few_samples_have_no_intervals(root: Path) -> None:
    one = runner(root, "ood_bench")
    table = pd.DataFrame({"scores": np.arange(40) / 40, "labels": [1] * 9 + [0] * 31})
    assert not intervals.can_be_added(one.page, one.run(Form(tables=[table])))
    table["labels"] = [1] * 10 + [0] * 30
    done = one.run(Form(tables=[table]))
    assert intervals.are_automatic(one.page, done)
    many = pd.concat([table] * 2_100, ignore_index=True)
    done = one.run(Form(tables=[many]))
    assert intervals.can_be_added(one.page, done)
    assert not intervals.are_automatic(one.page, done), "later ones by one press"


def test_one_of_one_is_not_compared() -> None:
    assert compared(page_of("ood_bench"), {"a": Summary({"auroc": Rate(0.5, True)})}, {}) is None
