"""Open-set F-scores at every distinct score, or at a list of thresholds.

A sample is accepted as known when its score is at most the threshold t, and rejected as unknown when it is greater.
As t rises, each sample enters once and changes the counts of one class only: so one sort of the samples and one sweep
over them give F after each (see sweep.py), and any list of thresholds reads from the same sweep.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.arrays import Array, array_namespace, distinct_values, on_device, to_numpy
from ..arrays.sorting import indices, sorted_with
from .f_scores import MacroF, MicroF, count_ids
from .sweep import macro_sweep, micro_sweep
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
        known, distinct = classes[classes >= 0], distinct_values(predicted)
        occurring = distinct_values(known).shape[0]
        predicted = _index_of(distinct, predicted)
        among = _is_among(distinct, known)
        of_known = None if counts is None else counts[classes >= 0][among]
        totals = count_ids(_index_of(distinct, known[among]), distinct.shape[0], of_known)
    else:
        totals = count_ids(classes + 1, num_classes + 1, counts)[1:]
        occurring = int(xp.count_nonzero(totals))
    thresholds, outcomes, sizes = _sorted_rows(scores, 2 * predicted + correct, counts)
    sums = macro_sweep(outcomes, totals, occurring, sizes)
    return _best(thresholds, MacroF(sums, num_classes, outcomes, totals, sizes), t_list)


def _sorted_rows(scores: Array, outcomes: Array, counts: Array | None) -> tuple[Array, Array, Array | None]:
    """Scores in ascending order with their outcomes and, where there are any, counts."""
    if counts is None:
        return *sorted_with(scores, outcomes), None
    ordered, order = sorted_with(scores, indices(scores))
    return ordered, outcomes[order], counts[order]


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
    return _best(thresholds, MicroF(micro_sweep(correct, sizes), known), t_list)


def _best(scores: Array, found: MacroF | MicroF, t_list: Any) -> BestF:
    """Pick from the F-scores after each sample, in ascending order of the scores.

    Only the last of equal scores is a threshold.
    """
    xp = array_namespace(scores)
    if t_list is None:
        values = found.approximate()
        values[:-1][scores[1:] == scores[:-1]] = -1.0
        at = first_best(values, None, found)
        return float(found.rounded(slice(at, at + 1))[0]), float(scores[at]) + 0.0, None  # 0.0 for −0.0
    thresholds = check_thresholds(t_list)
    after = xp.searchsorted(xp.astype(scores, xp.float64), on_device(thresholds, scores), side="right") - 1
    places = xp.clip(after, 0, None)
    values = xp.where(after < 0, 0.0, found.approximate()[places])
    curve = to_numpy(xp.where(after < 0, 0.0, found.rounded(places)))
    best = first_best(values, places, found)
    return float(curve[best]), float(thresholds[best]), curve.tolist()


def first_best(values: Array, places: Array | None, found: MacroF | MicroF) -> int:
    """Index of the first maximum; values so close that rounding may have changed their order are compared exactly.

    Parameters: values (T,) proportional to F within `found.rounding`; places (T,) of the samples that they are of,
    by default their own; found, F after each sample.
    """
    xp = array_namespace(values)
    best = int(xp.argmax(values))
    if float(values[best]) <= 0:
        return best
    near = xp.nonzero(values >= values[best] * (1 - found.rounding))[0]
    samples, first = np.unique(to_numpy(near if places is None else places[near]), return_index=True)
    if len(samples) == 1:
        return int(near[0])
    exact = found.exact(samples)
    greatest = max(exact)
    return int(near[min(i for i, value in zip(first.tolist(), exact) if value == greatest)])
