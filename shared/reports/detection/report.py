"""Write a report of detections: numbers, fates of the objects, and the images with the most errors. Needs Pillow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...detection.closed_set import closed_set_note
from ...evaluation.detection import Results, class_options
from ...evaluation.image_errors import detection_errors
from ...reading.boxes.dataset import Dataset, Detections, class_words
from ...written.atomic import write_file
from ..frame import details, facts_html, report_html
from .fates import decisions_section, fates_section, kinds_html
from .images import examples_section, images_section
from .numbers import all_numbers, all_of_classes, classes_section, headline_html, options_and_versions

_CLOSED_SET = closed_set_note("--unknown-id", "--unknown-below")


def write_report(
    detections: Detections,
    results: Results,
    folder: str | Path,
    known_classes: Sequence[int],
    *,
    other: Detections | None = None,
    names: Sequence[str] = ("detector", "other"),
    data: str = "",
    images: int = 24,
    progress: bool = False,
    **options: Any,
) -> Path:
    """Write a report of one HTML file, which holds its pictures.

    Parameters: detections; results of `evaluate_detections`, with "comparison" for the comparison with another
    detector; folder, created if missing; known_classes, ids; other, the other detector's detections; names of the
    detectors; data, a description of the data; images, the largest number of images to draw, those with the most
    errors; progress, whether to show a bar on a terminal; options of the metric.

    Returns the path of the page, index.html. Raises ValueError for an iou_threshold below 1/10, below which no box is
    badly placed, and OSError for a folder that cannot be created or written to, where an earlier report then stays.
    """
    dataset, page = detections.dataset, Path(folder) / "index.html"
    both = dict(zip(names, filter(None, (detections, other))))
    options = class_options({**options, "known_classes": list(known_classes)}, *both.values())
    labels = class_words(dataset.classes, options["unknown_class_id"])
    errors = {name: detection_errors(one, **options) for name, one in both.items()}
    first = errors[names[0]]
    sections = [
        fates_section(errors, labels),
        decisions_section(first),
        images_section(first, dataset, labels, first.worst(images), progress),
        examples_section(first, dataset, labels),
        classes_section(first, labels),
        details(
            {
                "Kinds of errors": kinds_html(results["openset_metrics"], first),
                "All columns by class": all_of_classes(first, labels),
                "All numbers, six digits": all_numbers(results, names),
                "Options and versions": facts_html(
                    {**options_and_versions(options), "signature": str(results["signature"])}
                ),
            }
        ),
    ]
    shown = [section for section in sections if section.body]
    text = report_html(
        "Open-set detection",
        "openworld-metrics detect",
        _facts(dataset, options["known_classes"], names[: len(both)], data)
        + ([] if any(error.says_unknown for error in errors.values()) else [_CLOSED_SET]),
        headline_html(detections, results, names, options),
        shown,
    )
    page.parent.mkdir(parents=True, exist_ok=True)
    write_file(page, text)
    return page


def _facts(dataset: Dataset, known_classes: Sequence[int], names: Sequence[str], data: str) -> list[str]:
    """Lines on the evaluated data."""
    counted = [label for boxes in dataset.references for label in boxes["labels"][boxes["ignored"] == 0].tolist()]
    known, classes = sum(label in known_classes for label in counted), len(set(known_classes))
    return [
        *([f"data: {data}"] if data else []),
        " compared with ".join(names),
        f"{len(dataset.names):,} images",
        f"{len(counted):,} objects: {known:,} of {classes} known classes, {len(counted) - known:,} unknown",
    ]
