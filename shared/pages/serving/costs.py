"""Limits on the cost of a computation, estimated from options, columns and state before it starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sized
from typing import Any, NamedTuple

import numpy as np

from ...metric.groups import ALL, GROUPS
from ...reading.limits import RefusedError
from .limits import IntervalsError

MAX_ITEMS = 5_000  # items of an option that is a list
MAX_STEPS = 1_000_000_000  # items of such a list, times the rows that each may visit
MAX_SAMPLES = 20_000  # images
MAX_GROUPS = 2_000
MAX_NUMBERS = 50_000  # items of such a list, times groups, a number for each pair: 3 s
MAX_COUNTED = 20_000_000  # samples represented by rows with counts; figures draw each sample
MAX_RESAMPLED = 200_000  # rows
MAX_DRAWN = 1_000_000  # steps of each resample; a thousand resamples of a thousand steps take 0.025 s


class Cost(NamedTuple):
    """An amount that a computation needs, the most that a page allows, and the error if it is more."""

    what: str
    amount: int
    most: int
    error: type[RefusedError] = RefusedError


class Drawing(NamedTuple):
    """The work of a resample, in steps of some 25 ns, the time of a metric with one number for a sample.

    sample: for a sample, or an image; a fifth of it more for each number
    group: for each group, or all samples, before any is counted
    number: for each number of each group
    """

    sample: int = 1
    group: int = 2_000
    number: int = 1_000

    def steps(self, results: Mapping[str, Any], groups: int, samples: int) -> int:
        """The steps of a resample, from the results without intervals; groups without samples of their own are one."""
        keys = sum(not isinstance(value, (list, Mapping)) for value in results.values())
        tables = [table for table in results.values() if isinstance(table, Mapping)]
        columns = [column for table in tables for column in table.values() if isinstance(column, list)]
        numbers = keys + sum(not isinstance(value, str) for column in columns for value in column)
        return groups * self.group + numbers * self.number + samples * self.sample * (5 + keys) // 5


def check_costs(costs: Iterable[Cost]) -> None:
    """Raise RefusedError, which names the limit, for the first cost that exceeds it."""
    for what, amount, most, error in costs:
        if amount > most:
            takes = "draw intervals of" if error is IntervalsError else "take"
            limit = f"pages {takes} at most {most:,} {what}, not {amount:,}"
            raise error(f"{limit}; the package and the command line have no such limit")


def items(value: Any) -> int:
    """Count the items of an option: the length of a list, else one.

    >>> items((0.1, 0.3)), items("auroc"), items(None)
    (2, 1, 1)
    """
    return len(value) if isinstance(value, Sized) and not isinstance(value, str) else 1


def option_costs(options: Mapping[str, Any]) -> Iterator[Cost]:
    """The length of each option."""
    return (Cost(f"values of {name}", items(value), MAX_ITEMS) for name, value in options.items())


def group_costs(options: Mapping[str, Any], groups: int) -> Iterator[Cost]:
    """The cost of each list option: every item may give a number for every group."""
    for name, value in options.items():
        if items(value) > 1:
            yield Cost(f"values of {name} times groups", items(value) * groups, MAX_NUMBERS)


def image_costs(columns: Mapping[str, Any]) -> Iterator[Cost]:
    """The length of each column with an entry per image."""
    return (Cost(f"images in {name}", items(column), MAX_SAMPLES) for name, column in columns.items())


def interval_costs(options: Mapping[str, Any], samples: int) -> Iterator[Cost]:
    """The samples or images, if they are to be resampled."""
    if options.get("confidence_level") is not None:
        yield Cost("rows of the data", samples, MAX_RESAMPLED, IntervalsError)


def drawn_costs(steps: int, times: int = 1) -> Iterator[Cost]:
    """The steps of a resample, which is drawn so many times."""
    yield Cost("steps in each resample", times * steps, MAX_DRAWN, IntervalsError)


def num_rows(state: Mapping[str, Any]) -> tuple[int, int]:
    """The groups of a state, or 1, and the rows of all of them: those without a group count in each.

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
    shared = sizes.pop(ALL, 0) if len(sizes) > 1 else 0
    return max(1, len(sizes)), sum(sizes.values()) + len(sizes) * shared


def step_costs(options: Mapping[str, Any], state: Mapping[str, Any]) -> Iterator[Cost]:
    """The cost of each list option: every item may visit all rows of a state."""
    size = max((len(array) for array in state.values() if np.ndim(array)), default=0)
    for name, value in options.items():
        if items(value) > 1:
            yield Cost(f"values of {name} times rows of the data", items(value) * size, MAX_STEPS)
