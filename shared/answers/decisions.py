"""Decisions at thresholds: the thresholds, the counts at each, common ones, and promises on new data.

One convention: a sample is unknown (OOD, anomalous) iff its score > threshold. With s_(1) < s_(2) < … the distinct
scores, every t in [s_(i), s_(i+1)) makes the same decisions, so s_(i) and the lowest score above it stand for them all.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays.sorting import first_of_each
from ..ranking.counts import Side
from ..ranking.guarantees import threshold_at_fpr
from ..ranking.roc import roc_curve
from ..ranking.thresholds import placement, threshold_between
from .answer import Decisions, Texts

Rates = Mapping[str, tuple[Sequence[str], Sequence[str]]]
RATES: Rates = {
    "TPR": (["TP"], ["TP", "FN"]),
    "FPR": (["FP"], ["FP", "TN"]),
    "precision": (["TP"], ["TP", "FP"]),
    "F1": (["TP", "TP"], ["TP", "TP", "FP", "FN"]),
    "accuracy": (["TP", "TN"], ["TP", "TN", "FP", "FN"]),
}
THRESHOLD = "threshold"
AT_TPR, AT_FPR, BEST_F1, CHOSEN = "95 % TPR", "5 % FPR", "best F1", "chosen threshold"
PROMISED = (1, 5, 10)  # percent of new known samples
CONFIDENCE = 95  # percent
MAX_PROMISED = 100_000  # known samples; exact guarantees take seconds for a million
KINDS = {"unknown": "unknown", "known, right class": "known", "known, wrong class": "wrong"}  # and their roles
OPEN_SET_TABLE = {kind: {end: f"{kind}, {end}" for end in ("rejected", "accepted")} for kind in KINDS}
_UNKNOWN, _RIGHT, _WRONG = ([*row.values()] for row in OPEN_SET_TABLE.values())
_ACCEPTED = [_RIGHT[1], _WRONG[1]]
OPEN_SET_RATES: Rates = {
    "unknown rejected": (_UNKNOWN[:1], _UNKNOWN),
    "unknown accepted": (_UNKNOWN[1:], _UNKNOWN),
    "known accepted": (_ACCEPTED, [*_RIGHT, *_WRONG]),
    "right class": (_RIGHT[1:], [*_RIGHT, *_WRONG]),
    "accuracy, K + 1 classes": ([_UNKNOWN[0], _RIGHT[1]], [*_UNKNOWN, *_RIGHT, *_WRONG]),
}

Counts = Mapping[str, np.ndarray]
Presets = Callable[[np.ndarray, Counts], Mapping[str, int]]  # of ascending thresholds and their counts
Values = Callable[[np.ndarray, Counts], Mapping[str, Sequence[float]]]


def number_at(decisions: Decisions, name: str, place: int) -> float:
    """A rate, a value, a count or the threshold itself at an index; NaN for a rate of nothing.

    >>> table = {"OOD": {"called OOD": "TP", "called in-distribution": "FN"}}
    >>> decisions = Decisions(["0.5"], [0.6], {"TP": [3], "FN": [1]}, {"TPR": (["TP"], ["TP", "FN"])}, table, {}, "")
    >>> number_at(decisions, "TPR", 0), number_at(decisions, "threshold", 0)
    (0.75, 0.5)
    """
    if name == THRESHOLD:
        return float(decisions.thresholds[place])
    if name in decisions.rates:
        above, below = (sum(decisions.counts[part][place] for part in parts) for parts in decisions.rates[name])
        return above / below if below else math.nan
    return (decisions.values if name in decisions.values else decisions.counts)[name][place]


def first_place(decisions: Decisions | None) -> int:
    """The index of the decisions that are shown first, at the first preset; 0 without presets."""
    return 0 if decisions is None else next(iter(decisions.presets.values()), 0)


def is_exact(decisions: Decisions, typed: float) -> bool:
    """Whether the decisions of a threshold are surely among the ones that are kept; NaN is none.

    >>> of = Decisions(["0.1", "0.4"], [0.35, 0.9], {}, {}, {}, {}, "")
    >>> is_exact(of, 0.5), is_exact(of, 0.37)
    (True, False)
    """
    place = place_of(decisions, typed)
    return float(decisions.thresholds[place]) <= typed < decisions.ends[place]


def place_of(decisions: Decisions, typed: float) -> int:
    """The index of the decisions score > typed; where thresholds are left out, as `note` says, that of the next higher.

    >>> place_of(Decisions(["0.1", "0.4"], [0.35, 0.9], {}, {}, {}, {}, ""), 0.2)
    0
    """
    return min(bisect_right(decisions.ends, typed), len(decisions.ends) - 1)


def with_more(decisions: Decisions, one: Decisions) -> Decisions:
    """Decisions with one more threshold, in its place; unchanged where its decisions are there.

    >>> low, high = (Decisions([text], [9 * float(text)], {"TP": [1]}, {}, {}, {}, "") for text in ("0.1", "1"))
    >>> with_more(low, high).thresholds, with_more(low, high).counts, with_more(low, low).ends
    (['0.1', '1'], {'TP': [1, 1]}, [0.9])
    """
    place = bisect_left(decisions.ends, one.ends[0])
    if place < len(decisions.ends) and decisions.ends[place] == one.ends[0]:
        return decisions

    def joined(column: Sequence[Any], new: Sequence[Any]) -> list[Any]:
        return [*column[:place], *new, *column[place:]]

    return replace(
        decisions,
        thresholds=joined(decisions.thresholds, one.thresholds),
        ends=joined(decisions.ends, one.ends),
        counts={name: joined(column, one.counts[name]) for name, column in decisions.counts.items()},
        values={name: joined(column, one.values[name]) for name, column in decisions.values.items()},
        presets={name: at + (at >= place) for name, at in decisions.presets.items()},
    )


def threshold_text(threshold: float | None, sides: Sequence[Side]) -> str:
    """A threshold as a decimal that makes the same decisions on the samples of all sides; ±inf as such.

    A score becomes a number above it (see `placement`); any other number stays. It is "" for None and NaN.

    >>> threshold_text(1 / 3, [Side(np.asarray([0.5, 0.9])), Side(np.asarray([0.1, 1 / 3]))])
    '0.4'
    """
    if threshold is None or not math.isfinite(threshold):
        return "" if threshold is None or math.isnan(threshold) else str(threshold)
    is_score = any((np.asarray(side.scores) == np.asarray([threshold])).any() for side in sides)
    low, high = threshold if is_score else -math.inf, float(next_higher(np.asarray([threshold]), sides)[0])
    return placement(threshold, low, high).text


def said_at(
    thresholds: Sequence[float], sides: Sequence[Side], all_flagged: str, none_flagged: str, rule: str = "score >"
) -> Texts:
    """The decision at each vertex of a curve, in words; the threshold named makes the same decisions as the vertex.

    NaN stands for a vertex at a limit, where the curve ends between two thresholds.

    >>> said_at([0.9, 0.4, float("-inf")], [Side(np.asarray([0.4, 0.45, 0.9]))], "all flagged", "nothing flagged")
    ['nothing flagged', 'score > 0.41', 'all flagged']
    """

    def write(at: float, end: float) -> str:
        if math.isnan(at):
            return "at the limit"
        if end == math.inf:
            return none_flagged
        return all_flagged if at == -math.inf else f"{rule} {threshold_between(at, end).text}"

    return Texts(write, thresholds, next_higher(np.asarray(thresholds, np.float64), sides).tolist())


def above(side: Side, thresholds: np.ndarray) -> np.ndarray:
    """Count the samples of a side that score above each threshold."""
    places = np.searchsorted(np.asarray(side.scores, np.float64), thresholds, side="right")
    return side.total - np.asarray(side.below(places))


def next_lower(threshold: float, sides: Sequence[Side]) -> float:
    """The highest score of any side that does not exceed a threshold; −inf where there is none."""
    lower = -math.inf
    for side in sides:
        scores = np.asarray(side.scores, np.float64)
        place = int(np.searchsorted(scores, threshold, side="right"))
        lower = max(lower, float(scores[place - 1])) if place else lower
    return lower


def next_higher(thresholds: np.ndarray, sides: Sequence[Side]) -> np.ndarray:
    """The lowest score of any side above each threshold; inf where there is none."""
    higher = np.full(len(thresholds), np.inf)
    for side in sides:
        scores = np.append(np.asarray(side.scores, np.float64), np.inf)
        higher = np.minimum(higher, scores[np.searchsorted(scores[:-1], thresholds, side="right")])
    return higher


def thresholds_of(unknown: Side, known: Sequence[Side], points: int) -> np.ndarray:
    """−inf and each distinct finite score; of more than `points`, only scores just below unknown samples, ascending.

    For each distinct score s of an unknown sample, that is the next lower score of any sample, −inf where s is the
    lowest: the scores above it are s and higher, as at the metrics' own operating points.
    """
    sides = [np.asarray(side.scores, np.float64) for side in (unknown, *known)]
    distinct = [side[first_of_each(side)] for side in sides]
    if max(map(len, distinct)) <= points + 2:  # with both infinities; so millions are not sorted again
        scores = np.unique(np.concatenate(distinct))
        scores = scores[np.isfinite(scores)]
        if len(scores) <= points:
            return np.append(-np.inf, scores)
    scores = distinct[0][distinct[0] > -np.inf]  # no threshold has −inf above it
    lower = np.full(len(scores), -np.inf)
    for side in sides:
        places = np.searchsorted(side, scores, side="left")
        lower = np.maximum(lower, np.where(places > 0, np.append(side, -np.inf)[places - 1], -np.inf))
    return np.unique(lower)


def promised_thresholds(known: Sequence[Side]) -> dict[int, float]:
    """Thresholds that at most 1, 5 or 10 % of new known samples exceed, with 95 % confidence, by percentage.

    Empty for more than `MAX_PROMISED` samples; a percentage that needs more samples than there are is left out.
    """
    if not 0 < sum(side.total for side in known) <= MAX_PROMISED:
        return {}
    scores = np.concatenate([np.asarray(side.repeated(), np.float64) for side in known])
    promises = {}
    for percent in PROMISED:
        try:
            at = threshold_at_fpr(scores, percent / 100, CONFIDENCE / 100)
        except ValueError:  # too few scores for this promise
            continue
        if np.isfinite(at):
            promises[percent] = at
    return promises


def binary_decisions(
    sides: tuple[Side, Side], words: tuple[str, str], *, first: str = AT_TPR, points: int = 2_000, **others: Any
) -> Decisions:
    """The decisions of a detector of positive samples, at the points of its ROC curve among others.

    Parameters: the positive and the negative side; words for them; first, the preset that is shown if no threshold is
    chosen; others as of `decisions_of`.

    >>> sides = Side(np.asarray([0.4, 0.9])), Side(np.asarray([0.1, 0.6]))
    >>> decisions = binary_decisions(sides, ("OOD", "in-distribution"))
    >>> decisions.thresholds, decisions.presets, number_at(decisions, "FPR", 3)
    (['0.091', '0.2', '0.5', '0.7', '0.901'], {'95 % TPR': 1, '5 % FPR': 3, 'best F1': 1}, 0.0)
    """
    positive, negative = sides

    def drawn() -> Sequence[float]:
        return roc_curve(positives=positive, negatives=negative, max_points=curve_points(points))["threshold"]

    def presets(thresholds: np.ndarray, counts: Counts) -> dict[str, int]:
        tp, fp, places = counts["TP"], counts["FP"], {}
        if len(reached := np.flatnonzero(100 * tp >= 95 * positive.total)):
            places[AT_TPR] = int(reached[-1])
        within = np.flatnonzero(100 * fp <= 5 * negative.total)
        if len(within) and tp[within[0]]:  # the highest threshold with that many true positives
            places[AT_FPR] = int(np.flatnonzero(tp == tp[within[0]])[-1])
        places[BEST_F1] = last_best(2 * tp / (positive.total + tp + fp))
        return {name: places[name] for name in sorted(places, key=lambda name: name != first)}

    cells = iter(("TP", "FN", "FP", "TN"))
    return decisions_of(
        sides,
        presets,
        words,
        table={one: {f"called {called}": next(cells) for called in words} for one in words},
        rates=RATES,
        roles=dict(zip(words, ("unknown", "known"))),
        drawn=drawn,
        points=points,
        **others,
    )


def open_set_decisions(sides: Sequence[Side], presets: Presets, **others: Any) -> Decisions:
    """The decisions of open-set recognition, of the unknown, the correctly and the wrongly classified known samples."""
    known = sum(side.total for side in sides[1:])

    def more_presets(thresholds: np.ndarray, counts: Counts) -> Mapping[str, int]:
        enough = np.flatnonzero(20 * sum(counts[name] for name in _ACCEPTED) >= 19 * known)
        return {**presets(thresholds, counts), **({"95 % of known accepted": int(enough[0])} if len(enough) else {})}

    words = ("unknown", "known")
    kinds: dict[str, Any] = {"table": OPEN_SET_TABLE, "rates": OPEN_SET_RATES, "roles": KINDS}
    return decisions_of(sides, more_presets, words, **kinds, **others)


def decisions_of(
    sides: Sequence[Side],
    presets: Presets,
    words: tuple[str, str],
    *,
    table: Mapping[str, Mapping[str, str]],
    rates: Rates,
    roles: Mapping[str, str],
    thresholds: np.ndarray | None = None,
    chosen: float | None = None,
    values: Values = lambda thresholds, counts: {},
    promise: bool = True,
    points: int = 2_000,
    typed: float | None = None,
    drawn: Callable[[], Sequence[float]] = lambda: (),
    note: str = "",
    score: str = "score",
) -> Decisions:
    """The decisions score > t on the samples of the unknown side, and of one or several known ones.

    Parameters: sides; presets and values, of ascending thresholds and the counts at each; words for unknown and known
    samples; table, of each side, the names of the count above a threshold, and of the other; rates and roles as of
    `Decisions`; thresholds, by default those of `thresholds_of`; chosen, one more, which is shown; promise, whether to
    promise rates on new data, for which samples must be independent; points, the most thresholds that are kept, beside
    the presets; typed, the only threshold, for `with_more`; drawn, a function of the thresholds of a curve's points,
    which are kept; note on what the decisions are of; score, what the threshold is of, in words.
    """

    def counted(thresholds: np.ndarray) -> dict[str, np.ndarray]:
        counts: dict[str, np.ndarray] = {}
        for cells, side in zip(table.values(), sides):
            flagged = above(side, thresholds)
            counts |= dict(zip(cells.values(), (flagged, side.total - flagged)))
        return counts

    def text(low: float, high: float) -> str:
        return repr(low) if low == chosen else placement(low if typed is None else typed, low, high).text

    def listed(at: np.ndarray, here: Counts, **others: Any) -> Decisions:
        ends = next_higher(at, sides).tolist()
        return Decisions(
            thresholds=Texts(text, at.tolist(), ends),
            ends=ends,
            counts={name: column.tolist() for name, column in here.items()},
            rates=rates,
            table=table,
            rule=f"{words[0]} if {score} >",
            values={name: [*map(float, column)] for name, column in values(at, here).items()},
            roles=roles,
            note=note,
            **others,
        )

    if typed is not None:
        at = np.asarray([next_lower(typed, sides)])
        return listed(at, counted(at), presets={})
    promised = promised_thresholds(sides[1:]) if promise else {}
    thresholds = thresholds_of(sides[0], sides[1:], points) if thresholds is None else thresholds
    thresholds = np.union1d(thresholds, [*promised.values(), *([] if chosen is None else [chosen])])
    counts = counted(thresholds)
    names = {percent: f"at most {percent} % of new {words[1]} samples" for percent in promised}
    places = {} if chosen is None else {CHOSEN: int(np.searchsorted(thresholds, chosen))}
    places |= presets(thresholds, counts)
    places |= {names[percent]: int(np.searchsorted(thresholds, at)) for percent, at in promised.items()}
    selected = np.arange(len(thresholds))
    if len(thresholds) > points:
        # a drawn point may stand for a lower threshold, with no sample of its curve's sides in between
        at_points = np.searchsorted(thresholds, drawn())
        must = np.union1d([*places.values()], at_points[at_points < len(thresholds)]).astype(int)
        selected = np.union1d(must, spread(len(thresholds), max(2, points - len(must))))
    known = sum(side.total for side in sides[1:])
    return listed(
        thresholds[selected],
        {name: column[selected] for name, column in counts.items()},
        presets={name: int(np.searchsorted(selected, place)) for name, place in places.items()},
        promises={names[percent]: _promise(percent, *words, known) for percent in promised},
        possible=len(thresholds) if len(selected) < len(thresholds) else 0,
    )


def _promise(percent: int, positive: str, negative: str, total: int) -> str:
    return (
        f"A sample is called {positive} if its score exceeds {{threshold}}, a threshold that was set on {total:,} "
        f"{negative} samples: with {CONFIDENCE} % confidence, at most {percent} % of new {negative} samples "
        "of the same distribution exceed it (order statistics; Wilks, 1941)."
    )


def curve_points(points: int) -> int:
    """The most points of a curve; its decisions have as many again."""
    return max(4, points // 2)


def spread(length: int, most: int) -> np.ndarray:
    """Indices of at most `most` of `length` items, evenly spread, including the first and the last.

    >>> spread(5, 3).tolist(), spread(2, 3).tolist()
    ([0, 2, 4], [0, 1])
    """
    return np.linspace(0, length - 1, min(length, most)).round().astype(int)


def last_best(values: np.ndarray) -> int:
    """The last index of the highest value: of ascending thresholds, the highest with it."""
    return len(values) - 1 - int(np.argmax(values[::-1]))
