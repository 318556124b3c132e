"""Loops that are worth compiling, by numba where it is installed and the work is large.

Each does what a few NumPy calls do, in one pass and with the same result to the bit; without numba, or for small
inputs, the callers use NumPy. Importing numba and loading the compiled code from its cache takes about half a second
once in a process (and compiling a second or two once on a machine), so nothing below half a million scores pays it.

Measured on 2 shared cores of an AMD EPYC with AVX-512 (NumPy 2.4, numba 0.68; `make bench` measures them anew):
ranks of 50,000 × 1,000 float32 scores 8 ms compiled, as long as a bare read of the matrix, and 60–90 ms in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ._arrays import Array

WORTHWHILE = 1 << 19  # scores in all before which NumPy is used


@cache
def compiled(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """Return a loop compiled by numba, or None if numba is not installed."""
    try:
        import numba
    except ImportError:
        return None
    try:
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # no folder to cache in
        return numba.njit(nogil=True)(function)


def worth_compiling(function: Callable[..., Any], work: int, *arrays: Array) -> Callable[..., Any] | None:
    """Return the compiled loop for NumPy arrays, or None where NumPy is to do the work.

    `work` is counted in scores, and added up over the calls of a process: many small batches are worth it too.
    """
    for array in arrays:
        if not isinstance(array, np.ndarray):
            return None
    _work[function] = _work.get(function, 0) + work
    return compiled(function) if _work[function] >= WORTHWHILE else None


_work: dict[Callable[..., Any], int] = {}


def row_ranks(scores: Any, labels: Any, above: Any, tied: Any) -> int:
    """Count in each row the scores above, and equal to, that of its label; return the first row with NaN, or −1."""
    num_rows, num_columns = scores.shape
    for i in range(num_rows):
        true_score = scores[i, labels[i]]
        higher, equal, nan = 0, 0, 0
        for j in range(num_columns):
            score = scores[i, j]
            higher += score > true_score
            equal += score == true_score
            nan += score != score
        if nan:
            return i
        above[i] = higher
        tied[i] = equal - 1
    return -1


def row_ranks_bfloat16(bits: Any, labels: Any, above: Any, tied: Any) -> int:
    """As `row_ranks`, for bfloat16 scores as int16 bit patterns: sign and magnitude make integers of their order."""
    num_rows, num_columns = bits.shape
    for i in range(num_rows):
        true_bits = np.int32(bits[i, labels[i]])
        true_score = (true_bits & 0x7FFF) * (1 if true_bits >= 0 else -1)
        higher, equal, nan = 0, 0, 0
        for j in range(num_columns):
            pattern: Any = np.int32(bits[i, j])
            size = pattern & 0x7FFF
            score = size if pattern >= 0 else -size
            higher += score > true_score
            equal += score == true_score
            nan += size > 0x7F80
        if nan:
            return i
        above[i] = higher
        tied[i] = equal - 1
    return -1


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


def sweep_loop(
    ids: Any, flags: Any, hits: Any, accepted: Any, totals: Any, scale: float, precision: Any, recall: Any
) -> None:
    """Accept samples one by one: what each adds to the sums over classes of precision and of recall, times `scale`.

    `hits` and `accepted` count by class, before and after; ratios are rounded as in `fixed_ratio`.
    """
    for i in range(len(ids)):
        c = ids[i]
        total = max(totals[c], 1)
        precision[i] = -np.int64(np.rint(hits[c] / max(accepted[c], 1) * scale))
        recall[i] = -np.int64(np.rint(hits[c] / total * scale))
        hits[c] += flags[i]
        accepted[c] += 1
        precision[i] += np.int64(np.rint(hits[c] / accepted[c] * scale))
        recall[i] += np.int64(np.rint(hits[c] / total * scale))


def pairs_above(
    boxes: Any, others: Any, counts: Any, starts: Any, threshold: float, rows: Any, columns: Any, ious: Any
) -> int:
    """List the pairs of each box with its `counts` others from `starts` on whose IoU reaches the threshold.

    Returns how many there are; those beyond the length of `rows` are not listed. IoU as in `box_iou`, operation by
    operation; the division is spared where the product is clear.
    """
    size = 0
    clear = 0.999 * threshold
    for i in range(len(boxes)):
        x1, y1, x2, y2 = boxes[i, 0], boxes[i, 1], boxes[i, 2], boxes[i, 3]
        area = (x2 - x1) * (y2 - y1)
        for j in range(starts[i], starts[i] + counts[i]):
            u1, v1, u2, v2 = others[j, 0], others[j, 1], others[j, 2], others[j, 3]
            width = max(min(x2, u2) - max(x1, u1), 0.0)
            height = max(min(y2, v2) - max(y1, v1), 0.0)
            intersection = width * height
            union = area + (u2 - u1) * (v2 - v1) - intersection
            if intersection >= clear * union and union > 0:
                iou = intersection / union
                if iou >= threshold:
                    if size < len(rows):
                        rows[size], columns[size], ious[size] = i, j, iou
                    size += 1
    return size
