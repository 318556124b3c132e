"""What every reader gives: a data set's images with their true boxes, and a detector's boxes on the same images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import numpy as np

Boxes = dict[str, np.ndarray]
Size = tuple[int, int]


class Dataset(NamedTuple):
    """Images and their true boxes, in one order.

    names: of each image, its path in its folder without the ending, as in "val/000001"
    references: of each image, {"boxes": (m, 4) x1, y1, x2, y2 in pixels, "labels": (m,) class ids, "ignored": (m,)
        1 for a difficult object or a crowd, else 0}
    classes: id → name, empty where the files give no names
    paths: of each image's file, None where there is none
    sizes: of each image, its width and height in pixels, None where they are not known
    ids: by which COCO results tell the images
    """

    names: list[str]
    references: list[Boxes]
    classes: dict[int, str]
    paths: list[Path | None]
    sizes: list[Size | None]
    ids: list[int | str]


class Detections(NamedTuple):
    """What a detector predicts on the images of a data set.

    dataset: the images and their true boxes
    predictions: of each image, {"boxes": (n, 4) x1, y1, x2, y2 in pixels, "scores": (n,), "labels": (n,) class ids}
    """

    dataset: Dataset
    predictions: list[Boxes]


def true_boxes(boxes: np.ndarray, labels: np.ndarray, ignored: np.ndarray | None = None) -> Boxes:
    """The true boxes of one image; none is ignored unless it is said."""
    ignored = np.zeros(len(labels), dtype=bool) if ignored is None else ignored
    return {"boxes": boxes.reshape(-1, 4), "labels": labels.astype(np.int64), "ignored": ignored.astype(np.int64)}


def predicted_boxes(boxes: np.ndarray, scores: np.ndarray, labels: np.ndarray) -> Boxes:
    """The predicted boxes of one image, as `Detections` hold them."""
    return {"boxes": boxes.reshape(-1, 4), "scores": scores, "labels": labels.astype(np.int64)}


def no_predictions() -> Boxes:
    """The predicted boxes of an image in which nothing is found."""
    return predicted_boxes(np.zeros((0, 4)), np.zeros(0), np.zeros(0))


def split_by_image(columns: Mapping[str, np.ndarray], image: np.ndarray, number: int) -> list[Boxes]:
    """Cut columns of all images' boxes into those of each image, which keep their order; `image` is each row's."""
    order = np.argsort(image, kind="stable")
    ends = np.searchsorted(image[order], np.arange(1, number))
    parts = {name: np.split(column[order], ends) for name, column in columns.items()}
    return [dict(zip(parts, row)) for row in zip(*parts.values())] if number else []


def ids_of_names(names: Sequence[str]) -> list[int | str]:
    """Ids that COCO results made from image files have: the number that a file's name is, or else the name."""
    stems = [PurePosixPath(name).name for name in names]
    return [int(stem) if stem.isdecimal() else stem for stem in stems]


def find_image(dataset: Dataset) -> dict[str, int]:
    """Places of the images by name, and by the last part of their names where only one image has it."""
    stems: dict[str, list[int]] = {}
    for i, name in enumerate(dataset.names):
        stems.setdefault(PurePosixPath(name).name, []).append(i)
    unique = {stem: places[0] for stem, places in stems.items() if len(places) == 1}
    return {**unique, **{name: i for i, name in enumerate(dataset.names)}}


def rename_classes(detections: Detections, names: Mapping[int, str], unknown_class_id: int = -1) -> Detections:
    """Give predictions whose class ids mean `names` the ids that the data set has for the same names.

    Parameters: names, id → name of the predictions; unknown_class_id, which stays as it is. Ids of names that the
    data set does not have become new ones, above all of its own. Returns the detections with the ids of the data
    set. Raises ValueError for a predicted id without a name, and for a name that stands for two classes.
    """
    ours = {name: i for i, name in detections.dataset.classes.items()}
    if len(ours) < len(detections.dataset.classes) or len(set(names.values())) < len(names):
        raise ValueError(f"names: expected each once, got {sorted(names.values())}")
    new = max([*ours.values(), *names, unknown_class_id], default=0) + 1
    table = {i: ours.get(name, new + i) for i, name in sorted(names.items())}
    table[unknown_class_id] = unknown_class_id
    return Detections(detections.dataset, [_renamed(boxes, table) for boxes in detections.predictions])


def _renamed(boxes: Boxes, table: Mapping[int, int]) -> Boxes:
    labels = boxes["labels"].tolist()
    missing = [label for label in labels if label not in table]
    if missing:
        raise ValueError(f"names: expected one for each predicted class, got none for {missing[0]}")
    return {**boxes, "labels": np.asarray([table[label] for label in labels], dtype=np.int64)}
