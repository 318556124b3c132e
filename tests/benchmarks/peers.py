"""Peers that no package has: the seeds' algorithms, written as their authors would in NumPy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import ndimage


def match_per_image(predictions: Sequence[np.ndarray], references: Sequence[np.ndarray], known: Sequence[int]) -> int:
    """Match boxes image by image, highest IoU first at IoU ≥ 0.5, and count known objects of the right class."""
    right = 0
    for found, true in zip(predictions, references):
        iou = _ious(true, found)
        while True:
            i, j = np.unravel_index(np.argmax(iou), iou.shape)
            if iou[i, j] < 0.5:
                break
            iou[i, :], iou[:, j] = 0, 0
            right += bool(true[i, -1] == found[j, -1] and true[i, -1] in known)
    return right


def match_by_confidence(
    predictions: Sequence[np.ndarray], references: Sequence[np.ndarray], known: Sequence[int]
) -> int:
    """The same, but the most confident prediction takes the object that it overlaps most, then the next."""
    right = 0
    for found, true in zip(predictions, references):
        iou = _ious(true, found)
        for j in np.argsort(-found[:, 4]):
            i = np.argmax(iou[:, j])
            if iou[i, j] >= 0.5:
                iou[i, :] = 0
                right += bool(true[i, -1] == found[j, -1] and true[i, -1] in known)
    return right


def voc_mean_average_precision(
    predictions: Sequence[np.ndarray], references: Sequence[np.ndarray], known: Sequence[int]
) -> float:
    """mAP at IoU ≥ 0.5 as the VOC devkit: class by class, from the most confident prediction of all images down."""
    aps = []
    for label in known:
        scored, objects = [], 0
        for found, true in zip(predictions, references):
            found, true = found[found[:, -1] == label], true[true[:, -1] == label]
            objects += len(true)
            iou = _ious(true, found) if len(true) else np.zeros((1, len(found)))
            taken: set[int] = set()
            for j in np.argsort(-found[:, 4]):
                i = int(np.argmax(iou[:, j]))
                right = iou[i, j] >= 0.5 and i not in taken
                if right:
                    taken.add(i)
                scored.append((found[j, 4], right))
        table = np.asarray(sorted(scored, reverse=True))
        tp = np.cumsum(table[:, 1])
        envelope = np.maximum.accumulate((tp / np.arange(1, len(tp) + 1))[::-1])[::-1]
        aps.append(float(np.sum(envelope * table[:, 1])) / objects)
    return float(np.mean(aps))


def _ious(true: np.ndarray, found: np.ndarray) -> np.ndarray:
    corner = np.maximum(true[:, None, :2], found[None, :, :2])
    size = np.clip(np.minimum(true[:, None, 2:4], found[None, :, 2:4]) - corner, 0, None)
    intersection = size[..., 0] * size[..., 1]
    area, area_found = ((x[:, 2] - x[:, 0]) * (x[:, 3] - x[:, 1]) for x in (true, found))
    ious: np.ndarray = intersection / (area[:, None] + area_found - intersection)
    return ious


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
