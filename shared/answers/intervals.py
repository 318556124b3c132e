"""Intervals that come by themselves: one rule for terminal, report and page, by the cost of drawing them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..metric.bootstrap import FEWEST, Part, are_enough, whole
from ..metric.clusters import OF_CLUSTERS
from ..metric.groups import ALL, GROUPS, as_parts, groups_of, rows_of_groups
from ..metric.results import Results
from ..reading.reading import Category, Reading
from .costs import IntervalsError, check_cost, num_rows
from .subject import Computed, Drawing, Lighter, Subject

LEVEL = 0.95  # confidence level of intervals for which none is chosen
MAX_AUTOMATIC = 400_000_000  # steps of intervals that no one asked for: some ten seconds, after the numbers stand
SLOW = "Intervals take longer here, and were left out."
FEW = f"No intervals: there are fewer than {FEWEST} samples of a kind."


def level_of(
    subject: Subject,
    here: Mapping[str, Computed],
    rows: Mapping[str, Mapping[str, Results]],
    reading: Reading,
    options: Mapping[str, Any],
    wanted: bool | None,
    bounded: bool,
) -> tuple[float | None, str]:
    """The confidence level, or None for no intervals, and a sentence on why there are none.

    Intervals that no one asked for come by themselves where they take at most `MAX_AUTOMATIC` steps. A resample passes
    once over the samples of each model, and twice for each pair.

    Parameters: the computations of the first category, and the results of its groups, by model; the reading of all;
    options of that category; wanted, whether intervals are asked for, or None; bounded, whether their cost is.
    """
    level = options["confidence_level"]
    automatic = not wanted and level is None
    if automatic and wanted is False:
        return None, ""
    times, work = options["n_resamples"] * len(here) ** 2, dict[str, int]()
    for model, one in here.items():
        results = whole(rows[model], {}, **subject.metric(**options).means)[0].as_dict()
        columns = reading.models[model]
        groups, entries = num_rows(one.state)
        entries = max(map(len, columns.values())) if subject.images_are_rows else entries
        groups = max(groups, len(groups_of(rows_of_groups(columns[GROUPS]))) if len(reading.category_names) > 1 else 1)
        more = subject.more_numbers(one.state, options)
        work |= work_of_resamples(subject, results, groups, entries, times, more)
    if not automatic and bounded:
        check_cost(work, IntervalsError)
    if automatic and max(work.values()) > MAX_AUTOMATIC:
        return None, SLOW
    return level or LEVEL, ""


def is_slow_by_images(subject: Subject, reading: Reading, options: Mapping[str, Any]) -> bool:
    """Whether intervals of images take longer by the numbers of images and groups alone, before any is read."""
    if not subject.images_are_rows:
        return False
    categories, images = len(reading.category_names), reading.length // max(1, len(reading.models))
    times = options["n_resamples"] * len(reading.models) ** 2
    return max(work_of_resamples(subject, {}, categories, images, times).values()) > MAX_AUTOMATIC


def lighter_of(subject: Subject, options: Sequence[Mapping[str, Any]]) -> Lighter | None:
    """The lighter part of the numbers, if the options of each category ask for it."""
    lighter = subject.lighter
    return lighter if lighter is not None and all(map(lighter.suits, options)) else None


def fewer_intervals(lighter: Lighter | None) -> tuple[float | None, str, str]:
    """The level, a sentence, and the numbers that have intervals, where intervals of all numbers take longer."""
    if lighter is None:
        return None, SLOW, ""
    return LEVEL, f"Intervals of all numbers take longer here: only {lighter.of} have some.", lighter.of


def lighter_parts(lighter: Lighter | None, subject: Subject, category: Category, one: Computed) -> list[Part]:
    """The lighter parts of a computation; none of samples in clusters, which it does not have."""
    states = as_parts({name: array for name, array in one.state.items() if name != "metric"})
    if lighter is None or any({*OF_CLUSTERS} & state.keys() for state in states.values()):
        return []
    metric = subject.metric(**{**one.options, **lighter.options, "confidence_level": None})
    metric.keeps_samples = True
    for group, state in states.items():
        columns = lighter.columns(state)
        number = max(map(len, columns.values()))
        metric.add_batch(**columns, **({GROUPS: [group or None] * number} if states.keys() - {ALL} else {}))
    return [*metric.prepared_parts(category.group)]


def have_enough(parts: Mapping[str, Sequence[Part]]) -> bool:
    """Whether each part of each model has enough samples of each kind."""
    return all(are_enough(part.prepared) for model_parts in parts.values() for part in model_parts)


def work_of_resamples(
    subject: Subject, results: Mapping[str, Any], groups: int, rows: int, times: int, more: int = 0
) -> dict[str, int]:
    """The work of `times` resamples of rows in groups, from the results of some of the groups without intervals.

    more: numbers of each group that a resample computes, and the results do not list
    """
    numbers = _num_numbers(results, groups) + more * groups
    steps = steps_of_resample(subject.drawing, sum(map(_is_plain, results.values())), numbers, groups, rows)
    what = f"{groups:,} groups with " * (groups > 1) + f"{numbers:,} numbers from {rows:,} rows, {times:,} resamples"
    return {what: times * steps}


def steps_of_resample(drawing: Drawing, keys: int, numbers: int, groups: int, rows: int) -> int:
    """The steps of a resample; groups without samples of their own are one.

    >>> steps_of_resample(Drawing(), 2, 2, 1, 1_000)
    5400
    """
    return groups * drawing.group + numbers * drawing.number + rows * drawing.sample * (5 + keys) // 5


def _is_plain(value: Any) -> bool:
    return not isinstance(value, (list, Mapping))


def _num_numbers(results: Mapping[str, Any], groups: int) -> int:
    """The numbers of all samples and of each group; the results may have some groups alone."""
    columns, plain = results.get(GROUPS, {}).values(), sum(map(_is_plain, results.values()))
    of_groups = sum(not isinstance(value, str) for each in columns for value in each)
    some = len(results.get(GROUPS, {}).get("group", ()))
    return plain + max(of_groups, (of_groups or plain) * groups // max(1, some) if groups > max(1, some) else 0)
