"""COCO's JSON: annotations of a data set, and results of a detector.

Boxes are x, y, width, height in pixels. Annotations with iscrowd = 1 are ignored: predictions on them are neither right
nor wrong. Category ids are class ids. Entries are read as columns, about as fast as the JSON is parsed.
"""

from __future__ import annotations

import reprlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from ...arrays.box_objects import UNKNOWN_CLASS_ID
from ..cures import ANY, CurableError, Cure
from ..objects import no_collection
from ..places import IMAGE_SUFFIXES, Size, checked_size, files_below, places_by_end, without_suffix
from ..reading import BESIDE, BOXES, IMAGES, PREDICTED, PREDICTIONS, REPEATED, Census, LeftOut, unused
from .dataset import (
    OF_OTHERS,
    Choices,
    Dataset,
    Detections,
    ids_of_names,
    labels_of,
    others_of,
    places_by_id,
    predicted_boxes,
    split_by_image,
    true_boxes,
)
from .doubts import MATCH, overlaps
from .fields import check_rotation, notes_on_lists

_END_OF_IDS = 2.0**53  # float64 does not hold all integers from here on
_WRONG = (TypeError, LookupError, OverflowError)  # of values of an unexpected type


@no_collection()
def read_coco(path: Path, content: Any, of: Choices) -> Dataset:
    """The annotations of a data set in COCO's format ("instances"), in the order of the file.

    The choice `images` is needed only to draw the images, or if the file has no sizes. Raises ValueError, with the file
    and the index of the entry, for malformed entries, unknown images or categories, and ids that occur twice.
    """
    if not isinstance(content, dict) or not all(isinstance(content.get(k), list) for k in ("images", "categories")):
        raise ValueError(f"{path}: expected an object with images, annotations and categories")
    places = _ids(content["images"], f"{path}: images")
    classes = coco_classes(content["categories"], path)
    entries = content.get("annotations")
    if not isinstance(entries, list):
        raise ValueError(f"{path}: expected a list of annotations, got {type(entries).__name__}")
    table = _Entries(entries, f"{path}: annotations", places)
    for i, entry in enumerate(entries):
        if "attributes" in entry or "rotation" in entry:
            check_rotation("COCO", entry, f"{path}: annotations[{i}]")
    labels = table.integers("category_id")
    if classes:
        table.refuse(~np.isin(labels, list(classes)), "a category of the file", "category_id")
    ignored = table.flags("iscrowd") | table.flags("ignore")
    boxes = table.boxes()
    once = ~_repeated(table, labels, boxes)
    columns = {"boxes": boxes[once], "labels": labels[once], "ignored": ignored[once]}
    parts = split_by_image(columns, table.image[once], len(places))
    files = [str(entry.get("file_name", entry["id"])).replace("\\", "/") for entry in content["images"]]
    folder = None if of.images is None else Path(of.images)
    paths = [None if folder is None else _existing(folder, name) for name in files]
    others = [] if folder is None else others_of(files_below(folder, None), paths)
    pictures = [place for place in others if place.suffix.lower() in IMAGE_SUFFIXES]
    left_out: LeftOut = {
        REPEATED: [f"{path}: annotations[{i}]" for i in np.flatnonzero(~once).tolist()],
        (IMAGES, f"not in {path.name}"): [*map(str, pictures)],
        BESIDE: [str(place) for place in others if place.suffix.lower() not in IMAGE_SUFFIXES],
    }
    return Dataset(
        _names(files, path),
        [true_boxes(**part) for part in parts],
        classes,
        paths,
        [checked_size(*row, path) for row in zip(paths, map(_size, content["images"]))],
        list(places),
        Census({IMAGES: len(files), BOXES: int(np.count_nonzero(once))}, left_out),
        notes=notes_on_lists(content["images"]),
    )


@no_collection()
def read_coco_results(path: Path, content: Any, dataset: Dataset, of: Choices) -> Detections:
    """A detector's results in COCO's format: a JSON list of image_id, category_id, bbox and score.

    An image_id is that of COCO annotations, or else the name of the image file, as a number if it is one. Raises
    ValueError, with the file and the index of the entry, for malformed entries, for unknown images and categories, and
    where every image_id could be either, and one would mean another image.
    """
    table, left_out, notes = _of_images(content, path, dataset, of.leave_out)
    scores, labels = table.numbers(of.score_field or "score"), table.integers("category_id")
    rows = {"boxes": table.boxes(), "scores": scores, "labels": labels}
    boxes = [predicted_boxes(**part) for part in split_by_image(rows, table.image, len(dataset.ids))]
    census = Census({PREDICTIONS: 1, PREDICTED: len(table.image)}, left_out)
    unknown = _new_unknown(path, labels_of(boxes), dataset, of)
    return Detections(dataset, boxes, unknown_class_id=unknown, census=census, notes=notes)


def _new_unknown(path: Path, predicted: set[int], dataset: Dataset, of: Choices) -> int | None:
    """The only predicted id that is no category, where it may be that of unknown. Raises ValueError for others."""
    unknown = UNKNOWN_CLASS_ID if of.unknown_class_id is None else of.unknown_class_id
    classes = dataset.classes
    others = predicted - {*classes, unknown}
    if of.classes is not None or not classes or not others:
        return None
    # ids that count from another number are a common mistake: the last is one more, and the first is missing
    last = max(classes) + (min(classes) not in predicted)
    if of.guesses and of.unknown_class_id is None and len(others) == 1 and not 0 <= min(others) <= last:
        return min(others)
    raise CurableError(
        f"{path}: expected category ids of the references, or {unknown} for unknown, got {min(others)}",
        Cure("if it stands for unknown", {"unknown_class_id": min(others)}),
        Cure("if ids mean other classes", {"names": ANY}),
    )


def _of_images(
    content: list[Any], path: Path, dataset: Dataset, leave_out: bool
) -> tuple[_Entries, LeftOut, Sequence[str]]:
    """The results of a data set's images, by ids or by names of files, the results of other images, and notes."""
    by_id, where = places_by_id(dataset, path), f"{path}: results"
    numbers = ids_of_names(dataset.names)  # as Ultralytics names images
    counts = Counter(numbers)
    of_files = {number: i for i, number in enumerate(numbers) if counts[number] == 1}
    by_name: Mapping[Any, int] = {**places_by_end(dataset.names), **of_files}
    keys = [entry.get("image_id") if isinstance(entry, dict) else None for entry in content]
    every = dict.fromkeys(keys, 0) if all(isinstance(key, (int, str)) for key in keys) else {}
    notes = _check_one_image_each(keys, by_id, by_name, where, dataset, lambda: _Entries(content, where, every).boxes())
    try:
        return _Entries(content, where, by_id), {}, notes
    except ValueError as error:
        first = error
    with suppress(ValueError):
        return _Entries(content, where, by_name), {}, notes
    lost = {f"{where}[{i}]": i for i, key in enumerate(keys) if isinstance(key, (int, str)) and key not in by_id}
    if not 0 < len(lost) < len(content):  # all may be those of another data set
        raise ValueError(f"{first}{_other_type(keys, by_id)}")

    def error_of(place: str) -> str:
        return f"{place}: expected image_id to be an id of an image, got {keys[lost[place]]!r}"

    left_out = unused(PREDICTED, OF_OTHERS, lost, leave_out, error_of)
    indices = sorted({*range(len(content))} - {*lost.values()})
    return _Entries([content[i] for i in indices], where, by_id, indices), left_out, notes


def _check_one_image_each(
    keys: Sequence[Any], by_id: Mapping[Any, int], by_name: Mapping[Any, int], where: str, dataset: Dataset, boxes: Any
) -> list[str]:
    """A sentence where a key is the id of an image, as a number or in quotes, and the name of another.

    All keys are ids, if all of them can be, or else names. Raises ValueError where all can be both, and more
    predictions overlap objects in the other sense; boxes, a function that returns the predictions.
    """
    by_text = {str(key): place for key, place in by_id.items()}
    plain = [*dict.fromkeys(key for key in keys if isinstance(key, (int, str)))]
    ids, named = {key: by_text.get(str(key)) for key in plain}, {key: by_name.get(key) for key in plain}
    both = [key for key in plain if None not in (ids[key], named[key]) and ids[key] != named[key]]
    if not both:
        return []
    key, senses = both[0], {"ids": ids, "names": named}
    first, other = ("ids", "names") if all(key in by_id for key in plain) else ("names", "ids")
    id_of, name_of = (dataset.names[place] for place in (ids[key], named[key]) if place is not None)
    if not any(None in sense.values() for sense in senses.values()) and len(plain) == len({*keys}):
        fits = {name: _fit(boxes(), [sense[key] or 0 for key in keys], dataset) for name, sense in senses.items()}
        if fits[other] > fits[first]:
            raise ValueError(
                f"{where}[{keys.index(key)}]: expected image_id to mean one image, got {key!r}, the id of {id_of} and"
                f" the name of {name_of}; as {first} {fits[first]:,} of the predictions overlap an object, as {other}"
                f" {fits[other]:,}; give the references ids that are no name of another image"
            )
    return [f"image_id {key!r} is the id of image {id_of} and the name of image {name_of}: all are taken as {first}"]


def _fit(boxes: np.ndarray, image: Sequence[int], dataset: Dataset) -> int:
    """How many predictions overlap an object of their images."""
    parts = split_by_image({"boxes": boxes}, np.asarray(image, dtype=np.int64), len(dataset.names))
    pairs = zip(parts, dataset.references)
    some = [overlaps(part["boxes"], true["boxes"])[0] for part, true in pairs if len(true["boxes"])]
    return sum(int(np.count_nonzero((ious >= MATCH).any(axis=1))) for ious in some)


def _other_type(keys: Sequence[Any], by_id: Mapping[Any, int]) -> str:
    """The end of an error about a key that is an id but for its type; "" if none is."""
    by_text = {str(key): key for key in by_id}
    for key in keys:
        if isinstance(key, (int, str)) and key not in by_id and str(key) in by_text:
            kinds = [f"the {'text' if isinstance(one, str) else 'number'} {one!r}" for one in (by_text[str(key)], key)]
            return f"; the references have {kinds[0]}, and the results {kinds[1]}"
    return ""


class _Entries:
    """A list of JSON objects, read a column at a time; `indices` are the places of the entries in the file."""

    def __init__(
        self, entries: Sequence[Any], where: str, places: Mapping[Any, int], indices: Sequence[int] = ()
    ) -> None:
        self.entries, self.where, self.indices = entries, where, indices or range(len(entries))
        of = places.__getitem__
        try:
            self.image = np.fromiter(map(of, map(itemgetter("image_id"), entries)), np.int64, len(entries))
        except _WRONG as error:
            raise self._wrong("image_id", "an id of an image", np.int64, of) from error

    def numbers(self, key: str, expected: str = "a number") -> np.ndarray:
        """A column of finite numbers."""
        try:
            values = [*map(itemgetter(key), self.entries)]
            if not {*map(type, values)} <= {int, float}:
                raise TypeError
            column = np.fromiter(values, np.float64, len(values))
        except _WRONG as error:
            raise self._wrong(key, expected, np.float64, _number) from error
        self.refuse(~np.isfinite(column), expected.replace("a ", "a finite "), key)
        return column

    def integers(self, key: str) -> np.ndarray:
        """A column of integers."""
        column = self.numbers(key, "an integer")
        self.refuse((column != np.round(column)) | (np.abs(column) >= _END_OF_IDS), "an integer", key)
        return column.astype(np.int64)

    def flags(self, key: str) -> np.ndarray:
        """A column of 0, 1, false or true; 0 for entries without the key."""
        values = [entry.get(key, 0) for entry in self.entries]
        fits = [isinstance(value, (int, float)) and value in (0, 1) for value in values]
        self.refuse(~np.asarray(fits, dtype=bool), "0, 1, false or true", key)
        return np.asarray(values, dtype=bool)

    def boxes(self) -> np.ndarray:
        """The boxes, as x1, y1, x2, y2."""
        key, expected = "bbox", "x, y, width, height"
        try:
            rows = [*map(itemgetter(key), self.entries)]
            if not ({*map(type, rows)} <= {list} and {*map(len, rows)} <= {4}):
                raise TypeError
            flat = [*chain.from_iterable(rows)]
            if not {*map(type, flat)} <= {int, float}:
                raise TypeError
            boxes = np.fromiter(flat, np.float64, len(flat)).reshape(-1, 4)
        except _WRONG as error:
            raise self._wrong(key, expected, object, _four) from error
        corners = boxes.copy()
        with np.errstate(over="ignore", invalid="ignore"):
            corners[:, 2:] += corners[:, :2]
        bad = np.asarray(~np.isfinite(corners).all(axis=1) | (boxes[:, 2:] < 0).any(axis=1))
        self.refuse(bad, f"{expected} of at least 0", key)
        return corners

    def refuse(self, bad: np.ndarray, expected: str, key: str) -> None:
        """Raise ValueError for the first entry that is bad."""
        if bad.any():
            raise self._error(int(np.argmax(bad)), expected, key)

    def _wrong(self, key: str, expected: str, dtype: Any, convert: Callable[[Any], Any]) -> Exception:
        """The error about the first entry that cannot be converted."""

        def fails(entry: Any) -> bool:
            try:
                np.fromiter([convert(entry[key])], dtype, 1)
            except _WRONG:
                return True
            return False

        return self._error(next(i for i, entry in enumerate(self.entries) if fails(entry)), expected, key)

    def _error(self, i: int, expected: str, key: str) -> Exception:
        entry = self.entries[i]
        came = reprlib.repr(entry[key]) if isinstance(entry, dict) and key in entry else f"no {key}"
        return ValueError(f"{self.where}[{self.indices[i]}]: expected {key} to be {expected}, got {came}")


def _number(value: Any) -> float:
    if type(value) not in (int, float):
        raise TypeError
    return float(value)


def _four(value: Any) -> list[float]:
    if not isinstance(value, list) or len(value) != 4:
        raise TypeError
    return [*map(_number, value)]


def _repeated(table: _Entries, labels: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    """Whether each entry agrees with an earlier one in all but its id."""
    rows = np.column_stack([table.image, labels, boxes])
    order = np.lexsort(rows.T)
    same = (rows[order[1:]] == rows[order[:-1]]).all(axis=1)
    repeated = np.zeros(len(rows), dtype=bool)
    earlier: dict[tuple[float, ...], list[dict[str, Any]]] = {}
    for i in np.unique([order[1:][same], order[:-1][same]]).tolist():
        entry = {key: value for key, value in table.entries[i].items() if key != "id"}
        alike = earlier.setdefault(tuple(rows[i].tolist()), [])
        repeated[i] = entry in alike
        alike.append(entry)
    return repeated


def coco_classes(categories: Any, path: Path) -> dict[int, str]:
    """Class names by id. Raises ValueError for entries that lack a name or an id."""
    if not isinstance(categories, list):
        raise ValueError(f"{path}: expected an object with categories")
    places = _ids(categories, f"{path}: categories", "name")
    return {key: str(categories[place]["name"]) for key, place in places.items()}


def are_results(content: Any, path: Path) -> bool:
    """Whether the content of a .json is a list of COCO's results, rather than of dicts with boxes.

    Raises ValueError for no list.
    """
    if not isinstance(content, list):
        keys = f" with {', '.join(content)}" if isinstance(content, dict) and content else ""
        raise ValueError(
            f"{path}: expected a list of results, got {type(content).__name__}{keys}; a result has image_id,"
            " category_id, bbox and score"
        )
    is_result = bool(content) and isinstance(content[0], dict) and "bbox" in content[0]
    return is_result or not any(isinstance(entry, dict) and "boxes" in entry for entry in content)


def _ids(entries: Sequence[Any], where: str, *keys: str) -> dict[Any, int]:
    """The indices of entries, by id."""
    places: dict[Any, int] = {}
    for i, entry in enumerate(entries):
        missing = [key for key in ("id", *keys) if not isinstance(entry, dict) or key not in entry]
        if missing:
            raise ValueError(f"{where}[{i}]: expected {missing[0]}, got none")
        key = entry["id"]
        if not isinstance(key, int) and (keys or not isinstance(key, str)):
            raise ValueError(f"{where}[{i}]: expected an integer id, got {reprlib.repr(key)}")
        if key in places:
            raise ValueError(f"{where}[{i}]: expected an id of its own, got {key!r} again")
        places[key] = i
    return places


def _names(files: list[str], path: Path) -> list[str]:
    """The names of images without suffixes; with them where images differ only in these."""
    stems = [PurePosixPath(without_suffix(name)).as_posix() if PurePosixPath(name).name else name for name in files]
    if len({*stems}) == len(stems):
        return stems
    if len({*files}) < len(files):
        raise ValueError(f"{path}: expected each image once, got {max(files, key=files.count)} twice")
    return files


def _size(entry: Mapping[str, Any]) -> Size | None:
    """The width and height of an image, if its entry has both."""
    width, height = entry.get("width"), entry.get("height")
    known = isinstance(width, int) and isinstance(height, int) and width > 0 and height > 0
    return (width, height) if known else None  # type: ignore[return-value]  # mypy does not follow `known`


def _existing(folder: Path, name: str) -> Path:
    """The file of an image in a folder, by its path in the annotations or the last part of it."""
    places = (folder / name, folder / PurePosixPath(name).name)
    path = next((path for path in places if path.is_file()), None)
    if path is None:
        raise ValueError(f"{places[0]}: expected an image, got none")
    return path
