"""Results as tables: models or groups as rows, and what a metric returns as tables itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..metric.groups import prefixes
from ..metric.results import Count, Key, Rate, Summary, kind_of
from .answer import Table
from .subject import Computed, Subject

Marks = Mapping[Key, Sequence[str]]  # the best models of each rate


def scalars(results: Mapping[str, Any]) -> dict[str, Any]:
    """The results that are numbers: rates, counts and thresholds, but no tables or lists."""
    return {key: result for key, result in results.items() if isinstance(result, (Rate, Count, int, float))}


def plain(result: Any) -> Any:
    """The value of a rate or a count as a plain number; other results as they are."""
    return result.value if isinstance(result, (Rate, Count)) else result


def plural(noun: str) -> str:
    """The plural of a regular noun, of the first word of several.

    >>> plural("detector"), plural("category"), plural("set of maps")
    ('detectors', 'categories', 'sets of maps')
    """
    word, space, rest = noun.partition(" ")
    return (f"{word[:-1]}ies" if word.endswith("y") else f"{word}s") + space + rest


def mean_over(subject: Subject, summary: Summary) -> str:
    """The groups that numbers are means over, such as "mean of 3 sets"; "" without groups."""
    groups = {*(summary.groups or ())}
    number = len(groups - prefixes(groups))
    return f"mean of {number:,} {plural(subject.group) if number > 1 else subject.group}" if number else ""


def models_table(subject: Subject, summaries: Mapping[str, Summary], marks: Marks) -> Table:
    """The models as rows; columns are the numbers with a direction, or all if none has one."""
    every = {key: result for summary in summaries.values() for key, result in scalars(summary.results).items()}
    keys = [key for key, result in every.items() if kind_of(result).get("higher") is not None] or [*every]
    names, rows = [*summaries], [summary.results for summary in summaries.values()]
    best = [(names.index(name), key) for key, alike in marks.items() if isinstance(key, str) for name in alike]
    return _table(f"{len(names)} {plural(subject.noun)}", subject.noun, names, rows, keys, best)


def group_table(subject: Subject, computed: Computed) -> Table:
    """The groups of a model as rows: first the means, last all groups pooled."""
    groups = dict(computed.summary.groups or {})
    means = sorted(prefixes(groups))
    names = [*means, *(name for name in groups if name not in means)]
    rows = {mean_over(subject, computed.summary): computed.summary.results, **{name: groups[name] for name in names}}
    if computed.pooled is not None:
        rows["pooled"] = computed.pooled.results
    keys = [*scalars(computed.summary.results)]
    table = _table(f"By {subject.group}", subject.group, [*rows], [*rows.values()], keys)
    return replace(table, first=1 + len(means))


def group_models_table(subject: Subject, summaries: Mapping[str, Summary], marks: Marks, key: str, title: str) -> Table:
    """A key of all models by group: groups are rows, models are columns."""
    groups = [*(next(iter(summaries.values())).groups or ())]
    of_models = {name: summary.groups or {} for name, summary in summaries.items()}
    rows = [{name: own[group][key] for name, own in of_models.items() if key in own.get(group, {})} for group in groups]
    best = [(i, name) for i, group in enumerate(groups) for name in marks.get((group, key), ())]
    return _table(f"{title} by {subject.group}", subject.group, groups, rows, [*of_models], best)


def _table(
    title: str,
    noun: str,
    names: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    keys: Sequence[str],
    best: Sequence[tuple[int, str]] = (),
) -> Table:
    """A table of results, a row for each name and a column for each key."""
    kinds = {key: next((kind_of(row[key]) for row in rows if key in row), {}) for key in keys}
    intervals = {key: [getattr(row.get(key), "interval", None) for row in rows] for key in keys}
    return Table(
        title,
        {noun: names, **{key: [plain(row.get(key)) for row in rows] for key in keys}},
        [key for key in keys if kinds[key].get("share")],
        best,
        intervals={key: each for key, each in intervals.items() if any(each)},
        higher={key: kinds[key]["higher"] for key in keys if kinds[key].get("higher") is not None},
    )


def result_tables(summary: Summary) -> list[Table]:
    """The tables and lists among the results; the rows of a list are numbered from 1."""
    tables, shares = [], {key for key, kind in summary.kinds().items() if kind.get("share")}
    for key, value in summary.results.items():
        if isinstance(value, Mapping):
            tables.append(Table(key, value, [name for name in value if name in shares]))
        elif hasattr(value, "__iter__") and not isinstance(value, (str, Rate, Count)):
            rows = [np.asarray(row).tolist() for row in value]  # of scikit-learn, they may be lists
            cells = [str(row) if isinstance(row, list) else row for row in rows]
            tables.append(Table(key, {"place": [*range(1, len(cells) + 1)], key: cells}))
    return tables
