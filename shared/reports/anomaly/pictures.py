"""Draw a test image for a page: the photograph, its map in colours, outlines of regions. Needs Pillow."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...extras import extra
from ...reading.maps.maps import resized_map
from ..frame import picture_html
from ..thumbnails import photograph

_GRID = 128  # cells along the longer side of an image, for outlines
_MOST = 6_000  # the most characters of an outline; longer ones get larger cells
# from low to high, with increasing perceived lightness; the middle is the threshold
_HEAT = ((0, 0, 4), (59, 15, 112), (140, 41, 129), (222, 73, 104), (254, 159, 109), (252, 253, 191))


def photo_html(path: Path, shape: Sequence[int], side: int, alt: str, over: str) -> str:
    """A photograph with outlines over it, as HTML.

    Parameters: path; shape of its map, (H, W); side, of the picture, its longer one, in pixels; alt, a sentence; over,
    of `outline`.
    """
    rows, columns = _scaled(shape, _GRID)
    return picture_html(photograph(path, side)[0], alt, (columns, rows), over)


def heat_html(
    score_map: np.ndarray, scale: tuple[float, float], threshold: float | None, side: int, alt: str, over: str = ""
) -> str:
    """A map in colours with outlines over it, as HTML; see `heat_picture`."""
    rows, columns = _scaled(score_map.shape, _GRID)
    small = resized_map(score_map, _scaled(score_map.shape, side), "nearest")
    content = base64.b64encode(heat_picture(small, scale[0], threshold, scale[1])).decode()
    return picture_html(f"data:image/png;base64,{content}", alt, (columns, rows), over)


def heat_picture(score_map: np.ndarray, low: float, threshold: float | None, high: float) -> bytes:
    """A map as a .png in colours from dark (low) to light (high), with the threshold, if any, in the middle.

    Parameters: score_map (H, W); low < high, where colours begin and end.
    """
    with extra("anomaly"):
        from PIL import Image
    middle = threshold if threshold is not None and low < threshold < high else (low + high) / 2
    share = np.interp(score_map, [low, middle, high], [0, 127, 255])
    picture = Image.fromarray((share / 4).round().astype(np.uint8), "L").convert("P")  # 64 colours pack well
    steps = np.linspace(0, 1, len(_HEAT))
    palette = [np.interp(np.linspace(0, 1, 64), steps, channel) for channel in zip(*_HEAT)]
    picture.putpalette(np.stack(palette, axis=1).round().astype(np.uint8).tobytes())
    file = io.BytesIO()
    picture.save(file, "PNG", optimize=True)
    return file.getvalue()


def outline(region: np.ndarray, name: str) -> str:
    """The border of a region as an SVG path with the class `name`; "" for an empty region.

    A cell belongs to the region if any of its pixels does, so that thin regions stay visible.

    >>> outline(np.asarray([[False, True]]), "defect")
    '<path class="defect" d="M64 0H128M64 64H128M64 0V64M128 0V64"/>'
    """
    if not region.any():
        return ""
    cell = 1
    while len(text := _borders(_cells(region, _GRID // cell), cell)) > _MOST and cell < _GRID // 8:
        cell *= 2
    return f'<path class="{name}" d="{text}"/>'


def _cells(region: np.ndarray, side: int) -> np.ndarray:
    """Reduce a region to a grid of at most `side` cells a side."""
    rows, columns = _scaled(region.shape, side)
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


def _scaled(shape: Sequence[int], side: int) -> tuple[int, int]:
    """Scale (rows, columns) so that the longer one is `side`."""
    scale = side / max(shape)
    rows, columns = (max(1, round(scale * length)) for length in shape)
    return rows, columns
