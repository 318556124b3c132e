"""Match the image names of predictions and references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...reading.boxes.classes import one_id_each
from ..serving.limits import RefusedError
from .archives import FOLDER, keys, last_parts, pairing_parts, some
from .data import CLASS, Data

FILES, IDS = "files of images", "ids of images"  # names of Data that `with_names` replaces


def check_distinct(names: Sequence[str], files: Sequence[str]) -> None:
    """Raise RefusedError for two files of images with one name."""
    first: dict[str, str] = {}
    for name, file in zip(names, files):
        if name in first:
            raise RefusedError(f"expected one file of each image, got {first[name]} and {file}")
        first[name] = file


def with_names(sources: Sequence[Data]) -> list[Data]:
    """Give images equal names in predictions and references: as many last parts of their paths as distinguish them,
    and as show that two of one name are not in different folders.

    The names of classes and the sizes of images are those of the references; both spellings of a class have one id.

    Raises ValueError for boxes of two formats or of two kinds of files, and for results of images that are not in
    COCO's annotations.
    """
    forms = [data.options["box_format"] for data in sources if "box_format" in data.options]
    if len(set(forms)) > 1:
        raise ValueError(
            f"boxes: expected predictions and references in one format, got {' and '.join(forms)}; use YOLO's files "
            "for both, in fractions of the image, or COCO's for both, in pixels"
        )
    by_id = dict(zip(sources[-1].names.get(IDS, ()), sources[-1].names.get(FILES, ())))
    parts = max((_parts(data) for data in sources), default=1)
    predicted, true = ([*dict.fromkeys(_files(data, by_id))] for data in (sources[0], sources[-1]))
    parts = pairing_parts(predicted, true, parts)
    renamed = [_renamed(data, by_id, parts) for data in sources]
    known = renamed[-1]
    return [_with_one_id_each(data, known.classes)._replace(sizes=known.sizes) for data in renamed]


def _with_one_id_each(data: Data, classes: Mapping[int, str]) -> Data:
    """Data with the names of classes, and one id for both spellings of a class."""
    ids, labels = one_id_each(classes), data.arrays.get(CLASS)
    if ids and labels is not None:
        labels = np.asarray([ids.get(label, label) for label in labels.tolist()], dtype=labels.dtype)
        data = data._replace(arrays={**data.arrays, CLASS: labels})
    return data._replace(classes=classes)


def _parts(data: Data) -> int:
    """The number of last parts of the paths that distinguish the images of each detector, or of the objects."""
    own = [files for name, files in data.names.items() if name not in (FILES, IDS, FOLDER)]
    return max((keys(files)[0] for files in own or [data.names.get(FILES, [])]), default=1)


def _files(data: Data, by_id: Mapping[Any, str]) -> list[str]:
    """The paths of the images, if these are of files."""
    if data.options.get("box_format") not in ("cxcywh", "xywh") or "image" not in data.arrays:
        return []
    return [*data.names.get(FILES, []), *(by_id.get(image, str(image)) for image in data.arrays["image"].tolist())]


def _renamed(data: Data, by_id: Mapping[Any, str], parts: int) -> Data:
    if data.options.get("box_format") not in ("cxcywh", "xywh") or "image" not in data.arrays:
        return data
    both = [name for name in data.arrays if name.endswith(": image")]
    if both:
        raise ValueError(
            f"boxes: expected one kind of files in one place, got the images of several: image, {', '.join(both)}"
        )
    images = data.arrays["image"].tolist()
    if data.options["box_format"] == "xywh":
        unknown = dict.fromkeys(str(image) for image in images if image not in by_id)
        if unknown and by_id:
            raise ValueError(f"predictions: expected results of images of the annotations, got {some([*unknown])}")
        images = [by_id.get(image, str(image)) for image in images]
    names = {name: files for name, files in data.names.items() if name != IDS}
    names = {name: files if name == FOLDER else last_parts(files, parts) for name, files in names.items()}
    if FILES in names:
        names["image"] = names.pop(FILES)
    short = np.asarray(last_parts(images, parts), dtype=object)
    sizes = dict(zip(last_parts([*data.sizes], parts), data.sizes.values()))
    return data._replace(arrays={**data.arrays, "image": short}, names=names, sizes=sizes)
