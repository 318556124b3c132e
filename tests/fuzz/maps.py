"""Anomaly maps and masks as files, listed and read as the command does it."""

from __future__ import annotations

import functools
import io
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import tifffile
from PIL import Image

from openworld_metrics.reading.maps.files import file_problems, map_reader, rules_of
from openworld_metrics.reading.maps.planes import read_map, read_mask_values
from openworld_metrics.reading.maps.sources import list_anomaly_maps
from tests.fuzz.contents import content, damaged_files
from tests.fuzz.engine import BrokenError, Case, Input, Refused, Target
from tests.fuzz.values import KNOWN, plain

ENDINGS = ("tiff", "npy", "npz", "png")


def make(ending: str, rng: Random) -> Input:
    """The map of an anomalous image, that of a normal one, and a mask; of another size if it is resized."""
    numbers = np.random.default_rng(rng.getrandbits(64))
    shape, resize = (rng.choice((1, 4, 9)), rng.choice((1, 3, 8))), rng.choice((None, None, "nearest", "bilinear"))
    mask = np.uint8(255) * (numbers.random(shape) < 0.5)
    kind = rng.choice(("png", "bmp", "tif"))
    files = {f"masks/a.{kind}": _picture(Image.fromarray(mask), {"tif": "TIFF"}.get(kind, kind))}
    for name, size in (("a", (shape[0] + 2, shape[1] + 1) if resize else shape), ("normal", shape)):
        files[f"maps/{name}.{ending}"] = _map(rng, ending, numbers.random(size))
    return Input(files, {"file": f"maps/a.{ending}", "resize": resize})


def _map(rng: Random, ending: str, scores: np.ndarray) -> bytes:
    if ending == "png":
        return _picture(Image.fromarray((65535 * scores).astype(np.uint16)), "PNG")
    scores = (100 * scores).astype(rng.choice(("f2", "f4", "f8", "u1", "u2", "i4")))
    if ending == "tiff":
        return _tiff(scores, compression=rng.choice((None, "zlib", "lzw", "zstd")))
    return content(rng, ending, {"scores": scores})


def _picture(image: Image.Image, kind: str) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind)
    return buffer.getvalue()


def _tiff(array: np.ndarray, **options: Any) -> bytes:
    buffer = io.BytesIO()
    tifffile.imwrite(buffer, array, **options)
    return buffer.getvalue()


def damage(rng: Random, value: Input) -> Input:
    """Something wrong with a file, its name, or the option."""
    files, way = value.files, rng.random()
    if way < 0.07:
        return value.with_value(resize=rng.choice((plain(rng), *KNOWN)))
    if way < 0.7:
        return value._replace(files=damaged_files(rng, files))
    name = value.values["file"] if rng.random() < 0.7 else rng.choice([*files])
    return value._replace(files={**files, name: _other(rng, name.rpartition(".")[2])})


def _other(rng: Random, kind: str) -> bytes:
    """A file of another kind of pixels, shape or compression."""
    shape = rng.choice(((4, 3), (4, 3, 3), (1, 4, 3), (2, 4, 3), (4, 3, 1), (0, 3), (12,), (1, 1, 1, 1), ()))
    if kind in ("npy", "npz"):
        dtype = rng.choice(("?", "u1", "i8", "u8", "f8", "c16", "f4", "O", "U3"))
        array = np.full(shape, rng.choice((0, 1, 7)), dtype=dtype)
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
    image = Image.new(rng.choice(("1", "L", "LA", "P", "RGB", "RGBA", "I;16", "CMYK", "F", "I")), (3, 4))
    kinds = {"png": ("PNG", "GIF", "TIFF"), "bmp": ("BMP", "JPEG")}.get(kind, ("TIFF", "PNG"))
    try:
        return _picture(image, rng.choice(kinds))
    except (OSError, ValueError):  # that format has no such pixels
        return b""


def run(case: Case) -> None:
    """Read the map and the masks alone, then all pairs, then ask for what is wrong."""
    file = case.values["file"]
    score_map = case.attempt(read_map, Path(file)) if Path(file).is_file() else None
    if isinstance(score_map, np.ndarray) and not (
        score_map.ndim == 2 and score_map.dtype.kind in "fiu" and score_map.size
    ):
        raise BrokenError("a map is no map", score_map)
    for path in Path("masks").glob("*"):
        mask = case.attempt(read_mask_values, path)
        if not isinstance(mask, Refused) and (mask.ndim != 2 or mask.dtype.kind not in "bfiu"):
            raise BrokenError("a mask is no mask", mask)
    case.attempt(_read_all, case.values["resize"])


def _read_all(resize: Any) -> None:
    listed = list_anomaly_maps("maps", "masks")
    problems = file_problems(listed, resize)
    read = map_reader(listed, rules_of(listed), resize)
    for pair in listed.pairs:
        try:
            score_map, masks = read(pair)
        except (ValueError, TypeError) as error:
            if str(error) not in problems:
                raise BrokenError("a problem is not listed", (error, problems)) from None
            raise
        typed = score_map.dtype in (np.float32, np.float64)
        if score_map.shape != masks.mask.shape or not typed or np.isnan(score_map).any():
            raise BrokenError("a map does not fit its mask", (score_map, masks))
    if len(problems) > len(listed.problems):
        raise BrokenError("a problem is listed that is none", problems)


TARGETS = {f"maps.{ending}": Target(functools.partial(make, ending), run, damage) for ending in ENDINGS}
