"""Classes with two spellings: COCO's and Pascal VOC's."""

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
    """The spelling of a class name in `classes`: the name itself, or its alias; None if `classes` has neither.

    >>> spelling("airplane", ["aeroplane", "tv"]), spelling("tv", ["tvmonitor", "tv"]), spelling("cat", ["dog"])
    ('aeroplane', 'tv', None)
    """
    other = _OTHER_SPELLING.get(name)
    return name if name in classes else other if other in classes else None


def aliases_of(names: Iterable[str], classes: Collection[str]) -> dict[str, str]:
    """The names that `classes` spells differently, each with its spelling there.

    >>> aliases_of(["sofa", "tv", "cat"], ["couch", "tv", "dog"])
    {'sofa': 'couch'}
    """
    spellings = {name: spelling(name, classes) for name in names}
    return {name: other for name, other in spellings.items() if other not in (None, name)}
