"""A threshold that is moved in the browser: what is counted at each of at most 2,000, and where pictures show it.

Traces with `meta` follow it: {"x": name, "y": name} is a point, {"x": name} alone an upright line.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from ..serving.limits import MAX_POINTS
from .digits import plain_threshold

THRESHOLD = "threshold"


class Sweep(NamedTuple):
    """What is known at each of T thresholds, which ascend or descend.

    thresholds: (T,), of which the lowest may be −inf
    above: (T,) the lowest score above each, so that any number from one up to the other decides the same
    counts: integers (T,) by name
    rates: by name, the names of the counts that are added up above and below the line
    values: other numbers (T,) by name
    table: for each row its name and the names of its counts, by column
    presets: places of thresholds that one looks for, by what they are called; the first is shown at the start
    rule: what is decided of a score above the threshold, in words
    promises: what a preset promises of new data, as a sentence for a paper, with {threshold} for the number
    single: whether scores are float32
    """

    thresholds: np.ndarray
    above: np.ndarray
    counts: Mapping[str, np.ndarray]
    rates: Mapping[str, tuple[Sequence[str], Sequence[str]]]
    values: Mapping[str, np.ndarray]
    table: Mapping[str, Mapping[str, str]]
    presets: Mapping[str, int]
    rule: str
    promises: Mapping[str, str] = {}
    single: bool = False

    def at(self, name: str, place: int) -> float:
        """A rate, a value or the threshold itself at a place.

        >>> counts, rates = {"TP": np.asarray([3]), "FN": np.asarray([1])}, {"TPR": (["TP"], ["TP", "FN"])}
        >>> sweep = Sweep(np.asarray([0.5]), np.asarray([0.6]), counts, rates, {}, {}, {}, "OOD")
        >>> sweep.at("TPR", 0), sweep.at("threshold", 0)
        (0.75, 0.5)
        """
        if name == THRESHOLD:
            return float(self.text(place))
        if name in self.values:
            return float(self.values[name][place])
        above, below = (sum(int(self.counts[part][place]) for part in parts) for parts in self.rates[name])
        return above / below if below else 0.0

    def text(self, place: int) -> str:
        """The threshold at a place as it is shown, and can be typed: the shortest decimal that decides the same."""
        return plain_threshold(float(self.thresholds[place]), float(self.above[place]), single=self.single)

    @property
    def start(self) -> int:
        """The place that is shown at the start."""
        return next(iter(self.presets.values()), 0)

    def thinned(self) -> Sweep:
        """At most 2,000 of the thresholds, evenly spread, and those of the presets; from the lowest on."""
        at = np.union1d(spread(len(self.thresholds), MAX_POINTS), [*self.presets.values()]).astype(int)
        at = at[np.argsort(self.thresholds[at], kind="stable")]
        return self._replace(
            thresholds=self.thresholds[at],
            above=self.above[at],
            counts={name: column[at] for name, column in self.counts.items()},
            values={name: column[at] for name, column in self.values.items()},
            presets={name: int(np.flatnonzero(at == place)[0]) for name, place in self.presets.items()},
        )

    def sent(self) -> str:
        """What the browser needs of it, as JSON."""
        texts = [self.text(place) for place in range(len(self.thresholds))]
        content = {
            "thresholds": [*map(float, texts)],
            "texts": texts,
            "counts": {name: column.tolist() for name, column in self.counts.items()},
            "rates": self.rates,
            "values": {name: column.tolist() for name, column in self.values.items()},
            "presets": self.presets,
            "promises": self.promises,
        }
        return json.dumps(content, separators=(",", ":")).replace("Infinity", "null").replace("NaN", "null")


def texts_of(sweep: Sweep | None) -> Callable[[float], str | None]:
    """From a threshold to how a sweep shows it; None where it is none of the sweep's."""

    def text(value: float) -> str | None:
        if sweep is None or not math.isfinite(value):
            return None
        places = np.flatnonzero(sweep.thresholds == value)
        return sweep.text(int(places[0])) if len(places) else None

    return text


def spread(length: int, most: int) -> np.ndarray:
    """Places of at most so many of some thresholds, evenly spread, the first and the last among them.

    >>> spread(5, 3).tolist(), spread(2, 3).tolist()
    ([0, 2, 4], [0, 1])
    """
    return np.linspace(0, length - 1, min(length, most)).round().astype(int)


def moving_point(fig: go.Figure, sweep: Sweep | None, x: str, y: str) -> go.Figure:
    """Add the point that follows the threshold, on axes that are rates, values or the threshold."""
    if sweep is None:
        return fig
    place = sweep.start
    marker = dict(symbol="circle-open", size=13, color=_FRONT, line=dict(width=3))
    return fig.add_scatter(
        x=[sweep.at(x, place)],
        y=[sweep.at(y, place)],
        name="at the threshold",
        showlegend=False,
        mode="markers",
        marker=marker,
        meta={"x": x, "y": y},
        hovertemplate=f"{x} %{{x:.4g}}, {y} %{{y:.4g}}<extra>at the threshold</extra>",
    )


def moving_line(fig: go.Figure, sweep: Sweep | None, top: float) -> go.Figure:
    """Add the upright line that follows the threshold."""
    if sweep is None:
        return fig
    at = sweep.at(THRESHOLD, sweep.start)
    return fig.add_scatter(
        x=[at, at],
        y=[0, top],
        name="the threshold",
        showlegend=False,
        mode="lines",
        line=dict(color=_FRONT, width=3),
        meta={"x": THRESHOLD},
        hovertemplate="threshold %{x:.4g}<extra></extra>",
    )


_FRONT = "#85858f"
