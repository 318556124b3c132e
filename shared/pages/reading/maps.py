"""Read anomaly maps and masks, one PNG or array file for each image; archives of maps may be detectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...reading.maps.layouts import PAIR, layout_of
from ...reading.maps.listing import AnomalyFolder, Tree, key_of, list_anomaly_images, place_of_mask
from ...reading.reasons import some
from ..serving.limits import RefusedError, check_unpacked
from .archives import FOLDER, folders_of, labels_of_others, members
from .data import Data
from .planes import MASK_ENDINGS, PLANE_SUFFIXES, Planes, ending, split_planes
from .uploads import read_files

FILES_OF = "files of "  # before the name of a list's images: all files of the upload, those of the list first


def read_maps(paths: list[Path], apart: bool = False) -> Data:
    """Read maps, grey PNG images or arrays with higher values for anomalies, and other arrays, such as stacks.

    If all archives hold files of the same names, they are detectors, each with its archive's name; with `apart` they
    are data sets.
    """
    planes, rest = split_planes(paths)
    return _with_arrays(_maps(planes, apart) if planes else None, rest)


def _maps(paths: list[Path], apart: bool) -> Data:
    if apart or not _are_detectors(paths):
        return _images(paths)
    detectors = {path.stem: _images([path]) for path in paths}
    images = {name: data.arrays["predictions"] for name, data in detectors.items()}
    check_unpacked(paths[0].name, sum(8 * image.size for part in images.values() for image in part))
    first = next(iter(detectors.values()))
    own = {name: array for name, array in first.arrays.items() if name != "predictions"}
    names = [
        _named(name, data.names["predictions"], data.names[f"{FILES_OF}predictions"])
        for name, data in detectors.items()
    ]
    return Data({**images, **own}, names={key: value for each in names for key, value in each.items()})


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
    """Read masks, images or arrays, and other arrays, such as stacks; see `listed_masks`."""
    planes, rest = split_planes(paths)
    return _with_arrays(_masks(planes) if planes else None, rest)


def _images(paths: list[Path]) -> Data:
    """Maps with the names of their files, and the folder of each map if there are several folders."""
    files, planes = members(paths, PLANE_SUFFIXES), Planes(masks=False)
    names = [file.key for file in files]
    first: dict[str, str] = {}
    for name, file in zip(names, files):
        other = first.setdefault(name, file.name)
        if ending(other) != ending(file.name):
            raise RefusedError(f"expected one file of each image, got {other} and {file.name}")
    every = [*(file.label for file in files), *labels_of_others(paths, PLANE_SUFFIXES)]
    data = Data({"predictions": [planes.read(file) for file in files]}, names=_named("predictions", names, every))
    if folders := folders_of(names):
        data.arrays[FOLDER] = np.asarray(folders, dtype=object)
    return data


def _masks(paths: list[Path]) -> Data:
    """The mask of each image that `listed_masks` finds; of an image without one, a mask without anomalous pixels."""
    by_label = {file.label: file for file in members(paths, MASK_ENDINGS)}
    every = [*by_label, *labels_of_others(paths, MASK_ENDINGS)]
    folder = listed_masks(every)
    check_problems(folder.problems)
    planes = Planes(masks=True, threshold=None if folder.layout is None else folder.layout.mask_threshold)
    masks, names = [], []
    for image in folder.images:
        own = [planes.read(by_label[path.as_posix()]) for path in image.masks]
        file = next(path for path in (*image.masks, image.image) if path is not None)
        if len({mask.shape for mask in own}) > 1:
            raise RefusedError(f"{file}: expected masks of one size, got several")
        mask = np.any(own, axis=0) if own else np.zeros(planes.size(by_label[file.as_posix()]), bool)
        if image.anomalous is not None and image.anomalous != mask.any():
            kind = (
                "an anomalous pixel, as of a defect" if image.anomalous else "no anomalous pixel, as of a normal image"
            )
            raise RefusedError(f"{file}: expected {kind} by its folder, got {np.count_nonzero(mask):,}")
        masks.append(mask)
        names.append(key_of(place_of_mask(file.as_posix())))
    return Data({"references": masks}, names=_named("references", names, every))


def _named(name: str, keys: list[str], files: list[str]) -> dict[str, list[str]]:
    return {name: keys, f"{FILES_OF}{name}": files}


def listed_masks(files: Sequence[str]) -> AnomalyFolder:
    """The images and masks of an upload, as the command lists a folder. Raises RefusedError for lists of images."""
    tree = Tree(Path(), sorted(files))
    try:
        layout = layout_of(tree.names, tree.root)
    except ValueError:  # of no layout that is known: a plain folder
        layout = None
    if layout is not None and (layout.split or layout.lists):
        raise RefusedError(
            f"masks: pages do not read {layout.title}, which lists its images; use openworld-metrics anomaly"
        )
    return list_anomaly_images(tree, layout=PAIR if layout is None else layout.name)


def check_problems(problems: Sequence[str]) -> None:
    """Raise RefusedError with the first problem of the files' names, and their number."""
    if problems:
        more = f" (the first of {len(problems):,} problems)" if problems[1:] else ""
        raise RefusedError(problems[0] + more)
