"""Names of classes, and classes by their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .aliases import spelling
from .coco import coco_dataset, read_json
from .yolo.data import YAML, class_names, read_yaml


def read_names(words: Sequence[str]) -> dict[int, str]:
    """Class names by their ids, from a file or from themselves, which are then numbered from 0.

    Parameters: words, names, or one file: a data.yaml, COCO annotations (.json), or .txt or .names with a name a line.

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
        named: dict[str, Any] = {"images": [], "annotations": [], "categories": categories}
        return coco_dataset(named, path).classes
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: expected names, got {getattr(error, 'strerror', None) or error}") from error
    return {i: line.strip() for i, line in enumerate(lines) if line.strip()}


def class_ids(words: Sequence[str], classes: Mapping[int, str]) -> list[int]:
    """Ids of classes that are given by id or by name, in COCO's or Pascal VOC's spelling; an integer is an id.

    >>> class_ids(["0", "dog", "tv"], {0: "cat", 4: "dog", 7: "tvmonitor"})
    [0, 4, 7]
    """
    by_name = {name: i for i, name in classes.items()}
    return [_class_id(word, by_name) for word in words]


def _class_id(word: str, by_name: Mapping[str, int]) -> int:
    try:
        return int(word)
    except ValueError:
        name = spelling(word, by_name)
    if name is None:
        came = ", ".join(by_name) or "none, since the references give none: use --names, or ids"
        raise ValueError(f"{word}: expected an id or the name of a class, of {came}")
    return by_name[name]
