"""Numbers as short text."""

from __future__ import annotations

import math

import numpy as np

MAX_PLACES = 17


def short(value: float) -> str:
    """Format a number with three decimals, an integer with none; more decimals where three would wrongly read 0 or 1.

    >>> short(3), short(0.66666), short(1.0), short(0.000246), short(1e-7), short(0.99987), short(float("inf"))
    ('3', '0.667', '1.000', '0.00025', '1.00e-07', '0.9999', 'inf')
    """
    if isinstance(value, int) or not math.isfinite(value):
        return str(value)
    if value and not 1e-5 <= abs(value) < 1e6:
        return f"{value:.2e}"
    if 0 < abs(value) < 5e-4:
        return f"{value:.{5 if abs(value) >= 1e-4 else 6}f}"
    texts = (f"{value:.{digits}f}" for digits in range(3, MAX_PLACES))
    return next((text for text in texts if abs(float(text)) != 1 or abs(value) == 1), repr(value))


def percentage(share: float) -> str:
    """Format a share in percent with one decimal; more decimals where one would wrongly read 0 or 100.

    >>> percentage(0.66666), percentage(1.0), percentage(0.9997), percentage(0.0), percentage(0.0001)
    ('66.7', '100.0', '99.97', '0.0', '0.01')
    """
    texts = (f"{100 * share:.{digits}f}" for digits in range(1, 13))
    return next((text for text in texts if share in (0, 1) or float(text) not in (0, 100)), f"{100 * share:.12f}")


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
