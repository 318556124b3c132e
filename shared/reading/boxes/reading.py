"""True and predicted boxes of any format, with the same class ids on both sides: the table of formats, and readers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ...arrays.box_objects import UNKNOWN_CLASS_ID
from ..limits import COMMANDS, Limits
from ..places import IMAGE_SUFFIXES, Archives, files_below, files_in, implied_images
from ..reading import BOXES, IMAGES, LABELS, PREDICTED, PREDICTIONS, Census, Input, Place, Reading, as_paths
from ..reasons import named, readable, reason, some
from .coco import check_results, coco_classes, read_coco, read_coco_results, read_json
from .dataset import (
    TXT,
    Dataset,
    Detections,
    check_options,
    labels_of,
    means_unknown,
    rename_classes,
    spelled_as_one,
    subset,
)
from .dicts import load_dicts, read_dict_predictions, read_dicts
from .voc import XML, are_class_files, read_class_files, read_voc, voc_list
from .yolo import (
    SPLITS,
    YAML,
    class_names,
    read_relative,
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
RELATIVE = (
    "No images say how large they are: boxes are compared in fractions of the image, and the images are those that have"
    " a file of labels or of predictions. Say where the images are (images=, --images) for pixels."
)


@dataclass(frozen=True)
class Choices:
    """The choices of the readers of boxes, which are their keyword arguments.

    images: the folder of the images
    split: of a data.yaml (by default "val"), a folder below that of the labels, or a list in ImageSets/Main of Pascal
        VOC
    image_set: a file that lists the images to take, one a line
    classes: id → name of the predictions, which get the ids that the references have for these names; and of the
        references, where the files give no names or, in Pascal VOC, no ids
    unknown_class_id: as of `rename_classes`
    one_based: whether pixels count from 1 in Pascal VOC, see `read_voc`
    score_field: the name of the confidence in COCO results, by default "score"
    leave_out: whether to leave out labels and predictions of images that are not there
    """

    images: str | Path | None = None
    split: str | None = None
    image_set: str | Path | None = None
    classes: Mapping[int, str] | None = None
    unknown_class_id: int | None = None
    one_based: bool = True
    score_field: str | None = None
    leave_out: bool = False

    def of(self, *names: str) -> dict[str, Any]:
        """Some of the choices, as keyword arguments."""
        return {name: getattr(self, name) for name in names}


class Source:
    """A folder or a file of true boxes, or of predicted boxes on a data set's images.

    guess: whether an id that is no category may be that of unknown
    """

    def __init__(self, path: Path, dataset: Dataset | None = None, guess: bool = False) -> None:
        if path.is_dir() and (files := files_below(path, _OBJECTS)) and not files_below(path, (*TXT, *XML)):
            if len(files) > 1:
                raise ValueError(f"{files[1]}: expected one file, got {files[0].name} too")
            (path,) = files
        self.path, self.guess = path, guess
        self.dataset = dataset or Dataset([], [], {}, [], [], [])

    @cached_property
    def content(self) -> Any:
        """The objects in a .json or .pt file; None for any other path. Raises ValueError for a damaged file."""
        if self.path.suffix not in _OBJECTS or not self.path.is_file():
            return None
        try:
            return load_dicts(self.path) if self.path.suffix == ".pt" else read_json(self.path)
        except (MemoryError, RecursionError) as error:
            raise ValueError(f"{self.path}: {reason(error)}") from error

    @cached_property
    def annotations(self) -> Path:
        """The folder of Pascal VOC's annotations: this one, or Annotations in it."""
        return self.path if files_in(self.path, XML) else self.path / "Annotations"

    @cached_property
    def data(self) -> Path | None:
        """The data.yaml that this is, or that is in it. Raises ValueError for several."""
        files = files_in(self.path, YAML) if self.path.is_dir() else [self.path]
        if len(files) > 1:
            raise ValueError(f"{files[1]}: expected one file with names of classes, got {files[0].name} too")
        return files[0] if files and files[0].suffix in YAML else None


class Format(NamedTuple):
    """A format of true or predicted boxes.

    name: its name in messages
    ids: the class ids in its files: a format's, `NAMES` for names in place of ids, None for the ids of the other side
    is_it: whether a folder or file has this format, provided that it has no earlier format of the table
    read: the reader
    needs_none: the options that it does not take, each with the reason
    """

    name: str
    ids: str | None
    is_it: Callable[[Source], bool]
    read: Callable[[Source, Choices], Any]
    needs_none: Mapping[str, str] = {}


def _format_of(source: Source, formats: Sequence[Format], expected: str, choices: Choices) -> Format:
    """The first format that matches a folder or a file. Raises ValueError if none does, and for options it lacks."""
    form = next((form for form in formats if form.is_it(source)), None)
    if form is None:
        came = "another file" if source.path.exists() else "none"
        raise ValueError(f"{source.path}: expected {expected}, got {came}")
    for name, why in form.needs_none.items():
        value = getattr(choices, name)
        if value is not None:
            raise ValueError(f"{source.path}: expected {why.format(value)}")
    return form


def _are_results(source: Source) -> bool:
    """Whether a file is a list of COCO's results, rather than of dicts with boxes. Raises ValueError for no list."""
    if source.content is None or source.path.suffix != ".json":
        return False
    check_results(source.content, source.path)
    return not any(isinstance(entry, dict) and "boxes" in entry for entry in source.content)


def _read_voc(source: Source, of: Choices) -> Dataset:
    # does not open annotations of other images
    options = of.of("images", "split", "image_set", "classes", "one_based", "leave_out")
    return read_voc(source.annotations, **options)


def _read_yolo(source: Source, of: Choices) -> Dataset:
    split, data = of.split or "val", source.data
    content = {} if data is None else read_yaml(data)
    if data is not None and content.get(split) and files_below(source.path, IMAGE_SUFFIXES):
        return read_yolo_data(data, split, leave_out=of.leave_out)
    classes = of.classes if data is None else class_names(content, data)
    if of.images is None and not _has_images(source.path):
        labels = _innermost(source.path) if of.split is None else _of_split(source.path, split)
        return read_relative(labels, classes or {}, data)
    images = None if of.images is None else _of_split(Path(of.images), split)
    labels = _of_split(source.path, split)
    if of.split is not None and labels.name in SPLITS and labels.name != split:
        raise ValueError(f"{source.path}: expected the labels of {split}, got those of {labels.name}")
    return read_yolo(labels, images, classes=classes, leave_out=of.leave_out)


def _has_images(labels: Path) -> bool:
    with suppress(ValueError):
        return implied_images(labels).is_dir()
    return bool(files_below(labels, IMAGE_SUFFIXES))


def _read_dicts(source: Source, of: Choices) -> Dataset:
    with named(source.path):
        return read_dicts(source.content, classes=of.classes)


def _predicted_coco(source: Source, of: Choices) -> Detections:
    field, content = of.score_field or "score", source.content
    detections = read_coco_results(
        source.path, source.dataset, score_field=field, content=content, leave_out=of.leave_out
    )
    unknown = UNKNOWN_CLASS_ID if of.unknown_class_id is None else of.unknown_class_id
    classes = detections.dataset.classes
    if of.classes is not None or not classes:
        return detections
    predicted = labels_of(detections.predictions)
    others = predicted - {*classes, unknown}
    if not others:
        return detections
    # ids that count from another number are a common mistake: the last is one more, and the first is missing
    last = max(classes) + (min(classes) not in predicted)
    if source.guess and of.unknown_class_id is None and len(others) == 1 and not 0 <= min(others) <= last:
        return detections._replace(unknown_class_id=min(others))
    raise ValueError(
        f"{source.path}: expected category ids of the references, or {unknown} for unknown, got {min(others)}; "
        f"if it stands for unknown, pass --unknown-id {min(others)}; if ids mean other classes, name these with --names"
    )


def _predicted_dicts(source: Source, of: Choices) -> Detections:
    with named(source.path):
        return read_dict_predictions(source.content, source.dataset, leave_out=of.leave_out)


def _predicted_by_class(source: Source, of: Choices) -> Detections:
    return read_class_files(source.path, source.dataset, **of.of("unknown_class_id", "one_based", "leave_out"))


def _of_split(folder: Path, split: str) -> Path:
    """The subfolder of a split, that of labels or images, or the folder itself."""
    for parent in (folder, folder / "labels"):
        if (parent / split).is_dir():
            return parent / split
        others = [name for name in SPLITS if (parent / name).is_dir()]
        if others:
            raise ValueError(f"{parent}: expected a folder {split!r} in it, got {', '.join(others)}")
    return folder / "labels" if (folder / "labels").is_dir() else folder


_NO_IMAGES = {"images": "no folder of images, since it needs none, got {}"}
_NO_SPLIT = {"split": "no split, since a single file has none, got {}"}
_NO_FIELD = {"score_field": "COCO results with {}, got another format"}
REFERENCES = (
    Format("VOC", NAMES, lambda source: bool(files_in(source.annotations, XML)), _read_voc),
    Format("YOLO", "YOLO", lambda source: source.path.is_dir(), _read_yolo),
    Format(
        "YOLO",
        "YOLO",
        lambda source: source.data is not None,
        lambda source, of: read_yolo_data(source.path, of.split or "val", leave_out=of.leave_out),
        _NO_IMAGES,
    ),
    Format(
        "COCO",
        "COCO",
        # a damaged .pt is named here
        lambda source: isinstance(source.content, dict) and source.path.suffix == ".json",
        lambda source, of: read_coco(source.path, of.images, content=source.content),
        _NO_SPLIT,
    ),
    Format("dicts", None, lambda source: source.content is not None, _read_dicts, {**_NO_IMAGES, **_NO_SPLIT}),
)
PREDICTED_FORMATS = (
    Format("VOC", NAMES, lambda source: are_class_files(source.path, source.dataset), _predicted_by_class, _NO_FIELD),
    Format(
        "YOLO",
        "YOLO",
        lambda source: source.path.is_dir(),
        lambda source, of: read_yolo_predictions(source.path, source.dataset, leave_out=of.leave_out),
        _NO_FIELD,
    ),
    Format("COCO", "COCO", _are_results, _predicted_coco),
    Format("dicts", None, lambda source: source.content is not None, _predicted_dicts, _NO_FIELD),
)


@readable()
def read_references(references: str | Path, **choices: Any) -> Dataset:
    """Read true boxes of any format.

    Parameters: references, a folder of YOLO labels or of Pascal VOC annotations, a data.yaml, COCO annotations
    (.json), or dicts as of torchvision (.json, .pt); choices, of `Choices`.

    Returns the data set. Raises ValueError for another format, and as the readers do.
    """
    return _references(Path(references), Choices(**choices))[0]


@readable()
def read_detections(predictions: str | Path, references: str | Path, **choices: Any) -> Detections:
    """Read predicted and true boxes, each of any format.

    Parameters: predictions, a folder of YOLO predictions or of Pascal VOC results (a file a class), COCO results
    (.json), or dicts as of torchvision (.json, .pt); references, as of `read_references`; choices, of `Choices`.

    Returns the detections. Raises the readers' errors, and ValueError for another format, for COCO results with
    categories that the references lack, and if ids of predictions may mean other classes than in the references and
    names do not tell: YOLO counts classes from 0, COCO has ids of its own, and Pascal VOC has none.
    """
    (detections,) = _detections([Path(predictions)], Path(references), Choices(**choices))
    return detections


@dataclass
class BoxReading(Reading):
    """The content of files of boxes: `detections` are those of each model, on one data set."""

    detections: dict[str, Detections] = field(default_factory=dict)

    def check(self, options: Mapping[str, Any]) -> None:
        """Raise ValueError for options that do not suit the boxes."""
        for one in self.detections.values():
            check_options(options, one.dataset)


@readable()
def read_boxes(
    predictions: Input,
    references: Place | Sequence[Place],
    *,
    names: Mapping[int, str] | Sequence[str] | None = None,
    groups: bool | None = None,
    limits: Limits = COMMANDS,
    **choices: Any,
) -> BoxReading:
    """Read the boxes of one detector or of several as columns of openset_detection.

    Parameters: predictions and references, files of a format of `read_detections`, as a folder, a .zip, or a list of
    files and .zips; predictions of several models by name, or as a list of files of COCO results, or of .zips that hold
    files of the same names; names, of the predicted classes, as `classes` of `Choices`, or words as of `read_names`;
    groups, whether folders of images are groups, as of `read_maps`: None, the default, for the categories of a data set
    alone, which boxes have none of; limits, of the files' sizes; choices, the others of `Choices`.

    Returns the columns: for each image a dict of its boxes. Raises ValueError as `read_detections` does, and for files
    that are too large.
    """
    archives = Archives(limits)
    classes = names if names is None or isinstance(names, Mapping) else read_names([*names])
    of = Choices(classes=classes, **choices)
    truth = _paths(references, "references", limits)
    with archives.naming():
        models = {name: _place(paths, archives) for name, paths in _models(predictions, truth, archives).items()}
        several = dict(zip(models, _detections([*models.values()], _place(truth, archives), of, guess=True)))
    dataset = next(iter(several.values())).dataset
    dataset = dataset._replace(census=dataset.census.renamed(archives.named))
    several = {
        name: one._replace(dataset=dataset, census=one.census.renamed(archives.named)) for name, one in several.items()
    }
    census = Census.of([dataset.census, *(one.census for one in several.values())])
    more = {"groups": folders} if groups and (folders := _folders(dataset.names)) else {}
    options, guess = guessed_options(
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
        [guess] if guess else [],
        _notes(dataset, several, census),
        census,
        [
            *(f"{name}: {one.census.contents(PREDICTIONS, PREDICTED)}" for name, one in several.items()),
            f"references: {dataset.census.contents(IMAGES, LABELS, BOXES)}",
        ],
        dataset.names,
        classes=dataset.classes,
        sizes=dataset.sizes,
        archives=archives,
        detections=several,
    )


def _notes(dataset: Dataset, several: Mapping[str, Detections], census: Census) -> list[str]:
    """Sentences on fractions, spellings, what is left out, and images with objects and without predictions."""
    notes = [RELATIVE] if dataset.relative else []
    pairs = {name: first for one in several.values() for name, first in one.aliases.items()}
    notes += [f"C{spelled_as_one(pairs)[1:]}."] if pairs else []
    if census.text():
        notes.append(f"Left out: {census.text()}.")
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
    return _innermost(place) if place in archives.folders else place


def _innermost(folder: Path) -> Path:
    """The folder that holds all files, unless that is a split's."""
    entries = [*folder.iterdir()]
    is_within = len(entries) == 1 and entries[0].is_dir() and entries[0].name not in SPLITS
    return _innermost(entries[0]) if is_within else folder


def _models(predictions: Input, truth: Sequence[Path], archives: Archives) -> dict[str, list[Path]]:
    """The files of each model, by its name."""
    limits = archives.limits
    if isinstance(predictions, Mapping):
        return {str(name): _paths(places, name, limits) for name, places in predictions.items()}
    paths = _paths(predictions, "predictions", limits)
    stems = [path.stem for path in paths]
    kinds = {path.suffix.lower() for path in paths}
    apart = len({*stems}) == len(stems) > 1 and (kinds <= {*_OBJECTS} or _are_apart(paths, kinds, truth, archives))
    return {stem: [path] for stem, path in zip(stems, paths)} if apart else {"predictions": paths}


def _are_apart(paths: Sequence[Path], kinds: set[str], truth: Sequence[Path], archives: Archives) -> bool:
    """Whether archives are detectors: they hold files of the same names, and are not named like those of references."""
    if kinds != {".zip"} or {path.stem for path in paths} == {path.stem for path in truth}:
        return False
    held = [{file.relative_to(folder) for file in files_below(folder, TXT)} for folder in map(archives.folder, paths)]
    return len(set().union(*held)) < sum(map(len, held))


def hold_boxes(inputs: Sequence[Sequence[Path]]) -> bool:
    """Whether one of the files of inputs is a folder, or of a kind of boxes, rather than all of tables."""
    return any(path.is_dir() or holds_boxes(path) for paths in inputs for path in paths)


def holds_boxes(path: Path) -> bool:
    """Whether a file is of a kind that `read_boxes` reads without torch, rather than a table."""
    if path.suffix.lower() in _OBJECTS:
        return path.suffix.lower() == ".json" and _is_of_boxes(path)
    return path.suffix.lower() in _SUFFIXES


def _is_of_boxes(path: Path) -> bool:
    try:
        content = read_json(path)
    except ValueError:  # a table may have another encoding
        return False
    first = content[0] if isinstance(content, list) and content else None
    if isinstance(first, dict):
        return "boxes" in first or {"image_id", "bbox"} <= first.keys()
    return isinstance(content, dict) and "annotations" in content


def guessed_options(
    predicted: set[int], true: set[int], classes: Mapping[int, str], unknown_class_id: int | None = None
) -> tuple[dict[str, Any], str]:
    """Guess the known classes, those that are predicted, and the id of unknown: by its name, or never annotated.

    Returns the options, and a sentence that gives the reason, empty if nothing is predicted.

    >>> guessed_options({0, 999}, {0, 5}, {})[0]
    {'known_classes': (0,), 'unknown_class_id': 999}
    """
    if not predicted:
        return {}, ""
    by_name = [label for label, name in classes.items() if means_unknown(name)]
    alone = {label for label in predicted - true if label < 0 or label > max(true, default=-1)}
    unknown = [*(label for label in by_name if label in predicted), *sorted(alone, key=abs)[-1:], *by_name][:1]
    unknown = unknown if unknown_class_id is None else [unknown_class_id]
    known = tuple(sorted(predicted - {*unknown, *by_name}))
    words = [classes.get(label, str(label)) for label in known]
    text = f"Guessed: known classes {some(words) if classes else _ranges(known)} (predicted by the detector)"
    if unknown and unknown_class_id is None:
        why = f"called {classes[unknown[0]]}" if unknown[0] in by_name else "predicted, never annotated"
        text += f"; unknown id {unknown[0]} ({why})"
    options = {"known_classes": known, **({"unknown_class_id": unknown[0]} if unknown else {})}
    return options, f"{text}. Change them under Options, if it was trained on others."


def _ranges(numbers: Sequence[int]) -> str:
    """Write integers as ranges: 0–5, 7."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def _detections(places: Sequence[Path], truth: Path, of: Choices, guess: bool = False) -> list[Detections]:
    """The detections of each place, on one data set."""
    dataset, true = _references(truth, of)
    for place in places if dataset.relative else []:
        if place.is_dir() and files_below(place, TXT) and not are_class_files(place, dataset):
            dataset = with_predicted_images(dataset, place)
    return [_predicted(Source(place, dataset, guess), true, truth, of) for place in places]


def _predicted(source: Source, true: Format, truth: Path, of: Choices) -> Detections:
    predicted = _format_of(source, PREDICTED_FORMATS, "predictions in a folder, .json or .pt", of)
    if of.classes is None and not _same_ids(predicted, true):
        raise ValueError(
            f"{source.path}: expected the names of the classes, since ids in {predicted.ids or 'these'} predictions may"
            f" mean other classes than in {true.name} references; use --names data.yaml, or --names cat dog"
        )
    classes = source.dataset.classes
    if of.classes is not None and truth.is_dir() and (true.ids, predicted.ids) == ("YOLO", "COCO"):
        raise ValueError(
            f"{truth}: expected a data.yaml, since a folder of labels does not say what its ids mean, and COCO"
            " counts classes otherwise; --names are those of the predicted classes"
        )
    if source.dataset.relative and predicted.ids != "YOLO":
        raise ValueError(
            f"{source.path}: expected the images, since these boxes are in pixels and the labels in fractions of the"
            " image; say where the images are"
        )
    detections: Detections = predicted.read(source, of)
    if of.classes is None or not classes or dict(of.classes) == classes:
        return detections
    if predicted.ids == NAMES:
        raise ValueError(f"{source.path}: expected no names of the predicted classes, which its files have, got some")
    with named(source.path):
        return rename_classes(detections, of.classes, of.unknown_class_id)


def _references(place: Path, of: Choices) -> tuple[Dataset, Format]:
    source = Source(place)
    true = _format_of(source, REFERENCES, "references in a folder, a data.yaml, .json or .pt", of)
    dataset: Dataset = true.read(source, of)
    return dataset if of.image_set is None else subset(dataset, of.image_set), true


def _same_ids(predicted: Format, true: Format) -> bool:
    """Whether the class ids of predictions must have the references' meaning."""
    if predicted.ids == NAMES or predicted.ids == true.ids:
        return True
    return true.ids != NAMES and None in (predicted.ids, true.ids)


def texts_read(place: str | Path, split: str = "val") -> Iterator[Path]:
    """The .txt, .json, .pt, .yaml and .zip files at a place that the readers may read, if they exist."""
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
    path = Path(words[0])
    if len(words) > 1 or path.suffix not in (*YAML, ".json", ".txt", ".names"):
        return dict(enumerate(words))
    if path.suffix in YAML:
        return class_names(read_yaml(path), path)
    if path.suffix == ".json":
        content = read_json(path)
        categories = content.get("categories") if isinstance(content, dict) else None
        if not isinstance(categories, list):
            raise ValueError(f"{path}: expected an object with categories")
        return coco_classes(categories, str(path))
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: expected names, got {getattr(error, 'strerror', None) or error}") from error
    return {i: line.strip() for i, line in enumerate(lines) if line.strip()}
