"""Average precision of a class: areas under its precision-recall curve, from counts at each distinct confidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from ..arrays.arrays import to_numpy
from ..arrays.columns import as_labels, check_lengths
from ..arrays.options import as_int
from ..arrays.ratios import RATIO_UNIT, rounded_sum, sum_of_shares

Ratio: TypeAlias = tuple[int, int]  # a numerator and a denominator


def voc_average_precision(tp: Any, fp: Any, num_objects: int) -> float:
    """Area under the precision envelope: all-point average precision, as in VOC from 2010 on.

    AP = 1/n Σₖ (TPₖ − TPₖ₋₁) · max over j ≥ k of TPⱼ / (TPⱼ + FPⱼ), in [0, 1]; 0.0 for n = 0.

    Parameters: tp, fp (K,), counts of the predictions that reach each distinct confidence, from the highest;
    num_objects n. Raises ValueError for counts that fall or are not integers, and for more TP than objects.
    Source: Everingham et al., The Pascal VOC Challenge, IJCV 2010, and its devkit of 2010.

    >>> voc_average_precision([1, 1, 2], [0, 1, 1], 2)
    0.8333333333333333
    """
    counts = {"tp": to_numpy(as_labels(tp, "tp")), "fp": to_numpy(as_labels(fp, "fp"))}
    check_lengths(**counts)
    for name, column in counts.items():
        if (np.diff(column, prepend=0) < 0).any():
            raise ValueError(f"{name}: expected counts from 0 that never fall, got {column.tolist()!r:.60}")
    num_objects = as_int(num_objects, "num_objects", int(counts["tp"].max(initial=0)))
    area, total = area_of_all_points(counts["tp"], counts["fp"], num_objects)
    return area / total


def area_of_all_points(tp: np.ndarray, fp: np.ndarray, num_objects: int) -> Ratio:
    """As `voc_average_precision`, as a ratio: an exact sum of precisions that are rounded to float64."""
    tp, fp = _where_tp_rises(tp, fp)
    if not num_objects or not len(tp):
        return 0, 1
    return sum_of_shares(np.diff(tp, prepend=0), _envelope(tp, fp), num_objects), num_objects << RATIO_UNIT


def interpolated_average_precision(tp: np.ndarray, fp: np.ndarray, num_objects: int, *, steps: int) -> Ratio:
    """Average precision at recalls of 0, 1/s, …, 1: s = 10 in VOC until 2009, 100 in COCO; as a ratio.

    AP = 1/(s + 1) Σ over t = 0, 1, …, s of max{TPₖ / (TPₖ + FPₖ) : s·TPₖ ≥ t·n}, in [0, 1]; 0.0 for n = 0.

    Recalls are compared as integers; COCO's code compares them with steps of floats, and misses a recall of 0.57.
    Parameters: steps s, others as those of `voc_average_precision`. Sources: Everingham et al., The Pascal VOC
    Challenge, IJCV 2010; Lin et al., Microsoft COCO, ECCV 2014, and its code.

    >>> area, total = interpolated_average_precision(np.asarray([1, 2, 3]), np.asarray([0, 0, 0]), 10, steps=10)
    >>> area / total == 4 / 11
    True
    """
    tp, fp = _where_tp_rises(tp, fp)
    places = np.searchsorted(steps * tp, num_objects * np.arange(steps + 1))
    reached = places[places < len(tp)]
    if not num_objects or not len(reached):
        return 0, 1
    precisions = _envelope(tp, fp)[reached]
    return sum_of_shares(np.ones_like(reached), precisions, steps + 1), (steps + 1) << RATIO_UNIT


def mean_of(aps: Sequence[Ratio]) -> float:
    """The mean of average precisions, rounded once; 0.0 of none."""
    return rounded_sum(aps, len(aps)) if aps else 0.0


def _where_tp_rises(tp: np.ndarray, fp: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Keep the points at which TP rises. The others, which are most, repeat a recall with no higher precision."""
    rises = np.not_equal(tp, np.concatenate([[0], tp[:-1]]))
    return tp[rises], fp[rises]


def _envelope(tp: np.ndarray, fp: np.ndarray) -> np.ndarray:
    """The highest precision at each confidence or below."""
    precision = tp / np.maximum(tp + fp, 1)
    return np.maximum.accumulate(precision[::-1])[::-1]


AveragePrecision: TypeAlias = Callable[[np.ndarray, np.ndarray, int], Ratio]
AVERAGE_PRECISIONS: dict[str, AveragePrecision] = {
    "all": area_of_all_points,
    "11-point": partial(interpolated_average_precision, steps=10),
}
