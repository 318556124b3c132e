"""Classes by name: spellings of COCO and Pascal VOC, names that mean unknown, and names in tables of results."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ...arrays.box_objects import UNKNOWN_CLASS_ID

_OF_VOC = {  # and COCO's spelling
    "aeroplane": "airplane",
    "diningtable": "dining table",
    "motorbike": "motorcycle",
    "pottedplant": "potted plant",
    "sofa": "couch",
    "tvmonitor": "tv",
}
UNKNOWN = "unknown"
_UNKNOWN = (UNKNOWN, "unknowns", "unk", "ood", "out of distribution", "novel", "unseen")
_OBJECTS = ("", " object", " objects", " class", " classes", " category", " categories", " instance", " instances")
_MEAN_UNKNOWN = frozenset(word + of for word in _UNKNOWN for of in _OBJECTS)


def class_key(name: str) -> str:
    """The name of a class, the same for both of its spellings.

    >>> class_key("sofa"), class_key("couch"), class_key("cat")
    ('couch', 'couch', 'cat')
    """
    return _OF_VOC.get(name, name)


def spelling(name: str, classes: Iterable[str]) -> str | None:
    """The spelling of a class name in `classes`, the first if they have both; None if they have neither.

    >>> spelling("airplane", ["aeroplane", "tv"]), spelling("tv", ["tvmonitor", "tv"]), spelling("cat", ["dog"])
    ('aeroplane', 'tvmonitor', None)
    """
    return next((other for other in classes if class_key(other) == class_key(name)), None)


def aliases_of(names: Iterable[str], classes: Iterable[str]) -> dict[str, str]:
    """The names that `classes` spells differently at first, each with that spelling.

    >>> aliases_of(["sofa", "tv", "cat"], ["couch", "tv", "dog", "sofa"])
    {'sofa': 'couch'}
    """
    first: dict[str, str] = {}
    for name in classes:
        first.setdefault(class_key(name), name)
    return {name: own for name in names if (own := first.get(class_key(name), name)) != name}


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


def means_unknown(name: str) -> bool:
    """Whether the name of a class means that the class is unknown.

    >>> means_unknown("Unknown_Object"), means_unknown("OOD"), means_unknown("unknown bird")
    (True, True, False)
    """
    return " ".join(re.split(r"[\s_-]+", name.strip().lower())) in _MEAN_UNKNOWN


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
        listed = ", ".join(f"{i} ({name})" for i, name in classes.items())
        raise ValueError(f"{others[0]}: expected the id or the name of a class, of {listed}")
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


def with_names_in_tables(results: Mapping[str, Any], of: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Results with names of images and classes in their tables, and sizes of images if all are known.

    Parameters: of, what has `names` of images, `classes` by id and `sizes`, such as a data set.
    """
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


def _images(of: Any, count: int) -> dict[str, list[Any]]:
    """Columns with the names of the images, and their sizes if all are known; empty unless all have names."""
    if len(of.names) != count:
        return {}
    sizes = [size for size in of.sizes if size is not None]
    columns = zip(("width", "height"), zip(*sizes)) if len(sizes) == count else ()
    return {"name": [*of.names], **{name: [*column] for name, column in columns}}
