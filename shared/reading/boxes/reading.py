"""True and predicted boxes of any format, with the same class ids on both sides: the table of formats, and readers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ...arrays.arrays import are_alike
from ..cures import ANY, Advice, CurableError, Cure, Or
from ..image_clusters import NO_CLUSTERS, ImageClusters, clusters_of_images
from ..limits import COMMANDS, Limits
from ..objects import parse_json, read_torch_file
from ..places import Archives, files_below, files_in, stems_of
from ..reading import BOXES, IMAGES, LABELS, PREDICTED, PREDICTIONS, Census, Input, Place, Reading, as_paths
from ..reasons import named, readable, some
from .classes import guessed_classes
from .coco import are_results, coco_classes, read_coco, read_coco_results
from .dataset import (
    TXT,
    Choices,
    Dataset,
    Detections,
    check_options,
    labels_of,
    rename_classes,
    spelled_as_one,
    subset,
)
from .dicts import read_dict_predictions, read_dicts
from .doubts import doubts_of
from .other_formats import other_format
from .voc import XML, annotations_of, are_class_files, read_class_files, read_voc, voc_list
from .yolo import (
    YAML,
    class_names,
    data_yaml,
    innermost,
    names_in_lines,
    read_yaml,
    read_yolo,
    read_yolo_data,
    read_yolo_predictions,
    with_predicted_images,
    yolo_data_texts,
)

_OBJECTS = (".json", ".pt")
_SUFFIXES = (*TXT, *XML, *YAML, *_OBJECTS, ".zip")
NAMES = "names"
_BATCH = 64  # images that are added together
RELATIVE = Advice(
    "No images say how large they are: boxes are compared in fractions of the image, and the images are those that have"
    " a file of labels or of predictions.",
    Cure("to compare pixels", {"images": ANY}),
)


class Format(NamedTuple):
    """A format of true or predicted boxes.

    name: its name in messages
    ids: the class ids in its files: a format's, `NAMES` for names in place of ids, None for the ids of the other side
    is_it: whether a place has this format, provided that it has no earlier format of the table; of the place, the
        content of a .json or .pt, and for predictions the data set
    read: the reader, of the same and of the choices
    needs_none: the choices that it does not take, each with the reason
    """

    name: str
    ids: str | None
    is_it: Callable[..., bool]
    read: Callable[..., Any]
    needs_none: Mapping[str, str] = {}


def _read_dicts(path: Path, content: Any, of: Choices) -> Dataset:
    with named(path):
        return read_dicts(content, classes=of.classes)


def _predicted_dicts(path: Path, content: Any, dataset: Dataset, of: Choices) -> Detections:
    with named(path):
        return read_dict_predictions(content, dataset, leave_out=of.leave_out)


_NO_IMAGES = {"images": "no folder of images, since it needs none, got {}"}
_NO_SPLIT = {"split": "no split, since a single file has none, got {}"}
_NO_FIELD = {"score_field": "COCO results with {}, got another format"}
REFERENCES = (
    Format("VOC", NAMES, lambda path, content: bool(files_in(annotations_of(path), XML)), read_voc),
    Format("YOLO", "YOLO", lambda path, content: path.is_dir(), read_yolo),
    Format("YOLO", "YOLO", lambda path, content: data_yaml(path) is not None, read_yolo_data, _NO_IMAGES),
    Format(
        "COCO", "COCO", lambda path, content: isinstance(content, dict) and path.suffix == ".json", read_coco, _NO_SPLIT
    ),
    Format("dicts", None, lambda path, content: content is not None, _read_dicts, {**_NO_IMAGES, **_NO_SPLIT}),
)
PREDICTED_FORMATS = (
    Format("VOC", NAMES, lambda path, content, data: are_class_files(path, data), read_class_files, _NO_FIELD),
    Format("YOLO", "YOLO", lambda path, content, data: path.is_dir(), read_yolo_predictions, _NO_FIELD),
    Format(
        "COCO",
        "COCO",
        lambda path, content, data: content is not None and path.suffix == ".json" and are_results(content, path),
        read_coco_results,
    ),
    Format("dicts", None, lambda path, content, data: content is not None, _predicted_dicts, _NO_FIELD),
)


def _opened(
    path: Path, formats: Sequence[Format], expected: str, choices: Choices, *more: Dataset
) -> tuple[Format, Path, Any]:
    """The format of a place, the file or the folder, and the content of a .json or .pt.

    Raises ValueError for another format, a damaged file, and choices that the format lacks.
    """
    if path.is_dir() and (files := files_below(path, _OBJECTS)) and not files_below(path, (*TXT, *XML)):
        if len(files) > 1:
            other = other_format(files[0], _content(files[0])) and f", {other_format(files[0], _content(files[0]))}"
            raise ValueError(f"{files[1]}: expected one file, got {files[0].name} too{other}")
        (path,) = files
    content = _content(path) if path.suffix in _OBJECTS and path.is_file() else None
    if path.exists() and (other := other_format(path, content)):
        raise ValueError(f"{path}: expected {expected}, got {other}")
    form = next((form for form in formats if form.is_it(path, content, *more)), None)
    if form is None:
        raise ValueError(f"{path}: expected {expected}, got {'another file' if path.exists() else 'none'}")
    for name, why in form.needs_none.items():
        value = getattr(choices, name)
        if value is not None:
            raise ValueError(f"{path}: expected {why.format(value)}")
    return form, path, content


def _content(path: Path) -> Any:
    with named(path):
        wrong = "expected a list of dicts of tensors, got other objects or no .pt file"
        return read_torch_file(path, wrong) if path.suffix == ".pt" else parse_json(path.read_bytes())


@readable()
def read_references(references: str | Path, **choices: Any) -> Dataset:
    """Read true boxes of any format.

    Parameters: references, a folder of YOLO labels or of Pascal VOC annotations, a data.yaml, COCO annotations
    (.json), or dicts as of torchvision (.json, .pt); choices, of `Choices`.

    Returns the data set. Raises ValueError, with the file and the line or the entry, for malformed files and for
    another format.
    """
    return _references(Path(references), Choices(**choices))[0]


@readable()
def read_detections(predictions: str | Path, references: str | Path, **choices: Any) -> Detections:
    """Read predicted and true boxes, each of any format.

    Parameters: predictions, a folder of YOLO predictions or of Pascal VOC results (a file a class), COCO results
    (.json), or dicts as of torchvision (.json, .pt); references, as of `read_references`; choices, of `Choices`.

    Returns the detections. Raises ValueError as `read_references` does, for COCO results with categories that the
    references lack, and if ids of predictions may mean other classes than in the references and names do not tell:
    YOLO counts classes from 0, COCO has ids of its own, and Pascal VOC has none.
    """
    (detections,) = _detections([Path(predictions)], Path(references), Choices(**choices))
    return detections


@dataclass
class BoxReading(Reading):
    """The content of files of boxes: the `detections` of each model, on one data set, and the `doubts_of` them."""

    detections: dict[str, Detections] = field(default_factory=dict)
    doubts: Sequence[str] = ()

    def _batches(self, columns: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Columns, some images at a time."""
        number = max(map(len, columns.values()), default=0)
        for start in range(0, number, _BATCH):
            yield start, {name: column[start : start + _BATCH] for name, column in columns.items()}

    def check(self, options: Mapping[str, Any]) -> None:
        """Raise ValueError for options that do not suit the boxes."""
        for one in self.detections.values():
            check_options(options, one.dataset)


def reading_of(several: Mapping[str, Detections], clusters: ImageClusters = NO_CLUSTERS) -> BoxReading:
    """The reading of detectors by name, whose boxes are there, on one data set; clusters, of its images.

    Raises ValueError where images or classes are not the same.
    """
    first, *others = several.values()
    for other in others:
        if first.dataset.names != other.dataset.names:
            raise ValueError("first, second: expected detections on the same images, got others")
        if first.dataset.classes != other.dataset.classes:
            raise ValueError("first, second: expected classes of the same ids and names, got others")
        if not all(map(are_alike, first.dataset.references, other.dataset.references)):
            raise ValueError("references: expected the same of first and of second, got others")
    dataset = first.dataset
    return BoxReading(
        "openset_detection",
        {
            name: {"predictions": one.predictions, "references": one.dataset.references, **clusters.column}
            for name, one in several.items()
        },
        census=Census.of([dataset.census, *(one.census for one in several.values())]),
        images=dataset.names,
        classes=dataset.classes,
        sizes=dataset.sizes,
        noun_of_clusters=clusters.noun,
        detections=dict(several),
    )


@readable()
def read_boxes(
    predictions: Input,
    references: Place | Sequence[Place],
    *,
    names: Mapping[int, str] | Sequence[str] | None = None,
    groups: bool | None = None,
    clusters: str | None = None,
    clusters_from_name: str | None = None,
    limits: Limits = COMMANDS,
    **choices: Any,
) -> BoxReading:
    """Read the boxes of one detector or of several as columns of openset_detection.

    Parameters: predictions and references, files of a format of `read_detections`, as a folder, a .zip, or a list of
    files and .zips; predictions of several models by name, or as a list of files of COCO results, or of .zips that hold
    files of the same names; names, of the predicted classes, as `classes` of `Choices`, or words as of `read_names`;
    groups, whether folders of images are groups, as of `read_maps`: None, the default, for the categories of a data set
    alone, which boxes have none of; clusters and clusters_from_name, what images depend on, as of `clusters_of_images`;
    limits, of the files' sizes; choices, the others of `Choices`.

    Returns the columns: for each image a dict of its boxes. Raises ValueError as `read_detections` does, and for files
    that are too large.
    """
    archives = Archives(limits)
    classes = names if names is None or isinstance(names, Mapping) else read_names([*names])
    of = Choices(classes=classes, guesses=True, **choices)
    truth = _paths(references, "references", limits)
    with archives.naming():
        models = {name: _place(paths, archives) for name, paths in _models(predictions, truth, archives).items()}
        several = dict(zip(models, _detections([*models.values()], _place(truth, archives), of)))
    dataset = next(iter(several.values())).dataset
    dataset = dataset._replace(census=dataset.census.renamed(archives.named))
    several = {
        name: one._replace(dataset=dataset, census=one.census.renamed(archives.named)) for name, one in several.items()
    }
    census = Census.of([dataset.census, *(one.census for one in several.values())])
    more: dict[str, Any] = {"groups": folders} if groups and (folders := _folders(dataset.names)) else {}
    clustered = clusters_of_images(dataset.names, clusters, clusters_from_name, limits)
    more |= clustered.column
    doubts = doubts_of(several)
    options, guesses = guessed_classes(
        labels_of([boxes for one in several.values() for boxes in one.predictions]),
        labels_of(dataset.references),
        dataset.classes,
        of.unknown_class_id,
    )
    return BoxReading(
        "openset_detection",
        {
            name: {"predictions": one.predictions, "references": dataset.references, **more}
            for name, one in several.items()
        },
        options,
        guesses,
        [*_notes(dataset, several, census, doubts), *clustered.notes],
        census,
        [
            *(f"{name}: {one.census.contents(PREDICTIONS, PREDICTED)}" for name, one in several.items()),
            f"references: {dataset.census.contents(IMAGES, LABELS, BOXES)}",
        ],
        dataset.names,
        classes=dataset.classes,
        sizes=dataset.sizes,
        archives=archives,
        noun_of_clusters=clustered.noun,
        detections=several,
        doubts=doubts,
    )


def _notes(dataset: Dataset, several: Mapping[str, Detections], census: Census, doubts: Sequence[str]) -> list[str]:
    """Sentences on fractions, spellings, parts that are left out, and images with objects and without predictions."""
    notes: list[str] = [RELATIVE] if dataset.relative else []
    pairs = {name: first for one in several.values() for name, first in one.aliases.items()}
    notes += [f"C{spelled_as_one(pairs)[1:]}."] if pairs else []
    if census.text():
        notes.append(f"Left out: {census.text()}.")
    notes += [f"{note[:1].upper()}{note[1:]}{'' if note.endswith('?') else '.'}" for note in doubts]
    for name, one in several.items():
        both = zip(dataset.names, dataset.references, one.predictions)
        without = [image for image, true, predicted in both if len(true["labels"]) and not len(predicted["labels"])]
        of = f" of {name}" if len(several) > 1 else ""
        if without:
            notes.append(f"Images with references but no predictions{of}: {len(without):,} ({some(without)}).")
    return notes


def _folders(names: Sequence[str]) -> list[str]:
    """The folder of each image at the first depth where folders differ; an empty list if there is none.

    >>> _folders(["coco/train/0", "coco/val/x/1", "coco/val/2"]), _folders(["coco/0", "1"])
    (['train', 'val', 'val'], [])
    """
    parts = [name.split("/")[:-1] for name in names]
    depths = zip(*parts)
    return next(([*folders] for folders in depths if len({*folders}) > 1), [])


def _paths(places: Place | Sequence[Place], name: str, limits: Limits) -> list[Path]:
    paths = as_paths(places, name)
    if not paths:
        raise ValueError(f"{name}: expected files, got none")
    absent = next((path for path in paths if not path.exists()), None)
    if absent is not None:
        raise ValueError(f"{absent}: expected a file or a folder, got none")
    limits.check_files(path for path in paths if path.is_file())
    other = next((path for path in paths if path.is_file() and path.suffix.lower() not in _SUFFIXES), None)
    if other is not None and len(paths) > 1:
        raise ValueError(f"{other}: expected one of {', '.join(_SUFFIXES)}, got {other.suffix or 'no suffix'}")
    return paths


def _place(paths: Sequence[Path], archives: Archives) -> Path:
    """The place of an input; of an archive, its innermost folder."""
    place = archives.place(paths, in_folder=paths[0].suffix.lower() in (*TXT, *XML))
    return innermost(place) if place in archives.folders else place


def _models(predictions: Input, truth: Sequence[Path], archives: Archives) -> dict[str, list[Path]]:
    """The files of each model, by its name."""
    limits = archives.limits
    if isinstance(predictions, Mapping):
        return {str(name): _paths(places, name, limits) for name, places in predictions.items()}
    paths = _paths(predictions, "predictions", limits)
    stems = stems_of(paths)
    are_results = all(path.suffix.lower() in _OBJECTS for path in paths)
    apart = len({*stems}) == len(stems) > 1 and (are_results or _are_apart(paths, truth, archives))
    return {stem: [path] for stem, path in zip(stems, paths)} if apart else {"predictions": paths}


def _are_apart(paths: Sequence[Path], truth: Sequence[Path], archives: Archives) -> bool:
    """Whether folders and archives are detectors: they hold files of the same names, and are not called as references.

    An archive or a folder of each split has the names of those of the references.
    """
    are_folders = all(path.is_dir() or path.suffix.lower() == ".zip" for path in paths)
    if not are_folders or {*stems_of(paths)} == {*stems_of(truth)}:
        return False
    folders = [path if path.is_dir() else archives.folder(path) for path in paths]
    held = [{file.relative_to(folder) for file in files_below(folder, TXT)} for folder in folders]
    return len(set().union(*held)) < sum(map(len, held))


def hold_boxes(inputs: Sequence[Sequence[Path]]) -> bool:
    """Whether a file of the inputs is a folder, or of a kind of boxes, rather than of a table."""
    return any(path.is_dir() or _holds_boxes(path, all(inputs)) for paths in inputs for path in paths)


def _holds_boxes(path: Path, is_one_of_two: bool) -> bool:
    if path.suffix.lower() != ".json":  # a single .pt may hold the columns of both inputs
        return path.suffix.lower() in _SUFFIXES and (is_one_of_two or path.suffix.lower() != ".pt")
    try:
        content = parse_json(path.read_bytes())
    except ValueError:  # a table may have another encoding
        return False
    first = content[0] if isinstance(content, list) and content else None
    if isinstance(first, dict):
        return "boxes" in first or {"image_id", "bbox"} <= first.keys()
    return isinstance(content, dict) and "annotations" in content


def _detections(places: Sequence[Path], truth: Path, of: Choices) -> list[Detections]:
    """The detections of each place, on one data set."""
    dataset, true = _references(truth, of)
    for place in places if dataset.relative else []:
        if place.is_dir() and files_below(place, TXT) and not are_class_files(place, dataset):
            dataset = with_predicted_images(dataset, place)
    return [_predicted(place, dataset, true, truth, of) for place in places]


def _references(place: Path, of: Choices) -> tuple[Dataset, Format]:
    true, path, content = _opened(place, REFERENCES, "references in a folder, a data.yaml, .json or .pt", of)
    dataset: Dataset = true.read(path, content, of)
    return dataset if of.image_set is None or true.read is read_voc else subset(dataset, of.image_set), true


def _predicted(place: Path, dataset: Dataset, true: Format, truth: Path, of: Choices) -> Detections:
    predicted, path, content = _opened(place, PREDICTED_FORMATS, "predictions in a folder, .json or .pt", of, dataset)
    if of.classes is None and not _same_ids(predicted, true):
        raise CurableError(
            f"{path}: expected the names of the classes, since ids in {predicted.ids or 'these'} predictions may"
            f" mean other classes than in {true.name} references",
            Cure("to name them", {"names": Or(["data.yaml"], ["cat", "dog"])}),
        )
    classes = dataset.classes
    if of.classes is not None and truth.is_dir() and (true.ids, predicted.ids) == ("YOLO", "COCO"):
        raise ValueError(
            f"{truth}: expected a data.yaml, since a folder of labels does not say what its ids mean, and COCO"
            " counts classes otherwise; names that are stated are those of the predicted classes"
        )
    if dataset.relative and predicted.ids != "YOLO":
        raise ValueError(
            f"{path}: expected the images, since these boxes are in pixels and the labels in fractions of the"
            " image; say where the images are"
        )
    detections: Detections = predicted.read(path, content, dataset, of)
    if of.classes is None or not classes or dict(of.classes) == classes:
        return detections
    if predicted.ids == NAMES:
        raise ValueError(f"{path}: expected no names of the predicted classes, which its files have, got some")
    with named(path):
        return rename_classes(detections, of.classes, of.unknown_class_id)


def _same_ids(predicted: Format, true: Format) -> bool:
    """Whether the class ids of predictions must have the references' meaning."""
    if predicted.ids == NAMES or predicted.ids == true.ids:
        return True
    return true.ids != NAMES and None in (predicted.ids, true.ids)


def texts_read(place: str | Path, split: str = "val") -> Iterator[Path]:
    """The text files at a place that the readers may read, if they exist."""
    place = Path(place)
    yield from files_below(place, TXT) if place.is_dir() else [place]
    yield from yolo_data_texts(place, split) if place.suffix in YAML else [voc_list(place, split)]


def read_names(words: Sequence[str]) -> dict[int, str]:
    """Class names by id, from a file or from the names themselves, numbered from 0.

    Parameters: words, names or one file: a data.yaml, COCO annotations (.json), or .txt or .names with a name on each
    line.

    >>> read_names(["cat", "dog"])
    {0: 'cat', 1: 'dog'}
    """
    if not words:
        raise ValueError("names: expected names of classes, or a file of them, got none")
    path = Path(words[0])
    if len(words) > 1 or path.suffix not in (*YAML, ".json", ".txt", ".names"):
        return dict(enumerate(words))
    if path.suffix in YAML:
        return class_names(read_yaml(path), path)
    if path.suffix != ".json":
        return names_in_lines(path)
    content = _content(path)
    return coco_classes(content.get("categories") if isinstance(content, dict) else None, path)
