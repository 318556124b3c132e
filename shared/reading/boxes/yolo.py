"""YOLO's data sets: folders of text files, one for each image and named like it, and the data.yaml of their folders,
splits and class names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ...extras import extra
from ..places import (
    IMAGE_SUFFIXES,
    Size,
    files_below,
    files_by_name,
    files_in,
    find_images,
    image_size,
    implied_images,
    matched,
)
from ..reading import (
    BESIDE,
    BOXES,
    IMAGES,
    LABELS,
    OF_CLASSES,
    PREDICTED,
    PREDICTIONS,
    REPEATED,
    Census,
    LeftOut,
    by_real_place,
    unused,
)
from ..reasons import named, reason
from .dataset import (
    OF_OTHERS,
    TXT,
    Choices,
    Dataset,
    Detections,
    class_key,
    corners_of,
    ids_of_names,
    others_of,
    plain_name,
    predicted_boxes,
    similar_image,
    true_boxes,
)
from .yolo_lines import LISTS_OF_CLASSES, read_texts

YAML = (".yaml", ".yml")
SPLITS = ("train", "val", "test")


class Files(NamedTuple):
    """The files of a YOLO data set, by the names that an image and its label file share.

    images: the images that belong to the data set; None for one that is not at hand
    texts: the label files
    beside: all files in the folders of the images and of the labels, these among them
    beyond: images beside those of the data set, which a list leaves out
    lists: such lists
    """

    images: Mapping[str, Path | None]
    texts: Mapping[str, Path]
    beside: Sequence[Path]
    beyond: Mapping[str, Path] = MappingProxyType({})
    lists: Sequence[Path] = ()


def data_yaml(place: Path) -> Path | None:
    """The data.yaml that a place is, or that is in it. Raises ValueError for several."""
    files = files_in(place, YAML) if place.is_dir() else [place]
    if len(files) > 1:
        raise ValueError(f"{files[1]}: expected one file with names of classes, got {files[0].name} too")
    return files[0] if files and files[0].suffix in YAML else None


def read_yolo(place: Path, content: None, of: Choices) -> Dataset:
    """A folder of YOLO labels, with the same subfolders as the images, with a data.yaml or without.

    The folder of the images is the choice, or that of YOLO's layout (…/labels/val → …/images/val); all its images are
    returned, also those without a text file, which have no objects. Where there are none, each text file is that of an
    image. Raises ValueError, with file and line, for a malformed line, and for a text file without its image.
    """
    split, data = of.split or "val", data_yaml(place)
    content_of_data = {} if data is None else read_yaml(data)
    if data is not None and content_of_data.get(split) and files_below(place, IMAGE_SUFFIXES):
        return read_yolo_data(data, None, of)
    classes = of.classes or {} if data is None else class_names(content_of_data, data)
    if of.images is None and implied_images(place) is None:
        return _read_relative(innermost(place) if of.split is None else _of_split(place, split), classes, data)
    labels = _of_split(place, split)
    if of.split is not None and labels.name in SPLITS and labels.name != split:
        raise ValueError(f"{place}: expected the labels of {split}, got those of {labels.name}")
    folder = implied_images(labels) if of.images is None else _of_split(Path(of.images), split)
    if folder is None:
        raise ValueError(f"{labels}: expected its images in a folder 'images' in place of 'labels'; say where they are")
    pictures = find_images(folder)
    files = Files(pictures, find_texts(labels), [*files_below(folder, None), *files_below(labels, None)])
    return _dataset([*pictures], files, classes, leave_out=of.leave_out)


def _of_split(folder: Path, split: str) -> Path:
    """The subfolder of a split, that of labels or images, or the folder itself."""
    for parent in (folder, folder / "labels"):
        if (parent / split).is_dir():
            return parent / split
        others = [name for name in SPLITS if (parent / name).is_dir()]
        if others:
            raise ValueError(f"{parent}: expected a folder {split!r} in it, got {', '.join(others)}")
    return folder / "labels" if (folder / "labels").is_dir() else folder


def innermost(folder: Path) -> Path:
    """The folder that holds all files, unless that is a split's."""
    entries = [*folder.iterdir()]
    is_within = len(entries) == 1 and entries[0].is_dir() and entries[0].name not in SPLITS
    return innermost(entries[0]) if is_within else folder


def _read_relative(labels: Path, classes: Mapping[int, str], data: Path | None) -> Dataset:
    """A folder of labels whose images are not at hand; `data` is the data.yaml of the names."""
    texts = find_texts(labels)
    images = {name: None for name, path in texts.items() if path.name not in LISTS_OF_CLASSES}
    files = Files(images, texts, files_below(labels, None), lists=[] if data is None else [data])
    return _dataset([*images], files, classes, None if data is None else _key_points(data, read_yaml(data)))


def read_yolo_predictions(labels: Path, content: None, dataset: Dataset, of: Choices) -> Detections:
    """A folder of YOLO predictions, as Ultralytics saves them with save_txt=True and save_conf=True.

    Text files are named like the images or like the last parts of their names, in that folder or below it; images
    without one have no predictions. Raises ValueError, with file and line, for a malformed line, and for a text file
    without its image: that of another folder, such as train/001.txt for val/001, is not taken.
    """
    texts = find_texts(labels)
    lists, places = _texts_of_images(texts, dataset)
    _check_names(lists, dataset.classes if of.classes is None else of.classes)
    files: dict[int, Path] = {}
    for name, place in places.items():
        if place in files:
            raise ValueError(f"{texts[name]}: expected one file for image {dataset.names[place]}, got two")
        if place is not None:
            files[place] = texts[name]
    tables = read_texts([*files.values()], confidence=True, key_points=dataset.key_points).tables
    predictions = [predicted_boxes() for _ in dataset.names]
    for place, rows in zip(files, tables):
        predictions[place] = predicted_boxes(corners_of(rows[:, 1:5], size_of(dataset, place)), rows[:, 5], rows[:, 0])
    lost = {str(texts[name]): name for name, place in places.items() if place is None}
    left_out: LeftOut = {
        (PREDICTIONS, OF_CLASSES): [*map(str, lists)],
        BESIDE: [*map(str, sorted({*files_below(labels, None)} - {*texts.values()}))],
        **unused(PREDICTIONS, OF_OTHERS, lost, of.leave_out, lambda path: _no_image(path, lost[path], dataset)),
    }
    used = {PREDICTIONS: len(files), PREDICTED: sum(map(len, tables))}
    return Detections(dataset, predictions, census=Census(used, left_out))


def with_predicted_images(dataset: Dataset, labels: Path) -> Dataset:
    """A data set whose images are not at hand, with images that predictions alone have, without objects.

    Raises ValueError if no file of predictions is named like one of labels, and for one whose last part differs from
    that of a label in case or form at most.
    """
    texts = find_texts(labels)
    places = _texts_of_images(texts, dataset)[1]
    more = [name for name, place in places.items() if place is None]
    plain = {*map(plain_name, dataset.names)}
    wrong = next((name for name in more if len(more) == len(places) or plain_name(name) in plain), None)
    if wrong is not None:
        raise ValueError(_no_image(texts[wrong], wrong, dataset))
    none, blank = true_boxes(np.zeros(0), np.zeros(0)), [None] * len(more)
    names = [*dataset.names, *more]
    return dataset._replace(
        names=names,
        references=[*dataset.references, *[none] * len(more)],
        paths=[*dataset.paths, *blank],
        sizes=[*dataset.sizes, *blank],
        ids=ids_of_names(names),
        census=Census({**dataset.census.used, IMAGES: len(names)}, dataset.census.left_out),
    )


def _texts_of_images(texts: Mapping[str, Path], dataset: Dataset) -> tuple[list[Path], dict[str, int | None]]:
    """Lists of classes, and the image of each other text file, by its name; None for no image."""
    names = {*dataset.names}
    lists = [path for name, path in texts.items() if name not in names and path.name in LISTS_OF_CLASSES]
    others = [name for name, path in texts.items() if path not in lists]
    return lists, dict(zip(others, matched(others, dataset.names, strip=True)))


def _no_image(path: object, name: str, dataset: Dataset) -> str:
    hint = similar_image(name, dataset.names)
    return f"{path}: expected predictions for an image of the references, got no such image{hint}"


def _dataset(
    names: list[str],
    files: Files,
    classes: Mapping[int, str],
    key_points: int | None = None,
    leave_out: bool = False,
) -> Dataset:
    """The data set of images, which get these names, with their label files.

    Raises ValueError for a label file of no image, and for one that lies beside its image while others do not.
    """
    there = {*files.images, *files.beyond}
    lists = [path for name, path in files.texts.items() if name not in there and path.name in LISTS_OF_CLASSES]
    _check_names(lists, classes)
    alone = {str(path): name for name, path in files.texts.items() if name not in there and path not in lists}

    def error(path: str) -> str:
        return f"{path}: expected an image of that name, got none{similar_image(alone[path], there)}"

    without = unused(LABELS, "without an image", alone, leave_out, error)
    pictures = [path for path in (*files.images.values(), *files.beyond.values()) if path is not None]
    others = others_of(files.beside, [*pictures, *files.texts.values(), *files.lists])
    misplaced = [path for path in others if path.suffix.lower() in TXT]
    stems = {plain_name(path.stem) for path in pictures if misplaced}
    for path in misplaced:
        if plain_name(path.stem) in stems:
            raise ValueError(f"{path}: expected labels in a folder of their own, as the others are, got some here")
    texts = {name: files.texts[name] for name in files.images if name in files.texts}
    tables, repeated = read_texts([*texts.values()], key_points=key_points)
    by_name, paths = dict(zip(texts, tables)), [*files.images.values()]
    sizes = [None if path is None else image_size(path) for path in paths]
    rows = [by_name.get(name, np.zeros((0, 5))) for name in files.images]
    references = [
        true_boxes(corners_of(table[:, 1:5], size or (1, 1)), table[:, 0]) for table, size in zip(rows, sizes)
    ]
    why = f"not in {' or '.join(path.name for path in files.lists)}"
    left_out: LeftOut = {
        REPEATED: repeated,
        (IMAGES, why): [*map(str, files.beyond.values())],
        (LABELS, f"of images {why}"): [str(path) for name, path in files.texts.items() if name in files.beyond],
        (LABELS, OF_CLASSES): [*map(str, lists)],
        BESIDE: [*map(str, others)],
        **without,
    }
    used = {IMAGES: len(names), LABELS: len(texts), BOXES: sum(map(len, tables))}
    counted = Census(used, left_out)
    ids = ids_of_names(names)
    return Dataset(names, references, dict(classes), paths, sizes, ids, counted, key_points, None in paths)


def names_in_lines(path: Path) -> dict[int, str]:
    """Class names by id, from a text with a name on each line."""
    with named(path):
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    return {i: line.strip() for i, line in enumerate(lines) if line.strip()}


def _check_names(lists: Iterable[Path], classes: Mapping[int, str]) -> None:
    """Raise ValueError for a list of names that calls a class otherwise than the names in use."""
    for path in lists:
        for i, name in names_in_lines(path).items():
            if class_key(classes.get(i, name)) != class_key(name):
                raise ValueError(
                    f"{path}:{i + 1}: expected {classes[i]!r} for class {i}, as the names in use say, got {name!r};"
                    " if the list is right, write its names into a data.yaml beside the labels, or else remove it"
                )


def find_texts(folder: Path) -> dict[str, Path]:
    """The text files in a folder and below it, by their paths in the folder without the suffix."""
    return files_by_name(folder, TXT, "text file", ".txt files")


def size_of(dataset: Dataset, place: int) -> Size:
    """The width and height of an image, from its file if the annotations have no size; 1 if boxes are relative."""
    size, path = (1, 1) if dataset.relative else dataset.sizes[place], dataset.paths[place]
    if size is None and path is None:
        raise ValueError(f"{dataset.names[place]}: expected its size, or the image; say where the images are")
    return size or image_size(str(path))


def read_yolo_data(data: Path, content: None, of: Choices) -> Dataset:
    """A split of the YOLO data set that a data.yaml describes.

    The file has `names` (list, or id → name), `train`, `val` or `test` (a folder of images, a .txt with their paths, or
    a list of such) and optionally `path`, to which these are relative; a relative `path` is sought from the file's
    folder, then from the working directory. Labels are those of …/labels/… beside …/images/…; images without a text
    file have no objects. Raises ValueError for a file without them, for a split without a single text file, for a label
    whose class has no name, and with file and line for a malformed label.
    """
    split = of.split or "val"
    yaml = _content(data, split)
    files = _files(data, yaml, split)
    classes, names = class_names(yaml, data), [_name(path) for path in files.images.values() if path is not None]
    dataset = _dataset(names, files, classes, _key_points(data, yaml), of.leave_out)
    if files.images and not dataset.census.used[LABELS]:
        first = next(iter(files.images))
        raise ValueError(
            f"{data}: expected labels of {split}, empty where there are no objects, got no {first}.txt nor others"
        )
    for place, boxes in zip(files.images, dataset.references):
        others = boxes["labels"][~np.isin(boxes["labels"], [*classes])]
        if len(others):
            ids = ", ".join(map(str, classes))
            raise ValueError(f"{files.texts[place]}: expected classes of {data}, {ids}, got {others[0]}")
    return dataset


def yolo_data_texts(data: Path, split: str) -> list[Path]:
    """The text files that `read_yolo_data` reads: lists of images, and labels."""
    files = _files(data, _content(data, split), split)
    return [*files.lists, *files.texts.values()]


def _content(data: Path, split: str) -> dict[str, Any]:
    """The content of a data.yaml that has a split."""
    content = read_yaml(data)
    content.setdefault("val", content.get("validation"))  # Ultralytics accepts both names
    if split not in SPLITS or not content.get(split):
        there = ", ".join(name for name in SPLITS if content.get(name)) or "none"
        raise ValueError(f"{data}: expected a split {split!r}, got {there}")
    return content


def _key_points(data: Path, content: Mapping[str, Any]) -> int | None:
    """How many numbers a line of labels has for key points, by the `kpt_shape` of a data.yaml; None without one."""
    shape = content.get("kpt_shape")
    if shape is None:
        return None
    if not isinstance(shape, list) or [*map(type, shape)] != [int, int] or shape[0] < 1 or shape[1] not in (2, 3):
        raise ValueError(f"{data}: expected kpt_shape to be a number of key points and 2 or 3, got {shape!r}")
    return int(shape[0] * shape[1])


def _files(data: Path, content: Mapping[str, Any], split: str) -> Files:
    """The files of a split, by the real paths of the labels without suffix.

    Raises ValueError for an image that is there twice, and for two label files of one image.
    """
    above = Path(str(content.get("path") or ".").replace("\\", "/"))
    root = _folder(data, [data.parent / above, Path.cwd() / above], "the folder of path")
    places = [  # some exporters, which write no path, mean an entry ../valid/images from the root
        _folder(data, [root / entry, root / entry.removeprefix("../")], "a folder or a list of images")
        for entry in _entries(content, split)
    ]
    lists = [place for place in places if not place.is_dir()]
    images = [path for place in places for path in _images(data, root, place)]
    names = [*map(_name, images)]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        both = " and ".join(str(path) for path, name in zip(images, names) if name == twice)
        raise ValueError(f"{data}: expected each image of {split} once, got {twice} twice: {both}")
    folders = [*dict.fromkeys(path.parent for path in images)]

    def files(of: Callable[[Path], Path]) -> list[Path]:
        below = [path for place in places if of(place).is_dir() for path in files_below(of(place), None)]
        listed = {path.parent for path in below}
        return below + [path for folder in folders if of(folder) not in listed for path in files_in(of(folder), None)]

    real = os.path.realpath
    named = [entry.removeprefix("../") for each in SPLITS for entry in _entries(content, each)]
    not_labels = {real(root / entry) for entry in named} | {*map(real, lists)}  # lists may lie beside the images
    texts: dict[str, Path] = {}
    labels = files(_labels)
    for place, path in by_real_place(labels).items():
        if path.suffix.lower() in TXT and place not in not_labels:
            name = place[: -len(path.suffix)]
            if name in texts:
                raise ValueError(f"{path}: expected one text file of that name, got {texts[name].name} too")
            texts[name] = path

    @cache
    def real_labels(folder: Path) -> str:
        return real(_labels(folder))

    def by_label(paths: Iterable[Path]) -> dict[str, Path]:
        return {os.path.join(real_labels(path.parent), path.stem): path for path in paths}

    of_split, beside = by_label(images), files(Path)
    every = by_label(path for path in beside if path.suffix.lower() in IMAGE_SUFFIXES)
    beyond = {name: path for name, path in every.items() if name not in of_split}
    return Files(of_split, texts, [*beside, *labels], beyond, lists)


def _entries(content: Mapping[str, Any], split: str) -> list[str]:
    """The folders and lists of a split, with slashes."""
    entries = content.get(split) or []
    return [str(entry).replace("\\", "/") for entry in (entries if isinstance(entries, list) else [entries])]


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file. Raises ValueError, with file and line, if there is none."""
    with extra("detection"):
        import yaml

    class Loader(yaml.SafeLoader):
        """A loader that refuses aliases of lists and mappings, which can expand a few lines to gigabytes.

        So does it names that a mapping states twice, of which YAML's specification allows none.
        """

        def compose_node(self, parent: Any, index: Any) -> Any:
            alias: Any = self.peek_event() if self.check_event(yaml.AliasEvent) else None  # type: ignore[no-untyped-call]
            node = super().compose_node(parent, index)
            if alias is not None and not isinstance(node, yaml.ScalarNode):
                raise yaml.MarkedYAMLError(None, None, "an alias of a list or a mapping", alias.start_mark)
            return node

        def compose_mapping_node(self, anchor: Any) -> Any:
            node = super().compose_mapping_node(anchor)
            keys = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            first = {(key.tag, key.value): key for key in reversed(keys)}
            for key in keys:
                if first[key.tag, key.value] is not key:
                    raise yaml.MarkedYAMLError(None, None, f"the name {key.value!r} again", key.start_mark)
            return node

    try:
        content = yaml.load(path.read_text(encoding="utf-8-sig"), Loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ValueError(f"{path}:{line}: expected YAML, got {error.problem}") from error
    except Exception as error:  # a tag such as !!int on another value may raise any error
        is_text = isinstance(error, (UnicodeDecodeError, RecursionError, MemoryError))
        raise ValueError(f"{path}: {'' if is_text else 'expected YAML, got '}{reason(error)}") from error
    if not isinstance(content, dict):
        raise ValueError(f"{path}: expected names and splits, got {type(content).__name__}")
    return content


def class_names(content: Mapping[str, Any], path: Path) -> dict[int, str]:
    """Class names by id, from `names` of a data.yaml, a list or a mapping, whose ids may be in quotes, as in JSON."""
    names = content.get("names")
    if isinstance(names, list):
        names = dict(enumerate(names))
    if isinstance(names, dict):
        ids = [int(key) if isinstance(key, str) and re.fullmatch("[0-9]{1,18}", key) else key for key in names]
        if len({*ids}) < len(ids):
            raise ValueError(f"{path}: expected each id once in names, got {max(ids, key=ids.count)} twice")
        names = dict(zip(ids, names.values()))
    if not isinstance(names, dict) or not names or not all(type(key) is int and key >= 0 for key in names):
        raise ValueError(f"{path}: expected names, as a list or as ids with names, got {names!r}")
    for key, name in names.items():
        if isinstance(name, bool) or not isinstance(name, (str, int, float)):
            hint = "; put it between quotes" if isinstance(name, bool) else ""
            raise ValueError(f"{path}: expected the name of class {key} to be a string or a number, got {name!r}{hint}")
    return {key: str(name) for key, name in names.items()}


def _folder(data: Path, places: Sequence[Path], expected: str) -> Path:
    """The first place that exists. Raises ValueError if none does."""
    place = next((place for place in places if place.exists()), None)
    if place is None:
        raise ValueError(f"{data}: expected {expected}, got none at {' nor '.join(map(str, dict.fromkeys(places)))}")
    return place


def _images(data: Path, root: Path, place: Path) -> Iterator[Path]:
    """The images in a folder, or in the list of a text file."""
    if place.is_dir():
        yield from find_images(place).values()
        return
    if place.suffix != ".txt":
        raise ValueError(f"{data}: expected a folder of images or a .txt that lists them, got {place}")
    with named(place):
        lines = place.read_text(encoding="utf-8-sig").replace("\\", "/").splitlines()
    for number, line in enumerate(lines, 1):
        if line.strip():
            paths = [place.parent / line.strip(), root / line.strip()]
            path = next((path for path in paths if path.is_file()), None)
            if path is None:
                hint = similar_image(paths[0].name, [each.name for each in files_in(paths[0].parent, None)])
                raise ValueError(f"{place}:{number}: expected an image, got none at {paths[0]}{hint}")
            yield path


def _labels(folder: Path) -> Path:
    """The folder of the labels of images: …/images/val → …/labels/val; the same if no folder is called images."""
    parts = [*folder.parts]
    if "images" in parts:
        parts[len(parts) - 1 - parts[::-1].index("images")] = "labels"
    return Path(*parts)


def _name(image: Path) -> str:
    """The path of an image from its last folder called images."""
    parts = image.with_suffix("").parts
    start = len(parts) - parts[::-1].index("images") if "images" in parts[:-1] else len(parts) - 1
    return "/".join(parts[start:])
