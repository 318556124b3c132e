"""Outcomes of predictions and objects in words, for pictures.

They are finer than a protocol's outcomes, which are for counting.
"""

from __future__ import annotations

import numpy as np

from .outcomes import LEFT_OUT_CLASS, ON_IGNORED, Outcomes

OUTCOME_WORDS = (
    "known, right class",
    "unknown, called unknown",
    "known, wrong class",
    "known, called unknown",
    "unknown, called known",
    "object, not found",
    "nothing there",
    "ignored object",
    "left out, its class counts nowhere",
)
(
    RIGHT,
    UNKNOWN_CALLED_UNKNOWN,
    WRONG_CLASS,
    CALLED_UNKNOWN,
    UNKNOWN_CALLED_KNOWN,
    MISSED,
    NO_OBJECT,
    IGNORED,
    LEFT_OUT,
) = range(len(OUTCOME_WORDS))


def outcomes_in_words(outcomes: Outcomes) -> tuple[np.ndarray, np.ndarray]:
    """Outcomes of predictions and of objects, as places in `OUTCOME_WORDS`, int64.

    An object has the outcome of the prediction that takes it; otherwise it is not found, or ignored. A prediction that
    takes no object matches none, lies on an ignored one, or is left out for its class.
    """
    boxes = outcomes.boxes
    rows = np.flatnonzero(outcomes.matched >= 0)
    objects = outcomes.matched[rows]
    label, object_label = boxes.label[rows], boxes.object_label[objects]
    says_unknown, is_unknown = label == boxes.unknown_id, object_label == boxes.unknown_id
    on_known = np.where(says_unknown, CALLED_UNKNOWN, np.where(label == object_label, RIGHT, WRONG_CLASS))
    matched = np.where(is_unknown, np.where(says_unknown, UNKNOWN_CALLED_UNKNOWN, UNKNOWN_CALLED_KNOWN), on_known)

    predicted = np.full(len(outcomes.outcome), NO_OBJECT)
    predicted[outcomes.outcome == ON_IGNORED], predicted[outcomes.outcome == LEFT_OUT_CLASS] = IGNORED, LEFT_OUT
    true = np.where(boxes.ignored, IGNORED, MISSED)
    predicted[rows], true[objects] = matched, matched
    return predicted, true
