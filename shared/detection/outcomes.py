"""What each detection counts as, the counts and tables that are made of it, and its words, whatever the protocol.

A protocol gives each prediction one of five outcomes. All tables are that array counted by groups: one group for the
totals, or a group for each class or image; a sweep counts those that reach each threshold. To be looked at, boxes are
told apart further: `OUTCOME_WORDS` says what became of a prediction or of an object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from .boxes import DetectionState
from .overlap import Corners, Pairs, overlapping_pairs
from .rules import Rules

TP_KNOWN, FP_KNOWN, TP_UNKNOWN, FP_UNKNOWN, NEITHER = range(5)
CountColumns = dict[str, np.ndarray]

OUTCOME_WORDS = (
    "known, right class",
    "unknown, called unknown",
    "known, wrong class",
    "known, called unknown",
    "unknown, taken for known",
    "missed object",
    "matches no object",
    "ignored object",
    "left out, its class counts nowhere",
)
RIGHT, CALLED_UNKNOWN_RIGHTLY, WRONG_CLASS, CALLED_UNKNOWN, TAKEN_FOR_KNOWN, MISSED, NO_OBJECT, IGNORED, LEFT_OUT = (
    range(len(OUTCOME_WORDS))
)
_RULES = [field.name for field in fields(Rules)]


class SelectedBoxes(NamedTuple):
    """The boxes of a state that take part: confident predictions and all objects.

    predictions, references, num_predictions, num_references, ignored: as in a `DetectionState`
    image: of each prediction
    object_image, object_label: of each object; the label of all unknown ones is the unknown id
    rules: by which they were selected
    corners: those of predictions and of objects, exactly
    """

    predictions: np.ndarray
    references: np.ndarray
    num_predictions: np.ndarray
    num_references: np.ndarray
    ignored: np.ndarray
    image: np.ndarray
    object_image: np.ndarray
    object_label: np.ndarray
    rules: Rules
    corners: tuple[Corners, Corners]

    @property
    def known(self) -> list[int]:
        """Ids of the known classes."""
        return self.rules.known

    @property
    def unknown_id(self) -> int:
        """The class by which a prediction says "unknown"."""
        return self.rules.unknown_class_id

    def pairs(self) -> Pairs:
        """All pairs of a prediction and an object of one image whose IoU reaches the threshold."""
        counts = self.num_predictions, self.num_references
        return overlapping_pairs(self.predictions, self.references, *counts, self.rules.iou_threshold, self.corners)


class Outcomes(NamedTuple):
    """What each prediction counts as.

    boxes: what takes part
    outcome: TP_KNOWN, FP_KNOWN, TP_UNKNOWN, FP_UNKNOWN, or NEITHER
    matched: the row of the object that it takes, or −1
    """

    boxes: SelectedBoxes
    outcome: np.ndarray
    matched: np.ndarray


def select_boxes(state: DetectionState, rules: Rules) -> SelectedBoxes:
    """Drop predictions below the confidence threshold, and label the objects.

    With `plus_one` each box is a pixel wider and higher: the VOC devkit counts both border pixels, so that its widths
    are x2 − x1 + 1.
    """
    predictions, references, num_predictions = state["predictions"], state["references"], state["num_predictions"]
    images = np.arange(len(num_predictions))
    image = np.repeat(images, num_predictions)
    remainders = state["prediction_remainders"]
    confident = predictions[:, 4] >= rules.conf_threshold
    if not confident.all():
        image, predictions, remainders = image[confident], predictions[confident], remainders[confident]
        num_predictions = np.bincount(image, minlength=len(images))
    corners = (
        Corners(predictions[:, :4], remainders, int(rules.plus_one)),
        Corners(references[:, :4], state["reference_remainders"], int(rules.plus_one)),
    )
    if rules.plus_one:
        border = np.asarray([0, 0, 1, 1])
        predictions = np.concatenate([predictions[:, :4] + border, predictions[:, 4:]], axis=1)
        references = np.concatenate([references[:, :4] + border, references[:, 4:]], axis=1)
    known = np.isin(references[:, 4], rules.known)
    return SelectedBoxes(
        predictions,
        references,
        num_predictions,
        state["num_references"],
        state["ignored"],
        image,
        object_image=np.repeat(images, state["num_references"]),
        object_label=np.where(known, references[:, 4], rules.unknown_class_id),
        rules=rules,
        corners=corners,
    )


def one_to_one_rules(options: Mapping[str, Any]) -> Rules:
    """The rules among options of the metric, by which each box is one thing, as in a picture it has to be.

    For protocol="owod", which matches class by class, the most confident prediction takes an object, whatever its
    class. Background counts, so that `outcomes_in_words` can tell it from what lies on an ignored object.

    Parameters: options by name; those that are missing, None or no rules are left out. Raises as `Rules`.

    >>> one_to_one_rules({"known_classes": [0, 1], "protocol": "owod", "matching": None}).matching
    'confidence'
    """
    chosen = {"known_classes": None, **{name: options[name] for name in _RULES if options.get(name) is not None}}
    if options.get("protocol") == "owod":
        chosen["matching"] = "confidence"
    return Rules(**{**chosen, "count_background": True})


def outcomes_in_words(found: Outcomes) -> tuple[np.ndarray, np.ndarray]:
    """What became of each prediction and of each object, as places in `OUTCOME_WORDS`, int64.

    An object became what the prediction that takes it did; else it is missed or ignored. A prediction that takes none
    matches no object, or lies on an ignored one if it counts as neither: so background is to count, see
    `one_to_one_rules`. Predictions that their class leaves out, as in VOC matching, are for the caller to tell.
    """
    boxes = found.boxes
    rows = np.flatnonzero(found.matched >= 0)
    objects = found.matched[rows]
    label, object_label = boxes.predictions[rows, 5], boxes.object_label[objects]
    says_unknown, is_unknown = label == boxes.unknown_id, object_label == boxes.unknown_id
    on_known = np.where(says_unknown, CALLED_UNKNOWN, np.where(label == object_label, RIGHT, WRONG_CLASS))
    matched = np.where(is_unknown, np.where(says_unknown, CALLED_UNKNOWN_RIGHTLY, TAKEN_FOR_KNOWN), on_known)

    predicted = np.where(found.outcome == NEITHER, IGNORED, NO_OBJECT)
    true = np.where(boxes.ignored, IGNORED, MISSED)
    predicted[rows], true[objects] = matched, matched
    return predicted, true


def total_counts(found: Outcomes) -> dict[str, int]:
    """The eight counts, of all images."""
    boxes = found.boxes
    counts = _counts_of(found, np.zeros_like(boxes.image), np.zeros_like(boxes.object_image), 1)
    return {name: int(column[0]) for name, column in counts.items()}


def counts_by_image(found: Outcomes) -> CountColumns:
    """The eight counts of each image."""
    return _counts_of(found, found.boxes.image, found.boxes.object_image, len(found.boxes.num_predictions))


def counts_by_class(found: Outcomes) -> dict[str, list[Any]]:
    """Objects, TP, FP, FN, precision and recall of each class; the last row is that of "unknown".

    Classes that are predicted but neither known nor the unknown id have a row too, without objects.
    """
    classes = class_rows(found.boxes)
    rows, object_rows = (
        rows_of(labels, classes) for labels in (found.boxes.predictions[:, 5], found.boxes.object_label)
    )
    counts = _counts_of(found, rows, object_rows, len(classes))
    objects, tp, fp = (counts[f"{name}_known"] + counts[f"{name}_unknown"] for name in ("total", "TP", "FP"))
    columns = {"objects": objects, "TP": tp, "FP": fp, "FN": objects - tp}
    return {
        "class": classes,
        **{name: column.tolist() for name, column in columns.items()},
        "Precision": ratios(tp, tp + fp),
        "Recall": ratios(tp, objects),
    }


def class_rows(boxes: SelectedBoxes) -> list[int]:
    """The classes of a table by class, in its order."""
    labels = np.union1d(np.asarray(boxes.known, dtype=np.float64), boxes.predictions[:, 5])
    return [*(int(label) for label in labels if label != boxes.unknown_id), boxes.unknown_id]


def rows_of(labels: np.ndarray, classes: Sequence[int]) -> np.ndarray:
    """The row of each label in a table by class."""
    *others, unknown_id = classes
    return np.where(labels == unknown_id, len(others), np.searchsorted(np.asarray(others, dtype=np.float64), labels))


def counts_above(found: Outcomes, thresholds: Sequence[float]) -> CountColumns:
    """The eight counts of the predictions that reach each confidence threshold."""
    boxes = found.boxes
    reached = (reaching(boxes.predictions[found.outcome == code, 4], thresholds) for code in range(NEITHER))
    totals = total_counts(found)
    return _named(*reached, totals["total_known"], totals["total_unknown"])


def reaching(confidences: np.ndarray, thresholds: Sequence[float]) -> np.ndarray:
    """How many confidences reach each threshold.

    >>> reaching(np.asarray([0.2, 0.9, 0.5]), [0.5, 1.0, 0.0]).tolist()
    [2, 0, 3]
    """
    return len(confidences) - np.searchsorted(np.sort(confidences), thresholds)


def _counts_of(found: Outcomes, groups: np.ndarray, object_groups: np.ndarray, size: int) -> CountColumns:
    """The eight counts of each group of predictions and objects."""
    boxes = found.boxes
    outcomes = np.bincount(groups * (NEITHER + 1) + found.outcome, minlength=size * (NEITHER + 1))
    is_known = boxes.object_label != boxes.unknown_id
    objects = (np.bincount(object_groups[kind & ~boxes.ignored], minlength=size) for kind in (is_known, ~is_known))
    return _named(*outcomes.reshape(size, NEITHER + 1).T[:NEITHER], *objects)


def _named(*columns: Any) -> CountColumns:
    tp_known, fp_known, tp_unknown, fp_unknown, total_known, total_unknown = columns
    return {
        "TP_known": tp_known,
        "FP_known": fp_known,
        "FN_known": total_known - tp_known,
        "TP_unknown": tp_unknown,
        "FP_unknown": fp_unknown,
        "FN_unknown": total_unknown - tp_unknown,
        "total_known": np.broadcast_to(total_known, tp_known.shape),
        "total_unknown": np.broadcast_to(total_unknown, tp_known.shape),
    }


def ratio(count: int, total: int) -> float:
    """Divide, with 0.0 for 0/0."""
    return count / total if total else 0.0


def ratios(counts: np.ndarray, totals: np.ndarray) -> list[float]:
    """Divide two columns, with 0.0 for 0/0."""
    return [ratio(count, total) for count, total in zip(counts.tolist(), totals.tolist())]
