"""Suggest a metric, by three questions with few answers each."""

from __future__ import annotations

from collections.abc import Mapping

SAYS = "What does your model output?"
CLASSES, SCORE, BOXES, MAPS = (
    "a score for each class",
    "one score: how unusual it is",
    "boxes",
    "a score for each pixel",
)
UNKNOWN = "Does your test set contain classes it was not trained on?"
YES, NO = "yes", "no"
SUMS = "What do you want to know?"
ANSWERS: Mapping[tuple[str, str], Mapping[str, str]] = {
    (CLASSES, YES): {
        "one number over all thresholds, for recognising and rejecting": "openauc",
        "F at a threshold, each class counting the same": "macro_open_f",
        "F at a threshold, each sample counting the same": "micro_open_f",
        "only how well unknown and known samples are told apart": "ood_bench",
    },
    (CLASSES, NO): {
        "is the true class among the k best": "accuracyk",
        "how high among the k best it is": "autkc",
    },
}
_OTHERS = {SCORE: "ood_bench", BOXES: "openset_detection", MAPS: "anomaly_suite"}


def questions(says: str | None, unknown: str | None) -> tuple[bool, list[str]]:
    """Whether to ask the second question, and the answers to offer for the third."""
    return says == CLASSES, [*ANSWERS.get((says or "", unknown or ""), {})]


def suggestion(says: str | None, unknown: str | None, sums: str | None) -> str | None:
    """The metric that fits the answers; None while an answer is missing.

    >>> suggestion(BOXES, None, None), suggestion(CLASSES, NO, None)
    ('openset_detection', None)
    """
    if says != CLASSES:
        return _OTHERS.get(says or "")
    return ANSWERS.get((says, unknown or ""), {}).get(sums or "")
