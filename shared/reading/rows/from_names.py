"""Columns that a pattern makes of names: labels, groups and clusters of rows named section_00_normal_0001.wav."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...metric.clusters import CLUSTERS
from ...metric.groups import BAR, GROUPS
from ..columns.cells import are_words
from ..columns.metrics import Layout
from ..reasons import some
from ..tables.files import Lines, Streamed, Table, whole
from .joins import names_rows

FROM_NAMES = {"label_from_name": "", "groups_from_name": GROUPS, "clusters_from_name": CLUSTERS}  # "", of the labels
_SHOWN = 6  # values whose rows are counted one by one


Parts = tuple["str | None", ...]  # what the groups of a regular expression match; None of one that takes no part


@dataclass(frozen=True)
class Pattern:
    """A regular expression whose groups are the values of a column.

    option: the choice that it comes from
    column: the column of the metric
    regex: of which each name has one match; its groups with a slash between are the value; of labels without a group,
        the words of an alternation, normal|anomaly

    A part of the groups of a row that takes no part stands for all its values: beside rows of source/00 and target/00,
    one of (None, "00") belongs to both, and one of (None, None) to every group.
    """

    option: str
    column: str
    regex: re.Pattern[str]

    @property
    def made(self) -> str:
        """The name of the column that it makes, which ends with that of the pattern's only named group, if any."""
        return ": ".join([self.option.replace("_", " "), *(self.regex.groupindex if self.regex.groups == 1 else ())])

    def values(self, names: Sequence[str]) -> list[str | None]:
        """The values of names, None for a blank one. Raises the errors of `parts`."""
        parts = {name: self.parts(name) for name in dict.fromkeys(names)}
        full = [each for each in dict.fromkeys(parts.values()) if None not in each]
        value = {each: self._value(each, full) for each in dict.fromkeys(parts.values())}
        return [value[parts[name]] for name in names]

    def parts(self, name: str) -> Parts:
        """The parts of a name that groups match. Raises ValueError for a name without a match, or with several."""
        matches = [*self.regex.finditer(name)]
        parts = [*dict.fromkeys(map(self._parts, matches))]
        expected = f"{self.option}: expected each name to match '{self.regex.pattern}'"
        if not parts:
            raise ValueError(f"{expected}, got {name!r}")
        if len(parts) > 1:
            several = some(["/".join(filter(None, each)) or "none" for each in parts])
            raise ValueError(f"{expected} in one way, got {name!r}, in which it finds {several}")
        if not self.regex.groups and _is_within_word(matches[0]):
            raise ValueError(
                f"{expected} as a word of its own, got {name!r}; a group in parentheses takes a part of a word"
            )
        if not any(parts[0]) and self.column != GROUPS:
            raise ValueError(f"{expected} with a group that takes part, got {name!r}")
        return parts[0]

    def parts_or_none(self, name: str) -> Parts | None:
        """The parts of a name that groups match; None for a name that the pattern does not fit."""
        try:
            return self.parts(name)
        except ValueError:
            return None

    def _parts(self, match: re.Match[str]) -> Parts:
        return tuple(part or None for part in match.groups()) if self.regex.groups else (match[0],)

    def _value(self, parts: Parts, full: Sequence[Parts]) -> str | None:
        """The value of some parts, among all parts of which none is missing."""
        value = "/".join(filter(None, parts))
        if self.column != GROUPS or not value or None not in parts:
            return value or None
        here = [each for each in full if all(part in (None, one) for part, one in zip(parts, each))]
        return BAR.join("/".join(map(str, each)) for each in sorted(here)) or value

    def matches_any(self, names: Sequence[str]) -> bool:
        """Whether any of the names has a match."""
        return any(map(self.regex.search, names))


def _is_within_word(match: re.Match[str]) -> bool:
    """Whether letters stand beside a match: normal in abnormal."""
    text, (start, end) = match.string, match.span()
    return text[max(start - 1, 0) : start].isalpha() or text[end : end + 1].isalpha()


def pattern_of(option: str, column: str, text: str) -> Pattern:
    """The pattern of a choice, for a column of the metric.

    Raises ValueError for a text that is no regular expression or that has neither a group nor, of labels, words.
    """
    try:
        regex = re.compile(text)
    except re.error as error:
        raise ValueError(f"{option}: expected a regular expression, got '{text}': {error}") from None
    if not regex.groups and (FROM_NAMES[option] or "|" not in text):
        words = "" if FROM_NAMES[option] else ", or words, as in 'normal|anomaly'"
        raise ValueError(f"{option}: expected a group in parentheses, as in 'id_(\\d+)'{words}; got '{text}'")
    return Pattern(option, column, regex)


def patterns_of(layout: Layout, choices: Mapping[str, str | None]) -> list[Pattern]:
    """The patterns among choices, by FROM_NAMES.

    Raises ValueError for a metric without such a column, and the errors of `pattern_of`.
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
        patterns.append(pattern_of(option, column, text))
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
    opening = f"rows of {some(titles)} stand one below another, since"
    by_file = [name_columns(table) for table in tables]
    shared = [name for name in by_file[0] if all(name in columns for columns in by_file)]
    pooled = {name: [cell for columns in by_file for cell in columns[name]] for name in shared}
    sources = [_sources(pattern, pooled) for pattern in patterns]
    of_files = next((pattern for pattern, names in zip(patterns, sources) if not names), None)
    if of_files is not None:
        return f"{opening} {of_files.option} reads the names of the files"
    name = sources[0][0]
    sets = [{*columns[name]} for columns in by_file]
    if all(each == sets[0] for each in sets):
        return ""
    number = len(set().union(*sets))
    if number == sum(map(len, sets)):
        return f"{opening} the names in {name} are others in each"
    raise ValueError(
        f"{some(titles)}: expected in {name} the same names in each file, whose rows are then the same, or others "
        f"in each, whose rows are then one below another, got some in several ({number:,} different ones); a pattern "
        "of the files' names, as groups_from_name, says that they stand one below another"
    )


def with_columns(table: Table, patterns: Sequence[Pattern], files: np.ndarray | None) -> tuple[Table, list[str]]:
    """The table with a column for each pattern, and a sentence on each.

    All names that a pattern reads come from one place: the column of words in which it has a match, or, without one,
    the names of the files that the rows come from. Of several such columns, it is the one whose header names rows, or
    the first if all give the same values. Parameters: files, (N,) of the rows; None if there is one. Raises
    ValueError, with file and line, for a name without a match, and for columns that give other values.
    """
    columns = name_columns(table) if patterns else {}
    notes = []
    for pattern in patterns:
        sources = _sources(pattern, columns)
        if sources:
            first, *others = sources
            _check_names(pattern, columns[first], first, table)
            for other in others:
                _check_alike(pattern, (first, columns[first]), (other, columns[other]), table)
            values, source = pattern.values(columns[first]), f"the names in {first}"
        elif files is not None:
            values, source = pattern.values(files.tolist()), "the names of their files"
        else:
            there = ", ".join(f"{name} ({cells[0]}, …)" for name, cells in columns.items() if cells)
            expected = f"{pattern.option}: expected a column of names that match '{pattern.regex.pattern}'"
            raise ValueError(f"{expected}, got {there or 'none'}")
        arrays = {**table.arrays, pattern.made: np.asarray([*values, None], dtype=object)[:-1]}
        lines, of_files = {**table.lines}, {**table.files}
        if sources and sources[0] in lines:
            lines[pattern.made] = lines[sources[0]]
        if sources and sources[0] in of_files:
            of_files[pattern.made] = of_files[sources[0]]
        table = table._replace(arrays=arrays, lines=lines, files=of_files)
        table = table._replace(sources={**table.sources, pattern.made: sources[:1]})
        notes.append(f"{pattern.column}: {_counted(values)}, by {source}")
    return table, notes


def _sources(pattern: Pattern, columns: Mapping[str, Sequence[str]]) -> list[str]:
    """The columns in which a pattern has a match; only the ones whose header names rows, if there are any."""
    matching = [name for name, cells in columns.items() if pattern.matches_any(cells)]
    return [name for name in matching if names_rows(name)] or matching


def _check_names(pattern: Pattern, names: Sequence[str], column: str, table: Table) -> None:
    """Raise ValueError, with file and line, for a name of a column that the pattern does not fit."""
    for name in dict.fromkeys(names):
        try:
            pattern.parts(name)
        except ValueError as error:
            file = f"{table.files[column]}: " if column in table.files else ""
            place = table.lines.get(column, Lines()).place(names.index(name))
            raise ValueError(f"{error} ({file}{column}, {place})") from None


def _check_alike(
    pattern: Pattern, one: tuple[str, Sequence[str]], other: tuple[str, Sequence[str]], table: Table
) -> None:
    """Raise ValueError for two columns of names of which one gives other values."""
    values = [[*map(pattern.parts_or_none, names)] for _, names in (one, other)]
    row = next((row for row, (first, second) in enumerate(zip(*values)) if first != second), None)
    if row is not None:
        first, second = (
            f"{column}, with {'/'.join(filter(None, parts[row] or ())) or 'none'}"
            for (column, _), parts in zip((one, other), values)
        )
        raise ValueError(
            f"{pattern.option}: expected one column of names that match '{pattern.regex.pattern}', got {first}, and "
            f"{second} ({table.lines.get(other[0], Lines()).place(row)}); a header such as file says which names rows"
        )


def _counted(values: Sequence[str | None]) -> str:
    """How many rows there are of each value or, of many, of the least and the most frequent.

    >>> _counted(["normal", "anomaly", "normal", None])
    '2 normal, 1 anomaly, 1 blank'
    >>> _counted([*"abcdefg", "a|b"])
    '7 of 1 row each, 1 of several'
    """
    counts = Counter("blank" if value is None else "of several" if BAR in value else value for value in values)
    rest = [f"{counts.pop(word):,} {word}" for word in ("of several", "blank") if word in counts]
    if len(counts) <= _SHOWN:
        return ", ".join([*(f"{count:,} {value}" for value, count in counts.items()), *rest])
    low, high = min(counts.values()), max(counts.values())
    sizes = f"{low:,} to {high:,} rows" if low < high else f"{low:,} row{'s' * (low > 1)} each"
    return ", ".join([f"{len(counts):,} of {sizes}", *rest])
