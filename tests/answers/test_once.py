"""Nothing is computed twice: files are read, samples added, and figures made once, for all numbers and intervals."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from openworld_metrics.answers import answers, computing
from openworld_metrics.answers.answer import Answer
from openworld_metrics.answers.saved import as_json
from openworld_metrics.answers.subject import subject_of
from openworld_metrics.faces.page import worker
from openworld_metrics.loading import METRICS, metric_class, script
from openworld_metrics.metric.metric import Metric
from tests.conftest import Run

reading: Any = import_module("openworld_metrics.reading.read")  # whose name in the room is the function
ONCE: dict[str, tuple[Any, str]] = {
    "added": (Metric, "add_batch"),
    "prepared": (Metric, "prepared_parts"),
    "summed": (Metric, "results_by_group"),
    "computed": (computing, "_added"),
    "figures": (answers, "_group"),
}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each function of `ONCE`, and each reader, is called."""
    number: Counter[str] = Counter()

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*values: Any, **options: Any) -> Any:
            number[name] += 1
            return function(*values, **options)

        return call

    for name, (place, function) in ONCE.items():
        monkeypatch.setattr(place, function, counted(name, getattr(place, function)))
    for place in (worker, reading):
        monkeypatch.setattr(place, "rows_of", counted("read", place.rows_of))
    readers = {name: one._replace(read=counted("read", one.read)) for name, one in reading.READERS.items()}
    monkeypatch.setattr(reading, "READERS", readers)
    monkeypatch.setattr(worker, "READERS", readers)
    return number


def request(metric: str) -> worker.Request:
    """A page's request for the example of a metric."""
    example, folder = subject_of(metric).example, script(metric).parent / "examples"
    files = [{Path(name).stem: [str(folder / name)]} for name in example.files]
    options = {**metric_class(metric).options, **example.options, "n_resamples": 40}
    return worker.Request(metric, files, options=options, photographs=[str(folder / example.photographs)])


def without_pictures(done: dict[str, Answer]) -> bytes:
    return as_json({model: replace(one, images=()) for model, one in done.items()})


def values(done: dict[str, Answer]) -> dict[str, list[tuple[str, Any]]]:
    return {model: [(each.key, each.value) for each in one.numbers[model]] for model, one in done.items()}


@pytest.mark.parametrize("metric", METRICS)
def test_a_page_reads_and_computes_once(metric: str, calls: Counter[str], tmp_path: Path) -> None:
    """And has the numbers before their intervals, which are those without any."""
    wanted, early = request(metric), tmp_path / "early"
    done = worker.compute(wanted, None, "", early)
    models = len(done)
    assert calls["read"] == 1
    assert calls["computed"] == models
    assert calls["prepared"] + calls["summed"] <= 2 * models  # the latter, of all groups pooled
    assert calls["added"] <= 2 * models, "once by group and once pooled, or for intervals of the rates of images alone"
    assert calls["figures"] == sum(max(1, len(one.groups)) for one in done.values())
    first = pickle.loads(early.read_bytes())
    assert all(one.level is None and not one.images for one in first.values())
    has_intervals = any(one.level is not None for one in done.values())
    expected = worker.compute(wanted, False) if has_intervals else done
    assert without_pictures(first) == without_pictures(expected)
    assert values(first) == values(done)


@pytest.mark.parametrize("intervals", [[], ["--confidence-level", "0.9"]])
def test_compute_with_a_report_computes_once(
    intervals: list[str], calls: Counter[str], run: Run, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    lines = [f"{score},{label}" for score, label in zip(rng.random(200), rng.integers(0, 2, 200))]
    (tmp_path / "scores.csv").write_text("\n".join(["score,label", *lines]), "utf-8")
    arguments = ["--report", "report", "--save", "results.json", "--plot", "plot.png", *intervals]
    run("compute", "ood_bench", "scores.csv", *arguments)
    assert calls == {"read": 1, "computed": 1, "added": 1, "prepared": 1, "figures": 1}
