"""The two protocols of open-set detection: OW-DLN's evaluation guide, and OWOD as papers report it.

OW-DLN: boxes → one-to-one matching, whatever the classes → an outcome for each prediction → counts → rates

OWOD (mAP, U-Recall, A-OSE and wilderness impact, WI), matched as in Pascal VOC:
boxes → VOC matching: TP, FP or neither; predictions of known classes on unknown objects
      → ranked, class by class → counts where TP rises, with those of the images → AP, WI(OWOD)

Wilderness impact says how much unknown objects lower the precision of the known classes. Dhamija et al. (2020) compare
images of known objects with all images: WI. Joseph et al. (OWOD, 2021) count the predictions of known classes that lie
on unknown objects, as A-OSE does: WI(OWOD).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..metric.results import Count, Rate, Results
from ..ranking.quantities import least_reaching
from .curves import AVERAGE_PRECISIONS, CountedClasses, RankedClasses
from .errors import Errors
from .matching import one_to_one_outcomes, voc_outcomes
from .outcomes import (
    BY_CONFIDENCE,
    CountColumns,
    Outcome,
    Outcomes,
    Ranked,
    SelectedBoxes,
    as_rows,
    counts_above,
    counts_by_class,
    counts_by_image,
    gain,
    in_total,
    precision,
    ranked,
    ranked_outcome,
    ratio,
    ratios,
    tally,
)
from .overlap import Overlaps, Pairs

RATES = ("U-Recall", "WI", "A-OSE", "Precision(Known)", "Recall(Known)")  # of OW-DLN
_LOWER = ("WI", "A-OSE")  # rates of which lower is better


def openset_detection_rates(counts: Mapping[str, Any]) -> dict[str, Any]:
    """The rates of open-set detection; a share of no objects is NaN, and so is the precision of nothing.

    U-Recall = TP_unknown / total_unknown                              in [0, 1], higher is better
    WI = FP_unknown / total_known                                      lower is better
    A-OSE = (FP_known + FN_known + FP_unknown + FN_unknown) / total    lower is better
    Precision(Known) = TP_known / (TP_known + FP_known),  Recall(Known) = TP_known / total_known

    Parameters: counts by name, TP, FP, FN and total, each _known and _unknown, or columns of them, with a row for each
    image or resample. Source: the evaluation guide of OW-DLN.

    >>> counts = {"TP_known": 3, "FP_known": 1, "FN_known": 1, "total_known": 4}
    >>> counts |= {"TP_unknown": 1, "FP_unknown": 1, "FN_unknown": 1, "total_unknown": 2}
    >>> openset_detection_rates(counts)["U-Recall"], openset_detection_rates(counts)["WI"]
    (0.5, 0.25)
    >>> openset_detection_rates({**counts, "TP_unknown": 0, "FN_unknown": 0, "total_unknown": 0})["U-Recall"]
    nan
    """
    errors = counts["FP_known"] + counts["FN_known"] + counts["FP_unknown"] + counts["FN_unknown"]
    return {
        "U-Recall": ratio(counts["TP_unknown"], counts["total_unknown"]),
        "WI": ratio(counts["FP_unknown"], counts["total_known"]),
        "A-OSE": ratio(errors, counts["total_known"] + counts["total_unknown"]),
        "Precision(Known)": precision(counts["TP_known"], counts["FP_known"], counts["total_known"]),
        "Recall(Known)": ratio(counts["TP_known"], counts["total_known"]),
    }


class OwDln:
    """Images with boxes matched one to one, whatever their classes.

    See `one_to_one_outcomes` and `openset_detection_rates`.
    """

    gains = ("U-Recall",)  # the measures that correcting errors may raise
    rates_of_sums = staticmethod(openset_detection_rates)  # all rates follow from sums of `by_image`, but for `errors`

    def __init__(self, boxes: SelectedBoxes, overlaps: Overlaps) -> None:
        self.outcomes = one_to_one_outcomes(boxes, overlaps.reaching(boxes.rules.iou_threshold))
        self.by_image = counts_by_image(self.outcomes)  # of one of each
        self.errors = Errors(self.outcomes, overlaps) if boxes.rules.errors else None

    def rates(self, counts: np.ndarray) -> Results:
        """Rates and counts where each image occurs `counts` times, (N,) int64, 0 included; NaN of no objects."""
        totals = in_total(self.by_image, counts)
        values = openset_detection_rates(totals)
        rates: Results = {
            name: Rate(value, name not in _LOWER, share=name not in _LOWER) for name, value in values.items()
        }
        recalls = self.errors.recalls(totals, counts) if self.errors is not None else {}
        for error, after in recalls.items():
            rates[gain(error, "U-Recall")] = Rate(after - values["U-Recall"], None)
        return {**rates, **totals}

    def table_by_class(self) -> dict[str, list[Any]]:
        """Counts of each class, with the number of its objects that were called unknown."""
        outcomes, boxes = self.outcomes, self.outcomes.boxes
        says_unknown = np.isin(outcomes.outcome, (Outcome.TP_UNKNOWN, Outcome.FP_UNKNOWN))
        called = outcomes.matched[(outcomes.matched >= 0) & says_unknown]
        weights = boxes.counts[boxes.object_image[called]]
        number = tally(boxes.object_rows[called], weights, len(boxes.classes))
        return {**counts_by_class(outcomes), "called unknown": number.tolist()}

    def table_by_image(self) -> dict[str, list[Any]]:
        """Rates and counts of each image."""
        return _with_rates(as_rows(self.by_image, self.outcomes.boxes.counts))

    def sweep(self, results: Results, thresholds: Sequence[float]) -> dict[str, list[Any]]:
        """Rates of the predictions that reach each confidence; only if they are matched in this order."""
        if self.outcomes.boxes.rules.matching != BY_CONFIDENCE:
            raise ValueError(
                "conf_list: expected matching='confidence', where a prediction takes nothing from a more confident one;"
                " got matching='iou', where each threshold needs a matching of its own"
            )
        above = _with_rates(counts_above(self.outcomes, results, thresholds))
        return {name: above[name] for name in ("U-Recall", "WI", "A-OSE")}


def _with_rates(counts: CountColumns) -> dict[str, list[Any]]:
    """Columns of counts as lists, after the rates of each row."""
    columns = {name: column.tolist() for name, column in counts.items()}
    rows = [openset_detection_rates(dict(zip(columns, row))) for row in zip(*columns.values())]
    return {**{name: [row[name] for row in rows] for name in RATES}, **columns}


TENTHS = range(1, 10)  # recalls of WI(OWOD)


class Owod:
    """Images with boxes matched as in Pascal VOC.

    Within its class (all unknown objects form one class), a prediction points at the object of its image that it
    overlaps most. Below the IoU threshold it is an FP, on an ignored object it is not counted; of the predictions that
    point at one object, the most confident is the TP, and the others are FPs. Predictions of other classes are not
    counted.

    U-Recall = TP_unknown / total_unknown; NaN without unknown objects, like U-AP.
    U-AP, mAP: see `voc_average_precision` and `interpolated_average_precision`; mAP is the mean over the known classes
    that have objects, NaN if none has, as are all means over them.
    Precision(U) = TP_unknown / (TP_unknown + FP_unknown), see `precision`, and U-F1 = 2·TP / (2·TP + FP + FN) of
    "unknown", where 0/0 is 0.
    Precision(K), Recall(K): means of TP / (TP + FP) and TP / objects over the classes that mAP averages. WI = P_K /
    P_{K∪U} − 1: precision of the known classes on images without unknown objects, divided by their precision on all
    images, at the highest confidence at which the recall on the former reaches `recall_level`. WI(OWOD) = Σ open / Σ
    (TP + FP) over the known classes, each at the confidence at which its recall is nearest to 0.1 … 0.9 (of two the
    higher confidence); open counts predictions on unknown objects; 0.0 where none of these classes is predicted, as in
    OWOD's code. A-OSE is the number of unknown objects
    with which a prediction of a known class reaches the IoU threshold, A-OSE(detections) the number of such
    predictions: OWOD's code, and so the tables of papers, count these.

    Rates raise ValueError if WI does not exist: no known object in images without unknown ones, or recall_level not
    reached there.
    Sources: Dhamija et al., The Overlooked Elephant of Object Detection: Open Set, WACV 2020; Joseph et al., Towards
    Open World Object Detection, CVPR 2021, and its code.
    """

    gains = ("mAP", "U-AP", "U-Recall")
    rates_of_sums = None  # AP needs the predictions

    def __init__(self, boxes: SelectedBoxes, overlaps: Overlaps) -> None:
        rules, pairs = boxes.rules, overlaps.reaching(boxes.rules.iou_threshold)
        self.outcomes = voc_outcomes(boxes, pairs)
        self.taken = unknown_called_known(boxes, pairs)
        size = len(boxes.num_predictions)
        self.by_image = {  # of one of each
            "A-OSE": np.bincount(boxes.object_image[self.taken.objects], minlength=size),
            "A-OSE(detections)": np.bincount(boxes.image[self.taken.rows], minlength=size),
            **counts_by_image(self.outcomes),
        }
        self.errors = Errors(self.outcomes, overlaps) if rules.errors else None
        average_precision = AVERAGE_PRECISIONS[rules.average_precision]
        self._classes = RankedClasses.of(self.outcomes, self.taken.rows, average_precision, self.errors)
        known = {row: label for row, label in enumerate(boxes.classes) if label in boxes.known}
        self._groups = {"mAP": [*known]}  # the rows of the classes over which each mAP is a mean
        if rules.previously_known is not None:
            previously = {row: label in rules.previously_known for row, label in known.items()}
            self._groups["mAP(previously known)"] = [row for row, is_previous in previously.items() if is_previous]
            self._groups["mAP(newly known)"] = [row for row, is_previous in previously.items() if not is_previous]
        self._level = rules.recall_level
        self._closed = None if self._level is None else closed_set(self.outcomes, self.by_image["total_known"])

    def rates(self, counts: np.ndarray) -> Results:
        """Rates and counts where each image occurs `counts` times, (N,) int64, 0 included; WI(OWOD) is a list."""
        totals, classes = in_total(self.by_image, counts), self._classes.where(counts)
        rates: Results = {}
        if self._level is not None and self._closed is not None:
            confidence = closed_set_confidence(self._closed, counts, self._level)
            rates["WI"] = Rate(wilderness_above(self._closed, counts, [confidence])[0], False, share=False)
        by_recall = wilderness_by_recall(classes, self._groups["mAP"])
        rates |= {
            "WI(OWOD)@0.8": Rate(by_recall[TENTHS.index(8)], False, share=False),
            "WI(OWOD)": by_recall,
            "A-OSE": Count(totals.pop("A-OSE"), higher=False),
            "A-OSE(detections)": Count(totals.pop("A-OSE(detections)"), higher=False),
            **{name: Rate(value, True) for name, value in self._values(classes, totals).items()},
        }
        recalls = self.errors.recalls(totals, counts) if self.errors is not None else {}
        for place, (error, recall) in enumerate(recalls.items()):
            for name, value in self._unknown_and_map(self._classes.where(counts, place), recall).items():
                rates[gain(error, name)] = Rate(value - rates[name].value, None)
        return {**rates, **totals}

    def _unknown_and_map(self, classes: CountedClasses, recall: float) -> dict[str, float]:
        return {
            "U-Recall": recall,
            "U-AP": ratio(*classes.aps[-1]),
            "mAP": classes.mean_ap(self._groups["mAP"]),
        }

    def _values(self, classes: CountedClasses, totals: Mapping[str, int]) -> dict[str, float]:
        tp, fp, fn = totals["TP_unknown"], totals["FP_unknown"], totals["FN_unknown"]
        right, predicted = classes.predicted()
        known, *groups = self._groups.items()
        return {
            **self._unknown_and_map(classes, ratio(tp, totals["total_unknown"])),
            **{name: classes.mean_ap(rows) for name, rows in groups},
            "Precision(U)": precision(tp, fp, totals["total_unknown"]),
            "U-F1": ratio(2 * tp, 2 * tp + fp + fn, 0.0),
            "Precision(K)": classes.mean_ratio(right, predicted, known[1]),
            "Recall(K)": classes.mean_ratio(right, classes.objects, known[1]),
        }

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


class UnknownCalledKnown(NamedTuple):
    """The predictions of known classes that reach the IoU threshold with an unknown object, and these objects."""

    rows: np.ndarray  # with objects: in the two tables, each once
    objects: np.ndarray
    confidence: np.ndarray  # for each of the objects, the highest among its predictions


def unknown_called_known(boxes: SelectedBoxes, pairs: Pairs) -> UnknownCalledKnown:
    """Find these among the pairs that reach the IoU threshold; ignored objects are not counted."""
    label, object_label = boxes.label[pairs.rows], boxes.object_label[pairs.columns]
    pairs = pairs.take(np.isin(label, boxes.known) & (object_label == boxes.unknown_id) & ~boxes.ignored[pairs.columns])
    objects, place = np.unique(pairs.columns, return_inverse=True)
    highest = np.full(len(objects), -np.inf)
    np.maximum.at(highest, place, boxes.confidence[pairs.rows])
    return UnknownCalledKnown(np.unique(pairs.rows), objects, highest)


def wilderness_by_recall(classes: CountedClasses, known: Sequence[int]) -> list[float]:
    """WI(OWOD) = Σ open / Σ (TP + FP) over the known classes that have objects, at recalls of 0.1 to 0.9.

    Parameters: known, the rows of the known classes. NaN if none of them has an object.
    """
    opened, counted = np.zeros((2, len(TENTHS)), dtype=np.int64)
    for row in known:
        curve, objects = classes.curves[row], classes.objects[row]
        if objects and len(curve.tp):
            places = _nearest(10 * curve.tp, objects * np.asarray(TENTHS))  # |TP/objects − t/10|, as integers
            opened += curve.on_unknown[places]
            counted += (curve.tp + curve.fp)[places]
    nothing = 0.0 if any(classes.objects[row] for row in known) else math.nan
    return [ratio(*each, nothing) for each in zip(opened.tolist(), counted.tolist())]


def _nearest(ascending: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The first place of the nearest number to each target; of two equally near, the smaller one."""
    above = np.minimum(np.searchsorted(ascending, targets), len(ascending) - 1)
    below = np.maximum(above - 1, 0)
    is_below = np.abs(targets - ascending[below]) <= np.abs(targets - ascending[above])
    return np.searchsorted(ascending, ascending[np.where(is_below, below, above)])


class ClosedSet(NamedTuple):
    """The two sets that WI compares: the images without an unknown object, and all images."""

    known_only: np.ndarray  # (N,) whether an image has no unknown object, ignored ones included
    objects: np.ndarray  # (N,) known objects that count
    tp: Ranked  # with fp: predictions of known classes
    fp: Ranked


def closed_set(outcomes: Outcomes, objects: np.ndarray) -> ClosedSet:
    """Collect the input of WI; objects (N,), the number of known objects of each image."""
    boxes = outcomes.boxes
    unknown = boxes.object_image[boxes.object_label == boxes.unknown_id]
    known_only = np.bincount(unknown, minlength=len(boxes.num_predictions)) == 0
    tp, fp = (ranked_outcome(outcomes, code) for code in (Outcome.TP_KNOWN, Outcome.FP_KNOWN))
    return ClosedSet(known_only, objects, tp, fp)


def closed_set_confidence(closed: ClosedSet, counts: np.ndarray, level: float) -> float:
    """The highest confidence at which the recall of known objects in images without unknown ones reaches a level."""
    counts = counts * closed.known_only
    total = int(counts @ closed.objects)
    if not total:
        raise ValueError(
            "recall_level: WI compares with images without unknown objects, and none of them has a known object; "
            "recall_level=None leaves WI out"
        )
    right = np.cumsum(counts[closed.tp.image][::-1])
    reached = np.flatnonzero(right >= least_reaching(level, total))
    if not len(reached):
        most = int(right[-1]) if len(right) else 0
        raise ValueError(
            f"recall_level: expected at most {most}/{total} = {most / total:.4g}, the highest "
            f"recall of known objects in images without unknown ones, got {level}; recall_level=None leaves WI out"
        )
    return float(closed.tp.confidence[::-1][reached[0]])


def wilderness_above(closed: ClosedSet, counts: np.ndarray, thresholds: Sequence[float]) -> list[float]:
    """WI of the predictions that reach each threshold; 0.0 where a precision is 0/0, or 0 over all images."""
    sides = counts * closed.known_only, counts
    reached = [kind.reaching(thresholds, side).tolist() for side in sides for kind in (closed.tp, closed.fp)]
    impacts = []
    for closed_tp, closed_fp, all_tp, all_fp in zip(*reached):
        # WI = P_K / P_{K∪U} − 1, with P = TP / (TP + FP)
        below = (closed_tp + closed_fp) * all_tp
        impacts.append(ratio(closed_tp * (all_tp + all_fp) - below, below, 0.0))
    return impacts
