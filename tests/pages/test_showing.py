"""What a page shows of results: colours, thresholds that move, detectors side by side, the worst, reports."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import openworld_metrics
from openworld_metrics.metric.results import Rate, Summary
from openworld_metrics.pages import intervals
from openworld_metrics.pages.browser import layout
from openworld_metrics.pages.figures import boxes, style
from openworld_metrics.pages.figures.digits import plain_threshold
from openworld_metrics.pages.figures.threshold import THRESHOLD
from openworld_metrics.pages.form.form import Form
from openworld_metrics.pages.results import pairs
from openworld_metrics.pages.results.comparison import compared
from openworld_metrics.pages.results.numbers import numbers_html, result_help
from openworld_metrics.pages.results.slider import threshold_html
from openworld_metrics.pages.runner import Runner
from openworld_metrics.pages.serving import kept
from openworld_metrics.pages.serving.limits import MAX_DETECTORS, MAX_POINTS, RefusedError
from tests import cases
from tests.pages.test_figures import computed, page as page_of

Load = Any
BACKGROUNDS = ("#ffffff", "#18181b")  # of a picture in the light theme and in the dark one, which is neutral_900
BINARY = ("ood_bench", "anomaly_suite")


def luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    low, high = sorted(map(luminance, (first, second)))
    return (high + 0.05) / (low + 0.05)


def test_every_colour_is_seen_in_both_themes() -> None:
    """A contrast of 3, as WCAG asks of graphics; what has a colour has a dash or a sign of its own too."""
    outcomes = {each.color for each in boxes.STYLES.values()}
    for color in {*(color for color, _ in style.LINES), *outcomes}:
        assert min(contrast(color, ground) for ground in BACKGROUNDS) >= 3, color
    assert layout.THEME.block_background_fill_dark == "*neutral_900"
    for marks in (style.LINES, [each[1:] for each in boxes.STYLES.values()]):
        assert len({mark[1] for mark in marks}) == len(marks)


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
    moving = [trace for figure in figures for trace in figure.data if trace.meta]
    assert moving
    for trace in moving:
        assert trace.x[0] == sweep.at(trace.meta["x"], sweep.start)
        assert "y" not in trace.meta or trace.y[0] == sweep.at(trace.meta["y"], sweep.start)


def test_counts_at_a_threshold(load: Load) -> None:
    scores, labels = np.asarray([0.1, 0.4, 0.4, 0.8, 0.3, 0.9]), np.asarray([0, 0, 1, 1, 1, 0])
    sweep = page_of("ood_bench").sweep(computed("ood_bench", load, {"predictions": scores, "references": labels}, {}))
    assert sweep is not None
    assert sweep.thresholds.tolist() == [0.4, 0.3, 0.1]
    for i in range(len(sweep.thresholds)):
        called = scores > sweep.at(THRESHOLD, i)
        assert sweep.at("TPR", i) == np.mean(called[labels == 1])
        assert sweep.at("FPR", i) == np.mean(called[labels == 0])
        assert sweep.at("accuracy", i) == pytest.approx(np.mean(called == labels))
    assert sweep.presets == {"95 % TPR": 2, "best F1": 2}, "no threshold has an FPR of 5 % or less"
    shown = threshold_html("ood_bench", sweep)
    assert "5 % FPR" not in shown
    assert '<td data-count="TP">3</td>' in shown
    assert threshold_html("accuracyk", None) == ""


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ["ood_bench", "openauc", "macro_open_f", "micro_open_f", "anomaly_suite"])
def test_a_threshold_that_is_shown_decides_as_it_was_shown(name: str, seed: int, load: Load) -> None:
    """Each number of the slider, put back as an option of the metric, gives its rates to the last sample."""
    columns, options = cases.draw(name, seed)
    options = {key: value for key, value in options.items() if key not in ("t_list", "threshold", "pixel_threshold")}
    found = computed(name, load, columns, options)
    sweep = page_of(name).sweep(found)
    assert sweep is not None
    assert [*sweep.thresholds] == sorted({*sweep.thresholds}, reverse=True)
    metric = openworld_metrics.metric_class(name)
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


def test_numbers_are_grouped_and_say_which_way_is_better(root: Path) -> None:
    page = page_of("ood_bench")
    results = {
        "auroc": Rate(0.5, True, interval=(0.25, 0.75)),
        "aupr_in": Rate(0.25, True),
        "fpr95tpr": Rate(1e-7, False, threshold=2.0),
        "f1_score": Rate(1.0, True),
    }
    said = result_help("Returns:\n    auroc: an area. More.\n\nRaises:")
    shown = "".join(numbers_html(page, Summary(results), said))
    assert re.findall(r'data-key="(\w+)"', shown) == ["auroc", "fpr95tpr", "fpr95tpr_threshold", "aupr_in", "f1_score"]
    assert re.findall(r"<caption>(.*?)</caption>", shown) == ["Areas", "At the threshold"]
    assert "An area." in shown
    assert shown.count("higher is better") == 2 * 3
    assert shown.count("lower is better") == 2 * 1
    assert '<span class="rate" title="1e-07" data-full="1e-07">1.00e-07</span>' in shown
    assert '>[<span class="rate" title="0.25" data-full="0.25">0.250</span>, ' in shown
    table = {"image": [0, 1], "U-Recall": [0.5, None]}
    _, shown = numbers_html(
        page_of("openset_detection"),
        Summary({"WI": Rate(0.1, False), "total": 3, "per_image": table}),
        {},
        ["1 · a<b>", "2 · c"],
    )
    assert 'data-image="1">2 · c</button>' in shown
    assert "a&lt;b&gt;" in shown


def test_a_threshold_in_a_table_can_be_copied_whole() -> None:
    metric = openworld_metrics.OODBench(metrics=["fpr95tpr"], thresholds=True)
    metric.add_batch(predictions=[0.1234567, 0.6, 0.123, 0.6], references=[0, 1, 0, 1], groups=["a", "a", "b", "b"])
    shown = numbers_html(page_of("ood_bench"), metric.summary(), {})
    assert re.findall(r'data-whole="([^"]+)"', shown.others) == ["0.1234567"]


def test_results_of_anomaly_maps_say_what_they_mean() -> None:
    keys = ("image_auroc", "pixel_fpr95tpr", "pixel_iou_max", "sample_auroc", "siou", "segment_f1", "aupro@0.3")
    shown = "".join(numbers_html(page_of("anomaly_suite"), Summary({key: Rate(0.5, True) for key in keys}), {}))
    captions = ["Samples of several images", "Pixels", "Objects, at the pixel threshold"]
    assert re.findall(r"<caption>(.*?)</caption>", shown) == captions
    meanings = dict(re.findall(r'data-key="([^"]*)" title="([^"]*)"', shown))
    assert {*meanings} == {*keys}
    assert meanings["pixel_fpr95tpr"].startswith("lowest share of normal pixels called anomalous where at least 95 %")


def runner(root: Path, name: str) -> Runner:
    return Runner(page_of(name), root / "metrics" / name)


def controls(one: Runner, **options: Any) -> list[Any]:
    return [options.get(option.name) for option in one.page.options]


@pytest.fixture
def three(tmp_path: Path) -> tuple[Path, dict[str, np.ndarray]]:
    """A .csv of three detectors, with the data set of each sample."""
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1], [60, 90])
    columns: dict[str, Any] = {name: rng.normal(k * labels).round(3) for k, name in enumerate(("msp", "energy", "knn"))}
    columns |= {"label": labels, "dataset": np.repeat(["cifar10", "near/a", "near/b", "far/c"], [60, 30, 30, 30])}
    path = tmp_path / "scores.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([columns, *zip(*columns.values())])
    return path, columns


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
    assert json.loads(shown.json) == expected
    markdown, latex, comma = shown.tables
    assert markdown.splitlines()[0].count("|") == 1 + 1 + 2 * 3, "far, near and the mean of both metrics"
    lines = list(csv.reader(io.StringIO(comma)))
    assert [line[0] for line in lines[1:]] == ["msp", "energy", "knn"]
    assert float(lines[2][lines[0].index("mean auroc")]) == pytest.approx(expected["energy"]["auroc"])
    assert r"\textbf" not in latex + shown.compared, "nothing is best before it is compared"
    assert "mean of 3 groups" in shown.compared
    assert "Mean of 3 groups (pooled 0." in shown.numbers
    assert "All groups pooled." in shown.threshold
    names = [trace.name for trace in shown.figures[1].data]
    assert [name.split(",")[0] for name in names[:3]] == ["energy", "msp", "knn"]
    drawn = {trace.name.split(",")[0]: (trace.line.color, trace.line.dash) for trace in shown.figures[1].data[:3]}
    assert len({*drawn.values()}) == 3
    other = one.view(done, Form(detector="knn")).figures[1].data[:3]
    assert {trace.name.split(",")[0]: (trace.line.color, trace.line.dash) for trace in other} == drawn
    found: dict[str, Any] = {}
    exec(shown.call.replace('"scores.csv"', repr(str(path))).replace('"metrics/', f'"{root}/metrics/'), found)
    assert found["results"] == expected


def test_detectors_cost_what_they_are(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = runner(root, "ood_bench")
    path = tmp_path / "a.npz"
    columns: dict[str, Any] = {f"d{chr(97 + i)}": [0.1, 0.9] for i in range(MAX_DETECTORS + 1)}
    np.savez(path, **columns, label=[0, 1])
    made_of = {"predictions": [f"d{chr(97 + i)}" for i in range(MAX_DETECTORS + 1)], "references": ["label"]}
    with pytest.raises(RefusedError, match=f"expected at most {MAX_DETECTORS} detectors on a page"):
        one.run(Form(files=[[path]], made_of=made_of))
    monkeypatch.setattr("openworld_metrics.pages.serving.costs.MAX_RESAMPLED", 3)
    form = Form(files=[[path]], options={"confidence_level": "0.9"})
    two, first = ({**made_of, "predictions": made_of["predictions"][:count]} for count in (2, 1))
    with pytest.raises(RefusedError, match="at most 3 rows of the data with a confidence_level on a page, got 4"):
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
    assert intervals.come_by_themselves(one.page, done)
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
    assert "knn vs msp:</strong> auroc +0." in view.compared
    assert "<strong>knn is better</strong>" in view.compared
    assert view.tables[1].count(r"\textbf") == view.compared.count("<b class='best'>") == len(marked)
    assert not intervals.can_come(one.page, sure)


@pytest.mark.skipif(shutil.which("node") is None, reason="no node here to run the pages' JavaScript")
def test_cells_of_a_csv_are_no_formulas() -> None:
    """What begins like a formula is text in a spreadsheet, numbers stay numbers, and commas and quotes are quoted."""
    script = (Path(layout.__file__).parent / "page.js").read_text(encoding="utf-8")
    function = re.search(r"  const quoted = .*?\n  \};\n", script, re.DOTALL)
    assert function is not None
    cells = ["=1+1", "+cmd", "-cmd", "@x", "\tx", "-1.5", "+2", "1e-9", "-inf", "a,b", 'say "x"', "=a,b", None, "plain"]
    code = f"{function[0]} console.log(JSON.stringify({json.dumps(cells)}.map(quoted)))"
    done = subprocess.run(["node", "-e", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [
        *("'=1+1", "'+cmd", "'-cmd", "'@x", "'\tx", "-1.5", "+2", "1e-9", "'-inf"),
        *('"a,b"', '"say ""x"""', '"\'=a,b"', "", "plain"),
    ]


def test_too_few_samples_have_no_intervals(root: Path) -> None:
    one = runner(root, "ood_bench")
    table = pd.DataFrame({"scores": np.arange(40) / 40, "labels": [1] * 9 + [0] * 31})
    assert not intervals.can_come(one.page, one.run(Form(tables=[table])))
    table["labels"] = [1] * 10 + [0] * 30
    done = one.run(Form(tables=[table]))
    assert intervals.come_by_themselves(one.page, done)
    many = pd.concat([table] * 1_300, ignore_index=True)
    done = one.run(Form(tables=[many]))
    assert intervals.can_come(one.page, done)
    assert not intervals.come_by_themselves(one.page, done), "later ones by one press"


def test_one_of_one_is_not_compared() -> None:
    assert compared(page_of("ood_bench"), {"a": Summary({"auroc": Rate(0.5, True)})}, {}) is None


def test_the_worst_samples(root: Path, three: tuple[Path, dict[str, np.ndarray]], load: Load) -> None:
    _, columns = three
    scores, labels = columns["msp"], columns["label"]
    found = computed("ood_bench", load, {"predictions": scores, "references": labels}, {})
    known, unknown = page_of("ood_bench").worst(found)
    rows = np.asarray(known.columns["row"]) - 1
    assert (labels[rows] == 0).all()
    assert known.columns["score"] == sorted(scores[labels == 0], reverse=True)[: len(rows)]
    assert unknown.columns["score"] == sorted(scores[labels == 1])[: len(rows)]


def test_the_worst_images_and_a_report(root: Path) -> None:
    """Small pictures in the order of errors; another image is the one of a whole drawing; a report of one file."""
    for name in ("openset_detection", "anomaly_suite"):
        one = runner(root, name)
        columns, options = cases.draw(name, 2)
        done = one.compute(columns, options)
        small = page_of(name).thumbnails(done, 3)
        assert 0 < len(small) <= 3
        assert all(each.picture.startswith(b"\x89PNG") for each in small)
        other = done._replace(image=1)
        assert one.page.draw_image(other).to_json() == one.page.draw(other)[0].to_json()
    one = runner(root, "ood_bench")
    table = pd.DataFrame({"scores": [0.1, 0.6, 0.4, 0.9], "labels": [0, 0, 1, 1]})
    shown = one.show(Form(tables=[table]))
    assert r"\cite{hendrycks2017baseline,liang2018odin}" in shown.cite
    assert "auroc = 75.00 % and fpr95tpr = 50.00 %" in shown.cite
    whole = html.unescape(re.findall(r'data-page="(.*?)"', shown.report, re.DOTALL)[0])
    assert "<!--figures-->" in whole
    assert "<!--threshold-->" in whole
    assert not re.search(r"<button|(src|href)=.http", whole)


def test_what_is_kept_is_bounded() -> None:
    """By number and by memory; a token that is not known gives nothing, and one's own is replaced."""
    store = kept.Kept(most=2, most_bytes=10_000)
    first = store.put(np.zeros(100))
    second = store.put(np.zeros(100), old=first)
    assert store.get(first) is None
    third = store.put([np.zeros(1000), np.zeros(100)])
    assert store.get(second) is not None
    assert store.get(third) is not None
    assert store.get(store.put(np.zeros(5000))) is None, "too large to be kept"
    fourth = store.put({"a": np.zeros(500)})
    assert (store.get(second), store.get(fourth)["a"].shape) == (None, (500,))
    assert store.get("") is None
