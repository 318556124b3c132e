"""The report of detections: numbers, fates of objects, and the images with the most errors. Needs Pillow."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ...answers import detection as answer
from ...answers.answer import Answer, Table
from ...answers.answers import answers_from
from ...answers.box_errors import BoxErrors, drawing, errors_of, images as worst_images
from ...answers.folders import Detectors, compute_detections
from ...answers.subject import Computed, subject_of
from ...detection.errors import KEYS_OF_TABLES, NEARBY
from ...detection.no_objects import no_objects_notes
from ...metric.results import Results
from ...reading.boxes.classes import CLOSED_SET, class_options, says_unknown
from ...reading.boxes.dataset import Dataset, Detections, objects_of
from ...reading.boxes.reading import reading_of
from ...reading.cures import Face, cures_of, in_python, spelled
from ...reading.progress import progress_bar
from ...written.files import write_file
from .. import html
from . import frame
from .answer import capital, images_section, report_html
from .frame import Section, Tile

_GAINS = (
    "A gain is the effect of correcting one kind alone; gains do not add up. Badly placed or misnamed boxes become"
    " right, other false positives are removed, and missed objects no longer count."
)
_MISNAMED = ("called another known", "called unknown", "called known")


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
    detectors: Detectors | None = None,
    face: Face = in_python,
    **options: Any,
) -> Path:
    """Write a report of one HTML file, which holds its pictures.

    detections; results of `evaluate_detections`, with "comparison" for the comparison with another detector
    folder: created if missing; known_classes, ids
    other: the other detector's detections; names of the detectors; data, a description of the data
    images: the largest number of images to draw, those with the most errors
    progress: whether to show a bar on a terminal; detectors, of `compute_detections`, by default computed here
    face: how cures of notes are spelled
    options of the metric

    Returns the path of the page, index.html. Raises ValueError for an iou_threshold below 1/10, below which no box is
    badly placed, and OSError for a folder that cannot be created or written to, where an earlier report then stays.
    """
    dataset, page = detections.dataset, Path(folder) / "index.html"
    both = dict(zip(names, filter(None, (detections, other))))
    options = class_options({**options, "known_classes": list(known_classes)}, *both.values())
    says = any(says_unknown(one, options) for one in both.values())
    if detectors is None:
        detectors = compute_detections(reading_of(both), options, intervals=True if other is not None else None)
    plain = results["openset_metrics"]
    first, *rivals = detectors.done.models.values()
    rates = {key: result for key, result in first.summary.results.items() if key not in ("per_class", "per_image")}
    summary = first.summary._replace(results=rates)
    computed = replace(first, summary=summary, rivals={one.model: one for one in rivals})
    errors = errors_of(computed)
    if errors is None:
        raise ValueError(f"iou_threshold: expected at least {NEARBY}, got {options['iou_threshold']}")
    tables = {table.title: table for table in answer.tables(computed)}
    sections = [
        _fates_section(computed, errors),
        _decisions_section(errors, says),
        _images_section(computed, errors, images, progress),
        _examples_section(computed, errors),
        _classes_section(errors, says),
    ]
    folds = {
        "Kinds of errors": [html.table(tables["Kinds of errors"]), frame.text(_GAINS if "errors" in plain else "")],
        "All columns by class": [html.table(tables["Classes"])],
        "Options and versions": [frame.facts(_options(options))],
    }
    lines = _lines(dataset, options["known_classes"], names[: len(both)], data)
    lines += [] if says else [spelled(CLOSED_SET, face)]
    lines += no_objects_notes(*objects_of(dataset), options["known_classes"], dataset.classes)
    shown = _answer(detectors, results)
    page.parent.mkdir(parents=True, exist_ok=True)
    titled: dict[str, Any] = {"title": "Open-set detection", "command": "openworld-metrics detect", "lines": lines}
    write_file(page, report_html(shown, face=face, sections=sections, folds=folds, **titled))
    return page


def _lines(dataset: Dataset, known_classes: Sequence[int], names: Sequence[str], data: str) -> list[str]:
    labels, ignored = objects_of(dataset)
    counted, classes = labels[~ignored], len(set(known_classes))
    known = np.count_nonzero(np.isin(counted, known_classes))
    return [
        *([f"data: {data}"] if data else []),
        " compared with ".join(names),
        f"{len(dataset.names):,} images",
        f"{len(counted):,} objects: {known:,} of {classes} known classes, {len(counted) - known:,} unknown",
    ]


def _answer(detectors: Detectors, results: Results) -> Answer:
    """The answer of the first detector, with COCO's numbers of the known classes."""
    subject, done = subject_of("openset_detection"), detectors.done
    averages = [each.get("standard_metrics", {}) for each in (results, results.get("other", {}))]
    answers = answers_from(subject, done, detectors.settings, beside=dict(zip(detectors, averages)))
    shown = answers[next(iter(detectors))]
    number, level = detectors.settings["n_resamples"], done.level
    sentences = [f"Intervals are of {100 * level:g} %, from {number:,} resamples of the images."] if level else []
    rows = [replace(row, higher=None) if row.key in KEYS_OF_TABLES else row for row in shown.differences]
    notes = [note for note in shown.notes if cures_of(note) != CLOSED_SET.cures]  # which stands above
    return replace(shown, differences=rows, notes=[*notes, *sentences])


def ends_of(results: Mapping[str, Any], key: str) -> tuple[float, float] | None:
    """The interval of a number of results; None without one."""
    return (results[f"{key}_low"], results[f"{key}_high"]) if results.get(f"{key}_low") is not None else None


def _fates_section(computed: Computed, errors: BoxErrors) -> Section:
    """Bars of the fates of known and unknown objects, and the known classes that unknown objects were called."""
    drawn = answer.fates(computed)
    cards = [frame.chart(drawn, note=""), *map(frame.chart, answer.confusions(errors))]
    lead = capital(f"{drawn.note}.")
    return Section("Errors", "Errors", [frame.grid(*cards, columns=len(cards))], lead)


def _decisions_section(errors: BoxErrors, says: bool) -> Section:
    lead = "Each object once, by what it was called. Framed cells are right; badly placed boxes may be misnamed, too."
    drawn = frame.chart(answer.called(errors, says), note="")
    return Section("Decisions", "Decisions", [frame.grid(drawn, columns=1)], lead)


def _images_section(computed: Computed, errors: BoxErrors, number: int, progress: bool) -> Section:
    """The images with the most errors, the worst first, with filters by kind of error."""
    shown = progress_bar(worst_images(computed, number), unit=" pictures", shown=progress)
    shown = [*shown]
    if not shown:
        return Section("Images", "Images", [frame.text("No image has an error.")])
    counts = (int(errors.errors[row]) for row in errors.worst(number))
    titles = [f"{image.name} · {count} {'error' if count == 1 else 'errors'}" for image, count in zip(shown, counts)]
    fine = int((errors.errors == 0).sum())
    lead = f"The {len(shown)} worst of {len(errors.errors):,}, most errors first"
    lead += f"; {fine:,} without an error." if fine else "."
    titled = [replace(image, name=title) for image, title in zip(shown, titles)]
    return images_section(titled, lead=lead)


def _examples_section(computed: Computed, errors: BoxErrors) -> Section:
    examples = errors.examples()
    draw = drawing(computed)
    drawn = [draw(row, boxes, kind, len(examples)) for kind, row, boxes in examples]
    shown = [Tile(image.said, [image.name], [image]) for image in drawn]
    lead = "The most confident false positive of each kind, and the largest missed object."
    return Section("Examples", "One error of each kind", [frame.tiles(shown)] if shown else [], lead)


def _classes_section(errors: BoxErrors, says: bool) -> Section:
    """The section by class, with bars of recall and precision; the details have all columns."""
    table = answer.by_class(errors, says)
    columns: dict[str, list[Any]] = {
        "class": [*map(errors.name, table["class"])],
        "objects": table["objects"],
        "recall": table["Recall"],
        "precision": table["Precision"],
        **({"AP": table["AP"]} if "AP" in table else {}),
        "called another class": [sum(row) for row in zip(*(table[fate] for fate in _MISNAMED if fate in table))],
        "badly placed": [sum(row) for row in zip(table["badly placed"], table["both"])],
        "missed": table["missed"],
        "false boxes": table["FP"],
        "unknown called it": table["unknown objects called it"],
    }
    drawn = html.table(Table("By class", columns), meters=("recall", "precision", "AP"))
    return Section("Classes", "By class", [drawn])


def _options(options: Mapping[str, Any]) -> dict[str, Any]:
    versions = {"openworld-metrics": version("openworld-metrics"), "numpy": np.__version__}
    return {**options, **versions, "Python": platform.python_version()}
