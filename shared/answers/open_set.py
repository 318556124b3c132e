"""Answers of the open-set metrics: openauc, macro_open_f and micro_open_f."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..arrays.checks import as_fraction
from ..metric.metric import Metric
from ..open_set.open_f import macro_open_f, micro_open_f
from ..open_set.open_f_metrics import Decisions as ClassDecisions, MacroOpenF, MicroOpenF
from ..open_set.openauc import OpenAUC, open_set_sides, oscr_curve
from ..open_set.samples import count_classes
from ..ranking.counts import Side
from ..ranking.quantities import least_reaching
from .answer import Curves, Decisions, Figure, Series, Table, Worst
from .charts import Points, curves, fine_points, histogram, model_score, score_of, worst_of_sides
from .credits import SIX_DIGITS
from .decisions import (
    KINDS,
    Counts,
    curve_points,
    last_best,
    number_at,
    open_set_decisions,
    said_at,
    threshold_text,
    thresholds_of,
)
from .models import result_tables
from .subject import Computed, Drawing, Example, Form, Subject, in_words, once

_F = "F"
_DIGITS = Example("Digits 0 to 5 known, 6 to 9 unknown, three detectors", ("digits.npz",), SIX_DIGITS)
_WORDS = {
    "openauc": ("OpenAUC", "chance that a known sample gets its class and scores below an unknown one"),
    "closed_set_accuracy": ("Closed-set accuracy", "of the known samples are classified correctly"),
    "open_set_auroc": ("Open-set AUROC", "chance that an unknown sample scores above a known one, ties counting half"),
    "macro_open_f": (
        "Macro F",
        "F-score of the precision and recall averaged over the known classes, at the best threshold",
    ),
    "micro_open_f": ("Micro F", "F-score of the known classes, their counts added up, at the best threshold"),
    "hos_max": (
        "Best HOS",
        "harmonic mean of the recalls of the known classes and of unknown, at its best threshold",
    ),
    "hos": ("", "harmonic mean of the recalls of the known classes and of unknown"),
    r"accuracy\(K\+1\)": (
        "Accuracy, K + 1 classes",
        "of all samples are called what they are, unknown being one more class",
    ),
    "open_set_accuracy@tpr(.+)": ("Accuracy at {0} % TPR", "of all samples are correctly called known or unknown"),
    "ccr": ("CCR at the threshold", "of the known samples are classified correctly and accepted"),
    "fpr": ("Unknown accepted at the threshold", "of the unknown samples are accepted"),
    "ccr@fpr(.+)": ("CCR at {0} % FPR", "of the known samples are classified correctly and accepted"),
    "risk@cov(.+)": ("Risk at {0} % coverage", ""),
    "coverage@risk(.+)": ("Coverage at {0} % risk", ""),
    "(aurc|augrc)": ("{1}", ""),
}


def words(key: str, options: Mapping[str, Any]) -> tuple[str, str]:
    """The title and the meaning of a key, whatever its threshold.

    >>> words("ccr@fpr10", {})
    ('CCR at 10 % FPR', 'of the known samples are classified correctly and accepted')
    """
    return in_words(_WORDS, key)


@once
def _state(computed: Computed) -> Any:
    """The samples with their own scores, which a t_list rounds up."""
    if "thresholds" not in computed.state:
        return computed.state
    metric = MicroOpenF(num_classes=computed.options["num_classes"])  # which reduces as macro_open_f does
    metric.keeps_samples = True
    metric.add_batch(**computed.columns)
    return metric.state()


@once
def sides(computed: Computed) -> Sequence[Side]:
    """Scores of the unknown, of the correctly and of the wrongly classified known samples."""
    return open_set_sides(_state(computed))


def _data(computed: Computed) -> str:
    unknown, *known = (side.total for side in sides(computed))
    return f"{sum(known):,} known, {unknown:,} unknown"


def _scores_by_kind(computed: Computed) -> Figure:
    each = [(kind, role, side) for (kind, role), side in zip(KINDS.items(), sides(computed))]
    unit = f"{model_score(computed)}, higher is more unknown"
    return histogram("Scores by kind", unit, [*each[1:], each[0]], of_all=True)


def _worst(computed: Computed) -> Sequence[Worst]:
    state = _state(computed)
    if "counts" in state:  # equal samples are one row
        return ()
    classes, predicted = np.asarray(state["classes"]), np.asarray(state["predicted"])
    more: dict[str, Sequence[Any]]
    if "openauc" in computed.summary.results:  # whose state holds no classes
        right = np.where(predicted == classes, "right", "wrong")
        more = {"class": np.where(classes < 0, "unknown", right).tolist()}
    else:
        more = {"class": np.where(classes < 0, -1, classes).tolist(), "predicted": predicted.tolist()}
    kinds = classes >= 0, classes < 0
    return worst_of_sides(computed, np.asarray(state["scores"], np.float64), kinds, ("known", "unknown"), more)


def _threshold(computed: Computed, key: str) -> str:
    return threshold_text(computed.summary.results[key].threshold, sides(computed))


# openauc


def _oscr(computed: Computed, most: int) -> Mapping[str, Sequence[float]]:
    unknown, correct, wrong = sides(computed)
    number = correct.total + wrong.total
    return oscr_curve(unknown=unknown, correct_known=correct, num_known=number, max_points=most)


def _oscr_points(computed: Computed) -> Points:
    curve = _oscr(computed, fine_points(computed))
    ends = "nothing accepted", "everything accepted"
    return curve["fpr"], curve["ccr"], said_at(curve["threshold"], sides(computed), *ends, "accepted if score ≤")


def _openauc_figures(computed: Computed) -> Sequence[Figure]:
    axes, follows = ("unknown accepted", "known accepted, right class"), ("unknown accepted", "right class")
    return [_scores_by_kind(computed), curves("OSCR curve", axes, computed, _oscr_points, "openauc", follows=follows)]


def _openauc_decisions(computed: Computed) -> Decisions:
    unknown, *_ = each = sides(computed)
    share = as_fraction(computed.options["tpr"], "tpr")

    def presets(thresholds: np.ndarray, counts: Counts) -> Mapping[str, int]:
        rejected = counts["unknown, rejected"]
        reached = np.flatnonzero(rejected >= least_reaching(share, unknown.total))
        there = {f"{100 * share:g} % of unknown rejected": int(reached[-1])} if len(reached) else {}
        return there | {"best accuracy": last_best(rejected + counts["known, right class, accepted"])}

    def drawn() -> Sequence[float]:
        return _oscr(computed, curve_points(computed.points))["threshold"]

    chosen = computed.options["threshold"]
    named: dict[str, Any] = {"points": computed.points, "typed": computed.typed, "score": score_of(computed)}
    return open_set_decisions(each, presets, drawn=drawn, chosen=chosen, **named)


# the F-scores


@once
def _f_decisions(computed: Computed) -> Decisions | None:
    """At each threshold, the counts, F and, with the option, the numbers of the decision among K + 1 classes."""
    state, options = _state(computed), computed.options
    is_micro = MicroOpenF.name in computed.summary.results
    num_classes = count_classes(state, options["num_classes"])
    columns = state["predicted"], np.where(state["classes"] < 0, -1, state["classes"]), state["scores"]
    best, each = computed.results[f"{'micro' if is_micro else 'macro'}_open_f_threshold"], sides(computed)
    is_chosen = options.get("threshold") is not None

    def values(thresholds: np.ndarray, counts: Counts) -> Mapping[str, Sequence[float]]:
        if is_micro:
            f = micro_open_f(*columns, thresholds, counts=state.get("counts"))[2]
        else:
            f = macro_open_f(*columns, num_classes, thresholds, counts=state.get("counts"))[2]
        rows = ClassDecisions(state, num_classes).at(thresholds) if options.get("decisions") else [{}]
        return {_F: f or (), **{name: [row[name] for row in rows] for name in rows[0]}}

    def presets(thresholds: np.ndarray, counts: Counts) -> Mapping[str, int]:
        return {} if is_chosen or not math.isfinite(best) else {"best F": int(np.searchsorted(thresholds, best))}

    thresholds = thresholds_of(each[0], each[1:], sum(len(side.scores) for side in each))
    thresholds = np.union1d(thresholds, [best]) if math.isfinite(best) else thresholds
    if len(thresholds) < 2:  # without finite scores there is none to move
        return None
    chosen = best if is_chosen and math.isfinite(best) else None
    named: dict[str, Any] = {"points": computed.points, "typed": computed.typed, "score": score_of(computed)}
    return open_set_decisions(each, presets, thresholds=thresholds, chosen=chosen, values=values, **named)


def _f_figures(computed: Computed) -> Sequence[Figure]:
    """The scores, and F over the threshold; rivals have scores, and so thresholds, on scales of their own."""
    decisions = _f_decisions(computed)
    if decisions is None:
        return [_scores_by_kind(computed)]
    at, f = [*map(float, decisions.thresholds)][::-1], decisions.values[_F][::-1]
    rules = [f"score > {text}" for text in decisions.thresholds[::-1]]
    series, axes, note = [Series(computed.model, computed.role, at, f, rules)], ("threshold", _F), ""
    if "best F" in decisions.presets:
        place = decisions.presets["best F"]
        note = f"best F {number_at(decisions, _F, place):.3f} at score > {decisions.thresholds[place]}"
    curve = Curves("F over the threshold", axes, series, axes, shares=(False, True), steps=True, note=note)
    return [_scores_by_kind(computed), curve]


def _f_tables(computed: Computed) -> Sequence[Table]:
    """The numbers at each threshold of a t_list, and other tables among the results."""
    tables = result_tables(computed.summary)
    curves = {
        table.title.removesuffix("_curve"): table.columns[table.title] for table in tables if "place" in table.columns
    }
    if not curves:
        return tables
    listed = {"threshold": np.atleast_1d(np.asarray(computed.options["t_list"], np.float64)).tolist()}
    others = [table for table in tables if "place" not in table.columns]
    return [Table("At each threshold", {**listed, **curves}, [*curves]), *others]


_NEEDS = "class scores or predictions, labels, and an open-set score"
_COUNTS = "Each class counts the same, or each sample"


def _f_subject(metric: type[Metric], drawing: Drawing, words_of_switch: str) -> Subject:
    return Subject(
        metric=metric,
        question="Are known classes recognised and unknown samples rejected?",
        leading=(metric.name, r"accuracy\(K\+1\)", "hos"),
        example=_DIGITS,
        form=Form(_NEEDS, ("t_list", "num_classes"), switch=(_COUNTS, words_of_switch), place=3),
        data=_data,
        words=words,
        figures=_f_figures,
        decisions=_f_decisions,
        worst=_worst,
        tables=_f_tables,
        threshold=_threshold,
        drawing=drawing,
        noun="detector",
    )


_ALL = (
    Subject(
        metric=OpenAUC,
        question="Is a known sample classified correctly, and ranked below an unknown one?",
        leading=("openauc", "closed_set_accuracy", "open_set_auroc"),
        example=_DIGITS,
        form=Form(_NEEDS, ("tpr", "fpr_list"), have={"logits and labels with unknown ones": ""}, place=2),
        data=_data,
        sections={
            "At a threshold": r"open_set_accuracy@.*|ccr.*|fpr",
            "If the least confident are left out": r"aurc|augrc|risk@.*|coverage@.*",
        },
        words=words,
        figures=_openauc_figures,
        decisions=_openauc_decisions,
        worst=_worst,
        threshold=_threshold,
        drawing=Drawing(number=400),
        noun="detector",
        method=lambda options: ", the area under the open-set classification rate curve (OSCR) over every score",
    ),
    _f_subject(MacroOpenF, Drawing(group=8_000), "each class"),
    _f_subject(MicroOpenF, Drawing(), "each sample"),
)
SUBJECTS = {subject.name: subject for subject in _ALL}
