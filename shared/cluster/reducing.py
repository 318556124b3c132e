"""What workers do: they reduce a row group to states, or to a tally, and add tallies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..formats.reasons import named
from ..loading import metric_class
from .memory import check_this_worker
from .row_groups import RowGroup, read_row_group
from .tallies import add_tallies, can_tally, tally

Partial = tuple[str, list[dict[str, Any]]]  # a row group, and the states of its batches, or the one tally of them


def reduce_row_group(name: str, options: Mapping[str, Any], columns: Mapping[str, str], group: RowGroup) -> Partial:
    """Reduce a row group batch by batch; errors say which file and which row group.

    States of batches are not joined, which would take their memory twice: whoever merges them can take several.
    """
    tallied = can_tally(name, options)
    check_this_worker(group, tallied=tallied)
    metric = metric_class(name)(**options)
    partials: list[dict[str, Any]] = []
    with named(group):
        for batch in read_row_group(group, columns):
            metric.add_batch(**batch)
            state = metric.state()
            metric.reset()
            partials = [add_tallies(name, [*partials, tally(metric, state)])] if tallied else [*partials, state]
    return str(group), partials


def merge_tallies(name: str, partials: Iterable[Partial]) -> Partial:
    """Add what `reduce_row_group` gave for several, or this function for several of them; errors say which."""
    first = ""
    total: dict[str, Any] = {}
    for place, tallies in partials:
        with named(place):
            first, total = first if total else place, add_tallies(name, [total, *tallies])
    return first, [total]
