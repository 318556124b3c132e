"""Bounds on the error of OpenAUC and its companions after scores were cut to some significant bits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ..ranking.bounds import in_either_order
from ..ranking.counts import Side, runs, sort_sides
from ..ranking.curves import twice_wins
from ..ranking.quantities import Quantity, bounded
from ..ranking.rounding import was_cut
from ..ranking.shares import least_reaching, most_within, percent
from .risk import risk_of_sides
from .risk_areas import both_sides

Ends = tuple[float, ...]


def ends_of_cut(
    unknown: Side, correct: Side, wrong: Side, tpr: float, fprs: Sequence[float], risks: Mapping[str, Quantity]
) -> dict[str, Ends | None]:
    """Bounds on each result before scores were cut; None for the accuracy, which needs no ranks.

    Wins: the P·N pairs of each bin now count half; before, none to all of them counted. The threshold of an operating
    point was in the same bin, with all or part of the bin above it.
    """
    bits = unknown.bits
    assert bits is not None  # the caller's scores were cut
    num_known = correct.total + wrong.total
    pairs, total = 2 * unknown.total * num_known, unknown.total + num_known
    over_correct, over_wrong = (_ends_of_wins(unknown, side, bits) for side in (correct, wrong))
    hits = _ends_of_hits(unknown, (correct, wrong), tpr, bits)
    rights = {f"ccr@fpr{percent(fpr)}": _ends_of_correct(unknown, correct, fpr, bits) for fpr in fprs}
    return {
        "openauc": tuple(wins / pairs for wins in over_correct),
        "closed_set_accuracy": None,
        "open_set_auroc": tuple(sum(wins) / pairs for wins in zip(over_correct, over_wrong)),
        f"open_set_accuracy@tpr{percent(tpr)}": tuple(count / total for count in hits),
        **{name: tuple(count / num_known for count in ends) for name, ends in rights.items()},
        **risk_of_sides(both_sides(unknown, wrong), correct, bounded(risks, bits)),
    }


def _ends_of_wins(unknown: Side, known: Side, bits: int) -> tuple[int, int]:
    """The least and the greatest possible twice the wins of unknown samples, ties counting once."""
    if not known.total:
        return 0, 0
    wins = Quantity(twice_wins, lambda parts, *_: sum(parts), None, in_either_order(twice_wins))
    _, least, most = bounded({"": wins}, bits)[""].of(runs(*sort_sides(unknown, known)))
    return least, most


def _ends_of_hits(unknown: Side, known: Sequence[Side], tpr: float, bits: int) -> tuple[int, int]:
    """The least and the most hits.

    In the bin of the threshold, the fewest sufficient unknown samples count, or all samples.
    """
    enough = least_reaching(tpr, unknown.total)
    threshold = unknown.at(unknown.total - enough)
    accepted = unknown.total - unknown.below_score(threshold)
    below, through = zip(*(_below(side, threshold, bits) for side in known))
    was_one = not _of_range(threshold, bits)
    return (accepted if was_one else enough) + sum(below), accepted + sum(through)


def _ends_of_correct(unknown: Side, correct: Side, fpr: float, bits: int) -> tuple[int, int]:
    """Bounds on the number of correctly classified samples below the lowest unknown score that is not accepted."""
    accepted = most_within(fpr, unknown.total)
    if accepted == unknown.total or not correct.total:
        return correct.total, correct.total
    return _below(correct, unknown.at(accepted), bits)


def _below(side: Side, threshold: float, bits: int) -> tuple[int, int]:
    """The numbers of samples that score lower than all, and lower than some, of those cut to a threshold."""
    reached = math.nextafter(threshold, math.inf) if _of_range(threshold, bits) else threshold
    return side.below_score(threshold), side.below_score(reached)


def _of_range(threshold: float, bits: int) -> bool:
    return bool(was_cut(np.asarray([threshold]), bits)[0])
