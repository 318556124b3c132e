"""Tables of results: files or groups as rows, means over seeds, marks of the best, as text, Markdown, LaTeX, HTML, CSV.

table = make_table({"resnet-s0": first, "resnet-s1": second, "vit-s0": third}, seeds="-s[0-9]+", keys=["auroc"])
print(render(table, "latex", percent=True))
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from fractions import Fraction
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from ..arrays.checks import as_bool, as_choice, as_int
from ..leaderboard.seeds import (
    OVERALL,
    Place,
    Seeds,
    all_kinds,
    check_seeds,
    mean_of_seeds,
    numbers_of,
    std_of_seeds,
)
from ..metric.rounding import decimal_text
from ..written.files import csv_text
from ..written.results import Direction, direction_of, is_share
from .terminal import aligned

ROW_KINDS = ("files", "groups")
RANK = "rank"
INTERVALS = ("brackets", "plusminus", "none")
FORMS = ("text", "markdown", "latex", "booktabs", "html", "csv")
SECOND = "°"  # marks the second best in text
_LATEX_SIGNS = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "[": "{[}",  # otherwise an option of the \\ before it
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    "|": r"\textbar{}",
    "Δ": r"$\Delta$",
    "−": "$-$",
    "–": "--",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


class Cell(NamedTuple):
    """A number, with its key and, if known, its standard deviation over seeds or its interval.

    best: whether it is the best of several models, or does not differ from the best; second: whether it is second best
    share: whether it is a share, in [0, 1] or a difference of two, which may be shown in percent
    """

    key: str
    value: float
    std: float | None = None
    low: float | None = None
    high: float | None = None
    best: bool = False
    direction: Direction | None = None
    second: bool = False
    share: bool = False


class ResultTable(NamedTuple):
    """Column names, and rows of a name and a cell for each column, None for a missing number.

    corner, above the names of the rows, is the key of all numbers, if it is not in the column names; beside, columns
    of text that CSV has after the numbers, by name.
    """

    columns: list[str]
    rows: list[tuple[str, list[Cell | None]]]
    corner: str = ""
    beside: Mapping[str, Sequence[Any]] = MappingProxyType({})


def make_table(
    results: Mapping[str, Mapping[str, Any]],
    *,
    rows: str | None = None,
    keys: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    seeds: str | None = None,
    undecided: Mapping[Place, bool | None] = MappingProxyType({}),
    names: Mapping[str, str] = MappingProxyType({}),
) -> ResultTable:
    """A table of the numbers of results.

    Parameters: results by name, such as their file's, with or without groups; rows, "files" or "groups", by
    default the groups of a single result that has some, else files; keys and groups to take, names or patterns with *,
    of a key also its last part after a slash, where "mean" is what stands beside the groups: all keys by default, and
    of the groups all as rows and "mean" beside files. seeds, a regular expression: names of results that differ only
    where it matches are one, with the mean and the standard deviation (of n − 1) of their numbers; where it is in none
    of these names, so are groups.
    undecided, of `leaderboard.undecided`: the best number of each group and key, and those that do not differ from it,
    are marked alike if all others were compared with it; without comparisons, nothing is marked. names, what files,
    groups and keys are called in the table.
    Lists and text are left out; `<key>_low` and `<key>_high` are the interval of a key. Means have no intervals. Keys
    are shortened to their last parts if these differ.

    Returns a `ResultTable`. Raises TypeError for options of other types, and ValueError for a pattern that finds
    nothing, for seeds that lack a number which others have, and if there is nothing to show.

    >>> table = make_table({"a-s0": {"auroc": 0.5}, "a-s1": {"auroc": 1.0}, "b-s0": {"auroc": 0.7}}, seeds="-s.")
    >>> [(name, cells[0].value, round(cells[0].std or 0, 4)) for name, cells in table.rows]
    [('a', 0.75, 0.3536), ('b', 0.7, 0)]
    """
    for option, chosen in (("keys", keys), ("groups", groups)):
        is_list = isinstance(chosen, (list, tuple)) and all(isinstance(name, str) for name in chosen)
        if chosen is not None and not is_list:
            raise TypeError(f"{option}: expected a list of names or patterns, got {chosen!r}")
    if rows is not None:
        as_choice(rows, "rows", ROW_KINDS)
    numbers = {name: numbers_of(result) for name, result in results.items()}
    cells = _cells(numbers) if seeds is None else _pooled(numbers, Seeds(seeds))
    kinds = all_kinds(results)
    cells = {
        place: cell._replace(direction=direction_of(cell.key, kinds), share=is_share(cell.key, kinds))
        for place, cell in cells.items()
    }
    if not cells:
        raise ValueError(f"{', '.join(results) or 'results'}: expected results with numbers, got none")
    cells = _marked(cells, undecided)
    files, named, present = (list(dict.fromkeys(place[i] for place in cells)) for i in range(3))
    named = [name for name in named if name != OVERALL] + [OVERALL] * (OVERALL in named)
    if rows is None:
        rows = "groups" if len(files) == 1 and len(named) > 1 else "files"
    wanted = _chosen(present, keys, "keys")
    taken = named if groups is None and rows == "groups" else _chosen(named, groups or [OVERALL], "groups")
    called = _names(wanted, names, {*files, *named, *present})
    if rows == "files":
        columns = [(group, key) for group in taken for key in wanted]
        lines = [(file, [cells.get((file, group, key)) for group, key in columns]) for file in files]
    else:
        columns = [(file, key) for file in files for key in wanted]
        lines = [(group, [cells.get((file, group, key)) for file, key in columns]) for group in taken]
    there = [any(line[i] is not None for _, line in lines) for i in range(len(columns))]
    single = len(taken if rows == "files" else files) == 1
    alone = len(wanted) == 1 and not single
    return ResultTable(
        [
            called(key) if single else called(name) if alone else f"{called(name)} {called(key)}"
            for (name, key), is_present in zip(columns, there)
            if is_present
        ],
        [(called(name), [cell for cell, is_present in zip(line, there) if is_present]) for name, line in lines],
        called(wanted[0]) if alone else "",
    )


def _names(keys: Sequence[str], names: Mapping[str, str], known: Collection[str]) -> Callable[[str], str]:
    """Names of files, groups and keys in a table: keys are shortened to their last parts if these differ."""
    ends = [key.rpartition("/")[2] for key in keys]
    short = dict(zip(keys, ends)) if len({*ends}) == len(ends) else {}
    for name in names:
        if name not in {*known, *(each.rpartition("/")[2] for each in known)}:
            raise ValueError(f"rename: expected one of {', '.join(sorted(known))}, got {name!r}")
    return lambda name: names.get(name, names.get(short.get(name, name), short.get(name, name)))


def keys_of(results: Mapping[str, Mapping[str, Any]], patterns: Sequence[str] | None) -> list[str] | None:
    """The keys of results that match the patterns, as `make_table` takes them; None for all, without patterns.

    Raises ValueError for a pattern that matches nothing.
    """
    if patterns is None:
        return None
    cells = _cells({name: numbers_of(result) for name, result in results.items()})
    return _chosen([*dict.fromkeys(key for _, _, key in cells)], patterns, "keys")


def _cells(numbers: Mapping[str, Mapping[str, Mapping[str, float]]]) -> dict[Place, Cell]:
    cells = {}
    for name, groups in numbers.items():
        for group, row in groups.items():
            ends = {f"{key}_{end}" for key in row for end in ("low", "high", "error")}
            for key in (key for key in row if key not in ends):
                low, high = row.get(f"{key}_low"), row.get(f"{key}_high")
                cells[name, group, key] = Cell(key, row[key], low=low, high=high)
    return cells


def _pooled(numbers: Mapping[str, Mapping[str, Mapping[str, float]]], seeds: Seeds) -> dict[Place, Cell]:
    """Means over results, or else over groups, with names that differ only where the pattern matches."""
    in_names = any(map(seeds.matches, numbers))
    if in_names:
        check_seeds(numbers, seeds)
    values: dict[Place, list[float]] = {}
    for (name, group, key), cell in _cells(numbers).items():
        if in_names:
            values.setdefault((seeds.without(name, OVERALL), group, key), []).append(cell.value)
        elif seeds.matches(group):  # other groups are means of these
            values.setdefault((name, seeds.without(group, OVERALL), key), []).append(cell.value)
    if not values:
        raise ValueError(f"seeds: expected a pattern that is in some of {', '.join(numbers)}, got {seeds.text!r}")
    most: dict[str, int] = {}
    for (name, _, _), of_seeds in values.items():
        most[name] = max(most.get(name, 0), len(of_seeds))
    for (name, group, key), of_seeds in values.items():
        if len(of_seeds) < most[name]:
            raise ValueError(f"{name}: expected {key} ({group}) for {most[name]} seeds, got it for {len(of_seeds)}")
    return {place: Cell(place[2], mean_of_seeds(numbers), std_of_seeds(numbers)) for place, numbers in values.items()}


def _chosen(names: Sequence[str], patterns: Iterable[str] | None, option: str) -> list[str]:
    """The names that match the patterns, in the order of the patterns; all names without patterns."""
    if patterns is None:
        return list(names)
    chosen: list[str] = []
    ends = {name: name.rpartition("/")[2] if option == "keys" else name for name in names}  # a group's is not split
    for pattern in patterns:
        matching = [name for name in names if pattern in (name, ends[name]) or fnmatchcase(name, pattern)]
        if not matching:
            raise ValueError(f"{option}: expected some of {', '.join(names)}, got {pattern!r}")
        chosen += [name for name in matching if name not in chosen]
    return chosen


def sorted_by(table: ResultTable, key: str) -> ResultTable:
    """Sort the rows by a column, best first; rows without a number, and the mean of groups, are last.

    Parameters: table; key, the name of a column or, if groups are columns, a key, which means its mean. Without a known
    direction, the highest number is first. Equal numbers keep their order.
    Raises ValueError for an unknown key.
    """
    i = _column(table, key)
    rows = sorted(table.rows, key=lambda row: (row[0] == OVERALL, _distance(row[1][i])))
    return table._replace(rows=rows)


def ranked(table: ResultTable, key: str | None = None) -> ResultTable:
    """Add a first column of ranks, from 1: by one column, or the mean of the ranks in all columns.

    Parameters: table; key, as for `sorted_by`: equal numbers share a rank, and rows without a number have none. Without
    a key, the mean over the columns with a known direction, where equal numbers have the mean of their ranks; a row
    that lacks a number then has no rank.
    """
    rows = [cells for name, cells in table.rows if name != OVERALL]
    if key is not None:
        ranks: list[float | None] = [*_ranks([row[_column(table, key)] for row in rows], ties=False)]
    else:
        known = [i for i, _ in enumerate(table.columns) if any(row[i] and row[i].direction for row in rows)]  # type: ignore[union-attr]
        if not known:
            raise ValueError("rank: expected a column with a known direction, got none")
        places = [_ranks([row[i] for row in rows], ties=True) for i in known]
        ranks = [None if None in each else sum(filter(None, each)) / len(each) for each in zip(*places)]
    of = iter(ranks)
    cells = [None if name == OVERALL else next(of) for name, _ in table.rows]
    first = [None if rank is None else Cell(RANK, rank) for rank in cells]
    return table._replace(
        columns=[RANK, *table.columns], rows=[(name, [cell, *row]) for cell, (name, row) in zip(first, table.rows)]
    )


def _column(table: ResultTable, key: str) -> int:
    keys = [next((row[i].key for _, row in table.rows if row[i]), "") for i, _ in enumerate(table.columns)]  # type: ignore[union-attr]
    named = [i for i, name in enumerate(table.columns) if key in (name, name.rpartition("/")[2])]
    having = [i for i, each in enumerate(keys) if key in (each, each.rpartition("/")[2])]
    mean = [i for i in having if table.columns[i].split(" ")[0] == OVERALL]
    for places in (named, mean, having):
        if places:
            return places[0]
    raise ValueError(f"sort: expected one of {', '.join(dict.fromkeys([*table.columns, *keys]))}, got {key!r}")


def _distance(cell: Cell | None) -> tuple[bool, float]:
    """A sort key that is lower for better numbers, and highest for a missing number."""
    if cell is None or math.isnan(cell.value):
        return True, 0.0
    lower = cell.key == RANK or (cell.direction is not None and not cell.direction.higher)
    return False, cell.value if lower else -cell.value


def _ranks(cells: Sequence[Cell | None], *, ties: bool) -> list[float | None]:
    """The rank of each cell, from 1; with `ties`, equal cells have the mean of their ranks."""
    values = [_distance(cell) for cell in cells]
    before = [sum(other < value for other in values) for value in values]
    equal = [values.count(value) if ties else 1 for value in values]
    exact = [first + (1 + count) / 2 for first, count in zip(before, equal)]
    return [
        None if cell is None or math.isnan(cell.value) else int(rank) if rank == int(rank) else rank
        for cell, rank in zip(cells, exact)
    ]


Number = Callable[["float | Fraction", Cell], str]  # the text of a number of a cell


def _marked(cells: Mapping[Place, Cell], undecided: Mapping[Place, bool | None]) -> dict[Place, Cell]:
    """Mark the best of each group and key, all cells that do not differ from it, and the second best.

    Nothing is marked where a number was not compared with the best, since it may be no worse.
    """
    rivals: dict[tuple[str, str], list[tuple[Place, Cell]]] = {}
    for place, cell in cells.items():
        rivals.setdefault(place[1:], []).append((place, cell))
    marked = dict(cells)
    for competing in rivals.values():
        known, numbers = competing[0][1].direction, [pair for pair in competing if not math.isnan(pair[1].value)]
        compared = sum(undecided.get(place) is not None for place, _ in numbers)
        if known is None or len(numbers) < 2 or compared < len(numbers) - 1:
            continue
        choose = max if known.higher else min
        best = choose(cell.value for _, cell in numbers)
        first = {place for place, cell in numbers if cell.value == best or undecided.get(place)}
        rest = [cell.value for place, cell in numbers if place not in first]
        for place, cell in numbers:
            second = bool(rest) and place not in first and cell.value == choose(rest)
            marked[place] = cell._replace(best=place in first, second=second)
    return marked


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

    >>> from openworld_metrics.written.results import Direction
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
    written = _FORMS[form]

    def text(cell: Cell | None) -> str:
        return _cell_text(cell if cell is None or second else cell._replace(second=False), number, intervals, written)

    texts = [[written.escape(name), *map(text, cells)] for name, cells in table.rows]
    ways = [_arrow(column, written) if arrows else "" for column in zip(*(cells for _, cells in table.rows))]
    corner = written.escape(table.corner)
    if corner:  # all numbers have one key, with one direction
        corner, ways = f"{corner} {ways[-1]}".rstrip(), [""] * len(ways)
    names = [f"{written.escape(name)} {way}".rstrip() for name, way in zip(table.columns, ways)]
    return written.lay_out([[corner, *names], *texts])


def escaped(text: str, form: str) -> str:
    """A text on one line, with the special characters of a form escaped."""
    return _FORMS[form].escape(text)


class _Form(NamedTuple):
    """The signs of a form; `bold` and `underlined` are templates of a text."""

    escape: Callable[[str], str]
    bold: str
    underlined: str
    lay_out: Callable[[Sequence[Sequence[str]]], str]
    arrows: tuple[str, str] = ("↓", "↑")
    plus_minus: str = "±"
    missing: str = "–"


def _arrow(column: Sequence[Cell | None], form: _Form) -> str:
    known = next((cell.direction for cell in column if cell is not None and cell.direction is not None), None)
    return "" if known is None else form.arrows[known.higher]


def _cell_text(cell: Cell | None, number: Number, intervals: str, form: _Form) -> str:
    if cell is None:
        return form.missing
    template = form.bold if cell.best else form.underlined if cell.second else "{}"
    text = template.format(number(cell.value, cell))
    if cell.std is not None:
        return f"{text} {form.plus_minus} {number(cell.std, cell)}"
    if cell.low is None or cell.high is None or intervals == "none":
        return text
    if intervals == "plusminus":
        return f"{text} {form.plus_minus} {number((Fraction(cell.high) - Fraction(cell.low)) / 2, cell)}"
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
    parts = {"": "value", " std": "std", " low": "low", " high": "high"}
    cells = list(zip(*(cells for _, cells in table.rows)))
    columns = [
        (i, part, f"{name}{ending}")
        for i, name in enumerate(table.columns)
        for ending, part in parts.items()
        if any(cell is not None and getattr(cell, part) is not None for cell in cells[i])
    ]
    head = [table.corner or "name", *(name for _, _, name in columns), *table.beside]

    def text(cell: Cell | None, part: str) -> str | None:
        value = None if cell is None else getattr(cell, part)
        return None if cell is None or value is None else number(value, cell)

    beside = [*zip(*table.beside.values())] or [()] * len(table.rows)
    rows = [
        [name, *(text(row[i], part) for i, part, _ in columns), *more] for (name, row), more in zip(table.rows, beside)
    ]
    return csv_text([head, *rows]).rstrip("\n")


def _one_line(name: str) -> str:
    return " ".join(name.split())


_LATEX = _Form(
    lambda name: "".join(_LATEX_SIGNS.get(character, character) for character in _one_line(name)),
    r"\textbf{{{}}}",
    r"\underline{{{}}}",
    _latex,
    (r"$\downarrow$", r"$\uparrow$"),
    r"$\pm$",
    "--",
)
_FORMS = {
    "text": _Form(_one_line, "*{}", f"{SECOND}{{}}", aligned),
    "markdown": _Form(
        lambda name: re.sub(r"[|\\`*<\[\]&~]|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", _one_line(name)),
        "**{}**",
        "*{}*",
        _markdown,
    ),
    "latex": _LATEX,
    "booktabs": _LATEX._replace(lay_out=partial(_latex, rules=(r"\toprule", r"\midrule", r"\bottomrule"))),
    "html": _Form(lambda name: html.escape(_one_line(name)), "<b>{}</b>", "<u>{}</u>", _html),
}
