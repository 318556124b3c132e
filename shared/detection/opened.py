"""Unknown objects that predictions of known classes lie on: what A-OSE counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .outcomes import SelectedBoxes
from .pairs import Pairs


class Opened(NamedTuple):
    """The predictions of known classes that reach the IoU threshold with an unknown object, and these objects.

    rows, objects: in the two tables, each once
    confidence: for each of the objects, the highest among its predictions
    """

    rows: np.ndarray
    objects: np.ndarray
    confidence: np.ndarray


def unknown_taken_for_known(boxes: SelectedBoxes, pairs: Pairs) -> Opened:
    """Those among the pairs that reach the IoU threshold; ignored objects count nowhere."""
    label, object_label = boxes.predictions[pairs.rows, 5], boxes.object_label[pairs.columns]
    pairs = pairs.take(np.isin(label, boxes.known) & (object_label == boxes.unknown_id) & ~boxes.ignored[pairs.columns])
    objects, place = np.unique(pairs.columns, return_inverse=True)
    highest = np.full(len(objects), -np.inf)
    np.maximum.at(highest, place, boxes.predictions[pairs.rows, 4])
    return Opened(np.unique(pairs.rows), objects, highest)
