"""Which classes of boxes are known, and which is unknown, by options and by names."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...arrays.box_objects import UNKNOWN_CLASS_ID
from ..cures import ANY, Advice, CurableError, Cure, sentence_of
from ..reasons import some, with_text
from ..sides import means_unknown
from ..tables.files import whole
from .dataset import Detections, class_ids, labels_of, one_id_each, unknown_id

NAMED = ("known_classes", "previously_known")  # options whose classes may be named


def with_class_ids(options: Mapping[str, Any], classes: Mapping[int, str]) -> dict[str, Any]:
    """Options with ids in place of names of classes; a class alone is a list of one.

    Raises ValueError with the name of the option, and otherwise as `class_ids`.

    >>> with_class_ids({"known_classes": ["dog", 0], "previously_known": "cat"}, {0: "cat", 4: "dog"})
    {'known_classes': (4, 0), 'previously_known': (0,)}
    """
    ids = {}
    for name in NAMED:
        if options.get(name) is not None:
            words = [options[name]] if isinstance(options[name], (str, int, float)) else options[name]
            try:
                ids[name] = (*class_ids([*map(str, words)], classes),)
            except ValueError as error:
                raise with_text(error, f"{name}: {sentence_of(error)}") from None
    return {**options, **ids}


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
    unknown = min(new, default=stated)
    if unknown is None:
        unknown = unknown_id(classes, predicted_classes(*detections))
    first = one_id_each(classes)
    named = [name for name in ("known_classes", "previously_known") if first and options.get(name) is not None]
    ids = {name: [*dict.fromkeys(first.get(i, i) for i in options[name])] for name in named}
    options = {**options, "unknown_class_id": unknown, **ids}
    if stated is None and unknown in classes and unknown in (options.get("known_classes") or ()):
        raise CurableError(
            f"known_classes: expected them without class {unknown}, since its name, {classes[unknown]!r}, means "
            "unknown",
            Cure("if it is a known class", {"unknown_class_id": UNKNOWN_CLASS_ID}),
        )
    return options


def guessed_classes(
    predicted: Collection[int],
    true: Collection[int],
    classes: Mapping[int, str],
    unknown_class_id: int | None = None,
) -> tuple[dict[str, Any], Sequence[str]]:
    """Guess the known classes, which are the predicted ones, and the class id by which predictions say "unknown".

    It is `unknown_class_id`, if stated, or else a predicted id as of `unknown_id`, or one that is neither a class nor
    annotated. Returns the options, and a sentence on each that gives the reason; nothing where nothing is predicted.

    >>> guessed_classes({0, 999}, {0, 5}, {})[0]
    {'known_classes': (0,), 'unknown_class_id': 999}
    """
    if not predicted:
        return {}, []
    by_name = [label for label, name in classes.items() if means_unknown(name)]
    usual = unknown_id(classes, predicted) if unknown_class_id is None else unknown_class_id
    others = {*predicted} - {*true, *classes}
    alone = sorted((label for label in others if label < 0 or label > max(true, default=-1)), key=abs)
    unknown = [usual] if usual in predicted or unknown_class_id is not None else [*alone[-1:], *by_name][:1]
    known = tuple(sorted({*predicted} - {*unknown, *by_name}))
    of = some([classes.get(label, str(label)) for label in known])
    text = f"Guessed: known classes {of} (predicted by the detector)"
    guesses = [Advice(text, Cure("if it was trained on others", {"known_classes": ANY}))]
    if unknown and unknown_class_id is None:
        why = "the usual one" if unknown[0] in true else "predicted, never annotated"
        why = f"called {classes[unknown[0]]}" if unknown[0] in by_name else why
        cure = Cure("if the detector says unknown by another", {"unknown_class_id": ANY})
        guesses.append(Advice(f"Guessed: unknown id {unknown[0]} ({why})", cure))
    return {"known_classes": known, **({"unknown_class_id": unknown[0]} if unknown else {})}, guesses


def classes_of_columns(models: Mapping[str, Mapping[str, Any]]) -> tuple[dict[str, Any], Sequence[str]]:
    """As `guessed_classes`, of the columns of each model; nothing of boxes that the metric refuses."""
    try:
        sides = ("predictions", "references")
        predicted, true = ({label for each in models.values() for label in _labels(each[side])} for side in sides)
    except (ValueError, TypeError, LookupError):  # which the metric reports
        return {}, []
    return guessed_classes(predicted, true, {})


def _labels(images: Any) -> Iterator[int]:
    for rows in whole(images):
        if isinstance(rows, Mapping):
            yield from np.asarray(rows["labels"]).tolist()
        else:
            yield from (int(row[-1]) for row in np.asarray(rows, dtype=np.float64).tolist())


def says_unknown(detections: Detections, options: Mapping[str, Any]) -> bool:
    """Whether a detector can say unknown: by a prediction, a low confidence, or a class that is stated to be unknown.

    A class that is only called so is not enough, since the labels may have it, and not the detector.
    """
    unknown = options["unknown_class_id"]
    is_stated = detections.unknown_class_id is not None or is_another_class(unknown, detections.dataset.classes)
    return options.get("unknown_below") is not None or is_stated or unknown in predicted_classes(detections)


def is_another_class(unknown: int, classes: Mapping[int, str]) -> bool:
    """Whether an id for unknown is of a class with another name, so that somebody has chosen it.

    >>> is_another_class(7, {7: "yak"}), is_another_class(7, {7: "unknown"}), is_another_class(7, {})
    (True, False, False)
    """
    return unknown in classes and not means_unknown(classes[unknown])


# why results are left out, and the two options that would bring them
CLOSED_SET = Advice(
    "no prediction is unknown: U-Recall and other numbers that need it are left out",
    Cure("if the detector has an unknown class", {"unknown_class_id": ANY}),
    Cure("to take predictions with a lower confidence for unknown", {"unknown_below": ANY}),
)


def predicted_classes(*detections: Detections) -> set[int]:
    """The class ids that occur among the predictions of one detector or of several."""
    return labels_of(boxes for one in detections for boxes in one.predictions)
