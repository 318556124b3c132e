"""Confidence intervals of results, and comparisons of all pairs of detectors on the same samples."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from ..comparison import compared, differences_of_parts
from ..metric.bootstrap import FEWEST
from ..metric.states import COUNTS
from ..reading.rows.metrics import LAYOUTS
from .figures.computed import Computed
from .page import Page
from .results.computation import Computation
from .serving.costs import check_costs, drawn_costs, num_rows
from .serving.limits import MAX_IMAGES

LEVEL = 0.95  # confidence level of automatic intervals
MAX_STEPS = 80_000  # in each resample of automatic intervals (1.5 s)


def are_automatic(page: Page, done: Computation) -> bool:
    """Whether intervals and comparisons take a second or two, and there are enough samples for them."""
    if page.images and _num_images(next(iter(done.arguments.values())).columns) > MAX_IMAGES:
        return False
    steps = max(_steps(page, one) for one in done.detectors.values())
    return _are_enough(page, done) and _passes(done) * steps <= MAX_STEPS


def can_be_added(page: Page, done: Computation) -> bool:
    """Whether intervals or comparisons can be added to a computation."""
    return not done.pairs and _are_enough(page, done) and (len(done.detectors) > 1 or _level_of(done) is None)


def with_intervals(page: Page, done: Computation) -> Computation:
    """A computation with an interval for each rate, and the paired differences of every two detectors.

    Both equal the results of the metric and of `compare` at the same confidence level. Raises RefusedError if they
    would take too long.
    """
    level = _level_of(done) or LEVEL
    alone = {}
    for name, one in done.detectors.items():
        options = {**one.options, "confidence_level": level}
        check_costs(drawn_costs(_steps(page, one), _passes(done)))
        metric = page.metric(**options)
        alone[name] = one._replace(summary=metric.summary(**one.columns), options=options)
    detectors, _ = page.answerable(alone)
    kept = {key for one in detectors.values() for key in one.summary.rates()}
    pairs = {}
    for first, second in combinations(done.detectors, 2):
        models = (detectors[first], detectors[second])
        parts = (page.metric(**one.options).prepared(**one.columns) for one in models)
        drawn = differences_of_parts(*parts, n_resamples=page.metric.options["n_resamples"], random_state=0)
        rows = compared(drawn, level).rows()
        pairs[first, second] = {key: row for key, row in rows.items() if key in kept}
    return done._replace(detectors=detectors, pairs=pairs)


def steps_of_resample(
    page: Page, results: Mapping[str, Any], state: Mapping[str, Any], columns: Mapping[str, Any]
) -> int:
    """The steps of a resample of a state, from its results without intervals, as `costs.Drawing` counts them."""
    return page.drawing.steps(results, *drawn_rows(page, state, columns))


def drawn_rows(page: Page, state: Mapping[str, Any], columns: Mapping[str, Any]) -> tuple[int, int]:
    """The groups, or 1, and the rows or images that a resample is drawn from."""
    groups, rows = num_rows(state)
    return groups, _num_images(columns) if page.images else rows


def _steps(page: Page, computed: Computed) -> int:
    return steps_of_resample(page, computed.results, computed.state, computed.columns)


def _num_images(columns: Mapping[str, Any]) -> int:
    return max(map(len, columns.values()))


def _sides(column: Any) -> list[int]:
    """The lengths of a column's two sides if known and unknown samples are separate, otherwise its own length."""
    return [len(side) for side in column] if isinstance(column, tuple) else [len(column)]


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
    layout = LAYOUTS[page.name]
    if not layout.label or COUNTS in columns:
        return size if page.images else size // 2
    if "references" not in columns:
        return min(min(_sides(column)) for column in columns.values())
    outside = int(np.count_nonzero(np.asarray(layout.unknown(columns))))
    return min(outside, size - outside)
