"""Numbers as decimal text, rounded once: the nearest decimal of the exact number, half to even, also in percent."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction


def decimal_text(value: float | Fraction, digits: int | None, *, percent: bool = False) -> str:
    """A number, times 100 in percent, with `digits` decimals; with None, all that its shortest text has.

    A float is the binary fraction that it holds: that of 0.00065 is a little lower, and so 0.06 %.

    >>> decimal_text(0.00065, 2, percent=True), decimal_text(0.125, 2), decimal_text(-0.001, 2), decimal_text(2.5, 0)
    ('0.06', '0.12', '-0.00', '2')
    >>> decimal_text(0.085, None, percent=True), decimal_text(0.085, None), decimal_text(math.inf, 2)
    ('8.5', '0.085', 'inf')
    """
    if not math.isfinite(value):
        return str(value)
    if digits is None:
        return f"{Decimal(repr(value)).scaleb(2):f}" if percent else repr(value)
    rounded = round(Fraction(value) * (100 if percent else 1) * 10**digits)
    text = f"{abs(rounded):0{digits + 1}d}"
    whole, decimals = text[: len(text) - digits], text[len(text) - digits :]
    return f"{'-' if value < 0 else ''}{whole}{'.' if digits else ''}{decimals}"
