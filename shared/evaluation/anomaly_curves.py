"""Curves of a group of anomaly maps for figures, thinned out: ROC of images and of pixels, and PRO."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..anomaly.anomaly_suite import check_levels
from ..anomaly.aupro import pro_curve
from ..anomaly.maps import level_sides
from ..ranking.roc import roc_curve

MAX_POINTS = 400
Points = list[tuple[float, float]]


class Curves(NamedTuple):
    """Points of curves over the false-positive rate; None for curves outside the `levels`."""

    image_roc: Points | None
    pixel_roc: Points | None
    pro: Points | None


def curves_of(state: Any, levels: Any) -> Curves:
    """The curves of a state of anomaly_suite, each of at most MAX_POINTS points.

    Parameters: state, as returned by `AnomalySuite.state`; levels, "image", "pixel" or both. Raises ValueError for a
    level with only one class.
    """
    chosen = check_levels(levels)
    image_roc = pixel_roc = pro = None
    if "image" in chosen:
        anomalous, normal = level_sides(state, "image")
        image_roc = _points(roc_curve(positives=anomalous, negatives=normal, max_points=MAX_POINTS), "tpr")
    if "pixel" in chosen:
        anomalous, normal = level_sides(state, "pixel")
        pixel_roc = _points(roc_curve(positives=anomalous, negatives=normal, max_points=MAX_POINTS), "tpr")
        pro = _points(pro_curve(state["anomalous"], state["region_sizes"], normal, max_points=MAX_POINTS), "pro")
    return Curves(image_roc, pixel_roc, pro)


def _points(table: Mapping[str, list[float]], height: str) -> Points:
    return list(zip(table["fpr"], table[height]))
