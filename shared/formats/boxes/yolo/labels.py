"""Read YOLO's folders of text files, one for each image, named like the image."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from ...images import find_images, image_size, implied_images
from ...places import files_below, matched
from ..dataset import (
    TXT,
    Boxes,
    Dataset,
    Detections,
    Size,
    ids_of_names,
    no_predictions,
    predicted_boxes,
    true_boxes,
)
from .lines import LISTS_OF_CLASSES, read_lines


def read_yolo(
    labels: str | Path, images: str | Path | None = None, *, classes: Mapping[int, str] | None = None
) -> Dataset:
    """Read a folder of YOLO labels, with the same subfolders as the images.

    Parameters: labels, a folder of text files with lines of class, cx, cy, w, h; images, the folder of the images,
    by default the one of YOLO's layout (…/labels/val → …/images/val); classes, id → name.

    Returns every image of the folder; an image without a text file has no objects.
    Raises ValueError, with file and line, for a malformed line, and for a text file without its image.
    """
    labels = Path(labels)
    texts = find_texts(labels)
    by_name = find_images(implied_images(labels) if images is None else images)
    for name, path in texts.items():
        if name not in by_name and path.name not in LISTS_OF_CLASSES:
            raise ValueError(f"{path}: expected an image of that name, got none")
    return yolo_dataset(list(by_name), by_name.values(), [texts.get(name) for name in by_name], classes or {})


def read_yolo_predictions(labels: str | Path, dataset: Dataset) -> Detections:
    """Read a folder of YOLO predictions, as Ultralytics saves them with save_txt=True and save_conf=True.

    Parameters: labels, a folder of text files with lines of class, cx, cy, w, h, confidence, named like the images or
    like the last parts of their names, in that folder or below it; dataset, the images and their sizes.

    Returns the predictions of the data set's images; images without a text file have none.
    Raises ValueError, with file and line, for a malformed line, and for a text file without its image: that of another
    folder, such as train/001.txt for val/001, is not taken.
    """
    names, texts = {*dataset.names}, find_texts(Path(labels))
    texts = {name: path for name, path in texts.items() if name in names or path.name not in LISTS_OF_CLASSES}
    predictions: list[Boxes | None] = [None] * len(dataset.names)
    for path, place in zip(texts.values(), matched([*texts], dataset.names, strip=True)):
        if place is None:
            raise ValueError(f"{path}: expected predictions for an image of the references, got no such image")
        if predictions[place] is not None:
            raise ValueError(f"{path}: expected one file for image {dataset.names[place]}, got two")
        rows = read_lines(path, confidence=True)
        boxes = _in_pixels(rows, size_of(dataset, place))
        predictions[place] = predicted_boxes(boxes, rows[:, 5], rows[:, 0])
    return Detections(dataset, [no_predictions() if boxes is None else boxes for boxes in predictions])


def yolo_dataset(
    names: list[str], images: Iterable[Path], texts: Iterable[Path | None], classes: Mapping[int, str]
) -> Dataset:
    """The data set of images with their text files, None for an image without objects."""
    paths = list(images)
    sizes = [image_size(path) for path in paths]
    tables = [np.zeros((0, 5)) if text is None else read_lines(text) for text in texts]
    references = [true_boxes(_in_pixels(table, size), table[:, 0]) for table, size in zip(tables, sizes)]
    return Dataset(names, references, dict(classes), [*paths], [*sizes], ids_of_names(names))


def find_texts(folder: Path) -> dict[str, Path]:
    """The text files in a folder and below it, by their paths in the folder without the suffix."""
    paths = files_below(folder, TXT) if folder.is_dir() else []
    texts = {path.relative_to(folder).with_suffix("").as_posix(): path for path in paths}
    if not texts:
        raise ValueError(
            f"{folder}: expected a folder with .txt files, got {'none' if folder.is_dir() else 'no folder'}"
        )
    return texts


def size_of(dataset: Dataset, place: int) -> Size:
    """The width and height of an image, from its file if the annotations have no size."""
    size, path = dataset.sizes[place], dataset.paths[place]
    if size is None and path is None:
        raise ValueError(f"{dataset.names[place]}: expected its size, or the image; say where the images are")
    return size or image_size(str(path))


def _in_pixels(rows: np.ndarray, size: Size) -> np.ndarray:
    """Convert columns cx, cy, w, h in fractions of the image to x1, y1, x2, y2 in pixels."""
    half = rows[:, 3:5] / 2
    return np.concatenate([rows[:, 1:3] - half, rows[:, 1:3] + half], axis=1) * np.asarray([*size, *size])
