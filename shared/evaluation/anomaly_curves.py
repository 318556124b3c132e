"""The curves of a group of anomaly maps, thinned to be drawn: ROC of images and of pixels, and PRO."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..anomaly.anomaly_suite import check_levels, level_counts
from ..core.counts import Counts

MAX_POINTS = 400
Points = list[tuple[float, float]]


class Curves(NamedTuple):
    """Points of curves over the false-positive rate; None for a level that was not asked for."""

    image_roc: Points | None
    pixel_roc: Points | None
    pro: Points | None


def curves_of(state: Mapping[str, Any], levels: Any) -> Curves:
    """The curves of a state of anomaly_suite. Raises ValueError if a level has one class only."""
    chosen = check_levels(levels)
    image_roc = pixel_roc = pro = None
    if "image" in chosen:
        counts = level_counts(state, "image")  # type: ignore[arg-type]
        image_roc = _points(counts, counts.tp / counts.num_positives)
    if "pixel" in chosen:
        counts = level_counts(state, "pixel")  # type: ignore[arg-type]
        pixel_roc = _points(counts, counts.tp / counts.num_positives)
        sizes = state["region_sizes"]
        share = np.repeat(1 / (len(sizes) * sizes), sizes)  # of the mean overlap, that one pixel adds
        group = np.searchsorted(-counts.thresholds, -state["anomalous"])
        pro = _points(counts, np.cumsum(np.bincount(group, weights=share)))
    return Curves(image_roc, pixel_roc, pro)


def _points(counts: Counts, heights: np.ndarray) -> Points:
    """A curve that rises to `heights` as the negatives go from `above` to `fp` at each threshold."""
    before = np.concatenate([[0.0], heights[:-1]])
    x = np.column_stack([counts.above, counts.fp]).ravel() / counts.num_negatives
    y = np.column_stack([before, heights]).ravel()
    x, y = np.concatenate([[0.0], x, [1.0]]), np.concatenate([[0.0], y, heights[-1:]])
    if len(x) > MAX_POINTS:  # the sum of both rises: points that are evenly far along the curve
        way = np.searchsorted(x + y, np.linspace(0, 2, MAX_POINTS - 1))
        at = np.unique(np.concatenate([[0], way, [len(x) - 1]]).clip(0, len(x) - 1))
        x, y = x[at], y[at]
    return list(zip(x.tolist(), y.tolist()))
