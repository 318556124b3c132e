"""The area under the ROC curve, of which a tie counts half: whole, and up to a rate."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from ..arrays.arrays import array_namespace
from ..arrays.checks import by_keyword
from ..arrays.exact import weighted_sum
from .counts import Counts, Side, checked_sides
from .quantities import Quantity, in_either_order, quantities


def twice_wins(counts: Counts) -> int:
    """Twice the number of (positive, negative) pairs in which the positive scores higher, plus the tied pairs."""
    twice, xp = 2 * counts.num_negatives, array_namespace(counts.sizes)
    lost = weighted_sum(counts.sizes, counts.above + counts.fp, twice.bit_length(), counts.num_positives)
    return twice * int(xp.sum(counts.sizes)) - lost


AUROC = Quantity(
    twice_wins,
    lambda wins, positives, negatives: sum(wins) / (2 * positives * negatives),
    True,
    in_either_order(twice_wins),
)
TWICE_WINS = AUROC._replace(value=lambda parts, *_: sum(parts), higher=None)


@by_keyword
def auroc(*, positives: Any, negatives: Any) -> float:
    """Area under the ROC curve: the probability that a positive scores above a negative, ties counting half.

    AUROC = 1/(P·N) Σ_i Σ_j ([p_i > n_j] + ½ [p_i = n_j])

    Parameters: positives (P,) and negatives (N,), real scores, higher is more positive, no NaN, at least one of each.
    Returns a float in [0, 1]; 0.5 is chance. Raises ValueError for NaN and an empty side.
    Source: Hanley and McNeil, Radiology 1982.

    >>> auroc(positives=[0.9, 0.4], negatives=[0.4, 0.1])
    0.875
    """
    return float(quantities(*checked_sides(positives=positives, negatives=negatives), {"": AUROC})[""])


def twice_wins_over(unknown: Side, known: Side) -> int:
    """Twice the pairs in which the unknown sample scores higher, plus the tied ones."""
    wins: int = quantities(unknown, known, {"": TWICE_WINS})[""] if known.total else 0
    return wins


def partial_auroc(limit: Fraction, *, mcclish: bool = False) -> Quantity:
    """The area under the ROC curve up to FPR = limit, L, divided by L; or McClish's ½(1 + (A − L²/2)/(L − L²/2)).

    In counts it is Σ (X − (above + fp)/2) over positives with fp ≤ X = L·N, plus (X − above)²/(2·(fp − above)) each
    where X lies within a tied score. Source: McClish, Medical Decision Making 1989.
    """

    def part(counts: Counts) -> Fraction:
        xp, most = array_namespace(counts.fp), limit * counts.num_negatives
        whole = counts.fp <= math.floor(most)
        sizes, twice = counts.sizes[whole], counts.above[whole] + counts.fp[whole]
        bits = (2 * counts.num_negatives).bit_length()
        area = int(xp.sum(sizes)) * most - Fraction(weighted_sum(sizes, twice, bits, counts.num_positives), 2)
        for i in xp.nonzero(~whole & (counts.above < math.ceil(most)))[0].tolist():  # of one score at most
            above, fp = int(counts.above[i]), int(counts.fp[i])
            area += int(counts.sizes[i]) * (most - above) ** 2 / (2 * (fp - above))
        return area

    def value(parts: list[Fraction], num_positives: int, num_negatives: int) -> float:
        area = sum(parts, Fraction()) / (num_positives * num_negatives)
        chance = limit**2 / 2
        return float((1 + (area - chance) / (limit - chance)) / 2 if mcclish else area / limit)

    return Quantity(part, value, True, in_either_order(part))
