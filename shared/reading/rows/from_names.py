"""Columns that a pattern makes of names: labels, groups and clusters of rows named section_00_normal_0001.wav."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...metric.groups import GROUPS
from ..reasons import some
from ..tables.files import Lines, Streamed, Table, whole
from .cells import are_words
from .joins import names_rows
from .metrics import Layout

CLUSTERS = "clusters"
FROM_NAMES = {"label_from_name": "", "groups_from_name": GROUPS, "clusters_from_name": CLUSTERS}  # "", of the labels
_SHOWN = 6  # values whose rows are counted one by one


@dataclass(frozen=True)
class Pattern:
    """A regular expression whose groups are the values of a column.

    option: the choice that it comes from
    column: the column of the metric
    regex: of which each name has one match; its groups side by side are the value, blank if none of them takes part;
        of labels without a group, the words of an alternation, normal|anomaly
    """

    option: str
    column: str
    regex: re.Pattern[str]

    def value(self, name: str) -> str | None:
        """The value of a name, None for a blank one. Raises ValueError for a name without a match, or with several."""
        matches = [*self.regex.finditer(name)]
        values = [*dict.fromkeys(map(self._value, matches))]
        expected = f"{self.option}: expected each name to match {self.regex.pattern!r}"
        if not values:
            raise ValueError(f"{expected}, got {name!r}")
        if len(values) > 1:
            raise ValueError(f"{expected} in one way, got {name!r}, in which it finds {some([*map(str, values)])}")
        if not self.regex.groups and _is_within_word(matches[0]):
            raise ValueError(
                f"{expected} as a word of its own, got {name!r}; a group in parentheses takes a part of a word"
            )
        if values[0] is None and self.column != GROUPS:
            raise ValueError(f"{expected} with a group that takes part, got {name!r}")
        return values[0]

    def value_or_none(self, name: str) -> str | None:
        """The value of a name, None also for one that the pattern does not fit."""
        try:
            return self.value(name)
        except ValueError:
            return None

    def _value(self, match: re.Match[str]) -> str | None:
        parts = [part for part in match.groups() if part] if self.regex.groups else [match[0]]
        return "_".join(parts) or None

    def matches_any(self, names: Sequence[str]) -> bool:
        """Whether any of the names has a match."""
        return any(map(self.regex.search, names))


def _is_within_word(match: re.Match[str]) -> bool:
    """Whether letters stand beside a match: normal in abnormal."""
    text, (start, end) = match.string, match.span()
    return text[max(start - 1, 0) : start].isalpha() or text[end : end + 1].isalpha()


def patterns_of(layout: Layout, choices: Mapping[str, str | None]) -> list[Pattern]:
    """The patterns among choices, by FROM_NAMES.

    Raises ValueError for a text that is no regular expression or has no group, and for a metric without such a column.
    """
    patterns = []
    for option, text in choices.items():
        if text is None:
            continue
        column = FROM_NAMES[option] or layout.label
        if column not in layout.names or layout.inputs > 1:
            raise ValueError(
                f"{option}: expected a metric of tables with {FROM_NAMES[option] or 'labels of two sides'}"
            )
        try:
            regex = re.compile(text)
        except re.error as error:
            raise ValueError(f"{option}: expected a regular expression, got {text!r}: {error}") from None
        if not regex.groups and (FROM_NAMES[option] or "|" not in text):
            words = "" if FROM_NAMES[option] else ", or words, as in 'normal|anomaly'"
            raise ValueError(f"{option}: expected a group in parentheses, as in 'id_(\\d+)'{words}; got {text!r}")
        patterns.append(Pattern(option, column, regex))
    return patterns


def name_columns(table: Table) -> dict[str, list[str]]:
    """The columns of words of a table, as they stand in the file."""
    columns = {}
    for name, array in table.arrays.items():
        cells = whole(array) if isinstance(array, Streamed) else array
        if isinstance(cells, np.ndarray) and cells.ndim == 1 and cells.dtype.kind in "OU" and are_words(cells):
            columns[name] = [*map(str, whole(table.words[name]()) if name in table.words else cells)]
    return columns


def stand_below(titles: Sequence[str], tables: Sequence[Table], patterns: Sequence[Pattern]) -> str:
    """A sentence on files whose rows stand one below another; "" for files of the same rows, and for one file.

    They do if a pattern reads the names of the files, or if the names of rows that patterns read are others in each.
    Files of other columns are of the same rows, and so are those with the same names of rows.
    Parameters: titles, the names of the files. Raises ValueError for files that share some of the names.
    """
    alike = all(table.alone for table in tables) or len({frozenset(table.arrays) for table in tables}) == 1
    if not patterns or len(tables) < 2 or not alike:
        return ""
    said = f"rows of {some(titles)} stand one below another, since"
    by_file = [name_columns(table) for table in tables]
    shared = [name for name in by_file[0] if all(name in columns for columns in by_file)]
    pooled = {name: [cell for columns in by_file for cell in columns[name]] for name in shared}
    sources = [_sources(pattern, pooled) for pattern in patterns]
    of_files = next((pattern for pattern, names in zip(patterns, sources) if not names), None)
    if of_files is not None:
        return f"{said} {of_files.option} reads the names of the files"
    name = sources[0][0]
    sets = [{*columns[name]} for columns in by_file]
    if all(own == sets[0] for own in sets):
        return ""
    number = len(set().union(*sets))
    if number == sum(map(len, sets)):
        return f"{said} the names in {name} are others in each"
    raise ValueError(
        f"{some(titles)}: expected in {name} the same names in each file, whose rows are then the same, or others "
        f"in each, whose rows are then one below another, got some in several ({number:,} different ones); a pattern "
        "of the files' names, as groups_from_name, says that they stand one below another"
    )


def with_columns(
    table: Table, patterns: Sequence[Pattern], files: np.ndarray | None
) -> tuple[Table, dict[str, list[str]], list[str]]:
    """The table with a column for each pattern, their names by column of the metric, and a sentence on each.

    All names that a pattern reads come from one place: the column of words in which it has a match, or, without one,
    the names of the files that the rows come from. Of several such columns, it is the one whose header names rows, or
    the first if all give the same values. Parameters: files, (N,) of the rows; None if there is one. Raises
    ValueError, with file and line, for a name without a match, and for columns that give other values.
    """
    columns = name_columns(table) if patterns else {}
    chosen: dict[str, list[str]] = {}
    notes = []
    for pattern in patterns:
        sources = _sources(pattern, columns)
        if sources:
            first, *others = sources
            values, source = _values(pattern, columns[first], first, table), f"the names in {first}"
            for other in others:
                _check_alike(pattern, (first, values), (other, columns[other]), table)
        elif files is not None:
            by_file = {name: pattern.value(name) for name in dict.fromkeys(files.tolist())}
            values, source = [by_file[name] for name in files.tolist()], "the names of their files"
        else:
            there = ", ".join(f"{name} ({cells[0]}, …)" for name, cells in columns.items() if cells)
            expected = f"{pattern.option}: expected a column of names that match {pattern.regex.pattern!r}"
            raise ValueError(f"{expected}, got {there or 'none'}")
        name = pattern.option.replace("_", " ")
        table = table._replace(arrays={**table.arrays, name: np.asarray([*values, None], dtype=object)[:-1]})
        chosen[pattern.column] = [name]
        notes.append(f"{pattern.column}: {_counted(values)}, by {source}")
    return table, chosen, notes


def _sources(pattern: Pattern, columns: Mapping[str, Sequence[str]]) -> list[str]:
    """The columns in which a pattern has a match; of these, those whose header names rows, if there are any."""
    matching = [name for name, cells in columns.items() if pattern.matches_any(cells)]
    return [name for name in matching if names_rows(name)] or matching


def _check_alike(
    pattern: Pattern, own: tuple[str, Sequence[str | None]], other: tuple[str, Sequence[str]], table: Table
) -> None:
    """Raise ValueError for a column of names that gives other values than the first."""
    (first, values), (name, cells) = own, other
    others = [pattern.value_or_none(cell) for cell in cells]
    row = next((row for row, (value, one) in enumerate(zip(values, others)) if value != one), None)
    if row is not None:
        one, another = (f"{column}, with {value[row] or 'none'}" for column, value in ((first, values), (name, others)))
        raise ValueError(
            f"{pattern.option}: expected one column of names that match {pattern.regex.pattern!r}, got {one}, and "
            f"{another} ({table.lines.get(name, Lines()).place(row)}); a header such as file says which names rows"
        )


def _values(pattern: Pattern, names: Sequence[str], column: str, table: Table) -> list[str | None]:
    """The value of each name of a column."""
    of_name: dict[str, str | None] = {}
    for row, name in enumerate(names):
        if name not in of_name:
            try:
                of_name[name] = pattern.value(name)
            except ValueError as error:
                lines, file = table.lines.get(column, Lines()), table.files.get(column)
                place = f"{column}, {lines.place(row)}" if file is None else f"{file}: {column}, {lines.place(row)}"
                raise ValueError(f"{error} ({place})") from None
    return [of_name[name] for name in names]


def _counted(values: Sequence[Any]) -> str:
    """How many rows there are of each value or, of many, of the least and the most frequent.

    >>> _counted(["normal", "anomaly", "normal", None])
    '2 normal, 1 anomaly, 1 blank'
    """
    counts = Counter("blank" if value is None else value for value in values)
    if len(counts) <= _SHOWN:
        return ", ".join(f"{count:,} {value}" for value, count in counts.items())
    return f"{len(counts):,} of {min(counts.values()):,} to {max(counts.values()):,} rows"
