"""Answers of ood_bench: how well out-of-distribution samples are told apart from in-distribution ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..metric.groups import GROUPS
from ..ood.measures import has_threshold
from ..ood.ood_bench import OODBench, StateOptions, is_ood, ood_sides, state_options
from ..ranking.counts import Side
from ..ranking.operating_points import parse_point
from ..ranking.roc import roc_curve
from .answer import Decisions, Figure, Worst
from .charts import curve_points, histogram, model_score, pooled_note, precision_recall, roc, worst_of_sides
from .decisions import binary_decisions, threshold_text
from .subject import Computed, Example, Subject

WORDS = ("OOD", "in-distribution")
_TITLES = {
    "auroc": "AUROC",
    "aupr_out": "AUPR, OOD",
    "aupr_in": "AUPR, in-distribution",
    "detect_acc": "Detection accuracy",
    "eer": "Equal error rate",
    "aurc": "AURC",
    "augrc": "AUGRC",
    "auarc": "AUARC",
    "e_aurc": "Excess AURC",
    "prr": "PRR",
    "tpr": "TPR at the threshold",
    "fpr": "FPR at the threshold",
    "tnr": "TNR at the threshold",
    "fnr": "FNR at the threshold",
}
_MEANINGS = {
    "auroc": "chance that an OOD sample scores above an in-distribution one, ties counting half",
    "aupr_out": "area under the precision-recall curve of the OOD samples",
    "aupr_in": "area under the precision-recall curve of the in-distribution samples",
    "detect_acc": "of all samples are called what they are, at the best threshold",
    "eer": "FPR and FNR where they are equal",
    "prr": "1 for the perfect order of the scores, 0 by chance",
}
_POINTS = {  # by the rate and the bounded rate, of positives and negatives
    ("fpr", "tpr"): "of the {1} samples are called {0} where {2} % of the {0} ones are",
    ("tpr", "fpr"): "of the {0} samples are called so where {2} % of the {1} ones are",
}


def title(key: str) -> str:
    """A key in words; "" for one that says it itself.

    >>> title("fpr95tpr"), title("pauroc@fpr10"), title("f1_score")
    ('FPR at 95 % TPR', 'AUROC up to 10 % FPR', '')
    """
    point = parse_point(key)
    if point is not None:
        return f"{point[0].upper()} at {float(100 * point[2]):.12g} % {point[1].upper()}"
    bounded = key.removeprefix("pauroc@")
    if bounded != key and "_" not in bounded:
        return f"AUROC {'up to' if bounded[:3] in ('fpr', 'fnr') else 'from'} {bounded[3:]} % {bounded[:3].upper()}"
    return _TITLES.get(key, "")


def meaning(key: str, options: Mapping[str, Any]) -> str:
    """A key in a few words; "" for others.

    >>> meaning("fpr95tpr", {"positive": "out"})
    'of the in-distribution samples are called OOD where 95 % of the OOD ones are'
    """
    point = parse_point(key)
    if point is None:
        return _MEANINGS.get(key.removesuffix("_trapezoid"), "")
    words = WORDS if options["positive"] == "out" else WORDS[::-1]
    return _POINTS.get(point[:2], "").format(*words, f"{float(100 * point[2]):.12g}")


def sides(computed: Computed) -> tuple[Side, Side]:
    """Scores of the OOD and of the in-distribution samples."""
    if "sides" not in computed.memo:
        computed.memo["sides"] = ood_sides(computed.state, _labels(computed))  # type: ignore[arg-type]
    both: tuple[Side, Side] = computed.memo["sides"]
    return both


def _labels(computed: Computed) -> StateOptions:
    options = computed.options
    return state_options(options["in_value"], options["out_value"], options["ignore_value"], None)


def _decisions(computed: Computed) -> Decisions:
    out, inside = sides(computed)
    drawn = roc_curve(positives=out, negatives=inside, max_points=curve_points(computed))["threshold"]
    note = pooled_note(computed, SUBJECT.group)
    chosen = computed.options["threshold"]
    return binary_decisions(out, inside, WORDS, chosen=chosen, points=computed.points, drawn=drawn, note=note)


def _figures(computed: Computed) -> Sequence[Figure]:
    note, (out, inside) = pooled_note(computed, SUBJECT.group), sides(computed)
    sampled = computed.options["step"] is not None  # then the numbers are not the areas of these curves
    both = ((WORDS[1], "known", inside), (WORDS[0], "unknown", out))
    noted = "; ".join(filter(None, [note, "of every score; the numbers are sampled" if sampled else ""]))
    return [
        histogram("Scores of both sets", f"{model_score(computed)}, higher is more OOD", both, note),
        roc("ROC", computed, sides, "" if sampled else "auroc", noted),
        precision_recall("Precision and recall", computed, sides, "" if sampled else "aupr_out", noted),
    ]


def _worst(computed: Computed) -> Sequence[Worst]:
    state = computed.state
    if "counts" in state:  # equal samples are one row
        return ()
    out, kept = is_ood(np.asarray(state["labels"]), _labels(computed))
    kept = np.ones(len(out), bool) if kept is None else kept
    scores = np.asarray(state["scores"], np.float64)
    return worst_of_sides(computed, scores, (kept & ~out, kept & out), WORDS[::-1])


def _threshold(computed: Computed, key: str) -> str:
    """Of an operating point without groups, whether or not the results have its threshold."""
    if computed.pooled is not None or not has_threshold(key) or computed.options["step"] is not None:
        return ""
    if "points" not in computed.memo:
        keys = [name for name in computed.summary.results if has_threshold(name)]
        metric = OODBench(metrics=keys, thresholds=True, positive=computed.options["positive"])
        computed.memo["points"] = metric.rates(*sides(computed))
    at = computed.memo["points"][key].threshold
    return "" if at is None or math.isnan(at) else threshold_text(at, sides(computed))


def _check(columns: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    """Refuse labels with another meaning beside groups, of which 0 and 1 say which samples belong to every group."""
    for name in ("in_value", "out_value"):
        if GROUPS in columns and options[name] != OODBench.options[name]:
            usual = f"in_value {OODBench.in_value} and out_value {OODBench.out_value}"
            raise ValueError(
                f"groups: expected {usual} beside groups, which hold the known samples by their labels, got "
                f"{name} {options[name]}"
            )


def _notes(computed: Computed) -> Sequence[str]:
    step = computed.options["step"]
    return () if step is None else [f"Numbers are approximate, from every {step}-th score (step); curves have all."]


def _data(computed: Computed) -> str:
    out, inside = sides(computed)
    return f"{out.total:,} OOD, {inside.total:,} in-distribution"


SUBJECT = Subject(
    metric=OODBench,
    question="Are out-of-distribution samples told apart from in-distribution ones?",
    leading=("auroc", "fpr95tpr", "aupr_out"),
    example=Example(
        "Digits 6 to 9 are out-of-distribution, three detectors",
        ("digits.npz",),
        {"metrics": ("auroc", "fpr95tpr", "aupr_out")},
    ),
    data=_data,
    sections={
        "Areas": r"p?auroc.*|aupr_.*|prr|e?_?a[ug]+a?rc",
        "Rates at operating points": r"[ft][pn]r[\d.]+[ft][pn]r|detect_acc|eer",
        "At the threshold": r"[ft][pn]r|.*_score|.*_loss|.*_coef.*",
    },
    title=title,
    meaning=meaning,
    figures=_figures,
    decisions=_decisions,
    worst=_worst,
    notes=_notes,
    threshold=_threshold,
    check=_check,
    noun="detector",
    group="set",
    method=", with OOD as the positive class and every distinct score as a threshold",
)
SUBJECTS = {SUBJECT.name: SUBJECT}
