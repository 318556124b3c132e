"""Pairs of boxes with an IoU, in float64, that reaches a threshold, listed image by image."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..arrays.columns import check_lengths
from ..arrays.compiled import worth_compiling
from ..arrays.threads import in_threads, runs_of_work, threads_for
from .boxes import box_rows

_PAIRS = 1 << 17  # pairs of boxes compared at a time, so that all arrays fit the cache
_PAIR_WORK = 16  # comparing a pair of boxes takes about as long as so many scores


class Pairs(NamedTuple):
    """Pairs of a prediction and an object of its image.

    rows, columns: of the two tables
    ious: in float64
    ranks: order of the pairs of an image by their IoU, equal for equal ones; after `Overlaps.reaching` by their exact
    IoU, and then meaningless for a pair that shares neither of its boxes with another
    """

    rows: np.ndarray
    columns: np.ndarray
    ious: np.ndarray
    ranks: np.ndarray

    def take(self, which: np.ndarray) -> Pairs:
        """Some of the pairs, by a mask or by their places; no copy where the mask keeps all."""
        if which.dtype == bool:
            if which.all():
                return self
            which = np.flatnonzero(which)  # by which each column is taken in a third of the time
        return Pairs(*(column[which] for column in self))


def box_iou(boxes: Any, others: Any) -> np.ndarray:
    """Intersection over union of each pair of rows of two (N, 4) arrays of xyxy boxes; 0 where both have no area.

    IoU = |A ∩ B| / |A ∪ B|, in [0, 1]. One row is paired with each row of the other array.
    Raises ValueError for other shapes, numbers that are not finite, and boxes without x1 ≤ x2 and y1 ≤ y2.
    Source: Everingham et al., The Pascal VOC Challenge, IJCV 2010.

    >>> box_iou([[0, 0, 2, 2]], [[0, 0, 2, 1]]).tolist()
    [0.5]
    """
    tables = {"boxes": box_rows(boxes, "boxes", 4), "others": box_rows(others, "others", 4)}
    for name, table in tables.items():
        wrong = ~(np.isfinite(table).all(axis=1) & (table[:, :2] <= table[:, 2:]).all(axis=1))
        if wrong.any():
            expected = "finite corners with x1 ≤ x2 and y1 ≤ y2"
            raise ValueError(f"{name}: expected {expected}, got {table[wrong][0].tolist()} in row {np.argmax(wrong)}")
    if 1 not in map(len, tables.values()):
        check_lengths(**tables)
    return ious_of_rows(*tables.values())


def ious_of_rows(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """As `box_iou`, of checked boxes."""
    x1, y1, x2, y2 = (column.astype(np.float64) for column in boxes.T)
    u1, v1, u2, v2 = (column.astype(np.float64) for column in others.T)
    width = np.minimum(x2, u2) - np.maximum(x1, u1)
    height = np.minimum(y2, v2) - np.maximum(y1, v1)
    intersection = np.maximum(width, 0) * np.maximum(height, 0)
    union = (x2 - x1) * (y2 - y1) + (u2 - u1) * (v2 - v1) - intersection
    return np.divide(intersection, union, out=np.zeros_like(union), where=union > 0)


def listed_pairs(
    predictions: np.ndarray,
    references: np.ndarray,
    num_predictions: np.ndarray,
    num_references: np.ndarray,
    threshold: float,
) -> Pairs:
    """List all pairs of a prediction and an object of one image with an IoU in float64 at a threshold > 0 or above."""
    images = predictions, references, num_predictions, num_references
    number = num_predictions * num_references  # of pairs in each image
    work = _PAIR_WORK * int(number.sum())
    loop = worth_compiling(pairs_above, work, predictions, references)
    if loop is None:
        counts, starts = objects_of_rows(num_predictions, num_references)
        parts = (slice(*part) for part in pairwise(cuts_of_pairs(counts)))
        listed = [_pairs_of(predictions, references, part, counts[part], starts[part], threshold) for part in parts]
    else:
        threads = threads_for(work)
        pieces = [partial(_pairs_by_loop, loop, images, threshold, part) for part in runs_of_work(number, threads)]
        listed = in_threads(pieces, threads)
    return Pairs(*(np.concatenate(arrays) for arrays in zip(*listed)))


def _pairs_by_loop(
    loop: Callable[..., int], tables_and_numbers: tuple[np.ndarray, ...], threshold: float, part: slice
) -> Pairs:
    """The pairs of a run of images."""
    *tables, num_predictions, num_references = tables_and_numbers
    numbers = num_predictions[part], num_references[part]
    starts = [int(each[: part.start].sum()) for each in (num_predictions, num_references)]
    boxes, others = (table[start : start + int(n.sum())] for table, start, n in zip(tables, starts, numbers))
    length = 2 * len(boxes)
    while True:  # once, unless most predictions overlap several objects
        rows, columns, ious = np.empty(length, np.int64), np.empty(length, np.int64), np.empty(length)
        size = loop(boxes, others, *numbers, threshold, rows, columns, ious)
        if size <= length:
            return Pairs(rows[:size] + starts[0], columns[:size] + starts[1], ious[:size], ious[:size])
        length = size


def pairs_above(
    boxes: Any, others: Any, num_boxes: Any, num_others: Any, threshold: float, rows: Any, columns: Any, ious: Any
) -> int:
    """List the pairs of a prediction and an object of one image with an IoU that reaches the threshold.

    Returns their number; pairs beyond the length of `rows` are not listed. IoU as in `box_iou`, operation by operation;
    the division is skipped where the product decides. For each prediction, a first pass over the objects of its image
    only counts those that may reach the threshold: without a branch, it compares several at a time.
    """
    size = box = start = 0
    clear = 0.999 * threshold
    objects = np.empty((5, np.max(num_others) if num_others.size else 0))  # corners and areas of those of an image
    for image in range(len(num_boxes)):
        number = num_others[image]
        for j in range(number):
            u1, v1, u2, v2 = others[start + j, 0], others[start + j, 1], others[start + j, 2], others[start + j, 3]
            objects[0, j], objects[1, j], objects[2, j], objects[3, j] = u1, v1, u2, v2
            objects[4, j] = (u2 - u1) * (v2 - v1)
        for i in range(box, box + num_boxes[image]):
            x1, y1, x2, y2 = boxes[i, 0], boxes[i, 1], boxes[i, 2], boxes[i, 3]
            area = (x2 - x1) * (y2 - y1)
            near = 0
            for listing in range(2):
                for j in range(number):
                    width = max(min(x2, objects[2, j]) - max(x1, objects[0, j]), 0.0)
                    height = max(min(y2, objects[3, j]) - max(y1, objects[1, j]), 0.0)
                    intersection = width * height
                    union = area + objects[4, j] - intersection
                    if not listing:
                        near += intersection >= clear * union
                    elif intersection >= clear * union and union > 0:
                        iou = intersection / union
                        if iou >= threshold:
                            if size < len(rows):
                                rows[size], columns[size], ious[size] = i, start + j, iou
                            size += 1
                if not near:
                    break
        box += num_boxes[image]
        start += number
    return size


def cuts_of_pairs(counts: np.ndarray) -> list[int]:
    """Cut prediction rows into runs of about `_PAIRS` pairs."""
    chunk = np.cumsum(counts) // _PAIRS
    return [0, *(np.flatnonzero(chunk[1:] != chunk[:-1]) + 1).tolist(), len(counts)]


def _pairs_of(
    predictions: np.ndarray,
    references: np.ndarray,
    part: slice,
    counts: np.ndarray,
    starts: np.ndarray,
    threshold: float,
) -> Pairs:
    """The pairs of a run of prediction rows."""
    rows, columns = all_pairs(np.arange(part.start, part.stop), counts, starts)
    for low, high in ((0, 2), (1, 3)):  # boxes that overlap do so on either axis
        start = np.maximum(predictions[:, low][rows], references[:, low][columns])
        stop = np.minimum(predictions[:, high][rows], references[:, high][columns])
        overlap = np.flatnonzero(start < stop)
        rows, columns = rows[overlap], columns[overlap]
    ious = ious_of_rows(predictions[rows, :4], references[columns, :4])
    return Pairs(rows, columns, ious, ious).take(ious >= threshold)


def objects_of_rows(num_predictions: np.ndarray, num_references: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The number of objects in each prediction's image, and the row of the first."""
    starts = np.cumsum(num_references) - num_references
    return np.repeat(num_references, num_predictions), np.repeat(starts, num_predictions)


def all_pairs(rows: np.ndarray, counts: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each row with its `counts` columns from `starts` on."""
    before = np.cumsum(counts) - counts
    return np.repeat(rows, counts), np.arange(int(counts.sum())) - np.repeat(before - starts, counts)
