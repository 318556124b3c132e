"""Pictures within a report: photographs, maps in colours, boxes, and outlines of regions. Needs Pillow."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...answers.answer import Box, Image
from ...extras import extra
from ...reading.limits import check_size
from ...reading.maps.maps import resized_map
from ...reading.places import find_images
from ...reading.reasons import named
from ...reading.rows.inputs import file_of, read_column
from .frame import Mark, Picture

_TILE = 200  # pixels of a tile's width, by which labels are placed
_LETTER, _LINE = 7.4, 15  # pixels of a label: of a letter, and its height
_LABELS = 12  # the most labels of a picture
_GRID = 128  # cells along the longer side of an image, for outlines
_MOST = 6_000  # the most characters of an outline; longer ones get larger cells
# from low to high, with increasing perceived lightness; the middle is the threshold
_HEAT = ((0, 0, 4), (59, 15, 112), (140, 41, 129), (222, 73, 104), (254, 159, 109), (252, 253, 191))


def list_images(place: str, count: int) -> list[Path]:
    """The image of each sample.

    place: a folder, whose images belong to the samples in the order of their names; or a .txt with a path in each line,
        or a file of columns, as in images.csv:path, in the order of the samples: paths are relative to the file
    count: the number of samples. Raises ValueError for another number of images, and for unreadable files.
    """
    paths = list(find_images(place).values()) if Path(place).is_dir() else _listed(place)
    if len(paths) != count:
        raise ValueError(f"{place}: expected an image for each of {count} samples, got {len(paths)} images")
    return paths


def _listed(place: str) -> list[Path]:
    file = file_of(place)
    names: Sequence[Any]
    if file is not None and file.suffix.lower() == ".txt":
        with named(place):
            names = [line for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    else:
        if file is not None and not file.suffix:
            raise ValueError(f"{place}: expected a folder of images, or a file of their paths, got none")
        names = read_column(place, "images")
    if any(not isinstance(name, str) for name in names):
        odd = next(name for name in names if not isinstance(name, str))
        raise ValueError(f"{place}: expected paths of images, got {odd}")
    return [(Path() if file is None else file.parent) / name for name in names]


def photograph(path: Path, side: int, quality: int = 82) -> tuple[str, tuple[int, int]]:
    """An image as a data: URI, at most `side` pixels wide and high, and its own width and height.

    quality: of the JPEG, up to 95. Raises ValueError for a file that is not an image.
    """
    with extra("cli"):
        from PIL import Image as Pixels, ImageOps
    with named(path), Pixels.open(path) as image:
        check_size(image.size)
        upright = ImageOps.exif_transpose(image)
        if upright.mode.startswith("I;16"):  # Pillow would clip values above 255
            upright = Pixels.fromarray((np.asarray(upright) >> 8).astype(np.uint8))
        shown = upright.convert("RGB")
        size = shown.size
        shown.thumbnail((side, side))
        file = io.BytesIO()
        shown.save(file, "JPEG", quality=quality)
    return "data:image/jpeg;base64," + base64.b64encode(file.getvalue()).decode(), size


def picture_of(image: Image) -> Picture:
    """An image of an answer with its boxes, the first ones on top, and labels where they cover no other one."""
    width, height = image.size
    placed: list[tuple[float, float, float, float]] = []
    marks = []
    for place, box in enumerate(image.boxes):
        left, top, right, bottom = (100 * end / side for end, side in zip(box.corners, 2 * image.size))
        named = box.label and box.role not in ("right", "object", "nothing")
        spot = _label_spot(box, image.size, placed) if place < _LABELS and named else None
        if spot is not None:
            placed.append(spot)
        x, y = (0.0, 0.0) if spot is None else (100 * spot[0] / _TILE, 100 * spot[1] * width / (_TILE * height))
        sizes = max(0.0, right - left), max(0.0, bottom - top)
        left, top, wide, high = (round(value, 2) for value in (left, top, *sizes))
        label = box.label if spot is not None else ""
        marks.append(Mark(box.role, left, top, wide, high, box.outcome, label, round(x, 2), round(y, 2)))
    alt = image.alt or f"{image.name}: {image.said}"
    return Picture(image.picture, alt, image.size, marks[::-1])


def _label_spot(
    box: Box, size: tuple[float, float], placed: Sequence[tuple[float, float, float, float]]
) -> tuple[float, float, float, float] | None:
    """A rectangle for a label in pixels of a tile: above its box, below, or inside; None if each covers another."""
    scale = _TILE / size[0]
    x1, y1, _, y2 = (scale * corner for corner in box.corners)
    width, tall = _LETTER * len(box.label) + 6, scale * size[1]
    left = min(max(0.0, x1), max(0.0, _TILE - width))
    for top in (y1 - _LINE, y2 + 1, y1 + 2):
        spot = (left, top, left + width, top + _LINE)
        clear = all(spot[2] <= a[0] or a[2] <= spot[0] or spot[3] <= a[1] or a[3] <= spot[1] for a in placed)
        if top >= 0 and spot[3] <= tall and clear:
            return spot
    return None


def heat_url(score_map: np.ndarray, low: float, threshold: float | None, high: float, side: int) -> str:
    """A map as a data: URI of a PNG, in colours from dark (low) to light (high), with the threshold in the middle.

    score_map: (H, W); low < high, where colours begin and end; side, pixels of the longer one
    """
    with extra("anomaly"):
        from PIL import Image as Pixels
    small = resized_map(score_map, scaled(score_map.shape, side), "nearest")
    middle = threshold if threshold is not None and low < threshold < high else (low + high) / 2
    share = np.interp(small, [low, middle, high], [0, 127, 255])
    picture = Pixels.fromarray((share / 4).round().astype(np.uint8), "L").convert("P")  # 64 colours pack well
    steps = np.linspace(0, 1, len(_HEAT))
    palette = [np.interp(np.linspace(0, 1, 64), steps, channel) for channel in zip(*_HEAT)]
    picture.putpalette(np.stack(palette, axis=1).round().astype(np.uint8).tobytes())
    file = io.BytesIO()
    picture.save(file, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()


def outline_size(shape: Sequence[int]) -> tuple[int, int]:
    """The width and height that outlines of a map (H, W) are drawn in."""
    rows, columns = scaled(shape, _GRID)
    return columns, rows


def outline(region: np.ndarray) -> str:
    """The border of a region as the data of an SVG path; "" for an empty region.

    A cell belongs to the region if any of its pixels does, so that thin regions stay visible.

    >>> outline(np.asarray([[False, True]]))
    'M64 0H128M64 64H128M64 0V64M128 0V64'
    """
    if not region.any():
        return ""
    cell = 1
    while len(path := _borders(_cells(region, _GRID // cell), cell)) > _MOST and cell < _GRID // 8:
        cell *= 2
    return path


def _cells(region: np.ndarray, side: int) -> np.ndarray:
    """Reduce a region to a grid of at most `side` cells a side."""
    rows, columns = scaled(region.shape, side)
    if rows >= region.shape[0] and columns >= region.shape[1]:
        return resized_map(region, (rows, columns), "nearest")
    cells = np.zeros((rows, columns), bool)
    y, x = np.nonzero(region)
    cells[y * rows // region.shape[0], x * columns // region.shape[1]] = True
    return cells


def _borders(cells: np.ndarray, cell: int) -> str:
    """The borders of cells, joined to the longest lines."""
    padded = np.pad(cells, 1)
    across = padded[1:, 1:-1] != padded[:-1, 1:-1]
    down = (padded[1:-1, 1:] != padded[1:-1, :-1]).T
    horizontal = "".join(f"M{cell * start} {cell * y}H{cell * end}" for y, start, end in _runs(across))
    return horizontal + "".join(f"M{cell * x} {cell * start}V{cell * end}" for x, start, end in _runs(down))


def _runs(edges: np.ndarray) -> list[tuple[int, int, int]]:
    """The line, start and end of each run of edges."""
    steps = np.diff(np.pad(edges.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    lines, starts = np.nonzero(steps == 1)
    ends = np.nonzero(steps == -1)[1]
    return list(zip(lines.tolist(), starts.tolist(), ends.tolist()))


def scaled(shape: Sequence[int], side: int) -> tuple[int, int]:
    """Scale (rows, columns) so that the longer one is `side`."""
    scale = side / max(shape)
    rows, columns = (max(1, round(scale * length)) for length in shape)
    return rows, columns
