"""Limits on the cost of a computation, estimated from options, columns and state before it starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sized
from typing import Any, NamedTuple

import numpy as np

from .limits import RefusedError

MAX_ITEMS = 5_000  # items of an option that is a list
MAX_STEPS = 1_000_000_000  # items of such a list, times the rows that each may visit
MAX_SAMPLES = 20_000  # images
MAX_GROUPS = 2_000
MAX_NUMBERS = 50_000  # items of such a list, times groups, a number for each pair: 3 s
MAX_COUNTED = 20_000_000  # samples represented by rows with counts; figures draw each sample
MAX_RESAMPLED = 200_000  # rows
MAX_DRAWN = 650_000  # numbers times rows in each of a thousand resamples: about 0.1 ms for a thousand
_PER_NUMBER = 400  # the fixed cost of one number in a resample, in rows


class Cost(NamedTuple):
    """An amount that a computation needs, and the most that a page allows."""

    what: str
    amount: int
    most: int


def check_costs(costs: Iterable[Cost]) -> None:
    """Raise RefusedError, which names the limit, for the first cost that exceeds it."""
    for what, amount, most in costs:
        if amount > most:
            raise RefusedError(
                f"pages take at most {most:,} {what}, not {amount:,}; "
                "the package and the command line have no such limit"
            )


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


def interval_costs(options: Mapping[str, Any], state: Mapping[str, Any]) -> Iterator[Cost]:
    """The rows of the longest array of a state, if they are to be resampled."""
    if options.get("confidence_level") is not None:
        size = max((len(array) for array in state.values() if np.ndim(array)), default=0)
        yield Cost("rows of the data with a confidence_level", size, MAX_RESAMPLED)


def drawn_costs(results: Mapping[str, Any], state: Mapping[str, Any], times: int = 1) -> Iterator[Cost]:
    """The cost of intervals: numbers per resample times rows, from the results without intervals.

    Each key visits all rows, group by group; each number of a table has its own interval.
    """
    keys = sum(not isinstance(value, (list, Mapping)) for value in results.values())
    tables = [table for table in results.values() if isinstance(table, Mapping)]
    numbers = keys + sum(len(column) for table in tables for column in table.values() if isinstance(column, list))
    amount = times * keys * _rows(state) + _PER_NUMBER * numbers
    yield Cost("numbers times rows of the data with a confidence_level", amount, MAX_DRAWN)


def _rows(state: Mapping[str, Any]) -> int:
    """The rows of the longest array of a state, summed over groups."""
    sizes: dict[str, int] = {}
    for name, array in state.items():
        group = name.rpartition("/")[0]
        sizes[group] = max(sizes.get(group, 0), len(array) if np.ndim(array) else 0)
    return sum(sizes.values())


def step_costs(options: Mapping[str, Any], state: Mapping[str, Any]) -> Iterator[Cost]:
    """The cost of each list option: every item may visit all rows of a state."""
    size = max((len(array) for array in state.values() if np.ndim(array)), default=0)
    for name, value in options.items():
        if items(value) > 1:
            yield Cost(f"values of {name} times rows of the data", items(value) * size, MAX_STEPS)
