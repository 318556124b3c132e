"""Read anomaly maps and masks, one two-dimensional array a file, with Pillow, or tifffile and imagecodecs for .tiff."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ...extras import extra
from ..places import PICTURES
from ..reasons import named
from .pictures import mask_values
from .pixels import check_size, size_text
from .planes import ARRAY_SUFFIXES, TIFF_SUFFIXES, checked_map, checked_mask, read_array
from .tiff import read_tiff, read_tiff_mask

MAP_SUFFIXES = frozenset([*ARRAY_SUFFIXES, ".png"])
MASK_SUFFIXES = MAP_SUFFIXES | PICTURES
FORMATS = ("BMP", "GIF", "JPEG", "PNG", "WEBP")  # of pictures; not TIFF, whose library prints errors
_SIXTEEN_BITS = ("I;16", "I;16B")


def read_map(path: str | Path) -> np.ndarray:
    """Read an anomaly map: .tiff or .tif, .npy, .npz of one array, or .png of 16 bits.

    Returns (H, W) numbers in the type of the file; other axes of length 1 are dropped. Raises ValueError, with the
    file's name, for images in colour or of 8 bits, other shapes, NaN, damaged files, and more than MAX_PIXELS.
    """
    path = Path(path)
    with named(path):
        suffix = path.suffix.lower()
        return checked_map(read_array(suffix, path) if suffix in ARRAY_SUFFIXES else _read_png(path))


def read_mask_values(path: str | Path) -> np.ndarray:
    """Read a mask: an image of any kind, or an array.

    Returns (H, W) numbers: the largest channel without transparency for an image in colour; of a palette, see
    `pictures.mask_values`. Raises ValueError with the name of the file if it is not a mask.
    """
    path = Path(path)
    with named(path):
        suffix = path.suffix.lower()
        if suffix in (".npy", ".npz"):
            return checked_mask(read_array(suffix, path))
        values = read_tiff_mask(path) if suffix in TIFF_SUFFIXES else _read_picture(path)
        return values if values.ndim == 2 else np.asarray(values.max(axis=2))


def read_masks_values(paths: Sequence[Path]) -> list[np.ndarray]:
    """Read the masks of an image with `read_mask_values`. Raises ValueError, with the name, for one of another size."""
    masks = [read_mask_values(path) for path in paths]
    for path, values in zip(paths, masks):
        if values.shape != masks[0].shape:
            raise ValueError(
                f"{path}: expected {size_text(masks[0].shape)} as {paths[0].name}, got {size_text(values.shape)}"
            )
    return masks


def read_invalid(path: Path) -> np.ndarray:
    """Whether a grid's pixels have no point, (H, W) booleans: all three coordinates in a .tiff of (H, W, 3) are 0.

    Raises ValueError with the name of the file if it is not such a cloud.
    """
    with named(path):
        points = read_tiff(path)
        if points.ndim != 3 or points.shape[2] != 3 or points.dtype.kind not in "fiu":
            raise ValueError(f"expected points (H, W, 3) of real numbers, got {points.dtype} of shape {points.shape}")
        return np.asarray((points == 0).all(axis=2))


def _read_png(path: Path) -> np.ndarray:
    with _picture(path) as image:
        if image.mode not in _SIXTEEN_BITS:
            raise ValueError(f"expected a map, which is a .png of 16 bits and one channel, got {image.mode}")
        return np.array(image)


def _read_picture(path: Path) -> np.ndarray:
    with _picture(path) as image:
        return mask_values(image)


@contextmanager
def _picture(path: Path) -> Iterator[Any]:
    with extra("anomaly"):
        from PIL import Image
    with Image.open(path, formats=FORMATS) as image:
        check_size(image.size)
        yield image
