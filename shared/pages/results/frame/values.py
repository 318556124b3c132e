"""Numbers in reports: the texts of `metric/numbers.py` with a minus sign, thousands apart."""

from __future__ import annotations

from ....metric.numbers import interval_text, number_text, signed_text


def number(value: float | None, digits: int | None = None) -> str:
    """A number as text: integers in full, others with three decimals, or more where 0 or 1 would be false.

    >>> number(0.70449), number(1.0), number(0.99968), number(1291), number(-0.5), number(5.36e-9), number(None)
    ('0.704', '1.000', '0.9997', '1,291', '−0.500', '5.36e−09', '–')
    """
    return typographic(f"{value:,}" if isinstance(value, int) else number_text(value, digits))


def signed(value: float) -> str:
    """A difference as text, with its sign.

    >>> signed(0.25), signed(-0.0125), signed(0.0), signed(3)
    ('+0.250', '−0.013', '0.000', '+3')
    """
    return typographic(signed_text(value))


def interval(low: float, high: float, digits: int | None = None) -> str:
    """The ends of an interval.

    >>> interval(-0.019, 0.025)
    '[−0.019, 0.025]'
    """
    return typographic(interval_text(low, high, digits))


def typographic(text: str) -> str:
    """A text of numbers with minus signs for hyphens, as reports and pages print it."""
    return text.replace("-", "−")


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
