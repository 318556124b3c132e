"""TIFF files of one page, by tifffile and imagecodecs.

Not by Pillow: OpenCV compresses by LZW, for which Pillow takes libtiff, and that prints what is wrong with a file.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from ..extras import extra
from .pixels import check_size

_QUIET = logging.NullHandler()  # what tifffile finds wrong with a file is not printed beside the error
_WHITE_IS_ZERO = 0


# none, LZW, deflate, PackBits, LZMA and Zstandard unpack to the size that is stated, pictures to what they say within
_OF_BYTES = frozenset([1, 5, 8, 32946, 32773, 34925, 34926, 50000])


class TiffHeader(NamedTuple):
    """What a .tiff says of its only page.

    shape: of the page, or of its tiles if these have more pixels
    of_bytes: whether it unpacks to that, and to no more
    white_is_zero: whether low numbers are white
    """

    shape: tuple[int, ...]
    of_bytes: bool
    white_is_zero: bool


def tiff_header(source: Path | IO[bytes]) -> TiffHeader:
    """What a .tiff says before it is unpacked. Raises ValueError for several pages, or too many pixels."""
    with _only_page(source) as page:
        check_size(page.chunks)
        shape = max(page.shape, page.chunks, key=math.prod)
        return TiffHeader(tuple(shape), int(page.compression) in _OF_BYTES, page.photometric == _WHITE_IS_ZERO)


def read_tiff(source: Path | IO[bytes]) -> np.ndarray:
    """The numbers of a .tiff of one page, in the type that the file has."""
    with _only_page(source) as page:
        return np.asarray(page.asarray(maxworkers=1))


def read_tiff_mask(path: Path) -> np.ndarray:
    """(H, W) or (H, W, channels) of a mask, in which white is the highest number; transparency is left out."""
    with _only_page(path) as page:
        values = np.asarray(page.asarray(maxworkers=1))
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


@contextmanager
def _only_page(source: Path | IO[bytes]) -> Iterator[Any]:
    """The only page of a .tiff, as tifffile says it, of no more than MAX_PIXELS."""
    with extra("anomaly"):
        import imagecodecs  # noqa: F401 (tifffile takes it for compressed files, and its absence is told here)
        import tifffile

    logging.getLogger("tifffile").addHandler(_QUIET)
    with tifffile.TiffFile(source) as file:
        page = file.pages[0]
        check_size(page.shape)
        if _has_more(file.pages):
            raise ValueError("expected one map or mask, got a file of several pages")
        yield page


def _has_more(pages: Any) -> bool:
    try:
        return pages[1] is not None
    except IndexError:
        return False
