"""The table of box formats: each with its test, its reader, and the class ids in its files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from ...arrays.box_objects import UNKNOWN_CLASS_ID
from ..places import files_in
from ..reasons import named, reason
from .class_files import are_class_files, read_class_files
from .coco import check_results, coco_dataset, coco_detections, read_json
from .dataset import Dataset, Detections
from .dicts import load_dicts, read_dict_predictions, read_dicts
from .voc import XML, read_voc
from .yolo.data import SPLITS, YAML, read_yolo_data
from .yolo.labels import read_yolo, read_yolo_predictions

NAMES = "names"
_Read = TypeVar("_Read", Dataset, Detections)


class Options(NamedTuple):
    """The options of `read_references` and `read_detections`."""

    images: str | Path | None = None
    split: str | None = None
    image_set: str | Path | None = None
    classes: Mapping[int, str] | None = None
    unknown_class_id: int | None = None
    one_based: bool = True
    score_field: str | None = None


class Source:
    """A folder or a file of true boxes, or of predicted boxes on a data set's images."""

    def __init__(self, path: Path, dataset: Dataset | None = None) -> None:
        self.path = path
        self.dataset = dataset or Dataset([], [], {}, [], [], [])

    @cached_property
    def content(self) -> Any:
        """The objects in a .json or .pt file; None for any other path. Raises ValueError for a damaged file."""
        if self.path.suffix not in (".json", ".pt") or not self.path.is_file():
            return None
        try:
            return load_dicts(self.path) if self.path.suffix == ".pt" else read_json(self.path)
        except (MemoryError, RecursionError) as error:
            raise ValueError(f"{self.path}: {reason(error)}") from error


@dataclass(frozen=True)
class Format(Generic[_Read]):
    """A format of true or predicted boxes.

    name: its name in messages
    ids: the class ids in its files: a format's, `NAMES` for names in place of ids, None for the ids of the other side
    is_it: whether a folder or file has this format, provided that it has no earlier format of the table
    read: the reader
    """

    name: str
    ids: str | None
    is_it: Callable[[Source], bool]
    read: Callable[[Source, Options], _Read]


def format_of(source: Source, formats: Sequence[Format[_Read]], expected: str) -> Format[_Read]:
    """The first format that matches a folder or a file. Raises ValueError if none does."""
    for form in formats:
        if form.is_it(source):
            return form
    came = "another file" if source.path.exists() else "none"
    raise ValueError(f"{source.path}: expected {expected}, got {came}")


def _is_folder(source: Source) -> bool:
    return source.path.is_dir()


def _holds_objects(source: Source) -> bool:
    return source.path.suffix in (".json", ".pt") and source.path.is_file()


def _are_annotations(source: Source) -> bool:
    return isinstance(source.content, dict) and source.path.suffix == ".json"  # a damaged .pt is named here


def _are_results(source: Source) -> bool:
    """Whether a file is a list of COCO's results, rather than of dicts with boxes. Raises ValueError for no list."""
    if source.content is None or source.path.suffix != ".json":
        return False
    check_results(source.content, source.path)
    return not any(isinstance(entry, dict) and "boxes" in entry for entry in source.content)


def _read_voc(source: Source, options: Options) -> Dataset:
    return read_voc(  # does not open annotations of other images
        source.path,
        options.images,
        split=options.split,
        image_set=options.image_set,
        classes=options.classes,
        one_based=options.one_based,
    )


def _read_yolo(source: Source, options: Options) -> Dataset:
    split = options.split or "val"
    images = None if options.images is None else _of_split(Path(options.images), split)
    labels = _of_split(source.path, split)
    if options.split is not None and labels.name in SPLITS and labels.name != split:
        raise ValueError(f"{source.path}: expected the labels of {split}, got those of {labels.name}")
    return read_yolo(labels, images, classes=options.classes)


def _read_yolo_data(source: Source, options: Options) -> Dataset:
    _check_no_images(source, options)
    return read_yolo_data(source.path, options.split or "val")


def _read_coco(source: Source, options: Options) -> Dataset:
    _check_no_split(source, options)
    return coco_dataset(source.content, source.path, options.images)


def _read_dicts(source: Source, options: Options) -> Dataset:
    _check_no_images(source, options)
    _check_no_split(source, options)
    with named(source.path):
        return read_dicts(source.content, classes=options.classes)


def _predicted_by_class(source: Source, options: Options) -> Detections:
    _check_no_score_field(source, options)
    return read_class_files(
        source.path, source.dataset, unknown_class_id=options.unknown_class_id, one_based=options.one_based
    )


def _predicted_yolo(source: Source, options: Options) -> Detections:
    _check_no_score_field(source, options)
    return read_yolo_predictions(source.path, source.dataset)


def _predicted_coco(source: Source, options: Options) -> Detections:
    detections = coco_detections(source.content, source.path, source.dataset, options.score_field or "score")
    if options.classes is None:
        _check_categories(detections, source.path, options.unknown_class_id)
    return detections


def _predicted_dicts(source: Source, options: Options) -> Detections:
    _check_no_score_field(source, options)
    with named(source.path):
        return read_dict_predictions(source.content, source.dataset)


def _check_categories(detections: Detections, place: Path, unknown_class_id: int | None) -> None:
    """Raise ValueError for a predicted id that is not a category: ids counted from 0 are a common mistake."""
    unknown_class_id = UNKNOWN_CLASS_ID if unknown_class_id is None else unknown_class_id
    known = {*detections.dataset.classes, unknown_class_id}
    labels = {label for boxes in detections.predictions for label in boxes["labels"].tolist()}
    if detections.dataset.classes and not labels <= known:
        other = min(labels - known)
        raise ValueError(
            f"{place}: expected category ids of the references, or {unknown_class_id} for unknown, got {other}; "
            f"if it stands for unknown, pass --unknown-id {other}; if ids mean other classes, name these with --names"
        )


def _check_no_images(source: Source, options: Options) -> None:
    if options.images is not None:
        raise ValueError(f"{source.path}: expected no folder of images, since it needs none, got {options.images}")


def _check_no_split(source: Source, options: Options) -> None:
    if options.split is not None:
        raise ValueError(f"{source.path}: expected no split, since a single file has none, got {options.split}")


def _check_no_score_field(source: Source, options: Options) -> None:
    if options.score_field is not None:
        raise ValueError(f"{source.path}: expected COCO results with {options.score_field}, got another format")


def _of_split(folder: Path, split: str) -> Path:
    """The subfolder of a split; the folder itself if it has no splits."""
    for parent in (folder, folder / "labels"):
        if (parent / split).is_dir():
            return parent / split
        others = [name for name in SPLITS if (parent / name).is_dir()]
        if others:
            raise ValueError(f"{parent}: expected a folder {split!r} in it, got {', '.join(others)}")
    return folder


REFERENCES = (
    Format("VOC", NAMES, lambda source: bool(files_in(source.path, XML)), _read_voc),
    Format("YOLO", "YOLO", _is_folder, _read_yolo),
    Format("YOLO", "YOLO", lambda source: source.path.suffix in YAML, _read_yolo_data),
    Format("COCO", "COCO", _are_annotations, _read_coco),
    Format("dicts", None, _holds_objects, _read_dicts),
)
PREDICTIONS = (
    Format("VOC", NAMES, lambda source: are_class_files(source.path, source.dataset), _predicted_by_class),
    Format("YOLO", "YOLO", _is_folder, _predicted_yolo),
    Format("COCO", "COCO", _are_results, _predicted_coco),
    Format("dicts", None, _holds_objects, _predicted_dicts),
)
