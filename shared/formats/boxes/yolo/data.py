"""Read the data.yaml of a YOLO data set: its folders, splits and class names. Needs PyYAML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ....extras import extra
from ...images import find_images
from ...reasons import named, readable, reason
from ..dataset import Dataset
from .labels import yolo_dataset

YAML = (".yaml", ".yml")
SPLITS = ("train", "val", "test")


@readable()
def read_yolo_data(data: str | Path, split: str = "val") -> Dataset:
    """Read a split of the YOLO data set that a data.yaml describes.

    Parameters: data, a file with `names` (list, or id → name), `train`, `val` or `test` (a folder of images, a .txt
    with their paths, or a list of such) and optionally `path`, to which these are relative; a relative `path` is
    sought from the file's folder, then from the working directory. split, one of the three.

    Returns the images of the split with the labels of …/labels/… beside …/images/…; images without a text file have no
    objects. Raises ValueError for a file without them, for a split without a single text file, for a label whose class
    has no name, and with file and line for a malformed label.
    """
    data = Path(data)
    content, root, places = _opened(data, split)
    images = [path for place in places for path in _images(data, root, place)]
    texts = [text if text.is_file() or text.is_symlink() else None for text in map(_text_of, images)]
    names = [_name(path) for path in images]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{data}: expected each image of {split} once, got {twice} twice")
    classes = class_names(content, data)
    if images and not any(texts):
        raise ValueError(
            f"{data}: expected labels of {split}, empty where there are no objects, got no {_text_of(images[0])} nor"
            " others"
        )
    dataset = yolo_dataset(names, images, texts, classes)
    for text, boxes in zip(texts, dataset.references):
        others = boxes["labels"][~np.isin(boxes["labels"], [*classes])]
        if len(others):
            raise ValueError(f"{text}: expected classes of {data}, {', '.join(map(str, classes))}, got {others[0]}")
    return dataset


def yolo_data_texts(data: str | Path, split: str = "val") -> Iterator[Path]:
    """The text files that `read_yolo_data` reads, if they exist: lists of images, and labels."""
    _, root, places = _opened(Path(data), split)
    for place in places:
        if not place.is_dir():
            yield place
        yield from map(_text_of, _images(Path(data), root, place))


def _opened(data: Path, split: str) -> tuple[dict[str, Any], Path, list[Path]]:
    """The content of a data.yaml, its root folder, and the folders and lists of images of a split."""
    content = read_yaml(data)
    content.setdefault("val", content.get("validation"))  # Ultralytics accepts both names
    if split not in SPLITS or not content.get(split):
        there = ", ".join(name for name in SPLITS if content.get(name)) or "none"
        raise ValueError(f"{data}: expected a split {split!r}, got {there}")
    if "kpt_shape" in content:
        raise ValueError(f"{data}: expected boxes or polygons, got key points (kpt_shape)")
    root = _root(data, content)
    entries = content[split] if isinstance(content[split], list) else [content[split]]
    return content, root, [_place(data, root, str(entry)) for entry in entries]


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file. Raises ValueError, with file and line, if there is none."""
    with extra("detection"):
        import yaml

    class Loader(yaml.SafeLoader):
        """A loader that refuses aliases of lists and mappings, which can expand a few lines to gigabytes."""

        def compose_node(self, parent: Any, index: Any) -> Any:
            alias: Any = self.peek_event() if self.check_event(yaml.AliasEvent) else None  # type: ignore[no-untyped-call]
            node = super().compose_node(parent, index)
            if alias is not None and not isinstance(node, yaml.ScalarNode):
                raise yaml.MarkedYAMLError(None, None, "an alias of a list or a mapping", alias.start_mark)
            return node

    try:
        content = yaml.load(path.read_text(encoding="utf-8-sig"), Loader)
    except (UnicodeDecodeError, RecursionError, MemoryError) as error:
        raise ValueError(f"{path}: {reason(error)}") from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ValueError(f"{path}:{line}: expected YAML, got {error.problem}") from error
    except Exception as error:  # a tag such as !!int on another value may raise any error
        raise ValueError(f"{path}: expected YAML, got {reason(error)}") from error
    if not isinstance(content, dict):
        raise ValueError(f"{path}: expected names and splits, got {type(content).__name__}")
    return content


def class_names(content: Mapping[str, Any], path: Path) -> dict[int, str]:
    """Class names by id, from `names` of a data.yaml, a list or a mapping."""
    names = content.get("names")
    if isinstance(names, list):
        names = dict(enumerate(names))
    if not isinstance(names, dict) or not names or not all(map(_is_id, names)):
        raise ValueError(f"{path}: expected names, as a list or as ids with names, got {names!r}")
    for key, name in names.items():
        if isinstance(name, bool) or not isinstance(name, (str, int, float)):
            hint = "; put it between quotes" if isinstance(name, bool) else ""
            raise ValueError(f"{path}: expected the name of class {key} to be a string or a number, got {name!r}{hint}")
    return {key: str(name) for key, name in names.items()}


def _is_id(key: Any) -> bool:
    return isinstance(key, int) and not isinstance(key, bool) and key >= 0


def _root(data: Path, content: Mapping[str, Any]) -> Path:
    named = Path(str(content.get("path") or "."))
    places = dict.fromkeys((data.parent / named, Path.cwd() / named))
    root = next((place for place in places if place.is_dir()), None)
    if root is None:
        raise ValueError(f"{data}: expected the folder of path, got none at {' nor '.join(map(str, places))}")
    return root


def _place(data: Path, root: Path, entry: str) -> Path:
    # some exporters, which write no path, mean an entry ../valid/images from the root
    places = [root / entry, root / entry.removeprefix("../")]
    place = next((place for place in places if place.exists()), None)
    if place is None:
        raise ValueError(f"{data}: expected a folder or a list of images, got none at {places[0]}")
    return place


def _images(data: Path, root: Path, place: Path) -> Iterator[Path]:
    """The images in a folder, or in the list of a text file."""
    if place.is_dir():
        yield from find_images(place).values()
        return
    if place.suffix != ".txt":
        raise ValueError(f"{data}: expected a folder of images or a .txt that lists them, got {place}")
    with named(place):
        lines = place.read_text(encoding="utf-8-sig").splitlines()
    for number, line in enumerate(lines, 1):
        if line.strip():
            paths = [place.parent / line.strip(), root / line.strip()]
            path = next((path for path in paths if path.is_file()), None)
            if path is None:
                raise ValueError(f"{place}:{number}: expected an image, got none at {paths[0]}")
            yield path


def _text_of(image: Path) -> Path:
    """…/images/val/x.jpg → …/labels/val/x.txt, or x.TXT; beside the image if no folder is called images."""
    parts = list(image.parts)
    if "images" in parts[:-1]:
        parts[len(parts) - 1 - parts[::-1].index("images")] = "labels"
    text, capital = (Path(*parts).with_suffix(suffix) for suffix in (".txt", ".TXT"))
    return capital if capital.is_file() and not text.is_file() else text


def _name(image: Path) -> str:
    """The path of an image from its last folder called images."""
    parts = image.with_suffix("").parts
    start = len(parts) - parts[::-1].index("images") if "images" in parts[:-1] else len(parts) - 1
    return "/".join(parts[start:])
