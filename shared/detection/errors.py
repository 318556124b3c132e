"""Errors of matched boxes: fates of objects, kinds of false positives, and the gain from mending each kind.

outcomes, overlaps → pairs of false positives and objects → fates, kinds → counts by image → shares; tables
                                                          → outcomes with a kind mended → gains, by the protocol
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..metric.results import Rate, Results
from .counting import CountColumns, as_rows, in_total, ratio, tally
from .false_positives import DUPLICATE, FALSE_POSITIVES, NEARBY, false_overlaps, kinds_of_false_positives
from .fates import FATES, object_fates
from .mending import matched_objects, mending, without_objects, without_predictions
from .overlap import Overlaps
from .protocols import MatchedImages, gain

MISSED = "missed"  # the error of objects that nothing was predicted on
_FATE_COLUMNS = [f"{side} objects {fate}" for side, fate in FATES]
_SIDES = {side: [column for column in _FATE_COLUMNS if column.startswith(side)] for side, _ in FATES}
_MEASURES = ("mAP", "U-AP", "U-Recall")
KEYS_OF_TABLES = frozenset(
    [f"fate({side}, {fate})" for side, fate in FATES]
    + [gain(error, measure) for error in (*FALSE_POSITIVES, MISSED) for measure in _MEASURES]
)  # of the rates that the two tables hold, too


class Errors:
    """Fates and kinds of errors of matched images; see `object_fates`, `kinds_of_false_positives` and `mending`.

    fates, called: the fate of each object and the row of the class that it was called
    kinds, about: the kind of each prediction and the object that it is about
    by_image: counts of one of each image

    Mending "missed" takes the missed objects out of all denominators.
    Raises ValueError for an IoU threshold below 1/10, at which no box is badly placed.
    """

    def __init__(self, matched: MatchedImages, overlaps: Overlaps) -> None:
        outcomes = matched.outcomes
        boxes, threshold = outcomes.boxes, outcomes.boxes.rules.iou_threshold
        if threshold < NEARBY:
            raise ValueError(f"errors: expected an iou_threshold of at least {float(NEARBY)}, got {threshold}")
        beside = false_overlaps(outcomes, overlaps)
        self._matched, size = matched, len(boxes.num_predictions)
        self.fates, self.called = object_fates(outcomes, beside)
        self.kinds, self.about = kinds_of_false_positives(outcomes, beside)
        is_missed = np.isin(self.fates, [place for place, (_, fate) in enumerate(FATES) if fate == MISSED])
        self.by_image: CountColumns = {
            **tables_of_places(boxes.object_image, self.fates, _FATE_COLUMNS, size),
            **tables_of_places(boxes.image, self.kinds, [f"FP {kind}" for kind in FALSE_POSITIVES], size),
        }
        ranked = np.argsort(self.kinds, kind="stable")
        ends = np.cumsum(np.bincount(self.kinds + 1, minlength=len(FALSE_POSITIVES) + 1))
        is_matched = matched_objects(outcomes)
        for place, (kind, going) in enumerate(zip(FALSE_POSITIVES, np.split(ranked, ends)[1:])):
            has_target = place < DUPLICATE
            mended = mending(boxes, is_matched, going, self.about) if has_target else without_predictions(going)
            matched.mend(kind, mended)
        matched.mend(MISSED, without_objects(np.flatnonzero(is_missed)))

    def rates(self, counts: np.ndarray) -> Results:
        """The share of each fate, of all known or all unknown objects; 0.0 without any."""
        totals = in_total(self.by_image, counts)
        objects = {side: sum(totals[column] for column in columns) for side, columns in _SIDES.items()}
        return {
            share_of(side, fate): Rate(ratio(totals[column], objects[side]), fate == "found")
            for (side, fate), column in zip(FATES, _FATE_COLUMNS)
        }

    def tables(self, results: Results) -> dict[str, Any]:
        """The tables "fates" and "errors"."""
        totals = in_total(self.by_image, self._matched.outcomes.boxes.counts)
        gains = {
            f"Δ{measure}": [results[gain(error, measure)].value for error in (*FALSE_POSITIVES, MISSED)]
            for measure in _MEASURES
            if gain(MISSED, measure) in results
        }
        missed = sum(totals[column] for column in _FATE_COLUMNS if column.endswith(MISSED))
        return {
            "fates": {
                "objects": [side for side, _ in FATES],
                "fate": [fate for _, fate in FATES],
                "count": [totals[column] for column in _FATE_COLUMNS],
                "share": [results[share_of(*fate)].value for fate in FATES],
            },
            "errors": {
                "error": [*FALSE_POSITIVES, MISSED],
                "count": [*(totals[f"FP {kind}"] for kind in FALSE_POSITIVES), missed],
                **gains,
            },
        }

    def table_by_class(self) -> dict[str, list[Any]]:
        """Fates of the objects of each class, and the number of unknown objects called the class."""
        boxes = self._matched.outcomes.boxes
        weights = boxes.counts[boxes.object_image]

        def number(rows: np.ndarray, which: np.ndarray) -> list[int]:
            return tally(rows[which], weights[which], len(boxes.classes)).tolist()

        fates = np.asarray([fate for _, fate in FATES] + [""])[self.fates]  # −1, of ignored objects, is the last
        by_fate = {fate: number(boxes.object_rows, fates == fate) for fate in dict.fromkeys(fate for _, fate in FATES)}
        unknown_as_known = self.fates == FATES.index(("unknown", "called known"))
        return {**by_fate, "unknown objects called it": number(self.called, unknown_as_known)}

    def table_by_image(self) -> dict[str, list[Any]]:
        """Counts of each image."""
        rows = as_rows(self.by_image, self._matched.outcomes.boxes.counts)
        return {name: column.tolist() for name, column in rows.items()}


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
