"""Read anomaly maps and masks, one PNG or array file for each image; archives of maps may be detectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..serving.limits import RefusedError, check_unpacked
from .archives import FOLDER, folders_of, members, some
from .data import Data
from .planes import MASK_ENDINGS, PLANE_SUFFIXES, Planes, ending, split_planes
from .uploads import read_files


def read_maps(paths: list[Path], apart: bool = False) -> Data:
    """Read maps, grey PNG images or arrays with higher values for anomalies, and other arrays, such as stacks.

    If all archives hold files of the same names, they are detectors, each with its archive's name; with `apart` they
    are data sets.
    """
    planes, rest = split_planes(paths)
    return _with_arrays(_maps(planes, apart) if planes else None, rest)


def _maps(paths: list[Path], apart: bool) -> Data:
    if apart or not _are_detectors(paths):
        return _images(paths, "predictions")
    detectors = {path.stem: _images([path], "predictions") for path in paths}
    images = {name: data.arrays["predictions"] for name, data in detectors.items()}
    check_unpacked(paths[0].name, sum(8 * image.size for part in images.values() for image in part))
    first = next(iter(detectors.values()))
    own = {name: array for name, array in first.arrays.items() if name != "predictions"}
    return Data({**images, **own}, names={name: data.names["predictions"] for name, data in detectors.items()})


def _with_arrays(data: Data | None, rest: list[Path]) -> Data:
    """Maps or masks, joined with the arrays of other files."""
    if data is None or not rest:
        return data or read_files(rest, {})
    return data.joined(read_files(rest, {}), rest[0].stem)


def _are_detectors(paths: Sequence[Path]) -> bool:
    """Whether there are several archives, and all hold the same names.

    Raises RefusedError if some names, but not all, are in several archives.
    """
    if len(paths) < 2 or any(path.suffix.lower() != ".zip" for path in paths):
        return False
    names = {path.name: {member.key for member in members([path], PLANE_SUFFIXES)} for path in paths}
    every, common = set().union(*names.values()), set.intersection(*names.values())
    if sum(map(len, names.values())) > len(every) > len(common):
        alone = sorted(every - common)
        where = "; ".join(f"{name} lacks {some(sorted(every - own))}" for name, own in names.items() if every - own)
        raise RefusedError(
            f"expected maps of the same images from each detector, got {len(alone):,} images that not all have: "
            f"{where}. If these are data sets, put their masks into archives of the same names"
        )
    return bool(common)


def read_masks(paths: list[Path], apart: bool = False) -> Data:
    """Read masks, PNG images or arrays with values above 0 for anomalies, and other arrays, such as stacks.

    In archives with a folder ground_truth, only its files are masks.
    """
    planes, rest = split_planes(paths)
    return _with_arrays(_images(planes, "references") if planes else None, rest)


def _images(paths: list[Path], side: str) -> Data:
    """Maps or masks with the names of their files, and the folder of each map if there are several folders."""
    planes = Planes(masks=side == "references")
    files = members(paths, MASK_ENDINGS if planes.masks else PLANE_SUFFIXES)
    files = [file for file in files if planes.masks and "ground_truth" in file.name] or files
    names = [file.key.removesuffix("_mask") for file in files]
    first: dict[str, str] = {}
    for name, file in zip(names, files):
        other = first.setdefault(name, file.name)
        if ending(other) != ending(file.name):
            raise RefusedError(f"expected one file of each image, got {other} and {file.name}")
    data = Data({side: [planes.read(file) for file in files]}, names={side: names})
    folders = folders_of(names)
    if side == "predictions" and folders:
        data.arrays[FOLDER] = np.asarray(folders, dtype=object)
    return data
