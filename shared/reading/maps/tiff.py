"""Read TIFF files of one page with tifffile and imagecodecs, and check their LZW streams.

Pillow is not used: OpenCV compresses with LZW, for which Pillow needs libtiff, which prints errors. imagecodecs accepts
LZW codes that are not in the table, and decodes them wrongly (`test_lzw`).
"""

from __future__ import annotations

import logging
import math
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from ...extras import extra
from ..limits import check_size

_CLEAR, _END, _FIRST_FREE, _FULL = 256, 257, 258, 4096
# A run of codes begins after a code that clears the table. From the second code on, each adds an entry; the width grows
# one entry early. So the positions of codes within a run are always equal, until the table is cleared.
_ENTRIES = np.concatenate([[_FIRST_FREE], np.arange(_FIRST_FREE, _FULL)])  # before each code of a run
_WIDTHS = 9 + np.sum([end <= _ENTRIES for end in (511, 1023, 2047)], axis=0)
_STARTS = np.cumsum(_WIDTHS) - _WIDTHS
_HIGHEST = np.where(np.arange(len(_ENTRIES)) > 0, np.minimum(_ENTRIES, _FULL - 1), _CLEAR - 1)


def check_lzw(stream: bytes) -> None:
    """Raise ValueError for a code that is in no table yet, or for a stream that does not begin with a clear table.

    Source: TIFF 6.0, section 13.

    >>> check_lzw(bytes([0x80, 0x00, 0x60, 0x20]))  # clear, 1, end
    >>> check_lzw(bytes([0x80, 0x7F, 0x00]))  # clear, 508
    Traceback (most recent call last):
    ValueError: damaged: LZW code 508, of at most 255
    """
    if not stream:
        return
    padded = np.frombuffer(stream + bytes(4), np.uint8).astype(np.int64)
    bit, num_bits = 9, 8 * len(stream)
    if _codes(padded, np.asarray([0]), np.asarray([9]))[0] != _CLEAR:
        raise ValueError("damaged: LZW data that do not begin with a clear table")
    while bit < num_bits:
        complete = np.searchsorted(_STARTS + _WIDTHS, num_bits - bit, side="right")
        codes = _codes(padded, bit + _STARTS[:complete], _WIDTHS[:complete])
        ends = np.flatnonzero((codes == _CLEAR) | (codes == _END))
        size = int(ends[0]) if len(ends) else len(codes)
        wrong = np.flatnonzero(codes[:size] > _HIGHEST[:size])
        if len(wrong):
            raise ValueError(f"damaged: LZW code {codes[wrong[0]]}, of at most {_HIGHEST[wrong[0]]}")
        if not len(ends) and complete == len(_STARTS):
            raise ValueError("damaged: LZW data whose table is full")
        if not len(ends) or codes[size] == _END:
            return
        bit += int(_STARTS[size] + _WIDTHS[size])


def _codes(stream: np.ndarray, bits: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Numbers of variable widths in bits, highest bit first."""
    byte = bits >> 3
    three = (stream[byte] << 16) | (stream[byte + 1] << 8) | stream[byte + 2]
    return (three >> (24 - (bits & 7) - widths)) & ((1 << widths) - 1)


_QUIET = logging.NullHandler()  # tifffile's warnings about a file are not printed beside the error
_WHITE_IS_ZERO, _PALETTE, _INKS = 0, 3, 5  # of PhotometricInterpretation
_LZW = 5
_MAX_TAGS = 4096  # of a page, as in tifffile
_MAX_VALUES = 1_000_000  # of a tag, such as offsets of strips or tiles
# none, LZW, deflate, PackBits, LZMA and Zstandard unpack to the stated size, image formats to a size of their own
_OF_BYTES = frozenset([1, 5, 8, 32946, 32773, 34925, 34926, 50000])


def tiff_shape(path: Path) -> tuple[int, ...]:
    """The shape of the only page, or of its tiles if these have more pixels; only the tags are read.

    Raises ValueError for several pages, too many pixels, long tags, and a compression whose unpacked size is unknown.
    """
    with _only_page(path) as page:
        check_size(page.chunks)
        if int(page.compression) not in _OF_BYTES:
            raise ValueError("expected no compression, or LZW, deflate, PackBits, LZMA or Zstandard, got another")
        return tuple(max(page.shape, page.chunks, key=math.prod))


def _check_tags(file: IO[bytes]) -> None:
    """Raise ValueError for lists so long that tifffile's objects for them take gigabytes."""
    file.seek(0)
    start = file.read(16)
    order, sizes = {b"II": "<", b"MM": ">"}.get(start[:2], ""), {b"*": "IHI", b"+": "QQQ"}.get(start[2:4].strip(b"\0"))
    if not order or sizes is None:
        raise ValueError(f"not a TIFF file: header={start[:4]!r}")
    place, number, long = (struct.Struct(order + kind) for kind in sizes)
    entry = struct.Struct(f"{order}HH{sizes[2]}{long.size}s")
    try:
        file.seek(place.unpack_from(start, place.size)[0])
        count = number.unpack(file.read(number.size))[0]
        entries = [*entry.iter_unpack(file.read(min(count, _MAX_TAGS) * entry.size))]
    except (struct.error, OverflowError):
        raise ValueError("not a TIFF file, or a part of one") from None
    if any(values > _MAX_VALUES for _, _, values, _ in entries):
        raise ValueError(f"expected tags of at most {_MAX_VALUES:,} values, got more")
    if any(file.read(long.size)):
        raise ValueError("expected one map or mask, got a file of several pages")


def read_tiff(path: Path) -> np.ndarray:
    """The numbers of a .tiff of one page, in the dtype of the file. Raises ValueError for indices of a palette."""
    with _only_page(path) as page:
        if page.photometric == _PALETTE:
            raise ValueError("expected numbers, got the indices of a palette")
        return _numbers(page)


def read_tiff_mask(path: Path) -> np.ndarray:
    """Read a mask, (H, W) or (H, W, channels), without transparency.

    Raises the errors of `of_palette`, and ValueError for inks, of which black is the highest, and if 0 is
    white (tifffile writes booleans so), since some readers invert such values.
    """
    with _only_page(path) as page:
        if page.photometric == _WHITE_IS_ZERO:
            raise ValueError(
                "expected a mask whose anomalous pixels are above 0, got one in which 0 is white; save it in 8 bits"
            )
        if page.photometric == _INKS:
            raise ValueError("expected a mask in greys, colours or a palette, got one in inks (CMYK)")
        values = _numbers(page)
        if page.photometric == _PALETTE:
            values = of_palette(values, np.asarray(page.colormap).T >> 8)  # 8 of its 16 bits
    if values.dtype.kind not in "bfiu":
        raise ValueError(f"expected a mask of numbers, got {values.dtype}")
    if values.ndim == 2:
        return values
    if sorted(page.axes) != ["S", "X", "Y"]:
        raise ValueError(f"expected one mask (H, W), got the shape {values.shape}")
    values = np.moveaxis(values, page.axes.index("S"), 2)
    return values[..., : values.shape[2] - len(page.extrasamples)]


def _numbers(page: Any) -> np.ndarray:
    """The array of a page."""
    if page.compression == _LZW:
        for stream, _ in page.parent.filehandle.read_segments(page.dataoffsets, page.databytecounts):
            check_lzw(stream or b"")  # None for a missing strip
    return np.asarray(page.asarray(maxworkers=1))


@contextmanager
def _only_page(path: Path) -> Iterator[Any]:
    """The only page of a .tiff, in tifffile's type, of at most MAX_PIXELS."""
    with extra("anomaly"):
        import imagecodecs  # noqa: F401 (tifffile needs it for compressed files, and its absence is reported here)
        import tifffile

    logging.getLogger("tifffile").addHandler(_QUIET)
    with path.open("rb") as file:
        _check_tags(file)
        file.seek(0)
        with tifffile.TiffFile(file) as tiff:
            page = tiff.pages[0]
            check_size(page.shape)
            yield page


def of_palette(indices: np.ndarray, colors: np.ndarray) -> np.ndarray:
    """The indices of a mask with a palette, (K, 3) colours, if the first is black or all are one; else their greys."""
    if not colors[:1].any():
        return indices
    used = colors[np.flatnonzero(np.bincount(indices.ravel()))]
    if (used == used[:1]).all():
        return indices
    if (used != used[:, :1]).any():
        raise ValueError(f"expected a palette of greys, or one that begins with black, got {colors[0].tolist()} first")
    return np.asarray(colors[:, 0][indices])
