"""Matching of predictions and objects within each image: one to one, whatever their classes; Pascal VOC's; and COCO's.

One to one: the pairs of all images that reach the IoU threshold are listed and ranked together, best first; one pass
over the list takes each pair of boxes that are both still free. Ranked by IoU, this repeatedly takes the best pair of
each image; ranked by confidence and then IoU, it goes through the predictions of each image, most confident first, and
gives each the free object that it overlaps most.

Pascal VOC's, class by class: a prediction points at the object of its class that it overlaps most, and matches no other
object if that one is taken. So no loop is needed: of the predictions that point at one object, the most confident is
the TP.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from ..arrays.arrays import to_numpy
from ..arrays.checks import as_choice, as_counts, as_fraction, check_lengths
from ..arrays.sorting import first_of_each
from .boxes import checked_table
from .outcomes import BY_CONFIDENCE, BY_IOU, DEFAULT_IOU, MATCHINGS, Outcome, Outcomes, SelectedBoxes
from .overlap import Overlaps, Pairs, Two, all_pairs, cuts_of_pairs, objects_of_rows, overlaps

RECALL_IOUS = [Fraction(ious, 20) for ious in range(10, 20)]  # 0.5, 0.55, …, 0.95
_LISTED = 1 << 16  # pairs that are numbers of Python at a time, which take some 70 bytes each


def match_boxes(
    predictions: Any,
    references: Any,
    num_predictions: Any,
    num_references: Any,
    iou_threshold: float = DEFAULT_IOU,
    *,
    matching: str = BY_IOU,
) -> tuple[np.ndarray, np.ndarray]:
    """Match boxes one to one within each image, whatever their classes.

    "iou": the pair with the highest IoU is matched and its boxes are taken out, until every IoU left is below the
    threshold. Of equal IoUs the more confident prediction goes first.
    "confidence": the most confident prediction takes the object that it overlaps most, then the next one takes what
    is still free, and so on. Of equal confidences the higher IoU goes first.
    Then the smaller class and coordinates go first, so that the order of the boxes never matters.

    Parameters: predictions (Σn, 6), references (Σm, 5) as `OpenSetDetection.reduce` lays them out, with the number of
    each image's rows; iou_threshold in (0, 1], matched at IoU ≥ threshold.
    Returns the matched pairs as two index arrays, into predictions and into references.
    Raises ValueError for numbers of rows that do not add up, and the errors of `OpenSetDetection.reduce`.

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
    tables = predictions, references
    matched = match_pairs(
        overlaps(tables, (num_predictions, num_references), threshold).reaching(threshold), tables, matching
    )
    return matched.rows, matched.columns


def match_pairs(pairs: Pairs, tables: Two, matching: str) -> Pairs:
    """Choose the matched pairs; see `match_boxes`."""
    keys = [-tables[0][pairs.rows, 4], -pairs.ranks]
    if matching == BY_CONFIDENCE:
        keys.reverse()
    return take_free(pairs.take(rank_pairs(pairs, tables, keys)), tables)


def first_pairs(pairs: Pairs, places: np.ndarray, of: np.ndarray, tables: Two, keys: list[np.ndarray]) -> np.ndarray:
    """The place of the first pair of each prediction or of each object, ranked as by `rank_pairs`.

    Parameters: places of the pairs that are looked at; of, the rows or the columns of all pairs; keys of all pairs.
    Only pairs that their keys do not tell apart are ranked.
    """
    first = lowest_of_each(places, of, keys)
    equal = np.bincount(of[first])[of[first]] > 1
    several = first[equal]
    order = rank_pairs(pairs.take(several), tables, [*(key[several] for key in keys), of[several]])
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
            values, of = key[places], groups[places]
            lowest = np.full(int(of.max()) + 1, values.max())
            np.minimum.at(lowest, of, values)
            places = places[values == lowest[of]]
    return places


def rank_pairs(pairs: Pairs, tables: Two, keys: list[np.ndarray]) -> np.ndarray:
    """The order of pairs by keys, the last key first, then by class and coordinates of both boxes."""
    ranked = np.lexsort(keys)
    if np.logical_and.reduce([key[ranked[1:]] == key[ranked[:-1]] for key in keys]).any():
        boxes, others = (box_ranks(table[:, [label, 0, 1, 2, 3]]) for table, label in zip(tables, (5, 4)))
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


def take_free(ranked: Pairs, tables: Two) -> Pairs:
    """Take each pair of two boxes that are still free, from pairs listed best first."""
    taken, (row_used, column_used) = [], map(bytearray, map(len, tables))
    for start in range(0, len(ranked.rows), _LISTED):
        part = slice(start, start + _LISTED)
        for pair, (row, column) in enumerate(zip(ranked.rows[part].tolist(), ranked.columns[part].tolist()), start):
            if not row_used[row] and not column_used[column]:
                row_used[row] = column_used[column] = 1
                taken.append(pair)
    return ranked.take(np.asarray(taken, dtype=np.int64))


def one_to_one_outcomes(boxes: SelectedBoxes, pairs: Pairs) -> Outcomes:
    """Outcomes of selected boxes, from the pairs of them that reach the IoU threshold.

    A reference is known if its class is among `known_classes`, else unknown; a prediction says "unknown" if its class
    is `unknown_class_id`, else it says a known class. Predictions below `conf_threshold` are left out, the rest are
    matched as by `match_boxes`.

    matched to →          known object                      unknown object
    its class             TP_known                          –
    another known class   FP_known, FN_known                FP_known, FN_unknown
    "unknown"             FP_unknown, FN_known              TP_unknown

    Unmatched objects are FN of their kind. Unmatched predictions are FP_known. If they say "unknown", they are not
    counted, unless `count_background` makes them FP_unknown.

    Ignored objects enter no count and are not matched. An unmatched prediction that reaches the IoU threshold with one
    is left out of all counts, however many such predictions there are.

    Source: the evaluation guide of OW-DLN; `count_background` follows its code.
    """
    to_ignored = boxes.ignored[pairs.columns]
    pairs_matched = match_pairs(pairs.take(~to_ignored), boxes.tables, boxes.rules.matching or BY_IOU)
    matched = np.full(len(boxes.predictions), -1)
    matched[pairs_matched.rows] = pairs_matched.columns

    of_class = np.full(len(boxes.classes), Outcome.FP_KNOWN, np.int8)
    of_class[-1] = Outcome.FP_UNKNOWN if boxes.rules.count_background else Outcome.BACKGROUND
    outcome = of_class.take(boxes.rows)
    outcome[pairs.rows[to_ignored]] = Outcome.ON_IGNORED
    rows, label, called = pairs_matched.rows, boxes.label[pairs_matched.rows], boxes.object_label[pairs_matched.columns]
    right, says_unknown = label == called, label == boxes.unknown_id
    outcome[rows] = np.where(says_unknown, Outcome.FP_UNKNOWN, Outcome.FP_KNOWN)
    outcome[rows[right]] = np.where(says_unknown[right], Outcome.TP_UNKNOWN, Outcome.TP_KNOWN)
    return Outcomes(boxes, outcome, matched)


def voc_outcomes(boxes: SelectedBoxes, pairs: Pairs) -> Outcomes:
    """Outcomes of predictions within their classes; all unknown objects are of one class.

    A prediction on an ignored object is not counted. Of equal IoUs, an object that is not ignored comes first, then
    smaller class and coordinates; of equally confident predictions on one object, the one with the higher IoU, then
    smaller coordinates. Predictions of a class that is neither known nor the unknown id are not counted.
    """
    pairs = pairs.take(boxes.rows[pairs.rows] == boxes.object_rows[pairs.columns])
    keys = [boxes.ignored[pairs.columns], -pairs.ranks, pairs.rows]
    pairs = pairs.take(rank_pairs(pairs, boxes.tables, keys))
    pointing = pairs.take(first_of_each(pairs.rows))
    to_ignored = boxes.ignored[pointing.columns]
    taking = pointing.take(~to_ignored)
    keys = [-taking.ranks, -boxes.confidence[taking.rows], taking.columns]
    taking = taking.take(rank_pairs(taking, boxes.tables, keys))
    taking = taking.take(first_of_each(taking.columns))

    of_class = np.where(np.isin(boxes.classes, boxes.known), Outcome.FP_KNOWN, Outcome.LEFT_OUT).astype(np.int8)
    of_class[-1] = Outcome.FP_UNKNOWN
    outcome = of_class.take(boxes.rows)
    says_unknown = outcome[taking.rows] == Outcome.FP_UNKNOWN
    outcome[pointing.rows[to_ignored]] = Outcome.ON_IGNORED
    outcome[taking.rows] = np.where(says_unknown, Outcome.TP_UNKNOWN, Outcome.TP_KNOWN)
    matched = np.full(len(outcome), -1)
    matched[taking.rows] = taking.columns
    return Outcomes(boxes, outcome, matched)


def coco_outcomes(boxes: SelectedBoxes, max_detections: int | None = None) -> Iterator[Outcomes]:
    """Match predictions of known classes at IoUs of 0.5, 0.55, …, 0.95; yields the outcomes at each.

    In each image and class, the most confident prediction takes the object that it overlaps most, then the next one
    takes what is still free, and so on. A prediction that takes none is a FP, unless this share of its own area lies on
    an ignored object, which is COCO's rule for crowds: then it is not counted. An ignored object is taken by none.

    Of equal confidences the higher IoU goes first, then smaller coordinates, so that the order of the rows never
    matters; COCO's own code takes the first row.

    Parameters: max_detections, the number of the most confident predictions of each image and class that count, of
    equal confidences those with smaller coordinates; None for all.
    Source: Lin et al., Microsoft COCO, ECCV 2014, and its code.
    """
    counted = np.isin(boxes.label, boxes.known)
    if max_detections is not None:
        counted &= _places(boxes) < max_detections
    wrong = np.where(counted, Outcome.FP_KNOWN, Outcome.LEFT_OUT).astype(np.int8)
    listed = boxes.overlaps(float(RECALL_IOUS[0]))
    pairs = listed.pairs
    same = boxes.rows[pairs.rows] == boxes.object_rows[pairs.columns]
    listed = listed.take(same & counted[pairs.rows] & ~boxes.ignored[pairs.columns])
    pairs = listed.ranked()
    listed = listed.take(rank_pairs(pairs, boxes.tables, [-pairs.ranks, -boxes.confidence[pairs.rows]]))
    rows, on_ignored = _on_ignored(boxes, counted)
    for iou in RECALL_IOUS:
        taking = take_free(listed.pairs.take(listed.compared(iou)[0] >= 0), boxes.tables)
        outcome, matched = wrong.copy(), np.full(len(wrong), -1)
        outcome[rows[on_ignored.compared(iou)[0] >= 0]] = Outcome.ON_IGNORED
        outcome[taking.rows], matched[taking.rows] = Outcome.TP_KNOWN, taking.columns
        yield Outcomes(boxes, outcome, matched)


def _places(boxes: SelectedBoxes) -> np.ndarray:
    """The rank of each prediction within its image and class, by confidence, then coordinates."""
    groups = boxes.image * len(boxes.classes) + boxes.rows
    order = np.lexsort((*boxes.predictions[:, 3::-1].T, -boxes.confidence, groups))
    groups, places = groups[order], np.empty(len(order), np.int64)
    places[order] = np.arange(len(order)) - np.searchsorted(groups, groups)
    return places


def _on_ignored(boxes: SelectedBoxes, counted: np.ndarray) -> tuple[np.ndarray, Overlaps]:
    """Some predictions on an ignored object of their class, and the overlap of each with its part on the object.

    The share of a box A that lies on B is the IoU of A and A ∩ B.
    """
    ignored = np.flatnonzero(boxes.ignored)
    numbers = np.bincount(boxes.object_image[ignored], minlength=len(boxes.num_predictions))
    counts, starts = objects_of_rows(boxes.num_predictions, numbers)
    parts = [np.zeros((2, 0), np.int64)]
    for start, stop in pairwise(cuts_of_pairs(counts)):
        rows, places = all_pairs(np.arange(start, stop), counts[start:stop], starts[start:stop])
        columns = ignored[places]
        parts.append(np.stack([rows, columns])[:, counted[rows] & (boxes.rows[rows] == boxes.object_rows[columns])])
    rows, columns = np.concatenate(parts, axis=1)
    box, other = boxes.predictions[rows, :4], boxes.references[columns, :4]
    shared = np.concatenate([np.maximum(box[:, :2], other[:, :2]), np.minimum(box[:, 2:], other[:, 2:])], axis=1)
    overlap = (shared[:, :2] < shared[:, 2:]).all(axis=1)
    one_each = np.ones(np.count_nonzero(overlap), np.int64)
    on_ignored = overlaps((box[overlap], shared[overlap]), (one_each, one_each), float(RECALL_IOUS[0]))
    return rows[overlap][on_ignored.pairs.rows], on_ignored
