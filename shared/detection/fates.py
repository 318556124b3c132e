"""Fates of objects, known and unknown: found, misnamed, badly placed or missed."""

from __future__ import annotations

import numpy as np

from .false_positives import FalseOverlaps
from .matching import first_pairs
from .outcomes import IS_RIGHT, Outcomes

FATES = (
    ("known", "found"),
    ("known", "called another known"),
    ("known", "called unknown"),
    ("known", "badly placed"),
    ("known", "both"),
    ("known", "missed"),
    ("unknown", "found"),
    ("unknown", "called known"),
    ("unknown", "badly placed"),
    ("unknown", "both"),
    ("unknown", "missed"),
)
_FOUND, _MISNAMED, _BADLY_PLACED, _BOTH, _MISSED = range(5)
_AS_KNOWN, _AS_UNKNOWN = np.asarray([0, 1, 3, 4, 5]), np.asarray([6, 7, 8, 9, 10])  # their places in FATES


def object_fates(outcomes: Outcomes, beside: FalseOverlaps) -> tuple[np.ndarray, np.ndarray]:
    """The fate of each object, and the class that it was called; −1 for ignored objects.

    The first fate that applies, where t is the IoU threshold:

    found: matched by a prediction of its class
    called another class: a false positive of that class has IoU ≥ t; of several the most confident counts, then the
        one with the higher IoU, then the smaller class
    badly placed: a false positive of its class has IoU ≥ 1/10
    both: a false positive of another class has 1/10 ≤ IoU < t
    missed: none of these

    Returns two arrays (m,): places in `FATES`, and the row of the class that a misnamed object was called, else of the
    object's own.
    """
    boxes, pairs = outcomes.boxes, beside.pairs
    fate = np.full(len(boxes.references), _MISSED)
    fate[pairs.columns[~beside.same]] = _BOTH
    fate[pairs.columns[beside.same]] = _BADLY_PLACED
    naming = pairs.take(beside.reached & ~beside.same)
    fate[naming.columns] = _MISNAMED
    fate[outcomes.matched[IS_RIGHT[outcomes.outcome]]] = _FOUND

    keys, places = [-naming.ranks, -boxes.confidence[naming.rows]], np.arange(len(naming.rows))
    naming = naming.take(first_pairs(naming, places, naming.columns, boxes.predictions, boxes.references, keys))
    called = boxes.object_rows.copy()
    called[naming.columns] = boxes.rows[naming.rows]
    called[fate != _MISNAMED] = boxes.object_rows[fate != _MISNAMED]

    unknown = len(boxes.classes) - 1
    is_unknown, called_unknown = boxes.object_rows == unknown, called == unknown
    place = np.where(is_unknown, _AS_UNKNOWN[fate], _AS_KNOWN[fate] + (called_unknown & ~is_unknown))
    place[boxes.ignored] = -1
    return place, called
