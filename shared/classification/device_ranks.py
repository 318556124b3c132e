"""Ranks of the true class on a CUDA device: one kernel of Triton reads the scores once.

Triton comes with torch's builds for CUDA, and is imported only where a tensor lives on such a device. torch's own
functions, which count where it is missing, read the scores some ten times.
Source: Tillet, Kung and Cox, Triton: An Intermediate Language and Compiler for Tiled Neural Network Computations, 2019.
"""

from __future__ import annotations

import math
import sys
from functools import cache
from typing import Any

from ..arrays.arrays import MAX_EXACT, Array, array_namespace

_WIDTH = 1024  # scores of a row that a program looks at at once
_TILE = 512  # scores of all its rows, if those are short
_NARROW = ("float16", "bfloat16")  # compared in float32, which holds them
_TYPES = (*_NARROW, "float32", "float64", "int8", "uint8", "int16", "int32", "int64")

tl: Any = None  # triton.language, once it is imported


def ranks_on_device(scores: Any, labels: Any) -> tuple[Array, Array, Array] | None:
    """The `above`, `tied` and `correct` of `true_class_ranks`, of a matrix on a CUDA device.

    None for scores that are NaN, or integers beyond ±2^53, for labels out of range, and where Triton cannot be used.
    """
    cuda, dtype = sys.modules["torch"].cuda, str(scores.dtype).removeprefix("torch.")
    usable = dtype in _TYPES and math.prod(scores.shape) and cuda.is_available()
    count = _compiled() if usable else None
    if count is None:
        return None
    xp, (rows, columns) = array_namespace(scores), scores.shape
    above, tied = xp.empty((2, rows), dtype=xp.int32, device=scores.device)
    correct = xp.empty(rows, dtype=xp.bool, device=scores.device)
    wrong = xp.zeros(1, dtype=xp.int32, device=scores.device)
    width = min(_WIDTH, 1 << (columns - 1).bit_length())
    at_once, unit = max(1, _TILE // width), math.gcd(columns, scores.stride(0), 16)
    with cuda.device_of(scores):
        count[(-(-rows // at_once),)](
            *(scores, labels, above, tied, correct, wrong, rows, columns // unit),
            *(scores.stride(0) // unit, scores.stride(1), labels.stride(0)),
            *(unit, at_once, width, dtype in _NARROW, MAX_EXACT if dtype == "int64" else 0),
            num_warps=1,
            enable_fp_fusion=False,
        )
    return None if bool(wrong) else (above, tied, correct)


@cache
def _compiled() -> Any:
    """The kernel, which is compiled at its first call for a type; None without Triton."""
    global tl
    try:
        import triton
        import triton.language as tl
    except ImportError:
        return None
    return triton.jit(count_ranks)


def count_ranks(  # type: ignore[no-untyped-def]  # Triton compiles annotations, too
    scores,
    labels,
    above,
    tied,
    correct,
    wrong,
    rows,
    units,
    row_units,
    column_stride,
    label_stride,
    unit: tl.constexpr,
    at_once: tl.constexpr,
    width: tl.constexpr,
    narrow: tl.constexpr,
    limit: tl.constexpr,
):
    """Count in each row the scores above and equal to its label's, in one program for some rows at once.

    `unit` divides the number of columns and the distance of rows, so that the compiler knows how rows are aligned.
    Places beyond a row are read as 0, and subtracted at the end, since Triton 3.6 fills vectors of int8 wrongly with
    −128. `wrong` is set for NaN, for integers beyond a limit, and for labels out of range.
    """
    columns, row_stride = units * unit, row_units * unit
    row, column = tl.program_id(0) * at_once + tl.arange(0, at_once), tl.arange(0, width)
    exists = row < rows
    begin = scores + row.to(tl.int64) * row_stride
    places = begin[:, None] + column.to(tl.int64)[None, :] * column_stride
    # scores are asked for before they are needed: the first ones before the label, and others while these are counted
    following = tl.load(places, mask=exists[:, None] & (column < columns)[None, :], other=0)
    label = tl.load(labels + row.to(tl.int64) * label_stride, mask=exists, other=0)
    in_range = (label >= 0) & (label < columns)
    label = tl.where(in_range, label, 0).to(tl.int32)
    true_score = tl.load(begin + label.to(tl.int64) * column_stride, mask=exists, other=0)
    if narrow:
        true_score = true_score.to(tl.float32)
    higher = tl.zeros([at_once], tl.int32)
    equal = tl.zeros([at_once], tl.int32)
    odd = tl.zeros([at_once], tl.int32)
    for start in range(0, columns, width):
        score = following
        if narrow:
            score = score.to(tl.float32)
        places += width * column_stride
        more = exists[:, None] & (column < columns - start - width)[None, :]
        following = tl.load(places, mask=more, other=0)
        # both numbers in one sum, since a width fits 16 bits
        counts = tl.where(score > true_score[:, None], 1, 0) + tl.where(score == true_score[:, None], 1 << 16, 0)
        numbers = tl.sum(counts, 1)
        higher += numbers & 0xFFFF
        equal += numbers >> 16
        is_odd = (score > limit) | (score < -limit) if limit else score != score
        odd |= tl.max(is_odd.to(tl.int32), 1)
    beyond = (columns + width - 1) // width * width - columns
    higher -= tl.where(true_score < 0, beyond, 0)
    equal -= tl.where(true_score == 0, beyond, 0)
    highest = higher == 0
    tied_first = exists & highest & (equal > 1)
    before = tl.zeros([at_once], tl.int32)
    if tl.max(tied_first.to(tl.int32), 0) > 0:  # as few rows are: another look says whether the label comes first
        for start in range(0, columns, width):
            earlier = tied_first[:, None] & ((column + start)[None, :] < label[:, None])
            again = begin[:, None] + (column + start).to(tl.int64)[None, :] * column_stride
            score = tl.load(again, mask=earlier, other=0)
            if narrow:
                score = score.to(tl.float32)
            before += tl.sum((earlier & (score == true_score[:, None])).to(tl.int32), 1)
    tl.store(above + row, higher, mask=exists)
    tl.store(tied + row, equal - 1, mask=exists)
    tl.store(correct + row, highest & (before == 0), mask=exists)
    tl.store(wrong + row * 0, 1, mask=exists & (~in_range | (odd > 0)))
