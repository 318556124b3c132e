"""Look up classes by name, and add names of classes and images to tables of results."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from ...arrays.box_objects import UNKNOWN_CLASS_ID
from .classes import UNKNOWN, class_key, means_unknown, one_id_each
from .coco import coco_dataset, read_json
from .dataset import Size
from .yolo import YAML, class_names, read_yaml


def class_ids(words: Sequence[str | int], classes: Mapping[int, str]) -> list[int]:
    """The ids of classes, from names in COCO's or Pascal VOC's spelling, or ids; "7" is the class called 7, if any is.

    A class that has both spellings, and an id for each, has the id of the first.

    Raises ValueError for a name or, if classes have names, for an id that is not among them, and for a name of several.

    >>> class_ids(["0", "dog", "tv"], {0: "cat", 4: "dog", 7: "tvmonitor"}), class_ids(["7"], {1: "7", 7: "8"})
    ([0, 4, 7], [1])
    """
    first = one_id_each(classes)
    ids = [first.get(i, i) for i in (_class_id(word, classes) for word in words)]
    others = [i for i in ids if classes and i not in classes]
    if others:
        raise ValueError(f"{others[0]}: expected the id or the name of a class, of {_listed(classes)}")
    return [*dict.fromkeys(ids)] if first else ids


def _class_id(word: str | int, classes: Mapping[int, str]) -> int:
    if not isinstance(word, str):
        return int(word)
    own = [i for i, name in classes.items() if name == word]
    ids = own or [i for i, name in classes.items() if class_key(name) == class_key(word)]
    if not ids and re.fullmatch(r"\s*[-+]?\d+\s*", word):
        return int(word)
    if not ids:
        names = ", ".join(dict.fromkeys(classes.values()))
        names = names or "none, since the references have no names: use --names, or ids"
        raise ValueError(f"{word}: expected an id or the name of a class, of {names}")
    if len(ids) > 1:
        raise ValueError(f"{word}: expected an id, since {' and '.join(map(str, ids))} have this name")
    return ids[0]


def unknown_id(classes: Mapping[int, str], predicted: Collection[int], usual: int = UNKNOWN_CLASS_ID) -> int:
    """The class id by which predictions say "unknown": that of a class whose name means it, or else the usual one.

    Parameters: classes, names by id; predicted, the ids that are predicted. Of several such ids, the predicted one is
    taken; raises ValueError if several are.

    >>> unknown_id({0: "cat", 4: "unknown"}, {0}), unknown_id({0: "cat", 4: "unknown"}, {0, -1})
    (4, -1)
    """
    ids = [*(i for i, name in classes.items() if means_unknown(name)), usual]
    own = [i for i in ids if i in predicted]
    if len(own) > 1:
        which = " and ".join(f"{i} ({classes.get(i, 'the usual one')})" for i in own)
        raise ValueError(
            f"unknown_class_id: expected predictions to call unknown objects by one class, got {which}; state which is"
            " the unknown class with unknown_class_id, the command's --unknown-id"
        )
    return (own or ids)[0]


def _listed(classes: Mapping[int, str]) -> str:
    return ", ".join(f"{i} ({name})" for i, name in classes.items())


class Named(Protocol):
    """An object with names of images and classes, such as a data set."""

    @property
    def names(self) -> Sequence[str]:
        """The names of the images."""

    @property
    def classes(self) -> Mapping[int, str]:
        """Class names by id."""

    @property
    def sizes(self) -> Sequence[Size | None]:
        """The width and height of each image, where known."""


def with_names_in_tables(results: Mapping[str, Any], of: Named, options: Mapping[str, Any]) -> dict[str, Any]:
    """Results with names of images and classes in their tables, and sizes of images if all are known."""
    named = dict(results)
    if "per_image" in results:
        named["per_image"] = {**_images(of, len(results["per_image"]["image"])), **results["per_image"]}
    if "per_class" in results and of.classes:
        names = class_words(of.classes, options.get("unknown_class_id", UNKNOWN_CLASS_ID))
        own = [names.get(label, str(label)) for label in results["per_class"]["class"]]
        named["per_class"] = {"name": own, **results["per_class"]}
    return named


def class_words(classes: Mapping[int, str], unknown: int) -> dict[int, str]:
    """Class names by id, including the id for unknown."""
    return {unknown: UNKNOWN, **classes}


def _images(of: Named, count: int) -> dict[str, list[Any]]:
    """Columns with the names of the images, and their sizes if all are known; empty unless all have names."""
    if len(of.names) != count:
        return {}
    sizes = [size for size in of.sizes if size is not None]
    columns = zip(("width", "height"), zip(*sizes)) if len(sizes) == count else ()
    return {"name": [*of.names], **{name: [*column] for name, column in columns}}


# Read class names, from files or words.


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
        named: dict[str, Any] = {"images": [], "annotations": [], "categories": categories}
        return coco_dataset(named, path).classes
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: expected names, got {getattr(error, 'strerror', None) or error}") from error
    return {i: line.strip() for i, line in enumerate(lines) if line.strip()}
