"""A threshold that is moved in the browser: what is counted at each of at most 2,000, and where pictures show it.

Traces with `meta` follow it: {"x": name, "y": name} is a point, {"x": name} alone an upright line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from ...ranking.counts import Counts
from ..serving.limits import MAX_POINTS
from .style import GREY

THRESHOLD = "threshold"


class Sweep(NamedTuple):
    """What is known at each of T thresholds, which ascend or descend.

    thresholds: (T,)
    counts: integers (T,) by name
    rates: by name, the names of the counts that are added up above and below the line
    values: other numbers (T,) by name
    table: for each row its name and the names of its counts, by column
    presets: places of thresholds that one looks for, by what they are called; the first is shown at the start
    rule: what the threshold decides, in words
    """

    thresholds: np.ndarray
    counts: Mapping[str, np.ndarray]
    rates: Mapping[str, tuple[Sequence[str], Sequence[str]]]
    values: Mapping[str, np.ndarray]
    table: Mapping[str, Mapping[str, str]]
    presets: Mapping[str, int]
    rule: str

    def at(self, name: str, place: int) -> float:
        """A rate, a value or the threshold itself at a place.

        >>> sweep = Sweep(np.asarray([0.5]), {"TP": np.asarray([3]), "FN": np.asarray([1])}, RATES, {}, {}, {}, "")
        >>> sweep.at("TPR", 0), sweep.at("threshold", 0)
        (0.75, 0.5)
        """
        if name == THRESHOLD:
            return float(self.thresholds[place])
        if name in self.values:
            return float(self.values[name][place])
        above, below = (sum(int(self.counts[part][place]) for part in parts) for parts in self.rates[name])
        return above / below if below else 0.0

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
            counts={name: column[at] for name, column in self.counts.items()},
            values={name: column[at] for name, column in self.values.items()},
            presets={name: int(np.flatnonzero(at == place)[0]) for name, place in self.presets.items()},
        )

    def sent(self) -> str:
        """What the browser needs of it, as JSON."""
        content = {
            "thresholds": self.thresholds.tolist(),
            "counts": {name: column.tolist() for name, column in self.counts.items()},
            "rates": self.rates,
            "values": {name: column.tolist() for name, column in self.values.items()},
            "presets": self.presets,
        }
        return json.dumps(content, separators=(",", ":")).replace("Infinity", "null").replace("NaN", "null")


def spread(length: int, most: int) -> np.ndarray:
    """Places of at most so many of some thresholds, evenly spread, the first and the last among them.

    >>> spread(5, 3).tolist(), spread(2, 3).tolist()
    ([0, 2, 4], [0, 1])
    """
    return np.linspace(0, length - 1, min(length, most)).round().astype(int)


RATES: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "TPR": (["TP"], ["TP", "FN"]),
    "FPR": (["FP"], ["FP", "TN"]),
    "precision": (["TP"], ["TP", "FP"]),
    "F1": (["TP", "TP"], ["TP", "TP", "FP", "FN"]),
    "accuracy": (["TP", "TN"], ["TP", "TN", "FP", "FN"]),
}


def binary_sweep(counts: Counts, positive: str, negative: str, values: Mapping[str, np.ndarray] | None = None) -> Sweep:
    """The sweep of a detector, whose positives score at or above the threshold; words are those of both sides.

    >>> from openworld_metrics import exceedance_counts
    >>> sweep = binary_sweep(exceedance_counts(np.asarray([0.9, 0.4]), np.asarray([0.6, 0.1])), "OOD", "known")
    >>> sweep.presets, sweep.at("FPR", 1)
    ({'95 % TPR': 1, '5 % FPR': 0, 'best F1': 1}, 0.5)
    """
    tp, fp = np.asarray(counts.tp), np.asarray(counts.fp)
    total, others = counts.num_positives, counts.num_negatives
    found = {"TP": tp, "FN": total - tp, "FP": fp, "TN": others - fp}
    presets = {"95 % TPR": int(np.argmax(100 * tp >= 95 * total))}
    within = int(np.count_nonzero(100 * fp <= 5 * others))  # fp grows with the place
    if within:
        presets["5 % FPR"] = within - 1
    presets["best F1"] = int(np.argmax(2 * tp / (total + tp + fp)))
    called, other = f"called {positive}", f"called {negative}"
    table = {positive: {called: "TP", other: "FN"}, negative: {called: "FP", other: "TN"}}
    thresholds = np.asarray(counts.thresholds, np.float64)
    return Sweep(thresholds, found, RATES, values or {}, table, presets, f"{positive} at score ≥ threshold")


def moving_point(fig: go.Figure, sweep: Sweep | None, x: str, y: str) -> go.Figure:
    """Add the point that follows the threshold, on axes that are rates, values or the threshold."""
    if sweep is None:
        return fig
    place = sweep.start
    marker = dict(symbol="circle-open", size=15, color=_FRONT, line=dict(width=3))
    return fig.add_scatter(
        x=[sweep.at(x, place)],
        y=[sweep.at(y, place)],
        name="at the threshold",
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
        mode="lines",
        line=dict(color=_FRONT, width=3),
        meta={"x": THRESHOLD},
        hovertemplate="threshold %{x:.4g}<extra></extra>",
    )


_FRONT = GREY
