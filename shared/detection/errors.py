"""Errors of matched boxes: fates of objects, kinds of false positives in TIDE's order, and the gain of correcting them.

outcomes, boxes at IoU ≥ 1/10 → pairs of a false positive and an object → fates, kinds → counts by image → shares
      → predictions that become right if their kind is corrected → gains of each measure, by the protocol
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..metric.results import Rate, Results
from .matching import first_pairs, lowest_of_each
from .outcomes import (
    IS_RIGHT,
    IS_WRONG,
    CountColumns,
    Outcome,
    Outcomes,
    as_rows,
    gain,
    in_total,
    ratio,
    tally,
)
from .overlap import Overlaps, Pairs

NEARBY = Fraction(1, 10)  # boxes that overlap less have nothing to do with each other
FALSE_POSITIVES = (
    "badly placed",
    "known called another known",
    "known called unknown",
    "unknown called known",
    "duplicate",
    "background called known",
    "background called unknown",
    "both, known called another known",
    "both, known called unknown",
    "both, unknown called known",
)
# the first place of each; kinds before DUPLICATE concern an object that the prediction should have taken
BADLY_PLACED, MISNAMED, DUPLICATE, BACKGROUND_CALLED, BOTH = 0, 1, 4, 5, 7
_KIND_ON_BACKGROUND = np.full(len(Outcome), -1, np.int8)  # by the outcome; −1 unless it is wrong
_KIND_ON_BACKGROUND[Outcome.FP_KNOWN] = BACKGROUND_CALLED
_KIND_ON_BACKGROUND[[Outcome.FP_UNKNOWN, Outcome.BACKGROUND]] = BACKGROUND_CALLED + 1
FATES = (
    ("known", "found"),
    ("known", "called another known"),
    ("known", "called unknown"),
    ("known", "badly placed"),
    ("known", "both"),
    ("known", "missed"),
    ("unknown", "found"),
    ("unknown", "called known"),
    ("unknown", "badly placed"),
    ("unknown", "both"),
    ("unknown", "missed"),
)
_FOUND, _MISNAMED, _BADLY_PLACED, _BOTH, _MISSED = range(5)
_AS_KNOWN, _AS_UNKNOWN = np.asarray([0, 1, 3, 4, 5]), np.asarray([6, 7, 8, 9, 10])  # their places in FATES
MISSED = "missed"  # the error of objects that nothing was predicted on
_FATE_COLUMNS = [f"{side} objects {fate}" for side, fate in FATES]
_SIDES = {side: [column for column in _FATE_COLUMNS if column.startswith(side)] for side, _ in FATES}
_MEASURES = ("mAP", "U-AP", "U-Recall")
KEYS_OF_TABLES = frozenset(
    [f"fate({side}, {fate})" for side, fate in FATES]
    + [gain(error, measure) for error in (*FALSE_POSITIVES, MISSED) for measure in _MEASURES]
)  # of the rates that the two tables hold, too


class FalseOverlaps(NamedTuple):
    """Pairs of a false positive and an object that is not ignored, at an IoU of at least 1/10."""

    pairs: Pairs  # ranked by their IoU
    same: np.ndarray  # whether the prediction says the object's class; all unknown objects are of one
    reached: np.ndarray  # whether the IoU reaches the threshold of the rules
    above: np.ndarray  # whether it is more than 1/10

    def take(self, which: np.ndarray) -> FalseOverlaps:
        """Some of the pairs, by a mask or by their places."""
        return FalseOverlaps(self.pairs.take(which), self.same[which], self.reached[which], self.above[which])


def false_overlaps(outcomes: Outcomes, overlaps: Overlaps) -> FalseOverlaps:
    """The pairs of false positives among overlaps, compared with the two thresholds exactly."""
    boxes, pairs = outcomes.boxes, overlaps.pairs
    overlaps = overlaps.take(IS_WRONG[outcomes.outcome[pairs.rows]] & ~boxes.ignored[pairs.columns])
    nearby, _ = overlaps.compared(NEARBY)
    if (nearby < 0).any():
        overlaps, nearby = overlaps.take(nearby >= 0), nearby[nearby >= 0]
    reached, _ = overlaps.compared(boxes.rules.iou_threshold)
    pairs = overlaps.ranked()
    same = boxes.rows[pairs.rows] == boxes.object_rows[pairs.columns]
    return FalseOverlaps(pairs, same, reached >= 0, nearby > 0)


def kinds_of_false_positives(outcomes: Outcomes, near: FalseOverlaps) -> tuple[np.ndarray, np.ndarray]:
    """The kind of each false positive, −1 for other predictions, and the object that it concerns, or −1.

    The first kind that applies, where t is the IoU threshold:

    badly placed: 1/10 ≤ IoU < t with the object of its class that it overlaps most
    misnamed: IoU ≥ t with the object of another class that it overlaps most
    duplicate: IoU ≥ t with an object of its class
    background: IoU ≤ 1/10 with each object
    both badly placed and misnamed: all others; it is about the object of another class that it overlaps most

    Misnamed and both have a kind for each side of the two classes, background one for each side of the predicted class.
    Of equal IoUs the object with the smaller class and coordinates counts.

    Returns two arrays (n,), places in `FALSE_POSITIVES` and rows of objects.
    Source: Bolya et al., TIDE: A General Toolbox for Identifying Object Detection Errors, ECCV 2020.
    """
    boxes = outcomes.boxes
    same, other = (_best(outcomes, near, np.flatnonzero(which)) for which in (near.same, ~near.same))
    says_unknown = boxes.label[other.pairs.rows] == boxes.unknown_id
    is_unknown = boxes.object_label[other.pairs.columns] == boxes.unknown_id
    sides = np.where(says_unknown, 1, np.where(is_unknown, 2, 0))
    kind = _KIND_ON_BACKGROUND.take(outcomes.outcome)
    about = np.full(len(kind), -1)
    # the first kind that applies is set last
    for best, which, kinds in (
        (other, other.above, BOTH + sides),
        (same, same.reached, np.full(len(same.reached), DUPLICATE)),
        (other, other.reached, MISNAMED + sides),
        (same, ~same.reached, np.full(len(same.reached), BADLY_PLACED)),
    ):
        rows = best.pairs.rows[which]
        kind[rows], about[rows] = kinds[which], best.pairs.columns[which]
    return kind, about


def _best(outcomes: Outcomes, near: FalseOverlaps, places: np.ndarray) -> FalseOverlaps:
    """Keep of some pairs each prediction's pair with the object that it overlaps most."""
    boxes, pairs = outcomes.boxes, near.pairs
    return near.take(first_pairs(pairs, places, pairs.rows, boxes.tables, [-pairs.ranks]))


def object_fates(outcomes: Outcomes, near: FalseOverlaps) -> tuple[np.ndarray, np.ndarray]:
    """The fate of each object, and the class that it was called; −1 for ignored objects.

    The first fate that applies, where t is the IoU threshold:

    found: matched by a prediction of its class
    called another class: a false positive of that class has IoU ≥ t; of several the most confident counts, then the
        one with the higher IoU, then the smaller class
    badly placed: a false positive of its class has IoU ≥ 1/10
    both: a false positive of another class has 1/10 ≤ IoU < t
    missed: none of these

    Returns two arrays (m,): places in `FATES`, and the row of the class that a misnamed object was called, else of the
    object's own.
    """
    boxes, pairs = outcomes.boxes, near.pairs
    fate = np.full(len(boxes.references), _MISSED)
    fate[pairs.columns[~near.same]] = _BOTH
    fate[pairs.columns[near.same]] = _BADLY_PLACED
    naming = pairs.take(near.reached & ~near.same)
    fate[naming.columns] = _MISNAMED
    fate[outcomes.matched[IS_RIGHT[outcomes.outcome]]] = _FOUND

    keys, places = [-naming.ranks, -boxes.confidence[naming.rows]], np.arange(len(naming.rows))
    naming = naming.take(first_pairs(naming, places, naming.columns, boxes.tables, keys))
    called = boxes.object_rows.copy()
    called[naming.columns] = boxes.rows[naming.rows]
    called[fate != _MISNAMED] = boxes.object_rows[fate != _MISNAMED]

    unknown = len(boxes.classes) - 1
    is_unknown, called_unknown = boxes.object_rows == unknown, called == unknown
    place = np.where(is_unknown, _AS_UNKNOWN[fate], _AS_KNOWN[fate] + (called_unknown & ~is_unknown))
    place[boxes.ignored] = -1
    return place, called


class Errors:
    """Fates and kinds of errors of matched images; see `object_fates` and `kinds_of_false_positives`.

    fates, called: (m,) the fate of each object and the row of the class that it was called
    kinds, about: (n,) the kind of each prediction and the object that it is about
    taking: (k,) rows of the predictions that become true positives if their kind is corrected; see `taking_of`
    missed: (m,) whether an object is missed
    by_image: counts of one of each image

    Correcting "missed" takes the missed objects out of all denominators.
    Raises ValueError for an IoU threshold below 1/10, at which no box is badly placed.
    """

    def __init__(self, outcomes: Outcomes, overlaps: Overlaps) -> None:
        boxes, threshold = outcomes.boxes, outcomes.boxes.rules.iou_threshold
        if threshold < NEARBY:
            raise ValueError(f"errors: expected an iou_threshold of at least {float(NEARBY)}, got {threshold}")
        near = false_overlaps(outcomes, overlaps)
        self._boxes, size = boxes, len(boxes.num_predictions)
        self.fates, self.called = object_fates(outcomes, near)
        self.kinds, self.about = kinds_of_false_positives(outcomes, near)
        self.taking = taking_of(outcomes, self.kinds, self.about)
        self.missed = np.isin(self.fates, [place for place, (_, fate) in enumerate(FATES) if fate == MISSED])
        self.by_image: CountColumns = {
            **tables_of_places(boxes.object_image, self.fates, _FATE_COLUMNS, size),
            **tables_of_places(boxes.image, self.kinds, [f"FP {kind}" for kind in FALSE_POSITIVES], size),
        }
        finding = self.taking[boxes.object_label[self.about[self.taking]] == boxes.unknown_id]
        self._gained_by_image = tables_of_places(boxes.image[finding], self.kinds[finding], FALSE_POSITIVES, size)

    def recalls(self, totals: Mapping[str, int], counts: np.ndarray) -> dict[str, float]:
        """U-Recall after each error is corrected, from the totals before; NaN if no unknown object is left."""
        tp, total = totals["TP_unknown"], totals["total_unknown"]
        missed = int(counts @ self.by_image["unknown objects missed"])
        after = {kind: ratio(tp + more, total) for kind, more in in_total(self._gained_by_image, counts).items()}
        return {**after, MISSED: ratio(tp, total - missed)}

    def rates(self, counts: np.ndarray) -> Results:
        """The share of each fate, of all known or all unknown objects; NaN without any."""
        totals = in_total(self.by_image, counts)
        objects = {side: sum(totals[column] for column in columns) for side, columns in _SIDES.items()}
        return {
            share_of(side, fate): Rate(ratio(totals[column], objects[side]), fate == "found")
            for (side, fate), column in zip(FATES, _FATE_COLUMNS)
        }

    def tables(self, results: Results, measures: Sequence[str]) -> dict[str, Any]:
        """The tables "fates" and "errors", with the gains of some measures; NaN for results that are missing."""

        def value(key: str) -> float:
            return results[key].value if key in results else math.nan

        totals = in_total(self.by_image, self._boxes.counts)
        gains = {
            f"Δ{measure}": [value(gain(error, measure)) for error in (*FALSE_POSITIVES, MISSED)] for measure in measures
        }
        missed = sum(totals[column] for column in _FATE_COLUMNS if column.endswith(MISSED))
        return {
            "fates": {
                "objects": [side for side, _ in FATES],
                "fate": [fate for _, fate in FATES],
                "count": [totals[column] for column in _FATE_COLUMNS],
                "share": [value(share_of(*fate)) for fate in FATES],
            },
            "errors": {
                "error": [*FALSE_POSITIVES, MISSED],
                "count": [*(totals[f"FP {kind}"] for kind in FALSE_POSITIVES), missed],
                **gains,
            },
        }

    def table_by_class(self) -> dict[str, list[Any]]:
        """Fates of the objects of each class, and the number of unknown objects called the class."""
        boxes = self._boxes
        weights = boxes.counts[boxes.object_image]

        def number(rows: np.ndarray, which: np.ndarray) -> list[int]:
            return tally(rows[which], weights[which], len(boxes.classes)).tolist()

        fates = np.asarray([fate for _, fate in FATES] + [""])[self.fates]  # −1, of ignored objects, is the last
        by_fate = {fate: number(boxes.object_rows, fates == fate) for fate in dict.fromkeys(fate for _, fate in FATES)}
        unknown_as_known = self.fates == FATES.index(("unknown", "called known"))
        return {**by_fate, "unknown objects called it": number(self.called, unknown_as_known)}

    def table_by_image(self) -> dict[str, list[Any]]:
        """Counts of each image."""
        rows = as_rows(self.by_image, self._boxes.counts)
        return {name: column.tolist() for name, column in rows.items()}


def taking_of(outcomes: Outcomes, kinds: np.ndarray, about: np.ndarray) -> np.ndarray:
    """The rows (k,) of the false positives that become true positives if their kind is corrected.

    One that should have taken an object becomes a TP of the object's class at its own confidence, unless the object is
    already matched, by a TP or a more confident one of its kind. All others are removed.

    Parameters: kinds and about (n,), of `kinds_of_false_positives`.
    """
    is_matched = np.zeros(len(outcomes.boxes.references), dtype=bool)
    is_matched[outcomes.matched[IS_RIGHT[outcomes.outcome]]] = True
    rows = np.flatnonzero((kinds >= 0) & (kinds < DUPLICATE))
    rows = rows[~is_matched[about[rows]]]
    groups = about[rows] * DUPLICATE + kinds[rows]
    surest = lowest_of_each(np.arange(len(rows)), groups, [-outcomes.boxes.confidence[rows]])
    taking = np.full(len(is_matched) * DUPLICATE, -1)
    taking[groups[surest]] = rows[surest]  # any of equally confident ones, which come to the same
    return taking[taking >= 0]


def tables_of_places(image: np.ndarray, places: np.ndarray, names: Sequence[str], size: int) -> CountColumns:
    """The number of each image's entries with each place, by the place's name; −1 is no place."""
    width = len(names) + 1
    counts = np.bincount(image * width + places + 1, minlength=size * width).reshape(size, width).T
    return {name: np.ascontiguousarray(column) for name, column in zip(names, counts[1:])}


def share_of(side: str, fate: str) -> str:
    """The name of the share of known or unknown objects with a fate.

    >>> share_of("unknown", "missed")
    'fate(unknown, missed)'
    """
    return f"fate({side}, {fate})"
