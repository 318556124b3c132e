"""The report of detections: numbers, what became of the objects, and the images with the most errors. Needs Pillow."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ...answers import detection as answer
from ...answers.answer import Number
from ...answers.box_errors import BoxErrors, drawing, errors_of, images as worst_images
from ...answers.subject import Computed
from ...detection.closed_set import closed_set_note
from ...detection.errors import KEYS_OF_TABLES, NEARBY
from ...metric.results import Results
from ...reading.boxes.dataset import Dataset, Detections
from ...suites.detection import class_options, openset_summary, says_unknown
from ...written.files import write_file
from ...written.results import KINDS
from ..terminal import differences_of
from . import frame
from .answer import capital, images_section, table_of
from .frame import Block, Section, Tile
from .pictures import picture_of

_CLOSED_SET = closed_set_note("--unknown-id", "--unknown-below")
_HEADLINES = (
    {
        "U-Recall": "of the unknown objects were found and called unknown",
        "U-AP": "average precision of the predictions called unknown",
        "mAP": "mean average precision of the known classes",
    },
    {
        "U-Recall": "of the unknown objects were found and called unknown",
        "WI": "known objects called unknown, for each known object",
        "A-OSE": "errors of any kind, for each object",
    },
)
# what intervals may take to come by themselves, about a second: images, or with average precisions predictions, where
# a class takes as long as 900
_SURE, _CLASS = 20_000, 900
_HINT = "Intervals of so many boxes take a while: add them with --confidence-level 0.95."
_TABLES = ("per_class", "per_image", "errors")
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
    **options: Any,
) -> Path:
    """Write a report of one HTML file, which holds its pictures.

    detections; results of `evaluate_detections`, with "comparison" for the comparison with another detector
    folder: created if missing; known_classes, ids
    other: the other detector's detections; names of the detectors; data, a description of the data
    images: the largest number of images to draw, those with the most errors
    progress: whether to show a bar on a terminal; options of the metric

    Returns the path of the page, index.html. Raises ValueError for an iou_threshold below 1/10, below which no box is
    badly placed, and OSError for a folder that cannot be created or written to, where an earlier report then stays.
    """
    dataset, page = detections.dataset, Path(folder) / "index.html"
    both = dict(zip(names, filter(None, (detections, other))))
    options = class_options({**options, "known_classes": list(known_classes)}, *both.values())
    says = says_unknown(detections, options)
    plain = {key: value for key, value in results["openset_metrics"].items() if key not in ("per_class", "per_image")}
    computed = answer.computed_of(both, options, plain)
    errors = errors_of(computed)
    if errors is None:
        raise ValueError(f"iou_threshold: expected at least {NEARBY}, got {options['iou_threshold']}")
    tables = {table.title: table for table in answer.tables(computed)}
    gains = [frame.text(_GAINS)] if "errors" in plain else []
    sections = [
        _fates_section(computed, errors),
        _decisions_section(errors, says),
        _images_section(computed, errors, images, progress),
        _examples_section(computed, errors),
        _classes_section(errors, says),
        frame.details(
            {
                "Kinds of errors": [table_of(tables["Kinds of errors"], {}), *gains],
                "All columns by class": [table_of(tables["Classes"], {})],
                "All numbers, six digits": [
                    numbers_table(
                        _numbers(results), _numbers(results.get("other", {})), names, results.get("comparison", {})
                    )
                ],
                "Options and versions": [frame.facts({**_options(options), "signature": str(results["signature"])})],
            }
        ),
    ]
    lines = _lines(dataset, options["known_classes"], names[: len(both)], data)
    lines += [] if any(says_unknown(one, options) for one in both.values()) else [_CLOSED_SET]
    head = _headline(detections, results, names, options)
    html = frame.page_html("Open-set detection", "openworld-metrics detect", lines, head, sections)
    page.parent.mkdir(parents=True, exist_ok=True)
    write_file(page, html)
    return page


def _lines(dataset: Dataset, known_classes: Sequence[int], names: Sequence[str], data: str) -> list[str]:
    """Lines on the evaluated data."""
    counted = [label for boxes in dataset.references for label in boxes["labels"][boxes["ignored"] == 0].tolist()]
    known, classes = sum(label in known_classes for label in counted), len(set(known_classes))
    return [
        *([f"data: {data}"] if data else []),
        " compared with ".join(names),
        f"{len(dataset.names):,} images",
        f"{len(counted):,} objects: {known:,} of {classes} known classes, {len(counted) - known:,} unknown",
    ]


def _headline(detections: Detections, results: Results, names: Sequence[str], options: Mapping[str, Any]) -> Block:
    """Three numbers with intervals, which are computed if results lack them, and the comparison."""
    openset, kinds = results["openset_metrics"], results.get(KINDS, {})
    words = {key: meaning for key, meaning in _HEADLINES["mAP" not in openset].items() if key in openset}
    if not words:
        return frame.headline([])
    wanting = f"{next(iter(words))}_low" not in openset
    hint = _HINT if wanting else ""
    if wanting and _is_small(detections, options):
        hint = "Intervals are of 95 %, from 1,000 resamples of the images."
        plain = {name: value for name, value in options.items() if name not in _TABLES}
        plain |= {"confidence_level": 0.95, "conf_list": None, "recall_level": None, "recall_budgets": ()}
        openset = openset_summary(detections, **plain).as_dict() | openset

    def higher(key: str) -> bool | None:
        way: bool | None = kinds.get(key, {}).get("higher")
        return way

    numbers = [
        Number(key, openset[key], ends_of(openset, key), higher(key), meaning=meaning) for key, meaning in words.items()
    ]
    rows, _ = differences_of(results.get("comparison", {}), names, kinds)
    rows = [replace(row, higher=None) if row.key in KEYS_OF_TABLES else row for row in rows]
    return frame.headline(numbers, names if rows else (), rows, hint=hint)


def _is_small(detections: Detections, options: Mapping[str, Any]) -> bool:
    if options.get("protocol") != "owod":
        return len(detections.predictions) <= _SURE
    predictions = sum(len(boxes["labels"]) for boxes in detections.predictions)
    return predictions + _CLASS * len(options["known_classes"]) <= _SURE


def ends_of(results: Mapping[str, Any], key: str) -> tuple[float, float] | None:
    """The interval of a number of results; None without one."""
    return (results[f"{key}_low"], results[f"{key}_high"]) if results.get(f"{key}_low") is not None else None


def _fates_section(computed: Computed, errors: BoxErrors) -> Section:
    """Bars of what known and unknown objects were called, and the known classes that unknown objects were called."""
    drawn, confused = answer.fates(computed), answer.confusions(errors)
    cards = [frame.card(frame.bars(drawn, unit="objects"))]
    cards += [frame.card(frame.matrix(each), title=each.title, note=f"({each.note})") for each in confused]
    return Section(
        "Errors", "Where the objects went", [frame.grid(*cards, columns=len(cards))], capital(f"{drawn.note}.")
    )


def _decisions_section(errors: BoxErrors, says: bool) -> Section:
    """Counts of objects by decision, and of boxes where nothing is."""
    drawn = frame.matrix(answer.called(errors, says))
    lead = "Each object once, by what it was called. Framed cells are right; badly placed boxes may be misnamed, too."
    return Section("Decisions", "Decisions", [frame.grid(frame.card(drawn), columns=1)], lead)


def _images_section(computed: Computed, errors: BoxErrors, number: int, progress: bool) -> Section:
    """The images with the most errors, the worst first, with filters by kind of error."""
    shown = worst_images(computed, number, progress=progress)
    if not shown:
        return Section("Images", "Images", [frame.text("No image has an error.")])
    counts = (int(errors.errors[row]) for row in errors.worst(number))
    titles = [f"{image.name} · {count} {'error' if count == 1 else 'errors'}" for image, count in zip(shown, counts)]
    fine = int((errors.errors == 0).sum())
    lead = f"The {len(shown)} worst of {len(errors.errors):,}, most errors first"
    lead += f"; {fine:,} without an error." if fine else "."
    titled = [replace(image, name=title) for image, title in zip(shown, titles)]
    return images_section(titled, f"{lead} Press one to enlarge it.")


def _examples_section(computed: Computed, errors: BoxErrors) -> Section:
    """The most confident false positive of each kind, and the largest missed object."""
    examples = errors.examples()
    draw = drawing(computed, len(examples))
    drawn = [draw(row, boxes, kind) for kind, row, boxes in examples]
    shown = [Tile(image.said, [image.name], [picture_of(image)]) for image in drawn]
    lead = "The most confident false positive of each kind, and the largest missed object."
    return Section("Examples", "One error of each kind", [frame.tiles(shown)] if shown else [], lead)


def _classes_section(errors: BoxErrors, says: bool) -> Section:
    """The section by class, with bars of recall and precision; the details have all columns."""
    own = answer.by_class(errors, says)
    columns: dict[str, list[Any]] = {
        "class": [*map(errors.name, own["class"])],
        "objects": own["objects"],
        "recall": own["Recall"],
        "precision": own["Precision"],
        **({"AP": own["AP"]} if "AP" in own else {}),
        "called another class": [sum(row) for row in zip(*(own[fate] for fate in _MISNAMED if fate in own))],
        "badly placed": [sum(row) for row in zip(own["badly placed"], own["both"])],
        "missed": own["missed"],
        "false boxes": own["FP"],
        "unknown called it": own["unknown objects called it"],
    }
    meters, minor = ("recall", "precision", "AP"), ("AP", "badly placed", "missed", "unknown called it")
    return Section("Classes", "By class", [frame.table(columns, "By class", meters=meters, minor=minor)])


def numbers_table(
    values: Mapping[str, Any], others: Mapping[str, Any], names: Sequence[str], comparison: Mapping[str, Any]
) -> Block:
    """Every number of a model, and of another if there is one, with their differences, in six digits.

    values: numbers, or (value, low, high), by key; others, of the other model; comparison, a table of `compare`
    """
    names = frame.names_beside(names, ("key", "difference", "p_value"))
    rows = {row["key"]: row for row in (dict(zip(comparison, row)) for row in zip(*comparison.values()))}
    ends = {key: tuple(row.get(part) for part in ("difference", "low", "high")) for key, row in rows.items()}
    columns: dict[str, list[Any]] = {"key": [*values], names[0]: [*values.values()]}
    if others:
        columns[names[1]] = [others.get(key) for key in values]
    columns["difference"] = [ends.get(key) for key in values]
    columns["p_value"] = [rows.get(key, {}).get("p_value") for key in values]
    shown = {name: column for name, column in columns.items() if any(value is not None for value in column)}
    return frame.table(shown, "All numbers", minor=["p_value"], digits=6)


def _numbers(results: Results) -> dict[str, Any]:
    """The numbers of both parts of the results; with an interval, as (value, low, high)."""
    parts = [results.get(part, {}) for part in ("openset_metrics", "standard_metrics")]
    plain = {key: value for part in parts for key, value in part.items() if isinstance(value, (int, float))}
    ends = {f"{key}_{end}" for key in plain for end in ("low", "high")}
    return {
        key: (value, *ends_of(plain, key)) if ends_of(plain, key) is not None else value  # type: ignore[misc]
        for key, value in plain.items()
        if key not in ends
    }


def _options(options: Mapping[str, Any]) -> dict[str, str]:
    """The chosen options of the metric, and the versions of packages."""
    values = {
        name: " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
        for name, value in options.items()
    }
    versions = {"openworld-metrics": version("openworld-metrics"), "numpy": np.__version__}
    return {**values, **versions, "Python": platform.python_version()}
