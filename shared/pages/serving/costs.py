"""What a computation may cost on a page: counted from options, columns and state, and refused before it is paid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sized
from typing import Any, NamedTuple

import numpy as np

from .limits import RefusedError

MAX_ITEMS = 5_000  # of an option that is a list
MAX_STEPS = 1_000_000_000  # items of such a list, times the rows that each of them may go over
MAX_SAMPLES = 20_000  # images
MAX_GROUPS = 2_000
MAX_NUMBERS = 50_000  # items of such a list, times the groups, each of which has a number for each: 3 s
MAX_COUNTED = 20_000_000  # samples that rows with counts stand for, of which pictures draw each
MAX_RESAMPLED = 200_000  # rows
MAX_DRAWN = 650_000  # numbers times rows, in each of a thousand resamples: some 0.1 ms for a thousand of them
_PER_NUMBER = 400  # as many rows as a number that a resample gives takes, whatever it is of


class Cost(NamedTuple):
    """How much of something a computation takes, and the most of it that a page pays."""

    what: str
    amount: int
    most: int


def check_costs(costs: Iterable[Cost]) -> None:
    """Raise RefusedError, which names the limit, for the first cost that is above its own."""
    for what, amount, most in costs:
        if amount > most:
            raise RefusedError(
                f"expected at most {most:,} {what} on a page, got {amount:,}; "
                "the package and the command line have no such limit"
            )


def items(value: Any) -> int:
    """How many items an option has: those of a list, else one.

    >>> items((0.1, 0.3)), items("auroc"), items(None)
    (2, 1, 1)
    """
    return len(value) if isinstance(value, Sized) and not isinstance(value, str) else 1


def option_costs(options: Mapping[str, Any]) -> Iterator[Cost]:
    """The length of each option."""
    return (Cost(f"values of {name}", items(value), MAX_ITEMS) for name, value in options.items())


def group_costs(options: Mapping[str, Any], groups: int) -> Iterator[Cost]:
    """The items of each option that is a list, each of which may give a number for each group."""
    for name, value in options.items():
        if items(value) > 1:
            yield Cost(f"values of {name} times groups", items(value) * groups, MAX_NUMBERS)


def image_costs(columns: Mapping[str, Any]) -> Iterator[Cost]:
    """The length of each column that has an entry for each image."""
    return (Cost(f"images in {name}", items(column), MAX_SAMPLES) for name, column in columns.items())


def interval_costs(options: Mapping[str, Any], state: Mapping[str, Any]) -> Iterator[Cost]:
    """The rows of the longest array of a state, if all are resampled a thousand times."""
    if options.get("confidence_level") is not None:
        size = max((len(array) for array in state.values() if np.ndim(array)), default=0)
        yield Cost("rows of the data with a confidence_level", size, MAX_RESAMPLED)


def drawn_costs(results: Mapping[str, Any], state: Mapping[str, Any], times: int = 1) -> Iterator[Cost]:
    """The numbers that are drawn in each resample, from the results without intervals, and the rows they go over.

    Each key goes over all rows, those of each group by turns; each number of a table has its own interval.
    """
    keys = sum(not isinstance(value, (list, Mapping)) for value in results.values())
    tables = [table for table in results.values() if isinstance(table, Mapping)]
    numbers = keys + sum(len(column) for table in tables for column in table.values() if isinstance(column, list))
    amount = times * keys * _rows(state) + _PER_NUMBER * numbers
    yield Cost("numbers times rows of the data with a confidence_level", amount, MAX_DRAWN)


def _rows(state: Mapping[str, Any]) -> int:
    """The rows of the longest array of a state; of one with groups, of each group of it."""
    sizes: dict[str, int] = {}
    for name, array in state.items():
        group = name.rpartition("/")[0]
        sizes[group] = max(sizes.get(group, 0), len(array) if np.ndim(array) else 0)
    return sum(sizes.values())


def step_costs(options: Mapping[str, Any], state: Mapping[str, Any]) -> Iterator[Cost]:
    """The items of each option, each of which may go over all rows of the longest array of a state."""
    size = max((len(array) for array in state.values() if np.ndim(array)), default=0)
    for name, value in options.items():
        if items(value) > 1:
            yield Cost(f"values of {name} times rows of the data", items(value) * size, MAX_STEPS)
