"""The first screen of a report: three numbers, and which of two models is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from .blocks import region
from .values import interval, number, signed

_ARROWS = {
    True: '<span class="way" title="higher is better">↑</span>',
    False: '<span class="way" title="lower is better">↓</span>',
    None: "",
}
_ROWS = 8  # of a comparison on the first screen; the others are among all numbers


class Figure(NamedTuple):
    """A number of the headline: its key, value and interval, whether higher is better, and a short explanation."""

    key: str
    value: float | None
    low: float | None = None
    high: float | None = None
    higher: bool | None = None
    words: str = ""


def headline(
    figures: Sequence[Figure],
    names: Sequence[str] = (),
    table: Mapping[str, Sequence[Any]] | None = None,
    higher: Mapping[str, bool | None] = {},
    note: str = "",
    hint: str = "",
) -> str:
    """The numbers as cards; with a comparison, also which of the two models is better, and a row for each key.

    Parameters: figures, at most three; names of the two models; table of `compare` (of one with groups, the means);
    higher, for its keys, whether higher is better, None for those that are not shown, since neither way is; note, what
    the comparison is of, such as "mean of 2 categories"; hint, a sentence below the cards, such as why there are no
    intervals.
    """
    cards = "".join(map(_card, figures))
    rows = [] if table is None else _rows(table)
    rows = [row for row in rows if higher.get(row.key, True) is not None]
    compared = _compared(figures[0].key, names, rows, higher, note) if rows else ""
    below = f'<p class="small quiet whole">{escape(hint)}</p>' if hint else ""
    return f'<section class="hero" aria-label="Headline">{cards}{below}{compared}</section>'


def _card(figure: Figure) -> str:
    ends = ""
    if figure.low is not None and figure.high is not None:
        ends = f' <span class="ci">{interval(figure.low, figure.high)}</span>'
    return (
        f'<div class="card"><h2>{escape(figure.key)} {_ARROWS[figure.higher]}</h2>'
        f'<p class="big">{number(figure.value)}{ends}</p><p class="plain">{escape(figure.words)}</p></div>'
    )


class _Row(NamedTuple):
    key: str
    first: float
    second: float
    difference: float
    low: float
    high: float
    better: str | None


def _rows(table: Mapping[str, Sequence[Any]]) -> list[_Row]:
    columns = [table[name] for name in _Row._fields]
    groups = table.get("group", [None] * len(columns[0]))
    return [_Row(*row) for group, row in zip(groups, zip(*columns)) if group is None]


def _compared(
    first_key: str, names: Sequence[str], rows: Sequence[_Row], higher: Mapping[str, bool | None], note: str
) -> str:
    rows = sorted(rows, key=lambda row: row.key != first_key)
    shown = rows[:_ROWS]
    one, other = map(escape, names)
    said = _verdict(shown[0], one, other)
    ends = f"{signed(shown[0].difference)} {interval(shown[0].low, shown[0].high)}"
    better = [sum(row.better == side for row in rows) for side in ("first", "second")]
    counted = f"{one} is better in {better[0]}, {other} in {better[1]} of {len(rows)} numbers" if len(rows) > 1 else ""
    notes = ". ".join(filter(None, [counted, escape(note[:1].upper() + note[1:])]))
    scale = _Scale([row for row in shown if _is_share(row)])
    head = (
        f"<thead><tr><td></td><th>{one}</th><th>{other}</th><th>difference</th>"
        f'<th class="forest">{scale.head()}</th>'
        '<th class="words"><span class="visually">in words</span></th></tr></thead>'
    )
    body = "".join(_line(row, one, other, scale, higher.get(row.key)) for row in shown)
    return (
        f'<div class="card ab"><p class="say"><b>{one} vs {other}:</b> {escape(shown[0].key)} {ends}, <b>{said}</b></p>'
        f'<p class="small quiet">{notes}</p>'
        + region(f"<table>{head}<tbody>{body}</tbody></table>", f"{' and '.join(names)}, compared", "scrollx")
        + "</div>"
    )


def _verdict(row: _Row, one: str, other: str) -> str:
    return "no clear difference" if row.better is None else f"{one if row.better == 'first' else other} is better"


def _line(row: _Row, one: str, other: str, scale: _Scale, higher: bool | None) -> str:
    said = _verdict(row, one, other)
    drawn = scale.drawn(row) if _is_share(row) else ""
    return (
        f'<tr><th scope="row">{escape(row.key)} {_ARROWS[higher]}</th><td>{number(row.first)}</td>'
        f'<td>{number(row.second)}</td><td>{signed(row.difference)} <span class="ci hide-small">'
        f'{interval(row.low, row.high)}</span><span class="show-small">{said}</span></td>'
        f'<td class="forest">{drawn}</td><td class="words">{said}</td></tr>'
    )


def _is_share(row: _Row) -> bool:
    """Whether a row compares rates; counts would need another scale."""
    return max(abs(row.low), abs(row.high), abs(row.difference)) <= 1


class _Scale:
    """The axis of the differences, which includes 0 and all intervals, with a margin."""

    def __init__(self, rows: Sequence[_Row]) -> None:
        self.low = min([0.0, *(row.low for row in rows)])
        self.high = max([0.0, *(row.high for row in rows)])

    def at(self, value: float) -> float:
        width = self.high - self.low
        return 50.0 if not width else 4 + 92 * (value - self.low) / width

    def head(self) -> str:
        """The labels of the axis's ends and 0, without an end that would touch 0."""
        apart = (self.high - self.low) / 5
        ends = [0.0, *(end for end in (self.low, self.high) if abs(end) > apart)]
        said = "".join(f'<span style="left:{self.at(end):.1f}%">{_short(end)}</span>' for end in ends)
        return f'<span class="ends">{said}</span>'

    def drawn(self, row: _Row) -> str:
        low, value, high, zero = (f"{self.at(x):.1f}" for x in (row.low, row.difference, row.high, 0.0))
        return (
            '<svg viewBox="0 0 100 22" preserveAspectRatio="none" aria-hidden="true">'
            f'<line class="zero" x1="{zero}" x2="{zero}" y1="-2" y2="24"/>'
            f'<line class="reach" x1="{low}" x2="{high}" y1="11" y2="11"/>'
            f'<line class="middle" x1="{value}" x2="{value}" y1="5" y2="17"/></svg>'
        )


def _short(value: float) -> str:
    return f"{value:+.{2 if abs(value) < 100 else 3}g}".replace("-", "−") if value else "0"
