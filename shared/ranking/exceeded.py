"""Thresholds that a score of the data exceeds, for decisions score > threshold."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..arrays.arrays import array_namespace, device_of
from .counts import Side


def exceeded_threshold(score: float | None, sides: Sequence[Side]) -> float:
    """The threshold t that exactly the samples of this score and of higher ones exceed.

    It is the next lower score of all sides, or −inf below all, so it decides alike in every precision. It is inf for
    None, which detects nothing, and NaN for a score of −inf, which exceeds no t.
    """
    if score is None:
        return math.inf
    if score == -math.inf:
        return math.nan
    lower = [-math.inf]
    for scores, *_ in sides:
        xp = array_namespace(scores)
        at = xp.asarray([score], dtype=scores.dtype, device=device_of(scores))  # a score of either: their type holds it
        lower += scores[: int(xp.searchsorted(scores, at, side="left")[0])][-1:].tolist()
    return max(lower) + 0.0  # 0.0 for −0.0
