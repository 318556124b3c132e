"""Intervals that are added where they are quick, and names of two models."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..answers.computing import Computation
from ..metric.results import Rate, Summary
from .options import INTERVALS

LEVEL = 0.95


def note_of(done: Computation, options: Mapping[str, Any]) -> str:
    """A note on the intervals of a computation, or on why there are none."""
    if done.level is None:
        return done.why
    drawn = f", {done.drawn_clusters}" if done.drawn_clusters else ""
    return f"{100 * done.level:.12g} % intervals: {options['n_resamples']:,} resamples{drawn}"


def without_intervals(summary: Summary) -> Summary:
    """A summary without its automatic intervals, so that saved results do not depend on the terminal."""

    def bare(results: Any) -> Any:
        return {
            key: result._replace(interval=None) if isinstance(result, Rate) else result
            for key, result in results.items()
        }

    groups = summary.groups
    rows = groups and {name: bare(row) for name, row in groups.items()}
    options = {name: value for name, value in summary.options.items() if name not in INTERVALS}
    return summary._replace(results=bare(summary.results), groups=rows, options=options)


def model_names(first: str, second: str) -> tuple[str, str]:
    """Name two models by their files: by column, or by the ends of their paths.

    >>> model_names("scores.csv:knn", "scores.csv:energy"), model_names("a/s.npy", "b/s.npy"), model_names("-", "-")
    (('knn', 'energy'), ('a/s.npy', 'b/s.npy'), ('first', 'second'))
    """

    def names(place: str) -> list[str]:
        path, colon, column = place.rpartition(":")
        return [*([column] if colon and path else [""]), Path(place).stem, "/".join(Path(place).parts[-2:])]

    pairs = ((one, other) for one, other in zip(names(first), names(second)) if one and other and one != other)
    return next(pairs, ("first", "second"))
