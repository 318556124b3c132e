"""One bound on the cost of an answer, estimated before it is computed.

Work is counted in steps of some 25 ns. What takes more than `MAX_STEPS` of them is refused: list options times rows,
resamples times groups, numbers and rows, and what a metric adds of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sized
from typing import Any

import numpy as np

from ..metric.groups import ALL, GROUPS, groups_of, keys_of_group, rows_of_groups
from ..metric.states import COUNTS
from ..reading.limits import RefusedError
from .subject import Drawing, Subject

MAX_STEPS = 1_000_000_000  # half a minute
MAX_AUTOMATIC = 400_000_000  # of intervals that no one asked for: some ten seconds, after the numbers stand
_ITEM, _GROUP, _IMAGE, _NUMBER, _COUNTED = 200_000, 500_000, 50_000, 20_000, 50  # steps of each


class IntervalsError(RefusedError):
    """Intervals that cost too much; without them, the numbers can be computed."""


def check_cost(work: Mapping[str, int], error: type[RefusedError] = RefusedError) -> None:
    """Raise RefusedError, or another error, where one of several works takes more than `MAX_STEPS` steps.

    >>> check_cost({"2,000 groups": 2_000 * 500_000})
    """
    for what, steps in work.items():
        if steps > MAX_STEPS:
            begin = "Intervals take" if error is IntervalsError else "This takes"
            raise error(f"{begin} too long here: {what}. The package and the command line have no such limit.")


def work_of_options(subject: Subject, columns: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, int]:
    """The work of options, groups and images by themselves, which needs no state."""
    work = {f"{_items(value):,} values of {name}": _items(value) * _ITEM for name, value in options.items()}
    if GROUPS in columns:
        groups = len(groups_of(rows_of_groups(columns[GROUPS])))
        work[f"{groups:,} groups"] = groups * _GROUP
        for name, value in options.items():
            work[f"{_items(value):,} values of {name} in {groups:,} groups"] = _pairs(value, groups * _NUMBER)
    if subject.images_are_rows:
        images = max((_items(column) for column in columns.values()), default=0)
        work[f"{images:,} images"] = images * _IMAGE
    return work


def work_of_state(
    subject: Subject, state: Mapping[str, Any], options: Mapping[str, Any], times: int = 1
) -> dict[str, int]:
    """The work of a state: list options times rows, samples by their counts, and the metric's additions.

    times: how often such a computation is made
    """
    _, rows = num_rows(state)
    work = {
        f"{_items(value):,} values of {name} for {rows:,} rows": times * _pairs(value, rows)
        for name, value in options.items()
    }
    samples = sum(int(array.sum()) for name, array in state.items() if name.rpartition("/")[2] == COUNTS)
    if samples:
        work[f"{samples:,} samples by their counts"] = samples * _COUNTED
    if GROUPS not in state:
        work |= {what: times * steps for what, steps in subject.more_costs(state, options).items()}
    return work


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


def num_rows(state: Mapping[str, Any]) -> tuple[int, int]:
    """The groups of a state, or 1, and the rows of all of them; rows of several groups count in each.

    >>> groups = {"groups": np.asarray(["", "far", "near"])}
    >>> num_rows(groups | {f"{i}/scores": np.zeros(2) for i in range(3)}), num_rows({"scores": np.zeros(2)})
    ((2, 8), (1, 2))
    """
    sizes: dict[str, int] = {}
    names = [str(name) for name in state.get(GROUPS, ())]
    for name, array in state.items():
        place, inside, _ = name.partition("/")
        group = names[int(place)] if inside else ALL
        if name != GROUPS and np.ndim(array):
            sizes[group] = max(sizes.get(group, 0), len(array))
    groups = groups_of(sizes)
    if not groups:
        return 1, sizes.get(ALL, 0)
    return len(groups), sum(sizes[key] for group in groups for key in keys_of_group(group, sizes))


def _items(value: Any) -> int:
    """The length of an option that is a list, else one."""
    return len(value) if isinstance(value, Sized) and not isinstance(value, str) else 1


def _pairs(value: Any, steps: int) -> int:
    """The steps of each item of a list; none of a single value."""
    return _items(value) * steps if _items(value) > 1 else 0


def _is_plain(value: Any) -> bool:
    return not isinstance(value, (list, Mapping))


def _num_numbers(results: Mapping[str, Any], groups: int) -> int:
    """The numbers of all samples and of each group; the results may have some groups alone."""
    columns, plain = results.get(GROUPS, {}).values(), sum(map(_is_plain, results.values()))
    of_groups = sum(not isinstance(value, str) for each in columns for value in each)
    some = len(results.get(GROUPS, {}).get("group", ()))
    return plain + max(of_groups, (of_groups or plain) * groups // max(1, some) if groups > max(1, some) else 0)
