"""Open-world detection as papers report it: mAP, U-Recall, A-OSE and wilderness impact, matched as in Pascal VOC.

boxes → VOC matching: TP, FP or neither; predictions of known classes on unknown objects
      → ranked, class by class → counts where TP rises, with those of the images → AP, WI(OWOD)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from ..arrays.arrays import MAX_EXACT
from ..arrays.options import as_int_list
from ..metric.results import Count, Rate, Results
from .average_precision import AVERAGE_PRECISIONS
from .counting import (
    CountColumns,
    as_rows,
    counts_above,
    counts_by_class,
    counts_by_image,
    in_total,
    ranked,
    ratio,
    ratios,
    tally,
    unknown_by_image,
)
from .mending import Mending
from .outcomes import SelectedBoxes
from .pairs import Pairs
from .protocols import DetectionOptions, MatchedImages, gain
from .ranked_classes import CountedClasses, MendedClasses, RankedClasses
from .rules import Rules
from .voc import voc_outcomes
from .wilderness import (
    TENTHS,
    closed_set,
    closed_set_confidence,
    unknown_called_known,
    wilderness_above,
    wilderness_by_recall,
)


class Owod(MatchedImages):
    """Images with boxes matched as in Pascal VOC.

    Within its class (all unknown objects form one class), a prediction points at the object of its image that it
    overlaps most. Below the IoU threshold it is an FP, on an ignored object it is not counted; of the predictions that
    point at one object, the most confident is the TP, and the others are FPs. Predictions of other classes are not
    counted.

    U-Recall = TP_unknown / total_unknown; 0.0 without unknown objects, like U-AP.
    U-AP, mAP: see `voc_average_precision` and `interpolated_average_precision`; mAP is the mean over the known classes
    that have objects, 0.0 if none has.
    Precision(U) = TP_unknown / (TP_unknown + FP_unknown), and U-F1 = 2·TP / (2·TP + FP + FN) of "unknown".
    Precision(K), Recall(K): means of TP / (TP + FP) and TP / objects over the classes that mAP averages. WI = P_K /
    P_{K∪U} − 1: precision of the known classes on images without unknown objects, divided by their precision on all
    images, at the highest confidence at which the recall on the former reaches `recall_level`. WI(OWOD) = Σ open / Σ
    (TP + FP) over the known classes, each at the confidence at which its recall is nearest to 0.1 … 0.9 (of two the
    higher confidence); open counts predictions on unknown objects; 0/0 is 0.0. A-OSE is the number of unknown objects
    with which a prediction of a known class reaches the IoU threshold, A-OSE(detections) the number of such
    predictions: OWOD's code, and so the tables of papers, count these.

    Rates raise ValueError if WI does not exist: no known object in images without unknown ones, or recall_level not
    reached there.
    Sources: Dhamija et al., The Overlooked Elephant of Object Detection: Open Set, WACV 2020; Joseph et al., Towards
    Open World Object Detection, CVPR 2021, and its code.
    """

    match = staticmethod(voc_outcomes)

    @classmethod
    def rules(cls, options: DetectionOptions) -> Rules:
        """The rules among options; pictures, which need boxes matched one to one, match them by confidence."""
        if options.matching is not None:
            got = f"got {options.matching!r}"
            raise ValueError(f"matching: expected None, since protocol='owod' matches as Pascal VOC, {got}")
        if options.count_background:
            raise ValueError("count_background: expected False, since protocol='owod' always counts them, got True")
        rules = {field.name: getattr(options, field.name) for field in fields(Rules)}
        return Rules(**{**rules, "matching": "confidence"})

    def __init__(self, boxes: SelectedBoxes, pairs: Pairs, options: DetectionOptions) -> None:
        self.outcomes = self.match(boxes, pairs)
        self.taken = unknown_called_known(boxes, pairs)
        size = len(boxes.num_predictions)
        self.by_image = {
            "A-OSE": np.bincount(boxes.object_image[self.taken.objects], minlength=size),
            "A-OSE(detections)": np.bincount(boxes.image[self.taken.rows], minlength=size),
            **counts_by_image(self.outcomes),
        }
        self._classes = RankedClasses.of(self.outcomes, self.taken.rows, AVERAGE_PRECISIONS[options.average_precision])
        self._groups = class_groups(boxes.known, options.previously_known)
        self._level = options.recall_level
        self._closed = None if self._level is None else closed_set(self.outcomes, self.by_image["total_known"])
        self._mended: dict[str, tuple[MendedClasses, CountColumns]] = {}  # by error

    def rates(self, counts: np.ndarray) -> Results:
        """Rates and counts, with WI(OWOD) as a list."""
        totals, classes = in_total(self.by_image, counts), self._classes.where(counts)
        rates: Results = {}
        if self._level is not None and self._closed is not None:
            confidence = closed_set_confidence(self._closed, counts, self._level)
            rates["WI"] = Rate(wilderness_above(self._closed, counts, [confidence])[0], False, share=False)
        of_known = zip(self.outcomes.boxes.classes[:-1], classes.curves, classes.objects)
        by_recall = wilderness_by_recall([(c, n) for label, c, n in of_known if label in self._groups["mAP"]])
        rates |= {
            "WI(OWOD)@0.8": Rate(by_recall[TENTHS.index(8)], False, share=False),
            "WI(OWOD)": by_recall,
            "A-OSE": Count(totals.pop("A-OSE"), higher=False),
            "A-OSE(detections)": Count(totals.pop("A-OSE(detections)"), higher=False),
            **{name: Rate(value, True) for name, value in self._values(classes, totals).items()},
        }
        for error, (mended, columns) in self._mended.items():
            after = {name: number + totals[name] for name, number in in_total(columns, counts).items()}
            for name, value in self._unknown_and_map(classes.after(mended), after).items():
                rates[gain(error, name)] = Rate(value - rates[name].value, None)
        return {**rates, **totals}

    def _unknown_and_map(self, classes: CountedClasses, totals: Mapping[str, int]) -> dict[str, float]:
        return {
            "U-Recall": ratio(totals["TP_unknown"], totals["total_unknown"]),
            "U-AP": ratio(*classes.aps[-1]),
            "mAP": classes.mean_ap(self._groups["mAP"]),
        }

    def _values(self, classes: CountedClasses, totals: Mapping[str, int]) -> dict[str, float]:
        tp, fp, fn = (totals[f"{name}_unknown"] for name in ("TP", "FP", "FN"))
        right, wrong = classes.predicted()
        predicted = [true + false for true, false in zip(right, wrong)]
        return {
            **self._unknown_and_map(classes, totals),
            **{name: classes.mean_ap(group) for name, group in self._groups.items()},
            "Precision(U)": ratio(tp, tp + fp),
            "U-F1": ratio(2 * tp, 2 * tp + fp + fn),
            "Precision(K)": classes.mean_ratio(right, predicted, self._groups["mAP"]),
            "Recall(K)": classes.mean_ratio(right, classes.objects, self._groups["mAP"]),
        }

    def mend(self, error: str, mending: Mending) -> None:
        """Add the gains of U-Recall, U-AP and each mAP."""
        self._mended[error] = self._classes.mended(mending), unknown_by_image(self.outcomes.boxes, mending)

    def table_by_class(self) -> dict[str, list[Any]]:
        """Counts of each class, its AP, and predictions of it on unknown objects."""
        boxes, taken, classes = self.outcomes.boxes, self.taken.rows, self._classes
        on_unknown = tally(boxes.rows[taken], boxes.counts[boxes.image[taken]], len(boxes.classes))
        return {
            **counts_by_class(self.outcomes),
            "AP": [ratio(*ap) for ap in classes.where(boxes.counts).aps],
            "A-OSE(detections)": on_unknown.tolist(),
        }

    def table_by_image(self) -> dict[str, list[Any]]:
        """A-OSE, U-Recall and the counts of each image."""
        rows = {name: column.tolist() for name, column in as_rows(self.by_image, self.outcomes.boxes.counts).items()}
        return {
            "A-OSE": rows.pop("A-OSE"),
            "A-OSE(detections)": rows.pop("A-OSE(detections)"),
            "U-Recall": [ratio(*row) for row in zip(rows["TP_unknown"], rows["total_unknown"])],
            **rows,
        }

    def sweep(self, results: Results, thresholds: Sequence[float]) -> dict[str, list[Any]]:
        """U-Recall, WI and A-OSE of the predictions that reach each confidence."""
        boxes, taken = self.outcomes.boxes, self.taken
        above = counts_above(self.outcomes, results, thresholds)
        objects = ranked(taken.confidence, boxes.object_image[taken.objects])
        rows = ranked(boxes.confidence[taken.rows], boxes.image[taken.rows])
        return {
            "U-Recall": ratios(above["TP_unknown"], above["total_unknown"]),
            **({"WI": wilderness_above(self._closed, boxes.counts, thresholds)} if self._closed else {}),
            "A-OSE": objects.reaching(thresholds, boxes.counts).tolist(),
            "A-OSE(detections)": rows.reaching(thresholds, boxes.counts).tolist(),
        }


def class_groups(known: list[int], previously_known: Any) -> dict[str, list[int]]:
    """The classes over which each mAP is a mean."""
    if previously_known is None:
        return {"mAP": known}
    previous = as_int_list(previously_known, "previously_known", -MAX_EXACT, MAX_EXACT)
    if not set(previous) < set(known):
        raise ValueError(f"previously_known: expected some, not all, of known_classes {known}, got {previous}")
    newly = [label for label in known if label not in previous]
    return {"mAP": known, "mAP(previously known)": previous, "mAP(newly known)": newly}
