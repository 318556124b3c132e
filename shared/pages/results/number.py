"""A number as HTML: rounded, with a button that copies all digits, and an arrow in its better direction."""

from __future__ import annotations

import html
from typing import Any

from ...metric.numbers import number_text

MAX_CURVE = 5  # the most values of a list that are shown
_COPY = '<button type="button" class="number" data-do="whole" aria-description="Copy all digits">{}</button>'


def number_html(value: Any, *, share: bool = False, shown: str | None = None) -> str:
    """A number with three decimals, or the text `shown`; a press copies all digits. For a list, its first numbers.

    >>> number_html(0.25)
    '<span title="0.25" data-full="0.25">0.250</span>'
    """
    if isinstance(value, list):
        more = f" and {len(value) - MAX_CURVE:,} more" if len(value) > MAX_CURVE else ""
        return ", ".join(number_html(item, share=share) for item in value[:MAX_CURVE]) + more
    if isinstance(value, str):
        return html.escape(value)
    if value is None:
        return "–"
    return _copyable(value, shown or number_text(value), "rate" if share and 0 <= value <= 1 else "")


def difference_html(value: float, *, share: bool = False, unit: bool = False) -> str:
    """A difference with its sign; in percent, it is in percentage points, which `unit` adds to the text."""
    kind = ("rate difference points" if unit else "rate difference") if share else "difference"
    return _copyable(value, signed(value), kind)


def signed(value: float) -> str:
    """A difference with its sign.

    >>> signed(0.0031), signed(-0.02)
    ('+0.003', '−0.020')
    """
    return f"{'−' if value < 0 else '+'}{number_text(abs(value))}"


def moving_html(name: str, value: float, *, share: bool) -> str:
    """A number that changes with the slider, always with a copy button; page.js finds it by name."""
    data = f'data-rate="{html.escape(name)}" data-full="{float(value)!r}"'
    return _COPY.format(f"<span{' class=rate' if share else ''} {data}>{number_text(value)}</span>")


def _copyable(value: float, text: str, kind: str) -> str:
    """The number, as a button if the text shows fewer digits than it has."""
    full = repr(float(value) if isinstance(value, float) else value)
    of_kind = f' class="{kind}"' if kind else ""
    number = f'<span{of_kind} title="{full}" data-full="{full}">{text}</span>'
    is_whole = text == full or float(text.replace("−", "-")) == value
    return number if is_whole else _COPY.format(number)


def way(higher: bool | None) -> str:
    """An arrow in the better direction, if there is one."""
    if higher is None:
        return ""
    words = "higher is better" if higher else "lower is better"
    return f' <i class="way" role="img" aria-label="{words}" title="{words}">{"↑" if higher else "↓"}</i>'


def save_rows(file: str, words: str = "CSV") -> str:
    """A button that saves the tables of the section around it as CSV, with all digits."""
    return f'<div class="switch"><button type="button" data-do="rows" data-file="{file}">{words}</button></div>'
