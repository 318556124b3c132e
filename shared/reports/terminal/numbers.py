"""Format numbers for a terminal: as in reports, but in ASCII, so that they can be copied and pasted as input."""

from __future__ import annotations

from typing import Any

from ...formats.written.decimals import decimal_text
from ..frame import values


def number(value: Any) -> str:
    """A number with three decimals, or more where 0 or 1 would be false; text is unchanged.

    >>> number(0.70449), number(-0.5), number(1291), number(None), number([1, 0.25])
    ('0.704', '-0.500', '1291', '–', '1, 0.250')
    """
    if isinstance(value, (list, tuple)):
        return ", ".join(map(number, value))
    if value is None or isinstance(value, float):
        return values.number(value).replace("−", "-").replace(",", "")
    return str(value)


def rate(value: float, percent: bool) -> str:
    """A rate with three decimals, or in percent with two.

    >>> rate(0.70449, False), rate(0.70449, True)
    ('0.704', '70.45')
    """
    return decimal_text(value, 2, percent=True) if percent else number(value)


def signed(value: float, percent: bool = False) -> str:
    """A difference with its sign; with `percent`, in percentage points.

    >>> signed(0.25), signed(-0.0125), signed(0.0), signed(-0.0125, True), signed(0.0, True)
    ('+0.250', '-0.013', '0.000', '-1.25', '0.00')
    """
    if percent:
        text = decimal_text(value, 2, percent=True)
        return f"+{text}" if value > 0 else text
    return values.signed(value).replace("−", "-")


def interval(low: float, high: float, percent: bool = False) -> str:
    """The ends of an interval.

    >>> interval(-0.019, 0.025), interval(-0.019, 0.025, True)
    ('[-0.019, 0.025]', '[-1.90, 2.50]')
    """
    return f"[{rate(low, percent)}, {rate(high, percent)}]"


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
