"""Matching of predictions and objects within each image: one to one, whatever their classes, and as in Pascal VOC.

One to one: the pairs of all images that reach the IoU threshold are listed and ranked together, best first; one pass
over the list takes each pair of boxes that are both still free. Ranked by IoU, this repeatedly takes the best pair of
each image; ranked by confidence and then IoU, it goes through the predictions of each image, most confident first, and
gives each the free object that it overlaps most.

Pascal VOC's, class by class: a prediction points at the object of its class that it overlaps most, and matches no other
object if that one is taken. So no loop is needed: of the predictions that point at one object, the most confident is
the TP. The counts of all predictions that reach a confidence then depend on no order, and each distinct confidence is a
threshold.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.arrays import to_numpy
from ..arrays.checks import as_choice, as_counts, as_fraction, check_lengths
from .boxes import checked_table
from .outcomes import (
    BY_CONFIDENCE,
    BY_IOU,
    FP_KNOWN,
    FP_UNKNOWN,
    LEFT_OUT_CLASS,
    MATCHINGS,
    ON_IGNORED,
    TP_KNOWN,
    TP_UNKNOWN,
    Outcomes,
    Rules,
    SelectedBoxes,
)
from .overlap import Pairs, overlaps

_LISTED = 1 << 16  # pairs that are numbers of Python at a time, which take some 70 bytes each


def match_boxes(
    predictions: Any,
    references: Any,
    num_predictions: Any,
    num_references: Any,
    iou_threshold: float = Rules.iou_threshold,
    *,
    matching: str = BY_IOU,
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
    Raises ValueError for numbers of rows that do not add up, and the errors of `reduce_boxes`.

    >>> boxes = [[0, 0, 4, 3, 0.9, 1], [0, 0, 4, 4, 0.01, 1]]
    >>> for matching in ("iou", "confidence"):
    ...     print(match_boxes(boxes, [[0, 0, 4, 4, 1]], [2], [1], matching=matching)[0])
    [1]
    [0]
    """
    num_predictions = to_numpy(as_counts(num_predictions, "num_predictions"))
    num_references = to_numpy(as_counts(num_references, "num_references"))
    check_lengths(num_predictions=num_predictions, num_references=num_references)
    predictions = checked_table(predictions, "predictions", 6, num_predictions)
    references = checked_table(references, "references", 5, num_references)
    matching = as_choice(matching, "matching", MATCHINGS)
    threshold = as_fraction(iou_threshold, "iou_threshold")
    pairs = overlaps(predictions, references, num_predictions, num_references, threshold).reaching(threshold)
    matched = match_pairs(pairs, predictions, references, matching)
    return matched.rows, matched.columns


def match_pairs(pairs: Pairs, predictions: np.ndarray, references: np.ndarray, matching: str) -> Pairs:
    """Choose the matched pairs; see `match_boxes`."""
    keys = [-predictions[pairs.rows, 4], -pairs.ranks]
    if matching == BY_CONFIDENCE:
        keys.reverse()
    ranked = rank_pairs(pairs, predictions, references, keys)
    return take_free(pairs.take(ranked), len(predictions), len(references))


def first_pairs(
    pairs: Pairs,
    places: np.ndarray,
    of: np.ndarray,
    predictions: np.ndarray,
    references: np.ndarray,
    keys: list[np.ndarray],
) -> np.ndarray:
    """The place of the first pair of each prediction or of each object, ranked as by `rank_pairs`.

    Parameters: places of the pairs that are looked at; of, the rows or the columns of all pairs; keys of all pairs.
    Only pairs that their keys do not tell apart are ranked.
    """
    first = lowest_of_each(places, of, keys)
    equal = np.bincount(of[first])[of[first]] > 1
    several = first[equal]
    order = rank_pairs(pairs.take(several), predictions, references, [*(key[several] for key in keys), of[several]])
    several = several[order]
    return np.concatenate([first[~equal], several[first_of_each(of[several])]])


def lowest_of_each(places: np.ndarray, groups: np.ndarray, keys: list[np.ndarray]) -> np.ndarray:
    """The places of the entries with the lowest key in their group, all of equal ones; the last key counts first.

    Parameters: places of the entries to choose from; groups and keys of all entries.

    >>> groups, keys = np.asarray([0, 1, 0, 0]), [np.asarray([5, 5, 4, 5]), np.asarray([2.0, 3.0, 1.0, 1.0])]
    >>> lowest_of_each(np.arange(4), groups, keys).tolist()
    [1, 2]
    """
    for key in reversed(keys):
        if len(places):
            own, of = key[places], groups[places]
            lowest = np.full(int(of.max()) + 1, own.max())
            np.minimum.at(lowest, of, own)
            places = places[own == lowest[of]]
    return places


def rank_pairs(pairs: Pairs, predictions: np.ndarray, references: np.ndarray, keys: list[np.ndarray]) -> np.ndarray:
    """The order of pairs by keys, the last key first, then by class and coordinates of both boxes."""
    ranked = np.lexsort(keys)
    if np.logical_and.reduce([key[ranked[1:]] == key[ranked[:-1]] for key in keys]).any():
        boxes, others = box_ranks(predictions[:, [5, 0, 1, 2, 3]]), box_ranks(references[:, [4, 0, 1, 2, 3]])
        ranked = np.lexsort([others[pairs.columns], boxes[pairs.rows], *keys])
    return ranked


def box_ranks(columns: np.ndarray) -> np.ndarray:
    """Rank the rows of a table by their columns, the first column first; equal rows have equal ranks.

    >>> box_ranks(np.asarray([[1.0, 5.0], [0.0, 9.0], [1.0, 5.0]])).tolist()
    [1, 0, 1]
    """
    order = np.lexsort(columns.T[::-1])
    ordered = columns[order]
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.concatenate([[0], np.cumsum((ordered[1:] != ordered[:-1]).any(1))])[: len(order)]
    return ranks


def take_free(ranked: Pairs, num_rows: int, num_columns: int) -> Pairs:
    """Take each pair of two boxes that are still free, from pairs listed best first."""
    row_used, column_used, taken = bytearray(num_rows), bytearray(num_columns), []
    for start in range(0, len(ranked.rows), _LISTED):
        part = slice(start, start + _LISTED)
        for pair, (row, column) in enumerate(zip(ranked.rows[part].tolist(), ranked.columns[part].tolist()), start):
            if not row_used[row] and not column_used[column]:
                row_used[row] = column_used[column] = 1
                taken.append(pair)
    return ranked.take(np.asarray(taken, dtype=np.int64))


def first_of_each(groups: np.ndarray) -> np.ndarray:
    """The first of each run of equal numbers."""
    first = np.ones(len(groups), dtype=bool)
    first[1:] = groups[1:] != groups[:-1]
    return first


def voc_outcomes(boxes: SelectedBoxes, pairs: Pairs) -> Outcomes:
    """Outcomes of predictions within their classes; all unknown objects are of one class.

    A prediction on an ignored object is not counted. Of equal IoUs, an object that is not ignored comes first, then
    smaller class and coordinates; of equally confident predictions on one object, the one with the higher IoU, then
    smaller coordinates. Predictions of a class that is neither known nor the unknown id are not counted.
    """
    pairs = pairs.take(boxes.rows[pairs.rows] == boxes.object_rows[pairs.columns])
    keys = [boxes.ignored[pairs.columns], -pairs.ranks, pairs.rows]
    pairs = pairs.take(rank_pairs(pairs, boxes.predictions, boxes.references, keys))
    pointing = pairs.take(first_of_each(pairs.rows))
    to_ignored = boxes.ignored[pointing.columns]
    taking = pointing.take(~to_ignored)
    keys = [-taking.ranks, -boxes.confidence[taking.rows], taking.columns]
    taking = taking.take(rank_pairs(taking, boxes.predictions, boxes.references, keys))
    taking = taking.take(first_of_each(taking.columns))

    of_class = np.where(np.isin(boxes.classes, boxes.known), FP_KNOWN, LEFT_OUT_CLASS).astype(np.int8)
    of_class[-1] = FP_UNKNOWN
    outcome = of_class[boxes.rows]
    says_unknown = outcome[taking.rows] == FP_UNKNOWN
    outcome[pointing.rows[to_ignored]] = ON_IGNORED
    outcome[taking.rows] = np.where(says_unknown, TP_UNKNOWN, TP_KNOWN)
    matched = np.full(len(outcome), -1)
    matched[taking.rows] = taking.columns
    return Outcomes(boxes, outcome, matched)
