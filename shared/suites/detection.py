"""Evaluate detections: open-set metrics, COCO's metrics of the known classes, and two detectors compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..answers.computing import Computation, compute_models
from ..answers.subject import subject_of
from ..detection.coco import COCO_LIMIT, coco_averages
from ..detection.openset_detection import OpenSetDetection
from ..metric.results import Rate, Summary, kind_of
from ..metric.rounding import number_text
from ..reading.boxes.classes import class_options
from ..reading.boxes.dataset import Detections, with_names_in_tables
from ..reading.boxes.reading import BoxReading, reading_of
from ..written.results import KINDS

DEFAULT_CONF = 0.001  # of a detector that is run here: predictions with a lower confidence are left out
Results = dict[str, Any]  # of sections, and what files hold in words


def evaluate_detections(
    detections: Detections,
    known_classes: Sequence[int],
    *,
    standard: bool = True,
    max_detections: int | None = None,
    progress: bool = False,
    **options: Any,
) -> Results:
    """Compute the open-set metrics of detections, and the standard metrics.

    Parameters: detections, as a reader gives them; known_classes, ids, all others are unknown; standard, whether to
    compute the standard metrics, and max_detections, their limit; progress, whether to show a bar on a terminal;
    options of the metric openset_detection, such as iou_threshold, conf_threshold or protocol, and unknown_class_id, by
    default that of a class whose name means it.

    Returns "openset_metrics", the results of openset_detection, without those that need a prediction called unknown if
    none can be (see `closed_set_summary`), "standard_metrics", the results of `standard_metrics`, and "kinds", the kind
    of each key (see `Summary.kinds`). Raises TypeError and ValueError as the metric does.
    """
    options = class_options({**options, "known_classes": list(known_classes)}, detections)
    done = compute_detections(reading_of({"": detections}), options, intervals=False, progress=progress)
    (summary,) = done.values()
    return detection_results(summary, detections, options, standard=standard, max_detections=max_detections)


def compute_detections(reading: BoxReading, options: Mapping[str, Any], **how: Any) -> Detectors:
    """Compute the open-set metrics of the detectors of a reading.

    Parameters: a reading; options of the metric, as of `class_options`; how, as of `compute_models`. Raises TypeError
    and ValueError as the metric does.
    """
    subject = subject_of("openset_detection")
    settings = subject.metric(**options).loaded_options
    reading.check(options)
    done = compute_models(subject, reading, settings, keeps_samples=True, bounded=False, **how)
    return Detectors({name: one.summary for name, one in subject.settle(done.models)[0].items()}, done, settings)


class Detectors(dict[str, Summary]):
    """The summaries of detectors by name, without results that none of them can have; `done` is their computation."""

    def __init__(self, summaries: Mapping[str, Summary], done: Computation, settings: Mapping[str, Any]) -> None:
        super().__init__(summaries)
        self.done, self.settings = done, settings

    def compared(self) -> dict[str, list[Any]]:
        """The table of `compare`, of the results that the two detectors have."""
        first, second = self
        kept = self[first].rates().keys() | self[second].rates().keys()
        comparison = self.done.compared(first, second)
        differences = {key: values for key, values in comparison.differences.items() if key in kept}
        return comparison._replace(differences=differences).table()


def detection_results(
    summary: Summary,
    detections: Detections,
    options: Mapping[str, Any],
    *,
    standard: bool = True,
    max_detections: int | None = None,
) -> Results:
    """The results of `evaluate_detections`, from a summary of openset_detection."""
    results = {
        "openset_metrics": with_names_in_tables(summary.as_dict(), detections.dataset, options),
        **summary.record(),
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
    options = class_options({**options, "known_classes": list(known_classes)}, first, second)
    options |= {} if confidence_level is None else {"confidence_level": confidence_level}
    return compute_detections(reading_of({"first": first, "second": second}), options, intervals=True).compared()


def standard_metrics(
    detections: Detections,
    known_classes: Sequence[int],
    *,
    conf_threshold: float = OpenSetDetection.conf_threshold,
    max_detections: int | None = None,
) -> dict[str, float]:
    """The averages of `coco_averages` for detections, as a reader gives them."""
    limits: dict[str, Any] = {"conf_threshold": conf_threshold, "max_detections": max_detections}
    return coco_averages(detections.predictions, detections.dataset.references, known_classes, **limits)
