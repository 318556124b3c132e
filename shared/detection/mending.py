"""Changes of counts if all errors of one kind were mended."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .matching import first_of_each, lowest_of_each
from .outcomes import IS_RIGHT, Outcomes, SelectedBoxes


class Mending(NamedTuple):
    """Changes of outcomes by mending errors.

    going: rows of the predictions that are no longer false positives
    taking, objects: rows of the predictions that become true positives instead, at their own confidence and with the
        right class, and of the objects that they take
    leaving: rows of the objects that no longer count
    """

    going: np.ndarray
    taking: np.ndarray
    objects: np.ndarray
    leaving: np.ndarray


_NO_ROWS = np.zeros(0, np.int64)


def matched_objects(outcomes: Outcomes) -> np.ndarray:
    """Whether each object is matched by a true positive."""
    is_matched = np.zeros(len(outcomes.boxes.references), dtype=bool)
    is_matched[outcomes.matched[IS_RIGHT[outcomes.outcome]]] = True
    return is_matched


def mending(boxes: SelectedBoxes, is_matched: np.ndarray, going: np.ndarray, target: np.ndarray) -> Mending:
    """Mend some false positives.

    A false positive with a target becomes a TP of the target's class at its own confidence, unless the object is
    already matched, by a TP or a more confident one of these. All others are removed.

    Parameters: is_matched, of `matched_objects`; going, the rows of the false positives; target (n,), the row of an
    object for each prediction, or −1.
    """
    taking = going[target[going] >= 0]
    taking = taking[~is_matched[target[taking]]]
    surest = lowest_of_each(np.arange(len(taking)), target[taking], [-boxes.confidence[taking]])
    taking = taking[surest]
    taking = taking[np.argsort(target[taking], kind="stable")]
    taking = taking[first_of_each(target[taking])]
    return Mending(going, taking, target[taking], _NO_ROWS)


def without_predictions(going: np.ndarray) -> Mending:
    """Take false positives out of the evaluation."""
    return Mending(going, _NO_ROWS, _NO_ROWS, _NO_ROWS)


def without_objects(objects: np.ndarray) -> Mending:
    """Take objects out of the evaluation."""
    return Mending(_NO_ROWS, _NO_ROWS, _NO_ROWS, objects)
