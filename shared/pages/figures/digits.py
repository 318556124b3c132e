"""Numbers as they are shown."""

from __future__ import annotations

import math


def short(value: float) -> str:
    """A number with three decimals, an integer with none; what would read as 0 or be long is in powers of ten.

    >>> short(3), short(0.66666), short(1.0), short(1e-7), short(float("inf"))
    ('3', '0.667', '1.000', '1.00e-07', 'inf')
    """
    if isinstance(value, int) or not math.isfinite(value):
        return str(value)
    return f"{value:.2e}" if value and not 5e-4 <= abs(value) < 1e6 else f"{value:.3f}"
