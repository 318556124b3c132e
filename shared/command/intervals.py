"""Intervals that are added where they are quick, and names of two models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..answers.computing import Computation
from ..metric.bootstrap import FEWEST, are_enough
from ..metric.metric import Metric
from ..metric.results import Rate, Summary
from .messages import on_terminal
from .options import INTERVALS

LEVEL = 0.95


def note_of(done: Computation, options: Mapping[str, Any]) -> str:
    """A note on the intervals of a computation, or on why there are none."""
    if done.level is None:
        return done.why
    drawn = f", {done.drawn_clusters}" if done.drawn_clusters else ""
    return f"{100 * done.level:.12g} % intervals: {options['n_resamples']:,} resamples{drawn}"


def with_quick_intervals(
    metric: Metric, summarise: Callable[[Metric], Summary], *, reported: bool = False
) -> tuple[Summary, str]:
    """The summary of a metric, with intervals if these take less than a second, and a note on them.

    Intervals that the user requested are always computed. Automatic ones are added only on a terminal, or if results
    are `reported`, and left out if samples are too few (see `are_enough`) or a resample lacks what a result needs.
    """
    if metric.confidence_level is None and (reported or on_terminal()) and _is_quick(metric):
        with suppress(ValueError):  # after which the batches are still there
            if not all(are_enough(part.prepared) for part in metric.prepared_parts()):
                return summarise(metric), f"no intervals, with fewer than {FEWEST} samples of a kind"
            metric.confidence_level = LEVEL
            return summarise(metric), _note(metric)
        metric.confidence_level = None
    return summarise(metric), _note(metric)


def _note(metric: Metric) -> str:
    if metric.confidence_level is None:
        return ""
    return f"{100 * metric.confidence_level:.12g} % intervals: {metric.n_resamples:,} resamples"


class QuickIntervals:
    """A summary of a metric for results, which also keeps one for people, with intervals if they are quick.

    results: those for people, None before the summary; note, on their intervals
    """

    def __init__(self) -> None:
        self.results: dict[str, Any] | None = None
        self.note = ""

    def __call__(self, metric: Metric) -> Summary:
        """Summarise a metric, with intervals only if they were requested."""
        requested = metric.confidence_level is not None
        summary, self.note = with_quick_intervals(metric, type(metric).summary)
        self.results = summary.as_dict()
        return summary if requested else without_intervals(summary)


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


def _is_quick(metric: Metric) -> bool:
    """Whether the resamples of a metric take about a second or less, estimated from the size of its state."""
    return (
        metric.n_resamples * sum(array.nbytes for state in metric.states() for array in state.values())
        <= metric.bytes_per_second
    )


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
