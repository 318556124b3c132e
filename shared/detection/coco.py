"""COCO's matching of detections, class by class, at ten IoUs.

pairs of boxes of one class, ranked by confidence, then IoU → at each IoU: matches, predictions on ignored objects
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from .budgets import RECALL_IOUS
from .matching import rank_pairs, take_free
from .outcomes import FP_KNOWN, LEFT_OUT_CLASS, ON_IGNORED, TP_KNOWN, Outcomes, SelectedBoxes
from .overlap import Overlaps, all_pairs, cuts_of_pairs, objects_of_rows, overlaps


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
    wrong = np.where(counted, FP_KNOWN, LEFT_OUT_CLASS).astype(np.int8)
    listed = boxes.overlaps(float(RECALL_IOUS[0]))
    pairs = listed.pairs
    same = boxes.rows[pairs.rows] == boxes.object_rows[pairs.columns]
    listed = listed.take(same & counted[pairs.rows] & ~boxes.ignored[pairs.columns])
    pairs = listed.ranked()
    order = rank_pairs(pairs, boxes.predictions, boxes.references, [-pairs.ranks, -boxes.confidence[pairs.rows]])
    listed = listed.take(order)
    rows, on_ignored = _on_ignored(boxes, counted)
    for iou in RECALL_IOUS:
        taking = take_free(listed.pairs.take(listed.compared(iou)[0] >= 0), len(boxes.label), len(boxes.references))
        outcome, matched = wrong.copy(), np.full(len(wrong), -1)
        outcome[rows[on_ignored.compared(iou)[0] >= 0]] = ON_IGNORED
        outcome[taking.rows], matched[taking.rows] = TP_KNOWN, taking.columns
        yield Outcomes(boxes, outcome, matched)


def _places(boxes: SelectedBoxes) -> np.ndarray:
    """The place of each prediction among those of its image and class, by confidence, then coordinates."""
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
    on_ignored = overlaps(box[overlap], shared[overlap], one_each, one_each, float(RECALL_IOUS[0]))
    return rows[overlap][on_ignored.pairs.rows], on_ignored
