"""Anomaly maps and masks as files, listed and read as the command does it."""

from __future__ import annotations

import functools
import io
from random import Random
from typing import Any, NamedTuple

import numpy as np
import tifffile
from PIL import Image

from openworld_metrics.reading.maps.maps import file_problems, map_reader
from openworld_metrics.reading.maps.pairing import list_anomaly_maps
from openworld_metrics.reading.maps.planes import read_map, read_mask_values
from tests.fuzz.contents import content, damaged_content
from tests.fuzz.damage import damaged
from tests.fuzz.engine import BrokenError, Case, Files, Refused, Target, check_files, write_files
from tests.fuzz.values import KNOWN, plain

ENDINGS = ("tiff", "npy", "npz", "png")


class MapFiles(NamedTuple):
    """A folder of maps, one of masks, the map to look at, and how maps are resized."""

    files: Files
    file: str
    resize: Any


def make(ending: str, rng: Random) -> MapFiles:
    """The map of an anomalous image, that of a normal one, and a mask; of another size if it is resized."""
    numbers = np.random.default_rng(rng.getrandbits(64))
    rows, columns = rng.choice((1, 4, 9)), rng.choice((1, 3, 8))
    resize = rng.choice((None, None, "nearest", "bilinear"))
    file = f"maps/a.{ending}"
    mask = np.uint8(255) * (numbers.random((rows, columns)) < 0.5)
    files = {f"masks/a.{rng.choice(('png', 'bmp', 'tif'))}": b""}
    files = {name: _picture(mask, name) for name in files}
    shape = (rows + 2, columns + 1) if resize else (rows, columns)
    for name in (file, file.replace("/a", "/normal")):
        files[name] = _map(rng, ending, numbers.random(shape) if name == file else numbers.random((rows, columns)))
    return MapFiles(files, file, resize)


def _map(rng: Random, ending: str, scores: np.ndarray) -> bytes:
    if ending == "png":
        return _picture((65535 * scores).astype(np.uint16), "a.png")
    scores = (100 * scores).astype(rng.choice(("f2", "f4", "f8", "u1", "u2", "i4")))
    if ending == "tiff":
        return _tiff(scores, compression=rng.choice((None, "zlib", "lzw", "zstd")))
    return content(rng, ending, {"scores": scores})


def _picture(array: np.ndarray, name: str) -> bytes:
    buffer = io.BytesIO()
    image = Image.fromarray(array)
    image.save(buffer, {"bmp": "BMP", "tif": "TIFF", "png": "PNG"}[name.rpartition(".")[2]])
    return buffer.getvalue()


def _tiff(array: np.ndarray, **options: Any) -> bytes:
    buffer = io.BytesIO()
    tifffile.imwrite(buffer, array, **options)
    return buffer.getvalue()


def damage(ending: str, rng: Random, value: MapFiles) -> MapFiles:
    """Something wrong with a file, its name, or the option."""
    files, way = dict(value.files), rng.random()
    file = value.file if rng.random() < 0.7 else rng.choice([*files])
    kind = file.rpartition(".")[2]
    if way < 0.07:
        return value._replace(resize=plain(rng) if rng.random() < 0.5 else rng.choice(KNOWN))
    if way < 0.14:
        other = rng.choice(("maps/b.npy", "maps/a.npy", "maps/a.png", "maps/x/a.tiff", "masks/a.npy", "masks/b.png"))
        files[other] = files[file] if rng.random() < 0.5 else files.pop(file)
        return value._replace(files=files)
    if way < 0.4:
        files[file] = _other(rng, kind)
    elif kind in ("npy", "npz"):
        files[file] = damaged_content(rng, kind, files[file])
    else:
        files[file] = damaged(rng, files[file])
    return value._replace(files=files)


def _other(rng: Random, kind: str) -> bytes:
    """A file of another kind of pixels, shape or compression."""
    shape = rng.choice(((4, 3), (4, 3, 3), (1, 4, 3), (2, 4, 3), (4, 3, 1), (0, 3), (12,), (1, 1, 1, 1), ()))
    array = np.full(
        shape, rng.choice((0, 1, 7)), dtype=rng.choice(("?", "u1", "i8", "u8", "f8", "c16", "f4", "O", "U3"))
    )
    if kind in ("npy", "npz"):
        if array.dtype.kind in "fc" and array.size and rng.random() < 0.5:
            array.flat[0] = rng.choice((np.nan, np.inf, -np.inf))
        return content(rng, kind, {"a": array, "b": array} if rng.random() < 0.3 else {"a": array})
    if kind == "tiff":
        array = np.zeros(shape if len(shape) > 1 and 0 not in shape else (4, 3), rng.choice(("u1", "f4", "f8", "c8")))
        ways: tuple[dict[str, Any], ...] = (
            {"tile": (16, 16)},
            {"compression": rng.choice(("zlib", "lzw", "packbits")), "predictor": array.dtype.kind in "u"},
            {"compression": "lzw", "tile": (16, 16)},
            {"bigtiff": True},
            {"byteorder": ">"},
            {"photometric": "minisblack"},
            {"rowsperstrip": 1},
        )
        return _tiff(array, **rng.choice(ways))
    buffer = io.BytesIO()
    mode = rng.choice(("1", "L", "LA", "P", "RGB", "RGBA", "I;16", "CMYK", "F", "I"))
    names = {"png": ("PNG", "GIF", "TIFF"), "bmp": ("BMP", "JPEG")}.get(kind, ("TIFF", "PNG"))
    try:
        Image.new(mode, (3, 4)).save(buffer, rng.choice(names))
    except (OSError, ValueError):  # that format has no such pixels
        return b""
    return buffer.getvalue()


def run(case: Case) -> None:
    """Read the map and the mask alone, then all pairs, then ask for what is wrong."""
    value: MapFiles = case.value
    write_files(value.files, case.folder)
    found = case.attempt(functools.partial(read_map, case.folder / value.file)) if value.file in value.files else None
    if isinstance(found, np.ndarray) and (found.ndim != 2 or found.dtype.kind not in "fiu" or not found.size):
        raise BrokenError("a map is no map", found)
    for name in value.files:
        if name.startswith("masks/"):
            mask = case.attempt(functools.partial(read_mask_values, case.folder / name))
            if not isinstance(mask, Refused) and (mask.ndim != 2 or mask.dtype.kind not in "bfiu"):
                raise BrokenError("a mask is no mask", mask)
    case.attempt(functools.partial(_read_all, case, value.resize))
    check_files(value.files, case.folder)


def _read_all(case: Case, resize: Any) -> None:
    listed = list_anomaly_maps(case.folder / "maps", case.folder / "masks")
    problems = file_problems(listed, resize)
    read = map_reader(listed, resize)
    for pair in listed.pairs:
        try:
            score_map, masks = read(pair)
        except (ValueError, TypeError) as error:
            if str(error) not in problems:
                raise BrokenError("a problem is not listed", (error, problems)) from None
            raise
        if (
            score_map.shape != masks.mask.shape
            or score_map.dtype not in (np.float32, np.float64)
            or np.isnan(score_map).any()
        ):
            raise BrokenError("a map does not fit its mask", (score_map, masks))
    if len(problems) > len(listed.problems):
        raise BrokenError("a problem is listed that is none", problems)


TARGETS = [
    Target(f"maps.{ending}", functools.partial(make, ending), functools.partial(damage, ending), run)
    for ending in ENDINGS
]
