"""A threshold that moves in the browser: the counts at each stop of a slider, and its marks in the pictures.

Traces with such `meta` follow it: {"x": name, "y": name} is a point, {"x": name} alone an upright line. A click on a
point of a curve with the `meta` STEERS moves the threshold to where the picture's moving point is nearest.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from ...answers.thresholds import plain_threshold
from ..serving.limits import MAX_POINTS

THRESHOLD = "threshold"
STEERS = {"steers": True}


class Sweep(NamedTuple):
    """Counts, rates and values at each of T thresholds, in ascending or descending order.

    thresholds: (T,); the lowest may be −inf
    above: (T,) the lowest score above each; any number in [threshold, above) makes the same decisions
    counts: integers (T,) by name
    rates: by name, the names of the counts summed in the numerator and in the denominator
    values: other numbers (T,) by name
    table: the name of a count for each row and column, by their names
    presets: indices of common thresholds by name; the page opens with the first
    rule: the decision for a score above the threshold, in words
    promises: the guarantee of a preset as a sentence for a paper, with {threshold} for the number
    single: whether scores are float32
    flagged: the column of `table` that counts the scores above the threshold; "" if single samples are not listed
    ratios: the names of values that are no shares, and are never shown in percent
    drawn: the thresholds of a curve's points; a click on one moves the threshold to the same decisions
    whole: whether any other threshold makes the decisions of one of these
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
    flagged: str = ""
    ratios: Collection[str] = ()
    drawn: Sequence[float] = ()
    whole: bool = False

    def at(self, name: str, place: int) -> float:
        """A rate, a value or the threshold itself at an index.

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

    def is_share(self, name: str) -> bool:
        """Whether a rate or value is a share, which may be shown in percent."""
        return name != THRESHOLD and name not in self.ratios

    def text(self, place: int) -> str:
        """The threshold at an index as the shortest decimal that makes the same decisions, to show and to type."""
        return plain_threshold(float(self.thresholds[place]), float(self.above[place]), single=self.single)

    @property
    def start(self) -> int:
        """The index that the page opens with."""
        return next(iter(self.presets.values()), 0)

    def thinned(self) -> Sweep:
        """Keep at most 2,000 thresholds, evenly spread, and those of the presets and of the drawn points; ascending."""
        ascending = np.argsort(self.thresholds, kind="stable")
        # a drawn point may stand for a lower threshold, with no sample of its curve's sides in between
        places = np.searchsorted(self.thresholds[ascending], self.drawn)
        drawn = ascending[places[places < len(ascending)]]
        at = np.union1d(spread(len(self.thresholds), MAX_POINTS), [*self.presets.values(), *drawn]).astype(int)
        at = at[np.argsort(self.thresholds[at], kind="stable")]
        return self._replace(
            thresholds=self.thresholds[at],
            above=self.above[at],
            counts={name: column[at] for name, column in self.counts.items()},
            values={name: column[at] for name, column in self.values.items()},
            presets={name: int(np.flatnonzero(at == place)[0]) for name, place in self.presets.items()},
            whole=self.whole and len(at) == len(self.thresholds),
        )

    def sent(self) -> str:
        """The sweep as JSON for the browser; ±inf and NaN, which JSON lacks, are null."""
        texts = [self.text(place) for place in range(len(self.thresholds))]
        content = {
            "thresholds": [*map(_finite, map(float, texts))],
            "texts": texts,
            "ends": [*map(_finite, self.above.tolist())] if self.whole else None,
            "counts": {name: column.tolist() for name, column in self.counts.items()},
            "rates": self.rates,
            "values": {name: [*map(_finite, column.tolist())] for name, column in self.values.items()},
            "ratios": [*self.ratios],
            "presets": self.presets,
            "promises": self.promises,
        }
        return json.dumps(content, separators=(",", ":"), allow_nan=False)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def texts_of(sweep: Sweep | None) -> Callable[[float], str | None]:
    """A function from a threshold to its text in a sweep, or to None if the sweep does not contain it."""

    def text(value: float) -> str | None:
        if sweep is None or not math.isfinite(value):
            return None
        places = np.flatnonzero(sweep.thresholds == value)
        return sweep.text(int(places[0])) if len(places) else None

    return text


def spread(length: int, most: int) -> np.ndarray:
    """Indices of at most `most` of `length` items, evenly spread, including the first and the last.

    >>> spread(5, 3).tolist(), spread(2, 3).tolist()
    ([0, 2, 4], [0, 1])
    """
    return np.linspace(0, length - 1, min(length, most)).round().astype(int)


def moving_point(fig: go.Figure, sweep: Sweep | None, x: str, y: str) -> go.Figure:
    """Add a point that follows the threshold; x and y name rates, values or the threshold."""
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
        hovertemplate=f"{x} %{{x:{_digits(sweep, x)}}}, {y} %{{y:{_digits(sweep, y)}}}<extra>at the threshold</extra>",
    )


def moving_line(fig: go.Figure, sweep: Sweep | None, top: float) -> go.Figure:
    """Add a vertical line that follows the threshold."""
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


def _digits(sweep: Sweep, name: str) -> str:
    """How a number is written on hover: shares with the three decimals that page.js turns into percent."""
    return ".3f" if sweep.is_share(name) else ".4g"


_FRONT = "#85858f"
