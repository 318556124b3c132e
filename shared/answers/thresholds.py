"""Thresholds as short text that makes the same decisions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

MAX_PLACES = 17


def shown_threshold(threshold: float, sides: Iterable[Any]) -> str:
    """The shortest decimal that makes the same decision for every score, with a true minus sign.

    It is at least the threshold, and below the next higher score. Parameters: threshold, a number or ±inf; sides,
    arrays of scores in any order.

    >>> shown_threshold(1 / 3, [np.asarray([0.9, 0.5]), np.asarray([1 / 3, 0.1])]), shown_threshold(-math.inf, [])
    ('0.4', '−∞')
    """
    if math.isinf(threshold):
        return "∞" if threshold > 0 else "−∞"
    scores = [np.asarray(side, np.float64) for side in sides]
    higher = (float(side.min(initial=math.inf, where=side > threshold)) for side in scores)
    return plain_threshold(threshold, min(higher, default=math.inf)).replace("-", "−")


def plain_threshold(low: float, high: float, *, single: bool = False) -> str:
    """The shortest decimal t with low ≤ t < high; if no score lies between them, it makes the same decisions as `low`.

    Parameters: low, finite or −inf (then any t below `high` will do); high, above low; single, whether scores are
    float32: then t rounded to float32 has to make the same decisions.

    >>> plain_threshold(0.3912, 0.3953), plain_threshold(-1.1827, -1.18), plain_threshold(0.1, 0.1 + 1e-12)
    ('0.392', '-1.182', '0.1')
    """
    if low == -math.inf:
        low = _below(high)
    numerator, denominator = low.as_integer_ratio()
    for places in range(MAX_PLACES):
        whole = -(-numerator * 10**places // denominator)  # rounded up, since the float below may print as `low` itself
        for text in (_decimal(whole - 1, places), _decimal(whole, places)):
            values = [float(text), *([float(np.float32(float(text)))] if single else [])]
            if len(text) <= MAX_PLACES and all(low <= value < high for value in values):
                return text
    return repr(low)


def _below(high: float) -> float:
    """A number slightly below `high`."""
    return -1.0 if not math.isfinite(high) else high - max(abs(high) / 10, 1e-6)


def _decimal(whole: int, places: int) -> str:
    digits = f"{abs(whole):0{places + 1}d}"
    text = f"{digits[:-places]}.{digits[-places:]}" if places else digits
    return f"{'-' if whole < 0 else ''}{text}"
