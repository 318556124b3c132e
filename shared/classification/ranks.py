"""The rank of the true class: the numbers of other classes that score above it and that tie with it.

One pass over the scores counts both for every sample; nothing is sorted. It is a compiled loop for large matrices where
numba is installed, else it runs over blocks of rows that fit the cache; either takes a fraction of what sorting or
partial sorting of each row takes (see arrays/compiled.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.arrays import Array, array_namespace, bfloat16_bits, is_numpy_array, on_one_device, row_blocks
from ..arrays.columns import (
    are_ids_below,
    as_integers,
    as_labels,
    as_matrix,
    check_class_ids,
    check_lengths,
    check_no_nan,
    check_not_negative,
)
from ..arrays.compiled import worth_compiling

RowRanks = tuple[Array, Array, Array]  # above, tied, correct
_INT, _FLAG = np.dtype(np.int32), np.dtype(np.bool_)


def true_class_ranks(predictions: Any, labels: Any) -> RowRanks:
    """Count the classes that score above, and that tie with, the true class of every sample.

    above_i = |{c : s_ic > s_i,y_i}|,  tied_i = |{c ≠ y_i : s_ic = s_i,y_i}|

    Parameters: predictions (N, C), the scores s, real, higher is more likely; labels y (N,), class ids in [0, C).
    Returns `above` and `tied`, (N,) integers, and `correct`, (N,) booleans: whether the true class is the first of
    the highest scores, as argmax predicts.
    Raises ValueError for NaN, labels out of range, and shapes that do not fit.

    >>> above, tied, correct = true_class_ranks([[0.1, 0.7, 0.7], [0.5, 0.3, 0.2]], [2, 0])
    >>> above.tolist(), tied.tolist(), correct.tolist()
    ([0, 0], [1, 0], [False, True])
    """
    scores, labels = as_matrix(predictions, "predictions"), as_labels(labels, "labels")
    if scores.ndim != 2 or not scores.shape[1]:
        raise ValueError(f"predictions: expected scores of shape (N, C), got shape {tuple(scores.shape)}")
    check_lengths(predictions=scores, labels=labels)
    scores, labels = on_one_device(scores, labels)
    check_class_ids(labels, "labels", scores.shape[1])
    check_not_negative(labels, "labels")
    ranks: Any = ranks_if_in_range(scores, labels)
    return ranks


def listed_ranks(predictions: Any, labels: Any) -> Array:
    """Count the guesses that come before the true class in rows of class ids ranked best first; K if it is absent.

    Parameters: predictions (N, K) class ids; labels (N,) class ids. Returns (N,) integers in [0, K].
    Raises ValueError for other numbers, and shapes that do not fit.

    >>> listed_ranks([[0, 7, 1], [4, 2, 9]], [7, 5]).tolist()
    [1, 3]
    """
    predictions, labels = as_integers(predictions, "predictions", 2), as_labels(labels, "labels")
    check_lengths(predictions=predictions, labels=labels)
    predictions, labels = on_one_device(predictions, labels)
    xp = array_namespace(predictions)
    hits = predictions == labels[:, None]
    position = xp.argmax(xp.astype(hits, xp.int8), axis=1)
    return xp.astype(xp.where(xp.any(hits, axis=1), position, predictions.shape[1]), xp.int32)


def ranks_if_in_range(scores: Array, labels: Array) -> RowRanks | None:
    """As `true_class_ranks`, but None for labels out of range; a compiled loop checks them while it counts."""
    work = math.prod(scores.shape)
    matrix: Any = scores
    count: Callable[..., int] = row_ranks
    if not is_numpy_array(scores) or scores.dtype.kind != "f" or scores.itemsize <= 2:
        matrix, count = bfloat16_bits(scores), row_ranks_bfloat16
    loop = None if matrix is None else worth_compiling(count, work, labels)
    if loop is not None:  # it takes the matrix as it is; NumPy takes blocks that fit the cache
        ranks = _empty_ranks(len(labels))
        if loop(matrix, labels, *ranks) < 0:
            return ranks
    if not are_ids_below(labels, scores.shape[1]):
        return None
    if count is not row_ranks:
        loop = worth_compiling(row_ranks, work, labels)
    cut = row_blocks(scores, "predictions")
    blocks = [_block_ranks(block, labels[rows], rows.start, loop) for rows, block in cut]
    if len(blocks) == 1:
        return blocks[0]
    above, tied, correct = (array_namespace(labels).concat(parts) for parts in zip(*blocks))
    return above, tied, correct


def _block_ranks(scores: Array, labels: Array, start: int, loop: Callable[..., int] | None) -> RowRanks:
    if loop is not None:
        ranks = _empty_ranks(len(labels))
        if loop(scores, labels, *ranks) >= 0:
            check_no_nan(scores, "predictions", start)
        return ranks
    xp = array_namespace(scores)
    check_no_nan(scores, "predictions", start)
    true_scores = xp.take_along_axis(scores, labels[:, None], axis=1)
    above = _count_in_rows(scores > true_scores)
    tied = _count_in_rows(scores == true_scores) - 1
    correct = above == 0
    contested = xp.nonzero(correct & (tied > 0))[0]
    if len(contested):
        correct[contested] = xp.argmax(scores[contested], axis=1) == labels[contested]
    return above, tied, correct


def _count_in_rows(flags: Array) -> Array:
    """How many booleans of each row are set, (N,) int32."""
    xp = array_namespace(flags)
    if is_numpy_array(flags):
        return xp.astype(xp.count_nonzero(flags, axis=1), xp.int32)
    # torch makes an integer of each boolean before it counts; a byte holds the sum of 255 of them
    parts = (flags[:, start : start + 255].view(xp.uint8) for start in range(0, max(1, flags.shape[1]), 255))
    return sum(xp.astype(xp.sum(part, axis=1, dtype=xp.uint8), xp.int32) for part in parts)


def _empty_ranks(length: int) -> RowRanks:
    return np.empty(length, _INT), np.empty(length, _INT), np.empty(length, _FLAG)


def row_ranks(scores: Any, labels: Any, above: Any, tied: Any, correct: Any) -> int:
    """Count in each row the scores above and equal to its label's.

    Returns a row with NaN or a label out of range, or −1. `correct` says whether the label is the first with the
    highest score.
    """
    num_rows, num_columns = scores.shape
    # of rows as long as a page of memory, true scores are read before the rows: processors wait for many at once
    num_read = num_rows if num_columns * scores.itemsize >= 3072 else 0
    true_scores = np.empty(num_read, scores.dtype)
    for i in range(num_read):
        if labels[i] < 0 or labels[i] >= num_columns:
            return i
        true_scores[i] = scores[i, labels[i]]
    for i in range(num_rows):
        if num_read:
            true_score = true_scores[i]
        else:
            if labels[i] < 0 or labels[i] >= num_columns:
                return i
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
    for i in range(num_rows):
        correct[i] = above[i] == 0
        if correct[i] and tied[i] > 0:
            for j in range(labels[i]):
                correct[i] &= scores[i, j] != scores[i, labels[i]]
    return -1


def row_ranks_bfloat16(bits: Any, labels: Any, above: Any, tied: Any, correct: Any) -> int:
    """As `row_ranks`, for bfloat16 scores as int16 bit patterns: sign and magnitude make integers of their order."""
    num_rows, num_columns = bits.shape
    for i in range(num_rows):
        if labels[i] < 0 or labels[i] >= num_columns:
            return i
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
    for i in range(num_rows):
        correct[i] = above[i] == 0
        if correct[i] and tied[i] > 0:
            true_bits = bits[i, labels[i]]
            for j in range(labels[i]):  # equal numbers have equal bits, but for 0.0 and −0.0
                correct[i] &= bits[i, j] != true_bits and (bits[i, j] | true_bits) & 0x7FFF != 0
    return -1
