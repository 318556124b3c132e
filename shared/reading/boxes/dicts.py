"""Read boxes of torchvision and transformers: a dict for each image, with tensors, arrays or lists.

`supervision.Detections` and Ultralytics `Results` may be used instead of dicts.

torchvision's models and transformers' post_process_object_detection give boxes, scores and labels, with x1, y1, x2, y2
in pixels. Targets of transformers name the labels class_labels, and give cx, cy, w, h as shares of the image's
orig_size, which is height and width.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from ...arrays.arrays import to_numpy
from ...arrays.box_objects import box_dict
from ...arrays.checks import as_flags, as_labels, as_numbers
from ..places import Size
from ..reading import BOXES, IMAGES, PREDICTED, PREDICTIONS, Census, unused
from .dataset import (
    OF_OTHERS,
    Boxes,
    Dataset,
    Detections,
    corners_of,
    places_by_id,
    places_of_files,
    predicted_boxes,
    true_boxes,
)

_DICTS = "dicts"  # of predictions, in a census
Dicts = Sequence[Mapping[str, Any]]


def read_dicts(references: Dicts, *, classes: Mapping[int, str] | None = None) -> Dataset:
    """Take the true boxes of images from dicts.

    Parameters: references, for each image "boxes" (m, 4) and "labels" (m,), and optionally "iscrowd" or "ignored" (m,),
    1 for ignored objects, "image_id" and "orig_size"; or "class_labels" with cx, cy, w, h as shares; classes, id →
    name. Images are named by their image_id, or else by their index in the list.

    Returns the images in their order. Raises TypeError or ValueError, with the place in the list, for other dicts.
    """
    ids = _image_ids(references, "references")
    names = [str(i) for i in range(len(references))] if ids is None else [str(i) for i in ids]
    sizes = [_size(image, f"references[{i}]") for i, image in enumerate(references)]
    boxes = [_true(image, sizes[i], f"references[{i}]") for i, image in enumerate(references)]
    census = Census({IMAGES: len(names), BOXES: sum(len(image["labels"]) for image in boxes)})
    image_ids: list[int | str] = [*names] if ids is None else ids
    return Dataset(names, boxes, dict(classes or {}), [None] * len(names), sizes, image_ids, census)


def read_dict_predictions(predictions: Dicts, dataset: Dataset, *, leave_out: bool = False) -> Detections:
    """Take the predicted boxes of a data set's images from dicts with boxes, scores and labels.

    Parameters: predictions, for each image "boxes" (n, 4) x1, y1, x2, y2 in pixels, "scores" (n,) and "labels" (n,),
    and optionally "image_id", which identifies the images; the `path` of Ultralytics `Results` does too. Without these,
    predictions are in the order of the data set. leave_out, whether to leave out those of unknown images.

    Returns the predictions of the data set's images; images without a dict have none. Raises TypeError or ValueError,
    with the place in the list, for other dicts, unknown images, and another number of images.
    """
    ids = _image_ids(predictions, "predictions")
    boxes = [_predicted(image, f"predictions[{i}]") for i, image in enumerate(predictions)]
    paths = [getattr(image, "path", "none") for image in predictions]
    if ids is None:
        places = _places_of_files(predictions, dataset)
    else:
        places = [*map(places_by_id(dataset, "predictions").get, ids)]
    if places is None:
        if len(boxes) != len(dataset.names):
            raise ValueError(f"predictions: expected {len(dataset.names)} images, got {len(boxes)}")
        places = [*range(len(boxes))]
    lost, by_place = dict[str, object](), dict[int, Boxes]()
    for i, (place, key) in enumerate(zip(places, ids or paths)):
        if place in by_place:
            raise ValueError(f"predictions[{i}]: expected each image once, got {key}")
        if place is None:
            lost[f"predictions[{i}]"] = key
        else:
            by_place[place] = boxes[i]

    def error(place: str) -> str:
        return f"{place}: expected an image of the references, got {lost[place]!r}"

    boxes = [by_place.get(i, predicted_boxes()) for i in range(len(dataset.names))]
    used = {PREDICTIONS: 1, _DICTS: len(by_place), PREDICTED: sum(len(image["labels"]) for image in boxes)}
    return Detections(dataset, boxes, census=Census(used, unused(_DICTS, OF_OTHERS, lost, leave_out, error)))


_OF_ARRAY = re.compile(r"\.|image\d+(\.jpg)?")  # Ultralytics' path of an image that has none


def _places_of_files(predictions: Dicts, dataset: Dataset) -> list[int | None] | None:
    """The indices of images, from the `path` of their results; None if there are none, or the images have no names."""
    paths = [PurePath(str(getattr(image, "path", "")).replace("\\", "/")).as_posix() for image in predictions]
    named = dataset.names != [*map(str, range(len(dataset.names)))]
    return places_of_files(paths, dataset.names) if named and not all(map(_OF_ARRAY.fullmatch, paths)) else None


def _predicted(image: Any, place: str) -> Boxes:
    columns = _columns(box_dict(image, place), "labels", ("scores",), place)
    scores = _numbers(columns["scores"], f"{place}['scores']")
    return predicted_boxes(_corners(columns["boxes"], place), scores, columns["labels"])


def _true(image: Any, size: Size | None, place: str) -> Boxes:
    image = box_dict(image, place)
    normalised = isinstance(image, Mapping) and "class_labels" in image
    flags = [key for key in ("iscrowd", "ignored") if isinstance(image, Mapping) and key in image]
    columns = _columns(image, "class_labels" if normalised else "labels", flags, place)
    boxes = columns["boxes"]
    if normalised:
        if size is None:
            raise ValueError(f"{place}: expected orig_size beside class_labels, since boxes are shares of it; got none")
        boxes = corners_of(boxes, size)
    ignored = np.zeros(len(boxes), dtype=bool)
    for key in flags:
        ignored |= to_numpy(as_flags(columns[key], f"{place}[{key!r}]"))
    return true_boxes(_corners(boxes, place), columns["labels"], ignored)


def _columns(image: Any, labels: str, more: Sequence[str], place: str) -> dict[str, np.ndarray]:
    """The arrays of a dict, all of one length; boxes have four columns."""
    keys = ("boxes", labels, *more)
    if not isinstance(image, Mapping) or any(key not in image for key in keys):
        came = ", ".join(map(str, image)) if isinstance(image, Mapping) else type(image).__name__
        raise TypeError(f"{place}: expected a dict with {', '.join(keys)}, got {came or 'none'}")
    boxes = _numbers(image["boxes"], f"{place}['boxes']")
    columns = {
        "boxes": boxes if boxes.size else boxes.reshape(0, 4),
        "labels": to_numpy(as_labels(image[labels], f"{place}[{labels!r}]")),
        **{key: to_numpy(as_numbers(image[key], f"{place}[{key!r}]")) for key in more},
    }
    if columns["boxes"].shape[1:] != (4,) or any(columns[key].ndim != 1 for key in more):
        came = ", ".join(f"{key} {x.shape}" for key, x in columns.items())
        raise ValueError(f"{place}: expected boxes (n, 4), the others (n,), got {came}")
    if len({*map(len, columns.values())}) > 1:
        came = ", ".join(f"{len(column)} {key}" for key, column in columns.items())
        raise ValueError(f"{place}: expected one length, got {came}")
    return columns


def _numbers(x: Any, name: str) -> np.ndarray:
    numbers = to_numpy(as_numbers(x, name)).astype(np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError(f"{name}: expected finite numbers, got {numbers[~np.isfinite(numbers)][0]}")
    return numbers


def _corners(boxes: np.ndarray, place: str) -> np.ndarray:
    bad = (boxes[:, 2:] < boxes[:, :2]).any(axis=1)
    if bad.any():
        raise ValueError(f"{place}: expected x1 ≤ x2 and y1 ≤ y2, got {boxes[np.argmax(bad)].tolist()}")
    return boxes


def _size(image: Any, place: str) -> Size | None:
    if not isinstance(image, Mapping) or "orig_size" not in image:
        return None
    size = _numbers(image["orig_size"], f"{place}['orig_size']")
    if size.shape != (2,):
        raise ValueError(f"{place}: expected orig_size to be height and width, got shape {size.shape}")
    return int(size[1]), int(size[0])


def _image_ids(images: Any, name: str) -> list[int | str] | None:
    """The image ids in all dicts; None if there are none."""
    if isinstance(images, Mapping) or not isinstance(images, Sequence):
        raise TypeError(f"{name}: expected a list with a dict for each image, got {type(images).__name__}")
    keys = [image["image_id"] for image in images if isinstance(image, Mapping) and "image_id" in image]
    if not keys:
        return None
    ids = [key if isinstance(key, str) else _image_id(key, name) for key in keys]
    if len(ids) < len(images) or len(set(ids)) < len(ids):
        raise ValueError(f"{name}: expected an image_id of its own in each dict, got {len(set(ids))} of {len(images)}")
    return ids


def _image_id(key: Any, name: str) -> int:
    """An id with all its digits. Raises ValueError for a fraction, and for a float that may be another id rounded."""
    value = key.tolist() if hasattr(key, "tolist") else key
    while isinstance(value, list) and len(value) == 1:
        (value,) = value
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    if not isinstance(value, int):
        raise ValueError(f"{name}: expected image_id to be an integer or a string, got {value!r:.60}")
    return value
