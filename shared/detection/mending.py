"""What mending all errors of one kind would change: the predictions as they would be."""

from __future__ import annotations

import numpy as np

from .matching import first_of_each
from .outcomes import ON_IGNORED, TP_KNOWN, TP_UNKNOWN, Outcomes


def mended(found: Outcomes, rows: np.ndarray, target: np.ndarray) -> Outcomes:
    """The outcomes after some false positives are mended.

    A false positive with a target becomes a TP of the target's class at its own confidence, if the object is not found
    and no more confident one of these takes it. All others go.

    Parameters: rows, those to mend; target (n,), the row of an object for each prediction, or −1.
    """
    boxes = found.boxes
    is_found = np.zeros(len(boxes.references) + 1, dtype=bool)
    is_found[found.matched[np.isin(found.outcome, (TP_KNOWN, TP_UNKNOWN))]] = True
    is_found[-1] = True  # where there is no target
    taking = rows[~is_found[target[rows]]]
    taking = taking[np.lexsort((-boxes.predictions[taking, 4], target[taking]))]
    taking = taking[first_of_each(target[taking])]

    label = boxes.object_label[target[taking]]
    predictions, outcome, matched = boxes.predictions.copy(), found.outcome.copy(), found.matched.copy()
    outcome[rows], matched[rows] = ON_IGNORED, -1
    outcome[taking] = np.where(label == boxes.unknown_id, TP_UNKNOWN, TP_KNOWN)
    predictions[taking, 5], matched[taking] = label, target[taking]
    return Outcomes(boxes._replace(predictions=predictions), outcome, matched)
