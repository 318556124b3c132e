"""Merge equal rows of a table into one row with a count, so that memory stops growing if there are few distinct values.

The columns of a row are packed into one integer, which orders rows as their columns do. One count of these integers, or
one sort, finds the rows that are equal; unpacked, they come in ascending order, whatever order they came in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

import numpy as np

from .arrays import Array, array_namespace, concatenate, device_of, distinct_values, is_floating

_EQUAL = 8  # rows of a sample
_KEY_BITS = 62  # of a key
_COUNTED_BITS = 22  # of a key that is counted; one of more is sorted
_PACKED_ROWS = 1 << 20  # rows packed at a time, which fit a cache
_PACKED_ON_DEVICE = 1 << 28


def compact_table(state: Mapping[str, Any], columns: Sequence[str], counts: str = "counts") -> dict[str, Any]:
    """Merge equal rows of the table of these columns; `counts` names the column of their counts."""
    rows, total = compact_rows([state[name] for name in columns], state.get(counts))
    return {**state, **dict(zip(columns, rows)), counts: total}


def has_few_values(column: Array) -> bool:
    """Whether a column has integers, flags or 16-bit floats, including bfloat16 widened to float32."""
    low = 8 * column.dtype.itemsize - 16
    return not is_floating(column) or all(_are_zero(_patterns(part), low) for part in (column[:256], column))


def has_equal_rows(columns: Sequence[Array]) -> bool:
    """Whether a table seems to have enough equal rows to be worth counting, by a sample.

    Of n rows, 8·√n are looked at. If the rows were n/2 different ones, twice each, some 32 of these would equal another
    of them; fewer than 8 are too few. Where all rows are different, this takes a tenth of the time of a count.
    """
    number = columns[0].shape[0]
    size = 8 * math.isqrt(number)
    if size >= number or not isinstance(columns[0], np.ndarray):
        return True
    places = np.random.default_rng(0).choice(number, size, replace=False, shuffle=False)
    _, total = compact_rows([column[places] for column in columns])
    return bool(size - len(total) >= _EQUAL)


def compact_rows(columns: Sequence[Array], counts: Array | None = None) -> tuple[list[Array], Array]:
    """The distinct rows of a table in ascending order, and the number of samples that each stands for.

    Parameters: columns, (R,) numbers or flags each, without NaN; −0.0 becomes 0.0; counts (R,) int64, by default one.
    Returns the columns of (D,) different rows, in their types, and their (D,) counts.

    >>> import numpy as np
    >>> compact_rows([np.asarray([0.5, 0.25, 0.5]), np.asarray([True, True, True])])
    ([array([0.25, 0.5 ]), array([ True,  True])], array([1, 2]))
    """
    num_rows = columns[0].shape[0]
    block = _PACKED_ROWS if isinstance(columns[0], np.ndarray) else _PACKED_ON_DEVICE
    if num_rows <= block:
        return _compact_block(columns, counts)
    blocks: list[tuple[list[Array], Array]] = []
    for start in range(0, num_rows, block):
        cut = slice(start, start + block)
        blocks.append(_compact_block([c[cut] for c in columns], None if counts is None else counts[cut]))
        if 2 * blocks[0][1].shape[0] > block:  # few of its rows are equal
            return _compact_block(columns, counts)
    rows = [concatenate(parts) for parts in zip(*(rows for rows, _ in blocks))]
    return compact_rows(rows, concatenate([total for _, total in blocks]))


def rows_and_places(columns: Sequence[Array]) -> tuple[list[Array], Array, Array]:
    """The distinct rows of a table in ascending order, their counts, and the index of each row among them."""
    packed = reduce(_beside, map(_packed, columns))
    keys, total = _counted(packed.keys, packed.bits, None)
    return packed.rows(keys), total, array_namespace(keys).searchsorted(keys, packed.keys)


def _compact_block(columns: Sequence[Array], counts: Array | None) -> tuple[list[Array], Array]:
    if not columns[0].shape[0]:
        xp = array_namespace(columns[0])
        return [*columns], xp.zeros_like(columns[0], dtype=xp.int64)
    packed = reduce(_beside, map(_packed, columns))
    keys, total = _counted(packed.keys, packed.bits, counts)
    return packed.rows(keys), total


class _Packed(NamedTuple):
    """Rows as integers."""

    keys: Array  # (R,) int64 of at least 0, which order the rows
    bits: int  # that a key has at most
    rows: Callable[[Array], list[Array]]  # from keys back to the columns of their rows


def _packed(column: Array) -> _Packed:
    """Convert a column to integers, without the bits that all of them share."""
    xp = array_namespace(column)
    dtype = column.dtype
    order = _order(_patterns(column)) if is_floating(column) else xp.astype(column, xp.int64, copy=False)
    low = reduce(or_, order[:64].tolist())
    guess = (low & -low).bit_length() - 1 if low else 0
    shift = next(bits for bits in (guess, 45, 41, 29, 13, 12, 0) if bits <= guess and _are_zero(order, bits))
    order = order >> shift if shift else order

    def rows(order: Array) -> list[Array]:
        order = order << shift
        if not xp.isdtype(dtype, "real floating"):
            return [xp.astype(order, dtype)]
        return [_of_order(xp.astype(order, _integers(xp, dtype.itemsize))).view(dtype)]

    lowest, highest = int(xp.min(order)), int(xp.max(order))
    if highest - lowest >= 1 << _KEY_BITS:
        return _ranked(_Packed(order, 64, rows))
    keys = xp.astype(order, xp.int64, copy=False) - lowest
    return _Packed(keys, (highest - lowest).bit_length(), lambda k: rows(k + lowest))


def _beside(first: _Packed, second: _Packed) -> _Packed:
    """Join two tables side by side."""
    if first.bits + second.bits > _KEY_BITS:
        first = _ranked(first)
    if first.bits + second.bits > _KEY_BITS:
        second = _ranked(second)
    width, keys = second.bits, first.keys
    keys <<= width
    keys |= second.keys

    def rows(keys: Array) -> list[Array]:
        return first.rows(keys >> width) + second.rows(keys & ((1 << width) - 1))

    return _Packed(keys, first.bits + width, rows)


def _ranked(packed: _Packed) -> _Packed:
    """Replace keys by their ranks, which take the fewest bits."""
    xp = array_namespace(packed.keys)
    values = distinct_values(packed.keys)
    keys = xp.astype(xp.searchsorted(values, packed.keys), xp.int64, copy=False)
    return _Packed(keys, values.shape[0].bit_length(), lambda keys: packed.rows(values[keys]))


def _counted(keys: Array, bits: int, counts: Array | None) -> tuple[Array, Array]:
    """The distinct keys in ascending order, and the sum of counts of each."""
    xp = array_namespace(keys)
    if bits <= _COUNTED_BITS and 1 << bits <= 16 * keys.shape[0]:
        # float64 holds the sums of up to 2^53 samples
        weights = None if counts is None else xp.astype(counts, xp.float64)
        total = xp.astype(xp.bincount(keys, weights=weights), xp.int64, copy=False)
        values = xp.nonzero(total)[0]
        return values, total[values]
    if counts is None:
        keys, running = xp.sort(keys), xp.arange(1, keys.shape[0] + 1, device=device_of(keys))
    else:
        order = xp.argsort(keys, stable=True)
        keys, running = keys[order], xp.cumulative_sum(counts[order])
    last = xp.nonzero(xp.concat([keys[1:] != keys[:-1], xp.ones_like(keys[:1], dtype=xp.bool)]))[0]
    return keys[last], xp.diff(running[last], prepend=xp.zeros_like(running[:1]))


def _patterns(column: Array) -> Array:
    """The bits of floats, as integers."""
    return column.view(_integers(array_namespace(column), column.dtype.itemsize))


def _integers(xp: Any, size: int) -> Any:
    return {2: xp.int16, 4: xp.int32, 8: xp.int64}[size]


def _order(patterns: Array) -> Array:
    """Map bit patterns to integers that sort like the floats: signed magnitudes, so that −0.0 is 0.0.

    Low bits that are zero in all patterns are zero here too, below zero as above.
    """
    sign = patterns >> (8 * patterns.dtype.itemsize - 1)
    return (patterns ^ (sign & _magnitude(patterns))) - sign


def _of_order(order: Array) -> Array:
    """The bit patterns of integers from `_order`."""
    sign = order >> (8 * order.dtype.itemsize - 1)
    return (order + sign) ^ (sign & _magnitude(order))


def _magnitude(patterns: Array) -> int:
    return (1 << (8 * patterns.dtype.itemsize - 1)) - 1


def _are_zero(integers: Array, bits: int) -> bool:
    """Whether the lowest bits of all integers are zero."""
    return not bits or not bool(array_namespace(integers).any(integers & ((1 << bits) - 1)))
