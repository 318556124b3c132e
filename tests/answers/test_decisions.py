"""Decisions are counts of `score > t`: at every threshold, as typed, and against plain loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from openworld_metrics.answers.answer import Decisions
from openworld_metrics.answers.answers import answers_of, decisions_at
from openworld_metrics.answers.decisions import (
    binary_decisions,
    is_exact,
    number_at,
    place_of,
    promised_thresholds,
    said_at,
    threshold_text,
    with_more,
)
from openworld_metrics.loading import metric_class
from openworld_metrics.ranking.counts import Side, as_side
from openworld_metrics.ranking.guarantees import threshold_at_fpr
from openworld_metrics.ranking.roc import roc_curve
from openworld_metrics.reading import Reading
from tests import cases
from tests.examples import many, seeds

WORDS = ("OOD", "in-distribution")
OF_SAMPLES = ("ood_bench", "openauc", "macro_open_f", "micro_open_f")
# which the slider replaces; its rates are those of OOD samples
OTHERS = ("t_list", "threshold", "positive", "per_sample", "significant_bits", "confidence_level")


def drawn(name: str, seed: int) -> tuple[dict[str, Any], dict[str, Any], Decisions]:
    """Columns and options of a metric, and its decisions."""
    columns, options = cases.draw(name, seed)
    options = {key: value for key, value in options.items() if key not in OTHERS}
    if name == "ood_bench":  # without the measures of decisions, which need a threshold
        options["metrics"] = [each for each in options["metrics"] if not each.startswith(("dcf@", "answered", "f_"))]
    answer = answers_of(name, Reading(name, {"": columns}), options, intervals=False)[""]
    assert answer.decisions is not None
    return columns, options, answer.decisions


def decisions_of(out: Any, inside: Any, **others: Any) -> Decisions:
    return binary_decisions((as_side(np.asarray(out)), as_side(np.asarray(inside))), WORDS, **others)


def assert_counts(columns: Mapping[str, Any], decisions: Decisions, place: int, typed: float) -> None:
    """The counts at a place are those of plain loops over the samples, at a number."""
    scores = [float(score) for score in columns["open_scores"]]
    counts = dict.fromkeys(decisions.counts, 0)
    labels = columns.get("open_labels")
    predicted = np.asarray(columns["predictions"])
    predicted = predicted if predicted.ndim == 1 else predicted.argmax(axis=1)
    for i, score in enumerate(scores):
        true = int(columns["references"][i])
        unknown = true < 0 if labels is None else bool(labels[i])
        kind = "unknown" if unknown else f"known, {'right' if predicted[i] == true else 'wrong'} class"
        counts[f"{kind}, {'rejected' if score > typed else 'accepted'}"] += 1
    assert {name: column[place] for name, column in decisions.counts.items()} == counts


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", OF_SAMPLES)
def test_a_threshold_that_is_shown_decides_as_it_was_shown(name: str, seed: int) -> None:
    """Each number, put back as an option of the metric, gives its rates to the last sample."""
    columns, options, decisions = drawn(name, seed)
    metric, ends = metric_class(name), decisions.ends
    assert [*ends] == sorted(ends)
    assert decisions.note == ""
    scores = np.asarray(columns["predictions" if name == "ood_bench" else "open_scores"], np.float64)
    for place, text in enumerate(decisions.thresholds):
        at = float(text)
        assert not (scores == at).any(), "strictly between, so that every type of scores decides alike"
        assert place_of(decisions, at) == place or ends[place] == ends[place - 1]
        if name == "ood_bench":
            results = metric(**{**options, "metrics": ["tpr", "fpr"], "threshold": at}).compute(**columns)
            assert results["tpr"] == number_at(decisions, "TPR", place)
            assert results["fpr"] == number_at(decisions, "FPR", place)
        elif "open_scores" in columns:
            assert_counts(columns, decisions, place, at)
        if name.endswith("open_f"):
            results = metric(**{**options, "t_list": [at]}).compute(**columns)
            assert results[f"{name}_curve"] == [number_at(decisions, "F", place)]


@pytest.mark.parametrize("name", OF_SAMPLES[2:])
def test_any_number_has_its_decisions(name: str) -> None:
    columns, _, decisions = drawn(name, 5)
    scores = np.unique(np.asarray(columns["open_scores"], np.float64))
    for typed in [*scores, *(scores[1:] + scores[:-1]) / 2, scores[0] - 1, scores[-1] + 1]:
        assert_counts(columns, decisions, place_of(decisions, float(typed)), float(typed))


def test_a_t_list_rounds_no_decision() -> None:
    """The metric takes F at the listed thresholds; the decisions are those of the samples' own scores."""
    columns, options = cases.draw("micro_open_f", 3)
    options = {"t_list": [0.1, 0.5]}
    answer = answers_of("micro_open_f", Reading("micro_open_f", {"": columns}), options, intervals=False)[""]
    assert answer.decisions is not None
    for place, text in enumerate(answer.decisions.thresholds):
        assert_counts(columns, answer.decisions, place, float(text))
    best = answer.decisions.presets["best F"]
    assert number_at(answer.decisions, "F", best) == answer.results[""]["micro_open_f"]
    assert answer.worst


def test_counts_at_a_threshold() -> None:
    scores, labels = np.asarray([0.1, 0.4, 0.4, 0.8, 0.3, 0.9]), np.asarray([0, 0, 1, 1, 1, 0])
    decisions = decisions_of(scores[labels == 1], scores[labels == 0])
    assert decisions.thresholds == ["0.091", "0.2", "0.31", "0.5", "0.81", "0.901"]
    assert decisions.ends == [0.1, 0.3, 0.4, 0.8, 0.9, np.inf]
    for place, text in enumerate(decisions.thresholds):
        called = scores > float(text)
        assert number_at(decisions, "TPR", place) == np.mean(called[labels == 1])
        assert number_at(decisions, "FPR", place) == np.mean(called[labels == 0])
        assert number_at(decisions, "accuracy", place) == pytest.approx(np.mean(called == labels))
        assert number_at(decisions, "TP", place) == np.sum(called & (labels == 1))
    assert decisions.presets == {"95 % TPR": 1, "best F1": 1}, "no threshold that flags has an FPR of 5 % or less"
    assert decisions.rule == "OOD if score >"
    assert decisions.table["OOD"] == {"called OOD": "TP", "called in-distribution": "FN"}
    assert decisions.roles == {"OOD": "unknown", "in-distribution": "known"}


def test_presets_are_the_metrics_own_points() -> None:
    columns, _, decisions = drawn("ood_bench", 4)
    results = metric_class("ood_bench")(metrics=["fpr95tpr", "tpr5fpr"]).compute(**columns)
    at = decisions.presets
    assert next(iter(at)) == "95 % TPR"
    assert number_at(decisions, "FPR", at["95 % TPR"]) == results["fpr95tpr"]
    if results["tpr5fpr"]:
        assert number_at(decisions, "TPR", at["5 % FPR"]) == results["tpr5fpr"]
    f1 = [number_at(decisions, "F1", place) for place in range(len(decisions.thresholds))]
    assert f1[at["best F1"]] == pytest.approx(max(f1))


def test_a_preset_of_exactly_its_share() -> None:
    """Of 20 known samples, one may be rejected where 95 % are to be accepted, or flagged where 5 % may be."""
    scores = [i / 20 for i in range(20)]
    columns = {"predictions": [0] * 21, "references": [0] * 20 + [-1], "open_scores": [*scores, 0.9]}
    answer = answers_of("openauc", Reading("openauc", {"": columns}), {}, intervals=False)[""]
    assert answer.decisions is not None
    at = answer.decisions.presets["95 % of known accepted"]
    assert number_at(answer.decisions, "known accepted", at) == 0.95
    binary = decisions_of([0.92], scores)
    assert number_at(binary, "FPR", binary.presets["5 % FPR"]) == 0.05


def test_promises_are_those_of_the_kernel() -> None:
    rng = np.random.default_rng(0)
    inside, out = rng.normal(size=500), rng.normal(2, size=300)
    decisions = decisions_of(out, inside)
    for percent in (1, 5, 10):
        name = f"at most {percent} % of new in-distribution samples"
        place = decisions.presets[name]
        at = threshold_at_fpr(inside, percent / 100, 0.95)
        shown = float(decisions.thresholds[place])
        assert np.sum(inside > shown) == np.sum(inside > at)
        assert "{threshold}" in decisions.promises[name]
        assert "500 in-distribution samples" in decisions.promises[name]
    assert decisions_of(out, inside, promise=False).promises == {}
    assert promised_thresholds([as_side(inside[:20])]) == {}, "too few for any"
    assert promised_thresholds([as_side(inside[:0])]) == {}


def test_many_thresholds_are_thinned() -> None:
    """Those that are kept count all samples; presets and a curve's points are among them."""
    rng = np.random.default_rng(1)
    out, inside = rng.normal(1, size=5_000), rng.normal(size=9_000)
    whole, thin = (decisions_of(out, inside, points=points) for points in (20_000, 500))
    assert len(thin.thresholds) <= 500 + len(thin.presets)
    assert (thin.possible, whole.possible) == (5_001, 0)  # below each OOD sample, and a promised one
    for place, text in enumerate(thin.thresholds):
        assert thin.counts["TP"][place] == np.sum(out > float(text))
        assert thin.counts["FP"][place] == np.sum(inside > float(text))
    for name, place in thin.presets.items():
        other = whole.presets[name]
        assert [thin.counts[key][place] for key in thin.counts] == [whole.counts[key][other] for key in whole.counts]
    curve = roc_curve(positives=as_side(out), negatives=as_side(inside), max_points=250)
    for at, tpr, fpr in [*zip(curve["threshold"], curve["tpr"], curve["fpr"])][1:]:
        place = place_of(thin, at)
        assert number_at(thin, "TPR", place) == tpr
        assert number_at(thin, "FPR", place) <= fpr


def test_scores_that_are_single_or_infinite() -> None:
    """A float32 score is above a threshold as NumPy compares them, in either precision; infinite ones are counted."""
    scores = np.asarray([0.1, 0.2, 0.3, np.inf, -np.inf], np.float32)
    decisions = decisions_of(scores, scores)
    for place, text in enumerate(decisions.thresholds):
        assert decisions.counts["TP"][place] == np.sum(scores > float(text))
        assert decisions.counts["TP"][place] == np.sum(scores.astype(np.float64) > float(text))
    assert decisions.counts["TP"][0] == 4, "nothing is below -inf"
    constant = decisions_of([0.5, 0.5], [0.5])
    assert [constant.counts["TP"][place] for place in (0, 1)] == [2, 0]


def test_a_threshold_in_words() -> None:
    sides = [as_side(np.asarray([0.9, 0.5])), as_side(np.asarray([1 / 3, 0.1]))]
    assert threshold_text(1 / 3, sides) == "0.4"
    assert threshold_text(-np.inf, sides) == "-inf"
    assert threshold_text(0.35, sides) == "0.35", "between two scores, as it was chosen"
    assert said_at([-np.inf, 0.5, 0.9], sides, "all", "none") == ["all", "score > 0.6", "none"]


def test_a_place_is_at_an_end_beyond_all_scores() -> None:
    decisions = decisions_of([0.5], [0.25])
    assert place_of(decisions, -100.0) == 0
    assert place_of(decisions, 100.0) == 2
    assert place_of(replace(decisions, ends=[0.25, 0.5, 0.75]), 1.0) == 2


def test_numbers_of_the_decision_among_classes() -> None:
    """Of macro_open_f, at the chosen threshold, which is shown as it is, and at others."""
    rng = np.random.default_rng(0)
    columns = {"predictions": rng.random((60, 4)), "references": rng.integers(-1, 4, 60), "open_scores": rng.random(60)}
    options = {"decisions": True, "threshold": 0.5}
    answer = answers_of("macro_open_f", Reading("macro_open_f", {"": columns}), options, intervals=False)[""]
    assert answer.leading == ["macro_open_f", "accuracy(K+1)", "hos"]
    decisions = answer.decisions
    assert decisions is not None
    assert next(iter(decisions.presets)) == "chosen threshold"
    chosen = decisions.presets["chosen threshold"]
    assert decisions.thresholds[chosen] == "0.5"
    assert "best F" not in decisions.presets
    for place in (chosen, 0, 5, 10, 50):
        at = float(decisions.thresholds[place])
        results = metric_class("macro_open_f")(decisions=True, threshold=at).compute(**columns)
        assert number_at(decisions, "F", place) == results["macro_open_f"]
        for key in ("os*", "unk", "hos", "os", "f1(K+1)", "f1(known)", "accuracy(K+1)", "open_miou"):
            assert number_at(decisions, key, place) == results[key]


@pytest.mark.parametrize(
    ("protocol", "count_background", "all_boxes"),
    [("owod", False, True), ("ow-dln", True, True), ("ow-dln", False, False)],
)
def test_which_boxes_called_unknown_are_counted(protocol: str, count_background: bool, all_boxes: bool) -> None:
    columns, drawn_options = cases.draw("openset_detection", 0)
    options = {name: drawn_options[name] for name in ("known_classes", "unknown_class_id")}
    options |= {"protocol": protocol, "count_background": count_background, "recall_level": None}
    answer = answers_of("openset_detection", Reading("openset_detection", {"": columns}), options, intervals=False)[""]
    assert answer.decisions is not None
    assert ("boxes called unknown" in answer.decisions.table) is all_boxes
    assert ("boxes called unknown, on objects" in answer.decisions.table) is not all_boxes


@many
@given(seed=seeds)
def test_a_typed_threshold_is_exact(seed: int) -> None:
    """However few thresholds are kept: its counts are those of the samples, and the presets make the same decisions."""
    rng = np.random.default_rng(seed)
    decimals = int(rng.integers(1, 4))
    sides = tuple(Side(np.sort(rng.normal(shift, 1, int(rng.integers(5, 60))).round(decimals))) for shift in (1, 0))
    scores = np.concatenate([side.scores for side in sides])
    typed = float(rng.choice([rng.choice(scores), rng.normal(0.5, 1), rng.normal(0, 9), scores.max(), scores.min()]))
    points = int(rng.integers(4, 12))
    few, one = (
        binary_decisions(sides, ("OOD", "in-distribution"), points=points, typed=each, promise=False)
        for each in (None, typed)
    )
    more = with_more(few, one)
    place = place_of(more, typed)
    counted = [int((side.scores > typed).sum()) for side in sides]
    assert [more.counts["TP"][place], more.counts["FP"][place]] == counted
    assert is_exact(more, typed) or float(more.thresholds[place]) > typed  # of the same decisions, see its end
    assert more.ends[place] > typed
    assert [*more.ends] == sorted({*more.ends})
    assert one.thresholds == [f"{typed!r}"] or typed in scores or more is few
    assert with_more(more, one) is more
    if is_exact(few, typed):
        assert more is few
    for name, index in few.presets.items():
        for count in few.counts:
            assert few.counts[count][index] == more.counts[count][more.presets[name]]


@pytest.mark.parametrize("name", [*OF_SAMPLES, "openset_detection", "anomaly_suite"])
@pytest.mark.parametrize("seed", range(3))
def test_decisions_at_a_threshold_are_those_of_the_answer(name: str, seed: int) -> None:
    """Each decision of an answer is made again, alone, with its counts and values."""
    columns, options = cases.draw(name, seed)
    options = {key: value for key, value in options.items() if key not in OTHERS}
    if name == "ood_bench":
        options["metrics"] = [each for each in options["metrics"] if not each.startswith(("dcf@", "answered", "f_"))]
    reading = Reading(name, {"": columns})
    decisions = answers_of(name, reading, options, intervals=False)[""].decisions
    assert decisions is not None
    rng = np.random.default_rng(seed)
    for place in {*rng.integers(len(decisions.ends), size=4).tolist(), 0, len(decisions.ends) - 1}:
        text = decisions.thresholds[place]
        one = decisions_at(name, reading, options, "", float(text))
        assert ([*map(float, one.thresholds)], one.ends) == ([float(text)], [decisions.ends[place]])
        assert one.counts == {key: [column[place]] for key, column in decisions.counts.items()}
        assert repr(one.values) == repr({key: [column[place]] for key, column in decisions.values.items()})
        assert (one.rates, one.table, one.rule, one.roles) == (
            *(decisions.rates, decisions.table, decisions.rule, decisions.roles),
        )
