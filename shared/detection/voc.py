"""Pascal VOC's matching of detections, class by class, and the area under its precision-recall curve.

A prediction points at the object of its class that it overlaps most, and takes none when that one is taken. So no
loop is needed: of the predictions that point at one object, the most confident is the TP. The counts of all
predictions that reach a confidence then depend on no order, and each distinct confidence is a threshold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .counting import rows_of
from .matching import rank_pairs
from .outcomes import FP_KNOWN, FP_UNKNOWN, NEITHER, TP_KNOWN, TP_UNKNOWN, Outcomes, SelectedBoxes
from .pairs import Pairs


class Curve(NamedTuple):
    """TP, FP, and predictions on unknown objects, among those that reach each distinct confidence, from the highest."""

    tp: np.ndarray
    fp: np.ndarray
    open: np.ndarray


def voc_outcomes(boxes: SelectedBoxes, pairs: Pairs) -> Outcomes:
    """What each prediction counts as within its class, where all unknown objects are of one class.

    On an ignored object it counts nowhere. Of equal IoUs, an object that is not ignored comes first, then smaller
    class and coordinates. Predictions of a class that is neither known nor the unknown id count nowhere.
    """
    confidence, label = boxes.predictions[:, 4:].T
    pairs = pairs.take(label[pairs.rows] == boxes.object_label[pairs.columns])
    keys = [boxes.ignored[pairs.columns], -pairs.ranks, pairs.rows]
    pairs = pairs.take(rank_pairs(pairs, boxes.predictions, boxes.references, keys))
    pointing = pairs.take(_first_of_each(pairs.rows))
    to_ignored = boxes.ignored[pointing.columns]
    taking = pointing.take(~to_ignored)
    taking = taking.take(np.lexsort((-confidence[taking.rows], taking.columns)))
    taking = taking.take(_first_of_each(taking.columns))

    says_unknown = label == boxes.unknown_id
    outcome = np.where(says_unknown, FP_UNKNOWN, np.where(np.isin(label, boxes.known), FP_KNOWN, NEITHER))
    outcome[pointing.rows[to_ignored]] = NEITHER
    outcome[taking.rows] = np.where(says_unknown[taking.rows], TP_UNKNOWN, TP_KNOWN)
    matched = np.full(len(label), -1)
    matched[taking.rows] = taking.columns
    return Outcomes(boxes, outcome, matched)


class RankedClass(NamedTuple):
    """The predictions of a class, from the most confident on.

    image: (n,) of each
    kinds: (4, n) int64, 1 for a TP, for a FP, for one on an unknown object, and for any
    last: the places of the last ones of each distinct confidence
    """

    image: np.ndarray
    kinds: np.ndarray
    last: np.ndarray

    def curve(self, counts: np.ndarray) -> Curve:
        """Counts at each distinct confidence that occurs, with those of the images."""
        tp, fp, opened, number = np.cumsum(self.kinds * counts[self.image], axis=1)[:, self.last]
        occurs = number > np.concatenate([[0], number[:-1]])
        return Curve(tp[occurs], fp[occurs], opened[occurs])


def ranked_classes(found: Outcomes, on_unknown: np.ndarray, classes: Sequence[int]) -> list[RankedClass]:
    """Rank the predictions of each class; on_unknown says which lie on an unknown object."""
    rows = rows_of(found.boxes.predictions[:, 5], classes)
    ends = np.cumsum(np.bincount(rows, minlength=len(classes)))
    ranked = np.lexsort((-found.boxes.predictions[:, 4], rows))
    return [_ranked_class(found, on_unknown, part) for part in np.split(ranked, ends[:-1])]


def _ranked_class(found: Outcomes, on_unknown: np.ndarray, ranked: np.ndarray) -> RankedClass:
    confidence, outcome = found.boxes.predictions[ranked, 4], found.outcome[ranked]
    is_tp = (outcome == TP_KNOWN) | (outcome == TP_UNKNOWN)
    kinds = is_tp, ~is_tp & (outcome != NEITHER), on_unknown[ranked], np.ones(len(ranked), dtype=bool)
    last = np.append(confidence[1:] != confidence[:-1], True) if len(ranked) else np.zeros(0, dtype=bool)
    return RankedClass(found.boxes.image[ranked], np.stack(kinds).astype(np.int64), np.flatnonzero(last))


def voc_average_precision(tp: np.ndarray, fp: np.ndarray, num_objects: int) -> float:
    """Area under the precision envelope: all-point average precision, as in VOC from 2010 on.

    AP = 1/n Σₖ (TPₖ − TPₖ₋₁) · max over j ≥ k of TPⱼ / (TPⱼ + FPⱼ), in [0, 1]; 0.0 for n = 0.

    Parameters: tp, fp (K,), counts of the predictions that reach each distinct confidence, from the highest;
    num_objects n. Source: Everingham et al., The Pascal VOC Challenge, IJCV 2010, and its devkit of 2010.

    >>> voc_average_precision(np.asarray([1, 1, 2]), np.asarray([0, 1, 1]), 2)
    0.8333333333333333
    """
    if not num_objects:
        return 0.0
    precision = tp / np.maximum(tp + fp, 1)
    envelope = np.maximum.accumulate(precision[::-1])[::-1]
    steps = np.diff(tp, prepend=0)
    rising = np.flatnonzero(steps)  # the others, which are most, add nothing
    return math.fsum((steps[rising] * envelope[rising]).tolist()) / num_objects


def _first_of_each(groups: np.ndarray) -> np.ndarray:
    """The first of each run of equal numbers."""
    first = np.ones(len(groups), dtype=bool)
    first[1:] = groups[1:] != groups[:-1]
    return first
