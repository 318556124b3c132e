"""The curves of a group of anomaly maps, as few points as a picture needs: ROC of images and of pixels, and PRO."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..anomaly.anomaly_suite import check_levels
from ..anomaly.pro import pro_curve
from ..core.roc import roc_curve

MAX_POINTS = 400
Points = list[tuple[float, float]]


class Curves(NamedTuple):
    """Points of curves over the false-positive rate; None for a level that was not asked for."""

    image_roc: Points | None
    pixel_roc: Points | None
    pro: Points | None


def curves_of(state: Mapping[str, np.ndarray], levels: Any) -> Curves:
    """The curves of a state of anomaly_suite, each of at most MAX_POINTS points.

    Parameters: state, as its state() gives it; levels, "image", "pixel" or both. Raises ValueError if a level has one
    class only.
    """
    chosen = check_levels(levels)
    image_roc = pixel_roc = pro = None
    if "image" in chosen:
        scores, anomalous = state["image_scores"], state["image_labels"]
        image_roc = _points(roc_curve(scores[anomalous], scores[~anomalous], max_points=MAX_POINTS), "tpr")
    if "pixel" in chosen:
        regions, normal = state["anomalous"], state["normal"]
        if "normal_counts" in state:
            normal = np.repeat(normal, state["normal_counts"])
        pixel_roc = _points(roc_curve(regions, normal, max_points=MAX_POINTS), "tpr")
        pro = _points(pro_curve(regions, state["region_sizes"], normal, max_points=MAX_POINTS), "pro")
    return Curves(image_roc, pixel_roc, pro)


def _points(table: Mapping[str, list[float]], height: str) -> Points:
    return list(zip(table["fpr"], table[height]))
