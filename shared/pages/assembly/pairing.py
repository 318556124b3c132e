"""Maps and masks of the same image, by the names of their files, in whatever order and folders they came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..reading.archives import FOLDER, keys, last_parts, some
from ..reading.readers import Data
from .columns import Found

CATEGORY = "category"


class Paired(NamedTuple):
    """Masks in the order of the maps, the lines of Python for them, and what is to be said of it."""

    masks: Found
    setup: list[str]
    told: str


def pair(maps: Found, map_names: Sequence[str], masks: Found, mask_names: Sequence[str]) -> Paired:
    """The mask of each map; none is a normal image. What belongs to no map is left out, and listed.

    Names count from their end, as many folders as tell the maps apart. Raises ValueError where no name is in both, and
    for two masks of one map.
    """
    parts, wanted = keys(map_names)
    if len(set(wanted)) < len(wanted):
        twice = next(name for i, name in enumerate(wanted) if name in wanted[:i])
        raise ValueError(f"maps: expected files of different names, got two named {twice}")
    held = last_parts(mask_names, parts)
    places = {name: i for i, name in enumerate(held)}
    if len(places) < len(held):
        twice = next(name for i, name in enumerate(held) if places[name] != i)
        raise ValueError(f"masks: expected one for each map, got two named {twice}")
    if not places.keys() & set(wanted):
        raise ValueError(
            f"masks: expected files named like the maps ({some(wanted)}), got {some(held)}: no name is in both"
        )
    found = [
        np.asarray(masks.value[places[name]]) if name in places else np.zeros(np.shape(score_map), dtype=bool)
        for name, score_map in zip(wanted, maps.value)
    ]
    setup = []
    code = ""
    if maps.code and masks.code:
        setup = [f'key = lambda name: "/".join(name.split("/")[-{parts}:])'] if parts > 1 else []
        setup.append("normal = {name: np.zeros(one.shape, bool) for name, one in predictions.items()}")
        by_key = "{key(name): mask for name, mask in references.items()}" if parts > 1 else "references"
        setup.append(f"masks = {by_key}")
        code = f"[masks.get({'key(name)' if parts > 1 else 'name'}, normal[name]) for name in predictions]"
    return Paired(Found(found, code), setup, _told(wanted, held))


def _told(wanted: Sequence[str], held: Sequence[str]) -> str:
    """How many images are normal for want of a mask, and which masks belong to no map."""
    without = [name for name in wanted if name not in set(held)]
    alone = [name for name in held if name not in set(wanted)]
    told = f"{len(wanted):,} maps, paired with their masks by name."
    if without:
        told += f" {len(without):,} have no mask and count as normal: {some(without)}."
    return told + (f" Left out, since no map has their name: {len(alone):,} masks: {some(alone)}." if alone else "")


def with_categories(sources: Sequence[Data]) -> list[Data]:
    """Maps and masks; the folders of the maps are categories where each has normal and anomalous images."""
    maps, masks = sources
    if FOLDER not in maps.arrays or "references" not in masks.names:
        return [maps, masks]
    parts, wanted = keys(next(iter(maps.names.values())))
    held = last_parts(masks.names["references"], parts)
    anomalous = {name for name, mask in zip(held, masks.arrays["references"]) if np.any(mask)}
    kinds = {(folder, name in anomalous) for folder, name in zip(maps.arrays[FOLDER], wanted)}
    if len(kinds) < 2 * len(set(maps.arrays[FOLDER])):
        return [maps, masks]

    def renamed(columns: Mapping[str, Any]) -> dict[str, Any]:
        return {CATEGORY if name == FOLDER else name: value for name, value in columns.items()}

    return [maps._replace(arrays=renamed(maps.arrays), code=renamed(maps.code)), masks]


def told_of_boxes(files: Mapping[str, Sequence[Any]], detector: str = "") -> str:
    """Which images have boxes, or a file, on one side only.

    files: the images of predictions and of references
    """
    (first, found), (second, true) = ((name, [*dict.fromkeys(map(str, images))]) for name, images in files.items())
    alone, empty = ([one for one in own if one not in set(other)] for own, other in ((found, true), (true, found)))
    of = f" of {detector}" if detector else ""
    told = []
    if alone:
        told.append(f"Images with {first}{of} and no {second}, so that all are wrong: {len(alone):,} ({some(alone)}).")
    if empty:
        told.append(f"Images with {second} and no {first}{of}: {len(empty):,} ({some(empty)}).")
    return " ".join(told)


def check_common(names: Mapping[str, Sequence[Any]]) -> None:
    """Raise ValueError where the rows of two columns name their images, and no image is in both."""
    sides = [side for side in names.values() if side and all(isinstance(name, str) for name in side)]
    if len(sides) == 2 and not set(sides[0]) & set(sides[1]):
        first, second = (some(list(dict.fromkeys(side))) for side in sides)
        raise ValueError(f"images: expected names that are in both inputs, got {first} and {second}: none is")
