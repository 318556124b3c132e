"""Evaluate detections: open-set metrics, COCO's metrics of the known classes, and two detectors compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from ..arrays.checks import as_int
from ..comparison import compare
from ..detection.closed_set import closed_set_comparison, closed_set_summary
from ..detection.curves import CountedClasses, RankedClasses, interpolated_average_precision, mean_of
from ..detection.matching import coco_outcomes
from ..detection.openset_detection import OpenSetDetection
from ..detection.outcomes import Outcome, select_boxes
from ..metric.numbers import number_text
from ..metric.results import Rate, Summary, kind_of
from ..reading.boxes.dataset import Detections, check_options, labels_of, one_id_each, unknown_id, with_names_in_tables
from ..reading.progress import progress_bar
from ..written.results import KINDS

BATCH = 64  # images
DEFAULT_CONF = 0.001  # of a detector that is run here: predictions with a lower confidence are left out
Results = dict[str, Any]  # of sections, and what files hold in words
Summarise = Callable[[OpenSetDetection], Summary]

COCO_LIMIT = 100  # predictions of an image and class
STANDARD = ("mAP50", "mAP50-95", "precision", "recall")
_STEPS = 100  # of recall
_ROUNDING = 2.0**-51  # above the error of the difference of two sums of shares, relative to the square of their number


def evaluate_detections(
    detections: Detections,
    known_classes: Sequence[int],
    *,
    standard: bool = True,
    max_detections: int | None = None,
    progress: bool = False,
    summarise: Summarise = OpenSetDetection.summary,
    **options: Any,
) -> Results:
    """Compute the open-set metrics of detections, and the standard metrics.

    Parameters: detections, as a reader gives them; known_classes, ids, all others are unknown; standard, whether to
    compute the standard metrics, and max_detections, their limit; progress, whether to show a bar on a terminal;
    summarise, the function that summarises the metric with its images; options of the metric openset_detection, such as
    iou_threshold, conf_threshold or protocol, and unknown_class_id, by default that of a class whose name means it.

    Returns "openset_metrics", the results of openset_detection, without those that need a prediction called unknown if
    none can be (see `closed_set_summary`), "standard_metrics", the results of `standard_metrics`, and "kinds", the kind
    of each key (see `Summary.kinds`). Raises TypeError and ValueError as the metric does.
    """
    options = class_options({**options, "known_classes": list(known_classes)}, detections)
    openset = openset_summary(detections, progress=progress, summarise=summarise, **options)
    results = {
        "openset_metrics": with_names_in_tables(openset.as_dict(), detections.dataset, options),
        **openset.record(),
    }
    if not standard:
        return results
    closed = _closed_set(detections, options["known_classes"], options, max_detections)
    kinds = {key: kind_of(Rate(value, True)) for key, value in closed.items() if isinstance(value, float)}
    return {"standard_metrics": closed, **results, KINDS: {**kinds, **results[KINDS]}}


def _closed_set(
    detections: Detections, known_classes: Sequence[int], options: Mapping[str, Any], max_detections: int | None
) -> dict[str, float]:
    # of known classes, what is below either threshold is left out, or called unknown, which is left out
    lowest = max(options.get("conf_threshold", 0.0), options.get("unknown_below") or 0.0)
    return standard_metrics(detections, known_classes, conf_threshold=lowest, max_detections=max_detections)


def limit_note(results: Results, detections: Detections, known_classes: Sequence[int], **options: Any) -> str:
    """A sentence where COCO's limit would change the standard metrics, computed without one; "" where it would not.

    Parameters: results of `evaluate_detections`, and its other arguments.
    """
    numbers = (np.unique(boxes["labels"], return_counts=True)[1] for boxes in detections.predictions)
    if all(number.max(initial=0) <= COCO_LIMIT for number in numbers):
        return ""
    limited = _closed_set(detections, known_classes, options, COCO_LIMIT)
    texts = {
        name: [number_text(values[name], 6) for values in (results["standard_metrics"], limited)] for name in limited
    }
    changed = [f"{name} {theirs} instead of {ours}" for name, (ours, theirs) in texts.items() if ours != theirs]
    limit = f"COCO counts {COCO_LIMIT} predictions of a class in an image (--max-detections {COCO_LIMIT})"
    return f"{limit}, which gives {', '.join(changed)}" if changed else ""


def openset_summary(
    detections: Detections,
    *,
    progress: bool = False,
    summarise: Summarise = OpenSetDetection.summary,
    **options: Any,
) -> Summary:
    """The `Summary` of openset_detection, a few images at a time; see `evaluate_detections`."""
    check_options(options, detections.dataset)
    options = class_options(options, detections)
    metric = OpenSetDetection(**options)
    true, predicted = detections.dataset.references, detections.predictions
    with progress_bar(total=len(true), unit=" images", shown=progress) as bar:
        for start in range(0, len(true), BATCH):
            part = slice(start, start + BATCH)
            metric.add_batch(predictions=predicted[part], references=true[part])
            bar.update(len(true[part]))
    summary = summarise(metric)
    return summary if says_unknown(detections, options) else closed_set_summary(summary, metric)


def compare_detections(
    first: Detections,
    second: Detections,
    known_classes: Sequence[int],
    *,
    confidence_level: float | None = None,
    **options: Any,
) -> dict[str, list[Any]]:
    """Compare two detectors on the same images: see `openworld_metrics.compare`, which returns a table of this form.

    Parameters: first and second, detections on one data set; known_classes, ids; confidence_level, by default that of
    `compare`; options of openset_detection, with n_resamples and random_state. Raises ValueError for other images or
    objects.
    """
    if first.dataset.names != second.dataset.names:
        raise ValueError("first, second: expected detections on the same images, got others")
    if first.dataset.classes != second.dataset.classes:
        raise ValueError("first, second: expected classes of the same ids and names, got others")
    drawn: dict[str, Any] = {name: options.pop(name) for name in ("n_resamples", "random_state") if name in options}
    drawn |= {} if confidence_level is None else {"confidence_level": confidence_level}
    options = class_options({**options, "known_classes": list(known_classes)}, first, second)
    metric = OpenSetDetection(**options)
    one, other = (
        {"predictions": detector.predictions, "references": detector.dataset.references} for detector in (first, second)
    )
    table = compare(metric, one, other, **drawn)
    openset = says_unknown(first, options) or says_unknown(second, options)
    return table if openset else closed_set_comparison(table, metric)


def class_options(options: Mapping[str, Any], *detections: Detections) -> dict[str, Any]:
    """Options of the metric with the id of boxes called unknown, and one id for each known class.

    Parameters: options, where unknown_class_id may be missing or None; it is then the id of `Detections`, or as of
    `unknown_id`; detections on one data set. Raises ValueError if options state another id than that of the detections,
    and if a known class is unknown by its name.
    """
    classes, stated = detections[0].dataset.classes, options.get("unknown_class_id")
    new = {one.unknown_class_id for one in detections if one.unknown_class_id is not None}
    if len(new) > 1:
        raise ValueError("first, second: expected boxes called unknown to have one id, got two")
    if new and stated is not None and stated not in new:
        expected, name = min(new), classes.get(stated, "another")
        raise ValueError(
            f"unknown_class_id: expected {expected}, as of the detections, got {stated}, which is class {name!r}"
        )
    own = min(new, default=stated)
    if own is None:
        own = unknown_id(classes, predicted_classes(*detections))
    first = one_id_each(classes)
    named = [name for name in ("known_classes", "previously_known") if first and options.get(name) is not None]
    ids = {name: [*dict.fromkeys(first.get(i, i) for i in options[name])] for name in named}
    options = {**options, "unknown_class_id": own, **ids}
    if stated is None and own in classes and own in (options.get("known_classes") or ()):
        raise ValueError(
            f"known_classes: expected them without class {own}, since its name, {classes[own]!r}, means unknown; if it"
            " is a known class, state which is the unknown one with unknown_class_id, the command's --unknown-id"
        )
    return options


def says_unknown(detections: Detections, options: Mapping[str, Any]) -> bool:
    """Whether predictions can be unknown: by their class, by a class that is listed, or by a low confidence."""
    unknown = options["unknown_class_id"]
    listed = detections.unknown_class_id is not None or unknown in detections.dataset.classes
    return options.get("unknown_below") is not None or listed or unknown in predicted_classes(detections)


def predicted_classes(*detections: Detections) -> set[int]:
    """The class ids that occur among the predictions of one detector or of several."""
    return labels_of(boxes for one in detections for boxes in one.predictions)


def standard_metrics(
    detections: Detections,
    known_classes: Sequence[int],
    *,
    conf_threshold: float = OpenSetDetection.conf_threshold,
    max_detections: int | None = None,
) -> dict[str, float]:
    """Mean average precision, precision and recall of the known classes, by COCO's protocol.

    Objects of other classes, and predictions called "unknown", are left out. Ignored objects are treated like COCO's
    crowds: a box on one is neither a TP nor an FP. Boxes match as in `coco_outcomes`. IoUs, recalls and confidences are
    compared exactly, and equal confidences are one step of the curve, so that nothing depends on the order of images or
    boxes; a detector without an error has 1.0.

    Parameters: detections; known_classes, ids; conf_threshold, predictions with a lower confidence are left out;
    max_detections, the number of the most confident predictions of each image and class that count, 100 in COCO; None
    for all.

    Returns means over the known classes that have objects, in [0, 1], higher is better; nothing if no class has any,
    where COCO's code returns −1: mAP50, the average precision at 101 recalls and an IoU of 0.5; mAP50-95, averaged over
    IoUs of 0.5, 0.55, … 0.95; precision and recall at an IoU of 0.5 and the confidence with the highest mean F1, 0.0 of
    a class without predictions.

    Source: Lin et al., Microsoft COCO, ECCV 2014. Precision and recall at the highest F1 are what Ultralytics
    reports, there smoothed.
    """
    if max_detections is not None:
        max_detections = as_int(max_detections, "max_detections", 1)
    known = [*known_classes]
    # an id that is no class's: what a prediction calls unknown is left out, whatever its id
    unknown_id = min([0, *known]) - 1
    metric = OpenSetDetection(known_classes=known, unknown_class_id=unknown_id, conf_threshold=conf_threshold)
    boxes = select_boxes(metric.reduce(detections.predictions, detections.dataset.references), metric)
    rows = [row for row, label in enumerate(boxes.classes) if label in known]
    if not np.isin(boxes.object_rows[~boxes.ignored], rows).any():
        return {}
    nothing, average_precision = np.zeros(0, np.int64), partial(interpolated_average_precision, steps=_STEPS)
    at_ious = [
        RankedClasses.of(outcomes, nothing, average_precision).where(boxes.counts)
        for outcomes in coco_outcomes(boxes, max_detections)
    ]
    over_ious = mean_of([classes.aps[row] for classes in at_ious for row in rows if classes.objects[row]])
    return dict(zip(STANDARD, (at_ious[0].mean_ap(rows), over_ious, *_at_highest_f1(at_ious[0], rows))))


def _at_highest_f1(classes: CountedClasses, rows: Sequence[int]) -> tuple[float, float]:
    """Mean precision and recall at the confidence with the highest mean F1, of several the highest.

    F1 = 2 TP / (predictions + objects). Only the confidences of TPs are compared: no others raise it.
    """
    outcomes, ranked = classes.classes.outcomes, classes.classes.ranked
    confidences = np.unique(outcomes.boxes.confidence[outcomes.outcome == Outcome.TP_KNOWN])[::-1]
    rows, total = [row for row in rows if classes.objects[row]], np.zeros(len(confidences))
    if not len(confidences):
        return 0.0, 0.0
    for row in rows:
        tp, fp = ranked[row].reaching(confidences)
        total += 2 * tp / (tp + fp + classes.objects[row])
    near = confidences[total >= total.max() - _ROUNDING * len(rows) ** 2]
    reached = np.asarray([each.reaching(near) for each in ranked])  # class × (TP, FP) × confidence
    sums = [
        sum((Fraction(2 * tp, tp + fp + classes.objects[row]) for row, (tp, fp) in zip(rows, counts)), Fraction())
        for counts in reached[rows].transpose(2, 0, 1).tolist()
    ]
    right, wrong = reached[:, :, sums.index(max(sums))].T.tolist()
    predicted = [tp + fp for tp, fp in zip(right, wrong)]
    return classes.mean_ratio(right, predicted, rows), classes.mean_ratio(right, classes.objects, rows)
