"""Numbers as short text."""

from __future__ import annotations

import math

from ...formats.written.decimals import decimal_text

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
    texts = [decimal_text(share, digits, percent=True) for digits in range(1, 13)]
    return next((text for text in texts if share in (0, 1) or float(text) not in (0, 100)), texts[-1])
