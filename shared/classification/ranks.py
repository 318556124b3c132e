"""The rank of the true class: the numbers of other classes that score above it and that tie with it.

One pass over the scores counts both for every sample, and nothing is sorted: in a compiled loop for large matrices
where numba is installed, in a kernel on CUDA where Triton is, else in blocks of rows that fit the cache. Every top-k
quantity follows from these two numbers, for every k at once; the true class itself is kept for means over the classes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from ..arrays.arrays import (
    MAX_EXACT,
    NUMPY,
    Array,
    array_namespace,
    as_array,
    bfloat16_bits,
    device_of,
    is_floating,
    on_one_device,
    row_blocks,
)
from ..arrays.checks import (
    are_ids_below,
    as_integers,
    as_labels,
    as_matrix,
    check_arrays,
    check_class_ids,
    check_lengths,
    check_no_nan,
    check_not_negative,
    check_orientation,
    check_rows,
    count_column,
    flag_column,
    integer_column,
    integer_scalar,
)
from ..arrays.threads import worth_compiling
from .device_ranks import ranks_on_device

if TYPE_CHECKING:
    from typing_extensions import NotRequired


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
    return checked_ranks(scores, labels, "labels")


def listed_ranks(predictions: Any, labels: Any) -> Array:
    """Count the guesses that come before the true class in rows of class ids ranked best first; K if it is absent.

    Parameters: predictions (N, K) class ids; labels (N,) class ids. Returns (N,) integers in [0, K].
    Raises ValueError for other numbers, and shapes that do not fit.

    >>> listed_ranks([[0, 7, 1], [4, 2, 9]], [7, 5]).tolist()
    [1, 3]
    """
    predictions = as_integers(as_matrix(predictions, "predictions"), "predictions", 2)
    labels = as_labels(labels, "labels")
    check_lengths(predictions=predictions, labels=labels)
    predictions, labels = on_one_device(predictions, labels)
    xp = array_namespace(predictions)
    hits = predictions == labels[:, None]
    position = xp.argmax(xp.astype(hits, xp.int8), axis=1)
    return xp.astype(xp.where(xp.any(hits, axis=1), position, predictions.shape[1]), xp.int32)


def checked_ranks(scores: Array, labels: Array, name: str, cure: str = "") -> RowRanks:
    """As `true_class_ranks`, of checked arrays; loops check NaN and the labels, of that name, while they count."""
    if device_of(scores) is not None:
        on_device = ranks_on_device(scores, labels)
        if on_device is not None:
            return on_device
    work = math.prod(scores.shape)
    matrix: Any = scores
    count: Callable[..., int] = row_ranks
    if not isinstance(scores, np.ndarray) or scores.dtype.kind != "f" or scores.itemsize <= 2:
        matrix, count = bfloat16_bits(scores), row_ranks_bfloat16
    loop = None if matrix is None else worth_compiling(count, work, labels)
    if loop is not None:  # it takes the matrix as it is; NumPy takes blocks that fit the cache
        ranks = _empty_ranks(len(labels))
        if loop(matrix, labels, *ranks) < 0:
            return ranks
    if not are_ids_below(labels, scores.shape[1]):
        check_not_negative(labels, name, cure)
        check_class_ids(labels, name, scores.shape[1])
    if count is not row_ranks:
        loop = worth_compiling(row_ranks, work, labels)
    blocks = []
    for rows, block in row_blocks(scores, "predictions"):
        blocks.append(_block_ranks(block, labels[rows], rows.start, loop))
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
    above = _count_in_rows(xp, scores > true_scores)
    tied = _count_in_rows(xp, scores == true_scores) - 1
    correct = above == 0
    contested = xp.nonzero(correct & (tied > 0))[0]
    if len(contested):
        correct[contested] = xp.argmax(scores[contested], axis=1) == labels[contested]
    return above, tied, correct


def _count_in_rows(xp: Any, flags: Array) -> Array:
    """How many booleans of each row are set, (N,) int32."""
    if xp is NUMPY:
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


TOPK_ALIASES = {"y_pred": "predictions", "preds": "predictions", "y_true": "references", "labels": "references"}
# rows in the order of their classes, so that sums by class need no sorting
TOPK_TABLES = {"counts": ("classes", "above", "tied", "correct")}


class TopkState(TypedDict):
    """The true classes and their ranks."""

    above: Array  # (N,) classes that score above the true one; for ids the guesses before it; −1 for an unknown sample
    tied: Array  # (N,) other classes that tie with it
    correct: Array  # (N,) whether the argmax is right; for ids, whether the class is in the row
    classes: Array  # (N,) the true class; −1 for an unknown sample
    predictions_width: np.ndarray  # C scores, or K ids
    predictions_are_scores: np.ndarray  # whether the rows are scores rather than ids
    counts: NotRequired[Array]  # (N,) how many samples each entry stands for; absent, one each


def as_topk_state(state: Mapping[str, Any], *, ignore_unknown: bool) -> TopkState:
    """Check a state from elsewhere. Raises ValueError and TypeError for one that `AccuracyK.reduce` cannot return."""
    check_arrays(state, [*TopkState.__annotations__], ["counts"])
    width = integer_scalar(state, "predictions_width", 1, MAX_EXACT)
    scored = np.asarray(integer_scalar(state, "predictions_are_scores", 0, 1) == 1)
    lowest, highest = -1 if ignore_unknown else 0, min(int(width), np.iinfo(np.int32).max)
    greatest, class_type = (highest - 1, np.int32) if scored else (np.iinfo(np.int64).max, np.int64)
    checked: TopkState = {
        "above": integer_column(state, "above", lowest, highest, np.int32),
        "tied": integer_column(state, "tied", 0, highest - 1, np.int32),
        "correct": flag_column(state, "correct"),
        "classes": integer_column(state, "classes", lowest, greatest, class_type),
        "predictions_width": width,
        "predictions_are_scores": scored,
    }
    if "counts" in state:
        checked["counts"] = count_column(state)
    check_rows({name: column for name, column in checked.items() if not name.startswith("predictions")})
    above, tied, correct = checked["above"], checked["tied"], checked["correct"]
    if ((above < 0) != (checked["classes"] < 0)).any():
        raise ValueError("state: expected the same samples to be unknown in `above` and in `classes`, got others")
    if checked["predictions_are_scores"]:
        possible = np.where(correct, above <= 0, (above != 0) | (tied != 0))
    else:
        possible = (correct == (above < width)) & (tied == 0)
    if not (possible | (above < 0)).all():
        raise ValueError("state: expected `correct` to be what the ranks say, got another")
    if checked["predictions_are_scores"] and len(checked["above"]):
        places = int((checked["above"].astype(np.int64) + checked["tied"]).max())
        if places >= width:
            raise ValueError(f"state: expected ranks below {width}, the number of scores, got {places}")
    return checked


def topk_scores_state(predictions: Any, references: Any, *, ignore_unknown: bool) -> TopkState:
    """The state of a batch of scores: see `AUTKC.reduce`."""
    predictions = as_matrix(predictions, "predictions")
    if predictions.ndim == 2 and not is_floating(predictions):
        dtype = str(predictions.dtype).removeprefix("torch.")
        raise ValueError(f"predictions: expected (N, C) floating scores, got {dtype} class ids")
    return topk_state(predictions, references, ignore_unknown=ignore_unknown)


def topk_state(predictions: Any, references: Any, *, ignore_unknown: bool) -> TopkState:
    """The state of a batch: see `AccuracyK.reduce`."""
    predictions, references = as_matrix(predictions, "predictions"), as_array(references, "references")
    check_orientation(predictions, references)
    labels = as_labels(references, "references")
    if predictions.ndim != 2:
        hint = "; pass predictions[:, None] for one guess per sample" if predictions.ndim == 1 else ""
        raise ValueError(
            f"predictions: expected (N, C) scores or (N, K) class ids, got shape {tuple(predictions.shape)}{hint}"
        )
    if len(predictions) != len(labels):
        check_lengths(predictions=predictions, references=labels)
    if device_of(predictions) != device_of(labels):
        predictions, labels = on_one_device(predictions, labels)
    width, scored = predictions.shape[1], is_floating(predictions)
    if width == 0:
        raise ValueError("predictions: expected at least one column, got shape (N, 0)")
    xp, cure = array_namespace(labels), "; ignore_unknown=True leaves unknown samples out"
    has_unknown = ignore_unknown and labels.shape[0] > 0 and int(labels.min()) < 0
    if scored:
        ids = xp.clip(labels, 0, None) if has_unknown else labels
        above, tied, correct = checked_ranks(predictions, ids, "references", cure)
    else:
        if not ignore_unknown:
            check_not_negative(labels, "references", cure)
        above = listed_ranks(predictions, labels)
        tied, correct = xp.zeros_like(above), above < width
    classes = xp.clip(labels, -1, None) if has_unknown else labels
    if has_unknown:
        above[labels < 0] = -1
    return {
        "above": above,
        "tied": tied,
        "correct": correct,
        "classes": xp.asarray(classes, dtype=xp.int32 if scored else xp.int64, copy=True),  # a column fits 32 bits
        "predictions_width": _scalar(width),
        "predictions_are_scores": _scalar(scored),
    }


@lru_cache(typed=True)
def _scalar(value: int) -> np.ndarray:
    """The read-only array of a scalar, shared by all states, so that a look at its identity shows that they agree."""
    scalar = np.asarray(value)
    scalar.setflags(write=False)
    return scalar
