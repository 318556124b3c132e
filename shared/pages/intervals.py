"""Confidence intervals of results, and comparisons of all pairs of detectors on the same samples."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from ..comparison import compared, differences_of_parts
from ..metric.counted import COUNTS
from ..metric.groups import GROUPS
from .assembly.data_sets import shares_of_groups
from .figures.computed import Computed
from .page import Page
from .results.computation import Computation
from .serving.costs import check_costs, drawn_costs

LEVEL = 0.95  # confidence level of automatic intervals
FEWEST = 10  # samples of a side, or images; with fewer, an interval is meaningless
MAX_ROWS, MAX_IMAGES = 50_000, 200  # limits of automatic intervals, on the samples processed in each resample


def are_automatic(page: Page, done: Computation) -> bool:
    """Whether intervals and comparisons take only a few seconds, and there are enough samples for them."""
    most = MAX_IMAGES if page.images else MAX_ROWS
    return _are_enough(page, done) and _passes(done) * num_units(done) * num_groups(done) <= most


def can_be_added(page: Page, done: Computation) -> bool:
    """Whether intervals or comparisons can be added to a computation."""
    return not done.pairs and _are_enough(page, done) and (len(done.detectors) > 1 or _level_of(done) is None)


def with_intervals(page: Page, done: Computation) -> Computation:
    """A computation with an interval for each rate, and the paired differences of every two detectors.

    Both equal the results of the metric and of `compare` at the same confidence level. Raises RefusedError if they
    would take too long.
    """
    level = _level_of(done) or LEVEL
    detectors = {}
    for name, one in done.detectors.items():
        options = {**one.options, "confidence_level": level}
        check_costs(drawn_costs(one.results, one.state, _passes(done)))
        metric = page.metric(**options)
        detectors[name] = one._replace(summary=metric.summary(**one.columns), options=options)
    pairs = {}
    for first, second in combinations(done.detectors, 2):
        models = (detectors[first], detectors[second])
        parts = (page.metric(**one.options).prepared(**one.columns) for one in models)
        drawn = differences_of_parts(*parts, n_resamples=page.metric.options["n_resamples"], random_state=0)
        pairs[first, second] = compared(drawn, level).rows()
    return done._replace(detectors=detectors, pairs=pairs)


def num_units(done: Computation) -> int:
    """The number of samples, or images, of a computation."""
    columns = next(iter(done.arguments.values())).columns
    return max(sum(_sides(column)) for column in columns.values())


def _sides(column: Any) -> list[int]:
    """The lengths of a column's two sides if known and unknown samples are separate, otherwise its own length."""
    return [len(side) for side in column] if isinstance(column, tuple) else [len(column)]


def num_groups(done: Computation) -> int:
    """The factor by which groups multiply the samples to process: samples without a group count in each group."""
    columns = next(iter(done.arguments.values())).columns
    return shares_of_groups(columns[GROUPS]) if GROUPS in columns else 1


def _level_of(done: Computation) -> Any:
    return next(iter(done.detectors.values())).options["confidence_level"]


def _passes(done: Computation) -> int:
    """The number of passes over all samples in a resample: one for each detector, and two for each pair."""
    number = len(done.detectors)
    return number + number * (number - 1)


def _are_enough(page: Page, done: Computation) -> bool:
    return all(_smaller_side(page, one) >= FEWEST for one in done.detectors.values())


def _smaller_side(page: Page, computed: Computed) -> int:
    """The number of images, or of samples on the smaller side; half of all samples if sides are unknown."""
    columns: Mapping[str, Any] = computed.columns
    size = max(map(len, columns.values()))
    if page.outside is None or COUNTS in columns:
        return size if page.images else size // 2
    if "references" not in columns:
        return min(min(_sides(column)) for column in columns.values())
    outside = int(np.count_nonzero(page.outside(columns)))
    return min(outside, size - outside)
