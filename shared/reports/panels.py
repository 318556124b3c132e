"""Draw the panels of a metric's plot: histogram with threshold, ROC curve, rates with intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..ranking.counts import Side
from ..ranking.curves import auroc
from ..ranking.operating_points import operating_point, samples_above
from ..ranking.roc import roc_curve
from ..written.results import direction_of
from .charts import even_edges
from .colors import DETECTOR, EDGE, INK, KNOWN, LINE, QUIET, UNKNOWN
from .frame.values import interval, number
from .thresholds import shown_threshold

_BINS, _POINTS = 40, 2000
_PALE = 0.35  # opacity of bars that are not above the threshold


class Sides(NamedTuple):
    """The scores of two sides, and the names of the sides.

    unknown and known: sorted scores; names, of both; level, what the keys of their results begin with
    """

    unknown: Side
    known: Side
    names: tuple[str, str] = ("unknown", "known")
    level: str = ""


class Marked(NamedTuple):
    """A threshold in a plot: a sample is called unknown if its score is above it."""

    name: str
    threshold: float

    def text(self, sides: Sides) -> str:
        """The threshold as the shortest decimal that makes the same decisions."""
        return shown_threshold(self.threshold, [side.scores for side in sides[:2]])


def marked_threshold(results: Mapping[str, Any], sides: Sides) -> Marked | None:
    """The sides' first threshold in the results, or else that of 95 % TPR; None if no finite one reaches it."""
    for key, value in results.items():
        own = key.startswith(sides.level) and key.endswith("_threshold")
        if own and isinstance(value, float) and math.isfinite(value):
            return Marked(key.removesuffix("_threshold"), value)
    unknown, known = sides[:2]
    point = operating_point(positives=unknown, negatives=known, rate="fpr", bounded="tpr", bound=0.95)
    return Marked("95 % TPR", point.threshold) if math.isfinite(point.threshold) else None


def draw_histogram(axes: Any, sides: Sides, marked: Marked | None) -> None:
    """Draw each side's histogram of scores; bars up to the threshold are paler, unknown samples hatched."""
    finite = [side.scores[np.isfinite(side.scores)].astype(np.float64) for side in sides[:2]]
    every = np.concatenate(finite)
    edges = even_edges(every.min(), every.max(), _BINS) if len(every) else even_edges(0, 1, _BINS)
    if edges[0] == edges[-1]:
        edges = even_edges(edges[0] - 0.5, edges[0] + 0.5, _BINS)
    # a bin divided by the threshold has equal heights on both sides
    cuts = edges if marked is None else np.unique(np.append(edges, np.clip(marked.threshold, edges[0], edges[-1])))
    bins = np.clip(np.searchsorted(edges, cuts[:-1] / 2 + cuts[1:] / 2) - 1, 0, _BINS - 1)
    for side, name, color, hatch in zip(sides[1::-1], sides.names[::-1], (KNOWN, UNKNOWN), ("", "//////")):
        here = np.isfinite(side.scores)
        heights = np.histogram(side.scores[here], edges, weights=side.sizes[here] / max(1, side.total))[0][bins]
        pale = cuts[:-1] < (-math.inf if marked is None else marked.threshold)
        for places, alpha in ((~pale, 1.0), (pale, _PALE)):
            style: dict[str, Any] = dict(align="edge", alpha=0.75 * alpha, linewidth=0)
            fill = dict(color=color) if not hatch else dict(facecolor="none", edgecolor=color, hatch=hatch)
            infinite = int(side.sizes[~here].sum())
            label = f"{name}, {side.total:,}" + (f", {infinite:,} infinite ones not drawn" if infinite else "")
            label = label if alpha == 1.0 else ""
            axes.bar(cuts[:-1][places], heights[places], np.diff(cuts)[places], label=label, **style, **fill)
        axes.stairs(heights, cuts, color=color, linewidth=1)
    if marked is not None:
        axes.axvline(marked.threshold, color=INK, linewidth=1.2)
    title = "Scores" if marked is None else f"Scores · {marked.name}: above {marked.text(sides)}"
    _frame(axes, title, "score", "share of each side")
    axes.set_ylim(bottom=0)
    handles, labels = axes.get_legend_handles_labels()
    # below the axis, outside the data
    axes.legend(
        handles[::-1],
        labels[::-1],
        frameon=False,
        fontsize=8.5,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.16),
        ncols=2,
        borderaxespad=0,
    )


def draw_roc(axes: Any, sides: Sides, marked: Marked | None) -> None:
    """Draw the ROC curve of all samples, with the point of the threshold."""
    curve = roc_curve(positives=sides.unknown, negatives=sides.known, max_points=_POINTS)
    axes.plot([0, 1], [0, 1], color=LINE, linewidth=1)
    axes.plot(curve["fpr"], curve["tpr"], color=DETECTOR, linewidth=2, clip_on=False)
    if marked is not None:
        x, y = (samples_above(side, marked.threshold) / side.total for side in (sides.known, sides.unknown))
        axes.plot(x, y, "o", color=INK, markersize=6, clip_on=False)
        axes.annotate(
            f"TPR {number(y)}\nFPR {number(x)}", (x, y), (8, -8), textcoords="offset points", va="top", fontsize=8.5
        )
    _frame(axes, f"ROC · area {number(auroc(positives=sides.unknown, negatives=sides.known))}", "FPR", "TPR")
    axes.set(xlim=(0, 1), ylim=(0, 1), xticks=[0, 0.5, 1], yticks=[0, 0.5, 1], aspect="equal")


def rates_of_results(results: Mapping[str, Any]) -> list[str]:
    """The keys of rates among results, without interval ends, errors and thresholds."""
    ends = {f"{key}_{end}" for key in results for end in ("low", "high", "error", "threshold")}
    return [key for key, value in results.items() if isinstance(value, float) and key not in ends]


def draw_rates(axes: Any, results: Mapping[str, Any], keys: Sequence[str], kinds: Mapping[str, Any]) -> None:
    """Draw a row for each rate: its value as a point, its interval as a line; numbers beyond 1 only as text."""
    names = []
    for place, key in enumerate(keys):
        value, low, high = results[key], results.get(f"{key}_low"), results.get(f"{key}_high")
        known = direction_of(key, kinds)
        names.append(f"{key} {'' if known is None else '↑' if known.higher else '↓'}".rstrip())
        said = number(value)
        if low is not None and high is not None:
            said += f"  {interval(low, high)}"
            if 0 <= low <= high <= 1:
                axes.plot([low, high], [place, place], color=DETECTOR, linewidth=2.5, solid_capstyle="butt")
        if 0 <= value <= 1:
            axes.plot(value, place, "o", color=DETECTOR, markersize=6, clip_on=False)
        axes.annotate(said, (1.02, place), xycoords=("axes fraction", "data"), va="center", fontsize=9, color=INK)
    _frame(axes, "", "", "")
    axes.set(xlim=(0, 1), ylim=(len(keys) - 0.5, -0.5), xticks=[0, 0.5, 1])
    axes.set_yticks(range(len(keys)), names)
    axes.grid(axis="y", visible=False)
    axes.spines["left"].set_visible(False)


def _frame(axes: Any, title: str, x: str, y: str) -> None:
    """Quiet axes with a hairline grid, and a title in words."""
    axes.set_title(title, loc="left", fontsize=10, color=INK)
    axes.set_xlabel(x, color=QUIET)
    axes.set_ylabel(y, color=QUIET)
    axes.set_axisbelow(True)
    axes.grid(color=LINE, linewidth=0.8)
    axes.tick_params(length=0, labelcolor=QUIET)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(EDGE)
