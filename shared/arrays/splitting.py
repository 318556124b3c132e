"""Split values by a mask, into the chosen ones and the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import Array, is_numpy_array
from .compiled import worth_compiling

_SPLIT = 1 << 17  # values whose indices are held at a time


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
    """Copy the values to `chosen` where the mask is true and to `others` where it is false, in their order."""
    i, j = 0, 0
    for k in range(values.size):
        # written to both sides, and kept on one of them, without a branch that would be mispredicted
        if i < chosen.size:
            chosen[i] = values[k]
        if j < others.size:
            others[j] = values[k]
        i += mask[k]
        j += not mask[k]
