"""YOLO text files, one an image: lines of class, cx, cy, w, h (shares of the image), and of predictions the confidence.

As Ultralytics does, a line that lists the corners of a polygon (or of a turned box) becomes the box around them. Unlike
there, a malformed line is an error, where Ultralytics leaves its image out, and lines that repeat are kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from .dataset import (
    Boxes,
    Dataset,
    Detections,
    Size,
    find_image,
    ids_of_names,
    no_predictions,
    predicted_boxes,
    true_boxes,
)
from .images import find_images, image_size, implied_images

_LISTS_OF_CLASSES = ("classes.txt", "labels.txt", "obj.names.txt")  # that annotation tools leave beside the labels
_EDGE = 0.01  # true boxes may reach so far beyond the image, by rounding
_FAR = 1.0  # and predicted ones so far; pixels in place of shares are farther off


def read_yolo(
    labels: str | Path, images: str | Path | None = None, *, classes: Mapping[int, str] | None = None
) -> Dataset:
    """Read a folder of YOLO labels, with subfolders as the images have them.

    Parameters: labels, a folder of text files with lines of class, cx, cy, w, h; images, the folder of the images,
    by default the one of YOLO's layout (…/labels/val → …/images/val); classes, id → name.

    Returns every image of the folder, those without a text file as images without objects.
    Raises ValueError, with file and line, for a malformed line, and for a text file without its image.
    """
    labels = Path(labels)
    texts = find_texts(labels)
    found = find_images(implied_images(labels) if images is None else images)
    for name, path in texts.items():
        if name not in found and path.name not in _LISTS_OF_CLASSES:
            raise ValueError(f"{path}: expected an image of that name, got none")
    return yolo_dataset(list(found), found.values(), [texts.get(name) for name in found], classes or {})


def read_yolo_predictions(labels: str | Path, dataset: Dataset) -> Detections:
    """Read a folder of YOLO predictions, as Ultralytics saves them with save_txt=True and save_conf=True.

    Parameters: labels, a folder of text files with lines of class, cx, cy, w, h, confidence, named like the images or
    like the last part of their names; dataset, the images and their sizes.

    Returns the predictions of the data set's images, none where there is no text file.
    Raises ValueError, with file and line, for a malformed line, and for a text file without its image.
    """
    places, texts = find_image(dataset), find_texts(Path(labels))
    predictions: list[Boxes | None] = [None] * len(dataset.names)
    for name, path in texts.items():
        place = places.get(name, places.get(path.stem))
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
    """The data set of some images, each with its text file, or None for an image without objects."""
    paths = list(images)
    sizes = [image_size(path) for path in paths]
    tables = [np.zeros((0, 5)) if text is None else read_lines(text) for text in texts]
    references = [true_boxes(_in_pixels(table, size), table[:, 0]) for table, size in zip(tables, sizes)]
    return Dataset(names, references, dict(classes), [*paths], [*sizes], ids_of_names(names))


def find_texts(folder: Path) -> dict[str, Path]:
    """Text files in a folder and below it: path in the folder, without the ending → file."""
    found = {path.relative_to(folder).with_suffix("").as_posix(): path for path in sorted(folder.rglob("*.txt"))}
    if not found:
        raise ValueError(
            f"{folder}: expected a folder with .txt files, got {'none' if folder.is_dir() else 'no folder'}"
        )
    return found


def size_of(dataset: Dataset, place: int) -> Size:
    """Width and height of an image, from its file if the annotations do not say."""
    size, path = dataset.sizes[place], dataset.paths[place]
    if size is None and path is None:
        raise ValueError(f"{dataset.names[place]}: expected its size, or the image; say where the images are")
    return size or image_size(str(path))


def read_lines(path: Path, *, confidence: bool = False) -> np.ndarray:
    """The lines of a text file, (n, 5) class, cx, cy, w, h, or (n, 6) with the confidence.

    Raises ValueError, with file and line, for a line of another length, for what is no number, a class that is no
    integer, or coordinates that are no shares of the image.
    """
    width = 6 if confidence else 5
    try:
        lines = [line.split() for line in path.read_text(encoding="utf-8-sig").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: expected text, got {getattr(error, 'strerror', None) or error}") from error
    if {len(line) for line in lines if line} <= {width}:
        try:
            table = np.asarray([float(cell) for line in lines for cell in line]).reshape(-1, width)
        except ValueError:
            pass
        else:
            if _reason(table) is None:
                return table
    # polygons are among them, or something is wrong: line by line
    rows = [_row(cells, f"{path}:{i}", width) for i, cells in enumerate(lines, 1) if cells]
    return np.asarray(rows).reshape(-1, width)


def _row(cells: list[str], place: str, width: int) -> list[float]:
    try:
        row = [float(cell) for cell in cells]
    except ValueError:
        raise ValueError(f"{place}: expected numbers, got {' '.join(cells)!r}") from None
    if len(row) > 6 and len(row) % 2 == width % 2:
        row = _around(row, width)
    if len(row) != width:
        expected = "class cx cy w h" + " confidence" * (width == 6)
        hint = ""
        if {len(row), width} == {5, 6}:
            hint = (
                "; save predictions with their confidences (save_conf=True)"
                if width == 6
                else "; are these predictions?"
            )
        raise ValueError(f"{place}: expected {expected}, got {len(row)} numbers{hint}")
    reason = _reason(np.asarray([row]))
    if reason is not None:
        raise ValueError(f"{place}: expected {reason}, got {' '.join(cells)!r}")
    return row


def _around(row: list[float], width: int) -> list[float]:
    """The box around the corners x, y, x, y, … of a line."""
    end = len(row) - (width == 6)
    xs, ys = row[1:end:2], row[2:end:2]
    if not all(-_FAR <= share <= 1 + _FAR for share in row[1:end]):
        return row[:1] + [math.nan] * 4 + row[end:]  # refused with its line
    x1, y1, x2, y2 = min(xs), min(ys), max(xs), max(ys)
    return [row[0], (x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1, *row[end:]]


def _reason(rows: np.ndarray) -> str | None:
    """What is expected of the first thing that is wrong with rows of the right length; None if nothing is."""
    if not len(rows):
        return None
    shares, slack = rows[:, 1:5], _EDGE if rows.shape[1] == 5 else _FAR
    if not (np.isfinite(shares).all() and shares.min() >= -slack and shares.max() <= 1 + slack):
        return "coordinates from 0 to 1, as shares of the image"
    if shares[:, 2:].min() < 0:
        return "a width and a height of at least 0"
    if not (np.isfinite(rows).all() and (rows[:, 0] == np.round(rows[:, 0])).all()):
        return "an integer class" if np.isfinite(rows[:, 5:]).all() else "a confidence"
    return None


def _in_pixels(rows: np.ndarray, size: Size) -> np.ndarray:
    """Columns cx, cy, w, h in shares as x1, y1, x2, y2 in pixels."""
    half = rows[:, 3:5] / 2
    return np.concatenate([rows[:, 1:3] - half, rows[:, 1:3] + half], axis=1) * np.asarray([*size, *size])
