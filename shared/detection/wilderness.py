"""Wilderness impact: how much unknown objects lower the precision of the known classes.

Dhamija et al. (2020) compare images of known objects with all images; Joseph et al. (OWOD, 2021) count the predictions
of known classes that lie on unknown objects, as A-OSE does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..ranking.shares import least_reaching
from .class_curves import Curve
from .counting import Ranked, ranked_outcome, ratio, ratios
from .outcomes import FP_KNOWN, TP_KNOWN, Outcomes, SelectedBoxes
from .pairs import Pairs

TENTHS = range(1, 10)  # recalls of WI(OWOD)


class UnknownCalledKnown(NamedTuple):
    """The predictions of known classes that reach the IoU threshold with an unknown object, and these objects.

    rows, objects: in the two tables, each once
    confidence: for each of the objects, the highest among its predictions
    """

    rows: np.ndarray
    objects: np.ndarray
    confidence: np.ndarray


def unknown_called_known(boxes: SelectedBoxes, pairs: Pairs) -> UnknownCalledKnown:
    """Find these among the pairs that reach the IoU threshold; ignored objects are not counted."""
    label, object_label = boxes.label[pairs.rows], boxes.object_label[pairs.columns]
    pairs = pairs.take(np.isin(label, boxes.known) & (object_label == boxes.unknown_id) & ~boxes.ignored[pairs.columns])
    objects, place = np.unique(pairs.columns, return_inverse=True)
    highest = np.full(len(objects), -np.inf)
    np.maximum.at(highest, place, boxes.confidence[pairs.rows])
    return UnknownCalledKnown(np.unique(pairs.rows), objects, highest)


def wilderness_by_recall(curves: list[tuple[Curve, int]]) -> list[float]:
    """WI(OWOD) at recalls of 0.1 to 0.9, from the curve and the number of objects of each known class."""
    opened, counted = np.zeros((2, len(TENTHS)), dtype=np.int64)
    for curve, objects in curves:
        if objects and len(curve.tp):
            places = _nearest(10 * curve.tp, objects * np.asarray(TENTHS))
            opened += curve.on_unknown[places]
            counted += (curve.tp + curve.fp)[places]
    return ratios(opened, counted)


def _nearest(ascending: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The first place of the nearest number to each target; of two equally near, the smaller one."""
    above = np.minimum(np.searchsorted(ascending, targets), len(ascending) - 1)
    below = np.maximum(above - 1, 0)
    is_below = np.abs(targets - ascending[below]) <= np.abs(targets - ascending[above])
    return np.searchsorted(ascending, ascending[np.where(is_below, below, above)])


class ClosedSet(NamedTuple):
    """The two sets that WI compares: the images without an unknown object, and all images.

    known_only: (N,) whether an image has no unknown object, ignored ones included
    objects: (N,) known objects that count
    tp, fp: predictions of known classes
    """

    known_only: np.ndarray
    objects: np.ndarray
    tp: Ranked
    fp: Ranked


def closed_set(outcomes: Outcomes, objects: np.ndarray) -> ClosedSet:
    """Collect the input of WI; objects (N,), the number of known objects of each image."""
    boxes = outcomes.boxes
    unknown = boxes.object_image[boxes.object_label == boxes.unknown_id]
    known_only = np.bincount(unknown, minlength=len(boxes.num_predictions)) == 0
    return ClosedSet(known_only, objects, ranked_outcome(outcomes, TP_KNOWN), ranked_outcome(outcomes, FP_KNOWN))


def closed_set_confidence(closed: ClosedSet, counts: np.ndarray, level: float) -> float:
    """The highest confidence at which the recall of known objects in images without unknown ones reaches a level."""
    counts = counts * closed.known_only
    total = int(counts @ closed.objects)
    if not total:
        raise ValueError(
            "recall_level: WI compares with images without unknown objects, and none of them has a known object; "
            "recall_level=None leaves WI out"
        )
    right = np.cumsum(counts[closed.tp.image][::-1])
    reached = np.flatnonzero(right >= least_reaching(level, total))
    if not len(reached):
        most = int(right[-1]) if len(right) else 0
        raise ValueError(
            f"recall_level: expected at most {most}/{total} = {most / total:.4g}, the highest "
            f"recall of known objects in images without unknown ones, got {level}; recall_level=None leaves WI out"
        )
    return float(closed.tp.confidence[::-1][reached[0]])


def wilderness_above(closed: ClosedSet, counts: np.ndarray, thresholds: Sequence[float]) -> list[float]:
    """WI of the predictions that reach each threshold; 0.0 where a precision is 0/0, or 0 over all images."""
    sides = counts * closed.known_only, counts
    reached = [kind.reaching(thresholds, side).tolist() for side in sides for kind in (closed.tp, closed.fp)]
    impacts = []
    for closed_tp, closed_fp, all_tp, all_fp in zip(*reached):
        below = (closed_tp + closed_fp) * all_tp
        impacts.append(ratio(closed_tp * (all_tp + all_fp) - below, below))
    return impacts
