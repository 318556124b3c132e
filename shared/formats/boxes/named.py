"""Look up classes by name, and add names of classes and images to tables of results."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ...arrays.box_objects import UNKNOWN_CLASS_ID
from .aliases import spelling
from .dataset import Size


def class_ids(words: Sequence[str | int], classes: Mapping[int, str]) -> list[int]:
    """The ids of classes, from names in COCO's or Pascal VOC's spelling, or ids; "7" is the class called 7, if any is.

    Raises ValueError for a name or, if classes have names, for an id that is not among them, and for a name of several.

    >>> class_ids(["0", "dog", "tv"], {0: "cat", 4: "dog", 7: "tvmonitor"}), class_ids(["7"], {1: "7", 7: "8"})
    ([0, 4, 7], [1])
    """
    by_name: dict[str, list[int]] = {}
    for i, name in classes.items():
        by_name.setdefault(name, []).append(i)
    ids = [_class_id(word, by_name) for word in words]
    others = [i for i in ids if classes and i not in classes]
    if others:
        raise ValueError(f"{others[0]}: expected the id or the name of a class, of {_listed(classes)}")
    return ids


def _class_id(word: str | int, by_name: Mapping[str, Sequence[int]]) -> int:
    if not isinstance(word, str):
        return int(word)
    name = spelling(word, by_name)
    if name is None and re.fullmatch(r"\s*[-+]?\d+\s*", word):
        return int(word)
    if name is None:
        names = ", ".join(by_name) or "none, since the references have no names: use --names, or ids"
        raise ValueError(f"{word}: expected an id or the name of a class, of {names}")
    if len(by_name[name]) > 1:
        raise ValueError(f"{word}: expected an id, since {' and '.join(map(str, by_name[name]))} have this name")
    return by_name[name][0]


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
    return {unknown: "unknown", **classes}


def _images(of: Named, count: int) -> dict[str, list[Any]]:
    """Columns with the names of the images, and their sizes if all are known; empty unless all have names."""
    if len(of.names) != count:
        return {}
    sizes = [size for size in of.sizes if size is not None]
    columns = zip(("width", "height"), zip(*sizes)) if len(sizes) == count else ()
    return {"name": [*of.names], **{name: [*column] for name, column in columns}}
