"""Open-set F-scores at every distinct score, or at a list of thresholds.

A sample is accepted as known when its score is at most the threshold t, and rejected as unknown when it is greater. As
t rises, each sample enters once and changes the counts of one class only, so one sort and one sweep give F after each
sample (see sweep.py). The same sweep serves any list of thresholds.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..arrays.arrays import Array, array_namespace, concatenate, distinct_values, is_numpy_array, on_device, to_numpy
from ..arrays.columns import as_labels, as_scores, check_not_negative, counted_columns
from ..arrays.options import as_int
from ..arrays.sorting import indices, sorted_with
from ..arrays.threads import in_threads, parts_of, threads_for
from .f_scores import MacroF, MicroF, Sums
from .outcomes import check_ids, counted_outcomes, outcomes_of
from .sweep import Swept, count_ids
from .thresholds import check_thresholds

BestF = tuple[float, float, list[float] | None]  # the best F-score, its threshold, and F at each of a t_list


def macro_open_f(
    predicted: Any, classes: Any, scores: Any, num_classes: int, t_list: Any = None, *, counts: Any = None
) -> BestF:
    """Macro open-set F-score: F of the precision and recall averaged over the known classes.

    F(t) = 2 P(t) R(t) / (P(t) + R(t)),  P(t) = 1/C Σ_c TP_c/(TP_c + FP_c),  R(t) = 1/C Σ_c TP_c/(TP_c + FN_c)

    A known sample counts for its class, an accepted unknown one is a false positive of its predicted class;
    samples are accepted when score ≤ t. 0/0 is 0.

    Parameters: predicted (N,) class ids; classes (N,) true class ids, −1 for unknown; scores (N,), higher is more
    unknown; num_classes is C; t_list, thresholds to use instead of every distinct score; counts (N,), how many equal
    samples each entry stands for, by default one.
    Returns (best F in [0, 1], lowest threshold that attains it (of a t_list: the first), F per threshold of t_list).
    Raises ValueError for NaN, lengths that differ, no samples, class ids out of range, and an empty t_list.
    Source: Mendes Júnior et al., Nearest neighbors distance ratio open-set classifier, Machine Learning 2017.

    >>> macro_open_f([0, 1, 1], [0, 1, -1], [0.1, 0.2, 0.9], 2)
    (1.0, 0.2, None)
    """
    num_classes = as_int(num_classes, "num_classes", 1)
    predicted, classes, scores, counts = checked_samples(predicted, classes, scores, counts)
    return best_macro_f(predicted, classes, scores, num_classes, t_list, counts=counts)


def checked_samples(predicted: Any, classes: Any, scores: Any, counts: Any = None) -> list[Any]:
    """Check samples of `macro_open_f`, whose classes are not looked at, with their counts or None."""
    columns = {
        "predicted": as_labels(predicted, "predicted"),
        "classes": as_labels(classes, "classes"),
        "scores": as_scores(scores, "scores"),
    }
    return counted_columns(counts, **columns)


def best_macro_f(
    predicted: Array, classes: Array, scores: Array, num_classes: int, t_list: Any, *, counts: Array | None = None
) -> BestF:
    """As `macro_open_f`, of checked samples."""
    xp = array_namespace(predicted)
    predicted = xp.astype(predicted, xp.int64, copy=False)
    if num_classes > predicted.shape[0]:  # counts are kept for predicted classes only
        check_ids(predicted, classes, num_classes)
        known, distinct = classes[classes >= 0], distinct_values(predicted)
        occurring = distinct_values(known).shape[0]
        outcomes = outcomes_of(_index_of(distinct, predicted), predicted == classes, distinct.shape[0])
        among = _is_among(distinct, known)
        of_known = None if counts is None else counts[classes >= 0][among]
        totals = count_ids(_index_of(distinct, known[among]), distinct.shape[0], of_known)
    else:
        outcomes, totals = counted_outcomes(predicted, classes, num_classes, counts)
        occurring = int(xp.count_nonzero(totals))
    thresholds, outcomes, sizes = _sorted_rows(scores, outcomes, counts)
    return _best(thresholds, MacroF(outcomes, totals, occurring, sizes, num_classes), t_list)


def _sorted_rows(scores: Array, outcomes: Array, counts: Array | None) -> tuple[Array, Array, Array | None]:
    """Scores in ascending order with their outcomes and, if any, counts."""
    if counts is None:
        return *sorted_with(scores, outcomes), None
    ordered, order = sorted_with(scores, indices(scores))
    return ordered, outcomes[order], counts[order]


def _index_of(distinct: Array, ids: Array) -> Array:
    """The place of each id in ascending distinct ids, which include all of them."""
    return array_namespace(ids).searchsorted(distinct, ids)


def _is_among(distinct: Array, ids: Array) -> Array:
    """Flag the ids that are among ascending distinct ids."""
    xp = array_namespace(ids)
    return distinct[xp.clip(xp.searchsorted(distinct, ids), 0, distinct.shape[0] - 1)] == ids


def micro_open_f(predicted: Any, classes: Any, scores: Any, t_list: Any = None, *, counts: Any = None) -> BestF:
    """Micro open-set F-score: F of the precision and recall of the counts pooled over the known classes.

    F(t) = 2 P(t) R(t) / (P(t) + R(t)),  P(t) = Σ_c TP_c / Σ_c (TP_c + FP_c),  R(t) = Σ_c TP_c / Σ_c (TP_c + FN_c)

    which is 2 Σ TP / (accepted + known samples). Parameters, returns and source as of `macro_open_f`, without C.

    >>> micro_open_f([0, 1, 1], [0, 0, -1], [0.1, 0.2, 0.9], [0.5, 1.0])
    (0.5, 0.5, [0.5, 0.4])
    """
    predicted, classes, scores, counts = checked_samples(predicted, classes, scores, counts)
    check_not_negative(predicted, "predicted")  # which an unknown sample's class would equal
    return best_micro_f(predicted, classes, scores, t_list, counts=counts)


def best_micro_f(predicted: Array, classes: Array, scores: Array, t_list: Any, *, counts: Array | None = None) -> BestF:
    """As `micro_open_f`, of checked samples."""
    xp = array_namespace(classes)
    thresholds, correct, sizes = _sorted_rows(scores, predicted == classes, counts)
    known = int(xp.count_nonzero(classes >= 0) if counts is None else xp.sum(counts[classes >= 0]))
    return _best(thresholds, MicroF(correct, sizes, known), t_list)


def _best(scores: Array, average: MacroF | MicroF, t_list: Any) -> BestF:
    """The first of the greatest F-scores after each sample, in ascending order of the scores."""
    if t_list is not None:
        return _best_of(check_thresholds(t_list), scores, average)
    places, sums = _highest(scores, average)
    at = int(np.argmax(_are_greatest(to_numpy(places), sums, average)))
    best = float(average.rounded((sums[0][at : at + 1], sums[1][at : at + 1]))[0])
    return best, float(scores[int(places[at])]) + 0.0, None  # 0.0 for −0.0


def _best_of(thresholds: np.ndarray, scores: Array, average: MacroF | MicroF) -> BestF:
    """As `_best`, of a list of thresholds."""
    xp = array_namespace(scores)
    after = xp.searchsorted(xp.astype(scores, xp.float64), on_device(thresholds, scores), side="right") - 1
    places, row = np.unique(to_numpy(after), return_inverse=True)
    f, values = np.zeros(len(places)), np.zeros(len(places))
    none = int(places[0] < 0)  # below all scores no sample is accepted, and F is 0
    if len(places) > none:
        *sums, value = _at_places(average, on_device(places[none:], scores))
        f[none:], values[none:] = to_numpy(average.rounded((sums[0], sums[1]))), to_numpy(value)
    greatest = values == 0
    if values.max() > 0:
        near = np.flatnonzero(values >= values.max() * (1 - average.rounding))
        which = on_device(near - none, scores)
        greatest[:] = False
        greatest[near] = _are_greatest(places[near], (sums[0][which], sums[1][which]), average)
    best = int(np.argmax(greatest[row]))
    return float(f[row[best]]), float(thresholds[best]), f[row].tolist()


def _are_greatest(places: np.ndarray, sums: Sums, average: MacroF | MicroF) -> np.ndarray:
    """Flag the candidates with the greatest F, compared exactly, since values are close."""
    if len(places) == 1:
        return np.ones(1, dtype=bool)
    exact = average.exact(places, sums)
    greatest = max(exact)
    return np.asarray([value == greatest for value in exact])


def _highest(scores: Array, average: MacroF | MicroF) -> tuple[Array, Sums]:
    """Ascending places where F is greatest within `average.rounding`, and the sums that F is computed from there.

    If F is 0 everywhere, the first place is returned. Several threads share a large sweep; each starts from the
    counts before its part.
    """
    number = scores.shape[0]
    threads = threads_for(number) if is_numpy_array(scores) else 1
    parts = [partial(_high_within, scores, average, part) for part in parts_of(number, threads)]
    places, values, *sums = (concatenate(column) for column in zip(*in_threads(parts, threads)))
    greatest = float(array_namespace(values).max(values))
    high = array_namespace(values).nonzero(values >= greatest * (1 - average.rounding))[0]
    high = high if greatest > 0 else high[:1]
    return places[high], (sums[0][high], sums[1][high])


def _high_within(scores: Array, average: MacroF | MicroF, within: slice) -> tuple[Array, Array, Array, Array]:
    """Places, values and sums of candidates for the greatest F within a part; only the last of equal scores is one."""
    xp = array_namespace(scores)
    kept: list[tuple[Array, Array, Array, Array]] = []
    stop, greatest = within.start, -1.0
    for first, second, values in average.sweep(within):
        start, stop = stop, stop + values.shape[0]
        if kept and float(xp.max(values)) < greatest * (1 - average.rounding):
            continue  # no candidate, as in most blocks after the greatest
        following = scores[start + 1 : stop + 1]
        equal = scores[start : start + following.shape[0]] == following
        if bool(xp.any(equal)):
            values[: following.shape[0]][equal] = -1.0
        before, greatest = greatest, max(greatest, float(xp.max(values)))
        near = xp.nonzero(values >= greatest * (1 - average.rounding))[0]
        if greatest <= 0:
            near = near[:1] if before < 0 else near[:0]
        kept.append((near + start, values[near], first[near], second[near]))
    places, values, first, second = (concatenate(column) for column in zip(*kept))
    high = values >= greatest * (1 - average.rounding)
    return places[high], values[high], first[high], second[high]


def _at_places(average: MacroF | MicroF, places: Array) -> Swept:
    """The sums and values after the samples at some ascending places."""
    parts, start = [], 0
    for swept in average.sweep():
        stop = start + swept.value.shape[0]
        here = places[(places >= start) & (places < stop)] - start
        parts.append([column[here] for column in swept])
        start = stop
    return Swept(*map(array_namespace(places).concat, zip(*parts)))
