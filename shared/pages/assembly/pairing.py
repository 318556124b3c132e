"""Pair the map and mask of each image by file name, whatever their order and folders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from ...reading.maps.listing import AnomalyMaps, Tree, find_maps
from ...reading.maps.planes import ARRAY_SUFFIXES
from ...reading.places import PICTURES, matched
from ...reading.reasons import some
from ..reading.archives import FOLDER, key_of, keys
from ..reading.data import Data
from ..reading.maps import FILES_OF, check_problems, listed_masks
from ..reading.names import IMAGE_NAMES, plain

CATEGORY = "category"


def paired(map_files: Sequence[str], mask_files: Sequence[str]) -> tuple[AnomalyMaps, list[int | None]]:
    """The pairs of an upload, as the command has them of folders, and the place of each map's mask among the masks.

    Parameters: the files of both, of which the maps come first.
    """
    listed = find_maps(Tree(Path(), sorted(map_files)), listed_masks(mask_files))
    place_of = {image: place for place, image in enumerate(listed.data.images)}
    at = {path.as_posix(): place_of.get(image) for image, path in listed.pairs}
    return listed, [at[file] for file in map_files if file in at]


def pair(
    maps: Sequence[Any], masks: Sequence[Any], map_files: Sequence[str], mask_files: Sequence[str]
) -> tuple[list[Any], list[int | None], str]:
    """The mask of each map, its place among the masks, None for a map without one, and a note.

    In a plain folder, a map without a mask belongs to a normal image. Raises RefusedError for the problems that the
    command has with the names of the files: see `find_maps`.
    """
    listed, places = paired(map_files, mask_files)
    check_problems(listed.problems)
    matched_masks = [
        np.zeros(np.shape(score_map), bool) if place is None else np.asarray(masks[place])
        for place, score_map in zip(places, maps)
    ]
    return (
        matched_masks,
        places,
        _note(listed, dict(zip(map_files, keys([key_of(PurePosixPath(file)) for file in map_files])[1]))),
    )


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


def _note(listed: AnomalyMaps, names: Mapping[str, str]) -> str:
    """A note on images that count as normal because they have no mask, and on files that are left out."""
    note = f"{len(listed.pairs):,} maps, paired with their masks by name."
    if without := [names[path.as_posix()] for image, path in listed.pairs if not image.masks]:
        note += f" {len(without):,} have no mask and count as normal: {some(sorted(without))}."
    for reason, number in Counter([*listed.left_out.values(), *listed.data.left_out.values()]).items():
        note += f" Left out {number:,} {'file' if number == 1 else 'files'} ({reason})."
    return note


def with_categories(sources: Sequence[Data]) -> list[Data]:
    """Maps and masks; folders of maps become categories if each holds normal and anomalous images."""
    maps, masks = sources
    if FOLDER not in maps.arrays or "references" not in masks.names:
        return [maps, masks]
    listed, places = paired(maps.names[f"{FILES_OF}{next(iter(maps.names))}"], masks.names[f"{FILES_OF}references"])
    if listed.problems:  # which `pair` raises
        return [maps, masks]
    true = masks.arrays["references"]
    kinds = {
        (folder, place is not None and bool(np.any(true[place]))) for folder, place in zip(maps.arrays[FOLDER], places)
    }
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
