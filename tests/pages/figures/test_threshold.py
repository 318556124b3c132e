"""A threshold that moves: what is counted there, and that a shown one decides as it was shown."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import openworld_metrics
from openworld_metrics.answers.thresholds import plain_threshold
from openworld_metrics.loading import metric_class
from openworld_metrics.pages.figures.threshold import THRESHOLD, Sweep
from openworld_metrics.pages.results.slider import threshold_html
from openworld_metrics.pages.serving.limits import MAX_POINTS
from tests import cases
from tests.pages.figures.test_figures import computed, page as page_of

Load = Any

BINARY = ("ood_bench", "anomaly_suite")

# which the slider replaces; its rates are those of OOD samples
OTHERS = ("t_list", "threshold", "pixel_threshold", "positive")


@pytest.mark.parametrize("name", openworld_metrics.METRICS)
def test_what_moves_is_what_is_counted(name: str, load: Load) -> None:
    """At every threshold of the slider, against counts of the samples themselves; no more than 2,000 are sent."""
    columns, options = cases.draw(name, 4)
    found = computed(name, load, columns, {key: value for key, value in options.items() if key != "t_list"})
    sweep = page_of(name).sweep(found)
    if sweep is None:
        assert name in ("accuracyk", "autkc")
        return
    sent = sweep.thinned()
    assert (np.diff(sent.thresholds) > 0).all()
    assert len(json.loads(sent.sent())["thresholds"]) <= MAX_POINTS + len(sweep.presets)
    for words, place in sweep.presets.items():
        assert sent.thresholds[sent.presets[words]] == sweep.thresholds[place]
    totals = {row: sum(sweep.counts[cell] for cell in cells.values()) for row, cells in sweep.table.items()}
    assert all((total == total[0]).all() for total in totals.values())
    figures = page_of(name).draw(found)
    moving = [trace for figure in figures for trace in figure.data if "x" in (trace.meta or ())]
    assert moving
    for trace in moving:
        assert trace.x[0] == sweep.at(trace.meta["x"], sweep.start)
        assert "y" not in trace.meta or trace.y[0] == sweep.at(trace.meta["y"], sweep.start)


def test_counts_at_a_threshold(load: Load) -> None:
    scores, labels = np.asarray([0.1, 0.4, 0.4, 0.8, 0.3, 0.9]), np.asarray([0, 0, 1, 1, 1, 0])
    sweep = page_of("ood_bench").sweep(computed("ood_bench", load, {"predictions": scores, "references": labels}, {}))
    assert sweep is not None
    assert sweep.thresholds.tolist() == [0.9, 0.8, 0.4, 0.3, 0.1, -np.inf]
    for i in range(len(sweep.thresholds)):
        called = scores > sweep.at(THRESHOLD, i)
        assert sweep.at("TPR", i) == np.mean(called[labels == 1])
        assert sweep.at("FPR", i) == np.mean(called[labels == 0])
        assert sweep.at("accuracy", i) == pytest.approx(np.mean(called == labels))
    assert sweep.presets == {"95 % TPR": 4, "best F1": 4}, "no threshold that flags has an FPR of 5 % or less"
    shown = threshold_html("ood_bench", sweep)
    assert "5 % FPR" not in shown
    assert 'data-count="TP" aria-description="List these samples">3</button>' in shown
    assert threshold_html("accuracyk", None) == ""


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ["ood_bench", "openauc", "macro_open_f", "micro_open_f", "anomaly_suite"])
def test_a_threshold_that_is_shown_decides_as_it_was_shown(name: str, seed: int, load: Load) -> None:
    """Each number of the slider, put back as an option of the metric, gives its rates to the last sample."""
    columns, options = cases.draw(name, seed)
    options = {
        key: value
        for key, value in options.items()
        if key not in ("t_list", "threshold", "pixel_threshold", "positive")
    }
    found = computed(name, load, columns, options)
    sweep = page_of(name).sweep(found)
    assert sweep is not None
    assert [*sweep.thresholds] == sorted({*sweep.thresholds}, reverse=True)
    metric = metric_class(name)
    for place in range(len(sweep.thresholds)):
        at = float(sweep.text(place))
        if name == "ood_bench":
            results = metric(**{**options, "metrics": ["tpr", "fpr"], "threshold": at}).compute(**columns)
            assert (results["tpr"], results["fpr"]) == (sweep.at("TPR", place), sweep.at("FPR", place))
        elif name == "anomaly_suite":
            results = metric(**{**options, "pixel_threshold": at}).compute(**columns)
            assert results["pixel_recall"] == sweep.at("TPR", place)
            assert results["pixel_f1"] == sweep.at("F1", place)
        elif name == "openauc":
            rejected = np.asarray(columns["open_scores"], np.float64) > at
            known = found.state["classes"] >= 0
            assert np.sum(rejected & ~known) == sweep.counts["unknown, rejected"][place]
            assert np.sum(~rejected & known) == sum(
                sweep.counts[f"known, {kind} class, accepted"][place] for kind in ("right", "wrong")
            )
        else:
            results = metric(**{**options, "t_list": [at]}).compute(**columns)
            assert results[f"{name}_curve"] == [sweep.at("F", place)]


@pytest.mark.parametrize("name", ["ood_bench", "openauc", "macro_open_f", "micro_open_f", "anomaly_suite"])
def test_any_number_has_a_stop_with_its_decisions(name: str, load: Load) -> None:
    """Unless there are more than 2,000 distinct scores: the stop is the first below whose end a number lies."""
    columns, options = cases.draw(name, 5)
    options = {
        key: value
        for key, value in options.items()
        if key not in ("t_list", "threshold", "pixel_threshold", "positive")
    }
    found = computed(name, load, columns, options)
    sweep = page_of(name).sweep(found)
    assert sweep is not None
    assert sweep.whole
    sent = json.loads(sweep.thinned().sent())
    ends = [np.inf if end is None else end for end in sent["ends"]]
    scores = np.sort(np.concatenate([[t] for t in sweep.thresholds if np.isfinite(t)]))
    above = {key: column[::-1] for key, column in sweep.counts.items()}  # ascending, as they are sent
    for number in [*scores, *(scores[1:] + scores[:-1]) / 2, scores[0] - 1, scores[-1] + 1]:
        place = next(i for i, end in enumerate(ends) if number < end)
        lower = np.flatnonzero(sweep.thresholds[::-1] <= number)[-1]
        assert {key: column[place] for key, column in sent["counts"].items()} == {
            key: column[lower] for key, column in above.items()
        }
    assert "nearest" not in threshold_html(name, sweep)
    part = sweep._replace(whole=False)
    assert f"becomes the nearest of {len(scores) + 1:,} thresholds" in threshold_html(name, part)
    assert json.loads(part.sent())["ends"] is None


@pytest.mark.parametrize("single", [False, True])
def test_the_shortest_decimal_decides_as_the_scores(single: bool) -> None:
    """Between any two neighbours, however close, of both precisions; it is no longer than needed."""
    rng = np.random.default_rng(0)
    kind: Any = np.float32 if single else np.float64
    scores: list[Any] = [
        rng.normal(size=200),
        1e-9 * rng.normal(size=50),
        1e20 * rng.normal(size=50),
        [0.1, 0.3, 0.5, 1, -1],
    ]
    flat = np.unique(np.concatenate(scores).astype(kind))
    flat = np.unique([*flat, *np.nextafter(flat, kind(1e30))]).astype(kind)
    for low, high in zip(flat[:-1].tolist(), flat[1:].tolist()):
        text = plain_threshold(low, high, single=single)
        assert low <= float(text) < high
        assert not single or low <= float(kind(float(text))) < high
    assert plain_threshold(-np.inf, 0.25) == "0.23"
    assert plain_threshold(-0.5, 0.25) == "0"


@pytest.mark.parametrize("name", ["ood_bench", "openauc"])
def test_each_point_of_a_curve_has_a_stop(name: str, load: Load) -> None:
    """Of 12,000 samples, a point whose rates some threshold has; a click moves the slider to exactly these."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 12_000)
    columns: dict[str, Any] = {"predictions": rng.normal(labels == 0), "references": (labels == 0).astype(int)}
    x, y = "FPR", "TPR"
    if name == "openauc":
        classes = {"predictions": rng.integers(1, 4, 12_000), "references": np.where(labels == 0, -1, labels)}
        columns = {**classes, "open_scores": columns["predictions"]}
        x, y = "unknown accepted", "right class"
    found = computed(name, load, columns, {})
    sweep = page_of(name).sweep(found)
    assert sweep is not None
    sent = sweep.thinned()
    assert len(sweep.thresholds) > len(sent.thresholds) > MAX_POINTS
    rates, stops = ({(one.at(x, i), one.at(y, i)) for i in range(len(one.thresholds))} for one in (sweep, sent))
    trace = page_of(name).draw(found)[1].data[0]
    points = {*zip(trace.x, trace.y)}
    assert len(points & rates) > 500
    assert points & rates <= stops


def test_numbers_that_json_lacks_are_sent_as_null() -> None:
    """Whatever their sign; words stay."""
    values = {"value": np.asarray([-np.inf, np.inf, np.nan, 0.5])}
    at = np.asarray([-np.inf, 0.25, 0.5, 0.75])
    sent = Sweep(at, np.append(at[1:], np.inf), {}, {}, values, {}, {}, "", {"of": "NaN"}).sent()
    assert json.loads(sent)["values"] == {"value": [None, None, None, 0.5]}
    assert json.loads(sent)["texts"] == ["0.23", "0.3", "0.5", "1"]
    assert json.loads(sent)["promises"] == {"of": "NaN"}


def test_a_promise_is_that_of_the_kernel(load: Load) -> None:
    """Of 200 known samples the promise of 5 % has a threshold, and a sentence with its number; of 20 it has none."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [200, 50])
    scores = rng.normal(labels).round(2)
    sweep = page_of("ood_bench").sweep(computed("ood_bench", load, {"predictions": scores, "references": labels}, {}))
    assert sweep is not None
    words = "at most 5 % of new in-distribution samples"
    place = sweep.presets[words]
    assert sweep.thresholds[place] == openworld_metrics.threshold_at_fpr(scores[:200], 0.05, 0.95)
    assert "set on 200 in-distribution samples" in sweep.promises[words]
    assert "at most 1 % of new in-distribution samples" not in sweep.presets, "of which 299 are needed"
    shown = threshold_html("ood_bench", sweep)
    assert f"<option>{words}</option>" in shown
    few = {"predictions": scores[180:], "references": labels[180:]}
    found = page_of("ood_bench").sweep(computed("ood_bench", load, few, {}))
    assert found is not None
    assert not found.promises


def test_f_at_a_threshold_is_that_of_the_metric(load: Load) -> None:
    """Weighted rows and thresholds between the drawn ones included: the best is among them."""
    rng = np.random.default_rng(3)
    n = 5_000
    columns = {
        "predictions": rng.integers(0, 4, n),
        "references": rng.integers(-1, 4, n),
        "open_scores": rng.normal(size=n),
    }
    for name in ("macro_open_f", "micro_open_f"):
        found = computed(name, load, columns, {})
        sweep = page_of(name).sweep(found)
        assert sweep is not None
        best = sweep.presets["best F"]
        assert sweep.thresholds[best] == found.results[f"{name}_threshold"]
        assert sweep.at("F", best) == pytest.approx(found.results[name], abs=1e-15)
        accepted = columns["open_scores"] <= sweep.at(THRESHOLD, best)
        right = accepted & (columns["predictions"] == columns["references"])
        assert sweep.counts["known, right class, accepted"][best] == np.sum(right)
        assert sweep.counts["unknown, accepted"][best] == np.sum(accepted & (columns["references"] < 0))
