"""A table of images, with the decision for each and the overlap with its anomaly."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.arrays import Array, array_namespace, device_of, to_numpy
from .maps import AnomalyState
from .spro import regions_of


def per_image_table(
    state: AnomalyState,
    *,
    image_threshold: float | None,
    pixel_threshold: float | None,
    pimo: list[float | None] | None,
) -> dict[str, list[Any]]:
    """A table of the images in their order, with scores, labels, and decisions at thresholds.

    IoU = |A ∩ P| / |A ∪ P| of the anomalous pixels A and the pixels P with a score above the threshold; if both are
    empty, as in a normal image without such pixels, it is None.

    Parameters: state of `reduce_maps`, with pixels image by image; the thresholds of decisions score > threshold, or
    None to leave their columns out; pimo, the AUPIMO of each image, None for an image without one.
    Returns {"image": [0, 1, …], "score": […], "label": [0 or 1, …], "decision": […], "iou": […], "aupimo": […]}.
    Raises ValueError if pixels of several images have been counted together.
    """
    scores, labels = to_numpy(state["image_scores"]), to_numpy(state["image_labels"])
    table: dict[str, list[Any]] = {
        "image": [*range(len(scores))],
        "score": (scores + 0.0).tolist(),  # 0.0 for −0.0
        "label": labels.astype(int).tolist(),
    }
    if image_threshold is not None:
        table["decision"] = (scores > np.float64(image_threshold)).astype(int).tolist()
    if pixel_threshold is not None:
        table["iou"] = _ious(state, pixel_threshold)
    if pimo is not None:
        table["aupimo"] = pimo
    return table


def _ious(state: AnomalyState, threshold: float) -> list[float | None]:
    if "normal_counts" in state:
        raise ValueError(
            "per_image: pixels of several images have been counted together; give it at load, not at compute"
        )
    num_pixels = regions_of(state).num_pixels
    tp = exceeding(state["anomalous"], num_pixels, threshold)
    fp = exceeding(state["normal"], to_numpy(state["num_normal"]), threshold)
    pairs = zip(tp.tolist(), (num_pixels + fp).tolist())
    return [common / either if either else None for common, either in pairs]


def exceeding(scores: Array, numbers: np.ndarray, threshold: float) -> np.ndarray:
    """The number of each image's scores that exceed the threshold, (N,); `numbers` holds how many scores each image
    has.

    >>> exceeding(np.asarray([0.1, 0.9, 0.5, 0.7]), np.asarray([2, 0, 2]), 0.5).tolist()
    [1, 0, 1]
    """
    xp = array_namespace(scores)
    # as an array, float32 scores are compared in float64
    at = xp.asarray([threshold], dtype=xp.float64, device=device_of(scores))
    places = to_numpy(xp.nonzero(scores > at)[0])
    return np.bincount(np.searchsorted(np.cumsum(numbers), places, side="right"), minlength=len(numbers))
