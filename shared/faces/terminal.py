"""Results on a terminal, laid out by rich: a row for each metric, main numbers bold, details dim.

Every function returns text: plain, or in colour for a terminal that has them. A table may be wider than the terminal,
since no number is cut; what can be left out or put below is.
"""

from __future__ import annotations

import io
import math
import os
import re
import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from textwrap import fill
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any, TextIO

from ..answers.answer import NO_DIFFERENCE, Difference, Number
from ..extras import extra
from ..metric.results import Count, Rate, Summary
from ..metric.rounding import arrow, interval_text, number_text, score_text, signed_text, with_arrow
from ..written.results import direction_of

if TYPE_CHECKING:
    from rich.text import Text

Cell = Any  # a text, plain or with styles, or several that stand beside each other
WIDEST = 116  # characters of a line
_TWO = ("first", "second")  # models, where their names take too much of a line
_UNCLEAR = "unclear"  # for NO_DIFFERENCE, where the terminal is narrow
_ROWS = 20  # the most rows of a table to show
_LEAST_P = 0.001  # that is shown
_WORDS = 10  # the fewest characters of a column of words
_DRAWN, _FOR_DRAWINGS = 25, 110  # characters of a drawing, and of a terminal that shows them


class Painted(str):
    """A text with colours and no other control characters, which have been escaped."""


def has_colour() -> bool:
    """Whether results are printed in colour: on a terminal, unless NO_COLOR is set."""
    there = sys.stdout is not None and sys.stdout.isatty()
    return there and not os.environ.get("NO_COLOR")


def width(stream: TextIO | None = None) -> int:
    """The number of characters on a line of the terminal, at most 116, which it is where it is unknown.

    stream: whose terminal it is where standard output has none, such as standard error
    """
    columns = WIDEST
    if stream is not None:
        with suppress(OSError, ValueError):  # it has no terminal
            columns = os.get_terminal_size(stream.fileno()).columns
    return min(WIDEST, shutil.get_terminal_size((columns or WIDEST, 24)).columns or WIDEST)


def wrapped(text: str, width: int) -> str:
    """A line of words in lines of at most `width` characters, without breaks in flags and paths."""
    return fill(text, width, break_on_hyphens=False, break_long_words=False)


def printable(text: str) -> str:
    """A text with escapes in place of control characters, except line ends."""
    if text.replace("\n", "").isprintable():
        return text
    return "".join(c if c == "\n" or c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def check_layout() -> None:
    """Raise ImportError, which names the extra that brings it, if rich is not installed."""
    _rich()


@cache
def _rich() -> Any:
    """The parts of rich that lay out text; imported on first use, since JSON needs none."""
    with extra("files"):
        from rich import cells, console, table, text
    return SimpleNamespace(Console=console.Console, Table=table.Table, Text=text.Text, cell_len=cells.cell_len)


def strong(text: str) -> Text:
    """A text in bold: the main part of a row, such as a number beside its interval."""
    return _styled(text, "bold")


def quiet(text: str) -> Text:
    """A dim text: a detail of a row, such as the interval of a number."""
    return _styled(text, "dim")


def _styled(text: str, style: str = "") -> Text:
    return _rich().Text(printable(text), style)


def printed(text: Cell, *, colour: bool = False) -> str:
    r"""A text, or several that stand beside each other, as a string: plain, or with the codes of its styles.

    >>> printed(("auroc ", strong("0.704"))), printed(strong("0.704"), colour=True)
    ('auroc 0.704', '\x1b[1m0.704\x1b[0m')
    """
    return _rendered(_cell(text), colour)


def noted(text: str, *, width: int = WIDEST, colour: bool = False) -> str:
    """A dim note below results, in lines of at most `width` characters."""
    return printed(quiet("\n".join(wrapped(line, width) for line in text.split("\n"))), colour=colour)


def aligned(
    rows: Sequence[Sequence[Cell]], left: Collection[int] = (0,), *, width: int = 0, colour: bool = False
) -> str:
    """Rows of cells, with the columns in `left` aligned to the left, and the others to the right.

    With a `width`, the last column, of words, is wrapped so that lines fit it.

    >>> print(aligned([["key", "value"], ["auroc", ("0.5", quiet(" [0, 1]"))]]))
    key         value
    auroc  0.5 [0, 1]
    """
    table, last = _rich().Table.grid(padding=(0, 2, 0, 0)), len(rows[0]) - 1
    for i in range(len(rows[0])):
        table.add_column(justify="left" if i in left else "right", no_wrap=not width or i < last)
    for row in rows:
        table.add_row(*map(_cell, row))
    if width and last:  # numbers are never cut
        width = max(width, text_width(aligned([row[:last] for row in rows], left)) + 2 + _WORDS)
    return _rendered(table, colour, width)


def _cell(cell: Cell) -> Text:
    parts = cell if isinstance(cell, tuple) else (cell,)
    return _rich().Text.assemble(*(_styled(part) if isinstance(part, str) else part for part in parts))


def _rendered(content: Any, colour: bool, width: int = 0) -> str:
    text = io.StringIO()
    wide_enough = width or 1 << 20  # nothing is wrapped or cut
    system: Any = "standard" if colour else None
    _rich().Console(
        file=text, width=wide_enough, color_system=system, force_terminal=colour, legacy_windows=False, highlight=False
    ).print(content, soft_wrap=True)
    lines = re.sub(r" +(\x1b\[0m)?(?= *$)", r"\1", text.getvalue().rstrip("\n"), flags=re.MULTILINE)
    lines = "\n".join(line.rstrip() for line in lines.split("\n"))
    return Painted(lines) if colour else lines


def text_width(text: str) -> int:
    r"""The columns of a terminal that the longest line of a plain text takes: two for each wide character.

    >>> text_width("knn"), text_width("数据集\nknn")
    (3, 6)
    """
    return max(map(_rich().cell_len, text.split("\n")))


def joined(*parts: str, by: str = "\n\n") -> str:
    """Parts of a text, one below the other, without empty ones."""
    kind = Painted if any(isinstance(part, Painted) for part in parts) else str
    return kind(by.join(part if isinstance(part, Painted) else printable(part) for part in parts if part))


def numbers_of(results: Mapping[str, Any], *, percent: bool = False) -> list[Number]:
    """Numbers of the results of a summary: rates, counts and others; an estimated error is a note."""
    numbers = []
    for key, one in results.items():
        if isinstance(one, Rate):
            error = "" if one.error is None else f"± {one.error * (100 if percent and one.share else 1):.1g}"
            threshold = "" if one.threshold is None else repr(one.threshold)
            shared: dict[str, Any] = {"higher": one.higher, "share": one.share, "note": error, "threshold": threshold}
            numbers.append(Number(key, one.value, one.interval, **shared))
        else:
            value, higher = (one.value, one.higher) if isinstance(one, Count) else (one, None)
            numbers.append(Number(key, value, higher=higher))
    return numbers


def _numbers(numbers: Sequence[Number], percent: bool, width: int, colour: bool) -> str:
    rows = [
        [
            number.key,
            strong(_value(number, percent)),
            quiet(_ends(number, percent)),
            arrow(number.higher),
            quiet(_beside(number)),
        ]
        for number in numbers
    ]
    if not rows:
        return ""
    filled = [i for i, column in enumerate(zip(*rows)) if any(map(str, column))]
    has_words = filled[-1] == len(rows[0]) - 1
    left, width = ((0, len(filled) - 1), width - 2) if has_words else ((0,), 0)
    table = aligned([[row[i] for i in filled] for row in rows], left, width=width, colour=colour)
    return joined(*(type(table)(f"  {line}") for line in table.split("\n")), by="\n")


def _beside(number: Number) -> str:
    """The words beside a number: its error, the threshold of its decisions, and its meaning."""
    threshold = f"at score > {number.threshold}" if number.threshold else ""
    return "  ".join(filter(None, (number.note, threshold, number.meaning)))


def _value(number: Number, percent: bool) -> str:
    if number.key.endswith("threshold") and isinstance(number.value, float):
        return repr(number.value)  # all its digits, so that it can be used as an option
    return number_text(number.value, percent=percent and number.share)


def _ends(number: Number, percent: bool) -> str:
    return "" if number.interval is None else interval_text(*number.interval, percent=percent and number.share)


def results_text(
    name: str,
    about: str,
    summary: Summary,
    note: str = "",
    *,
    thresholds: Mapping[str, str] = MappingProxyType({}),
    percent: bool = False,
    width: int = WIDEST,
    colour: bool = False,
) -> str:
    """The results of a metric: a row for each, or for each group with their mean, and tables.

    A threshold can be used as an option: a sample is unknown if its score is above it.

    Parameters: name of the metric; about, its data in words; summary, its results; note, a line at the end; thresholds
    of some results as decimals that make the same decisions, in place of all digits; percent, whether shares are times
    100; width of the terminal, in characters; colour.

    >>> rates = {"auroc": Rate(0.819, True, interval=(0.801, 0.838)), "fpr95tpr": Rate(0.631, False, threshold=-0.25)}
    >>> print(results_text("ood_bench", "2,000 samples", Summary({**rates, "total": 12}), "1,000 resamples"))
    ood_bench  2,000 samples
      auroc     0.819  [0.801, 0.838]  ↑
      fpr95tpr  0.631                  ↓  at score > -0.25
      total        12
    1,000 resamples
    """
    groups = summary.groups or {}
    tables = {key: table for key, table in summary.results.items() if _is_table(table)}
    in_groups = {key for row in groups.values() for key in row}
    alone = {key: one for key, one in summary.results.items() if key not in tables and key not in in_groups}
    head = printed((strong(name), quiet(f"  {about}" if about else "")), colour=colour)
    numbers = [
        replace(one, threshold=thresholds.get(one.key) or one.threshold) if one.threshold else one
        for one in numbers_of(alone, percent=percent)
    ]
    text = joined(
        joined(head, _numbers(numbers, percent, width, colour), by="\n"),
        *(_groups(summary, groups, percent, width, colour) if groups else ()),
        *(_table(key, table, colour) for key, table in tables.items()),
    )
    return joined(text, noted(note, width=width, colour=colour), by="\n")


def models_text(
    name: str,
    about: str,
    models: Mapping[str, Summary],
    more: Sequence[str] = (),
    note: str = "",
    *,
    percent: bool = False,
    width: int = WIDEST,
    colour: bool = False,
) -> str:
    """The results of several models: a row for each, with the means where there are groups, and notes below.

    Parameters: name of the metric; about, its data in words; models, their results; more, texts such as a comparison;
    note, a line at the end; percent, width and colour, as of `results_text`.

    >>> knn, msp = (Summary({"auroc": Rate(value, True), "total": 12}) for value in (0.819, 0.704))
    >>> print(models_text("ood_bench", "12 samples", {"knn": knn, "msp": msp}, ["knn vs msp: no clear difference"]))
    ood_bench  12 samples
    <BLANKLINE>
    model  auroc ↑  total
    knn      0.819     12
    msp      0.704     12
    <BLANKLINE>
    knn vs msp: no clear difference
    """
    head = printed((strong(name), quiet(f"  {about}" if about else "")), colour=colour)
    names: list[Cell] = [quiet("model"), *models]
    columns = _columns([summary.results for summary in models.values()], percent)
    text = joined(head, *in_blocks(names, columns, width, colour=colour), *more)
    return joined(text, noted(note, width=width, colour=colour), by="\n")


def _groups(
    summary: Summary, groups: Mapping[str, Mapping[str, Any]], percent: bool, width: int, colour: bool
) -> list[str]:
    """A row for each group, and a last row for the mean; columns that do not fit get a table below."""
    shown = [*groups][:_ROWS]
    leaves = sum(not any(other.startswith(f"{name}/") for other in groups) for name in groups)
    names: list[Cell] = [quiet("group"), *shown, strong(f"{summary.mean_name} of {leaves}")]
    keys = dict.fromkeys(key for row in groups.values() for key in row)
    rows = [*(groups[name] for name in shown), {key: one for key, one in summary.results.items() if key in keys}]
    columns = [[*column[:-1], (strong(column[-1][0]), column[-1][1])] for column in _columns(rows, percent)]
    more = [f"… and {len(groups) - _ROWS} more groups, which JSON has"] if len(groups) > _ROWS else []
    return [*in_blocks(names, columns, width, colour=colour), *more]


def _columns(rows: Sequence[Mapping[str, Any]], percent: bool) -> list[list[Any]]:
    """A column for each number of some rows: its key, with an arrow, and the value of each row with its interval."""
    columns: list[list[Any]] = []
    for key in dict.fromkeys(key for row in rows for key, one in row.items() if not _is_table(one)):
        cells = [numbers_of({key: row.get(key)}, percent=percent)[0] for row in rows]
        higher = next((cell.higher for cell, row in zip(cells, rows) if key in row), None)
        texts = [(_value(cell, percent), quiet(f" {_ends(cell, percent)}".rstrip())) for cell in cells]
        columns.append([quiet(with_arrow(key, higher)), *texts])
    return columns


def in_blocks(
    names: Sequence[Cell], columns: Sequence[Sequence[Cell]], width: int, *, colour: bool = False
) -> list[str]:
    """Tables of columns beside the names of their rows, each of at most a width, but of one column at least."""
    blocks: list[list[Sequence[Cell]]] = []
    for column in columns:
        if not blocks or text_width(aligned([*zip(*blocks[-1], column)])) > width:
            blocks.append([names])
        blocks[-1].append(column)
    return [aligned([*zip(*block)], colour=colour) for block in blocks]


def _is_table(value: Any) -> bool:
    columns = [*value.values()] if isinstance(value, Mapping) else []
    return bool(columns) and all(isinstance(x, list) for x in columns) and len({len(x) for x in columns}) == 1


def _table(key: str, table: Mapping[str, list[Any]], colour: bool) -> str:
    rows = [
        [
            "table" if isinstance(value, Mapping) else _value(Number(name, value), False)
            for name, value in zip(table, row)
        ]
        for row in zip(*table.values())
    ]
    more = f"… and {len(rows) - _ROWS} more rows, which JSON has" if len(rows) > _ROWS else ""
    lines = aligned([[*map(quiet, table)], *rows[:_ROWS]], colour=colour)
    return joined(printed(strong(key), colour=colour), lines, more, by="\n")


def differences_of(
    table: Mapping[str, Any], names: Sequence[str], kinds: Mapping[str, Any] = MappingProxyType({})
) -> tuple[list[Difference], set[str]]:
    """The rows of a comparison that are of no group, and the keys that are shares; no interval is NaN.

    Parameters: table, of `compare` or of a folder's comparison; names of the models; kinds, of the keys in results.
    """
    columns = {name: column for name, column in table.items() if isinstance(column, list)}
    rows = [row for row in (dict(zip(columns, row)) for row in zip(*columns.values())) if row.get("group") is None]
    differences, shares = [], set()
    for row in rows:
        known, kind = direction_of(row["key"], kinds), kinds.get(row["key"], {})
        if kind.get("share", known is not None and known.rate):
            shares.add(row["key"])
        low, high, p = (math.nan if row.get(end) is None else row[end] for end in ("low", "high", "p_value"))
        better = {"first": names[0], "second": names[1]}.get(row.get("better") or "", "")
        values = (row["first"], row["second"])
        differences.append(
            Difference(
                names[0], names[1], row["key"], values, row["difference"], low, high, p, better, known and known.higher
            )
        )
    return differences, shares


def comparison_text(
    table: Mapping[str, Any],
    names: Sequence[str] = _TWO,
    *,
    kinds: Mapping[str, Any] = MappingProxyType({}),
    level: float = 0.95,
    percent: bool = False,
    width: int = WIDEST,
    colour: bool = False,
) -> str:
    """The rows of a comparison that are of no group: both values, the difference with its interval, p, and the better.

    Parameters: table, of `compare`; names of the models; kinds, of the keys in results; level of the intervals;
    percent, whether shares are times 100, and their differences in points; width, in characters: where it is narrow,
    intervals are not drawn, then names stand above, then verdicts are shorter, then there is no p; colour.

    >>> row = dict(first=[0.75], second=[0.5], difference=[0.25], low=[0.125], high=[0.375], p_value=[0.01])
    >>> print(comparison_text({"key": ["auroc"], **row, "better": ["first"]}, ("knn", "energy"), width=80))
               knn  energy      difference [95 %]      p
    auroc ↑  0.750   0.500  +0.250 [0.125, 0.375]  0.010  knn is better
    """
    differences, shares = differences_of(table, names, kinds)
    certain = any(not math.isnan(row.low) for row in differences)
    heading = "difference in points" if percent else "difference"
    head = ["", *names, f"{heading} [{100 * level:.12g} %]" if certain else heading, *(["p", ""] if certain else [])]
    lines = [_difference(row, certain, percent and row.key in shares) for row in differences]
    rows = [[quiet(cell) for cell in head], *lines]
    left = {0, len(head) - 1} if certain else {0}
    if certain and width >= _FOR_DRAWINGS and text_width(aligned(rows, left)) + 2 + _DRAWN <= width:
        axis = _axis(differences)
        drawn = [
            quiet(_scale(axis, 100 if percent else 1)),
            *(_styled(_drawing(row, axis), "cyan") for row in differences),
        ]
        rows, left = [[*row[:4], drawing, *row[4:]] for row, drawing in zip(rows, drawn)], {0, 4, 6}
        return aligned(rows, left, colour=colour)
    if certain and text_width(aligned(rows, left)) > width:  # short names first, then short words, then no p
        if text_width("".join(names)) > text_width("".join(_TWO)):
            how: dict[str, Any] = {"kinds": kinds, "level": level, "percent": percent, "width": width, "colour": colour}
            named = noted("\n".join(f"{which}: {name}" for which, name in zip(_TWO, names)), width=width, colour=colour)
            return joined(named, comparison_text(table, _TWO, **how), by="\n")
        rows = [[*row[:-1], quiet(_UNCLEAR) if str(row[-1]) == NO_DIFFERENCE else row[-1]] for row in rows]
        if text_width(aligned(rows, left)) > width:
            rows, left = [[*row[:4], row[-1]] for row in rows], {0, 4}
    return aligned(rows, left, colour=colour)


def _difference(row: Difference, certain: bool, percent: bool) -> list[Cell]:
    cells: list[Cell] = [with_arrow(row.key, row.higher)]
    for name, value in zip((row.first, row.second), row.values):
        text = number_text(value, percent=percent)
        cells.append(strong(text) if row.better == name else text)
    signed = signed_text(row.difference, percent=percent)
    if math.isnan(row.low):
        return [*cells, signed, "", ""] if certain else [*cells, signed]
    differs = row.higher is None and not row.low <= 0 <= row.high  # where neither direction is better
    verdict = quiet("differs" if differs else NO_DIFFERENCE)
    return [
        *cells,
        (signed, quiet(f" {interval_text(row.low, row.high, percent=percent)}")),
        f"{row.p_value:.3f}" if row.p_value >= _LEAST_P else f"<{_LEAST_P}",
        strong(f"{row.better} is better") if row.better else verdict,
    ]


def _axis(rows: Sequence[Difference]) -> tuple[float, float]:
    ends = [end for row in rows if math.isfinite(row.low) for end in (row.low, row.high, row.difference)]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    return (low, high) if low < high else (-1.0, 1.0)


def _place(value: float, axis: tuple[float, float]) -> int:
    low, high = axis
    return round((value - low) / (high - low) * (_DRAWN - 1))


def _scale(axis: tuple[float, float], factor: int) -> str:
    """The labels above the drawings: the ends of the axis times a factor, and 0."""
    zero, line = _place(0.0, axis), [" "] * _DRAWN
    low, high = (f"{'+' if end > 0 else ''}{score_text(factor * end, 2)}" for end in axis)
    if zero > len(low):
        line[: len(low)] = low
    if _DRAWN - 1 - zero > len(high):
        line[-len(high) :] = high
    line[zero] = "0"
    return "".join(line)


def _drawing(row: Difference, axis: tuple[float, float]) -> str:
    if not math.isfinite(row.low):
        return ""
    line = [" "] * _DRAWN
    line[_place(0.0, axis)] = "┊"
    low, high = (_place(row_end, axis) for row_end in (row.low, row.high))
    line[low : high + 1] = "━" * (high + 1 - low)
    line[_place(row.difference, axis)] = "●"
    return "".join(line)
