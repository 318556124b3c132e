"""Pair the map and mask of each image by file name, whatever their order and folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from ...formats.maps.planes import ARRAY_SUFFIXES
from ...formats.places import PICTURES, matched
from ..reading.archives import FOLDER, key_of, keys, last_parts, pairing_parts, some
from ..reading.data import Data
from ..reading.names import IMAGE_NAMES, plain

CATEGORY = "category"


def pair(
    maps: Sequence[Any], map_names: Sequence[str], masks: Sequence[Any], mask_names: Sequence[str]
) -> tuple[list[Any], list[int | None], str]:
    """The mask of each map, its place among the masks, None for a map without one, and a note.

    A map without a mask belongs to a normal image; a mask without a map is left out. Names are compared from their end,
    with as many folders as distinguish the maps from each other, and from masks in other folders. Raises ValueError for
    two maps or masks of one name, and where maps and masks have no name in common.
    """
    parts = pairing_parts(map_names, mask_names, keys(map_names)[0])
    map_keys = last_parts(map_names, parts)
    if len(set(map_keys)) < len(map_keys):
        twice = next(name for i, name in enumerate(map_keys) if name in map_keys[:i])
        raise ValueError(f"maps: expected files of different names, got two named {twice}")
    mask_keys = last_parts(mask_names, parts)
    places = {name: i for i, name in enumerate(mask_keys)}
    if len(places) < len(mask_keys):
        twice = next(name for i, name in enumerate(mask_keys) if places[name] != i)
        raise ValueError(f"masks: expected one for each map, got two named {twice}")
    if not places.keys() & set(map_keys):
        raise ValueError(
            f"masks: expected files named like the maps ({some(map_keys)}), got {some(mask_keys)}: no name in common"
        )
    paired = [
        np.asarray(masks[places[name]]) if name in places else np.zeros(np.shape(score_map), dtype=bool)
        for name, score_map in zip(map_keys, maps)
    ]
    return paired, [*map(places.get, map_keys)], _note(map_keys, mask_keys)


def in_order_of_maps(
    name: str, values: Any, data: Data, map_names: Sequence[str], files: Sequence[int | None] | None
) -> Any:
    """A column of a table beside maps or masks, in the order of the maps.

    By the table's column of images, if it has one, or else in the order of the files beside it, where `files` are the
    places of the maps' files among them. Raises ValueError for images that are not the maps'.
    """
    rows = next(
        (array for column, array in data.arrays.items() if plain(column) in IMAGE_NAMES and _is_column(array)), None
    )
    if rows is not None and len(rows) == len(values):
        at = matched([_stem(str(image)) for image in np.asarray(rows).tolist()], map_names, strip=True, cut=True)
        if sorted(-1 if place is None else place for place in at) != [*range(len(map_names))]:
            raise ValueError(
                f"{name}: expected one row for each map, by the column of images, got {len(rows)} of others"
            )
        return np.asarray(values)[np.argsort(np.asarray(at))]
    if files is None or len(values) != len([place for place in files if place is not None]):
        return values
    if None in files:
        raise ValueError(f"{name}: expected masks of all maps, since it is in their order; name the images in a column")
    return np.asarray(values)[np.asarray(files)]


def _is_column(array: Any) -> bool:
    return getattr(array, "ndim", 3) == 1


def _stem(image: str) -> str:
    """The name of an image or a map without its suffix."""
    path = PurePosixPath(image)
    return (
        key_of(path) if path.suffix.lower() in (*PICTURES, *ARRAY_SUFFIXES) else key_of(PurePosixPath(f"{image}.png"))
    )


def _note(map_keys: Sequence[str], mask_keys: Sequence[str]) -> str:
    """A note on images that count as normal because they have no mask, and on masks without a map."""
    without = [name for name in map_keys if name not in set(mask_keys)]
    alone = [name for name in mask_keys if name not in set(map_keys)]
    note = f"{len(map_keys):,} maps, paired with their masks by name."
    if without:
        note += f" {len(without):,} have no mask and count as normal: {some(without)}."
    masks = "mask" if len(alone) == 1 else "masks"
    return note + (f" Left out {len(alone):,} {masks} without a map: {some(alone)}." if alone else "")


def with_categories(sources: Sequence[Data]) -> list[Data]:
    """Maps and masks; folders of maps become categories if each holds normal and anomalous images."""
    maps, masks = sources
    if FOLDER not in maps.arrays or "references" not in masks.names:
        return [maps, masks]
    map_names, mask_names = next(iter(maps.names.values())), masks.names["references"]
    parts = pairing_parts(map_names, mask_names, keys(map_names)[0])
    map_keys, mask_keys = last_parts(map_names, parts), last_parts(mask_names, parts)
    anomalous = {name for name, mask in zip(mask_keys, masks.arrays["references"]) if np.any(mask)}
    kinds = {(folder, name in anomalous) for folder, name in zip(maps.arrays[FOLDER], map_keys)}
    if len(kinds) < 2 * len(set(maps.arrays[FOLDER])):
        return [maps, masks]
    arrays = {CATEGORY if name == FOLDER else name: array for name, array in maps.arrays.items()}
    return [maps._replace(arrays=arrays), masks]


def note_on_boxes(files: Mapping[str, Sequence[Any]], detector: str = "") -> str:
    """A note on images that have boxes, or a file, on one side only.

    files: the images of the predictions and of the references, by column
    """
    (first, predicted), (second, true) = ((name, [*dict.fromkeys(map(str, images))]) for name, images in files.items())
    both = (predicted, true), (true, predicted)
    alone, empty = ([one for one in own if one not in set(other)] for own, other in both)
    of = f" of {detector}" if detector else ""
    notes = []
    if alone:
        notes.append(f"Images with {first}{of} but no {second}, so all are wrong: {len(alone):,} ({some(alone)}).")
    if empty:
        notes.append(f"Images with {second} but no {first}{of}: {len(empty):,} ({some(empty)}).")
    return " ".join(notes)


def check_common(names: Mapping[str, Sequence[Any]]) -> None:
    """Raise ValueError if the rows of two columns name their images, and no name is in both."""
    sides = [side for side in names.values() if side and all(isinstance(name, str) for name in side)]
    if len(sides) == 2 and not set(sides[0]) & set(sides[1]):
        first, second = (some(list(dict.fromkeys(side))) for side in sides)
        raise ValueError(f"images: expected names that are in both inputs, got {first} and {second}: no name in common")
