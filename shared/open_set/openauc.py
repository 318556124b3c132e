"""OpenAUC and its companions, from the open-set scores of unknown, correctly and wrongly classified known samples.

Wins of the unknown samples over the correctly classified known ones, and over the others, add up to the wins over all
known ones. So the three kinds are sorted separately, each once. Companions are the OSCR curve, its points, and the
accuracy of unknown against known at a true-positive rate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..arrays.arrays import Array, array_namespace
from ..arrays.checks import as_bool, as_fraction, as_int, as_real, as_share, as_shares, by_keyword
from ..metric.metric import Metric
from ..metric.results import Rate, Results, check_thresholds_exist
from ..ranking.auroc import TWICE_WINS, twice_wins_over
from ..ranking.counts import (
    Side,
    check_both_classes,
    checked_sides,
    exceeded_threshold,
    runs,
    sides_of_kinds,
    two_sides,
)
from ..ranking.curves import EER
from ..ranking.operating_points import parse_area, samples_above
from ..ranking.quantities import (
    Quantity,
    bounded,
    check_bits,
    least_reaching,
    most_within,
    percent,
    quantities,
    was_cut,
    with_errors,
)
from ..ranking.roc import MAX_POINTS, curve_vertices, rising, table
from ..ranking.strata import PreparedSides
from .open_f_metrics import open_set_samples
from .risk import (
    as_costs,
    both_sides,
    names_of,
    risk_names,
    risk_of_sides,
    risk_quantities,
    risks_with_costs,
)
from .samples import (
    OPEN_SET_ALIASES,
    OPEN_SET_TABLES,
    SIDES_OF_XCURVE,
    OpenSetState,
    as_open_set_state,
    known_unknown_state,
    of_openauc,
    open_set_state,
)

DEFAULT_TPR = 0.95
Ends = tuple[float, ...]


@dataclass(kw_only=True, eq=False, repr=False)
class OpenAUC(Metric):
    """OpenAUC, closed-set accuracy, AUROC of unknown against known, and their accuracy at a true-positive rate.

    Columns: see `reduce`. Options, in addition to the common ones (see `Metric`):

    tpr: the true-positive rate of the operating point, in (0, 1], as of `accuracy_at_tpr`
    significant_bits: how many bits of each score are kept, in [4, 52]; None keeps all. Fixed at load
    fpr_list: numbers in [0, 1] at which to add the correct-classification rate, as of `ccr_at_fpr`
    risk_metrics: names of `risk_coverage` to add; unknown samples are errors too
    ood_cost: for these, the cost of an accepted unknown sample, in [0, 1]; a wrong class costs 1 − ood_cost
    unknown_share: for these, the share of unknown samples to weigh by, in (0, 1); None for their share in the data
    roc_metrics: names of numbers to add of the ROC of unknown against known, as `OODBench` has them: "eer", and
        partial areas such as "pauroc@fpr10"
    threshold: adds the rates at it, "ccr" and "fpr": of known samples that are classified correctly and accepted, and
        of unknown ones that are accepted, which a sample is iff score ≤ threshold; `per_sample` then decides by it
    per_sample: whether to add the threshold of the operating point and the table of `open_set_samples`

    Results: "openauc", "closed_set_accuracy", "open_set_auroc", "open_set_accuracy@tpr95", and "ccr@fpr0.1" and so on;
    if scores were cut, all but the second have an error, and there is no coverage@risk and no rate at a threshold.
    Raises ValueError without unknown or known samples, for a rate out of range, and for per_sample if samples were
    counted or their scores cut.

    >>> OpenAUC(tpr=0.9).compute(predictions=[0, 1, 1], references=[0, 1, -1], open_scores=[0.1, 0.2, 0.9])
    {'openauc': 1.0, 'closed_set_accuracy': 1.0, 'open_set_auroc': 1.0, 'open_set_accuracy@tpr90': 1.0}
    """

    name = "openauc"
    fixed_options = frozenset({"significant_bits"})
    countable_tables = OPEN_SET_TABLES
    truth = ("classes",)
    aliases = OPEN_SET_ALIASES
    ungrouped_columns = SIDES_OF_XCURVE
    selecting = Metric.selecting | {"tpr", "fpr_list", "risk_metrics", "roc_metrics"}

    tpr: float = DEFAULT_TPR
    significant_bits: int | None = None
    fpr_list: float | Sequence[float] | None = None
    risk_metrics: str | Sequence[str] = ()
    ood_cost: float | None = None
    unknown_share: float | None = None
    roc_metrics: str | Sequence[str] = ()
    threshold: float | None = None
    per_sample: bool = False

    def __post_init__(self) -> None:
        """Check each option."""
        super().__post_init__()
        self.tpr = as_fraction(self.tpr, "tpr")
        self.significant_bits = check_bits(self.significant_bits)
        self.threshold = None if self.threshold is None else as_real(self.threshold, "threshold")
        self.per_sample = as_bool(self.per_sample, "per_sample")
        self.fprs: Sequence[float] = []
        if self.fpr_list is not None:
            self.fprs = as_shares(self.fpr_list, "fpr_list")
        self.risks = risk_names(self.risk_metrics, "risk_metrics")
        self.costs = as_costs(self.ood_cost, self.unknown_share)
        self.area_names = (*map(str, names_of(self.roc_metrics)),)
        roc_areas(self.area_names)
        self.at_tpr = f"open_set_accuracy@tpr{percent(self.tpr)}"  # the key of the operating point

    @property
    def areas(self) -> Mapping[str, tuple[Quantity, bool]]:
        """The partial areas, which are parsed once: they hold functions, which cannot be pickled."""
        return roc_areas(self.area_names)

    def reduce(
        self,
        predictions: Any = None,
        references: Any = None,
        open_scores: Any = None,
        open_labels: Any = None,
        open_set_pred_known: Any = None,
        open_set_pred_unknown: Any = None,
        close_set_pred_class: Any = None,
        close_set_labels: Any = None,
    ) -> OpenSetState:
        """Reduce a batch in either form: the columns of `OpenF.reduce`, or the arrays of `known_unknown_state`.

        Returns an `OpenSetState` with the open-set scores, and whether samples are known and correct (see
        `of_openauc`). Raises TypeError for columns of both forms, or if one is missing.
        """
        columns = {"predictions": predictions, "references": references, "open_scores": open_scores}
        arrays = (open_set_pred_known, open_set_pred_unknown, close_set_pred_class, close_set_labels)
        if open_set_pred_known is open_set_pred_unknown is close_set_pred_class is close_set_labels is None:
            for name, column in columns.items():
                if column is None:
                    raise TypeError(f"{name}: openauc needs the columns {', '.join(columns)}; got no {name}")
            state = open_set_state(predictions, references, open_scores, open_labels)
        elif any(column is not None for column in (*columns.values(), open_labels)):
            raise TypeError(
                "open_set_pred_known and its kin are given instead of predictions, references, open_scores and "
                "open_labels; got columns of both forms"
            )
        else:
            state = known_unknown_state(*arrays)
        return of_openauc(state, self.significant_bits)

    def as_state(self, state: Mapping[str, Any]) -> OpenSetState:
        """Check a state from elsewhere."""
        return of_openauc(as_open_set_state(state, significant_bits=self.significant_bits), None)

    def prepare(self, state: OpenSetState) -> PreparedSides:
        """Sort the unknown, the correctly and the wrongly classified samples; the latter two are drawn together."""
        if self.costs is not None and not self.risks:
            raise ValueError("risk_metrics: expected names with an ood_cost or an unknown_share, got none")
        if self.costs is not None and "significant_bits" in state:
            raise ValueError(
                "significant_bits: expected None with an ood_cost or an unknown_share, whose risks have no error bound"
            )
        return PreparedSides(self, state, open_set_sides(state), stratum_of=(0, 1, 1))

    def rates(self, unknown: Side, correct: Side, wrong: Side) -> Results:
        """Results of the three kinds of samples."""
        num_known = correct.total + wrong.total
        closed = {"closed_set_accuracy": correct.total / num_known} if num_known else {}
        check_both_classes(unknown.total, num_known, closed)
        over_correct, over_wrong = twice_wins_over(unknown, correct), twice_wins_over(unknown, wrong)
        pairs = 2 * unknown.total * num_known
        reached = score_at_tpr(unknown, self.tpr)
        accuracy = accuracy_of_sides(unknown, (correct, wrong), reached)
        decides = self.per_sample and self.threshold is None
        threshold = exceeded_threshold(reached, (unknown, correct, wrong)) if decides else None
        rates = {
            "openauc": Rate(over_correct / pairs, True),
            **{name: Rate(value, True) for name, value in closed.items()},
            "open_set_auroc": Rate((over_correct + over_wrong) / pairs, True),
            self.at_tpr: Rate(accuracy, True, threshold=threshold),
        }
        for fpr in self.fprs:
            rates[f"ccr@fpr{percent(fpr)}"] = Rate(ccr_of_sides(unknown, correct, num_known, fpr), True)
        if self.threshold is not None:
            right, accepted = (side.total - samples_above(side, self.threshold) for side in (correct, unknown))
            rates |= {"ccr": Rate(right / num_known, True), "fpr": Rate(accepted / unknown.total, False)}
        risks = risk_quantities(self.risks) if self.risks else {}
        if risks:
            if self.costs is None:
                values = risk_of_sides(both_sides(unknown, wrong), correct, risks)
            else:
                values = risks_with_costs(unknown, wrong, correct, self.risks, self.costs)
            rates |= {name: Rate(value, risks[name].higher) for name, value in values.items()}
        areas = areas_of_sides(unknown, both_sides(correct, wrong), self.areas) if self.areas else {}
        rates |= {name: Rate(ends[0], self.areas[name][0].higher) for name, ends in areas.items()}
        if unknown.bits is None:
            return rates
        return with_errors(rates, ends_of_cut(unknown, correct, wrong, self.tpr, self.fprs, risks) | areas)

    def side_of(self, state: OpenSetState) -> Array:
        """Which of the three kinds each entry of a state is."""
        return kinds_of_samples(state)

    def tables(self, prepared: PreparedSides, results: Results) -> dict[str, Any]:
        """The table of samples, with `per_sample`."""
        check_thresholds_exist(results)
        if not self.per_sample:
            return {}
        threshold = results[self.at_tpr].threshold if self.threshold is None else self.threshold
        return {"per_sample": open_set_samples(prepared.state, threshold)}


@lru_cache(1 << 8)
def roc_areas(names: tuple[str, ...]) -> Mapping[str, tuple[Quantity, bool]]:
    """The quantities of roc_metrics by name, each with whether known samples are its positives; see `parse_area`."""
    areas = {}
    for name in names:
        area = (EER, False) if name == "eer" else parse_area(name)
        if area is None:
            points = "pauroc@<fpr, tpr, fnr or tnr><number in (0, 100]>, with _mcclish or without"
            raise ValueError(f"roc_metrics: unknown metric {name!r}; known are eer, {points}")
        areas[name] = area
    return areas


def areas_of_sides(unknown: Side, known: Side, areas: Mapping[str, tuple[Quantity, bool]]) -> dict[str, Ends]:
    """The value of each of `roc_areas`, and its bounds before scores were cut."""
    ends: dict[str, Ends] = {}
    for name, (area, of_known) in areas.items():
        wanted = {name: area} if unknown.bits is None else bounded({name: area}, unknown.bits)
        value = quantities(unknown, known, *(({}, wanted) if of_known else (wanted,)))[name]
        ends[name] = (value,) if unknown.bits is None else value
    return ends


def open_set_sides(state: OpenSetState) -> tuple[Side, Side, Side]:
    """The unknown samples, the known ones that are classified correctly, and the others, in one type."""
    bits = int(state["significant_bits"]) if "significant_bits" in state else None
    kinds, counts = kinds_of_samples(state), state.get("counts")
    unknown, correct, wrong = sides_of_kinds(state["scores"], kinds, 3, counts, bits=bits)
    return unknown, correct, wrong


def kinds_of_samples(state: OpenSetState) -> Array:
    """Whether each sample is unknown (0), known and classified correctly (1), or wrongly (2), as uint8."""
    xp = array_namespace(state["classes"])
    known, wrong = state["classes"] >= 0, state["predicted"] != state["classes"]
    return xp.astype(known, xp.uint8) + xp.astype(known & wrong, xp.uint8)


def ends_of_cut(
    unknown: Side, correct: Side, wrong: Side, tpr: float, fprs: Sequence[float], risks: Mapping[str, Quantity]
) -> dict[str, Ends | None]:
    """Bounds on each result before scores were cut; None for the accuracy, which needs no ranks.

    Wins: the P·N pairs of each bin now count half; before, none to all of them counted. The threshold of an operating
    point was in the same bin, with all or part of the bin above it.
    """
    bits = unknown.bits
    assert bits is not None  # the caller's scores were cut
    num_known = correct.total + wrong.total
    pairs, total = 2 * unknown.total * num_known, unknown.total + num_known
    over_correct, over_wrong = (_ends_of_wins(unknown, side, bits) for side in (correct, wrong))
    hits = _ends_of_hits(unknown, (correct, wrong), tpr, bits)
    rights = {f"ccr@fpr{percent(fpr)}": _ends_of_correct(unknown, correct, fpr, bits) for fpr in fprs}
    return {
        "openauc": tuple(wins / pairs for wins in over_correct),
        "closed_set_accuracy": None,
        "open_set_auroc": tuple(sum(wins) / pairs for wins in zip(over_correct, over_wrong)),
        f"open_set_accuracy@tpr{percent(tpr)}": tuple(count / total for count in hits),
        **{name: tuple(count / num_known for count in ends) for name, ends in rights.items()},
        **risk_of_sides(both_sides(unknown, wrong), correct, bounded(risks, bits)),
    }


def _ends_of_wins(unknown: Side, known: Side, bits: int) -> tuple[int, int]:
    """The least and the greatest possible twice the wins of unknown samples, ties counting once."""
    if not known.total:
        return 0, 0
    _, least, most = bounded({"": TWICE_WINS}, bits)[""].of(runs(unknown, known))
    return least, most


def _ends_of_hits(unknown: Side, known: Sequence[Side], tpr: float, bits: int) -> tuple[int, int]:
    """The least and the most hits.

    In the bin of the threshold, the fewest sufficient unknown samples count, or all samples.
    """
    enough = least_reaching(tpr, unknown.total)
    threshold = unknown.at(unknown.total - enough)
    accepted = unknown.total - unknown.below_score(threshold)
    below, through = zip(*(_below(side, threshold, bits) for side in known))
    was_one = not _of_range(threshold, bits)
    return (accepted if was_one else enough) + sum(below), accepted + sum(through)


def _ends_of_correct(unknown: Side, correct: Side, fpr: float, bits: int) -> tuple[int, int]:
    """Bounds on the number of correctly classified samples below the lowest unknown score that is not accepted."""
    accepted = most_within(fpr, unknown.total)
    if accepted == unknown.total or not correct.total:
        return correct.total, correct.total
    return _below(correct, unknown.at(accepted), bits)


def _below(side: Side, threshold: float, bits: int) -> tuple[int, int]:
    """The numbers of samples below all scores, and below some score, that are cut to a threshold."""
    reached = math.nextafter(threshold, math.inf) if _of_range(threshold, bits) else threshold
    return side.below_score(threshold), side.below_score(reached)


def _of_range(threshold: float, bits: int) -> bool:
    return bool(was_cut(np.asarray([threshold]), bits)[0])


@by_keyword
def openauc(*, unknown: Any, correct_known: Any, num_known: int) -> float:
    """OpenAUC: the probability that a known sample is classified correctly and ranked below an unknown one.

    OpenAUC = 1/(N_k·N_u) Σ_i Σ_j [h(x_i) = y_i] · ([r(x_j) > r(x_i)] + ½ [r(x_j) = r(x_i)])

    It equals closed-set accuracy times the AUROC of the unknown samples against the correctly classified known.

    Parameters: unknown (N_u,), open-set scores of the unknown samples; correct_known, scores of the correctly
    classified known samples; num_known is N_k, the number of all known samples.
    Returns a float in [0, 1]; 0.0 if no known sample is correct. Raises ValueError for NaN, no unknown or no known
    samples, or fewer known samples than correct ones.
    Source: Wang et al., OpenAUC: Towards AUC-Oriented Open-Set Recognition, NeurIPS 2022.

    >>> openauc(unknown=[0.9, 0.4], correct_known=[0.4, 0.1], num_known=4)
    0.4375
    """
    one, other, total = unknown_and_correct(unknown, correct_known, num_known)
    return twice_wins_over(one, other) / (2 * one.total * total)


@by_keyword
def accuracy_at_tpr(*, positives: Any, negatives: Any, tpr: float = DEFAULT_TPR) -> float:
    """Accuracy of unknown against known at the highest threshold with a true-positive rate of at least `tpr`.

    (TP + N − FP) / (P + N) at t* = max {t : TP(t)/P ≥ tpr} of the scores and −inf, unknown iff score > t*

    Parameters: positives (P,), open-set scores of the unknown samples, higher is more unknown, and negatives (N,), of
    the known ones; tpr in (0, 1].
    Returns a float in [0, 1]. Raises ValueError for a tpr out of range, NaN, or if a side is empty.
    Source: Vaze et al., Open-Set Recognition: A Good Closed-Set Classifier is All You Need, ICLR 2022.

    >>> accuracy_at_tpr(positives=[0.9, 0.4], negatives=[0.6, 0.1])
    0.75
    """
    tpr = as_fraction(tpr, "tpr")
    unknown, known = checked_sides(positives=positives, negatives=negatives)
    return accuracy_of_sides(unknown, [known], score_at_tpr(unknown, tpr))


def accuracy_of_sides(unknown: Side, known: Sequence[Side], score: float) -> float:
    """Accuracy of unknown against known, for several sides, if this score and higher ones are called unknown."""
    hits, total = unknown.total - unknown.below_score(score), unknown.total
    for side in known:
        hits += side.below_score(score)
        total += side.total
    return hits / total


def score_at_tpr(unknown: Side, tpr: float) -> float:
    """The highest score that at least a share of the unknown samples has or exceeds."""
    return unknown.at(unknown.total - least_reaching(tpr, unknown.total)) + 0.0  # 0.0 for −0.0


@by_keyword
def ccr_at_fpr(*, unknown: Any, correct_known: Any, num_known: int, fpr: float) -> float:
    """Highest correct-classification rate among thresholds that accept at most a share of the unknown samples.

    max_τ |{known i : h(x_i) = y_i, r(x_i) ≤ τ}| / N_k  over the τ with |{unknown j : r(x_j) ≤ τ}| / N_u ≤ fpr

    It is a point of `oscr_curve`. A known sample that ties with a rejected unknown one is rejected too. For an fpr
    below 1/N_u it is the rate at which no unknown sample is accepted.

    Parameters: unknown, correct_known and num_known, as of `openauc`; fpr in [0, 1], read as a decimal.
    Returns a float in [0, 1]; at an fpr of 1 the closed-set accuracy. Raises ValueError as `openauc` does, and for an
    fpr out of range.
    Source: Dhamija, Günther and Boult, Reducing Network Agnostophobia, NeurIPS 2018.

    >>> ccr_at_fpr(unknown=[0.3, 0.5, 0.8], correct_known=[0.1, 0.4, 0.7], num_known=4, fpr=0.5)
    0.5
    """
    fpr = as_share(fpr, "fpr")
    return ccr_of_sides(*unknown_and_correct(unknown, correct_known, num_known), fpr)


def unknown_and_correct(unknown: Any, correct_known: Any, num_known: Any) -> tuple[Side, Side, int]:
    """Check the scores of the unknown and of the correctly classified known samples, and how many are known."""
    unknown, correct = two_sides(unknown=unknown, correct_known=correct_known)
    num_known = as_int(num_known, "num_known", correct.total)
    check_both_classes(unknown.total, num_known)
    return unknown, correct, num_known


def ccr_of_sides(unknown: Side, correct: Side, num_known: int, fpr: float) -> float:
    """As `ccr_at_fpr`, for sides in which a row may stand for several samples."""
    accepted = most_within(fpr, unknown.total)
    if accepted == unknown.total:
        return correct.total / num_known
    return (correct.below_score(unknown.at(accepted)) if correct.total else 0) / num_known


@by_keyword
def oscr_curve(
    *, unknown: Any, correct_known: Any, num_known: int, max_points: int | None = MAX_POINTS
) -> dict[str, list[float]]:
    """The open-set classification rate curve; a sample is accepted as known iff score ≤ threshold.

    CCR(t) = |{known i : h(x_i) = y_i, r(x_i) ≤ t}| / N_k,  FPR(t) = |{unknown j : r(x_j) ≤ t}| / N_u

    It runs from (0, 0), at a threshold of −inf, to (1, closed-set accuracy), at the highest score. Ties between unknown
    and known samples are slanted lines, so the trapezoids under all vertices add up to OpenAUC.

    Parameters: unknown (N_u,), open-set scores of the unknown samples, higher is more unknown; correct_known, scores of
    the correctly classified known samples; num_known is N_k, the number of all known samples; max_points, as of
    `roc_curve`, with its bound on the distance.
    Returns {"threshold", "fpr", "ccr"}, lists of one length.
    Raises ValueError for NaN, no unknown or no known samples, or fewer known samples than correct ones.
    Source: Dhamija, Günther and Boult, Reducing Network Agnostophobia, NeurIPS 2018.

    >>> oscr_curve(unknown=[0.3, 0.5], correct_known=[0.1, 0.4], num_known=4)
    {'threshold': [-inf, 0.1, 0.3, 0.4, 0.5], 'fpr': [0.0, 0.0, 0.5, 0.5, 1.0], 'ccr': [0.0, 0.25, 0.25, 0.5, 0.5]}
    """
    rejected, correct, num_known = unknown_and_correct(unknown, correct_known, num_known)
    num_unknown, num_correct = rejected.total, correct.total
    vertices = curve_vertices(rejected, correct, rising(num_unknown, num_correct), max_points)
    # what is not detected as unknown is accepted
    accepted, right = (num_unknown - vertices.tp)[::-1], (num_correct - vertices.fp)[::-1]
    return table(threshold=vertices.thresholds[::-1], fpr=accepted / num_unknown, ccr=right / num_known)
