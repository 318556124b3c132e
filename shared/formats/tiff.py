"""TIFF files of one page, by tifffile and imagecodecs.

Not by Pillow: OpenCV compresses by LZW, for which Pillow takes libtiff, and that prints what is wrong with a file.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np

from ..extras import extra
from .pixels import check_size

_QUIET = logging.NullHandler()  # what tifffile finds wrong with a file is not printed beside the error
_WHITE_IS_ZERO = 0


def read_tiff(path: Path) -> np.ndarray:
    """The numbers of a .tiff of one page, in the type that the file has."""
    return _first_page(path)[0]


def read_tiff_mask(path: Path) -> np.ndarray:
    """(H, W) or (H, W, channels) of a mask, in which white is the highest number; transparency is left out."""
    values, page = _first_page(path)
    if values.dtype.kind not in "bfiu":
        raise ValueError(f"expected a mask of numbers, got {values.dtype}")
    if page.photometric == _WHITE_IS_ZERO and values.dtype.kind in "bu":
        values = ~values if values.dtype == bool else (1 << page.bitspersample) - 1 - values
    if values.ndim == 2:
        return values
    if sorted(page.axes) != ["S", "X", "Y"]:
        raise ValueError(f"expected one mask (H, W), got the shape {values.shape}")
    values = np.moveaxis(values, page.axes.index("S"), 2)
    return values[..., : values.shape[2] - len(page.extrasamples)]


def _first_page(path: Path) -> tuple[np.ndarray, Any]:
    """The only page of a .tiff: its numbers, and what tifffile says of it."""
    with extra("anomaly"):
        import imagecodecs  # noqa: F401 (tifffile takes it for compressed files, and its absence is told here)
        import tifffile

    logging.getLogger("tifffile").addHandler(_QUIET)
    with tifffile.TiffFile(path) as file:
        page = file.pages[0]
        check_size(page.shape)
        if _has_more(file.pages):
            raise ValueError("expected one map or mask, got a file of several pages")
        return np.asarray(page.asarray(maxworkers=1)), page


def _has_more(pages: Any) -> bool:
    try:
        return pages[1] is not None
    except IndexError:
        return False
