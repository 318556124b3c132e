"""One bound on the cost of an answer, estimated before it is computed.

Work is counted in steps of some 25 ns. More than `MAX_STEPS` of them are refused: list options times rows, resamples
times groups, numbers and rows, and what a metric adds of its own. `intervals.py` says which intervals come by
themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sized
from typing import Any

import numpy as np

from ..metric.groups import ALL, GROUPS, groups_of, keys_of_group, rows_of_groups
from ..metric.states import COUNTS
from ..reading.limits import RefusedError
from .subject import Subject

MAX_STEPS = 1_000_000_000  # half a minute
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
