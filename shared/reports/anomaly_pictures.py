"""Pictures of a test image: the image, its map in colours, its mask, and contours of both. Needs Pillow."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..evaluation.resizing import resized_map
from ..extras import extra
from ..formats.maps.pixels import check_size
from ..formats.reasons import named
from .thumbnails import as_rgb

# Okabe and Ito's: what the maps say, and what is true
FOUND_COLOR, TRUE_COLOR = "#d55e00", "#56b4e9"
_SIDES = (320, 512)  # of a picture, its longer side
# from low to high, in perceived lightness too; the middle is the threshold
_HEAT = ((0, 0, 4), (59, 15, 112), (140, 41, 129), (222, 73, 104), (254, 159, 109), (252, 253, 191))


def heat_picture(score_map: np.ndarray, low: float, threshold: float | None, high: float) -> bytes:
    """A map in colours, dark to light from low to high, as .png; with a threshold, that is in the middle.

    Parameters: score_map (H, W); low < high, where colours begin and end.
    """
    with extra("anomaly"):
        from PIL import Image
    middle = threshold if threshold is not None and low < threshold < high else (low + high) / 2
    share = np.interp(_display(score_map), [low, middle, high], [0, 127, 255])
    picture = Image.fromarray(share.round().astype(np.uint8), "L").convert("P")
    steps = np.linspace(0, 1, len(_HEAT))
    palette = [np.interp(np.linspace(0, 1, 256), steps, channel) for channel in zip(*_HEAT)]
    picture.putpalette(np.stack(palette, axis=1).round().astype(np.uint8).tobytes())
    return _saved(picture, "PNG")


def mask_picture(mask: np.ndarray) -> bytes:
    """A mask (H, W) in black and white, where white is anomalous, as the content of a .png."""
    with extra("anomaly"):
        from PIL import Image
    return _saved(Image.fromarray(_display(mask)), "PNG")


def image_picture(path: Path, shape: Sequence[int]) -> bytes:
    """An image as large as the pictures of its map, whose shape is given, as .jpg."""
    return _saved(_photograph(path, shape), "JPEG")


def contour_picture(path: Path | None, score_map: np.ndarray, mask: np.ndarray, threshold: float | None) -> bytes:
    """An image with the contours of its mask, and of its map at the threshold, as .jpg.

    Parameters: path of the image; None for its map in grey; score_map and mask (H, W).
    """
    with extra("anomaly"):
        from PIL import Image, ImageColor
    if path is None:
        finite = score_map[np.isfinite(score_map)]
        ends = [float(finite.min()), float(finite.max())] if len(finite) else [0.0, 1.0]
        grey = np.interp(_display(score_map), ends if ends[0] < ends[1] else [ends[0], ends[0] + 1], [40, 215])
        picture = Image.fromarray(grey.round().astype(np.uint8), "L").convert("RGB")
    else:
        picture = _photograph(path, score_map.shape)
    pixels = np.array(picture)
    regions = [(mask, TRUE_COLOR)]
    if threshold is not None:
        regions.append((score_map > threshold, FOUND_COLOR))
    for region, color in regions:
        inside = _display(region)
        line = _grown(_grown(inside))  # around the region: one that is thin can still be seen
        pixels[_grown(line) & ~line] = 0  # a line of any colour is lost on some ground
        pixels[line & ~inside] = ImageColor.getrgb(color)
    return _saved(Image.fromarray(pixels), "JPEG")


def _grown(region: np.ndarray) -> np.ndarray:
    """A region and the pixels beside it."""
    padded = np.pad(region, 1)
    return padded[:-2, 1:-1] | padded[2:, 1:-1] | padded[1:-1, :-2] | padded[1:-1, 2:] | region


def _shape(shape: Sequence[int]) -> tuple[int, int]:
    """The rows and columns of a picture, whose longer side is between two bounds."""
    longer = max(shape)
    scale = min(max(longer, _SIDES[0]), _SIDES[1]) / longer
    rows, columns = (max(1, round(scale * side)) for side in shape)
    return rows, columns


def _display(array: np.ndarray) -> np.ndarray:
    return resized_map(array, _shape(array.shape), "nearest")


def _photograph(path: Path, shape: Sequence[int]) -> Any:
    with extra("anomaly"):
        from PIL import Image
    rows, columns = _shape(shape)
    with named(path), Image.open(path) as image:
        check_size(image.size)
        return as_rgb(image).resize((columns, rows))


def _saved(picture: Any, kind: str) -> bytes:
    file = io.BytesIO()
    picture.save(file, kind, **({"quality": 88, "subsampling": 0} if kind == "JPEG" else {}))
    return file.getvalue()
