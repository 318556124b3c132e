"""One number as HTML: as short as it is read, with all its digits a press away, and the way that is better."""

from __future__ import annotations

import html
from typing import Any

from ..figures.digits import short

MAX_CURVE = 5  # values of a list that are shown
_COPY = '<button type="button" class="number" data-do="whole" aria-description="Copy all digits">{}</button>'


def number_html(value: Any, *, share: bool = False, shown: str | None = None) -> str:
    """A number with three decimals, or as it is `shown`; pressed, it is copied whole. Of a list, the first ones.

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
    return _copyable(value, shown or short(value), "rate" if share and 0 <= value <= 1 else "")


def difference_html(value: float, *, share: bool = False, unit: bool = False) -> str:
    """A difference with its sign, which in percent are points; `unit`, whether it then says so."""
    kind = ("rate difference points" if unit else "rate difference") if share else "difference"
    return _copyable(value, signed(value), kind)


def signed(value: float) -> str:
    """A difference with its sign.

    >>> signed(0.0031), signed(-0.02)
    ('+0.003', '−0.020')
    """
    return f"{'−' if value < 0 else '+'}{short(abs(value))}"


def moving_html(name: str, value: float, *, share: bool) -> str:
    """A number that moves with the slider, always to be copied; page.js finds it by its name."""
    data = f'data-rate="{html.escape(name)}" data-full="{float(value)!r}"'
    return _COPY.format(f"<span{' class=rate' if share else ''} {data}>{short(value)}</span>")


def _copyable(value: float, text: str, kind: str) -> str:
    """The number, as a button where fewer digits are shown than it has."""
    full = repr(float(value) if isinstance(value, float) else value)
    of_kind = f' class="{kind}"' if kind else ""
    number = f'<span{of_kind} title="{full}" data-full="{full}">{text}</span>'
    is_whole = text == full or float(text.replace("−", "-")) == value
    return number if is_whole else _COPY.format(number)


def way(higher: bool | None) -> str:
    """An arrow in the direction that is better, if there is one."""
    if higher is None:
        return ""
    words = "higher is better" if higher else "lower is better"
    return f' <i class="way" role="img" aria-label="{words}" title="{words}">{"↑" if higher else "↓"}</i>'


def save_rows(file: str, words: str = "CSV") -> str:
    """A button that saves the tables of the fold around it as .csv, with all digits."""
    return f'<div class="switch"><button type="button" data-do="rows" data-file="{file}">{words}</button></div>'
