"""Find a score by its rank among more scores than fit in memory, exactly, digit by digit of its bit pattern.

Each pass over the scores counts the next 16 bits of those that share the digits before: two passes for float32, four
for float64, and 65,536 counts however many scores there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

_DIGIT = 16
_UNSIGNED = {np.dtype(np.float32): np.uint32, np.dtype(np.float64): np.uint64}


def highest_by_rank(chunks: Iterable[np.ndarray], rank: Callable[[int], int]) -> float:
    """The score with a rank in descending order, 0 being the highest.

    Parameters: chunks, arrays of float32 or float64 of any shape, without NaN, that can be iterated over several times;
    rank, a function of the number of scores.
    Returns a float, 0.0 for −0.0. Raises ValueError if there are no scores.

    >>> highest_by_rank([np.asarray([0.1, 0.4]), np.asarray([-0.2])], lambda total: total - 1)
    -0.2
    """
    score = _search(chunks, rank, np.dtype(np.float32))
    return score if score is not None else float(_search(chunks, rank, np.dtype(np.float64)) or 0.0)


def _search(chunks: Iterable[np.ndarray], rank: Callable[[int], int], dtype: np.dtype) -> float | None:
    """As `highest_by_rank`; None where this type is too narrow."""
    bits = 8 * dtype.itemsize
    prefix, above = 0, None
    for shift in range(bits - _DIGIT, -1, -_DIGIT):
        counts = np.zeros(1 << _DIGIT, dtype=np.int64)
        for chunk in chunks:
            if chunk.dtype.itemsize > dtype.itemsize:
                return None
            keys = _keys(chunk, dtype)
            if above is not None:
                keys = keys[keys >> (shift + _DIGIT) == prefix]
            counts += np.bincount((keys >> shift).astype(np.uint16), minlength=1 << _DIGIT)
        reached = np.cumsum(counts[::-1])
        if above is None:
            if not reached[-1]:
                raise ValueError("scores: expected at least one, got none")
            above = rank(int(reached[-1]))
        at = int(np.searchsorted(reached, above, side="right"))
        above -= int(reached[at - 1]) if at else 0
        prefix = prefix << _DIGIT | (len(counts) - 1 - at)
    return _score(prefix, dtype)


def _keys(scores: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Unsigned integers in the order of the scores: all bits of negative floats are flipped, and the sign bit of
    others.
    """
    patterns = (scores.astype(dtype).reshape(-1) + dtype.type(0)).view(_UNSIGNED[dtype])  # 0.0 for −0.0
    sign = patterns.dtype.type(1 << (8 * dtype.itemsize - 1))
    return np.where(patterns & sign, ~patterns, patterns | sign)


def _score(key: int, dtype: np.dtype) -> float:
    sign = 1 << (8 * dtype.itemsize - 1)
    pattern = key ^ sign if key & sign else key ^ (2 * sign - 1)
    return float(np.asarray(pattern, dtype=_UNSIGNED[dtype]).view(dtype))
