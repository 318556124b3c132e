"""The table of box formats: each with its test, its reader, and the class ids in its files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from ...arrays.box_objects import UNKNOWN_CLASS_ID
from ..places import files_below, files_in
from ..reasons import named, readable, reason
from .class_files import are_class_files, read_class_files
from .coco import check_results, coco_dataset, coco_detections, read_json
from .dataset import TXT, Dataset, Detections, rename_classes, subset
from .dicts import load_dicts, read_dict_predictions, read_dicts
from .voc import XML, read_voc, voc_list
from .yolo import SPLITS, YAML, read_yolo, read_yolo_data, read_yolo_predictions, yolo_data_texts

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


# Read true and predicted boxes of any format, with the same class ids on both sides.


@readable()
def read_references(
    references: str | Path,
    *,
    images: str | Path | None = None,
    split: str | None = None,
    image_set: str | Path | None = None,
    classes: Mapping[int, str] | None = None,
    one_based: bool = True,
) -> Dataset:
    """Read true boxes of any format.

    Parameters: references, a folder of YOLO labels or of Pascal VOC annotations, a data.yaml, COCO annotations
    (.json), or dicts as of torchvision (.json, .pt); images, the folder of the images; split, of a data.yaml (by
    default "val"), a folder below that of the labels, or a list in ImageSets/Main of Pascal VOC; image_set, a file
    that lists the images to take, one a line; classes, id → name, where the files give no names or, in Pascal VOC, no
    ids; one_based, of Pascal VOC: see `read_voc`.

    Returns the data set. Raises ValueError for another format, and as the readers do.
    """
    options = Options(images, split, image_set, classes, one_based=one_based)
    return _references(Path(references), options)[0]


@readable()
def read_detections(
    predictions: str | Path,
    references: str | Path,
    *,
    images: str | Path | None = None,
    split: str | None = None,
    image_set: str | Path | None = None,
    classes: Mapping[int, str] | None = None,
    unknown_class_id: int | None = None,
    one_based: bool = True,
    score_field: str | None = None,
) -> Detections:
    """Read predicted and true boxes, each of any format.

    Parameters: predictions, a folder of YOLO predictions or of Pascal VOC results (a file a class), COCO results
    (.json), or dicts as of torchvision (.json, .pt); classes, id → name of the predictions, which get the ids that the
    references have for these names; unknown_class_id, as of `rename_classes`; score_field, the name of the confidence
    in COCO results, by default "score"; the others as in `read_references`.

    Returns the detections. Raises the readers' errors, and ValueError for another format, for COCO results with
    categories that the references lack, and if ids of predictions may mean other classes than in the references and
    names do not tell: YOLO counts classes from 0, COCO has ids of its own, and Pascal VOC has none.
    """
    options = Options(images, split, image_set, classes, unknown_class_id, one_based, score_field)
    source_of_truth = Path(references)
    dataset, true = _references(source_of_truth, options)
    source = Source(Path(predictions), dataset)
    predicted = format_of(source, PREDICTIONS, "predictions in a folder, .json or .pt")
    if classes is None and not _same_ids(predicted, true):
        raise ValueError(
            f"{source.path}: expected the names of the classes, since ids in {predicted.ids or 'these'} predictions may"
            f" mean other classes than in {true.name} references; use --names data.yaml, or --names cat dog"
        )
    if classes is not None and source_of_truth.is_dir() and (true.ids, predicted.ids) == ("YOLO", "COCO"):
        raise ValueError(
            f"{references}: expected a data.yaml, since a folder of labels does not say what its ids mean, and COCO"
            " counts classes otherwise; --names are those of the predicted classes"
        )
    detections = predicted.read(source, options)
    if classes is None or not dataset.classes or dict(classes) == dataset.classes:
        return detections
    if predicted.ids == NAMES:
        raise ValueError(f"{source.path}: expected no names of the predicted classes, which its files have, got some")
    with named(source.path):
        return rename_classes(detections, classes, unknown_class_id)


def texts_read(
    predictions: str | Path | None, references: str | Path, split: str = "val", image_set: str | Path | None = None
) -> Iterator[Path]:
    """The .txt, .json, .pt and .yaml files that `read_detections` may read, if they exist."""
    truth = Path(references)
    for place in (None if predictions is None else Path(predictions), truth):
        if place is not None:
            yield from files_below(place, TXT) if place.is_dir() else [place]
    if image_set is not None:
        yield Path(image_set)
    if truth.suffix in YAML:
        yield from yolo_data_texts(truth, split)
    else:
        yield voc_list(truth, split)


def _references(place: Path, options: Options) -> tuple[Dataset, Format[Dataset]]:
    source = Source(place)
    true = format_of(source, REFERENCES, "references in a folder, a data.yaml, .json or .pt")
    dataset = true.read(source, options)
    return dataset if options.image_set is None else subset(dataset, options.image_set), true


def _same_ids(predicted: Format[Detections], true: Format[Dataset]) -> bool:
    """Whether the class ids of predictions must have the references' meaning."""
    if predicted.ids == NAMES or predicted.ids == true.ids:
        return True
    return true.ids != NAMES and None in (predicted.ids, true.ids)
