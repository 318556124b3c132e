"""Read anomaly maps and masks, a file for each image: PNG, or arrays; archives of them may be detectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..serving.limits import RefusedError, check_unpacked
from .archives import FOLDER, KIND_FOLDERS, Member, folders_of, members, some
from .planes import PLANE_SUFFIXES, Planes, ending, split_planes
from .readers import Data
from .uploads import joined_files, read_files


def read_maps(paths: list[Path], tag: str = "", apart: bool = False) -> Data:
    """Maps as they are, grey PNG images or arrays: higher is more anomalous; and other arrays, such as stacks.

    Archives of which all hold files of the same names are detectors, each named like its archive, unless they are data
    sets, which `apart` says.
    """
    planes, rest = split_planes(paths)
    return _with_arrays(_maps_of(planes, apart) if planes else None, rest, tag)


def _maps_of(paths: list[Path], apart: bool) -> Data:
    detectors = paths if not apart and _are_detectors(paths) else ()
    read = {path.stem: _read_images([path], "predictions") for path in detectors}
    if not read:
        data, readers = _read_images(paths, "predictions")
        return data._replace(
            setup=[*data.setup, f'predictions = images("predictions", {readers})  # the folder of your files']
        )
    parts = {name: data for name, (data, _) in read.items()}
    check_unpacked(paths[0].name, sum(8 * one.size for part in parts.values() for one in part.arrays["predictions"]))
    setup = [
        *dict.fromkeys(line for part in parts.values() for line in part.setup),
        f"readers = {{{', '.join(f'{name!r}: {readers}' for name, (_, readers) in read.items())}}}",
        "detectors = {name: images(name, readers[name]) for name in readers}  # folders of your files",
        f"predictions = detectors[{next(iter(parts))!r}]",
    ]
    first = next(iter(parts.values()))
    own = {name: first.arrays[name] for name in first.arrays if name != "predictions"}
    return Data(
        {**{name: part.arrays["predictions"] for name, part in parts.items()}, **own},
        setup,
        {**first.code, **{name: f"[*detectors[{name!r}].values()]" for name in parts}},
        names={name: part.names["predictions"] for name, part in parts.items()},
    )


def _with_arrays(data: Data | None, rest: list[Path], tag: str) -> Data:
    """Maps or masks, and the arrays of other files."""
    if data is None or not rest:
        return data or read_files(rest, {}, tag)
    return joined_files(data, read_files(rest, {}, tag), rest[0].stem)


def _are_detectors(paths: Sequence[Path]) -> bool:
    """Whether there are several archives, and the names in them are the same.

    Raises RefusedError where some names are in several archives, and others are not.
    """
    if len(paths) < 2 or any(path.suffix.lower() != ".zip" for path in paths):
        return False
    names = {path.name: {member.key for member in members([path], PLANE_SUFFIXES)} for path in paths}
    every, common = set().union(*names.values()), set.intersection(*names.values())
    if sum(map(len, names.values())) > len(every) > len(common):
        alone = sorted(every - common)
        where = "; ".join(f"{name} lacks {some(sorted(every - own))}" for name, own in names.items() if every - own)
        raise RefusedError(
            f"expected maps of the same images from each detector, got {len(alone):,} that not all have: {where}. Of "
            "data sets, put the masks into archives of the same names as the maps"
        )
    return bool(common)


def read_masks(paths: list[Path], tag: str = "", apart: bool = False) -> Data:
    """Masks, PNG images of any kind or arrays, in which above 0 is anomalous; and other arrays, such as stacks.

    Of archives with a folder ground_truth, only what is in it.
    """
    planes, rest = split_planes(paths)
    if not planes:
        return _with_arrays(None, rest, tag)
    data, readers = _read_images(planes, "references")
    within = ', "ground_truth"' if len(data.names["references"]) < len(members(planes, PLANE_SUFFIXES)) else ""
    line = f'references = images("references", {readers}{within})  # the folder of your files'
    return _with_arrays(data._replace(setup=[*data.setup, line]), rest, tag)


def _read_images(paths: list[Path], name: str) -> tuple[Data, str]:
    """Maps or masks, with the lines that read them but the last, and the Python of their readers."""
    found, planes = members(paths, PLANE_SUFFIXES), Planes(masks=name == "references")
    found = [member for member in found if planes.masks and "ground_truth" in member.name] or found
    names = [member.key for member in found]
    kinds: dict[str, Member] = {}
    for member in found:
        other = kinds.setdefault(member.key, member)
        if ending(other.name) != ending(member.name):
            raise RefusedError(f"expected one file of each image, got {other.name} and {member.name}")
    arrays = [planes.read(member) for member in found]
    setup = [*planes.setup(), _IMAGES]
    data = Data({name: arrays}, setup, {name: f"[*{name}.values()]"}, names={name: names})
    place, folders = folders_of(names)
    if name == "predictions" and folders:
        data.arrays[FOLDER] = np.asarray(folders, dtype=object)
        data.code[FOLDER] = f'[name.split("/")[{place}] for name in {name}]'
    return data, planes.readers()


_IMAGES = f"""def images(folder, readers, within=""):  # by their paths in the folder, less the ending and _mask
    paths = [path for path in Path(folder).rglob("*") if path.suffix.lower() in readers]
    paths = sorted(path for path in paths if within in path.as_posix())
    parts = [path.relative_to(folder).with_suffix("").parts for path in paths]
    parts = [[*(part for part in folders if part not in {KIND_FOLDERS}), name] for *folders, name in parts]
    parts = ["/".join(part).removesuffix("_mask") for part in parts]
    return {{part: readers[path.suffix.lower()](path) for part, path in zip(parts, paths)}}"""
