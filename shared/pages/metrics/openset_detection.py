"""The page of openset_detection: the boxes of one image by outcome, what became of all objects, and the sweep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...detection.closed_set import closed_set_note, closed_set_summary
from ...detection.openset_detection import OpenSetDetection
from ...detection.words import CALLED_UNKNOWN, MISSED, UNKNOWN_CALLED_KNOWN, WRONG_CLASS
from ...reading.boxes.dataset import with_names_in_tables
from ...reading.boxes.reading import guessed_options
from ...reading.places import Size
from .. import credits
from ..figures.boxes import OBJECTS, OF_OBJECTS, SAID, STYLES, DrawnBoxes, boxes_to_draw, draw_boxes, draw_confusion
from ..figures.computed import Computed
from ..figures.fates import FATE, draw_fates, fates_by_image
from ..figures.ranked import UNKNOWN_QUESTION, Listed, images_by_count
from ..figures.sweep import draw_sweep, sweep_boxes
from ..figures.thumbnails import Thumbnail, box_picture
from ..page import CONFIDENCE, Classes, Derived, Example, Option, Page, Sample, Source
from ..serving.costs import Cost, items
from ..serving.limits import MAX_IMAGES


def _draw(computed: Computed) -> Sequence[Any]:
    drawn = boxes_to_draw(computed.state, computed.options)
    return [draw_boxes(drawn, computed), draw_confusion(drawn), draw_fates(computed), draw_sweep(computed)]


def _draw_image(computed: Computed) -> Any:
    """Draw the boxes of one image, matched without those of other images."""
    state: Any = computed.state
    image = computed.image
    ends = [np.concatenate([[0], np.cumsum(state[f"num_{side}"])]) for side in ("predictions", "references")]
    predicted, true = (slice(int(end[image]), int(end[image + 1])) for end in ends)
    one: Any = {
        **state,
        **{name: state[name][image : image + 1] for name in ("num_predictions", "num_references")},
        **{name: state[name][predicted] for name in ("predictions", "prediction_remainders")},
        **{name: state[name][true] for name in ("references", "reference_remainders", "ignored")},
    }
    drawn = boxes_to_draw(one, computed.options)
    return draw_boxes(drawn, computed._replace(image=0))


def _listed(computed: Computed, question: Mapping[str, Any], names: Sequence[str]) -> Listed:
    """The images with objects of a fate, or with boxes of a cell of the confusion."""
    try:
        first, second = question["at"][:2]
        if question["kind"] == FATE:
            counts, words = fates_by_image(computed, second, first), f"{second} objects, {first}"
        else:
            said = boxes_to_draw(computed.state, computed.options).said
            row, column = OBJECTS[first], SAID[second]
            counts = said[:, OBJECTS.index(row), SAID.index(column)].tolist()
            words = f"boxes on no object, called {column}" if row == OBJECTS[2] else f"{row} objects, called {column}"
            words = words.replace("called not found", "not found")
    except (KeyError, TypeError, ValueError, IndexError):
        raise ValueError(UNKNOWN_QUESTION) from None
    return images_by_count(counts, names, words)


def _thumbnails(computed: Computed, count: int) -> list[Thumbnail]:
    """Thumbnails of the images with the most missed or misclassified objects."""
    drawn = boxes_to_draw(computed.state, computed.options)
    wrong = np.isin(drawn.true_outcome, (WRONG_CLASS, CALLED_UNKNOWN, UNKNOWN_CALLED_KNOWN, MISSED))
    errors = np.bincount(drawn.true_image[wrong], minlength=len(computed.state["num_references"]))[:MAX_IMAGES]
    worst = np.argsort(-errors, kind="stable")[:count]
    return [
        Thumbnail(
            image,
            f"{errors[image]} of {np.sum(drawn.true_image == image)} objects wrong",
            _small(drawn, image, computed._replace(image=image).size),
        )
        for image in worst.tolist()
        if errors[image]
    ]


def _small(drawn: DrawnBoxes, image: int, size: Size | None) -> bytes:
    objects = np.flatnonzero((drawn.true_image == image) & np.isin(drawn.true_outcome, OF_OBJECTS))
    predicted = np.flatnonzero(drawn.predicted_image == image)
    boxes = [(drawn.predicted[i, :4].tolist(), STYLES[int(drawn.outcome[i])].color) for i in predicted]
    boxes += [(drawn.true[i, :4].tolist(), STYLES[int(drawn.true_outcome[i])].color) for i in objects]
    reach = np.asarray([corners[2:] for corners, _ in boxes] or [(1.0, 1.0)]).max(axis=0)
    # YOLO's coordinates are fractions of the image
    width, height = (1.0, 1.0) if reach.max() <= 1.5 else 1.03 * reach if size is None else size
    return box_picture(boxes, float(width), float(height))


MAX_PAIRS = 4_000_000  # a pair of overlapping boxes takes some 180 bytes and 1 µs, and is matched three times
MAX_CLASSES = 10_000


def _costs(state: Mapping[str, Any], options: Mapping[str, Any]) -> Iterator[Cost]:
    pairs = int(np.sum(state["num_predictions"] * state["num_references"]))
    yield Cost("pairs of a prediction and an object of its image", pairs, MAX_PAIRS)
    classes = len(np.unique(state["predictions"][:, 5])) + items(options["known_classes"])
    yield Cost("known and predicted classes", classes, MAX_CLASSES)


def _derive(columns: Mapping[str, Any], classes: Classes) -> Derived:
    """Guess options from the classes in the last column of the rows of each image."""
    try:
        named, true = (
            {int(row[-1]) for rows in columns[side] for row in np.asarray(rows, dtype=np.float64).tolist()}
            for side in ("predictions", "references")
        )
    except (ValueError, TypeError, LookupError):  # the metric reports the error
        return Derived({}, "")
    return Derived(*guessed_options(named, true, classes))


def _answerable(detectors: Mapping[str, Computed]) -> tuple[Mapping[str, Computed], str]:
    """The detectors, without the results that need a prediction called unknown if none can be."""
    first = next(iter(detectors.values()))
    metric = OpenSetDetection(**first.options)
    unknown = metric.unknown_class_id
    states = [(one.together or one).state for one in detectors.values()]
    labels = (state["predictions"][:, 5] for state in states if state)
    if metric.unknown_below is not None or unknown in first.classes or any((own == unknown).any() for own in labels):
        return detectors, ""

    def without(computed: Computed) -> Computed:
        together = computed.together and without(computed.together)
        return computed._replace(summary=closed_set_summary(computed.summary, metric), together=together)

    note = closed_set_note("unknown_class_id", "unknown_below")
    return {name: without(one) for name, one in detectors.items()}, f"{note[:1].upper()}{note[1:]}."


def _table(rows: Sequence[Sequence[Any]], names: str) -> dict[str, list[Any]]:
    return {name: [row[i] for row in rows] for i, name in enumerate(names.split())}


_PREDICTED, _TRUE = "image x1 y1 x2 y2 confidence class", "image x1 y1 x2 y2 class"

PAGE = Page(
    metric=OpenSetDetection,
    question="Are known objects found, and unknown objects called unknown?",
    options=(
        Option("known_classes", "classes"),
        Option("unknown_class_id", "number"),
        Option("iou_threshold", "fraction"),
        Option("conf_threshold", "fraction"),
        Option("box_format", "choice", ("xyxy", "xywh", "cxcywh")),
        Option("count_background", "flag"),
        Option("protocol", "choice", ("ow-dln", "owod")),
        Option("matching", "choice or none", ("iou", "confidence")),
        Option("recall_level", "number or none"),
        Option("previously_known", "classes"),
        Option("plus_one", "flag"),
        Option("unknown_below", "number or none"),
        Option("average_precision", "choice", ("all", "11-point")),
        Option("per_class", "flag"),
        Option("per_image", "flag"),
        Option("errors", "flag"),
        Option("recall_budgets", "numbers"),
        Option("budget", "choice", ("unknown", "all", "called unknown")),
        Option("conf_list", "numbers"),
        CONFIDENCE,
    ),
    examples=(
        Example(
            "Two images with errors",
            (
                _table(
                    [
                        (1, 10, 12, 50, 55, 0.92, 0),
                        (1, 62, 60, 100, 98, 0.81, 999),
                        (1, 108, 112, 150, 148, 0.74, 2),
                        (1, 20, 100, 55, 135, 0.45, 999),
                        (2, 12, 20, 60, 80, 0.88, 999),
                        (2, 80, 22, 130, 70, 0.67, 1),
                        (2, 85, 90, 140, 140, 0.59, 0),
                    ],
                    _PREDICTED,
                ),
                _table(
                    [
                        (1, 10, 10, 50, 50, 0),
                        (1, 60, 60, 100, 100, 5),
                        (1, 110, 110, 150, 150, 1),
                        (2, 10, 20, 60, 80, 1),
                        (2, 80, 20, 130, 70, 1),
                        (2, 85, 90, 140, 140, 7),
                        (2, 10, 100, 50, 140, 2),
                    ],
                    _TRUE,
                ),
            ),
            {"known_classes": (0, 1, 2), "unknown_class_id": 999},
        ),
        Example(
            "Three boxes, all correct",
            (
                _table(
                    [
                        (1, 10, 10, 50, 50, 0.9, 0),
                        (1, 60, 60, 100, 100, 0.8, 999),
                        (1, 110, 110, 150, 150, 0.7, 1),
                    ],
                    _PREDICTED,
                ),
                _table([(1, 10, 10, 50, 50, 0), (1, 60, 60, 100, 100, 5), (1, 110, 110, 150, 150, 1)], _TRUE),
            ),
            {"known_classes": (0, 1, 2), "unknown_class_id": 999},
        ),
    ),
    pictures=(
        "Boxes by outcome",
        "What objects were called",
        "What became of the objects",
        "Over the confidence threshold",
    ),
    draw=_draw,
    draw_image=_draw_image,
    thumbnails=_thumbnails,
    listed=_listed,
    slider_below=3,
    sweep=sweep_boxes,
    headline=r"U-Recall|WI|A-OSE",
    sections={
        "Rates": r"(U-|m)?(AP|AR@|Recall|Precision|A-OSE|WI).*",
        "Errors": r"(Δ|fate\().*",
        "Counts": r"(TP|FP|FN|total)_.*",
    },
    sources=(
        Source("Predictions", kinds=(".txt", ".zip")),
        Source("References", kinds=(".txt", ".zip", ".xml", ".yaml", ".yml")),
    ),
    images=True,
    costs=_costs,
    samples=(
        Sample(
            "Pasted digits, 6 to 9 unknown",
            ("predictions.zip", "references.zip"),
            credits.PASTED_DIGITS,
            {"known_classes": (0, 1, 2, 3, 4, 5), "unknown_class_id": 999},
            "photographs.zip",
        ),
    ),
    derive=_derive,
    reader_choices=lambda chosen: {"groups": True},
    derived=("known_classes", "unknown_class_id"),
    answerable=_answerable,
    named=lambda computed: with_names_in_tables(computed.results, computed, computed.options),
)
