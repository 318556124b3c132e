"""Read YOLO's folders of text files, one for each image, named like the image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from ...images import find_images, image_size, implied_images
from ...places import files_below, matched
from ..census import BESIDE, BOXES, IMAGES, LABELS, OF_CLASSES, PREDICTIONS, REPEATED, Census, by_real_place
from ..dataset import (
    TXT,
    Dataset,
    Detections,
    Size,
    ids_of_names,
    no_predictions,
    plain_name,
    predicted_boxes,
    similar_image,
    true_boxes,
)
from .lines import LISTS_OF_CLASSES, read_texts


class Files(NamedTuple):
    """The files of a YOLO data set, by the names that an image and its label file share.

    images: the images that belong to the data set
    texts: the label files
    beside: all files in the folders of the images and of the labels, these among them
    beyond: images beside those of the data set, which a list leaves out
    lists: such lists
    """

    images: Mapping[str, Path]
    texts: Mapping[str, Path]
    beside: Sequence[Path]
    beyond: Mapping[str, Path] = MappingProxyType({})
    lists: Sequence[Path] = ()

    @property
    def others(self) -> list[Path]:
        """The files that are neither images nor labels."""
        own = by_real_place([*self.images.values(), *self.beyond.values(), *self.texts.values(), *self.lists])
        return sorted(path for place, path in by_real_place(self.beside).items() if place not in own)


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
    folder = implied_images(labels) if images is None else Path(images)
    by_name = find_images(folder)
    files = Files(by_name, texts, [*files_below(folder, None), *files_below(labels, None)])
    return yolo_dataset([*by_name], files, classes or {})


def read_yolo_predictions(labels: str | Path, dataset: Dataset) -> Detections:
    """Read a folder of YOLO predictions, as Ultralytics saves them with save_txt=True and save_conf=True.

    Parameters: labels, a folder of text files with lines of class, cx, cy, w, h, confidence, named like the images or
    like the last parts of their names, in that folder or below it; dataset, the images and their sizes.

    Returns the predictions of the data set's images; images without a text file have none.
    Raises ValueError, with file and line, for a malformed line, and for a text file without its image: that of another
    folder, such as train/001.txt for val/001, is not taken.
    """
    names, texts = {*dataset.names}, find_texts(Path(labels))
    others = sorted({*files_below(Path(labels), None)} - {*texts.values()})
    lists = [path for name, path in texts.items() if name not in names and path.name in LISTS_OF_CLASSES]
    texts = {name: path for name, path in texts.items() if path not in lists}
    places: dict[int, Path] = {}
    for (name, path), place in zip(texts.items(), matched([*texts], dataset.names, strip=True)):
        if place is None:
            hint = similar_image(name, dataset.names)
            raise ValueError(f"{path}: expected predictions for an image of the references, got no such image{hint}")
        if place in places:
            raise ValueError(f"{path}: expected one file for image {dataset.names[place]}, got two")
        places[place] = path
    files = [*places.values()]
    tables = read_texts(files, files, confidence=True, key_points=dataset.key_points).tables
    predictions = [no_predictions() for _ in dataset.names]
    for place, rows in zip(places, tables):
        predictions[place] = predicted_boxes(_in_pixels(rows, size_of(dataset, place)), rows[:, 5], rows[:, 0])
    left_out = {(PREDICTIONS, OF_CLASSES): [*map(str, lists)], BESIDE: [*map(str, others)]}
    census = Census({PREDICTIONS: len(files)}, left_out)
    return Detections(dataset, predictions, census=census)


def yolo_dataset(names: list[str], files: Files, classes: Mapping[int, str], key_points: int | None = None) -> Dataset:
    """The data set of images, which get these names, with their label files.

    Raises ValueError for a label file of no image, and for one that lies beside its image while others do not.
    """
    there = {*files.images, *files.beyond}
    alone = {name: path for name, path in files.texts.items() if name not in there}
    lists = [path for path in alone.values() if path.name in LISTS_OF_CLASSES]
    for name, path in alone.items():
        if path not in lists:
            raise ValueError(f"{path}: expected an image of that name, got none{similar_image(name, there)}")
    others = files.others
    misplaced = [path for path in others if path.suffix.lower() in TXT]
    images = {plain_name(path.stem) for path in [*files.images.values(), *files.beyond.values()] if misplaced}
    for path in misplaced:
        if plain_name(path.stem) in images:
            raise ValueError(f"{path}: expected labels in a folder of their own, as the others are, got some here")
    texts = {name: files.texts[name] for name in files.images if name in files.texts}
    unlisted = [path for name, path in files.texts.items() if name in files.beyond]
    tables, repeated = read_texts([*texts.values()], [*texts.values()], key_points=key_points)
    by_name, sizes = dict(zip(texts, tables)), [image_size(path) for path in files.images.values()]
    rows = [by_name.get(name, np.zeros((0, 5))) for name in files.images]
    references = [true_boxes(_in_pixels(table, size), table[:, 0]) for table, size in zip(rows, sizes)]
    reason = f"not in {' or '.join(path.name for path in files.lists)}"
    left_out = {
        REPEATED: repeated,
        (IMAGES, reason): files.beyond.values(),
        (LABELS, f"of images {reason}"): unlisted,
        (LABELS, OF_CLASSES): lists,
        BESIDE: others,
    }
    census = Census(
        {IMAGES: len(names), LABELS: len(texts), BOXES: sum(map(len, tables))},
        {kind: [*map(str, those)] for kind, those in left_out.items()},
    )
    paths = [*files.images.values()]
    return Dataset(names, references, dict(classes), [*paths], [*sizes], ids_of_names(names), census, key_points)


def find_texts(folder: Path) -> dict[str, Path]:
    """The text files in a folder and below it, by their paths in the folder without the suffix."""
    paths = files_below(folder, TXT) if folder.is_dir() else []
    texts: dict[str, Path] = {}
    for path in paths:
        name = path.relative_to(folder).with_suffix("").as_posix()
        if name in texts:
            raise ValueError(f"{path}: expected one text file of that name, got {texts[name].name} too")
        texts[name] = path
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
