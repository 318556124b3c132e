"""Read images: anomaly maps and masks (PNG), and photographs to lay behind (or JPEG). Sizes are checked first."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from .archives import FOLDER, KIND_FOLDERS, folders_of, keys, last_parts, members, some
from .limits import RefusedError, check_files, check_unpacked, without_paths
from .readers import Data


def read_maps(paths: list[Path], tag: str = "", apart: bool = False) -> Data:
    """Grey PNG images of 8 or 16 bits, as they are: higher is more anomalous.

    Archives of which all hold files of the same names are detectors, each named like its archive, unless they are data
    sets, which `apart` says.
    """
    code = "np.asarray(Image.open(path))"
    parts = {
        path.stem: _read_images([path], "predictions", code, lambda image: np.asarray(_grey(image)))
        for path in (paths if not apart and _are_detectors(paths) else ())
    }
    if not parts:
        return _read_images(paths, "predictions", code, lambda image: np.asarray(_grey(image)))
    check_unpacked(paths[0].name, sum(8 * one.size for part in parts.values() for one in part.arrays["predictions"]))
    setup = [
        *next(iter(parts.values())).setup[:-1],
        f"detectors = {{name: images(name, lambda path: {code}) for name in {[*parts]!r}}}  # folders of your files",
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


def _are_detectors(paths: Sequence[Path]) -> bool:
    """Whether there are several archives, and the names in them are the same.

    Raises RefusedError where some names are in several archives, and others are not.
    """
    if len(paths) < 2 or any(path.suffix.lower() != ".zip" for path in paths):
        return False
    names = {path.name: {member.key for member in members([path], (".png",))} for path in paths}
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
    """PNG images of any kind: what is not black is anomalous. Of an archive with a folder ground_truth, only those."""
    convert = 'np.asarray(Image.open(path).convert("L")) > 0'
    return _read_images(paths, "references", convert, lambda image: np.asarray(image.convert("L")) > 0)


def _read_images(paths: list[Path], name: str, code: str, convert: Callable[[Any], np.ndarray]) -> Data:
    total, found = 0, members(paths, (".png",))
    true = [member for member in found if name == "references" and "ground_truth" in member.name]
    inside = ', "ground_truth"' if true and len(true) < len(found) else ""
    found = true or found
    arrays = []
    for member in found:
        with Image.open(io.BytesIO(member.read_bytes()), formats=["PNG"]) as image:
            total += 8 * image.width * image.height
            check_unpacked(member.name, total)
            if name == "predictions" and image.mode not in ("1", "L", "I", "I;16", "F"):
                raise RefusedError(f"{member.name}: expected grey, whose values are the scores, got {image.mode}")
            arrays.append(convert(image))
    setup = [
        "import numpy as np",
        "from pathlib import Path",
        "from PIL import Image",
        _IMAGES,
        f'{name} = images("{name}", lambda path: {code}{inside})  # the folder of your files',
    ]
    names = [member.key for member in found]
    data = Data({name: arrays}, setup, {name: f"[*{name}.values()]"}, names={name: names})
    place, folders = folders_of(names)
    if name == "predictions" and folders:
        data.arrays[FOLDER] = np.asarray(folders, dtype=object)
        data.code[FOLDER] = f'[name.split("/")[{place}] for name in {name}]'
    return data


_IMAGES = f"""def images(folder, read, within=""):  # by their paths in the folder, less the ending and _mask
    paths = sorted(path for path in Path(folder).rglob("*.png") if within in path.as_posix())
    parts = [path.relative_to(folder).with_suffix("").parts for path in paths]
    parts = [[*(part for part in folders if part not in {KIND_FOLDERS}), name] for *folders, name in parts]
    return {{"/".join(part).removesuffix("_mask"): read(path) for part, path in zip(parts, paths)}}"""


def _grey(image: Any) -> Any:
    return image.convert("L") if image.mode == "1" else image


def photograph_of(paths: Sequence[Path], image: int, names: Sequence[str]) -> Any:
    """The photograph of an image, by its name; one that is named like none of them is behind all. None for none."""
    if not paths:
        return None
    check_files(list(paths))
    found = members(list(paths), _PHOTOGRAPHS)
    if names and image < len(names):
        parts, wanted = keys(names)
        named = dict(zip(last_parts([member.key for member in found], parts), found))
        if wanted[image] in named:
            return read_photograph(named[wanted[image]])
        if named.keys() & set(wanted):
            return None
    return read_photograph(found[0]) if len(found) == 1 else None


_PHOTOGRAPHS = (".png", ".jpg", ".jpeg")


def read_photograph(member: Any) -> Any:
    """A photograph (PNG or JPEG), at most 1,000 pixels wide and high."""
    try:
        with Image.open(io.BytesIO(member.read_bytes()), formats=["PNG", "JPEG"]) as image:
            size = image.size
            check_unpacked(member.name, 4 * size[0] * size[1])
            photograph = image.convert("RGB")
    except RefusedError:
        raise
    except Exception as error:  # of the decoder
        kind = member.name.rpartition(".")[2].lower()
        raise RefusedError(f"{member.name}: cannot be read as {kind}: {without_paths(str(error))}") from None
    photograph.thumbnail((1000, 1000))
    return photograph, size
