"""The page of accuracyk."""

from __future__ import annotations

from ...classification.topk import AccuracyK
from ..page import Example, Page
from .topk import DIGITS, OPTIONS, TOPK_SCORES, draw_accuracies, missed_samples

PAGE = Page(
    metric=AccuracyK,
    question="Is the true class among the k best guesses?",
    options=OPTIONS,
    examples=(
        Example("Scores of five classes", (TOPK_SCORES,), {"k_list": (1, 3)}),
        Example(
            "Ranked class ids, the best first",
            (
                {
                    "guess 1": [0, 0, 8],
                    "guess 2": [7, 2, 4],
                    "guess 3": [1, 9, 0],
                    "guess 4": [3, 8, 1],
                    "guess 5": [5, 4, 3],
                    "references": [3, 5, 0],
                },
            ),
        ),
        Example(
            "Tied scores",
            ({"class 0": [0.5, 0.2], "class 1": [0.5, 0.4], "class 2": [0.5, 0.4], "references": [1, 2]},),
            {"k_list": (1, 2, 3), "ties": "expected"},
        ),
    ),
    pictures=("Accuracy over k",),
    widths=(4,),
    samples=(DIGITS,),
    draw=draw_accuracies,
    listed=missed_samples,
)
