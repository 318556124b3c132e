"""The types that every reader returns: a data set's images with their true boxes, and a detector's boxes on them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np

from ...arrays.box_objects import UNKNOWN_CLASS_ID
from ..places import matched, places_by_end, without_suffix
from .aliases import aliases_of
from .census import BOXES, IMAGES, Census

TXT = (".txt",)  # the suffix of labels, predictions and lists
Boxes = dict[str, np.ndarray]
Size = tuple[int, int]


class Dataset(NamedTuple):
    """Images and their true boxes; every field has an entry for each image, in one order.

    names: the path of each image in its folder, without the suffix, such as "val/000001"
    references: for each image, {"boxes": (m, 4) x1, y1, x2, y2 in pixels, "labels": (m,) class ids, "ignored": (m,)
        1 for a difficult object or a crowd, else 0}
    classes: class names by id, empty if the files have no names
    paths: the file of each image, None if there is none
    sizes: the width and height of each image in pixels, None if unknown
    ids: the image ids in COCO results
    census: what was read of the files, and what was left out
    key_points: how many numbers a line of YOLO's has for the key points of a box, if a data.yaml says so (kpt_shape)
    """

    names: list[str]
    references: list[Boxes]
    classes: dict[int, str]
    paths: list[Path | None]
    sizes: list[Size | None]
    ids: list[int | str]
    census: Census = Census()
    key_points: int | None = None


class Detections(NamedTuple):
    """A detector's predictions on the images of a data set.

    dataset: the images and their true boxes
    predictions: for each image, {"boxes": (n, 4) x1, y1, x2, y2 in pixels, "scores": (n,), "labels": (n,) class ids}
    aliases: predicted class names that the data set spells differently, each with the data set's spelling
    unknown_class_id: the class id of boxes called unknown, if they got a new one, since the data set uses the
        detector's for another class
    census: the files that were read, and those left out; every box in the files is used
    """

    dataset: Dataset
    predictions: list[Boxes]
    aliases: Mapping[str, str] = MappingProxyType({})
    unknown_class_id: int | None = None
    census: Census = Census()


def true_boxes(boxes: np.ndarray, labels: np.ndarray, ignored: np.ndarray | None = None) -> Boxes:
    """The true boxes of one image, none of them ignored by default."""
    ignored = np.zeros(len(labels), dtype=bool) if ignored is None else ignored
    return {"boxes": boxes.reshape(-1, 4), "labels": labels.astype(np.int64), "ignored": ignored.astype(np.int64)}


def predicted_boxes(boxes: np.ndarray, scores: np.ndarray, labels: np.ndarray) -> Boxes:
    """The predicted boxes of one image, as `Detections` hold them."""
    return {"boxes": boxes.reshape(-1, 4), "scores": scores, "labels": labels.astype(np.int64)}


def no_predictions() -> Boxes:
    """The predicted boxes of an image without any detections: no rows."""
    return predicted_boxes(np.zeros((0, 4)), np.zeros(0), np.zeros(0))


def split_by_image(columns: Mapping[str, np.ndarray], image: np.ndarray, number: int) -> list[Boxes]:
    """Split columns of boxes by image, keeping their order; `image` is the image of each row."""
    order = np.argsort(image, kind="stable")
    ends = np.searchsorted(image[order], np.arange(1, number))
    parts = {name: np.split(column[order], ends) for name, column in columns.items()}
    return [dict(zip(parts, row)) for row in zip(*parts.values())] if number else []


def ids_of_names(names: Sequence[str]) -> list[int | str]:
    """The image ids of COCO results, from file names: the last part of each name, as a number if it is one."""
    stems = [PurePosixPath(name).name for name in names]
    return [int(stem) if stem.isdecimal() else stem for stem in stems]


def find_image(dataset: Dataset) -> dict[str, int]:
    """The indices of the images by name, and by the end of a name below any of its folders, if it is unique."""
    return places_by_end(dataset.names)


def places_of_files(paths: Sequence[str], dataset: Dataset) -> list[int | None]:
    """The indices of the images in files, from their paths with or without suffixes; None for other files."""
    whole = matched(paths, dataset.names, cut=True)
    without = matched([*map(without_suffix, paths)], dataset.names, cut=True)
    return [other if place is None else place for place, other in zip(whole, without)]


def similar_image(name: str, images: Iterable[str]) -> str:
    """The end of an error about a name without an image: the image that it may mean, if there is one.

    >>> similar_image("val/B%201", ["val/b 1", "val/b 2"])
    "; 'b 1' differs from it in case, Unicode form, percent-encoding or a second suffix"
    """
    last, plain = PurePosixPath(name).name, plain_name(name)
    lasts = (PurePosixPath(image).name for image in images if plain_name(image) == plain)
    ways = "in case, Unicode form, percent-encoding or a second suffix"
    # as ASCII, since Unicode forms look alike
    return next((f"; {other!a} differs from it {ways}" for other in lasts if other != last), "")


def plain_name(path: str) -> str:
    """The last part of a path, without what tools change in names: case, Unicode form, escapes and suffixes."""
    return unicodedata.normalize("NFC", without_suffix(unquote(PurePosixPath(path).name)).casefold())


def subset(dataset: Dataset, image_set: str | Path) -> Dataset:
    """The images of a data set that a text file lists, in the order of the file.

    Parameters: image_set, a file with the name of an image in each line, the last parts of its name, or the path of its
    file; further columns, as in VOC's lists of a class, are not read. Raises ValueError, with file and line, for an
    image that the data set lacks, and for one that is listed twice.
    """
    lines = _lines(Path(image_set))
    files = [line.strip() for line in lines.values()]
    alone = [line.split()[0] for line in lines.values()]  # without further columns
    places: dict[int, int] = {}
    both = zip(places_of_files(files, dataset), places_of_files(alone, dataset))
    for (number, line), (whole, first) in zip(lines.items(), both):
        place = first if whole is None else whole
        if place is None or place in places:
            expected = "an image of the references" if place is None else "each image once"
            more = similar_image(line.split()[0], dataset.names) if place is None else " again"
            raise ValueError(f"{image_set}:{number}: expected {expected}, got {line.split()[0]!r}{more}")
        places[place] = number
    counts = [len(boxes["labels"]) for boxes in dataset.references]
    lost = {name: count for i, (name, count) in enumerate(zip(dataset.names, counts)) if i not in places}
    boxes = [name for name, count in lost.items() for _ in range(count)]
    reason = f"not in {Path(image_set).name}"
    return dataset._replace(
        names=[dataset.names[place] for place in places],
        references=[dataset.references[place] for place in places],
        paths=[dataset.paths[place] for place in places],
        sizes=[dataset.sizes[place] for place in places],
        ids=[dataset.ids[place] for place in places],
        census=Census(
            {**dataset.census.used, IMAGES: len(places), BOXES: sum(counts) - len(boxes)},
            {**dataset.census.left_out, (IMAGES, reason): [*lost], (BOXES, f"of images {reason}"): boxes},
        ),
    )


def listed_images(image_set: Path) -> dict[str, int]:
    """The first word of each line of a list of images, with the line's number."""
    names: dict[str, int] = {}
    for number, line in _lines(image_set).items():
        name = line.split()[0]
        if name in names:
            raise ValueError(f"{image_set}:{number}: expected each image once, got {name!r} again")
        names[name] = number
    return names


def _lines(image_set: Path) -> dict[int, str]:
    """The lines of a list of images that are not blank, by their numbers, from 1; backslashes separate folders."""
    try:
        lines = image_set.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        came = getattr(error, "strerror", None) or error
        raise ValueError(f"{image_set}: expected a list of images, got {came}") from error
    filled = {number: line.replace("\\", "/") for number, line in enumerate(lines, 1) if line.strip()}
    if not filled:
        raise ValueError(f"{image_set}: expected a list of images, got an empty one")
    return filled


def rename_classes(
    detections: Detections, names: Mapping[int, str], unknown_class_id: int = UNKNOWN_CLASS_ID
) -> Detections:
    """Translate the class ids of predictions, by their `names`, to the ids of the data set.

    Parameters: names, id → name of the predictions, in the data set's spelling or the other of COCO's and VOC's;
    unknown_class_id, which stays as it is, unless the data set has another class of that number. It then gets a new id,
    `Detections.unknown_class_id`, as do names that the data set lacks, above all of its own. Returns the detections
    with the ids of the data set. Raises ValueError for a predicted id without a name, and for a name that stands for
    two classes.
    """
    ours = {name: i for i, name in detections.dataset.classes.items()}
    if len(ours) < len(detections.dataset.classes) or len(set(names.values())) < len(names):
        raise ValueError(f"names: expected each once, got {sorted(names.values())}")
    free = ours.keys() - {*names.values()}  # a name that the predictions have too is no other spelling of theirs
    aliases = aliases_of([name for name in names.values() if name not in ours], free)
    new = max([*ours.values(), *names, unknown_class_id], default=0) + 1
    table = {i: ours.get(aliases.get(name, name), new + i) for i, name in sorted(names.items())}
    taken = unknown_class_id in ours.values() and table.get(unknown_class_id) != unknown_class_id
    unknown = 1 + max([*ours.values(), *table.values()]) if taken else None
    table[unknown_class_id] = unknown_class_id if unknown is None else unknown
    renamed = [_renamed(boxes, table) for boxes in detections.predictions]
    return Detections(detections.dataset, renamed, {**detections.aliases, **aliases}, unknown)


def _renamed(boxes: Boxes, table: Mapping[int, int]) -> Boxes:
    labels = boxes["labels"].tolist()
    missing = [label for label in labels if label not in table]
    if missing:
        raise ValueError(f"names: expected one for each predicted class, got none for {missing[0]}")
    return {**boxes, "labels": np.asarray([table[label] for label in labels], dtype=np.int64)}
