"""What ROC and precision-recall curves say: areas, best points and operating points, from exceedance counts.

Each is a `Quantity`: a part from every run of thresholds, and a value from the parts, so that one pass over the runs
gives any number of them. Parts that are summed are integers, ratios of float64 as multiples of 2^-117; parts of which
the best is taken are single divisions. So neither the order of the samples, nor their batches, nor where runs end can
change a bit of a result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from .arrays import Array, array_namespace
from .bounds import (
    UNIT_BITS,
    Bounds,
    at_best,
    in_either_order,
    least_precision,
    most_twice_precision,
    negatives_first,
    positives_first,
    unsure_precision,
)
from .counts import Counts
from .options import as_choice, as_fraction
from .rounding import was_cut

RATES = ("fpr", "tpr", "fnr", "tnr")


class Quantity(NamedTuple):
    """A quantity of a curve: value(parts, num_positives, num_negatives) from the part(counts) of each run, in order.

    `bounds` has other parts for that function, which give the ends of what the value was before scores were cut; None
    where they are not known.
    """

    part: Callable[[Counts], Any]
    value: Callable[[list[Any], int, int], Any]
    bounds: Bounds | None = None

    def of(self, runs: Iterable[Counts]) -> Any:
        """Its value, from one pass over the runs of counts."""
        parts, totals = [], (0, 0)
        for run in runs:
            parts.append(self.part(run))
            totals = run.num_positives, run.num_negatives
        return self.value(parts, *totals)


def quantities(runs: Iterable[Counts], wanted: Mapping[str, Quantity]) -> dict[str, Any]:
    """Values of the quantities that are wanted, by name, from one pass over the runs of counts."""
    together = Quantity(
        lambda run: [quantity.part(run) for quantity in wanted.values()],
        lambda parts, *totals: [q.value([*column], *totals) for q, column in zip(wanted.values(), zip(*parts))],
    )
    return dict(zip(wanted, together.of(runs)))


def bounded(wanted: Mapping[str, Quantity], bits: int) -> dict[str, Quantity]:
    """Those of the quantities that have bounds, each as that of (value, end, end) for scores cut to so many bits."""
    return {name: _bounded(quantity, quantity.bounds, bits) for name, quantity in wanted.items() if quantity.bounds}


def _bounded(quantity: Quantity, bounds: Bounds, bits: int) -> Quantity:
    def part(counts: Counts) -> tuple[Any, ...]:
        flags = was_cut(counts.thresholds, bits)
        return quantity.part(counts), bounds.first(counts, flags), bounds.second(counts, flags)

    return Quantity(part, lambda parts, *totals: tuple(quantity.value([*one], *totals) for one in zip(*parts)))


def _ratio(count: Array, total: Array | int) -> Array:
    xp = array_namespace(count)
    return xp.astype(count, xp.float64) / (total if isinstance(total, int) else xp.astype(total, xp.float64))


def _weighted_sum(sizes: Array, values: Array, bits: int, total: int) -> int:
    """Σ sizes·values of integers of at least 0 with so many bits, exactly; the sizes sum to `total` at most.

    It is a sum for each piece of the bits, as long as int64 holds.
    """
    xp = array_namespace(sizes)
    piece = 62 - total.bit_length()
    if bits <= piece:
        return int(xp.sum(sizes * values))
    pieces = ((values >> low) & ((1 << piece) - 1) for low in range(0, bits, piece))
    return sum(int(xp.sum(sizes * part)) << low for low, part in zip(range(0, bits, piece), pieces))


_UNIT = 64 + 53  # ratios of counts below 2^64 are float64s of at least 2^-64: multiples of 2^-117
_SPAN = 10  # exponents whose mantissas fit int64 in one unit


def _sum_of_ratios(sizes: Array, counts: Array, totals: Array, total: int) -> int:
    """Σ sizes·(counts/totals), at most 1 each, of ratios that are rounded to float64; exactly, in units of 2^-117."""
    xp = array_namespace(sizes)
    ratios = _ratio(counts, totals)
    smallest = float(xp.min(ratios)) or float(xp.min(xp.where(ratios > 0, ratios, 1.0)))
    lowest, highest = math.frexp(smallest)[1], math.frexp(float(xp.max(ratios)))[1]
    if highest - lowest < _SPAN:  # in almost all runs
        units = xp.astype(ratios * 2.0 ** (53 - lowest), xp.int64)
        return _weighted_sum(sizes, units, 53 + highest - lowest, total) << (_UNIT - 53 + lowest)
    found = 0
    for low in range(lowest, highest + 1, _SPAN):
        chosen = (ratios >= 2.0 ** (low - 1)) & (ratios < 2.0 ** (low - 1 + _SPAN))
        units = xp.astype(ratios[chosen] * 2.0 ** (53 - low), xp.int64)
        found += _weighted_sum(sizes[chosen], units, 53 + _SPAN, total) << (_UNIT - 53 + low)
    return found


def twice_wins(counts: Counts) -> int:
    """Twice the number of (positive, negative) pairs in which the positive scores higher, plus the tied pairs."""
    twice = 2 * counts.num_negatives
    return _weighted_sum(counts.sizes, twice - counts.above - counts.fp, twice.bit_length(), counts.num_positives)


AUROC = Quantity(
    twice_wins, lambda wins, positives, negatives: sum(wins) / (2 * positives * negatives), in_either_order(twice_wins)
)


def auroc(counts: Counts) -> float:
    """Area under the ROC curve: the chance that a positive scores above a negative, ties counting half.

    AUROC = 1/(P·N) Σ_i Σ_j ([p_i > n_j] + ½ [p_i = n_j])

    Parameters: counts of `exceedance_counts`, at all thresholds.
    Returns a float in [0, 1]; 0.5 is chance. Source: Hanley and McNeil, Radiology 1982.

    >>> import numpy as np
    >>> from openworld_metrics import exceedance_counts
    >>> auroc(exceedance_counts(np.asarray([0.9, 0.4]), np.asarray([0.4, 0.1])))
    0.875
    """
    return float(AUROC.of([counts]))


def _precision_sum(counts: Counts) -> int:
    return _sum_of_ratios(counts.sizes, counts.tp, counts.tp + counts.fp, counts.num_positives)


def _sum_with(sum_of: Callable[[Counts], int], shares: Callable[[Counts], Array], counts: Counts, unsure: Array) -> int:
    """A sum in units of 2^-117 whose terms are shares in units of 2^-40 at the thresholds that are not sure."""
    sure, others = (
        counts._replace(**{name: getattr(counts, name)[rows] for name in ("thresholds", "sizes", "tp", "above", "fp")})
        for rows in (~unsure, unsure)
    )
    found = sum_of(sure) if sure.sizes.shape[0] else 0
    if others.sizes.shape[0]:
        found += _weighted_sum(others.sizes, shares(others), UNIT_BITS + 2, counts.num_positives) << (_UNIT - UNIT_BITS)
    return found


AVERAGE_PRECISION = Quantity(
    _precision_sum,
    lambda sums, positives, _: sum(sums) / (positives << _UNIT),
    Bounds(
        lambda counts, flags: _sum_with(_precision_sum, least_precision, counts, unsure_precision(counts, flags)),
        lambda counts, flags: _precision_sum(positives_first(counts, flags)),
    ),
)


def average_precision(counts: Counts) -> float:
    """Average precision: the step sum under the precision-recall curve.

    AP = Σ_t (R_t − R_(t−1)) P_t = 1/P Σ_t sizes_t · tp_t / (tp_t + fp_t)  over descending thresholds

    Parameters: counts of `exceedance_counts`, at all thresholds.
    Returns a float in (0, 1]; chance is the share of positives. Source: Zhu, Recall, Precision and Average
    Precision, 2004; scikit-learn's average_precision_score is the same.

    >>> import numpy as np
    >>> from openworld_metrics import exceedance_counts
    >>> round(average_precision(exceedance_counts(np.asarray([0.9, 0.4]), np.asarray([0.6, 0.1]))), 4)
    0.8333
    """
    return float(AVERAGE_PRECISION.of([counts]))


def _trapezoid_sum(counts: Counts) -> int:
    # the point before a positive's threshold is that of the scores strictly above it, at first precision 1
    xp = array_namespace(counts.tp)
    tp = counts.tp - counts.sizes
    accepted = tp + counts.above
    none = accepted == 0
    ratios = xp.where(none, 1, tp), xp.where(none, 1, accepted)
    before = _sum_of_ratios(counts.sizes, *ratios, counts.num_positives)
    return _precision_sum(counts) + before


AUPR = Quantity(
    _trapezoid_sum,
    lambda sums, positives, _: sum(sums) / (positives << (_UNIT + 1)),
    Bounds(
        lambda counts, flags: _trapezoid_sum(negatives_first(counts, flags)),
        lambda counts, flags: _sum_with(_trapezoid_sum, most_twice_precision, counts, unsure_precision(counts, flags)),
    ),
)


def aupr(counts: Counts) -> float:
    """Area under the precision-recall curve by trapezoids, from (recall 0, precision 1) on.

    AUPR = Σ_n (R_n − R_(n−1)) (P_n + P_(n−1))/2 over all distinct scores, negatives' included

    It interpolates linearly where precision is not linear, and so differs from average precision.
    Parameters: counts of `exceedance_counts`, at all thresholds.
    Returns a float in (0, 1]. Source: scikit-learn's auc(recall, precision) of precision_recall_curve.

    >>> import numpy as np
    >>> from openworld_metrics import exceedance_counts
    >>> round(aupr(exceedance_counts(np.asarray([0.9, 0.4]), np.asarray([0.6, 0.1]))), 4)
    0.7917
    """
    return float(AUPR.of([counts]))


def _best_f1(counts: Counts) -> tuple[float, float]:
    f1 = _ratio(2 * counts.tp, counts.tp + counts.fp + counts.num_positives)
    at = int(array_namespace(f1).argmax(f1))
    return float(f1[at]), float(counts.thresholds[at]) + 0.0  # 0.0 for −0.0


# the first of equal values, which has the highest threshold
F1_MAX = Quantity(_best_f1, lambda best, *_: max(best, key=lambda pair: pair[0]), at_best(_best_f1))


def f1_max(counts: Counts) -> tuple[float, float]:
    """Highest F1 over all thresholds, and the highest threshold that attains it.

    F1(t) = 2·TP / (TP + FP + P), positive iff score ≥ t

    Parameters: counts of `exceedance_counts`, at all thresholds.
    Returns (F1 in (0, 1], threshold: one of the positives' scores).
    Source: Zou et al., SPot-the-Difference, ECCV 2022.

    >>> import numpy as np
    >>> from openworld_metrics import exceedance_counts
    >>> f1_max(exceedance_counts(np.asarray([0.9, 0.4]), np.asarray([0.6, 0.1])))
    (0.8, 0.4)
    """
    best, threshold = F1_MAX.of([counts])
    return best, threshold


def _gain(counts: Counts) -> int:
    return int(array_namespace(counts.tp).max(counts.tp - counts.fp))


# a gain of 0 is that of rejecting nothing
DETECTION_ACCURACY = Quantity(
    _gain,
    lambda gains, positives, negatives: (negatives + max(0, *gains)) / (positives + negatives),
    at_best(_gain),
)


def detection_accuracy(counts: Counts) -> float:
    """Highest accuracy over all thresholds, rejecting nothing and rejecting everything included.

    max_t (TP(t) + N − FP(t)) / (P + N)

    Parameters: counts of `exceedance_counts`, at all thresholds.
    Returns a float in [0.5, 1]. Source: Liang, Li and Srikant, ODIN, ICLR 2018 (there with equal class weights).

    >>> import numpy as np
    >>> from openworld_metrics import exceedance_counts
    >>> detection_accuracy(exceedance_counts(np.asarray([0.9, 0.4]), np.asarray([0.6, 0.1])))
    0.75
    """
    return float(DETECTION_ACCURACY.of([counts]))


class OperatingPoint(NamedTuple):
    """A point of the ROC curve.

    rate: the rate that was asked for
    threshold: the highest score at which it is reached, where a sample is detected iff score ≥ threshold; inf if
        nothing is to be detected
    fpr, tpr: the rates there
    """

    rate: float
    threshold: float
    fpr: float
    tpr: float


def operating_point(counts: Counts, rate: str, bounded: str, bound: float) -> OperatingPoint:
    """Best value of one rate among the thresholds at which another meets its bound, and where it is reached.

    Rates are fpr and fnr (lower is better, bounded from above), tpr and tnr (higher is better, bounded from below).
    Thresholds are all scores and "detect nothing". So ("fpr", "tpr", 0.95) is the lowest FPR with TPR ≥ 0.95, and
    ("tpr", "fpr", 0.05) the highest TPR with FPR ≤ 0.05.

    Parameters: counts of `exceedance_counts`, at all thresholds; rate and bounded, of `RATES`; bound in (0, 1].
    Returns an `OperatingPoint`. Raises ValueError for an unknown rate or a bound outside (0, 1].

    >>> import numpy as np
    >>> from openworld_metrics import exceedance_counts
    >>> operating_point(exceedance_counts(np.asarray([0.9, 0.4]), np.asarray([0.6, 0.1])), "fpr", "tpr", 0.95)
    OperatingPoint(rate=0.5, threshold=0.4, fpr=0.5, tpr=1.0)
    """
    found: OperatingPoint = best_point(rate, bounded, bound).of([counts])
    return found


def best_point(rate: str, bounded: str, bound: float) -> Quantity:
    """The quantity of `operating_point`."""
    bound = as_fraction(bound, "bound")
    as_choice(rate, "rate", RATES)
    as_choice(bounded, "bounded", RATES)
    best, worst = (max, -math.inf) if rate in ("tpr", "tnr") else (min, math.inf)

    def meets(limits: Any) -> Any:
        return limits >= bound if bounded in ("tpr", "tnr") else limits <= bound

    def part(counts: Counts) -> list[OperatingPoint]:
        xp = array_namespace(counts.tp)
        allowed = meets(_rate(bounded, counts))
        if not bool(xp.any(allowed)):
            return []
        values = xp.where(allowed, _rate(rate, counts), worst)
        at = int(xp.argmax(values) if best is max else xp.argmin(values))  # the first, whose threshold is highest
        here = (values, counts.thresholds, _rate("fpr", counts), _rate("tpr", counts))
        return [OperatingPoint(*(float(column[at]) for column in here))]

    def value(parts: list[list[OperatingPoint]], *_: int) -> OperatingPoint:
        nothing = OperatingPoint(_AT_NOTHING[rate], math.inf, _AT_NOTHING["fpr"], _AT_NOTHING["tpr"])
        points = [point for found in parts for point in found]
        return best([*points, nothing] if meets(_AT_NOTHING[bounded]) else points, key=lambda point: point.rate)

    return Quantity(part, value, at_best(part))


def best_rate(rate: str, bounded: str, bound: float) -> Quantity:
    """The rate of an `operating_point`."""
    point = best_point(rate, bounded, bound)
    return Quantity(point.part, lambda parts, *totals: point.value(parts, *totals).rate, point.bounds)


_AT_NOTHING = {"tpr": 0.0, "fnr": 1.0, "fpr": 0.0, "tnr": 1.0}  # the rates where nothing is detected


def _rate(name: str, counts: Counts) -> Array:
    tp, fp, positives, negatives = counts.tp, counts.fp, counts.num_positives, counts.num_negatives
    numerator, total = {
        "tpr": (tp, positives),
        "fnr": (positives - tp, positives),
        "fpr": (fp, negatives),
        "tnr": (negatives - fp, negatives),
    }[name]
    return _ratio(numerator, total)


CURVE = {"auroc": AUROC, "ap": AVERAGE_PRECISION, "aupr": AUPR, "f1_max": F1_MAX}


def curve_metrics(values: Mapping[str, Any], prefix: str) -> dict[str, float]:
    """AUROC, AP, AUPR, F1-max and its threshold, from values of the quantities `CURVE`, named with a prefix."""
    best, threshold = values["f1_max"]
    named = {**{name: values[name] for name in CURVE}, "f1_max": best, "f1_max_threshold": threshold}
    return {f"{prefix}{name}": value for name, value in named.items()}
