"""The pictures agree with the numbers: areas under what is drawn are the results, boxes add up to the counts."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import openworld_metrics
from openworld_metrics.arrays.compacting import compact_table
from openworld_metrics.detection import words as outcomes
from openworld_metrics.loading import metric_class
from openworld_metrics.pages.figures import boxes, maps, sweep
from openworld_metrics.pages.figures.computed import Computed
from openworld_metrics.pages.metrics import openset_detection
from openworld_metrics.pages.page import Page
from openworld_metrics.pages.results import numbers
from openworld_metrics.pages.serving import limits
from openworld_metrics.ranking.operating_points import parse_point
from tests import cases

Load = Any
SEEDS = range(12)


def computed(name: str, load: Load, columns: dict[str, Any], options: dict[str, Any]) -> Computed:
    metric = metric_class(name)(**options)
    metric.add_batch(**columns)
    state = metric.state()
    return Computed(state, {**metric.options, **options}, metric.summary(), columns)


def page(name: str) -> Page:
    found: Page = importlib.import_module(f"openworld_metrics.pages.metrics.{name}").PAGE
    return found


IN_PERCENT = re.compile(r"= [01]\.\d+(?!\d| %)")  # what page.js turns into percent


@pytest.mark.parametrize("name", openworld_metrics.METRICS)
def test_shares_in_legends_follow_the_switch(name: str, load: Load) -> None:
    """Every number of three decimals in a legend is one that page.js turns into percent, or a threshold."""
    columns, options = cases.draw(name, 4)
    for figure in draw(computed(name, load, columns, options), name):
        for trace in figure.data:
            others = re.sub(r"(score > |at |@|≥ )-?[\d.]+", "", IN_PERCENT.sub("", trace.name or ""))
            assert not re.search(r"\d\.\d{3}", others), trace.name


@pytest.mark.parametrize("name", ["accuracyk", "autkc"])
def test_results_in_percent_stay_as_they_are(name: str, load: Load) -> None:
    """With the option percent, 0.5 is half a percent, which the switch must not turn into 50 %."""
    columns, options = cases.draw(name, 4)
    (figure,) = draw(computed(name, load, columns, {**options, "percent": True}), name)
    assert figure.layout.yaxis.tickformat is None
    for trace in figure.data:
        assert not IN_PERCENT.search(trace.name)
        assert ":.3f}" not in trace.hovertemplate


def draw(found: Computed, name: str) -> list[Any]:
    return list(page(name).draw(found))


def area(trace: Any) -> float:
    """Under a line of a picture."""
    return float(np.trapezoid(trace.y, trace.x))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", openworld_metrics.METRICS)
def test_figures_of_random_cases(name: str, seed: int, load: Load) -> None:
    columns, options = cases.draw(name, seed)
    for figure in draw(computed(name, load, columns, options), name):
        assert figure.data
        assert all(trace.name or trace.type == "heatmap" for trace in figure.data)
        if name != "anomaly_suite" and figure.data[0].type != "heatmap" and not figure.layout.yaxis.scaleanchor:
            assert figure.layout.xaxis.title.text
            assert figure.layout.yaxis.title.text
        json.loads(figure.to_json())


def test_the_outline_of_noise_is_thinned(load: Load) -> None:
    """Every edge of a small mask; of a noisy large one no more than the limit, and the name says so."""
    rng = np.random.default_rng(0)
    for side, most in ((30, maps.MAX_EDGES), (600, maps.MAX_EDGES)):
        mask = rng.random((side, side)) > 0.5
        columns = {"predictions": [rng.random((side, side))], "references": [mask.astype(int)]}
        found = computed("anomaly_suite", load, columns, {"levels": ("pixel",)})
        outline = maps.draw_map(found).data[-1]
        padded = np.pad(mask, 1).astype(int)
        edges = int(np.abs(np.diff(padded, axis=0)).sum() + np.abs(np.diff(padded, axis=1)).sum())
        thinned = edges > most
        assert thinned == (side == 600)
        assert outline.name == ("mask (of every 5. pixel)" if thinned else "mask")
        assert len(outline.x) == len(outline.y) <= 3 * min(edges, most)
        assert thinned or len(outline.x) == 3 * edges
        x, y = ([v for v in values if v is not None] for values in (outline.x, outline.y))
        assert -3 < min(*x, *y) <= max(*x, *y) < side + 3


@pytest.mark.parametrize("seed", SEEDS)
def test_areas_are_the_results(seed: int, load: Load) -> None:
    columns, _ = cases.draw("openauc", seed)
    found = computed("openauc", load, columns, {})
    assert area(draw(found, "openauc")[1].data[0]) == pytest.approx(found.results["openauc"], abs=1e-12)

    columns, _ = cases.draw("anomaly_suite", seed)
    for limit in (1.0, 0.3, 0.01):
        found = computed("anomaly_suite", load, columns, {"integration_limits": limit})
        _, overlap, rates = draw(found, "anomaly_suite")
        assert area(overlap.data[0]) / limit == pytest.approx(found.results[f"aupro@{limit}"], abs=1e-9)
    for trace, level in zip(rates.data, ("pixel", "image")):
        assert area(trace) == pytest.approx(found.results[f"{level}_auroc"], abs=1e-12)

    columns, options = cases.draw("ood_bench", seed)
    names = ["auroc", "aupr_out", "aupr_out_trapezoid"]
    found = computed("ood_bench", load, columns, {**options, "metrics": names})
    _, rates, precisions = (figure.data[0] for figure in draw(found, "ood_bench"))
    steps = np.sum(np.diff(precisions.x) * np.asarray(precisions.y)[1:])
    areas = dict(zip(names, (area(rates), steps, area(precisions))))
    assert areas == pytest.approx(found.results, abs=1e-12)

    columns, options = cases.draw("autkc", seed)
    for average in ("micro", "macro"):
        found = computed("autkc", load, columns, {**options, "average": average})
        (figure,) = draw(found, "autkc")
        for name, value in found.results.items():
            k = int(name.removeprefix("autkc@"))
            bars = [height for trace in figure.data if trace.type == "bar" for height in trace.y]
            assert sum(bars[:k]) / k == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["macro_open_f", "micro_open_f"])
def test_the_best_f_is_the_highest_point(name: str, seed: int, load: Load) -> None:
    columns, _ = cases.draw(name, seed)
    found = computed(name, load, columns, {})
    _, figure = draw(found, name)
    assert max(figure.data[0].y) == pytest.approx(found.results[name], abs=1e-15)


@pytest.mark.parametrize("seed", SEEDS)
def test_operating_points_lie_on_the_curve(seed: int, load: Load) -> None:
    columns, options = cases.draw("ood_bench", seed)
    options.pop("positive", None)  # which the page does not have
    found = computed("ood_bench", load, columns, options)
    is_out = np.asarray(columns["references"]) == options.get("out_value", 1)
    scores = np.asarray(columns["predictions"])
    sides = {"positives": scores[is_out], "negatives": scores[~is_out]}
    for name, value in found.results.items():
        point = parse_point(name)
        if point is not None:
            rate, bounded, bound = point
            at = openworld_metrics.operating_point(**sides, rate=rate, bounded=bounded, bound=bound)
            _, threshold, fpr, tpr = at
            rates = {"fpr": fpr, "tpr": tpr, "fnr": 1 - tpr, "tnr": 1 - fpr}
            assert rates[name[:3]] == pytest.approx(value, abs=1e-12)
            assert np.mean(scores[is_out] > threshold) == pytest.approx(tpr)
            assert np.mean(scores[~is_out] > threshold) == pytest.approx(fpr)


@pytest.mark.parametrize("seed", SEEDS)
def test_boxes_add_up_to_the_counts(seed: int, load: Load) -> None:
    columns, options = cases.draw("openset_detection", seed)
    rng = np.random.default_rng(seed)
    columns["references"] = [
        {"boxes": true[:, :4], "labels": true[:, 4], "ignored": rng.integers(0, 2, len(true))}
        for true in columns["references"]
    ]
    found = computed("openset_detection", load, columns, options)
    drawn, results = boxes.boxes_to_draw(found.state, found.options), found.results
    size = len(outcomes.OUTCOME_WORDS)
    number, true = (np.bincount(codes, minlength=size) for codes in (drawn.outcome, drawn.true_outcome))
    alone = drawn.outcome == outcomes.NO_OBJECT
    label = drawn.predicted[:, 5]
    background = np.sum(label[alone] == options["unknown_class_id"])
    is_owod = found.options["protocol"] == "owod"
    wrong = number[outcomes.WRONG_CLASS] + number[outcomes.UNKNOWN_CALLED_KNOWN]
    counted = background if is_owod or found.options["count_background"] else 0
    assert number[outcomes.RIGHT] == results["TP_known"]
    assert wrong + np.sum(alone) - background == results["FP_known"]
    assert number[outcomes.UNKNOWN_CALLED_UNKNOWN] == results["TP_unknown"]
    assert number[outcomes.CALLED_UNKNOWN] + counted == results["FP_unknown"]
    assert number[outcomes.LEFT_OUT] == (np.sum(label == 2) if is_owod else 0)
    assert number.sum() == len(label)
    errors = [outcomes.WRONG_CLASS, outcomes.CALLED_UNKNOWN, outcomes.UNKNOWN_CALLED_KNOWN, outcomes.MISSED]
    assert true[errors].sum() == results["FN_known"] + results["FN_unknown"]
    assert true[outcomes.IGNORED] == np.sum(found.state["ignored"])
    said = drawn.said.sum(axis=0)
    assert said[0].sum() == results["total_known"]
    assert said[1].sum() == results["total_unknown"]
    if not is_owod:
        assert said[0, 0] == results["TP_known"]
        assert said[1, 2] == results["TP_unknown"]
        assert said[1].sum() - said[1, 2] == results["FN_unknown"]


@pytest.mark.parametrize("options", [{"protocol": "owod", "recall_level": None}, {"matching": "confidence"}], ids=str)
def test_sweep_and_tables_are_shown(options: cases.Options, load: Load) -> None:
    columns, _ = cases.draw("openset_detection", 3)
    options = {"known_classes": [0, 1], "conf_list": [0.5, 0.0, 1.0], "per_class": True, "per_image": True, **options}
    found = computed("openset_detection", load, columns, options)
    figure = draw(found, "openset_detection")[3]
    assert list(figure.data[0].x) == [0.0, 0.5, 1.0]
    assert [y for _, y in sorted(zip(found.results["sweep"]["confidence"], found.results["sweep"]["A-OSE"]))] == list(
        figure.data[-2].y
    )
    shown = "".join(numbers.numbers_html(openset_detection.PAGE, found.summary, {}))
    rows = len(columns["references"])
    assert f"per_image, {rows} rows" in shown
    assert shown.count("<tr>") > rows + 3
    del options["conf_list"]
    without = draw(computed("openset_detection", load, columns, options), "openset_detection")[3]
    assert 3 < len(without.data[0].x) <= sweep.MAX_LEVELS


@pytest.mark.parametrize("options", [{"protocol": "owod", "recall_level": None}, {"errors": True}], ids=str)
def test_fates_are_drawn_whether_or_not_they_are_asked_for(options: cases.Options, load: Load) -> None:
    columns, _ = cases.draw("openset_detection", 3)
    options = {"known_classes": [0, 1], "unknown_class_id": 9, **options}
    found = computed("openset_detection", load, columns, options)
    bars = {bar.name: dict(zip(bar.y, bar.x)) for bar in draw(found, "openset_detection")[2].data}
    assert bars["found"]["unknown"] == found.results["U-Recall"]
    for side in ("known", "unknown"):
        assert sum(shares.get(side, 0) for shares in bars.values()) == pytest.approx(1)
    low = computed("openset_detection", load, columns, {"known_classes": [0, 1], "iou_threshold": 0.05})
    assert not any(len(bar.x) for bar in draw(low, "openset_detection")[2].data)


def test_no_more_is_drawn_than_is_said(load: Load) -> None:
    rng = np.random.default_rng(0)
    n = 50_000
    columns: dict[str, Any] = {"predictions": rng.random(n), "references": rng.integers(0, 2, n)}
    for figure in draw(computed("ood_bench", load, columns, {}), "ood_bench"):
        assert max(len(trace.x) for trace in figure.data) <= limits.MAX_POINTS
    columns = {"predictions": rng.integers(0, 9, n), "references": rng.integers(-1, 9, n), "open_scores": rng.random(n)}
    for name in ("macro_open_f", "micro_open_f", "openauc"):
        figure = draw(computed(name, load, columns, {}), name)[-1]
        assert 1_000 < max(len(trace.x) for trace in figure.data) <= limits.MAX_POINTS + 3
    large = rng.random((2, 600, 500))
    found = computed("anomaly_suite", load, {"predictions": large, "references": large > 0.9995}, {"levels": ["pixel"]})
    heatmap = draw(found, "anomaly_suite")[0].data[0]
    assert len(heatmap.z) <= maps.MAX_SIDE
    assert "3. pixel" in heatmap.colorbar.title.text


def test_a_small_part_of_a_curve_keeps_its_shape(load: Load) -> None:
    """PRO up to 5 % of the normal pixels: of thousands of vertices no more are drawn than of a whole curve."""
    rng = np.random.default_rng(0)
    masks = np.zeros((2, 300, 300), int)
    masks[:, :60] = 1
    columns: dict[str, Any] = {"predictions": rng.normal(size=masks.shape) + masks, "references": masks}
    found = computed("anomaly_suite", load, columns, {"levels": ["pixel"], "integration_limits": 0.05})
    line = draw(found, "anomaly_suite")[1].data[0]
    assert limits.MAX_POINTS / 4 < len(line.x) <= limits.MAX_POINTS
    assert max(np.diff(line.x)) < 0.05 / 100
    assert area(line) / 0.05 == pytest.approx(found.results["aupro@0.05"], abs=1e-4)


@pytest.mark.parametrize("name", ["ood_bench", "openauc", "macro_open_f", "micro_open_f", "anomaly_suite"])
def test_rows_with_counts_are_drawn_as_the_rows_repeated(name: str, load: Load) -> None:
    found = computed(name, load, cases.draw(name, 5)[0], {})
    state = found.state
    for counts, columns in metric_class(name).countable_tables.items():
        state = compact_table(state, columns, counts)
    assert len(state) > len(found.state)
    for figure, other in zip(draw(found._replace(state=state), name), draw(found, name)):
        assert figure.to_json() == other.to_json()


def test_infinite_scores_are_left_out_of_pictures(load: Load) -> None:
    columns: dict[str, Any] = {"predictions": [-np.inf, 0.1, 0.4, np.inf], "references": [0, 0, 1, 1]}
    for figure in draw(computed("ood_bench", load, columns, {}), "ood_bench"):
        assert "Infinity" not in figure.to_json()
    bars = draw(computed("ood_bench", load, columns, {}), "ood_bench")[0].data[:2]
    assert [bar.name for bar in bars] == [
        f"{side} (N = 2, 1 infinite ones not drawn)" for side in ("in-distribution", "OOD")
    ]


def test_photographs_lie_behind(tmp_path: Path, load: Load) -> None:
    columns, _ = cases.draw("anomaly_suite", 0)
    found = computed("anomaly_suite", load, columns, {})
    from PIL import Image

    behind = (Image.new("RGB", (8, 8), "red"), (8, 8))
    figure = draw(found._replace(photograph=behind), "anomaly_suite")[0]
    (image,) = figure.layout.images
    assert (image.sizex, image.sizey) == columns["predictions"][0].shape[::-1]
    assert image.source.startswith("data:image/png;base64,")


def as_said(trace: Any, place: int) -> str:
    """What plotly shows of a point of a trace: its hovertemplate with the values of the point."""
    values = {"x": trace.x[place], "y": trace.y[place], "text": trace.text[place] if trace.text else ""}
    for i, value in enumerate(trace.customdata[place] if trace.customdata is not None else ()):
        values[f"customdata[{i}]"] = value
    template = str(trace.hovertemplate).replace("<br>", "\n").replace("<extra></extra>", "")
    return re.sub(r"%\{([^:}]+):?([^}]*)\}", lambda match: format(values[match[1]], match[2]), template)


def words_of(pattern: str, trace: Any) -> list[tuple[Any, ...]]:
    """The groups of a pattern in what is said of each point of a trace, all of which it fits."""
    matches = [re.fullmatch(pattern, as_said(trace, place)) for place in range(len(trace.x))]
    assert all(matches)
    return [match.groups() for match in matches if match]


def test_what_is_said_of_a_point_is_so(load: Load) -> None:
    """Of ROC, precision, histogram and F, against the samples themselves at the threshold that the words name."""
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 2, 60)
    scores = np.round(rng.normal(labels), 1)
    found = computed("ood_bench", load, {"predictions": scores, "references": labels}, {})
    histogram, roc_curve, precision = draw(found, "ood_bench")
    known, new = scores[labels == 0], scores[labels == 1]
    above = r"(?:score > (\S+)|nothing flagged|everything flagged)"
    said = words_of(rf"ROC, AUROC = \S+\n{above}\nFPR (\S+), TPR (\S+)", roc_curve.data[0])
    assert (said[0], said[-1]) == ((None, "0.000", "0.000"), (None, "1.000", "1.000"))
    for threshold, *rates in said[1:-1]:
        assert rates == [f"{np.mean(side > float(threshold)):.3f}" for side in (known, new)]
    found_at = rf"precision\n{above}\nrecall (\S+), precision (\S+)"
    for threshold, recall, share in words_of(found_at, precision.data[0])[1:-1]:
        called = scores > float(threshold)
        assert recall == f"{np.mean(called[labels == 1]):.3f}"
        assert share == f"{np.mean(labels[called]):.3f}"
    for trace, side, name in zip(histogram.data, (known, new), ("in-distribution", "OOD")):
        bars = words_of(r"score (\S+) to (\S+): (\S+) of (.+)", trace)
        assert sum(float(share) for _, _, share, _ in bars) == pytest.approx(1, abs=0.0005 * len(bars))
        for low, high, share, kind in bars[:-1]:
            assert kind == name
            inside = np.mean((side >= float(low) - 1e-3) & (side < float(high) - 1e-3))
            assert share == f"{inside:.3f}"
    columns = {"predictions": [0, 1, 1], "references": [0, 1, -1], "open_scores": [0.25, 0.5, 0.75]}
    found = computed("macro_open_f", load, columns, {})
    _, f_curve = draw(found, "macro_open_f")
    threshold, best = found.results["macro_open_f_threshold"], found.results["macro_open_f"]
    assert (f"{threshold:.4g}", f"{best:.3f}") in words_of(r"threshold (\S+): F = (\S+)", f_curve.data[0])


def test_what_is_said_of_a_bar_is_so(load: Load) -> None:
    """The accuracy among the k best classes, of each k."""
    scores, labels = np.asarray([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.4, 0.35, 0.25]]), [0, 1, 2]
    columns: dict[str, Any] = {"predictions": scores, "references": labels}
    for name in ("accuracyk", "autkc"):
        (figure,) = draw(computed(name, load, columns, {"k_list": (1, 2)}), name)
        bars = {as_said(trace, i) for trace in figure.data if trace.type == "bar" for i in range(len(trace.x))}
        assert {"k = 1\naccuracy = 0.333", "k = 2\naccuracy = 0.667"} <= bars
        points = [as_said(trace, 0) for trace in figure.data if trace.type == "scatter"]
        assert points[:1] == [f"{'accuracy' if name == 'accuracyk' else 'autkc'}@1 = 0.333"]
