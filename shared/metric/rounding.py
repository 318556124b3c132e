"""Numbers as text, rounded once: short ones for people, and exact decimals for tables."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

DIGITS = 3  # decimals of a short text; two in percent
_MOST = 17  # decimals
TOO_FEW = "too few resamples"  # in place of the interval of a difference whose level needs more


def number_text(value: Any, digits: int | None = None, *, percent: bool = False) -> str:
    """A number with `digits` decimals, three by default; of a share in percent, two.

    It has more decimals where these would wrongly read 0 or 1, or 0 or 100 in percent. Numbers far below the last
    decimal, and of a million or more, have an exponent. Integers have no decimals. None and NaN are a dash, a
    list its numbers, and text unchanged.

    >>> number_text(0.70449), number_text(1.0), number_text(0.99968), number_text(0.000246), number_text(1e-7)
    ('0.704', '1.000', '0.9997', '0.00025', '1.00e-07')
    >>> number_text(0.66666, percent=True), number_text(0.99997, percent=True), number_text([3, 0.5]), number_text(None)
    ('66.67', '99.997', '3, 0.500', '–')
    """
    if isinstance(value, (list, tuple)):
        return ", ".join(number_text(each, digits, percent=percent) for each in value)
    if not isinstance(value, float):
        return "–" if value is None else str(value)
    if not math.isfinite(value):
        return "–" if math.isnan(value) else str(value)
    if digits is None:
        digits = 2 if percent else DIGITS
    size = abs(value)
    if not percent and size:
        if size >= 1e6 or size < 10.0 ** -(digits + 2):
            return f"{value:.{max(2, digits - 1) if size > 1 else 2}e}"
        if size < 0.5 * 10.0**-digits:  # two significant digits
            digits += 2 if size >= 10.0 ** -(digits + 1) else 3
    text = decimal_text(value, digits, percent=percent)
    while size not in (0, 1) and digits < _MOST and abs(float(text)) in (0, 100 if percent else 1):
        digits += 1
        text = decimal_text(value, digits, percent=percent)
    return text


def signed_text(value: float, digits: int | None = None, *, percent: bool = False) -> str:
    """A difference with its sign; in percent, it is in percentage points.

    >>> signed_text(0.25), signed_text(-0.0125), signed_text(0.0), signed_text(-0.0125, percent=True)
    ('+0.250', '-0.013', '0.000', '-1.25')
    """
    return f"{'+' if value > 0 else ''}{number_text(value, digits, percent=percent)}"


def interval_text(low: float, high: float, digits: int | None = None, *, percent: bool = False) -> str:
    """The ends of an interval; a difference has infinite ends where there are too few resamples for its level.

    >>> interval_text(-0.019, 0.025), interval_text(-0.019, 0.025, percent=True), interval_text(-math.inf, math.inf)
    ('[-0.019, 0.025]', '[-1.90, 2.50]', 'too few resamples')
    """
    if (low, high) == (-math.inf, math.inf):
        return TOO_FEW
    return f"[{number_text(low, digits, percent=percent)}, {number_text(high, digits, percent=percent)}]"


def score_text(score: float, digits: int = DIGITS) -> str:
    """A score with `digits` significant digits, and its whole part in full up to a million.

    >>> score_text(1412.7), score_text(-14), score_text(0.30004), score_text(2e6), score_text(1e-9)
    ('1413', '-14', '0.3', '2e+06', '1e-09')
    """
    return f"{score:.0f}" if 10**digits <= abs(score) < 1e6 else f"{score:.{digits}g}"


def decimal_text(value: float | Fraction, digits: int | None, *, percent: bool = False) -> str:
    """A number, times 100 in percent, with `digits` decimals; with None, all that its shortest text has.

    The text is the nearest decimal of the exact number, half to even. A float is the binary fraction that it holds:
    that of 0.00065 is a little lower, and so 0.06 %.

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


def percent_text(count: int, total: int) -> str:
    """A share in whole percent; "<1 %" and ">99 %" where 0 or 100 would be false, and a dash for a share of nothing.

    >>> percent_text(191, 280), percent_text(1, 1000), percent_text(999, 1000), percent_text(0, 5), percent_text(0, 0)
    ('68 %', '<1 %', '>99 %', '0 %', '–')
    """
    if not total:
        return "–"
    share = round(100 * count / total)
    if share == 0 and count:
        return "<1 %"
    return ">99 %" if share == 100 and count < total else f"{share} %"


def arrow(higher: bool | None) -> str:
    """The arrow of a direction; "" if there is none.

    >>> arrow(True), arrow(False), arrow(None)
    ('↑', '↓', '')
    """
    return "" if higher is None else "↑" if higher else "↓"


def with_arrow(key: str, higher: bool | None) -> str:
    """A key and the arrow of its direction.

    >>> with_arrow("auroc", True), with_arrow("total", None)
    ('auroc ↑', 'total')
    """
    return f"{key} {arrow(higher)}".rstrip()
