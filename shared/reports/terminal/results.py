"""The results of a metric as text: a row for each, and tables below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...metric.numbers import arrow, interval_text, number_text, with_arrow
from ...metric.results import Count, Rate, Summary
from ...written.aligned import Paint, aligned, painted, plain, quiet, strong, text_width

_ROWS = 20  # the most rows of a table to show


def results_text(
    name: str,
    about: str,
    summary: Summary,
    note: str = "",
    *,
    percent: bool = False,
    width: int = 116,
    paint: Paint = plain,
) -> str:
    """The name of a metric and its data, a row for each result or group, and tables.

    A threshold has all its digits, so that it can be used as an option: a sample is unknown if its score is above it.

    Parameters: name of the metric; about, what it is of; summary, its results; note, a line at the end; percent,
    whether shares are times 100; width of the terminal, in characters; paint.

    >>> rates = {"auroc": Rate(0.819, True, interval=(0.801, 0.838)), "fpr95tpr": Rate(0.631, False, threshold=-0.25)}
    >>> print(results_text("ood_bench", "2,000 samples", Summary({**rates, "total": 12}), "1,000 resamples"))
    ood_bench  2,000 samples
      auroc     0.819  [0.801, 0.838]  ↑
      fpr95tpr  0.631                  ↓  at score > -0.25
      total        12
    1,000 resamples
    """
    groups = summary.groups or {}
    in_groups = {key for row in groups.values() for key in row}
    tables = {key: table for key, table in summary.results.items() if _is_table(table)}
    rows = [
        _row(key, one, percent) for key, one in summary.results.items() if key not in tables and key not in in_groups
    ]
    parts = [painted((strong(name), quiet(f"  {about}" if about else "")), paint)]
    if rows:
        table = aligned(_without_empty_columns(rows), left=(0, len(rows[0])), paint=paint)
        parts[0] += "".join(f"\n  {line}" for line in table.split("\n"))
    if groups:
        parts += _groups_texts(summary.results, groups, percent, width, paint)
    parts += [_table_text(key, table, paint) for key, table in tables.items()]
    return "\n\n".join(parts) + (f"\n{painted(quiet(note), paint)}" if note else "")


def _row(key: str, result: Any, percent: bool) -> list[Any]:
    if not isinstance(result, Rate):
        higher = result.higher if isinstance(result, Count) else None
        value = result.value if isinstance(result, Count) else result
        return [key, strong(_exact(key, value)), "", arrow(higher), ""]
    return [
        key,
        strong(result.text(percent=percent)),
        quiet(_ends(result, percent)),
        arrow(result.higher),
        quiet(" ".join(_beside(result, percent))),
    ]


def _ends(result: Rate, percent: bool) -> str:
    """The interval of a rate; "" if it has none."""
    if result.interval is None:
        return ""
    return interval_text(*result.interval, percent=percent and result.share)


def _beside(result: Rate, percent: bool) -> list[str]:
    error = [] if result.error is None else [f"± {result.error * (100 if percent and result.share else 1):.1g}"]
    return error + ([] if result.threshold is None else [f"at score > {result.threshold!r}"])


def _exact(key: str, value: Any) -> str:
    return repr(value) if key.endswith("threshold") and isinstance(value, float) else number_text(value)


def _without_empty_columns(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    kept = [i for i, column in enumerate(zip(*rows)) if any(column)]
    return [[row[i] for i in kept] for row in rows]


def _groups_texts(
    results: Mapping[str, Any], groups: Mapping[str, Mapping[str, Any]], percent: bool, width: int, paint: Paint
) -> list[str]:
    """A row for each group, and a last row for the mean; columns that do not fit get a table below."""
    keys = list(dict.fromkeys(key for row in groups.values() for key, result in row.items() if not _is_table(result)))
    shown = [*groups][:_ROWS]
    names: list[Any] = [quiet("group"), *shown, strong(f"mean of {_leaves(groups)}")]
    columns = [
        [
            quiet(with_arrow(key, _higher(groups, key))),
            *(_cell(key, groups[name].get(key), percent) for name in shown),
            _cell(key, results.get(key), percent, strong),
        ]
        for key in keys
    ]
    blocks = [[names]]
    for column in columns:
        if len(blocks[-1]) > 1 and _width([*blocks[-1], column]) > width:
            blocks.append([names])
        blocks[-1].append(column)
    more = [f"… and {len(groups) - _ROWS} more groups, which --save has"] if len(groups) > _ROWS else []
    return [aligned([*zip(*block)], paint=paint) for block in blocks] + more


def _leaves(groups: Mapping[str, Any]) -> int:
    """The number of groups that are not means of others."""
    return sum(not any(other.startswith(f"{name}/") for other in groups) for name in groups)


def _width(columns: Sequence[Sequence[Any]]) -> int:
    return max(map(text_width, aligned([*zip(*columns)]).split("\n")))


def _higher(groups: Mapping[str, Mapping[str, Any]], key: str) -> bool | None:
    return next((getattr(row[key], "higher", None) for row in groups.values() if key in row), None)


def _cell(key: str, result: Any, percent: bool, style: Any = str) -> Any:
    if isinstance(result, Rate):
        return (style(result.text(percent=percent)), quiet(f" {_ends(result, percent)}".rstrip()))
    return style(_exact(key, result.value if isinstance(result, Count) else result))


def _is_table(value: Any) -> bool:
    columns = [*value.values()] if isinstance(value, Mapping) else []
    return bool(columns) and all(isinstance(x, list) for x in columns) and len({len(x) for x in columns}) == 1


def _table_text(key: str, table: Mapping[str, list[Any]], paint: Paint) -> str:
    rows = [["table" if isinstance(value, Mapping) else _exact(name, value) for name, value in zip(table, row)]
            for row in zip(*table.values())]  # fmt: skip
    more = f"\n… and {len(rows) - _ROWS} more rows, which JSON has" if len(rows) > _ROWS else ""
    return f"{painted(strong(key), paint)}\n" + aligned([list(map(quiet, table)), *rows[:_ROWS]], paint=paint) + more
