"""Precision-recall curves class by class, with each image as often as it counts, and the area under them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from .counting import rows_of
from .outcomes import FP_KNOWN, FP_UNKNOWN, TP_KNOWN, TP_UNKNOWN, Outcomes


class Curve(NamedTuple):
    """TP, FP, and predictions on unknown objects, among those that reach each distinct confidence, from the highest."""

    tp: np.ndarray
    fp: np.ndarray
    open: np.ndarray


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


def ranked_classes(
    found: Outcomes, on_unknown: np.ndarray, classes: Sequence[int], by_confidence: np.ndarray
) -> list[RankedClass]:
    """Rank the predictions of each class.

    Parameters: on_unknown, whether each prediction lies on an unknown object; by_confidence, rows of predictions, from
    the most confident on.
    """
    rows = rows_of(found.boxes.predictions[by_confidence, 5], classes)
    ends = np.cumsum(np.bincount(rows, minlength=len(classes)))
    few = rows.astype(np.int16) if len(classes) < 1 << 15 else rows  # which NumPy sorts by their digits
    ranked = by_confidence[np.argsort(few, kind="stable")]
    return [_ranked_class(found, on_unknown, part) for part in np.split(ranked, ends[:-1])]


def _ranked_class(found: Outcomes, on_unknown: np.ndarray, ranked: np.ndarray) -> RankedClass:
    confidence, outcome = found.boxes.predictions[ranked, 4], found.outcome[ranked]
    is_tp = (outcome == TP_KNOWN) | (outcome == TP_UNKNOWN)
    is_fp = (outcome == FP_KNOWN) | (outcome == FP_UNKNOWN)
    kinds = is_tp, is_fp, on_unknown[ranked], np.ones(len(ranked), dtype=bool)
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
    envelope, steps = _envelope(tp, fp), np.diff(tp, prepend=0)
    rising = np.flatnonzero(steps)  # the others, which are most, add nothing
    return math.fsum((steps[rising] * envelope[rising]).tolist()) / num_objects


def eleven_point_average_precision(tp: np.ndarray, fp: np.ndarray, num_objects: int) -> float:
    """Average precision at eleven recalls, as in VOC until 2009.

    AP = 1/11 Σ over t = 0, 1, …, 10 of max{TPₖ / (TPₖ + FPₖ) : 10·TPₖ ≥ t·n}, in [0, 1]; 0.0 for n = 0.

    Recalls are compared as integers. Parameters: as those of `voc_average_precision`. Source: Everingham et al., The
    Pascal VOC Challenge, IJCV 2010.

    >>> eleven_point_average_precision(np.asarray([1, 2, 3]), np.asarray([0, 0, 0]), 10) == 4 / 11
    True
    """
    if not num_objects:
        return 0.0
    places = np.searchsorted(10 * tp, num_objects * np.arange(11))
    return math.fsum(_envelope(tp, fp)[places[places < len(tp)]].tolist()) / 11


def _envelope(tp: np.ndarray, fp: np.ndarray) -> np.ndarray:
    """The highest precision at each confidence or below."""
    precision = tp / np.maximum(tp + fp, 1)
    return np.maximum.accumulate(precision[::-1])[::-1]


AVERAGE_PRECISIONS: dict[str, Callable[[np.ndarray, np.ndarray, int], float]] = {
    "all": voc_average_precision,
    "11-point": eleven_point_average_precision,
}
