"""Everything that ROC and precision-recall curves say, from counts at the positives' scores.

Positives are the samples to be detected (unknown, OOD, anomalous) and score higher. For every distinct positive
score t, two counts are taken: the negatives above t, and those at or above t. Areas and operating points follow
from them, since between two positive scores a curve only moves along the axis of the negatives. The full curve
over all negatives is never built; both sides are sorted apart, which is faster than sorting scores with labels.

Counts are integers, and each quantity is one division or one sum in the order of the scores: the order of the
samples and how they came in batches cannot change a bit of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from array_api_compat import array_namespace, is_numpy_array

from ._arrays import Array, as_choice, as_fraction, check_no_nan, widen
from ._compiled import merge_counts, sort_scores, worth_compiling

_BLOCK = 1 << 15  # thresholds: a few arrays of 256 KiB
_DEVICE_BLOCK = 1 << 26
RATES = ("fpr", "tpr", "fnr", "tnr")


class Counts(NamedTuple):
    """Counts at the distinct scores of the positives, in descending order of the scores.

    thresholds: (T,) distinct positive scores t_1 > … > t_T
    tp: (T,) positives with a score ≥ t
    above: (T,) negatives with a score > t
    fp: (T,) negatives with a score ≥ t
    """

    thresholds: Array
    tp: Array
    above: Array
    fp: Array
    num_positives: int
    num_negatives: int


def exceedance_counts(positives: Array, negatives: Array) -> Counts:
    """Count, for every distinct positive score, the positives and the negatives that reach or exceed it.

    Parameters: positives (P,) and negatives (N,), real scores, higher is more positive, no NaN.
    Raises ValueError if either is empty, or for NaN.

    >>> import numpy as np
    >>> counts = exceedance_counts(np.asarray([0.9, 0.4, 0.4]), np.asarray([0.4, 0.1]))
    >>> counts.thresholds.tolist(), counts.tp.tolist(), counts.above.tolist(), counts.fp.tolist()
    ([0.9, 0.4], [1, 3], [0, 0], [0, 1])
    """
    check_both_classes(positives.shape[0], negatives.shape[0])
    return counts_of_sorted(*sort_sides(positives, negatives))


def ascending(scores: Array) -> Array:
    """Return float32 or float64 scores in ascending order."""
    return sort_scores(scores) if is_numpy_array(scores) else array_namespace(scores).sort(scores)


def sort_sides(positives: Array, negatives: Array) -> tuple[Array, Array]:
    """Return both sides' scores in ascending order. Raises ValueError for NaN."""
    sides = []
    for scores, name in ((widen(positives), "positives"), (widen(negatives), "negatives")):
        side = ascending(scores)
        # NaN is sorted to an end, where one look finds it
        check_no_nan(side[:1], name)
        check_no_nan(side[-1:], name)
        sides.append(side)
    return sides[0], sides[1]


def counts_of_sorted(positives: Array, negatives: Array) -> Counts:
    """The same of scores that are sorted in ascending order and hold no NaN."""
    num_positives, num_negatives = positives.shape[0], negatives.shape[0]
    merge = worth_compiling(merge_counts, num_positives + num_negatives, positives, negatives)
    if merge is not None:
        whole = np.int32 if max(num_positives, num_negatives) < 2**31 else np.int64
        first, above, fp = (np.empty(num_positives, whole) for _ in range(3))
        groups = merge(positives, negatives, first, above, fp)
        first, above, fp = first[:groups], above[:groups], fp[:groups]
    else:
        xp = array_namespace(positives, negatives)
        starts = xp.nonzero(positives[1:] != positives[:-1])[0] + 1
        first = xp.flip(xp.concat([xp.asarray([0], dtype=starts.dtype, device=starts.device), starts]))
        above = num_negatives - xp.searchsorted(negatives, positives[first], side="right")
        fp = num_negatives - xp.searchsorted(negatives, positives[first], side="left")
    return Counts(positives[first], num_positives - first, above, fp, num_positives, num_negatives)


def check_both_classes(num_positives: int, num_negatives: int) -> None:
    """Raise ValueError unless there are samples on both sides."""
    if not num_positives or not num_negatives:
        raise ValueError(
            f"references: expected samples of both classes, got {num_positives} unknown (OOD, anomalous) "
            f"and {num_negatives} known (in-distribution, normal)"
        )


class _Block(NamedTuple):
    """A run of consecutive thresholds, with counts in int64; sizes are the positives at each threshold."""

    start: int
    sizes: Array
    tp: Array
    above: Array
    fp: Array


def _blocks(counts: Counts) -> Iterator[_Block]:
    """Cut the counts into blocks that fit the cache, which bounds the memory of what is computed from them."""
    xp = array_namespace(counts.tp)
    length = _BLOCK if is_numpy_array(counts.tp) else _DEVICE_BLOCK
    for start in range(0, counts.tp.shape[0], length):
        stop = start + length
        tp, above, fp = (xp.astype(x[start:stop], xp.int64) for x in (counts.tp, counts.above, counts.fp))
        before = xp.astype(counts.tp[start - 1 : start], xp.int64) if start else xp.zeros_like(tp[:1])
        yield _Block(start, xp.diff(tp, prepend=before), tp, above, fp)


def _ratio(count: Array, total: Array) -> Array:
    xp = array_namespace(count)
    return xp.astype(count, xp.float64) / xp.astype(total, xp.float64)


def _twice_wins(counts: Counts) -> int:
    """Twice the number of (positive, negative) pairs in which the positive scores higher, plus the tied pairs."""
    return sum(
        int(array_namespace(sizes).sum(sizes * (2 * counts.num_negatives - above - fp)))
        for _, sizes, _, above, fp in _blocks(counts)
    )


def auroc(counts: Counts) -> float:
    """Area under the ROC curve: the chance that a positive scores above a negative, ties counting half.

    AUROC = 1/(P·N) Σ_i Σ_j ([p_i > n_j] + ½ [p_i = n_j])

    Returns a float in [0, 1]; 0.5 is chance. Source: Hanley and McNeil, Radiology 1982.

    >>> import numpy as np
    >>> auroc(exceedance_counts(np.asarray([0.9, 0.4]), np.asarray([0.4, 0.1])))
    0.875
    """
    return _twice_wins(counts) / (2 * counts.num_positives * counts.num_negatives)


def openauc(unknown: Array, correct_known: Array, num_known: int) -> float:
    """OpenAUC: the chance that a known sample is classified correctly and ranked below an unknown one.

    OpenAUC = 1/(N_k·N_u) Σ_i Σ_j [h(x_i) = y_i] · ([r(x_j) > r(x_i)] + ½ [r(x_j) = r(x_i)])

    It equals closed-set accuracy times the AUROC of the unknown samples against the correctly classified known.

    Parameters: unknown (N_u,), open-set scores of the unknown samples; correct_known, those of the correctly
    classified known samples; num_known is N_k, the number of all known samples.
    Returns a float in [0, 1]; 0.0 if no known sample is correct. Raises ValueError without unknown or known samples.
    Source: Wang et al., OpenAUC: Towards AUC-Oriented Open-Set Recognition, NeurIPS 2022.

    >>> import numpy as np
    >>> openauc(np.asarray([0.9, 0.4]), np.asarray([0.4, 0.1]), num_known=4)
    0.4375
    """
    check_both_classes(unknown.shape[0], num_known)
    if not correct_known.shape[0]:
        return 0.0
    return _twice_wins(exceedance_counts(unknown, correct_known)) / (2 * unknown.shape[0] * num_known)


def closed_set_accuracy(correct: Array) -> float:
    """Share of the known samples, (N_k,) booleans, that are classified correctly, in [0, 1].

    >>> import numpy as np
    >>> closed_set_accuracy(np.asarray([True, False, True, True]))
    0.75
    """
    return int(array_namespace(correct).count_nonzero(correct)) / correct.shape[0]


def average_precision(counts: Counts) -> float:
    """Average precision: the step sum under the precision-recall curve.

    AP = Σ_n (R_n − R_(n−1)) P_n over descending thresholds

    Returns a float in (0, 1]; chance is the share of positives. Source: Zhu, Recall, Precision and Average
    Precision, 2004; scikit-learn's average_precision_score is the same.

    >>> import numpy as np
    >>> round(average_precision(exceedance_counts(np.asarray([0.9, 0.4]), np.asarray([0.6, 0.1]))), 4)
    0.8333
    """
    areas = [float(array_namespace(sizes).sum(sizes * _ratio(tp, tp + fp))) for _, sizes, tp, _, fp in _blocks(counts)]
    return math.fsum(areas) / counts.num_positives


def aupr(counts: Counts) -> float:
    """Area under the precision-recall curve by trapezoids, from (recall 0, precision 1) on.

    AUPR = Σ_n (R_n − R_(n−1)) (P_n + P_(n−1))/2 over all distinct scores, negatives' included

    It interpolates linearly where precision is not linear, and so differs from average precision.
    Returns a float in (0, 1]. Source: scikit-learn's auc(recall, precision) of precision_recall_curve.

    >>> import numpy as np
    >>> round(aupr(exceedance_counts(np.asarray([0.9, 0.4]), np.asarray([0.6, 0.1]))), 4)
    0.7917
    """
    areas = []
    for _, sizes, tp, above, fp in _blocks(counts):
        xp = array_namespace(tp)
        # the point before a positive's threshold is that of the scores strictly above it, at first precision 1
        accepted = tp - sizes + above
        before = xp.where(accepted == 0, 1.0, _ratio(tp - sizes, xp.clip(accepted, 1, None)))
        areas.append(float(xp.sum(sizes * (_ratio(tp, tp + fp) + before))))
    return math.fsum(areas) / (2 * counts.num_positives)


def f1_max(counts: Counts) -> tuple[float, float]:
    """Highest F1 over all thresholds, and the highest threshold that attains it.

    F1(t) = 2·TP / (TP + FP + P), positive iff score ≥ t

    Returns (F1 in (0, 1], threshold: one of the positives' scores).
    Source: Zou et al., SPot-the-Difference, ECCV 2022.

    >>> import numpy as np
    >>> f1_max(exceedance_counts(np.asarray([0.9, 0.4]), np.asarray([0.6, 0.1])))
    (0.8, 0.4)
    """
    best, at = 0.0, 0
    for start, _, tp, _, fp in _blocks(counts):
        f1 = _ratio(2 * tp, tp + fp + counts.num_positives)
        here = int(array_namespace(f1).argmax(f1))
        if float(f1[here]) > best:
            best, at = float(f1[here]), start + here
    return best, float(counts.thresholds[at]) + 0.0  # 0.0 for −0.0


def detection_accuracy(counts: Counts) -> float:
    """Highest accuracy over all thresholds, rejecting nothing and rejecting everything included.

    max_t (TP(t) + N − FP(t)) / (P + N)

    Returns a float in [0.5, 1]. Source: Liang, Li and Srikant, ODIN, ICLR 2018 (there with equal class weights).

    >>> import numpy as np
    >>> detection_accuracy(exceedance_counts(np.asarray([0.9, 0.4]), np.asarray([0.6, 0.1])))
    0.75
    """
    gain = max(0, *(int(array_namespace(tp).max(tp - fp)) for _, _, tp, _, fp in _blocks(counts)))
    return (counts.num_negatives + gain) / (counts.num_positives + counts.num_negatives)


def operating_point(counts: Counts, rate: str, bounded: str, bound: float) -> float:
    """Best value of one rate among the thresholds at which another meets its bound.

    Rates are fpr and fnr (lower is better, bounded from above), tpr and tnr (higher is better, bounded from below).
    Thresholds are all scores and "detect nothing". So ("fpr", "tpr", 0.95) is the lowest FPR with TPR ≥ 0.95, and
    ("tpr", "fpr", 0.05) the highest TPR with FPR ≤ 0.05.

    Returns a float in [0, 1]. Raises ValueError for an unknown rate or a bound outside (0, 1].

    >>> import numpy as np
    >>> operating_point(exceedance_counts(np.asarray([0.9, 0.4]), np.asarray([0.6, 0.1])), "fpr", "tpr", 0.95)
    0.5
    """
    bound = as_fraction(bound, "bound")
    as_choice(rate, "rate", RATES)
    as_choice(bounded, "bounded", RATES)
    xp = array_namespace(counts.tp)
    nothing = xp.zeros_like(counts.tp[:1], dtype=xp.int64)
    best = []
    for tp, fp in [(nothing, nothing), *((block.tp, block.fp) for block in _blocks(counts))]:
        limits, values = (_rate(name, tp, fp, counts) for name in (bounded, rate))
        values = values[limits >= bound] if bounded in ("tpr", "tnr") else values[limits <= bound]
        if values.shape[0]:
            best.append(float(xp.max(values) if rate in ("tpr", "tnr") else xp.min(values)))
    return max(best) if rate in ("tpr", "tnr") else min(best)


def _rate(name: str, tp: Array, fp: Array, counts: Counts) -> Array:
    xp = array_namespace(tp)
    positives, negatives = counts.num_positives, counts.num_negatives
    numerator, total = {
        "tpr": (tp, positives),
        "fnr": (positives - tp, positives),
        "fpr": (fp, negatives),
        "tnr": (negatives - fp, negatives),
    }[name]
    return xp.astype(numerator, xp.float64) / total


def accuracy_at_tpr(counts: Counts, tpr: float = 0.95) -> float:
    """Accuracy of positive against negative at the highest threshold whose TPR is at least `tpr`.

    (TP + N − FP) / (P + N) at t* = max {t : TP(t)/P ≥ tpr}, positive iff score ≥ t*

    Returns a float in [0, 1]. Raises ValueError unless 0 < tpr ≤ 1.
    Source: Vaze et al., Open-Set Recognition: A Good Closed-Set Classifier is All You Need, ICLR 2022.

    >>> import numpy as np
    >>> accuracy_at_tpr(exceedance_counts(np.asarray([0.9, 0.4]), np.asarray([0.6, 0.1])))
    0.75
    """
    tpr = as_fraction(tpr, "tpr")
    xp = array_namespace(counts.tp)
    reached = xp.astype(counts.tp, xp.float64) / counts.num_positives >= tpr
    at = int(xp.argmax(xp.astype(reached, xp.int8)))  # the first
    hits = int(counts.tp[at]) + counts.num_negatives - int(counts.fp[at])
    return hits / (counts.num_positives + counts.num_negatives)


def tpr_name(tpr: float) -> str:
    """Name of an operating point in result keys.

    >>> tpr_name(0.95), tpr_name(0.975)
    ('tpr95', 'tpr97.5')
    """
    return f"tpr{100 * as_fraction(tpr, 'tpr'):.12g}"


def curve_metrics(counts: Counts, prefix: str) -> dict[str, float]:
    """AUROC, AP, AUPR and F1-max of the same counts, with names that start with `prefix`."""
    best, threshold = f1_max(counts)
    return {
        f"{prefix}auroc": auroc(counts),
        f"{prefix}ap": average_precision(counts),
        f"{prefix}aupr": aupr(counts),
        f"{prefix}f1_max": best,
        f"{prefix}f1_max_threshold": threshold,
    }
