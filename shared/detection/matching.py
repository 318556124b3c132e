"""Which prediction takes which object: one-to-one matching of boxes within each image, whatever their classes.

The pairs of all images that reach the IoU threshold are listed and ranked together, best first; one pass over the
list takes each pair whose boxes are both still free. Ranked by IoU, that is the same as taking the best pair of each
image again and again; ranked by confidence and then IoU, the same as going through the predictions of each image,
most confident first, and giving each the free object that it overlaps most.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..core.compiled import worth_compiling
from ..core.options import as_choice, as_fraction
from .boxes import box_iou
from .rules import MATCHINGS

_PAIRS = 1 << 17  # pairs of boxes compared at a time: what they need fits the cache
_PAIR_WORK = 16  # comparing a pair of boxes takes about as long as so many scores


class Pairs(NamedTuple):
    """Pairs of a prediction and an object of its image: their rows in the two tables, and their IoU."""

    rows: np.ndarray
    columns: np.ndarray
    ious: np.ndarray

    def take(self, which: np.ndarray) -> Pairs:
        """Some of the pairs, by a mask or by their places."""
        return Pairs(self.rows[which], self.columns[which], self.ious[which])


def match_boxes(
    predictions: np.ndarray,
    references: np.ndarray,
    num_predictions: np.ndarray,
    num_references: np.ndarray,
    iou_threshold: float = 0.5,
    *,
    matching: str = "iou",
) -> tuple[np.ndarray, np.ndarray]:
    """Match boxes one to one within each image, whatever their classes.

    "iou": the pair with the highest IoU is matched and its boxes are taken out, until every IoU left is below the
    threshold. Of equal IoUs the more confident prediction goes first.
    "confidence": the most confident prediction takes the object that it overlaps most, then the next one takes what
    is still free, and so on. Of equal confidences the higher IoU goes first.
    Then the smaller class and coordinates go first, so that the order of the boxes never matters.

    Parameters: predictions (Σn, 6), references (Σm, 5) as `reduce_boxes` lays them out, with the number of each
    image's rows; iou_threshold in (0, 1], matched at IoU ≥ threshold.
    Returns the matched pairs as two index arrays, into predictions and into references.

    >>> one, two = np.asarray([1]), np.asarray([2])
    >>> found = np.asarray([[0, 0, 4, 3, 0.9, 1], [0, 0, 4, 4, 0.01, 1]])
    >>> for matching in ("iou", "confidence"):
    ...     print(match_boxes(found, np.asarray([[0, 0, 4, 4, 1]]), two, one, matching=matching)[0])
    [1]
    [0]
    """
    pairs = overlapping_pairs(predictions, references, num_predictions, num_references, iou_threshold)
    matched = match_pairs(pairs, predictions, references, matching)
    return matched.rows, matched.columns


def overlapping_pairs(
    predictions: np.ndarray,
    references: np.ndarray,
    num_predictions: np.ndarray,
    num_references: np.ndarray,
    iou_threshold: float,
) -> Pairs:
    """List all pairs of a prediction and an object of one image whose IoU reaches the threshold."""
    threshold = as_fraction(iou_threshold, "iou_threshold")
    counts = np.repeat(num_references, num_predictions)  # of the references in each prediction's image
    starts = np.repeat(np.cumsum(num_references) - num_references, num_predictions)
    loop = worth_compiling(pairs_above, _PAIR_WORK * int(counts.sum()), predictions, references)
    if loop is None:
        parts = (slice(*part) for part in pairwise(_cuts(counts)))
        found = [_pairs_of(predictions, references, part, counts[part], starts[part], threshold) for part in parts]
        return Pairs(*(np.concatenate(arrays) for arrays in zip(*found)))
    length = 2 * len(predictions)
    while True:  # once, unless most predictions overlap several objects
        rows, columns, ious = np.empty(length, np.int64), np.empty(length, np.int64), np.empty(length)
        size = loop(predictions, references, counts, starts, threshold, rows, columns, ious)
        if size <= length:
            return Pairs(rows[:size], columns[:size], ious[:size])
        length = size


def pairs_above(
    boxes: Any, others: Any, counts: Any, starts: Any, threshold: float, rows: Any, columns: Any, ious: Any
) -> int:
    """List the pairs of each box with its `counts` others from `starts` on whose IoU reaches the threshold.

    Returns how many there are; those beyond the length of `rows` are not listed. IoU as in `box_iou`, operation by
    operation; the division is spared where the product is clear.
    """
    size = 0
    clear = 0.999 * threshold
    for i in range(len(boxes)):
        x1, y1, x2, y2 = boxes[i, 0], boxes[i, 1], boxes[i, 2], boxes[i, 3]
        area = (x2 - x1) * (y2 - y1)
        for j in range(starts[i], starts[i] + counts[i]):
            u1, v1, u2, v2 = others[j, 0], others[j, 1], others[j, 2], others[j, 3]
            width = max(min(x2, u2) - max(x1, u1), 0.0)
            height = max(min(y2, v2) - max(y1, v1), 0.0)
            intersection = width * height
            union = area + (u2 - u1) * (v2 - v1) - intersection
            if intersection >= clear * union and union > 0:
                iou = intersection / union
                if iou >= threshold:
                    if size < len(rows):
                        rows[size], columns[size], ious[size] = i, j, iou
                    size += 1
    return size


def match_pairs(pairs: Pairs, predictions: np.ndarray, references: np.ndarray, matching: str) -> Pairs:
    """Choose from the pairs those that are matched; see `match_boxes`."""
    as_choice(matching, "matching", MATCHINGS)
    keys = [-predictions[pairs.rows, 4], -pairs.ious]
    if matching == "confidence":
        keys.reverse()
    ranked = rank_pairs(pairs, predictions, references, keys)
    return _take_free(pairs.take(ranked), len(predictions), len(references))


def rank_pairs(pairs: Pairs, predictions: np.ndarray, references: np.ndarray, keys: list[np.ndarray]) -> np.ndarray:
    """Order of the pairs by keys, of which the last counts first, then by class and coordinates of both boxes."""
    ranked = np.lexsort(keys)
    if np.logical_and.reduce([key[ranked[1:]] == key[ranked[:-1]] for key in keys]).any():
        boxes, others = predictions[pairs.rows, 3::-1].T, references[pairs.columns, 3::-1].T
        labels = predictions[pairs.rows, 5], references[pairs.columns, 4]
        ranked = np.lexsort([*others, labels[1], *boxes, labels[0], *keys])
    return ranked


def _cuts(counts: np.ndarray) -> list[int]:
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
    rows = np.repeat(np.arange(part.start, part.stop), counts)
    columns = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts - starts, counts)
    for low, high in ((0, 2), (1, 3)):  # boxes that overlap do so on either axis
        start = np.maximum(predictions[:, low][rows], references[:, low][columns])
        stop = np.minimum(predictions[:, high][rows], references[:, high][columns])
        overlap = np.flatnonzero(start < stop)
        rows, columns = rows[overlap], columns[overlap]
    ious = box_iou(predictions[rows, :4], references[columns, :4])
    return Pairs(rows, columns, ious).take(ious >= threshold)


def _take_free(ranked: Pairs, num_rows: int, num_columns: int) -> Pairs:
    """Take pairs listed best first, each whose boxes are both still free."""
    row_used, column_used, taken = bytearray(num_rows), bytearray(num_columns), []
    for pair, (row, column) in enumerate(zip(ranked.rows.tolist(), ranked.columns.tolist())):
        if not row_used[row] and not column_used[column]:
            row_used[row] = column_used[column] = 1
            taken.append(pair)
    return ranked.take(np.asarray(taken, dtype=np.int64))
