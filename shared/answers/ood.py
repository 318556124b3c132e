"""Answers of ood_bench: how well out-of-distribution samples are told apart from in-distribution ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..metric.rounding import number_text
from ..metric.states import num_samples
from ..ood.ood_bench import OODBench, StateOptions, is_inside, ood_sides, state_options
from ..ood.qualities import QUALITIES
from ..ranking.counts import Side
from ..ranking.roc import precision_recall_curve
from ..reading.reasons import some
from .answer import Decisions, Figure, Worst
from .charts import SAMPLED, curves, flagging, histogram, joined, model_score, roc, score_of, worst_of_sides
from .credits import SIX_DIGITS
from .decisions import binary_decisions, threshold_text
from .subject import Computed, Example, Form, Subject, in_words, once

WORDS = ("OOD", "in-distribution")
_ACCURACY = "accuracy_given_answered"


def words(key: str, options: Mapping[str, Any]) -> tuple[str, str]:
    """The title and the meaning of a key.

    >>> words("fpr95tpr", {"positive": "out"})
    ('FPR at 95 % TPR', 'of the in-distribution samples are called OOD where 95 % of the OOD ones are')
    >>> words("pauroc@fpr10", {"positive": "out"})[0], words("f1_score", {"positive": "out"})
    ('AUROC up to 10 % FPR', ('', ''))
    """
    yes, no = WORDS if options["positive"] == "out" else WORDS[::-1]
    where = "where {0} % of the"
    out, inside = (f"area under the precision-recall curve of the {word} samples" for word in WORDS)
    table = {
        "auroc": ("AUROC", "chance that an OOD sample scores above an in-distribution one, ties counting half"),
        "aupr_out": ("AUPR, OOD", out),
        "aupr_out_trapezoid": ("", out),
        "aupr_in": ("AUPR, in-distribution", inside),
        "aupr_in_trapezoid": ("", inside),
        "detect_acc": ("Detection accuracy", "of all samples are called what they are, at the best threshold"),
        "eer": ("Equal error rate", "FPR and FNR where they are equal"),
        "eer_hull": ("Equal error rate, convex hull", "FPR and FNR where they are equal on the convex hull of the ROC"),
        "mindcf@p(.+)": ("Least detection cost, prior {0} %", "of the cost of detecting nothing, or everything"),
        "dcf@p(.+)": ("Detection cost, prior {0} %", "of the cost of detecting nothing, or everything"),
        "detection_error": ("Detection error", "mean of FNR and FPR at the best threshold"),
        "best_balanced_accuracy": ("Best balanced accuracy", "mean of TPR and TNR at the best threshold"),
        "aupr_out@share(.+)": ("AUPR, {0} % OOD", f"{out}, if {{0}} % of the samples were OOD"),
        "precision@n": ("Precision at n", "of the n highest samples are OOD, where n are"),
        "precision@top(.+)": ("Precision, top {0} %", "of the highest samples are OOD"),
        "recall@top(.+)": ("Recall, top {0} %", "of the OOD samples are among the highest"),
        "risk@cov(.+)": ("Risk at {0} % coverage", ""),
        "coverage@risk(.+)": ("Coverage at {0} % risk", ""),
        "reliability@c(.+)": ("Reliability, cost {0}", "right answers less {0} for each wrong one, of all"),
        "answered": ("Answered", "of the answers are accepted"),
        "accuracy_given_answered": ("Accuracy of the answered", "of the accepted answers are right"),
        "f_answered": ("F of the answered", "harmonic mean of the accuracy of all and of the accepted answers"),
        "prr": ("PRR", "1 for the perfect order of the scores, 0 by chance"),
        "(aurc|augrc|auarc)": ("{1}", ""),
        "e_aurc": ("Excess AURC", ""),
        "([tf][pn]r)": ("{1} at the threshold", ""),
        r"fpr([\d.]+)tpr": ("FPR at {0} % TPR", f"of the {no} samples are called {yes} {where} {yes} ones are"),
        r"tpr([\d.]+)fpr": ("TPR at {0} % FPR", f"of the {yes} samples are called so {where} {no} ones are"),
        r"([tf][pn]r)([\d.]+)([tf][pn]r)": ("{3} at {1} % {5}", ""),
        r"pauroc@(fpr|fnr)([^_]+)": ("AUROC up to {1} % {2}", ""),
        r"pauroc@(tpr|tnr)([^_]+)": ("AUROC from {1} % {2}", ""),
    }
    return in_words(table, key)


@once
def sides(computed: Computed) -> tuple[Side, Side]:
    """Scores of the OOD and of the in-distribution samples."""
    return ood_sides(computed.state, _labels(computed))  # type: ignore[arg-type]


def _labels(computed: Computed) -> StateOptions:
    options = computed.options
    return state_options(options["in_value"], options["out_value"], options["ignore_value"], None)


def _has_sides(computed: Computed) -> bool:
    """Whether samples have labels, rather than qualities."""
    return QUALITIES not in computed.state


def _decisions(computed: Computed) -> Decisions | None:
    if not _has_sides(computed):
        return None
    named: dict[str, Any] = {"points": computed.points, "typed": computed.typed, "score": score_of(computed)}
    return binary_decisions(sides(computed), WORDS, chosen=computed.options["threshold"], **named)


def _figures(computed: Computed) -> Sequence[Figure]:
    if not _has_sides(computed):
        return []
    out, inside = sides(computed)
    both = ((WORDS[1], "known", inside), (WORDS[0], "unknown", out))
    area, pr_area, note = "auroc", "aupr_out", ""
    if computed.options["step"] is not None:  # then the numbers are not the areas of these curves
        area, pr_area, note = "", "", SAMPLED
    chance = f"chance is {number_text(out.total / (out.total + inside.total))}"
    return [
        histogram("Scores of both sets", f"{model_score(computed)}, higher is more OOD", both),
        roc("ROC", computed, sides, area, note=note),
        curves(
            "Precision and recall",
            ("recall", "precision"),
            computed,
            flagging(precision_recall_curve, "recall", "precision", sides),
            pr_area,
            follows=("TPR", "precision"),
            steps=True,
            note=joined(note, chance),
        ),
    ]


def _worst(computed: Computed) -> Sequence[Worst]:
    state = computed.state
    if "counts" in state or not _has_sides(computed):  # equal samples are one row
        return ()
    inside, used = is_inside(np.asarray(state["labels"]), _labels(computed))
    used = np.ones(len(inside), bool) if used is None else used
    scores = np.asarray(state["scores"], np.float64)
    return worst_of_sides(computed, scores, (used & inside, used & ~inside), WORDS[::-1])


def _threshold(computed: Computed, key: str) -> str:
    """Of an operating point without groups, whether or not the results have its threshold."""
    if computed.pooled is not None or computed.options["step"] is not None or key not in _points(computed):
        return ""
    return threshold_text(_points(computed)[key].threshold, sides(computed))


@once
def _points(computed: Computed) -> Mapping[str, Any]:
    measures = OODBench(**{**computed.options, "confidence_level": None}).parsed.measures
    keys = [name for name in computed.summary.results if name in measures and measures[name].has_threshold]
    named = {name: computed.options[name] for name in ("positive", "cost_miss", "cost_false_alarm")}
    return OODBench(metrics=keys, thresholds=True, **named).rates(*sides(computed)) if keys else {}


def _notes(computed: Computed) -> Sequence[str]:
    step, summary = computed.options["step"], computed.summary
    notes = [] if step is None else [f"Numbers are approximate, from every {step}-th score (step); curves have all."]
    accuracy = summary.results.get(_ACCURACY)
    if accuracy is not None and math.isnan(accuracy.value):
        without = [name for name, row in (summary.groups or {}).items() if math.isnan(row[_ACCURACY].value)]
        where = f" in {some(without)}" if without else ""
        notes.append(f"No answer{where} scores at most the threshold, so there is no {_ACCURACY}.")
    return notes


def _data(computed: Computed) -> str:
    if not _has_sides(computed):
        return f"{num_samples(computed.state):,} answers"
    out, inside = sides(computed)
    return f"{out.total:,} OOD, {inside.total:,} in-distribution"


SUBJECT = Subject(
    metric=OODBench,
    question="Are out-of-distribution samples told apart from in-distribution ones?",
    leading=("auroc", "fpr95tpr", "aupr_out"),
    example=Example(
        "Digits 6 to 9 are out-of-distribution, three detectors",
        ("digits.npz",),
        SIX_DIGITS,
        {"metrics": ("auroc", "fpr95tpr", "aupr_out")},
    ),
    form=Form(
        "scores, and which samples are out-of-distribution",
        ("metrics", "positive"),
        have={
            "scores and labels": "",
            "right or wrong answers with a confidence": "metrics=auroc,aurc,prr",
        },
        place=1,
    ),
    data=_data,
    sections={
        "Areas": r"p?auroc.*|aupr_.*|prr|e?_?a[ug]+a?rc",
        "Rates at operating points": r"[ft][pn]r[\d.]+[ft][pn]r|detect_acc|eer.*|mindcf@.*|detection_error|best_.*",
        "At the threshold": r"[ft][pn]r|dcf@.*|.*answered|.*_score|.*_loss|.*_coef.*",
        "Of the highest": r"(precision|recall)@.*",
        "If the least certain are left out": r"risk@.*|coverage@.*|reliability@.*",
    },
    words=words,
    figures=_figures,
    decisions=_decisions,
    worst=_worst,
    notes=_notes,
    threshold=_threshold,
    noun="detector",
    group="set",
    method=lambda options: ", with OOD as the positive class and every distinct score as a threshold",
)
SUBJECTS = {SUBJECT.name: SUBJECT}
