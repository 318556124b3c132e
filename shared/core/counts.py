"""Exceedance counts: for each distinct score of the positives, the samples of both sides that reach it.

Positives are the samples to be detected (unknown, OOD, anomalous) and score higher. For every distinct positive
score t, two counts are taken: the negatives above t, and those at or above t. All that ROC and precision-recall curves
say follows from them, since between two positive scores a curve only moves along the axis of the negatives. The full
curve over all negatives is never built; both sides are sorted separately, which is faster than sorting scores with
labels.

The counts come in runs of thresholds that fit the cache, from the highest on, so they take no memory to speak of.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .arrays import Array, array_namespace, is_numpy_array, widen
from .columns import check_no_nan
from .compiled import worth_compiling
from .sorting import sort_in_place

_RUN = 1 << 15  # thresholds: a few arrays of 256 KiB
_DEVICE_RUN = 1 << 24
_SPLIT = 1 << 17  # values whose indices are held at a time


class Counts(NamedTuple):
    """Counts at distinct scores of the positives, in descending order of the scores: at all of them, or at a run.

    thresholds: (T,) distinct positive scores t_1 > … > t_T
    sizes: (T,) positives with the score t
    tp: (T,) positives with a score ≥ t
    above: (T,) negatives with a score > t
    fp: (T,) negatives with a score ≥ t
    num_positives, num_negatives: how many there are in all
    """

    thresholds: Array
    sizes: Array
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
    return next(runs(*sort_sides(positives, negatives), positives.shape[0]))


def check_both_classes(num_positives: int, num_negatives: int) -> None:
    """Raise ValueError unless there are samples on both sides."""
    if not num_positives or not num_negatives:
        raise ValueError(
            f"references: expected samples of both classes, got {num_positives} unknown (OOD, anomalous) "
            f"and {num_negatives} known (in-distribution, normal)"
        )


def split(values: Array, mask: Array) -> tuple[Array, Array]:
    """Return values[mask] and values[~mask], as new arrays, without an index for each value at once."""
    if not is_numpy_array(values):
        return values[mask], values[~mask]
    total = int(np.count_nonzero(mask))
    chosen, others = np.empty(total, values.dtype), np.empty(len(values) - total, values.dtype)
    loop = worth_compiling(split_loop, len(values), values, mask)
    if loop is not None and values.dtype != np.float16:  # which numba does not take
        loop(values, mask, chosen, others)
        return chosen, others
    at = 0
    for start in range(0, len(values), _SPLIT):
        part, here = values[start : start + _SPLIT], mask[start : start + _SPLIT]
        stop = at + int(np.count_nonzero(here))
        chosen[at:stop] = np.compress(here, part)  # faster than part[here]
        others[start - at : start - at + len(part) - (stop - at)] = np.compress(~here, part)
        at = stop
    return chosen, others


def split_loop(values: Any, mask: Any, chosen: Any, others: Any) -> None:
    """Copy the values where the mask is true to `chosen`, and those where it is false to `others`, in their order."""
    i, j = 0, 0
    for k in range(values.size):
        # written to both sides, and kept on one of them, without a branch that would be mispredicted
        if i < chosen.size:
            chosen[i] = values[k]
        if j < others.size:
            others[j] = values[k]
        i += mask[k]
        j += not mask[k]


def ascending(scores: Array, *, owned: bool = False) -> Array:
    """Return scores in ascending order, as float32 or float64; themselves, if they are in order or `owned` and NumPy's.

    `owned` says that the array may be sorted where it lies, which saves a copy of it.
    """
    given, scores = scores, widen(scores)  # NumPy 2.4 sorts large float16 arrays wrongly on some processors
    if _in_order(scores[:1000]) and _in_order(scores):
        return scores
    if not is_numpy_array(scores):
        return array_namespace(scores).sort(scores)
    if scores is given and not (owned and scores.flags.writeable):
        scores = scores.copy()
    sort_in_place(scores)
    return scores


def _in_order(scores: Array) -> bool:
    return bool(array_namespace(scores).all(scores[1:] >= scores[:-1]))


def sort_sides(positives: Array, negatives: Array) -> tuple[Array, Array]:
    """Return both sides' scores in ascending order. Raises ValueError for NaN."""
    positives, negatives = widen(positives), widen(negatives)
    xp = array_namespace(positives, negatives)
    dtype = xp.result_type(positives, negatives)
    sides = [ascending(xp.astype(side, dtype, copy=False)) for side in (positives, negatives)]
    for side, given, name in zip(sides, (positives, negatives), ("positives", "negatives")):
        # NaN is sorted to an end, where one look finds it
        if bool(xp.any(xp.isnan(side[:1]))) or bool(xp.any(xp.isnan(side[-1:]))):
            check_no_nan(given, name)  # which says where it came
    return sides[0], sides[1]


def runs(positives: Array, negatives: Array, length: int | None = None) -> Iterator[Counts]:
    """Count as `exceedance_counts` does, in runs of thresholds from the highest on.

    Parameters: positives (P,), at least one, and negatives (N,), in ascending order and without NaN; length, how many
    thresholds a run has at most, or how many positives are looked at for one.
    """
    num_positives, num_negatives = positives.shape[0], negatives.shape[0]
    if length is None:
        length = _RUN if is_numpy_array(positives) else _DEVICE_RUN
    merge = worth_compiling(merge_counts, num_positives + num_negatives, positives, negatives)
    xp = array_namespace(positives, negatives)
    stop, higher = num_positives, 0
    while stop:
        if merge is not None:
            first, above, fp = np.empty((3, min(length, stop)), np.int64)
            groups = merge(positives[:stop], negatives, higher, first, above, fp)
            first, above, fp = first[:groups], above[:groups], fp[:groups]
            thresholds, higher = positives[first], int(fp[-1])
        else:
            first = _group_starts(positives, max(0, stop - length), stop)
            thresholds = positives[first]
            above = num_negatives - xp.searchsorted(negatives, thresholds, side="right")
            fp = num_negatives - xp.searchsorted(negatives, thresholds, side="left")
        tp = num_positives - first
        sizes = xp.diff(tp, prepend=xp.full_like(tp[:1], num_positives - stop))
        yield Counts(thresholds, sizes, tp, above, fp, num_positives, num_negatives)
        stop = int(first[-1])


def _group_starts(scores: Array, start: int, stop: int) -> Array:
    """Index of the first of each group of equal ascending scores, last group first; `start` is moved to that of one."""
    xp = array_namespace(scores)
    start = int(xp.searchsorted(scores[:stop], scores[start : start + 1], side="left")[0])
    part = scores[start:stop]
    changes = xp.nonzero(part[1:] != part[:-1])[0] + start + 1
    starts = xp.concat([xp.asarray([start], dtype=changes.dtype, device=changes.device), changes])
    return xp.flip(starts)


def merge_counts(positives: Any, negatives: Any, higher: int, first: Any, above: Any, fp: Any) -> int:
    """Count negatives above, and at or above, each distinct positive; both ascending, results descending.

    `higher` negatives are known to lie above all positives; `first` gets the index of the first of each group of equal
    positives. Returns the number of groups, which ends when `first` is full.
    """
    num_negatives = negatives.size
    i, groups = positives.size - 1, 0
    while i >= 0 and groups < first.size:
        score = positives[i]
        while i >= 0 and positives[i] == score:
            i -= 1
        while higher < num_negatives and negatives[num_negatives - 1 - higher] > score:
            higher += 1
        reached = higher
        while reached < num_negatives and negatives[num_negatives - 1 - reached] == score:
            reached += 1
        first[groups], above[groups], fp[groups] = i + 1, higher, reached
        higher = reached
        groups += 1
    return groups
