"""The page of autkc."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...classification.topk import AUTKC
from ..page import Example, Page, rows
from ..serving.costs import Cost
from .topk import DIGITS, OPTIONS, TOPK_SCORES, draw_area, missed_samples


def _costs(state: Mapping[str, Any], options: Mapping[str, Any]) -> Iterator[Cost]:
    """Costs of ties="expected", which computes the chance of a hit at each k up to K, for each K."""
    k_list = options["k_list"]
    if options["ties"] == "expected":
        total = sum(k for k in (k_list if isinstance(k_list, (list, tuple)) else [k_list]) if isinstance(k, int))
        yield Cost("in the sum of k_list with ties='expected'", total, 100_000)
        yield Cost("in the sum of k_list times samples with ties='expected'", total * len(state["above"]), 500_000_000)


PAGE = Page(
    metric=AUTKC,
    question="How high among the K best guesses is the true class?",
    options=OPTIONS,
    examples=(
        Example(
            "Scores of five classes",
            (
                rows("""
                class 0, class 1, class 2, class 3, class 4, references
                0.32585825, 0.71367106, 0.36318442, 0.01938121, 0.48031555, 1
                0.13788876, 0.25927396, 0.68111324, 0.0337897, 0.24350969, 2
                0.65350215, 0.80755938, 0.33121928, 0.7923216, 0.2436303, 0
                0.9621713, 0.58982437, 0.61118424, 0.85345634, 0.30304957, 0
                0.60989384, 0.03467619, 0.79976203, 0.23143927, 0.3598388, 0
                0.1030448, 0.92547417, 0.60763191, 0.41588544, 0.89665524, 1
                0.82591484, 0.83203993, 0.65667892, 0.27456011, 0.30116539, 2
                0.54332524, 0.24978069, 0.62992761, 0.59985384, 0.68540005, 0
                0.25644439, 0.35246559, 0.13448705, 0.57478406, 0.43870188, 2
                0.94486895, 0.08842041, 0.13716438, 0.32860897, 0.31104301, 0
            """),
            ),
            {"k_list": (1, 3)},
        ),
        Example("Other scores, all ks", (TOPK_SCORES,), {"k_list": (1, 2, 3, 4, 5)}),
    ),
    pictures=("Accuracy over k, and the area under it",),
    widths=(4,),
    samples=(DIGITS,),
    draw=draw_area,
    listed=missed_samples,
    costs=_costs,
)
