"""Names of classes: those that COCO and Pascal VOC spell differently, and those that mean unknown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

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
