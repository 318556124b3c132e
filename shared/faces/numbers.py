"""Numbers as text on faces, rounded once, with a true minus sign where they are read."""

from __future__ import annotations

from typing import Any

from ..metric.numbers import interval_text, number_text, signed_text


def number(value: Any, digits: int | None = None) -> str:
    """A number as text: integers in full, others with three decimals, or more where 0 or 1 would be false.

    >>> number(0.70449), number(1.0), number(0.99968), number(1291), number(-0.5), number(5.36e-9), number(None)
    ('0.704', '1.000', '0.9997', '1,291', '−0.500', '5.36e−09', '–')
    """
    if isinstance(value, str):
        return value
    return typographic(f"{value:,}" if isinstance(value, int) else number_text(value, digits))


def signed(value: float) -> str:
    """A difference as text, with its sign.

    >>> signed(0.25), signed(-0.0125), signed(0.0), signed(3)
    ('+0.250', '−0.013', '0.000', '+3')
    """
    return typographic(signed_text(value))


def interval(ends: tuple[float, float] | None, digits: int | None = None) -> str:
    """The ends of an interval; "" without them.

    >>> interval((-0.019, 0.025)), interval(None)
    ('[−0.019, 0.025]', '')
    """
    return "" if ends is None else typographic(interval_text(*ends, digits))


def typographic(text: str) -> str:
    """A text of numbers with minus signs for hyphens, as people read it; what is copied keeps its hyphens."""
    return text.replace("-", "−")


def threshold_shown(text: str) -> str:
    """The text of a threshold as it is read.

    >>> threshold_shown("-0.394"), threshold_shown("-inf")
    ('−0.394', '−∞')
    """
    return typographic(text).replace("inf", "∞")


def percent(count: int, total: int) -> str:
    """A fraction in whole percent; "<1 %" and ">99 %" where 0 or 100 would be false.

    >>> percent(191, 280), percent(1, 1000), percent(999, 1000), percent(0, 5), percent(0, 0)
    ('68 %', '<1 %', '>99 %', '0 %', '–')
    """
    if not total:
        return "–"
    share = round(100 * count / total)
    if share == 0 and count:
        return "<1 %"
    return ">99 %" if share == 100 and count < total else f"{share} %"
