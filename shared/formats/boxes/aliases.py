"""Two spellings of one class: COCO's name and Pascal VOC's."""

from __future__ import annotations

from collections.abc import Collection, Iterable

_COCO_AND_VOC = (
    ("airplane", "aeroplane"),
    ("couch", "sofa"),
    ("dining table", "diningtable"),
    ("motorcycle", "motorbike"),
    ("potted plant", "pottedplant"),
    ("tv", "tvmonitor"),
)
_OTHER_SPELLING = {name: other for pair in _COCO_AND_VOC for name, other in (pair, pair[::-1])}


def spelling(name: str, classes: Collection[str]) -> str | None:
    """A class name as `classes` spell it: the name itself, or else its alias; None if they have neither.

    >>> spelling("airplane", ["aeroplane", "tv"]), spelling("tv", ["tvmonitor", "tv"]), spelling("cat", ["dog"])
    ('aeroplane', 'tv', None)
    """
    other = _OTHER_SPELLING.get(name)
    return name if name in classes else other if other in classes else None


def aliases_of(names: Iterable[str], classes: Collection[str]) -> dict[str, str]:
    """The names that `classes` spell otherwise, each with that spelling.

    >>> aliases_of(["sofa", "tv", "cat"], ["couch", "tv", "dog"])
    {'sofa': 'couch'}
    """
    spellings = {name: spelling(name, classes) for name in names}
    return {name: other for name, other in spellings.items() if other not in (None, name)}
