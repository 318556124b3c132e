"""Pictures of images: photographs by their names, and anomaly maps drawn over them. Needs Pillow.

A map is transparent where it is far below the threshold, and goes from violet over magenta to yellow; outlines have
the colours of dark ground, with a dark edge.
"""

from __future__ import annotations

import base64
import io
import zipfile
from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np
from PIL import ExifTags, Image as Pixels, ImageOps

from ..arrays.arrays import exceeds
from ..reading.limits import COMMANDS, PAGES, Limits, check_size
from ..reading.maps.files import resized_map
from ..reading.maps.names import key_of
from ..reading.places import matched
from ..reading.reasons import named
from .answer import SIDE
from .subject import Computed

THUMBNAIL = 212  # of a thumbnail, which is shown at half of it on fine screens
MOST_CHARACTERS = 2_800_000  # of the pictures of an answer, as data URLs
LEAST = 768  # pixels along the longer side of a map, which may have few of its own
DEFECT, REGION = "#56b4e9", "#f0883e"  # the outlines of a true defect and of a found region
HEAT = ((68, 1, 84), (225, 29, 122), (253, 224, 71))  # from 0.4 of the threshold to twice the threshold
CLEAR = 0.4  # share of the threshold, counted from the lowest score, below which a map is transparent
_PHOTOGRAPHS = (".png", ".jpg", ".jpeg")  # of strangers' files, which are the only ones that pages open


class Photograph(NamedTuple):
    """A photograph's file, or its archive and its name there."""

    path: Path
    member: str = ""


def photographs_of(
    computed: Computed, paths: Sequence[Path | None], number: int
) -> Callable[[int], tuple[Any, tuple[int, int]] | None]:
    """A function that reads the photograph of an image, by its index; None without one.

    Parameters: a computation, whose photographs are taken if it has some, by name; the files of the images that the
    reader knows, or none; the number of images.
    """
    archives, chosen = computed.reading.archives, computed.photographs
    limits = PAGES if chosen else COMMANDS if archives is None else archives.limits
    files = photographs(chosen, computed.reading.images or [*map(str, range(number))]) if chosen else []
    if limits is PAGES:
        paths = [path if path is not None and path.suffix.lower() in _PHOTOGRAPHS else None for path in paths]
    files = files or [None if path is None else Photograph(path) for path in paths] or [None] * number

    def read(image: int) -> tuple[Any, tuple[int, int]] | None:
        of = files[image]
        return None if of is None else read_photograph(of, limits=limits)

    return read


def photographs(places: Sequence[Path], names: Sequence[str], limits: Limits = PAGES) -> list[Photograph | None]:
    """The photograph of each image, by name, from files and .zip archives; None without one.

    A single photograph that no image is named like is that of every image. Raises RefusedError beyond the limits.
    """
    limits.check_files(places)
    files = [Photograph(path, member) for path in places for member in _members(path, limits)]
    keys = [key_of(PurePosixPath(one.member or one.path.name).with_suffix("").as_posix()) for one in files]
    at = matched(keys, [*map(key_of, names)], strip=True, cut=True)
    if len(files) == 1 and at == [None]:
        return [*files] * len(names)
    by_place = dict(reversed([*zip(at, files)]))
    return [by_place.get(place) for place in range(len(names))]


def _members(path: Path, limits: Limits) -> list[str]:
    """The names of the photographs in an archive; "" for a file that is one."""
    if path.suffix.lower() != ".zip":
        return [""] if path.suffix.lower() in _PHOTOGRAPHS else []
    with path.open("rb") as file:
        limits.check_members(path.name, file)
    with zipfile.ZipFile(path) as archive:
        members = [name for name in archive.namelist() if PurePosixPath(name).suffix.lower() in _PHOTOGRAPHS]
    return [name for name in members if not any(part.startswith((".", "__MACOSX")) for part in name.split("/"))]


def read_photograph(of: Photograph, side: int = SIDE, limits: Limits = PAGES) -> tuple[Any, tuple[int, int]]:
    """A photograph in RGB, at most `side` pixels wide and high, turned upright, and its own width and height.

    Raises RefusedError beyond the limits, and ValueError, with its name, for a file that is no photograph.
    """
    name = of.member or limits.shown(of.path)
    with named(name):
        if of.member:
            with zipfile.ZipFile(of.path) as archive:
                limits.check_unpacked(name, archive.getinfo(of.member).file_size)
                content = archive.read(of.member)
        else:
            content = of.path.read_bytes()
        with Pixels.open(io.BytesIO(content), formats=["PNG", "JPEG"] if limits is PAGES else None) as image:
            check_size(image.size)
            limits.check_unpacked(name, 4 * image.size[0] * image.size[1])
            turned = image.getexif().get(ExifTags.Base.Orientation) in (5, 6, 7, 8)
            size = image.size[::-1] if turned else image.size
            image.draft("RGB", (side, side))  # a JPEG is decoded smaller, and so faster
            upright = ImageOps.exif_transpose(image)
            if upright.mode.startswith("I;16"):  # Pillow would clip values above 255
                upright = Pixels.fromarray((np.asarray(upright) >> 8).astype(np.uint8))
            shown = upright.convert("RGB")
    shown.thumbnail((side, side))
    return shown, size


def data_url(picture: Any, most: int = MOST_CHARACTERS, quality: int = 84, side: int = SIDE) -> str:
    """A picture as a data URL of at most `most` characters: a JPEG, made smaller until it fits or has 160 pixels."""
    side = min(side, max(picture.size))
    while True:
        file = io.BytesIO()
        shown = picture.copy()
        shown.thumbnail((side, side))
        shown.save(file, "JPEG", quality=quality, subsampling=0)
        text = "data:image/jpeg;base64," + base64.b64encode(file.getvalue()).decode()
        if len(text) <= most or side <= 160:
            return text
        side = max(160, 3 * side // 4)


def draw_map(
    score_map: np.ndarray,
    mask: np.ndarray,
    threshold: float | None,
    scale: tuple[float, float],
    void: np.ndarray | None = None,
    *,
    photograph: Any = None,
    heat: bool = True,
    side: int = SIDE,
) -> Any:
    """Draw an anomaly map over its photograph, or over its own greys, with the outlines of defects and of regions.

    u = (s − c) / (top − c),  c = low + 0.4 · (t − low),  top = min(high, low + 2 · (t − low))

    Parameters: score_map (H, W); mask (H, W) booleans, the anomalous pixels; threshold t, of the regions score > t, or
    None to leave them out; scale, the lowest and the highest finite score of all maps; void (H, W) booleans, pixels
    that do not count; photograph, in RGB, or None; heat, whether the map has colours, or outlines alone are drawn;
    side, pixels of the longer side of the picture.
    Returns a Pillow image: transparent where u ≤ 0, else violet (0), magenta (½), yellow (1).
    """
    width, height = _scaled(score_map.shape[::-1] if photograph is None else photograph.size, side)
    low, high = scale
    clipped = np.clip(np.nan_to_num(score_map.astype(np.float64), posinf=high, neginf=low), low, high)
    way = Pixels.Resampling.NEAREST if max(score_map.shape) <= 64 else Pixels.Resampling.BILINEAR
    scores = np.asarray(Pixels.fromarray(clipped.astype(np.float32)).resize((width, height), way), np.float64)
    at = (low + high) / 2 if threshold is None else min(max(threshold, low), high)
    clear, top = low + CLEAR * (at - low), min(high, low + 2 * (at - low))
    if photograph is None:
        grey = 26 + 84 * np.clip((scores - low) / ((at - low) or 1), 0, 1)
        pixels = np.repeat(grey[..., None], 3, axis=2)
    else:
        pixels = np.array(photograph.resize((width, height)), np.float64)
    if heat:
        u = np.clip((scores - clear) / ((top - clear) or 1), 0, 1)
        hot = np.nonzero(u > 0)
        u = u[hot][:, None]
        alpha = np.minimum(0.8, 0.06 + 1.6 * u)
        colors = np.concatenate([np.interp(u, (0, 0.5, 1), channel) for channel in zip(*HEAT)], axis=1)
        pixels[hot] = pixels[hot] * (1 - alpha) + colors * alpha
    wide = 3 if side >= 200 else 2  # which a thumbnail shows at half
    if threshold is not None:
        flagged = exceeds(score_map, threshold)
        _outline(pixels, _resized(flagged if void is None else flagged & ~void, (height, width)), REGION, wide)
    _outline(pixels, _resized(mask, (height, width)), DEFECT, wide)
    return Pixels.fromarray(pixels.round().astype(np.uint8))


def _resized(inside: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """A region in another size; a pixel is inside if any of its own is, so that thin regions stay visible."""
    if shape[0] >= inside.shape[0] and shape[1] >= inside.shape[1]:
        return resized_map(inside, shape, "nearest")
    smaller = np.zeros(shape, bool)
    y, x = np.nonzero(inside)
    smaller[y * shape[0] // inside.shape[0], x * shape[1] // inside.shape[1]] = True
    return smaller


def _outline(pixels: np.ndarray, inside: np.ndarray, color: str, width: int) -> None:
    """Colour the inner rim of a region, `width` pixels wide, between two dark edges of one pixel."""
    inner = inside
    for _ in range(width):  # SciPy's erosion takes twenty times as long
        inner = _with_neighbours(inner, np.logical_and)
    edges = _with_neighbours(inside, np.logical_or) & ~inside | inner & ~_with_neighbours(inner, np.logical_and)
    pixels[edges] *= 0.35
    pixels[inside & ~inner] = [int(color[i : i + 2], 16) for i in (1, 3, 5)]


def _with_neighbours(inside: np.ndarray, combine: np.ufunc) -> np.ndarray:
    """Combine each pixel with its four neighbours; beyond the border nothing is inside."""
    wide = np.pad(inside, 1)
    rows, columns = (wide[:-2, 1:-1], wide[2:, 1:-1]), (wide[1:-1, :-2], wide[1:-1, 2:])
    return reduce(combine, (*rows, *columns), inside)


def _scaled(size: Sequence[float], side: int) -> tuple[int, int]:
    """A size whose longer side is `side`."""
    scale = side / (max(size) or 1)
    width, height = (max(1, round(scale * length)) for length in size)
    return width, height
