"""Read true and predicted boxes of any format, with the same class ids on both sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ..places import files_below
from ..reasons import named, readable
from .dataset import TXT, Dataset, Detections, rename_classes, subset
from .registry import NAMES, PREDICTIONS, REFERENCES, Format, Options, Source, format_of
from .voc import voc_list
from .yolo.data import YAML, yolo_data_texts


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
