"""A data set's images with their true boxes, a detector's boxes on them, and classes by name, in two spellings."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np

from ...arrays.box_objects import UNKNOWN_CLASS_ID
from ..cures import ANY, CurableError, Cure, Or
from ..places import Size, matched, without_suffix
from ..reading import BOXES, IMAGES, Census, by_real_place
from ..reasons import reason
from ..sides import means_unknown

_OF_VOC = {  # and COCO's spelling
    "aeroplane": "airplane",
    "diningtable": "dining table",
    "motorbike": "motorcycle",
    "pottedplant": "potted plant",
    "sofa": "couch",
    "tvmonitor": "tv",
}
UNKNOWN = "unknown"


def class_key(name: str) -> str:
    """The name of a class, the same for both of its spellings.

    >>> class_key("sofa"), class_key("couch"), class_key("cat")
    ('couch', 'couch', 'cat')
    """
    return _OF_VOC.get(name, name)


def first_spellings(names: Iterable[str]) -> dict[str, str]:
    """The first spelling of each class, by `class_key`."""
    return {class_key(name): name for name in [*names][::-1]}


def aliases_of(names: Iterable[str], classes: Iterable[str]) -> dict[str, str]:
    """The names that `classes` spells differently at first, each with that spelling.

    >>> aliases_of(["sofa", "tv", "cat"], ["couch", "tv", "dog", "sofa"])
    {'sofa': 'couch'}
    """
    first = first_spellings(classes)
    return {name: spelling for name in names if (spelling := first.get(class_key(name), name)) != name}


def spelled_as_one(aliases: Mapping[str, str]) -> str:
    """A sentence, without its capital and its full stop, on names that are taken for others."""
    pairs = ", ".join(f"{name} is {first}" for name, first in aliases.items())
    return f"classes that COCO and Pascal VOC spell differently count as one: {pairs}"


def one_id_each(classes: Mapping[int, str]) -> dict[int, int]:
    """The ids of classes by a second spelling, each with the id of the first.

    >>> one_id_each({3: "sofa", 7: "cat", 9: "couch"})
    {9: 3}
    """
    second, ids = aliases_of(classes.values(), classes.values()), {name: i for i, name in [*classes.items()][::-1]}
    return {i: ids[second[name]] for i, name in classes.items() if name in second}


def class_ids(words: Sequence[str | int], classes: Mapping[int, str]) -> list[int]:
    """The ids of classes, from names in COCO's or Pascal VOC's spelling, or ids; "7" is the class called 7, if any is.

    A class that has both spellings, and an id for each, has the id of the first.

    Raises ValueError for a name or, if classes have names, an id that is not among them, and for a name of several.

    >>> class_ids(["0", "dog", "tv"], {0: "cat", 4: "dog", 7: "tvmonitor"}), class_ids(["7"], {1: "7", 7: "8"})
    ([0, 4, 7], [1])
    """
    first = one_id_each(classes)
    ids = [first.get(i, i) for i in (_class_id(word, classes) for word in words)]
    return [*dict.fromkeys(ids)] if first else ids


def _class_id(word: str | int, classes: Mapping[int, str]) -> int:
    ids: list[int] = [] if isinstance(word, str) else [int(word)]
    if isinstance(word, str):
        ids = [i for i, name in classes.items() if name == word]
        ids = ids or [i for i, name in classes.items() if class_key(name) == class_key(word)]
        ids = ids or [int(digits) for digits in re.findall(r"^\s*([-+]?\d+)\s*$", word)]
    if len(ids) > 1:
        raise ValueError(f"{word}: expected an id, since {' and '.join(map(str, ids))} have this name")
    if not ids or (classes and ids[0] not in classes):
        listed = ", ".join(f"{i} ({name})" for i, name in classes.items())
        to_name = [] if listed else [Cure("to name them", {"names": ANY})]
        listed = listed or "none, since the references have no names"
        raise CurableError(f"{word}: expected the id or the name of a class, of {listed}", *to_name)
    return ids[0]


def unknown_id(classes: Mapping[int, str], predicted: Collection[int]) -> int:
    """The class id by which predictions say "unknown": that of a class whose name means it, or else the usual one.

    Parameters: classes, names by id; predicted, the ids that are predicted. Of several such ids, the predicted one is
    taken; raises ValueError if several are.

    >>> unknown_id({0: "cat", 4: "unknown"}, {0}), unknown_id({0: "cat", 4: "unknown"}, {0, -1})
    (4, -1)
    """
    ids = [*(i for i, name in classes.items() if means_unknown(name)), UNKNOWN_CLASS_ID]
    predicted_ids = [i for i in ids if i in predicted]
    if len(predicted_ids) > 1:
        which = " and ".join(f"{i} ({classes.get(i, 'the usual one')})" for i in predicted_ids)
        raise CurableError(
            f"unknown_class_id: expected predictions to call unknown objects by one class, got {which}",
            Cure("to state which is the unknown class", {"unknown_class_id": Or(*predicted_ids)}),
        )
    return (predicted_ids or ids)[0]


def with_names_in_tables(results: Mapping[str, Any], of: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Results with names of images and classes in their tables, and sizes of images if all are known.

    Parameters: of, what has `names` of images, `classes` by id and `sizes`, such as a data set.
    """
    named = dict(results)
    if "per_image" in results and len(of.names) == len(results["per_image"]["image"]):
        sizes = [size for size in of.sizes if size is not None]
        columns = zip(("width", "height"), map(list, zip(*sizes))) if len(sizes) == len(of.names) else ()
        named["per_image"] = {"name": [*of.names], **dict(columns), **results["per_image"]}
    if "per_class" in results and of.classes:
        names = class_words(of.classes, options.get("unknown_class_id", UNKNOWN_CLASS_ID))
        class_names = [names.get(label, str(label)) for label in results["per_class"]["class"]]
        named["per_class"] = {"name": class_names, **results["per_class"]}
    return named


def class_words(classes: Mapping[int, str], unknown: int) -> dict[int, str]:
    """Class names by id, including the id for unknown."""
    return {unknown: UNKNOWN, **classes}


def others_of(files: Iterable[Path], used: Iterable[Path | None]) -> list[Path]:
    """The files that are none of a data set's own, each once, sorted."""
    there = by_real_place(files)
    return sorted(there[place] for place in there.keys() - by_real_place(filter(None, used)).keys())


TXT = (".txt",)  # the suffix of labels, predictions and lists
OF_OTHERS = "of images that the references lack"
Boxes = dict[str, np.ndarray]


class _Dataset(NamedTuple):
    names: list[str]
    references: list[Boxes]
    classes: dict[int, str]
    paths: list[Path | None]
    sizes: list[Size | None]
    ids: list[int | str]
    census: Census = Census()
    key_points: int | None = None
    relative: bool = False
    notes: Sequence[str] = ()


class Dataset(_Dataset):
    """Images and their true boxes; every field has an entry for each image, in one order.

    Both spellings of a class, COCO's and Pascal VOC's, are one class: its objects have the id of the first.

    names: the path of each image in its folder, without the suffix, such as "val/000001"
    references: for each image, {"boxes": (m, 4) x1, y1, x2, y2 in pixels, "labels": (m,) class ids, "ignored": (m,)
        1 for a difficult object or a crowd, else 0}
    classes: class names by id, empty if the files have no names
    paths: the file of each image, None if there is none
    sizes: the width and height of each image in pixels, None if unknown
    ids: the image ids in COCO results
    census: what was read of the files, and what was left out
    key_points: how many numbers a line of YOLO's has for the key points of a box, if a data.yaml says so (kpt_shape)
    relative: whether boxes are in fractions of the images, as YOLO's are, since no images say how large they are
    notes: sentences, without capitals and full stops, on what the files state and no metric uses
    """

    __slots__ = ()

    def __new__(cls, *fields: Any, **named: Any) -> Dataset:
        """Give each class one id."""
        self = super().__new__(cls, *fields, **named)
        return self._replace(references=_with_ids(self.references, one_id_each(self.classes)))


class _Detections(NamedTuple):
    dataset: Dataset
    predictions: list[Boxes]
    aliases: Mapping[str, str] = MappingProxyType({})
    unknown_class_id: int | None = None
    census: Census = Census()
    notes: Sequence[str] = ()


class Detections(_Detections):
    """A detector's predictions on the images of a data set.

    dataset: the images and their true boxes
    predictions: for each image, {"boxes": (n, 4) x1, y1, x2, y2 in pixels, "scores": (n,), "labels": (n,) class ids}
    aliases: class names in a second spelling, each with the first of the data set
    unknown_class_id: the class id of boxes called unknown, if the names of the predicted classes tell, or if it is a
        new one, since the data set uses the detector's for another class
    census: the files that were read, and those left out; every box in the files is used
    notes: as of `Dataset`
    """

    __slots__ = ()

    def __new__(cls, *fields: Any, **named: Any) -> Detections:
        """Give each class the data set's id."""
        self = super().__new__(cls, *fields, **named)
        classes = self.dataset.classes
        return self._replace(
            predictions=_with_ids(self.predictions, one_id_each(classes)),
            aliases={**aliases_of(classes.values(), classes.values()), **self.aliases},
        )


@dataclass(frozen=True)
class Choices:
    """The choices of the readers of boxes, which are their keyword arguments.

    images: the folder of the images, which then all belong to the data set; by default that of the layout
    split: of a data.yaml (by default "val"), a folder below that of the labels, or a list in ImageSets/Main of Pascal
        VOC
    image_set: a file that lists the images to take, one a line
    classes: id → name of the predictions, which get the ids that the references have for these names; and of the
        references, where the files give no names or, in Pascal VOC, no ids
    unknown_class_id: as of `rename_classes`
    one_based: whether pixels count from 1 in Pascal VOC, as they do there; False for tools that count from 0
    score_field: the name of the confidence in COCO results, by default "score"
    leave_out: whether to leave out labels and predictions of images that are not there
    guesses: whether one predicted id that is no category may be that of unknown
    """

    images: str | Path | None = None
    split: str | None = None
    image_set: str | Path | None = None
    classes: Mapping[int, str] | None = None
    unknown_class_id: int | None = None
    one_based: bool = True
    score_field: str | None = None
    leave_out: bool = False
    guesses: bool = False


def check_options(options: Mapping[str, Any], dataset: Dataset) -> None:
    """Raise ValueError for options of the metric that do not suit the boxes of a reader."""
    if options.get("box_format", "xyxy") != "xyxy":
        raise ValueError(f"box_format: expected xyxy, the format of all readers, got {options['box_format']!r}")
    if dataset.relative and options.get("plus_one"):
        raise ValueError(
            "plus_one: expected False, since boxes are in fractions of the image; say where the images are, for pixels"
        )


def _with_ids(images: list[Boxes], ids: Mapping[int, int]) -> list[Boxes]:
    """Boxes with other class ids; ids that are not among these stay as they are."""
    if not ids:
        return images
    return [
        {**boxes, "labels": np.asarray([ids.get(label, label) for label in boxes["labels"].tolist()], dtype=np.int64)}
        for boxes in images
    ]


def true_boxes(boxes: np.ndarray, labels: np.ndarray, ignored: np.ndarray | None = None) -> Boxes:
    """The true boxes of one image, none of them ignored by default."""
    ignored = np.zeros(len(labels), dtype=bool) if ignored is None else ignored
    return {"boxes": boxes.reshape(-1, 4), "labels": labels.astype(np.int64), "ignored": ignored.astype(np.int64)}


_NONE = np.zeros(0)


def predicted_boxes(boxes: np.ndarray = _NONE, scores: np.ndarray = _NONE, labels: np.ndarray = _NONE) -> Boxes:
    """The predicted boxes of one image, as `Detections` hold them; none by default."""
    return {"boxes": boxes.reshape(-1, 4), "scores": scores, "labels": labels.astype(np.int64)}


def corners_of(boxes: np.ndarray, size: Size) -> np.ndarray:
    """Convert columns cx, cy, w, h in fractions of the image to x1, y1, x2, y2 in pixels."""
    half = boxes[:, 2:] / 2
    return np.concatenate([boxes[:, :2] - half, boxes[:, :2] + half], axis=1) * np.asarray([*size, *size])


def labels_of(images: Iterable[Boxes]) -> set[int]:
    """The class ids that occur among the boxes of several images."""
    return {*np.unique(np.concatenate([np.zeros(0, np.int64), *(boxes["labels"] for boxes in images)])).tolist()}


def objects_of(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """The class of each object of a data set, and whether it is ignored."""
    labels = [boxes["labels"] for boxes in dataset.references]
    ignored = [boxes["ignored"] for boxes in dataset.references]
    return np.concatenate([np.zeros(0, np.int64), *labels]), np.concatenate([np.zeros(0, bool), *ignored]).astype(bool)


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


def places_by_id(dataset: Dataset, where: object) -> dict[int | str, int]:
    """The indices of the images by id. Raises ValueError, which begins with `where`, if images share one."""
    places = {key: i for i, key in enumerate(dataset.ids)}
    if len(places) < len(dataset.ids):
        raise ValueError(f"{where}: expected images with different ids, got {len(places)} of {len(dataset.ids)} images")
    return places


def places_of_files(paths: Sequence[str], names: Sequence[str]) -> list[int | None]:
    """The indices of the images in files, from their paths with or without suffixes; None for other files."""
    whole = matched(paths, names, cut=True)
    without = matched([*map(without_suffix, paths)], names, cut=True)
    return [other if place is None else place for place, other in zip(whole, without)]


def similar_image(name: str, images: Iterable[str]) -> str:
    """The end of an error about a name without an image: the image that it may mean; "" if there is none.

    >>> similar_image("val/B%201", ["val/b 1", "val/b 2"])
    "; 'b 1' differs from it in case, Unicode form, percent-encoding or a second suffix"
    """
    last, ways = PurePosixPath(name).name, "in case, Unicode form, percent-encoding or a second suffix"
    lasts = (PurePosixPath(image).name for image in images if plain_name(image) == plain_name(name))
    # as ASCII, since Unicode forms look alike
    return next((f"; {other!a} differs from it {ways}" for other in lasts if other != last), "")


def plain_name(path: str) -> str:
    """The last part of a path, whatever tools change in names: case, Unicode form, escapes and suffixes."""
    return unicodedata.normalize("NFC", without_suffix(unquote(PurePosixPath(path).name)).casefold())


def listed_images(image_set: str | Path, names: Sequence[str]) -> list[int]:
    """The indices of the images that a text file lists, in its order.

    Parameters: image_set, a file with the name of an image in each line, the last parts of its name, or the path of its
    file; backslashes separate folders, too, and further columns, as in VOC's lists of a class, are not read. Raises
    ValueError, with file and line, for an image that is not there, and for one that is listed twice.
    """
    try:
        text = Path(image_set).read_text(encoding="utf-8-sig").replace("\\", "/")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{image_set}: expected a list of images, got {reason(error)}") from error
    lines = {number: line.strip() for number, line in enumerate(text.splitlines(), 1) if line.strip()}
    if not lines:
        raise ValueError(f"{image_set}: expected a list of images, got an empty one")
    words = [line.split()[0] for line in lines.values()]
    places: list[int] = []
    seen: set[int] = set()
    for number, word, *both in zip(
        lines, words, places_of_files([*lines.values()], names), places_of_files(words, names)
    ):
        place = both[1] if both[0] is None else both[0]
        if place is None:
            more = similar_image(word, names)
            raise ValueError(f"{image_set}:{number}: expected an image of the references, got {word!r}{more}")
        if place in seen:
            raise ValueError(f"{image_set}:{number}: expected each image once, got {word!r} again")
        seen.add(place)
        places.append(place)
    return places


def subset(dataset: Dataset, image_set: str | Path) -> Dataset:
    """The images of a data set that a list names; see `listed_images`."""
    places = listed_images(image_set, dataset.names)
    chosen, counts = {*places}, [len(boxes["labels"]) for boxes in dataset.references]
    lost = {name: count for i, (name, count) in enumerate(zip(dataset.names, counts)) if i not in chosen}
    boxes = [name for name, count in lost.items() for _ in range(count)]
    why = f"not in {Path(image_set).name}"
    return dataset._replace(
        names=[dataset.names[place] for place in places],
        references=[dataset.references[place] for place in places],
        paths=[dataset.paths[place] for place in places],
        sizes=[dataset.sizes[place] for place in places],
        ids=[dataset.ids[place] for place in places],
        census=Census(
            {**dataset.census.used, IMAGES: len(places), BOXES: sum(counts) - len(boxes)},
            {**dataset.census.left_out, (IMAGES, why): [*lost], (BOXES, f"of images {why}"): boxes},
        ),
    )


def rename_classes(detections: Detections, names: Mapping[int, str], unknown_class_id: int | None = None) -> Detections:
    """Translate the class ids of predictions, by their `names`, to the ids of the data set.

    Parameters: names, id → name of the predictions, in the data set's spelling or the other of COCO's and VOC's;
    unknown_class_id, which stays as it is, unless the data set has another class of that number; it then gets a new
    id. With None, it is −1, and classes whose names mean unknown get the id of the data set's class of such a name, or
    else that of unknown. Names that the data set lacks get new ids, above all of its own. Returns the detections with
    the ids of the data set. Raises ValueError for a predicted id without a name, and for a name that stands for two
    classes.
    """
    classes, by_name = detections.dataset.classes, unknown_class_id is None
    if len({*classes.values()}) < len(classes) or len({*names.values()}) < len(names):
        raise ValueError(f"names: expected each once, got {sorted(names.values())}")
    predicted_unknown = UNKNOWN_CLASS_ID if unknown_class_id is None else unknown_class_id
    ids = {class_key(name): i for i, name in [*classes.items()][::-1]}  # the first id of each class
    new = max([*classes, *names, predicted_unknown], default=0) + 1
    table = {i: ids.setdefault(class_key(name), new + i) for i, name in sorted(names.items())}
    of_data = next((i for i, name in classes.items() if by_name and means_unknown(name)), None)
    unknown = predicted_unknown if of_data is None else of_data
    taken = of_data is None and predicted_unknown in classes and table.get(predicted_unknown) != predicted_unknown
    if taken:
        unknown = 1 + max([*classes, *table.values()])
    words = [i for i, name in names.items() if by_name and means_unknown(name)]
    table |= dict.fromkeys([predicted_unknown, *words], unknown)
    missing = labels_of(detections.predictions) - {*table}
    if missing:
        raise ValueError(f"names: expected one for each predicted class, got none for {min(missing)}")
    aliases = {**detections.aliases, **aliases_of(names.values(), [*classes.values(), *names.values()])}
    renamed = _with_ids(detections.predictions, table)
    new_id = unknown if taken or words else None
    return Detections(detections.dataset, renamed, aliases, new_id, notes=detections.notes)
