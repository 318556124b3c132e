"""Peers that no package has: the seeds' algorithms, written as their authors would in NumPy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import ndimage


def match_per_image(predictions: Sequence[np.ndarray], references: Sequence[np.ndarray], known: Sequence[int]) -> int:
    """Match boxes image by image, highest IoU first at IoU ≥ 0.5, and count known objects of the right class."""
    right = 0
    for found, true in zip(predictions, references):
        corner = np.maximum(true[:, None, :2], found[None, :, :2])
        size = np.clip(np.minimum(true[:, None, 2:4], found[None, :, 2:4]) - corner, 0, None)
        intersection = size[..., 0] * size[..., 1]
        area, area_found = ((x[:, 2] - x[:, 0]) * (x[:, 3] - x[:, 1]) for x in (true, found))
        iou = intersection / (area[:, None] + area_found - intersection)
        while True:
            i, j = np.unravel_index(np.argmax(iou), iou.shape)
            if iou[i, j] < 0.5:
                break
            iou[i, :], iou[:, j] = 0, 0
            right += bool(true[i, -1] == found[j, -1] and true[i, -1] in known)
    return right


def sampled_pro(masks: np.ndarray, maps: np.ndarray, num_thresholds: int) -> tuple[np.ndarray, np.ndarray]:
    """PRO at evenly spaced ranks of the normal pixels: false-positive rates and mean overlaps."""
    regions = []
    for mask, score_map in zip(masks, maps):
        labels, count = ndimage.label(mask, structure=np.ones((3, 3)))
        regions += [np.sort(score_map[labels == k]) for k in range(1, count + 1)]
    normal = np.sort(maps[~masks])
    ranks = np.linspace(0, len(normal) - 1, num=num_thresholds, dtype=int)
    overlaps = [1 - np.searchsorted(region, normal[ranks], side="right") / len(region) for region in regions]
    return 1 - (ranks + 1) / len(normal), np.mean(overlaps, axis=0)
