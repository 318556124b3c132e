"""The terminal summary of `openworld-metrics anomaly`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ...evaluation.anomaly_comparison import ENDS
from ...evaluation.anomaly_text import described
from ...metric.numbers import number_text, with_arrow
from ...metric.results import Rate, Summary
from ...reports.anomaly.numbers import Numbers
from ...reports.terminal.comparison import comparison_text
from ...reports.terminal.results import results_text
from ...written.aligned import Paint, aligned, painted, quiet, strong
from ...written.flat import KINDS
from .people import LEVEL, for_people, model_names, width

_COLUMNS = 5  # rates in the table by category


def anomaly_text(numbers: Numbers, differences: Mapping[str, Any] | None, percent: bool) -> str:
    """A row for each rate, or for its mean over the categories, and a table by category.

    Parameters: numbers, with the intervals to show; differences of two models, which the rows are then of; percent,
    whether rates are times 100.
    """
    results, names = numbers.results, numbers.results["groups"]["group"]
    leaves = [name for name in names if not any(other.startswith(f"{name}/") for other in names)]
    kind = "categories" if leaves == names else "groups"
    means = f", means over {len(leaves)} {kind}" if len(leaves) > 1 else ""
    lines = [f"by {'category' if leaves == names else 'group'}: --save, --report"] if means else []
    about, note = f"{described(results)}{means}", "\n".join([*_on_intervals(numbers), *lines])
    shown: dict[str, Any] = {"percent": percent, "width": width()}
    if differences is not None:
        folders = [each["evaluation"]["maps"] for each in (results, numbers.other or results)]
        table, models = _with_intervals(differences, numbers.comparison), model_names(*folders)
        level = results["evaluation"]["options"]["confidence_level"] or LEVEL
        rows = partial(comparison_text, table, models, kinds=results[KINDS], level=level, **shown)
        return for_people(lambda paint: f"{about}\n\n{rows(paint=paint)}\n{painted(quiet(note), paint)}".rstrip())
    rows = partial(results_text, "anomaly", about, Summary({key: _rate(numbers, key) for key in numbers.keys}), **shown)
    if not means:
        return for_people(lambda paint: rows(note=note, paint=paint))
    return for_people(
        lambda paint: f"{rows(paint=paint)}\n\n{_by_category(numbers, percent, paint)}\n{painted(quiet(note), paint)}"
    )


def _on_intervals(numbers: Numbers) -> list[str]:
    """How the intervals were computed, and how to get those that are not there."""
    if numbers.intervals == "none":
        return [f"intervals: --confidence-level {LEVEL}"]
    more = f"; of all rates: --confidence-level {LEVEL}" if numbers.of_images_only else ""
    return [f"intervals {numbers.intervals}{more}"]


def _with_intervals(differences: Mapping[str, Any], comparison: Mapping[str, Any] | None) -> dict[str, list[Any]]:
    """The differences of all rates, with the intervals of those that a comparison has."""
    sure = {key: i for i, key in enumerate(comparison["key"])} if comparison is not None else {}
    ends = {end: comparison[end] for end in ENDS} if comparison is not None and "low" in comparison else {}
    keys = differences["key"]
    table = {name: differences[name] for name in ("key", "first", "second", "difference")}
    return table | {end: [column[sure[key]] if key in sure else None for key in keys] for end, column in ends.items()}


def _rate(numbers: Numbers, key: str) -> Rate:
    """A rate with its interval and, if there is one category, its threshold."""
    results, kind = numbers.results, numbers.results[KINDS][key]
    low, high = (results.get(f"{key}_{end}") for end in ("low", "high"))
    thresholds = results["groups"].get(f"{key}_threshold", ())
    return Rate(
        results[key],
        kind["higher"],
        kind["share"],
        error=results.get(f"{key}_error"),
        threshold=thresholds[0] if len(thresholds) == 1 else None,
        interval=None if low is None or high is None else (low, high),
    )


def _by_category(numbers: Numbers, percent: bool, paint: Paint) -> str:
    """The most important rates of each category, as many as fit a line."""
    table, keys = numbers.results["groups"], numbers.keys[:_COLUMNS]
    heads = [quiet(with_arrow(key, numbers.higher(key))) for key in keys]
    rows = [
        [strong(name), str(images), *(_cell(numbers, key, table[key][i], percent) for key in keys)]
        for i, (name, images) in enumerate(zip(table["group"], table["images"]))
    ]
    return aligned([[quiet("category"), quiet("images"), *heads], *rows], paint=paint)


def _cell(numbers: Numbers, key: str, value: Any, percent: bool) -> str:
    share = percent and numbers.results[KINDS][key]["share"]
    return number_text(value, percent=share)
