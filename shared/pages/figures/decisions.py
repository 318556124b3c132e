"""Decisions at thresholds: the candidates, the counts at each, and guarantees for new data.

One convention: a sample is unknown (OOD, anomalous) iff its score > threshold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...answers.thresholds import plain_threshold
from ...ranking.counts import Side
from ...ranking.guarantees import threshold_at_fpr
from ..serving.limits import MAX_POINTS
from .threshold import Sweep

RATES: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "TPR": (["TP"], ["TP", "FN"]),
    "FPR": (["FP"], ["FP", "TN"]),
    "precision": (["TP"], ["TP", "FP"]),
    "F1": (["TP", "TP"], ["TP", "TP", "FP", "FN"]),
    "accuracy": (["TP", "TN"], ["TP", "TN", "FP", "FN"]),
}
PROMISED = (1, 5, 10)  # percent of new known samples
CONFIDENCE = 95  # percent
MAX_PROMISED = 100_000  # known samples; exact guarantees take seconds for a million


class Cuts(NamedTuple):
    """Descending thresholds, the lowest score above each, and indices of guaranteed thresholds by percentage.

    whole: whether any other threshold makes the decisions of one of these
    """

    thresholds: np.ndarray
    above: np.ndarray
    promised: Mapping[int, int]
    whole: bool


def cuts(unknown: Side, known: Sequence[Side], *, promise: bool) -> Cuts:
    """List −inf and each distinct score as thresholds; of more than `MAX_POINTS` those just below unknown samples.

    These are, for each distinct score s of an unknown sample, the next lower score of any sample, −inf where s is the
    lowest of all: scores above it are s and higher, as in the metric's results. With `promise`, the thresholds of
    `promised_thresholds` are added.
    """
    sides = [np.asarray(side.scores, np.float64) for side in (unknown, *known)]
    thresholds = _all_thresholds(sides)
    if thresholds is None:
        scores = np.unique(sides[0])
        thresholds = _next_lower(scores[scores > -np.inf], sides)  # no threshold has −inf above it
    wanted = promised_thresholds(known) if promise else {}
    return cuts_at(np.append(thresholds, [*wanted.values()]), sides, wanted)


def _all_thresholds(sides: Sequence[np.ndarray]) -> np.ndarray | None:
    """−inf and the distinct finite scores of ascending sides; None if these are more than `MAX_POINTS`."""
    distinct = [np.append(side[:1], side[1:][side[1:] != side[:-1]]) for side in sides]
    if max(map(len, distinct)) > MAX_POINTS + 2:  # with both infinities; so millions are not sorted again
        return None
    scores = np.unique(np.concatenate(distinct))
    scores = scores[np.isfinite(scores)]
    return np.append(scores, -np.inf) if len(scores) <= MAX_POINTS else None


def cuts_at(thresholds: np.ndarray, sides: Sequence[np.ndarray], promises: Mapping[int, float]) -> Cuts:
    """Sort and deduplicate thresholds, and locate the guaranteed ones; sides are ascending scores."""
    descending = np.unique(thresholds)[::-1]
    places = {percent: int(np.flatnonzero(descending == at)[0]) for percent, at in promises.items()}
    every = _all_thresholds(sides)
    whole = every is not None and bool(np.isin(every, descending).all())
    return Cuts(descending, _next_higher(descending, sides), places, whole)


def is_single(sides: Sequence[Side]) -> bool:
    """Return whether the scores of all sides are float32."""
    return all(np.asarray(side.scores[:0]).dtype == np.float32 for side in sides)


def above(side: Side, thresholds: np.ndarray) -> np.ndarray:
    """Count the samples of a side that score above each threshold."""
    places = np.searchsorted(np.asarray(side.scores, np.float64), thresholds, side="right")
    return side.total - np.asarray(side.below(places))


def said_at(thresholds: Sequence[float], sides: Sequence[Side]) -> list[str]:
    """Describe the decision at each vertex of a curve; the threshold named makes the same decisions as the vertex.

    >>> said_at([0.9, 0.4, float("-inf")], [Side(np.asarray([0.4, 0.45, 0.9]))])
    ['nothing flagged', 'score > 0.4', 'everything flagged']
    """
    scores = [np.asarray(side.scores, np.float64) for side in sides]
    higher = _next_higher(np.asarray(thresholds, np.float64), scores)
    return [
        "nothing flagged"
        if end == math.inf
        else "everything flagged"
        if at == -math.inf
        else f"score > {plain_threshold(at, end)}"
        for at, end in zip(thresholds, higher.tolist())
    ]


def _next_lower(scores: np.ndarray, sides: Sequence[np.ndarray]) -> np.ndarray:
    lower = np.full(len(scores), -np.inf)
    for side in sides:
        places = np.searchsorted(side, scores, side="left")
        lower = np.maximum(lower, np.where(places > 0, np.append(side, -np.inf)[places - 1], -np.inf))
    return lower


def _next_higher(thresholds: np.ndarray, sides: Sequence[np.ndarray]) -> np.ndarray:
    higher = np.full(len(thresholds), np.inf)
    for side in sides:
        higher = np.minimum(higher, np.append(side, np.inf)[np.searchsorted(side, thresholds, side="right")])
    return higher


def promised_thresholds(known: Sequence[Side]) -> dict[int, float]:
    """Thresholds that at most 1, 5 or 10 % of new known samples exceed, with 95 % confidence, by percentage.

    Empty for more than `MAX_PROMISED` samples; a percentage that needs more samples than there are is left out.
    """
    if sum(side.total for side in known) > MAX_PROMISED:
        return {}
    scores = np.concatenate([np.asarray(side.repeated(), np.float64) for side in known])
    promises: dict[int, float] = {}
    for percent in PROMISED:
        try:
            at = threshold_at_fpr(scores, percent / 100, CONFIDENCE / 100)
        except ValueError:  # too few scores for this promise
            continue
        if np.isfinite(at):
            promises[percent] = at
    return promises


def promises_of(chosen: Cuts, positive: str, negative: str, total: int) -> tuple[dict[str, int], dict[str, str]]:
    """Presets for the guaranteed thresholds, and each guarantee as a sentence for a paper."""
    names = {percent: f"at most {percent} % of new {negative} samples" for percent in chosen.promised}
    places = {names[percent]: place for percent, place in chosen.promised.items()}
    return places, {names[percent]: _sentence(percent, positive, negative, total) for percent in chosen.promised}


def _sentence(percent: int, positive: str, negative: str, total: int) -> str:
    return (
        f"A sample is called {positive} if its score exceeds {{threshold}}, a threshold that was set on {total:,} "
        f"{negative} samples: with {CONFIDENCE} % confidence, at most {percent} % of new {negative} samples "
        "of the same distribution exceed it (order statistics; Wilks, 1941)."
    )


def binary_sweep(
    out: Side,
    inside: Side,
    positive: str,
    negative: str,
    values: Callable[[np.ndarray], Mapping[str, np.ndarray]] = lambda tp: {},
    *,
    promise: bool = True,
) -> Sweep:
    """The sweep of a detector of positive samples.

    positive, negative: words for the two sides; values: a function of the true positives at each threshold

    >>> out, inside = Side(np.asarray([0.4, 0.9])), Side(np.asarray([0.1, 0.6]))
    >>> sweep = binary_sweep(out, inside, "OOD", "known")
    >>> sweep.thresholds.tolist(), sweep.presets, sweep.at("FPR", 1), sweep.text(1)
    ([0.9, 0.6, 0.4, 0.1, -inf], {'95 % TPR': 3, '5 % FPR': 1, 'best F1': 3}, 0.0, '0.6')
    """
    chosen = cuts(out, [inside], promise=promise)
    tp, fp = above(out, chosen.thresholds), above(inside, chosen.thresholds)
    total, others = out.total, inside.total
    counts = {"TP": tp, "FN": total - tp, "FP": fp, "TN": others - fp}
    presets: dict[str, int] = {}
    reached = np.flatnonzero(100 * tp >= 95 * total)
    if len(reached):
        presets["95 % TPR"] = int(reached[0])
    within = np.flatnonzero(100 * fp <= 5 * others)  # fp is ascending
    if len(within) and tp[within[-1]]:
        presets["5 % FPR"] = int(np.argmax(tp == tp[within[-1]]))  # the highest threshold with that many true positives
    if len(tp):
        presets["best F1"] = int(np.argmax(2 * tp / (total + tp + fp)))
    promised, promises = promises_of(chosen, positive, negative, others)
    called, other = f"called {positive}", f"called {negative}"
    table = {positive: {called: "TP", other: "FN"}, negative: {called: "FP", other: "TN"}}
    single = is_single((out, inside))
    return Sweep(
        chosen.thresholds,
        chosen.above,
        counts,
        RATES,
        values(tp),
        table,
        presets | promised,
        positive,
        promises,
        single,
        whole=chosen.whole,
    )
