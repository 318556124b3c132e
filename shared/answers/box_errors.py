"""Errors of boxes, matched as the metric matches them, and the images with the most of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from ..detection.boxes import DetectionState
from ..detection.errors import FALSE_POSITIVES, FATES, MISSED, NEARBY
from ..detection.openset_detection import OpenSetDetection
from ..detection.outcomes import IS_RIGHT
from ..extras import extra
from ..reading.boxes.dataset import class_words
from ..reading.boxes.reading import BoxReading
from .answer import SIDE, Box, Image, Key, Pictures
from .subject import Computed, once

FOUND = "found"
_KINDS = (*FALSE_POSITIVES, FOUND)
_FOUND = [place for place, (_, fate) in enumerate(FATES) if fate == FOUND]
KINDS: Mapping[str, str] = {  # of boxes in a picture by their role: captions, legends and filters use the same words
    "unknown": "unknown called known",
    "rejected": "known called unknown",
    "wrong": "wrong class",
    "misplaced": "badly placed",
    "duplicate": "duplicate",
    "nothing": "nothing there",
    MISSED: "missed",
    "unboxed": "without a box of its own",
    "right": "right",
    "object": "object of a badly placed box",
}
_ROLES = {  # of a prediction by its kind; all other kinds are badly placed or lie on nothing
    FOUND: "right",
    "known called another known": "wrong",
    "known called unknown": "rejected",
    "unknown called known": "unknown",
    "duplicate": "duplicate",
}
_BELOW = {"right": 1, "nothing": 2}  # the errors on objects
MOST_BOXES = 60  # of an image
_LEAST = 16_000  # characters that a picture may have, however many there are: some 250 pixels a side


class BoxErrors:
    """Fates of all objects and errors of all predictions, matched as the metric matches them.

    fates: the number of objects with each of `FATES`
    kinds: the number of predictions with each of `FALSE_POSITIVES`
    confused: the number of unknown objects of one class (first) that were called a known class (second)
    by_class: the table by class, with fates
    errors: (N,) in each image, the false positives, the missed objects, and all others that no box is about

    Parameters: state and options of the metric; names of classes by id.
    Raises ValueError for an iou_threshold below 1/10, at which no box is badly placed.
    """

    def __init__(self, state: DetectionState, options: Mapping[str, Any], names: Mapping[int, str] = {}) -> None:
        without: dict[str, Any] = {"conf_list": None, "recall_level": None, "confidence_level": None}
        prepared = OpenSetDetection(**{**options, **without, "recall_budgets": (), "errors": True}).prepare(state)
        errors, outcomes = prepared.matched.errors, prepared.matched.outcomes
        assert errors is not None
        self._errors, self._outcomes, self._references = errors, outcomes, state["references"]
        self._names = class_words(names, outcomes.boxes.unknown_id)
        # the original boxes: with plus_one, the boxes of `outcomes` are larger
        confident = state["predictions"][:, 4] >= outcomes.boxes.rules.conf_threshold
        self._corners = state["predictions"][confident, :4]
        self._kinds = np.where(IS_RIGHT[outcomes.outcome], _KINDS.index(FOUND), errors.kinds)  # −1: it counts nowhere
        counts = outcomes.boxes.counts
        self.fates = {fate: int(counts @ errors.by_image["{} objects {}".format(*fate)]) for fate in FATES}
        self.kinds = {kind: int(counts @ errors.by_image[f"FP {kind}"]) for kind in FALSE_POSITIVES}
        self.by_class = {**prepared.matched.table_by_class(), **errors.table_by_class()}
        has_box = np.isin(errors.fates, _FOUND)
        has_box[errors.about[errors.about >= 0]] = True
        self._lost = ~has_box & (errors.fates >= 0)  # objects that are drawn themselves
        images = [outcomes.boxes.image[errors.kinds >= 0], outcomes.boxes.object_image[self._lost]]
        self.errors = np.bincount(np.concatenate(images), minlength=len(counts))
        rows = np.flatnonzero(errors.fates == FATES.index(("unknown", "called known")))
        pairs = zip(self._references[rows, 4].tolist(), errors.called[rows].tolist())
        self.confused = Counter((int(label), outcomes.boxes.classes[called]) for label, called in pairs)

    def name(self, label: float) -> str:
        """The name of a class, or its id."""
        return self._names.get(int(label), f"{label:g}")

    def worst(self, number: int) -> list[int]:
        """The indices of the images with the most errors, the worst first; of equal ones the first."""
        order = np.argsort(-self.errors, kind="stable").tolist()
        return [place for place in order[:number] if self.errors[place]]

    def boxes(self, image: int) -> list[Box]:
        """The boxes of an image: errors on objects, then right boxes, then boxes on nothing, by confidence."""
        boxes = self._outcomes.boxes
        start, end = np.searchsorted(boxes.image, [image, image + 1]).tolist()
        order = start + np.argsort(-boxes.predictions[start:end, 4], kind="stable")
        drawn = [box for row in order.tolist() if self._kinds[row] >= 0 for box in self._prediction(row)]
        start, end = np.searchsorted(boxes.object_image, [image, image + 1]).tolist()
        lost = start + np.flatnonzero(self._lost[start:end])
        return sorted([*drawn, *map(self._object, lost.tolist())], key=lambda box: _BELOW.get(box.role, 0))

    def examples(self) -> list[tuple[str, int, list[Box]]]:
        """The most confident false positive of each kind that occurs, and the largest missed object.

        Returns its kind, the index of its image, and the boxes to draw, for each.
        """
        boxes, examples = self._outcomes.boxes, []
        for place, kind in enumerate(FALSE_POSITIVES):
            rows = np.flatnonzero(self._errors.kinds == place)
            if len(rows):
                row = int(rows[np.argmax(boxes.predictions[rows, 4])])
                examples.append((kind, int(boxes.image[row]), self._prediction(row)))
        missed = np.flatnonzero(self._errors.missed)
        if len(missed):
            sides = self._references[missed, 2:4] - self._references[missed, :2]
            row = int(missed[np.argmax(sides[:, 0] * sides[:, 1])])
            examples.append((MISSED, int(boxes.object_image[row]), [self._object(row)]))
        return examples

    def _prediction(self, row: int) -> list[Box]:
        """A prediction and, if it is poorly localised, the object that it should have matched."""
        kind = _KINDS[self._kinds[row]]
        about = int(self._outcomes.matched[row] if kind == FOUND else self._errors.about[row])
        score, label = self._outcomes.boxes.predictions[row, 4:].tolist()
        true_name = self.name(self._references[about, 4]) if about >= 0 else ""
        outcome = "right" if kind == FOUND else _in_words(kind)
        words = f"called {self.name(label)} ({score:.2f}){true_name and ', is '}{true_name}: {outcome}"
        is_misplaced = kind.startswith(("badly", "both"))
        role = "misplaced" if is_misplaced else _ROLES.get(kind, "nothing")
        box = Box(tuple(self._corners[row].tolist()), words, role, self.name(label), True)
        return (
            [box, Box(tuple(self._references[about, :4].tolist()), true_name, "object", "", False)]
            if is_misplaced
            else [box]
        )

    def _object(self, row: int) -> Box:
        """An object that no box is about: missed, or overlapped by boxes about other objects alone."""
        *corners, label = self._references[row, :5].tolist()
        role, short = (MISSED, MISSED) if self._errors.missed[row] else ("unboxed", "no box of its own")
        return Box(tuple(corners), f"{self.name(label)}: {KINDS[role]}", role, f"{self.name(label)}, {short}", False)


def keys_of(boxes: Iterable[Box]) -> list[Key]:
    """The legend of boxes: how many there are of each of `KINDS`, but of objects of badly placed boxes."""
    counts = Counter(box.role for box in boxes)
    return [Key(words, role, counts[role] * (role != "object")) for role, words in KINDS.items() if counts[role]]


def caption_of(keys: Sequence[Key]) -> str:
    """The errors of a legend in words.

    >>> caption_of([Key("wrong class", "wrong", 1), Key("missed", "missed", 2), Key("right", "right", 5)])
    '1 wrong class, 2 missed'
    """
    return ", ".join(f"{key.number:,} {key.words}" for key in keys if key.is_error)


def _in_words(kind: str) -> str:
    """A kind of false positive, for a picture."""
    return kind.replace("both, ", "badly placed, ").replace("background ", "nothing there, ")


@once
def errors_of(computed: Computed) -> BoxErrors | None:
    """The errors of a computation; None where an iou_threshold below 1/10 leaves none to tell."""
    state: Any = computed.state
    is_told = computed.options["iou_threshold"] >= NEARBY
    return BoxErrors(state, computed.options, computed.reading.classes) if is_told else None


def images(computed: Computed, number: int = 48) -> Pictures:
    """At most `number` images with the most errors, the worst first, each with its boxes and photograph, if any."""
    errors = errors_of(computed)
    if errors is None or "counts" in computed.state:
        return Pictures([])
    draw = drawing(computed)

    def one(row: int, shown: int, side: int) -> Image:
        return draw(row, errors.boxes(row), "", shown, side)

    return Pictures([partial(one, row) for row in errors.worst(number)])


def drawing(computed: Computed) -> Callable[..., Image]:
    """A function that draws boxes on an image, by its index, with a note, or "" for its errors in words.

    Its last parameters are the number of pictures that are shown, which share `MOST_CHARACTERS`, and the longest side.
    """
    reading = computed.reading
    paths = next(iter(reading.detections.values())).dataset.paths if isinstance(reading, BoxReading) else []

    @cache
    def reader() -> Any:
        with extra("cli"):
            from .pictures import photographs_of
        return photographs_of(computed, paths, len(computed.state["num_references"]))

    sides = computed.state["predictions"], computed.state["references"]
    are_shares = max(side[:, :4].max(initial=0) for side in sides) <= 1.5  # of the image, as in YOLO

    def draw(row: int, every: Sequence[Box], note: str, shown: int, side: int = SIDE) -> Image:
        with extra("cli"):
            from .pictures import MOST_CHARACTERS, THUMBNAIL, data_url
        most = max(_LEAST, MOST_CHARACTERS // max(1, shown))
        picture, photo, boxes = reader()(row), None, every[:MOST_BOXES]
        # the picture is scaled to the size that the data set says, in which boxes lie
        size: tuple[float, float] | None = reading.sizes[row] if reading.sizes else None
        if picture is not None:
            photo, size = picture[0], size or picture[1]
        if are_shares:
            across, down = size = size or (1.0, 1.0)
            boxes = [replace(box, corners=_scaled(box.corners, across, down)) for box in boxes]
        size = size or _reach(every)
        name, keys = reading.images[row] if reading.images else str(row), keys_of(every)
        note = note or caption_of(keys)
        omitted = f"; {len(boxes):,} of {len(every):,} boxes are drawn" if len(boxes) < len(every) else ""
        source = "" if photo is None else data_url(photo, most, side=side)
        thumbnail = "" if photo is None else data_url(photo, side=THUMBNAIL, quality=72)
        return Image(name, size, source, boxes, note + omitted, thumbnail, f"{name}: {note}", keys)

    return draw


def _scaled(corners: Sequence[float], across: float, down: float) -> tuple[float, float, float, float]:
    x1, y1, x2, y2 = corners
    return x1 * across, y1 * down, x2 * across, y2 * down


def _reach(boxes: Iterable[Box]) -> tuple[float, float]:
    """The size of an image that holds all boxes, with a margin."""
    width, height = (1.03 * max([1.0, *(box.corners[end] for box in boxes)]) for end in (2, 3))
    return width, height
