"""COCO's JSON: annotations of a data set, and results of a detector.

Boxes are x, y, width, height in pixels. Annotations with iscrowd = 1 are ignored: predictions on them are neither right
nor wrong. Category ids are class ids. Entries are read as columns, about as fast as the JSON is parsed.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from ..objects import loads, no_collection
from ..places import IMAGE_SUFFIXES, Size, checked_size, files_below, without_suffix
from ..reading import BESIDE, BOXES, IMAGES, PREDICTED, PREDICTIONS, REPEATED, Census, LeftOut, by_real_place, unused
from ..reasons import reason
from .dataset import (
    OF_OTHERS,
    Dataset,
    Detections,
    find_image,
    ids_of_names,
    places_by_id,
    predicted_boxes,
    split_by_image,
    true_boxes,
)

# errors raised by values of an unexpected type
_WRONG = (TypeError, LookupError, ValueError, OverflowError, RuntimeError)


def read_coco(annotations: str | Path, images: str | Path | None = None, *, content: Any = None) -> Dataset:
    """Read the annotations of a data set in COCO's format ("instances").

    Parameters: annotations, a JSON file with `images`, `annotations` and `categories`; images, the folder of the
    image files, needed only to draw them or if the file has no sizes; content, that of the file, if it has been read.

    Returns the images in the order of the file. Raises ValueError, with the file and the index of the entry, for
    malformed entries, for annotations of unknown images or categories, and for ids that occur twice.
    """
    path = Path(annotations)
    with no_collection():
        content = read_json(path) if content is None else content
        if not isinstance(content, dict) or not all(isinstance(content.get(k), list) for k in ("images", "categories")):
            raise ValueError(f"{path}: expected an object with images, annotations and categories")
        places = _ids(content["images"], f"{path}: images")
        classes = coco_classes(content["categories"], str(path))
        entries = content.get("annotations")
        if not isinstance(entries, list):
            raise ValueError(f"{path}: expected a list of annotations, got {type(entries).__name__}")
        table = Entries(entries, f"{path}: annotations", places)
        labels = table.integers("category_id")
        if classes:
            table.refuse(~np.isin(labels, list(classes)), "a category of the file", "category_id")
        ignored = table.flags("iscrowd") | table.flags("ignore")
        boxes = table.boxes()
        once = ~_repeated(table, labels, boxes)
    columns = {"boxes": boxes[once], "labels": labels[once], "ignored": ignored[once]}
    parts = split_by_image(columns, table.image[once], len(places))
    files = [str(entry.get("file_name", entry["id"])).replace("\\", "/") for entry in content["images"]]
    paths = [None if images is None else _existing(Path(images), name) for name in files]
    own = by_real_place(filter(None, paths))
    there = {} if images is None else by_real_place(files_below(Path(images), None))
    others = [place for key, place in there.items() if key not in own]
    pictures = [str(place) for place in others if place.suffix.lower() in IMAGE_SUFFIXES]
    left_out: LeftOut = {
        REPEATED: [f"{path}: annotations[{i}]" for i in np.flatnonzero(~once).tolist()],
        (IMAGES, f"not in {path.name}"): pictures,
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
    )


def read_coco_results(
    results: str | Path, dataset: Dataset, *, score_field: str = "score", content: Any = None, leave_out: bool = False
) -> Detections:
    """Read a detector's results in COCO's format: a JSON list of image_id, category_id, bbox and score.

    Parameters: results, the file; dataset, with `ids` that match the image ids, from COCO annotations or else from the
    names of the image files, as numbers if possible; score_field, the name of the confidence in each entry; content,
    that of the file, if it has been read; leave_out, whether to leave out results of unknown images.

    Returns the predictions of the data set's images. Raises ValueError, with the file and the index of the entry,
    for malformed entries, and for results of unknown images.
    """
    path = Path(results)
    with no_collection():
        content = read_json(path) if content is None else content
        check_results(content, path)
        table, left_out = _of_images(content, path, dataset, leave_out)
        rows = {"boxes": table.boxes(), "scores": table.numbers(score_field), "labels": table.integers("category_id")}
    boxes = [predicted_boxes(**part) for part in split_by_image(rows, table.image, len(dataset.ids))]
    return Detections(dataset, boxes, census=Census({PREDICTIONS: 1, PREDICTED: len(table.image)}, left_out))


def _of_images(content: list[Any], path: Path, dataset: Dataset, leave_out: bool) -> tuple[Entries, LeftOut]:
    """The results of a data set's images, known by their ids or by the names of their files, and those of others."""
    by_id = places_by_id(dataset, path)
    where = f"{path}: results"
    try:
        return Entries(content, where, by_id), {}
    except ValueError as error:
        first = error
    numbers = ids_of_names(dataset.names)  # as Ultralytics names images
    counts = Counter(numbers)
    of_files = {number: i for i, number in enumerate(numbers) if counts[number] == 1}
    by_file: dict[Any, int] = {**find_image(dataset), **of_files}
    with suppress(ValueError):
        return Entries(content, where, by_file), {}
    of: list[Any] = [entry.get("image_id") if isinstance(entry, dict) else None for entry in content]
    lost = [i for i, key in enumerate(of) if isinstance(key, (int, str)) and key not in by_id]
    if not lost or len(lost) == len(content):
        raise first
    texts = {f"{where}[{i}]": f"{where}[{i}]: expected image_id to be an id of an image, got {of[i]!r}" for i in lost}
    left_out = unused(PREDICTED, OF_OTHERS, texts, leave_out)
    kept = sorted({*range(len(content))} - {*lost})
    return Entries([content[i] for i in kept], where, by_id, kept), left_out


class Entries:
    """A list of entries, read a column at a time; if that fails, entry by entry, to name the first bad one."""

    def __init__(
        self, entries: Sequence[Any], where: str, places: Mapping[Any, int], indices: Sequence[int] = ()
    ) -> None:
        self.entries, self.where, self.indices = entries, where, indices or range(len(entries))
        self.objects = all(issubclass(kind, dict) for kind in {*map(type, entries)})
        self.image = self._column("image_id", "an id of an image", places.__getitem__, np.int64)

    def numbers(self, key: str) -> np.ndarray:
        """A column of finite numbers."""
        column = self._plain(key, np.float64, int, float)
        if column is None:
            column = self._column(key, "a number", _json_number, np.float64)
        self.refuse(~np.isfinite(column), "a finite number", key)
        return column

    def integers(self, key: str) -> np.ndarray:
        """A column of integers."""
        column = self._plain(key, np.int64, int)
        if column is None or max(-int(column.min(initial=0)), int(column.max(initial=0))) >= 2**53:
            column = self._column(key, "an integer", _json_integer, np.int64)  # float64 does not hold all of these
        return column

    def flags(self, key: str) -> np.ndarray:
        """A column of 0, 1, false or true; 0 for entries without the key."""
        return self._column(key, "0, 1, false or true", _json_flag, np.bool_, lambda entry: entry.get(key, 0))

    def boxes(self) -> np.ndarray:
        """The boxes, as x1, y1, x2, y2."""
        boxes = self._plain_boxes()
        if boxes is None:
            rows = self._column("bbox", "x, y, width, height", lambda bbox: [*map(_json_number, _four(bbox))], object)
            boxes = np.asarray(rows.tolist(), dtype=np.float64).reshape(-1, 4)
        corners = boxes.copy()
        with np.errstate(over="ignore", invalid="ignore"):
            corners[:, 2:] += corners[:, :2]
        bad = np.asarray(~(np.isfinite(boxes) & np.isfinite(corners)).all(axis=1) | (boxes[:, 2:] < 0).any(axis=1))
        self.refuse(bad, "x, y, width, height of at least 0", "bbox")
        return corners

    def _plain(self, key: str, dtype: Any, *types: type) -> np.ndarray | None:
        """A whole column at once; None if a value has another type, or does not fit."""
        try:
            values = [*map(itemgetter(key), self.entries)]
            return np.fromiter(values, dtype, len(values)) if {*map(type, values)} <= {*types} else None
        except _WRONG:
            return None

    def _plain_boxes(self) -> np.ndarray | None:
        """All boxes at once; None if any of them is not four numbers."""
        try:
            boxes = [*map(itemgetter("bbox"), self.entries)]
            flat = [*chain.from_iterable(boxes)]
            types = {*map(type, flat)}
            if bool in types or not {*map(len, boxes)} <= {4}:
                return None
            numbers = np.fromiter(flat, np.float64, len(flat)) if types <= {int, float} else np.asarray(flat)
        except _WRONG:
            return None
        return numbers.astype(np.float64, copy=False).reshape(-1, 4) if numbers.dtype.kind in "iuf" else None

    def refuse(self, bad: np.ndarray, expected: str, key: str) -> None:
        """Raise ValueError for the first entry that is bad."""
        if bad.any():
            self._refuse(int(np.argmax(bad)), expected, key)

    def _column(
        self,
        key: str,
        expected: str,
        convert: Callable[[Any], Any],
        dtype: Any,
        get: Callable[[Any], Any] | None = None,
    ) -> np.ndarray:
        get = get or itemgetter(key)
        try:
            if not self.objects:
                raise TypeError(f"{self.where}: expected objects")
            return np.fromiter(map(convert, map(get, self.entries)), dtype, len(self.entries))
        except _WRONG:
            for i, entry in enumerate(self.entries):
                try:
                    np.fromiter([convert(get(entry))] if isinstance(entry, dict) else [], dtype, 1)
                except _WRONG:
                    self._refuse(i, expected, key)
            raise

    def _refuse(self, i: int, expected: str, key: str) -> None:
        entry = self.entries[i]
        came = _in_message(entry[key]) if isinstance(entry, dict) and key in entry else f"no {key}"
        raise ValueError(f"{self.where}[{self.indices[i]}]: expected {key} to be {expected}, got {came}")


def _in_message(value: Any) -> str:
    """A value for an error message; JSON may be nested too deeply for repr."""
    try:
        return repr(value)
    except RecursionError:
        return "a value nested too deeply"


def _json_number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError
    return float(value)


def _json_integer(value: Any) -> int:
    if _json_number(value) != int(value):
        raise ValueError
    return int(value)


def _json_flag(value: Any) -> bool:
    if not isinstance(value, (bool, int, float)) or value not in (0, 1):
        raise ValueError
    return bool(value)


def _four(value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) != 4:
        raise ValueError
    return value


def read_json(path: Path) -> Any:
    """The content of a JSON file. Raises ValueError, with file and line, for other text."""
    try:
        return loads(path.read_bytes(), _text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}:{error.lineno}: expected JSON, got {error.msg}") from error
    except OSError as error:
        raise ValueError(f"{path}: expected JSON, got {error.strerror or error}") from error
    except (ValueError, RecursionError, MemoryError) as error:  # not UTF-8, too many digits, too deep, too large
        raise ValueError(f"{path}: {reason(error)}") from error


def _text(data: bytes) -> str:
    """The text of UTF-8 bytes with any line endings, as `Path.read_text` gives it."""
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig").read()


def _repeated(table: Entries, labels: np.ndarray, boxes: np.ndarray) -> np.ndarray:
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


def coco_classes(categories: Sequence[Any], where: str) -> dict[int, str]:
    """Class names by id; `where` is for messages. Raises ValueError for entries that lack a name or an id."""
    places = _ids(categories, f"{where}: categories", "name")
    return {key: str(categories[place]["name"]) for key, place in places.items()}


def check_results(content: Any, path: Path) -> None:
    """Raise ValueError unless the content of a file is a list, as COCO's results are."""
    if not isinstance(content, list):
        keys = f" with {', '.join(content)}" if isinstance(content, dict) and content else ""
        raise ValueError(
            f"{path}: expected a list of results, got {type(content).__name__}{keys}; a result has image_id,"
            " category_id, bbox and score"
        )


def _ids(entries: Sequence[Any], where: str, *keys: str) -> dict[Any, int]:
    """The indices of entries, by id."""
    places: dict[Any, int] = {}
    for i, entry in enumerate(entries):
        missing = [key for key in ("id", *keys) if not isinstance(entry, dict) or key not in entry]
        if missing:
            raise ValueError(f"{where}[{i}]: expected {missing[0]}, got none")
        key = entry["id"]
        if not isinstance(key, int) and (keys or not isinstance(key, str)):
            raise ValueError(f"{where}[{i}]: expected an integer id, got {_in_message(key)}")
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
