"""Detections from whatever the command line names: which reader a folder or a file is for, and which ids it uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from ..reasons import named, readable, reason
from .coco import coco_dataset, coco_detections, read_json
from .dataset import Dataset, Detections, rename_classes
from .dicts import load_dicts, read_dict_predictions, read_dicts
from .voc import read_voc, voc_list
from .yolo.data import SPLITS, YAML, read_yolo_data, yolo_data_texts
from .yolo.labels import read_yolo, read_yolo_predictions

_Read = TypeVar("_Read")


@readable()
def read_references(
    references: str | Path,
    *,
    images: str | Path | None = None,
    split: str | None = None,
    classes: Mapping[int, str] | None = None,
    one_based: bool = True,
) -> Dataset:
    """Read true boxes of any of the formats.

    Parameters: references, a folder of YOLO labels or of Pascal VOC annotations, a data.yaml, COCO annotations
    (.json), or dicts as of torchvision (.json, .pt); images, the folder of the images; split, of a data.yaml ("val"
    unless said), a folder below that of the labels, or a list in ImageSets/Main of Pascal VOC; classes, id → name,
    where the files give no names or, in Pascal VOC, no ids; one_based, of Pascal VOC: see `read_voc`.

    Returns the data set. Raises ValueError for what is none of these, and as the readers do.
    """
    return _references(Path(references), images, split, classes, one_based)[0]


@readable()
def read_detections(
    predictions: str | Path,
    references: str | Path,
    *,
    images: str | Path | None = None,
    split: str | None = None,
    classes: Mapping[int, str] | None = None,
    unknown_class_id: int = -1,
    one_based: bool = True,
) -> Detections:
    """Read predicted and true boxes, each of any of the formats.

    Parameters: predictions, a folder of YOLO predictions, COCO results (.json), or dicts as of torchvision (.json,
    .pt); classes, id → name of the predictions, which get the ids that the references have for these names;
    unknown_class_id, which stays as it is; the others as `read_references` has them.

    Returns the detections. Raises ValueError for what is none of these, and as the readers do. So too if ids of the
    predictions may mean other classes than those of the references and no `classes` say: YOLO counts classes from 0,
    COCO has ids of its own, and Pascal VOC has none. And for COCO results of categories that the references lack.
    """
    place = Path(predictions)
    dataset, theirs = _references(Path(references), images, split, classes, one_based)
    ours = _kind(place, "predictions")
    content = None if ours == "YOLO" else _content(place)
    if place.suffix == ".json" and isinstance(content, list):
        dicts = any(isinstance(entry, dict) and "boxes" in entry for entry in content)
        ours = None if dicts else "COCO"
    if classes is None and (theirs == "VOC" or None not in (ours, theirs)) and ours != theirs:
        raise ValueError(
            f"{place}: expected the names of the classes, since ids of {ours or 'these'} predictions may mean others"
            f" than those of {theirs} references; say them with --names data.yaml, or --names cat dog"
        )
    if ours == "YOLO":
        detections = read_yolo_predictions(place, dataset)
    elif ours == "COCO":
        detections = coco_detections(content, place, dataset)
        if classes is None:
            _check_categories(detections, place, unknown_class_id)
    else:
        detections = _with_file(place, read_dict_predictions, content, dataset)
    if classes is None or not dataset.classes or dict(classes) == dataset.classes:
        return detections
    return _with_file(place, rename_classes, detections, classes, unknown_class_id)


def texts_read(predictions: str | Path | None, references: str | Path, split: str = "val") -> Iterator[Path]:
    """The .txt, .json, .pt and .yaml files that `read_detections` reads, if they are there."""
    truth = Path(references)
    kind = _kind(truth, "references")
    for place in (
        None if predictions is None else Path(predictions),
        _of_split(truth, split) if kind == "YOLO" else truth,
    ):
        if place is not None:
            yield from place.rglob("*.txt") if place.is_dir() else [place]
    if kind == "VOC":
        yield voc_list(truth, split)
    if truth.suffix in YAML:
        yield from yolo_data_texts(truth, split)


def _check_categories(detections: Detections, place: Path, unknown_class_id: int) -> None:
    """Raise ValueError for a predicted id that is no category: ids that count from 0 are a usual mistake."""
    known = {*detections.dataset.classes, unknown_class_id}
    found = {label for boxes in detections.predictions for label in boxes["labels"].tolist()}
    if detections.dataset.classes and not found <= known:
        raise ValueError(
            f"{place}: expected category ids of the references, or {unknown_class_id} for unknown, got"
            f" {min(found - known)}; if the ids are others, say their names with --names"
        )


def _references(
    place: Path, images: str | Path | None, split: str | None, classes: Mapping[int, str] | None, one_based: bool
) -> tuple[Dataset, str | None]:
    """The data set, and whose class ids it has; None for dicts, whose ids are whatever the predictions have."""
    kind = _kind(place, "references")
    if place.suffix in YAML:
        _check_no_images(place, images)
        return read_yolo_data(place, split or "val"), kind
    if kind == "VOC":
        return read_voc(place, images, split=split, classes=classes, one_based=one_based), kind
    if kind == "YOLO":
        pictures = None if images is None else _of_split(Path(images), split or "val")
        return read_yolo(_of_split(place, split or "val"), pictures, classes=classes), kind
    content = _content(place)
    if isinstance(content, dict) and place.suffix == ".json":
        return coco_dataset(content, place, images), "COCO"
    _check_no_images(place, images)
    return _with_file(place, read_dicts, content, classes=classes), None


def _check_no_images(place: Path, images: str | Path | None) -> None:
    if images is not None:
        raise ValueError(f"{place}: expected no folder of images, for which it has no use, got {images}")


def _kind(place: Path, name: str) -> str | None:
    """The format of a folder or a file; None for a file whose content has to tell."""
    if place.is_dir():
        return "VOC" if name == "references" and any(place.glob("*.xml")) else "YOLO"
    if place.suffix in YAML and name == "references":
        return "YOLO"
    if place.suffix in (".json", ".pt") and place.is_file():
        return None
    known = "a folder, .json or .pt" if name == "predictions" else "a folder, a data.yaml, .json or .pt"
    raise ValueError(
        f"{place}: expected {name} in {known}, got {'another file' if place.exists() else 'nothing there'}"
    )


def _content(path: Path) -> Any:
    try:
        return load_dicts(path) if path.suffix == ".pt" else read_json(path)
    except (MemoryError, RecursionError) as error:
        raise ValueError(f"{path}: {reason(error)}") from error


def _of_split(folder: Path, split: str) -> Path:
    """The folder of a split in that of all splits; the folder itself if it has no splits."""
    for parent in (folder, folder / "labels"):
        if (parent / split).is_dir():
            return parent / split
        others = [name for name in SPLITS if (parent / name).is_dir()]
        if others:
            raise ValueError(f"{parent}: expected a folder {split!r} in it, got {', '.join(others)}")
    return folder


def _with_file(place: Path, read: Callable[..., _Read], *arguments: Any, **options: Any) -> _Read:
    """What a reader returns that knows of no file; its messages get the file's name."""
    with named(place):
        return read(*arguments, **options)
