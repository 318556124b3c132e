"""Answers say what the metric computes: numbers, intervals, comparisons and tables, to the bit."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from openworld_metrics import METRICS, compare, read
from openworld_metrics.answers import intervals, pictures
from openworld_metrics.answers.answer import Answer, Curves, Histogram
from openworld_metrics.answers.answers import answers_of, results_of
from openworld_metrics.answers.intervals import LEVEL
from openworld_metrics.answers.saved import as_json, example_answers, from_json, saved_answers, whole
from openworld_metrics.answers.subject import subject_of
from openworld_metrics.loading import metric_class, script
from openworld_metrics.metric.rounding import number_text
from openworld_metrics.reading import Reading
from openworld_metrics.written import results as written
from tests import cases

TABLES = [name for name in METRICS if name not in ("openset_detection", "anomaly_suite")]


def reading_of(name: str, *several: Mapping[str, Any]) -> Reading:
    return Reading(name, {f"m{i}": dict(columns) for i, columns in enumerate(several)})


def answer_of(name: str, columns: Mapping[str, Any], options: Mapping[str, Any]) -> Answer:
    """The answer of one model, without intervals."""
    return answers_of(name, reading_of(name, columns), options, intervals=False)["m0"]


@pytest.fixture(autouse=True)
def small_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures are looked at where they are drawn, in test_anomaly.py and test_detection.py."""
    monkeypatch.setattr(pictures, "LEAST", 64)


def data(rows: int = 60, models: int = 3, groups: bool = False) -> pd.DataFrame:
    """Scores of some models on the same samples; known samples are in no group."""
    rng = np.random.default_rng(5)
    label = np.arange(rows) % 2
    table = {f"m{i}": (rng.normal(label * i, size=rows)).round(3) for i in range(models)}
    if groups:
        table["dataset"] = np.where(label == 1, np.where(np.arange(rows) % 3, "near/a", "near/b"), "")
        table["dataset"][1::12] = "far"
    return pd.DataFrame({**table, "label": label, "image": [f"img{i}" for i in range(rows)]})


def read_table(folder: Path, table: pd.DataFrame, name: str = "ood_bench", **choices: Any) -> Reading:
    table.to_csv(folder / "scores.csv", index=False)
    models = [column for column in table if column.startswith("m")]
    return read(name, folder / "scores.csv", columns={"predictions": models}, **choices)


def both(answer: Answer) -> dict[str, Any]:
    """The numbers of the model shown, by the keys of `compute`."""
    numbers = {}
    for number in answer.numbers[answer.model]:
        numbers[number.key] = number.value
        if number.interval is not None:
            numbers[f"{number.key}_low"], numbers[f"{number.key}_high"] = number.interval
    return numbers


def same(one: Any, other: Any) -> bool:
    return repr(one) == repr(other) or (isinstance(one, float) and math.isnan(one) and math.isnan(other))


BESIDE = {"openset_detection": {"mAP50", "mAP50-95", "precision", "recall"}}  # COCO's averages, which are no results


@pytest.mark.parametrize("level", [None, 0.9])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", METRICS)
def test_numbers_are_those_of_compute(name: str, seed: int, level: float | None) -> None:
    columns, options = cases.draw(name, seed)
    options = {**options, "confidence_level": level, "n_resamples": 20}
    answer = answer_of(name, columns, options)
    expected = metric_class(name)(**options).compute(**columns)
    if name != "openset_detection":  # which leaves out what could not be asked
        assert repr(answer.results["m0"]) == repr(expected)
    assert results_of(name, columns, options) == expected or same(results_of(name, columns, options), expected)
    beside = BESIDE.get(name, set())
    for key, value in both(answer).items():
        assert key in beside or same(value, expected[key]), key
    kinds = metric_class(name)(**options).summary(**columns).kinds()
    for number in answer.numbers["m0"]:
        if number.key in beside:
            continue
        assert number.higher == kinds[number.key].get("higher")
        assert number.share == bool(kinds[number.key].get("share"))
        assert not number.best, "of a single model"
    assert answer.leading == [number.key for number in answer.numbers["m0"]][: len(answer.leading)]
    listed = {key for keys in answer.sections.values() for key in keys}
    assert listed | {*answer.leading} == {number.key for number in answer.numbers["m0"]} - beside
    assert answer.signature == metric_class(name)(**options).signature


@pytest.mark.parametrize("name", METRICS)
def test_groups_are_means_beside_what_is_pooled(name: str) -> None:
    columns, options = cases.draw(name, 4)
    grouped = cases.with_groups(columns, 4)
    columns = {key: column for key, column in grouped.items() if key != "groups"}
    try:
        expected = metric_class(name)(**options).compute(**grouped)
    except (ValueError, TypeError):
        pytest.skip("a group lacks a class, or the columns cannot be grouped")
    answer = answer_of(name, grouped, options)
    pooled = metric_class(name)(**options).compute(**columns)
    if name != "openset_detection":
        assert repr(answer.results["m0"]) == repr(expected)
    for number in answer.numbers["m0"]:
        if number.key in BESIDE.get(name, set()):
            continue
        assert same(number.value, expected[number.key])
        if "pooled" in number.note:
            assert number.note.endswith(f"(pooled {number_text(pooled[number.key])})")
    assert answer.over.startswith("mean of ")
    assert answer.side_by_side is not None
    assert answer.side_by_side.title.startswith("By ")
    alone = answer_of(name, columns, options)
    if answer.decisions is not None and alone.decisions is not None:
        assert answer.decisions.counts == alone.decisions.counts


@pytest.mark.parametrize("name", METRICS)
def test_an_answer_is_json(name: str) -> None:
    """With numbers that JSON lacks, too; no number is NumPy's."""
    columns, options = cases.draw(name, 1)
    answers = answers_of(name, reading_of(name, columns), options, intervals=False)
    odd = {"a": [math.inf, -math.inf, math.nan, 3, True, None, "é"]}
    answers["m0"] = replace(answers["m0"], results=odd)
    text = as_json(answers)
    again = from_json(text)
    assert as_json(again) == text
    assert type(again["m0"]) is Answer
    assert repr(again["m0"].results) == repr(odd)
    json.dumps(asdict(whole(answers["m0"])))
    assert repr(pickle.loads(pickle.dumps(answers))) == repr(answers)


@pytest.mark.parametrize("groups", [False, True], ids=["all", "groups"])
def test_several_models(groups: bool, tmp_path: Path) -> None:
    """The comparison is that of `compare`, the marks follow from it, and the order of models changes only the order."""
    reading = read_table(tmp_path, data(groups=groups))
    made = answers_of("ood_bench", reading, {"n_resamples": 60}, intervals=True)
    assert [*made] == ["m0", "m1", "m2"]
    answer = made["m1"]
    assert (answer.model, answer.best, answer.level) == ("m1", "m2", LEVEL)
    for name, columns in reading.models.items():
        expected = metric_class("ood_bench")(confidence_level=LEVEL, n_resamples=60).compute(**columns)
        assert answer.results[name] == expected
        assert both(made[name]) == {key: expected[key] for key in both(made[name])}
    for first, second in (("m2", "m0"), ("m2", "m1"), ("m0", "m1")):
        table = compare(
            "ood_bench", reading.models[first], reading.models[second], n_resamples=60, confidence_level=LEVEL
        )
        rows = [row for row in answer.differences if (row.first, row.second) == (first, second)]
        assert [row.key for row in rows] == table["key"]
        assert [row.group for row in rows] == [group or "" for group in table.get("group", [None] * len(rows))]
        for name in ("difference", "low", "high", "p_value"):
            assert [getattr(row, name) for row in rows] == table[name]
        words = {"first": first, "second": second, None: ""}
        assert [row.better for row in rows] == [words[better] for better in table["better"]]
    best = {name for name, numbers in answer.numbers.items() if numbers[0].best}
    told = {
        row.second
        for row in answer.differences
        if (row.first, row.key, row.group) == ("m2", "auroc", "") and row.better
    }
    assert best == {"m0", "m1", "m2"} - told
    assert len(answer.verdicts) == 2
    assert all("significant" not in verdict and verdict.startswith("m2 vs ") for verdict in answer.verdicts)
    assert answer.caption == "paired bootstrap, 95 %, 60 resamples"
    turned = replace(reading, models={name: reading.models[name] for name in ("m2", "m1", "m0")})
    other = answers_of("ood_bench", turned, {"n_resamples": 60}, intervals=True)["m1"]
    assert other.numbers == {name: answer.numbers[name] for name in ("m2", "m1", "m0")}
    assert sorted(other.verdicts) == sorted(answer.verdicts)
    assert other.best == "m2"


def test_tables_of_models_are_their_summaries(tmp_path: Path) -> None:
    reading = read_table(tmp_path, data(groups=True))
    answer = answers_of("ood_bench", reading, {}, intervals=False)["m1"]
    table = answer.side_by_side
    assert table is not None
    results = {name: metric_class("ood_bench")().compute(**columns) for name, columns in reading.models.items()}
    assert table.columns == {
        "detector": [*results],
        "auroc": [one["auroc"] for one in results.values()],
        "fpr95tpr": [one["fpr95tpr"] for one in results.values()],
    }
    assert table.higher == {"auroc": True, "fpr95tpr": False}
    by_set, auroc, fpr = answer.tables
    groups = results["m1"]["groups"]
    assert by_set.columns["set"] == ["mean of 3 sets", "near", "far", "near/a", "near/b", "pooled"]
    assert by_set.first == 2
    expected = dict(zip(groups["group"], groups["auroc"]))
    assert by_set.columns["auroc"][1:5] == [expected[name] for name in by_set.columns["set"][1:5]]
    assert by_set.columns["auroc"][0] == results["m1"]["auroc"]
    rest = {key: column for key, column in reading.models["m1"].items() if key != "groups"}
    pooled = metric_class("ood_bench")().compute(**rest)
    assert by_set.columns["auroc"][5] == pooled["auroc"]
    assert (auroc.title, fpr.title) == ("AUROC by set", "FPR at 95 % TPR by set")
    assert auroc.columns == {"set": groups["group"], **{name: one["groups"]["auroc"] for name, one in results.items()}}
    number = answer.numbers["m1"][0]
    assert number.note == f"mean of 3 sets (pooled {pooled['auroc']:.3f})"
    assert answer.over == "mean of 3 sets"
    assert answer.worst[1].columns["group"][0] in ("near/a", "near/b", "far")
    roc = answer.figures[1]
    assert isinstance(roc, Curves)
    assert [one.value for one in roc.series][1] == pooled["auroc"], "figures pool"
    assert [one.selected for one in roc.series] == [False, True, False]
    assert [one.role for one in roc.series] == ["d1", "d2", "d3"]


@pytest.mark.parametrize("name", METRICS)
def test_models_stand_side_by_side_with_the_numbers_that_have_a_direction(name: str) -> None:
    columns, options = cases.draw(name, 1)
    answer = answers_of(name, reading_of(name, columns, columns), options, intervals=False)["m0"]
    directed = {number.key for number in answer.numbers["m0"] if number.higher is not None}
    assert answer.side_by_side is not None
    assert {*[*answer.side_by_side.columns][1:]} == directed - BESIDE.get(name, set())


def test_a_model_that_is_not_clearly_worse_is_marked_too(tmp_path: Path) -> None:
    """Nothing is marked without a comparison, and equal models alike."""
    table = data(models=2)
    table["m2"] = table["m1"]
    reading = read_table(tmp_path, table)
    plain = answers_of("ood_bench", reading, {}, intervals=False)["m0"]
    assert not any(number.best for numbers in plain.numbers.values() for number in numbers)
    assert plain.verdicts == []
    answer = answers_of("ood_bench", reading, {"n_resamples": 60}, intervals=True)["m0"]
    assert [numbers[0].best for numbers in answer.numbers.values()][1:] == [True, True]
    assert "m1 vs m2: AUROC +0.000 [0.000, 0.000], no clear difference" in answer.verdicts
    assert answer.side_by_side is not None
    assert {(1, "auroc"), (2, "auroc")} <= {*answer.side_by_side.best}


def test_intervals_come_by_themselves_where_they_are_quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reading = read_table(tmp_path, data(models=1))
    (answer,) = answers_of("ood_bench", reading, {}).values()
    assert answer.level == LEVEL
    assert answer.numbers[answer.model][0].interval is not None
    monkeypatch.setattr(intervals, "MAX_AUTOMATIC", 1_000)
    (answer,) = answers_of("ood_bench", reading, {}).values()
    assert answer.level is None
    assert answer.notes == ["Intervals take longer here, and were left out."]
    (answer,) = answers_of("ood_bench", reading, {"confidence_level": 0.8}).values()
    assert answer.level == 0.8
    (answer,) = answers_of("ood_bench", reading, {}, intervals=False).values()
    assert (answer.level, answer.notes) == (None, [])


def test_few_samples_have_no_intervals_unless_asked(tmp_path: Path) -> None:
    reading = read_table(tmp_path, data(rows=18, models=1))
    (answer,) = answers_of("ood_bench", reading, {}).values()
    assert answer.numbers[answer.model][0].interval is None
    assert answer.notes == ["No intervals: there are fewer than 10 samples of a kind."]
    (answer,) = answers_of("ood_bench", reading, {}, intervals=True).values()
    assert answer.numbers[answer.model][0].interval is not None


def test_models_of_other_samples_are_not_compared() -> None:
    columns = [{"predictions": np.arange(n) / n, "references": np.arange(n) % 2} for n in (40, 60)]
    answer = answers_of("ood_bench", reading_of("ood_bench", *columns), {})["m0"]
    assert answer.differences == []
    assert answer.notes[-1].startswith("The models were not compared: first, second: expected the same samples")


def test_an_error_names_its_model() -> None:
    good = {"predictions": [0.1, 0.9], "references": [0, 1]}
    bad = {"predictions": [0.1, math.nan], "references": [0, 1]}
    with pytest.raises(ValueError, match=r"^predictions: "):
        answers_of("ood_bench", reading_of("ood_bench", bad), {})
    with pytest.raises(ValueError, match=r"^m1: predictions: "):
        answers_of("ood_bench", reading_of("ood_bench", good, bad), {})
    with pytest.raises(TypeError, match="ood_bench has no argument 'metric'"):
        answers_of("ood_bench", reading_of("ood_bench", good), {"metric": "auroc"})


@pytest.mark.parametrize("name", ["ood_bench", "openauc", "macro_open_f", "micro_open_f", "accuracyk", "autkc"])
def test_counts_are_rows_repeated(name: str) -> None:
    columns, options = cases.draw(name, 2)
    if any(name.startswith(("open_set_pred", "close_set")) for name in columns) or isinstance(
        columns["predictions"], tuple
    ):
        columns, options = cases.draw(name, 3)
    number = len(columns["references"])
    counts = np.arange(number) % 3 + 1
    repeated = {key: np.repeat(np.asarray(column), counts, axis=0) for key, column in columns.items()}
    one = answer_of(name, {**columns, "counts": counts}, options)
    other = answer_of(name, repeated, options)
    assert one.results == other.results
    alike = [as_json({"": replace(each, worst=(), call="")}) for each in (one, other)]
    assert alike[0] == alike[1]
    assert one.worst == []


def test_thresholds_are_shown_as_they_decide() -> None:
    columns, _ = cases.draw("ood_bench", 4)
    options = {"metrics": ("auroc", "fpr95tpr", "detect_acc")}
    answer = answer_of("ood_bench", columns, options)
    numbers = {number.key: number for number in answer.numbers["m0"]}
    assert numbers["auroc"].threshold == ""
    at = float(numbers["fpr95tpr"].threshold)
    assert numbers["fpr95tpr"].title == "FPR at 95 % TPR"
    results = metric_class("ood_bench")(metrics=("tpr", "fpr"), threshold=at).compute(**columns)
    assert results["fpr"] == numbers["fpr95tpr"].value
    assert results["tpr"] >= 0.95


def test_what_is_approximate_says_so() -> None:
    """Scores that are cut have a bound beside each number; sampled numbers have a note."""
    label = np.arange(200) % 2
    columns = {"predictions": np.random.default_rng(0).normal(label), "references": label}
    cut = answers_of("ood_bench", reading_of("ood_bench", columns), {"significant_bits": 8})["m0"]
    assert cut.numbers["m0"][0].note == f"± {number_text(cut.results['m0']['auroc_error'])}"
    assert cut.numbers["m0"][1].threshold == ""
    sampled = answers_of("ood_bench", reading_of("ood_bench", columns), {"step": 3})["m0"]
    assert sampled.notes == ["Numbers are approximate, from every 3-th score (step); curves have all."]
    assert isinstance(sampled.figures[1], Curves)
    assert sampled.figures[1].series[0].value is None, "the area of the curve is another"


def test_an_accuracy_of_no_answers_says_so() -> None:
    """It is NaN in a table, null in JSON, and has a note."""
    label = np.arange(8) % 2
    columns = {"predictions": np.arange(8.0), "references": label}
    options = {"metrics": ("auroc", "accuracy_given_answered", "answered"), "threshold": 3}
    said = "so there is no accuracy_given_answered."
    nothing = answers_of("ood_bench", reading_of("ood_bench", columns), {**options, "threshold": -1})["m0"]
    assert nothing.notes[-1] == f"No answer scores at most the threshold, {said}"
    assert '"accuracy_given_answered": null' in written.as_json(nothing.results["m0"])
    assert said not in " ".join(answers_of("ood_bench", reading_of("ood_bench", columns), options)["m0"].notes)
    groups = {**columns, "groups": np.repeat(["a", "b"], 4)}
    of_groups = answers_of("ood_bench", reading_of("ood_bench", groups), options)["m0"]
    assert of_groups.notes[-1] == f"No answer in b scores at most the threshold, {said}"


def test_a_t_list_is_a_table() -> None:
    columns, _ = cases.draw("macro_open_f", 1)
    options = {"t_list": [0.25, -0.5], "decisions": True, "per_sample": True}
    answer = answer_of("macro_open_f", columns, options)
    first, *others = answer.tables
    assert first.columns["threshold"] == [0.25, -0.5]
    assert first.columns["hos"] == answer.results["m0"]["hos_curve"]
    assert [table.title for table in others] == ["per_sample"]


def test_infinite_scores_are_not_drawn() -> None:
    """Infinite scores are named, and groups are said to be pooled."""
    scores = [0.1, 0.2, 0.9, math.inf]
    columns = {"predictions": scores, "references": [0, 0, 1, 1], "groups": ["a", "a", "a", "a"]}
    answer = answer_of("ood_bench", columns, {})
    drawn = answer.figures[0]
    assert isinstance(drawn, Histogram)
    assert drawn.note == "all sets pooled; 1 of 2 OOD scores lie beyond the axis"
    assert {one.name: sum(one.y) for one in drawn.series} == {"in-distribution": 1.0, "OOD": 0.5}
    far = np.append(np.linspace(0, 1, 999), 1e6)
    columns = {"predictions": far, "references": np.arange(1_000) % 2}
    drawn = answer_of("ood_bench", columns, {}).figures[0]
    assert isinstance(drawn, Histogram)
    assert drawn.note == "1 of 500 OOD scores lie beyond the axis"
    assert drawn.width * len(drawn.series[0].x) < 1.1
    assert sum(drawn.series[1].y) == pytest.approx(0.998)


def test_worst_samples_are_named(tmp_path: Path) -> None:
    table = data(models=1)
    (answer,) = answers_of("ood_bench", read_table(tmp_path, table), {}, intervals=False).values()
    known, unknown = answer.worst
    assert (known.title, unknown.title) == ("In-distribution, scored highest", "OOD, scored lowest")
    first = table[table.label == 0].sort_values("m0", ascending=False, kind="stable").iloc[0]
    assert (known.columns["sample"][0], known.columns["score"][0]) == (first.image, first.m0)
    assert known.columns["higher than … of OOD"][0] == np.mean(table[table.label == 1].m0 < first.m0)


@pytest.mark.parametrize("name", METRICS)
def test_the_saved_answer_of_the_example_is_that_of_today(name: str) -> None:
    """`make examples` writes it; pictures may differ in their bytes."""
    path = script(name).parent / "examples" / "answers.json"
    stale = f"metrics/{name}/examples/answers.json is not that of today: make examples METRIC={name}"
    saved, fresh = saved_answers(path), example_answers(name)
    assert path.stat().st_size <= 300_000
    assert [*saved] == [*fresh]
    for model, answer in fresh.items():
        one, other = (replace(each, images=()) for each in (saved[model], from_json(as_json(fresh))[model]))
        parts = [(field.name, *(repr(getattr(each, field.name)) for each in (one, other))) for field in fields(one)]
        changed = [part for part, was, now in parts if was != now]
        assert not changed, f"{stale}; {', '.join(changed)} of {model!r} changed"
        said = [[(image.name, image.said) for image in each.images] for each in (saved[model], answer)]
        assert said[0] == said[1], stale
        assert all(len(worst.columns[key]) <= 10 for worst in answer.worst for key in worst.columns)
        asdict(answer)


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_has_a_subject(name: str) -> None:
    subject = subject_of(name)
    assert subject.name == name
    assert subject.question.endswith("?")
    assert {*subject.example.options} <= {*subject.metric.options}


def test_groups_that_are_left_out_are_counted_with_intervals_too() -> None:
    table = data(models=1)
    groups = np.full(len(table), "both", dtype=object)
    groups[np.flatnonzero(table["label"])[:5]] = "unknown alone"
    columns = {
        "predictions": table["m0"].to_numpy(),
        "references": table["label"].to_numpy(),
        "groups": groups.tolist(),
    }
    found = []
    for with_intervals in (True, False):
        reading = Reading("ood_bench", {"": columns})
        answer = answers_of("ood_bench", reading, {"groups_without": "skip"}, intervals=with_intervals)[""]
        found.append((answer.results[""]["groups_skipped"], answer.results[""]["groups"]["group"]))
    assert found == [(1, ["both", "unknown alone"])] * 2
