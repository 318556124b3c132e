"""Numbers as short text."""

from __future__ import annotations

import math

import numpy as np

MAX_PLACES = 17


def short(value: float) -> str:
    """Format a number with three decimals, an integer with none; more decimals where three would wrongly read 0 or 1.

    >>> short(3), short(0.66666), short(1.0), short(1e-7), short(0.99987), short(float("inf"))
    ('3', '0.667', '1.000', '1.00e-07', '0.9999', 'inf')
    """
    if isinstance(value, int) or not math.isfinite(value):
        return str(value)
    if value and not 5e-4 <= abs(value) < 1e6:
        return f"{value:.2e}"
    texts = (f"{value:.{digits}f}" for digits in range(3, MAX_PLACES))
    return next((text for text in texts if abs(float(text)) != 1 or abs(value) == 1), repr(value))


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
