"""One sweep over samples in the order of their open-set scores: the F-scores after each of them.

Macro averages need a sum over classes of ratios that change one at a time. Floating sums would depend on the order
of those changes, so ratios are rounded to a multiple of 2^−b, as large a b as lets the sum over the known classes that
occur fit int64 (at least 2^−52 for up to 1,023 of them, near float64's own resolution): integer sums are exact in every
order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.arrays import Array, array_namespace, is_numpy_array
from ..arrays.compiled import worth_compiling

_SWEPT = 1 << 15  # samples
_SWEPT_ON_DEVICE = 1 << 26


def macro_sweep(outcomes: Array, totals: Array, num_classes: int, scale: float, sizes: Array | None = None) -> Array:
    """Macro F after each sample, in score order; `totals` are the samples of each class that is predicted.

    An outcome is twice the predicted class, plus one if it is the true one. `scale` is that of the known classes that
    occur: no other adds to a sum. `sizes` are how many equal samples each entry stands for, by default one.
    """
    xp = array_namespace(outcomes)
    hits, accepted = xp.zeros_like(totals), xp.zeros_like(totals)
    precision, recall = 0, 0
    f = xp.empty_like(outcomes, dtype=xp.float64)
    loop = worth_compiling(sweep_loop, 8 * outcomes.shape[0], outcomes)
    for block in _blocks(outcomes):
        part = xp.astype(outcomes[block], xp.int64)
        ids, flags = part >> 1, (part & 1) == 1
        here = xp.ones_like(ids) if sizes is None else sizes[block]
        if loop is not None:
            changes = np.empty(len(ids), np.int64), np.empty(len(ids), np.int64)
            loop(ids, flags, here, hits, accepted, totals, scale, *changes)
        else:
            changes = _changes(ids, flags, here, hits, accepted, totals, scale)
        precisions, recalls = (xp.cumulative_sum(change) for change in changes)
        f[block] = macro_f(precision + precisions, recall + recalls, num_classes, scale)
        precision, recall = precision + int(precisions[-1]), recall + int(recalls[-1])
    return f


def micro_sweep(correct: Array, known: int, sizes: Array | None = None) -> Array:
    """Micro F after each sample, in score order, of so many known samples."""
    xp = array_namespace(correct)
    f, hits, accepted = xp.empty_like(correct, dtype=xp.float64), 0, 0
    for block in _blocks(correct):
        right = xp.astype(correct[block], xp.int64)
        here = xp.ones_like(right) if sizes is None else sizes[block]
        running, entered = hits + xp.cumulative_sum(right * here), accepted + xp.cumulative_sum(here)
        f[block] = micro_f(running, entered, known)
        hits, accepted = int(running[-1]), int(entered[-1])
    return f


def _blocks(samples: Array) -> list[slice]:
    length = _SWEPT if is_numpy_array(samples) else _SWEPT_ON_DEVICE
    return [slice(start, start + length) for start in range(0, samples.shape[0], length)]


def _changes(
    ids: Array, flags: Array, sizes: Array, hits: Array, accepted: Array, totals: Array, scale: float
) -> tuple[Array, Array]:
    """As `sweep_loop`: what each sample adds to the sums over classes of precision and of recall."""
    xp = array_namespace(ids)
    order = xp.argsort(ids, stable=True)
    groups, entering = ids[order], sizes[order]
    right = xp.astype(flags[order], xp.int64) * entering
    first = xp.searchsorted(groups, groups, side="left")
    before, entered = (xp.cumulative_sum(column, include_initial=True) for column in (right, entering))
    hits_after = hits[groups] + before[1:] - before[first]
    accepted_after = accepted[groups] + entered[1:] - entered[first]
    hits_before, accepted_before = hits_after - right, accepted_after - entering
    precision = fixed_ratio(hits_after, accepted_after, scale) - fixed_ratio(hits_before, accepted_before, scale)
    recall = fixed_ratio(hits_after, totals[groups], scale) - fixed_ratio(hits_before, totals[groups], scale)
    last = xp.searchsorted(groups, groups, side="right") - 1
    hits[groups], accepted[groups] = hits_after[last], accepted_after[last]
    changes = xp.empty_like(precision), xp.empty_like(recall)
    changes[0][order], changes[1][order] = precision, recall
    return changes


def sweep_loop(
    ids: Any, flags: Any, sizes: Any, hits: Any, accepted: Any, totals: Any, scale: float, precision: Any, recall: Any
) -> None:
    """Accept entry by entry: what each adds to the sums over classes of precision and of recall, times `scale`.

    `hits` and `accepted` count by class, before and after; ratios are rounded as in `fixed_ratio`.
    """
    for i in range(len(ids)):
        c = ids[i]
        total = max(totals[c], 1)
        precision[i] = -np.int64(np.rint(hits[c] / max(accepted[c], 1) * scale))
        recall[i] = -np.int64(np.rint(hits[c] / total * scale))
        hits[c] += flags[i] * sizes[i]
        accepted[c] += sizes[i]
        precision[i] += np.int64(np.rint(hits[c] / accepted[c] * scale))
        recall[i] += np.int64(np.rint(hits[c] / total * scale))


def macro_scale(num_classes: int) -> float:
    """The denominator of ratios whose sum over so many classes fits int64."""
    return 2.0 ** min(52, 62 - num_classes.bit_length())


def fixed_ratio(count: Array, total: Array, scale: float) -> Array:
    """count/total as an integer multiple of 1/scale; 0/0 is 0."""
    xp = array_namespace(count)
    ratio = xp.astype(count, xp.float64) / xp.astype(xp.clip(total, 1, None), xp.float64)
    return xp.astype(xp.round(ratio * scale), xp.int64)


def macro_f(precision: Array, recall: Array, num_classes: int, scale: float) -> Array:
    """F of the means over classes, from sums of `fixed_ratio` over them; 0/0 is 0."""
    xp = array_namespace(precision)
    unit = num_classes * scale
    precision, recall = xp.astype(precision, xp.float64) / unit, xp.astype(recall, xp.float64) / unit
    total = precision + recall
    return 2 * precision * recall / xp.where(total == 0, xp.ones_like(total), total)


def micro_f(hits: Array, accepted: Array, known: int) -> Array:
    """F of pooled counts: samples accepted correctly, samples accepted, and known samples."""
    xp = array_namespace(hits)
    return xp.astype(2 * hits, xp.float64) / xp.astype(accepted + known, xp.float64)
