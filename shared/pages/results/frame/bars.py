"""Bars divided into parts, such as the fates of objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

from .blocks import keys_html
from .values import percent

_CHARACTER = 0.03  # fraction of a bar that has room for a character


class Part(NamedTuple):
    """A part of a bar: its name, its count, and its colour, a token."""

    name: str
    number: int
    color: str


def stacked_bars(bars: Mapping[str, Sequence[Part]], *, unit: str, keys: bool = True, thin: bool = False) -> str:
    """A bar for each name, with counts in its parts, and a legend of the colours below.

    Parameters: bars, the parts of each in the same order; unit, what is counted, such as "unknown objects"; keys,
    whether there is a key, with shares of the first bar; thin, for bars without numbers.
    """
    drawn = [_bar(name, parts, unit, thin) for name, parts in bars.items()]
    first = next(iter(bars.values()), ())
    total = sum(part.number for part in first)
    names = {part.name: part.color for parts in bars.values() for part in parts}
    counts = {part.name: part.number for part in first}
    legend = [(color, name, percent(counts.get(name, 0), total)) for name, color in names.items()]
    return "".join(drawn) + (keys_html(legend) if keys else "")


def share_bar(name: str, note: str, parts: Sequence[Part]) -> str:
    """A thin bar with a name and a note above it, such as "7 of 8 found"; its parts have titles and no numbers."""
    return _drawn(name, note, parts, thin=True)


def _bar(name: str, parts: Sequence[Part], unit: str, thin: bool) -> str:
    return _drawn(name, f"{sum(part.number for part in parts):,} {unit}", parts, thin)


def _legible(text: str, share: float) -> str:
    """A text, if a part of a bar has room for it."""
    return text if share >= _CHARACTER * (1 + len(text)) else ""


def _drawn(name: str, note: str, parts: Sequence[Part], thin: bool) -> str:
    total = sum(part.number for part in parts)
    said = ", ".join(f"{part.name} {part.number:,}" for part in parts)
    drawn = "".join(
        f'<i class="{part.color}" style="flex:{part.number} 1 0"'
        f' title="{escape(part.name)}: {part.number:,} of {total:,}">'
        f"{'' if thin else _legible(f'{part.number:,}', part.number / total)}</i>"
        for part in parts
        if part.number
    )
    head = f'<p><b>{escape(name)}</b><span class="quiet">{escape(note)}</span></p>'
    label = escape(f"{name}: {said}")
    bar = f'<div class="bar2{" thin" if thin else ""}" role="img" aria-label="{label}">{drawn}</div>'
    return f'<div class="stack">{head}{bar}</div>'
