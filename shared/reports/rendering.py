"""Render tables as text for a terminal, Markdown, LaTeX, HTML and CSV."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

from ..arrays.checks import as_bool, as_choice, as_int
from ..metric.numbers import decimal_text
from ..written.aligned import aligned
from ..written.csv_text import csv_text
from .cells import Cell, ResultTable

INTERVALS = ("brackets", "plusminus", "none")
FORMS = ("text", "markdown", "latex", "booktabs", "html", "csv")
Number = Callable[["float | Fraction", Cell], str]  # the text of a number of a cell
SECOND = "°"  # marks the second best in text
_LATEX_SIGNS = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "[": "{[}",  # otherwise an option of the \\ before it
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    "|": r"\textbar{}",
    "Δ": r"$\Delta$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


def render(
    table: ResultTable,
    form: str = "text",
    *,
    percent: bool = False,
    digits: int | None = None,
    intervals: str = "brackets",
    arrows: bool = False,
    second: bool = False,
) -> str:
    """A table as text.

    The best numbers of several models begin with * in text, and are bold elsewhere; the second best, with `second`,
    begin with ° in text, are in italics in Markdown and underlined in LaTeX and HTML. CSV has separate columns for
    standard deviations and the ends of intervals. Each number is rounded once, also in percent (see `decimal_text`).

    Parameters: table, of `make_table`; form, one of text, markdown, latex, booktabs, html and csv; percent, to multiply
    rates, as far as their keys are known, by 100; digits after the point, by default 4, or 2 in percent, and all in
    CSV; intervals, in brackets, as ± half their length ("plusminus"), or none; arrows, to show beside the names of
    columns which direction is better; second, to mark the second best. Returns the text, without a line break at the
    end. Raises ValueError or TypeError for other options, and ValueError for a rate above 1 in percent.

    >>> from openworld_metrics.written.directions import Direction
    >>> best = Cell("auroc", 0.75, best=True, direction=Direction(higher=True, rate=True), share=True)
    >>> table = ResultTable(["auroc", "total"], [("a", [best, Cell("total", 3)])])
    >>> print(render(table, percent=True))
        auroc  total
    a  *75.00      3
    >>> print(render(table, "markdown"))
    |  | auroc | total |
    |---|---:|---:|
    | a | **0.7500** | 3 |
    """
    percent = as_bool(percent, "percent")
    as_choice(form, "form", FORMS)
    as_choice(intervals, "intervals", INTERVALS)
    if digits is not None:
        as_int(digits, "digits", 0, 17)
    for cell in (cell for _, cells in table.rows for cell in cells if cell is not None and percent and cell.share):
        if cell.value > 1:
            raise ValueError(f"{cell.key}: expected a rate in [0, 1] to be percent, got {cell.value}")

    def number(value: float | Fraction, cell: Cell) -> str:
        in_percent = percent and cell.share
        places = digits if digits is not None or form == "csv" else 2 if in_percent else 4
        return str(value) if isinstance(value, int) else decimal_text(value, places, percent=in_percent)

    if form == "csv":
        return _as_csv(table, number)
    escape, lay_out = _ESCAPES[form], _LAYOUTS[form]

    def text(cell: Cell | None) -> str:
        return _cell_text(cell if cell is None or second else cell._replace(second=False), number, intervals, form)

    texts = [[escape(name), *map(text, cells)] for name, cells in table.rows]
    ways = [_arrow(column, form) if arrows else "" for column in zip(*(cells for _, cells in table.rows))]
    corner = escape(table.corner)
    if corner:  # all numbers have one key, with one direction
        corner, ways = f"{corner} {ways[-1]}".rstrip(), [""] * len(ways)
    return lay_out([[corner, *(f"{escape(name)} {way}".rstrip() for name, way in zip(table.columns, ways))], *texts])


def escaped(text: str, form: str) -> str:
    """A text on one line, with what a form would read as its own signs escaped."""
    return _ESCAPES[form](text)


def _arrow(column: Sequence[Cell | None], form: str) -> str:
    """The arrow of a column's direction; "" if it is unknown."""
    known = next((cell.direction for cell in column if cell is not None and cell.direction is not None), None)
    if known is None:
        return ""
    return _ARROWS.get(form, ("↓", "↑"))[known.higher]


def _cell_text(cell: Cell | None, number: Number, intervals: str, form: str) -> str:
    if cell is None:
        return "--" if form in _LATEX else "–"
    text = number(cell.value, cell)
    text = _BOLD[form](text) if cell.best else _UNDERLINED[form](text) if cell.second else text
    plus_minus = r"$\pm$" if form in _LATEX else "±"
    if cell.std is not None:
        return f"{text} {plus_minus} {number(cell.std, cell)}"
    if cell.low is None or cell.high is None or intervals == "none":
        return text
    if intervals == "plusminus":
        half = (Fraction(cell.high) - Fraction(cell.low)) / 2
        return f"{text} {plus_minus} {number(half, cell)}"
    return f"{text} [{number(cell.low, cell)}, {number(cell.high, cell)}]"


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|---|" + "---:|" * (len(rows[0]) - 1), *lines[1:]])


def _latex(rows: Sequence[Sequence[str]], rules: Sequence[str] = (r"\hline",) * 3) -> str:
    lines = [" & ".join(row) + r" \\" for row in rows]
    columns = "l" + "r" * (len(rows[0]) - 1)
    top, middle, bottom = rules
    return "\n".join([rf"\begin{{tabular}}{{{columns}}}", top, lines[0], middle, *lines[1:], bottom, r"\end{tabular}"])


def _html(rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{cell}</th>' for cell in rows[0])
    body = [
        f'<tr><th scope="row">{name}</th>{"".join(f"<td>{cell}</td>" for cell in row)}</tr>' for name, *row in rows[1:]
    ]
    return "\n".join(["<table>", f"<thead><tr>{head}</tr></thead>", "<tbody>", *body, "</tbody>", "</table>"])


def _as_csv(table: ResultTable, number: Number) -> str:
    """CSV with a column for each part of cells that occurs in a column."""
    parts = {"": "value", " std": "std", " low": "low", " high": "high"}
    cells = list(zip(*(cells for _, cells in table.rows)))
    kept = [
        (i, part, f"{name}{ending}")
        for i, name in enumerate(table.columns)
        for ending, part in parts.items()
        if any(cell is not None and getattr(cell, part) is not None for cell in cells[i])
    ]
    head = [table.corner or "name", *(name for _, _, name in kept)]

    def text(cell: Cell | None, part: str) -> str | None:
        value = None if cell is None else getattr(cell, part)
        return None if cell is None or value is None else number(value, cell)

    rows = [[name, *(text(row[i], part) for i, part, _ in kept)] for name, row in table.rows]
    return csv_text([head, *rows]).rstrip("\n")


def _one_line(name: str) -> str:
    return " ".join(name.split())


_ESCAPES: dict[str, Callable[[str], str]] = {
    "text": _one_line,
    "markdown": lambda name: re.sub(r"[|\\`*<\[\]&~]|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", _one_line(name)),
    "latex": lambda name: "".join(_LATEX_SIGNS.get(character, character) for character in _one_line(name)),
    "html": lambda name: html.escape(_one_line(name)),
}
_ESCAPES["booktabs"] = _ESCAPES["latex"]
_LATEX = ("latex", "booktabs")
_ARROWS = dict.fromkeys(_LATEX, (r"$\downarrow$", r"$\uparrow$"))
_BOLD: dict[str, Callable[[str], str]] = {
    "text": lambda text: f"*{text}",
    "markdown": lambda text: f"**{text}**",
    "latex": lambda text: rf"\textbf{{{text}}}",
    "booktabs": lambda text: rf"\textbf{{{text}}}",
    "html": lambda text: f"<b>{text}</b>",
}
_UNDERLINED: dict[str, Callable[[str], str]] = {
    "text": lambda text: f"{SECOND}{text}",
    "markdown": lambda text: f"*{text}*",
    "latex": lambda text: rf"\underline{{{text}}}",
    "booktabs": lambda text: rf"\underline{{{text}}}",
    "html": lambda text: f"<u>{text}</u>",
}
_LAYOUTS: dict[str, Callable[[Sequence[Sequence[str]]], str]] = {
    "text": aligned,
    "markdown": _markdown,
    "latex": _latex,
    "booktabs": partial(_latex, rules=(r"\toprule", r"\midrule", r"\bottomrule")),
    "html": _html,
}
