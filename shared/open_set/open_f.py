"""Open-set F-scores at every distinct score, or at a list of thresholds.

A sample is accepted as known when its score is at most the threshold t, and rejected as unknown when it is greater.
As t rises, each sample enters once and changes the counts of one class only: so one sort of the samples and one sweep
over them give F after each (see sweep.py), and any list of thresholds reads from the same sweep.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from ..arrays.arrays import Array, array_namespace, on_device, to_numpy
from ..arrays.sorting import indices, sorted_with
from .sweep import macro_scale, macro_sweep, micro_sweep
from .thresholds import check_thresholds

BestF = tuple[float, float, list[float] | None]  # the best F-score, its threshold, and F at each of a t_list


def macro_open_f(
    predicted: Array,
    classes: Array,
    scores: Array,
    num_classes: int,
    t_list: Any = None,
    *,
    counts: Array | None = None,
) -> BestF:
    """Macro open-set F-score: F of the precision and recall averaged over the known classes.

    F(t) = 2 P(t) R(t) / (P(t) + R(t)),  P(t) = 1/C Σ_c TP_c/(TP_c + FP_c),  R(t) = 1/C Σ_c TP_c/(TP_c + FN_c)

    A known sample counts for its class, an unknown one that is accepted is a false positive of the class predicted;
    samples are accepted when score ≤ t. 0/0 is 0.

    Parameters: predicted (N,) class ids; classes (N,) true class ids, −1 for unknown; scores (N,), higher is more
    unknown; num_classes is C; t_list, thresholds to use instead of every distinct score; counts (N,), how many equal
    samples each entry stands for, by default one.
    Returns (best F in [0, 1], lowest threshold that attains it (of a t_list: the first), F per threshold of t_list).
    Raises ValueError for an empty t_list, or NaN in it.
    Source: Mendes Júnior et al., Nearest neighbors distance ratio open-set classifier, Machine Learning 2017.

    >>> import numpy as np
    >>> macro_open_f(np.asarray([0, 1, 1]), np.asarray([0, 1, -1]), np.asarray([0.1, 0.2, 0.9]), 2)
    (1.0, 0.2, None)
    """
    xp = array_namespace(predicted)
    predicted = xp.astype(predicted, xp.int64, copy=False)
    correct = predicted == classes
    if num_classes > predicted.shape[0]:  # counts by class are kept for those that are predicted
        known, distinct = classes[classes >= 0], xp.unique_values(predicted)
        occurring = xp.unique_values(known).shape[0]
        predicted = _index_of(distinct, predicted)
        among = _is_among(distinct, known)
        of_known = None if counts is None else counts[classes >= 0][among]
        totals = _totals(_index_of(distinct, known[among]), distinct.shape[0], of_known)
    else:
        totals = _totals(classes + 1, num_classes + 1, counts)[1:]
        occurring = int(xp.count_nonzero(totals))
    thresholds, outcomes, sizes = _sorted_rows(scores, 2 * predicted + correct, counts)
    f = macro_sweep(outcomes, totals, num_classes, macro_scale(max(1, occurring)), sizes)
    return _best(thresholds, f, t_list, _exact_after(outcomes, totals, sizes))


def _sorted_rows(scores: Array, outcomes: Array, counts: Array | None) -> tuple[Array, Array, Array | None]:
    """Scores in ascending order with their outcomes and, where there are any, counts."""
    if counts is None:
        return *sorted_with(scores, outcomes), None
    ordered, order = sorted_with(scores, indices(scores))
    return ordered, outcomes[order], counts[order]


def _totals(ids: Array, length: int, counts: Array | None) -> Array:
    """How many samples there are of each id."""
    xp = array_namespace(ids)
    if counts is None:
        return xp.bincount(ids, minlength=length)
    # float64 holds the sums of up to 2^53 samples
    return xp.astype(xp.bincount(ids, weights=xp.astype(counts, xp.float64), minlength=length), xp.int64)


def _index_of(distinct: Array, ids: Array) -> Array:
    """Place of each id among ascending ones, all of which are there."""
    return array_namespace(ids).searchsorted(distinct, ids)


def _is_among(distinct: Array, ids: Array) -> Array:
    """Whether each id is one of ascending ones."""
    xp = array_namespace(ids)
    return distinct[xp.clip(xp.searchsorted(distinct, ids), 0, distinct.shape[0] - 1)] == ids


def micro_open_f(
    predicted: Array, classes: Array, scores: Array, t_list: Any = None, *, counts: Array | None = None
) -> BestF:
    """Micro open-set F-score: F of the precision and recall of the counts pooled over the known classes.

    F(t) = 2 P(t) R(t) / (P(t) + R(t)),  P(t) = Σ_c TP_c / Σ_c (TP_c + FP_c),  R(t) = Σ_c TP_c / Σ_c (TP_c + FN_c)

    which is 2 Σ TP / (accepted + known samples). Parameters, returns and source as of `macro_open_f`, without C.

    >>> import numpy as np
    >>> micro_open_f(np.asarray([0, 1, 1]), np.asarray([0, 0, -1]), np.asarray([0.1, 0.2, 0.9]), [0.5, 1.0])
    (0.5, 0.5, [0.5, 0.4])
    """
    xp = array_namespace(classes)
    thresholds, correct, sizes = _sorted_rows(scores, predicted == classes, counts)
    known = int(xp.count_nonzero(classes >= 0) if counts is None else xp.sum(counts[classes >= 0]))
    return _best(thresholds, micro_sweep(correct, known, sizes), t_list)


def _exact_after(outcomes: Array, totals: Array, sizes: Array | None) -> Callable[[int], Fraction]:
    """A function that gives `exact_macro_f` after a sample, in score order; sample −1 is none."""
    start, hits, accepted = 0, np.zeros(len(totals), np.int64), np.zeros(len(totals), np.int64)

    def exact(sample: int) -> Fraction:
        nonlocal start, hits, accepted
        if sample + 1 < start:
            start, hits, accepted = 0, np.zeros_like(hits), np.zeros_like(accepted)
        # counted on from the sample of the last call: those that are compared mostly come in ascending order
        part = to_numpy(outcomes[start : sample + 1])
        counts, right = None if sizes is None else to_numpy(sizes[start : sample + 1]), part & 1 == 1
        hits = hits + _totals(part[right] >> 1, len(hits), None if counts is None else counts[right])
        accepted = accepted + _totals(part >> 1, len(accepted), counts)
        start = sample + 1
        return exact_macro_f(hits, accepted, to_numpy(totals))

    return exact


def exact_macro_f(hits: np.ndarray, accepted: np.ndarray, samples: np.ndarray) -> Fraction:
    """Macro F from counts by class, times the same factor for all: C is left out of P and R alike."""
    found = np.flatnonzero(hits).tolist()
    precision = sum((Fraction(int(hits[c]), int(accepted[c])) for c in found), Fraction())
    recall = sum((Fraction(int(hits[c]), int(samples[c])) for c in found), Fraction())
    return precision * recall / (precision + recall) if found else Fraction()


_ROUNDING = 2.0**-36  # relative; far above that of F, and only says which thresholds are compared in fractions


def first_best(f: Array, exact: Callable[[int], Fraction] | None) -> int:
    """Index of the first maximum; values so close that rounding may have changed their order are compared exactly."""
    xp = array_namespace(f)
    best = int(xp.argmax(f))
    if exact is None or float(f[best]) == 0:
        return best
    near = xp.nonzero(f >= f[best] * (1 - _ROUNDING))[0]
    _, first = np.unique(to_numpy(f[near]), return_index=True)
    if len(first) == 1:
        return best
    candidates = np.sort(to_numpy(near)[first]).tolist()
    values = [exact(i) for i in candidates]
    return candidates[values.index(max(values))]


def _best(scores: Array, f: Array, t_list: Any, exact: Callable[[int], Fraction] | None = None) -> BestF:
    """Pick from F after each sample, in ascending order of the scores; only the last of equal scores is a threshold.

    `f` may be overwritten, which spares a copy of it. `exact` gives a number in the same order as F after a sample,
    without rounding.
    """
    xp = array_namespace(scores)
    if t_list is None:
        f[:-1][scores[1:] == scores[:-1]] = -1.0
        at = first_best(f, exact)
        return float(f[at]), float(scores[at]) + 0.0, None  # 0.0 for −0.0
    thresholds = check_thresholds(t_list)
    accepted = xp.searchsorted(xp.astype(scores, xp.float64), on_device(thresholds, scores), side="right")
    curve = to_numpy(xp.where(accepted > 0, f[xp.clip(accepted - 1, 0, None)], 0.0))
    best = first_best(curve, None if exact is None else lambda i: exact(int(accepted[i]) - 1))
    return float(curve[best]), float(thresholds[best]), curve.tolist()
