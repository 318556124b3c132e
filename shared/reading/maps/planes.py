"""Read one plane (H, W), a map, a mask or the points of a grid: a picture, .tiff, .npy, or .npz of one array.

TIFF is not read with Pillow: OpenCV compresses with LZW, for which Pillow needs libtiff, which prints errors.
imagecodecs accepts LZW codes that are not in the table, and decodes them wrongly, so streams are checked (`test_lzw`).
"""

from __future__ import annotations

import logging
import math
import struct
import zipfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np

from ...extras import extra
from ..cures import ANY, CurableError, Cure
from ..limits import check_size, size_text
from ..places import METHODS, PICTURES
from ..reasons import named
from ..tables.files import npy_header, read_npy, tried

ARRAY_SUFFIXES = (".tiff", ".tif", ".npy", ".npz")
MAP_SUFFIXES = frozenset([*ARRAY_SUFFIXES, ".png"])
MASK_SUFFIXES = MAP_SUFFIXES | PICTURES
_TIFF = ARRAY_SUFFIXES[:2]
_PICTURES = ("BMP", "GIF", "JPEG", "PNG", "WEBP")  # not TIFF, which is read with tifffile
_GREY = ("1", "L", "I", "I;16", "I;16B", "F")
_Result = TypeVar("_Result")
_QUIET = logging.NullHandler()  # tifffile's warnings about a file are not printed beside the error
_WHITE_IS_ZERO, _PALETTE, _INKS = 0, 3, 5  # of PhotometricInterpretation
_LZW = 5
_MAX_TAGS = 4096  # of a page, as in tifffile
_MAX_VALUES = 1_000_000  # of a tag, such as offsets of strips or tiles
# none, LZW, deflate, PackBits, LZMA and Zstandard unpack to the stated size, image formats to a size of their own
_OF_BYTES = frozenset([1, 5, 8, 32946, 32773, 34925, 34926, 50000])
_CLEAR, _END, _FIRST_FREE, _FULL = 256, 257, 258, 4096
# A run of codes begins after a code that clears the table. From the second code on, each adds an entry; the width grows
# one entry early. So the positions of codes within a run are always equal, until the table is cleared.
_ENTRIES = np.concatenate([[_FIRST_FREE], np.arange(_FIRST_FREE, _FULL)])  # before each code of a run
_WIDTHS = 9 + np.sum([end <= _ENTRIES for end in (511, 1023, 2047)], axis=0)
_STARTS = np.cumsum(_WIDTHS) - _WIDTHS
_HIGHEST = np.where(np.arange(len(_ENTRIES)) > 0, np.minimum(_ENTRIES, _FULL - 1), _CLEAR - 1)


def read_map(path: str | Path) -> np.ndarray:
    """Read an anomaly map: .tiff or .tif, .npy, .npz of one array, or a grey .png, whose values are the scores.

    Returns (H, W) numbers in the type of the file; other axes of length 1 are dropped. Raises ValueError, with the
    file's name, for images in colour, other shapes, NaN, damaged files, and more than MAX_PIXELS.
    """
    path = Path(path)
    with named(path):
        if path.suffix.lower() == ".png":
            with _picture(path) as image:
                if image.mode not in _GREY:
                    raise ValueError(f"expected a map, which is a grey .png of one channel, got {image.mode}")
                return np.asarray(image.convert("L") if image.mode == "1" else image)
        array = _tiff(path) if path.suffix.lower() in _TIFF else _read_array(path)
        return _plane(array, "a map of real numbers", "fiu")


def read_mask_values(path: str | Path) -> np.ndarray:
    """Read a mask: an image of any kind, or an array.

    Returns (H, W) numbers: the largest channel without transparency for an image in colour; of a palette, see
    `_of_palette`. Raises ValueError with the name of the file if it is not a mask.
    """
    path = Path(path)
    with named(path):
        suffix = path.suffix.lower()
        if suffix in (".npy", ".npz"):
            return _plane(_read_array(path), "a mask of numbers", "bfiu")
        if suffix in _TIFF:
            values = _tiff_mask(path)
        else:
            with _picture(path) as image:
                values = _mask_values(image)
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
        points = _tiff(path)
        if points.ndim != 3 or points.shape[2] != 3 or points.dtype.kind not in "fiu":
            raise ValueError(f"expected points (H, W, 3) of real numbers, got {points.dtype} of shape {points.shape}")
        return np.asarray((points == 0).all(axis=2))


def stated_shape(path: Path) -> tuple[int, ...]:
    """The shape in the header of a file, read before the file is unpacked.

    Raises ValueError, with the file's name, for an invalid header, and for more than MAX_PIXELS, also in a tile.
    """
    with named(path):
        suffix = path.suffix.lower()
        if suffix in _TIFF:
            return _tiff_shape(path)
        if suffix == ".npz":
            return _of_only_member(path, _stated)
        if suffix == ".npy":
            shape = read_npy(path).shape
            check_size(shape, is_array=True)
            return shape
        with _picture(path) as image:
            return (image.height, image.width)


def anomalous_pixels(values: np.ndarray, ignored: Collection[float] = (), threshold: float | None = None) -> np.ndarray:
    """The anomalous pixels of a mask (H, W), booleans: above a threshold, or without one, of its other value.

    Parameters: values, (H, W); ignored, values that are not anomalous. Raises ValueError without a threshold unless the
    mask holds 0 and one other value, beside those ignored: greys between are edges that were resized, or compressed
    with loss.
    """
    anomalous = np.asarray(values > (threshold or 0))
    for value in ignored:
        anomalous &= values != value
    if threshold is None:
        marked = values[anomalous]
        lowest, highest = (marked.min(), marked.max()) if marked.size else (0, 0)
        below = values.min()
        if lowest < highest or (below < 0 and below not in ignored):
            got = (below if below < 0 else lowest, highest)
            raise CurableError(
                f"expected a mask of 0 and one other value, got {got[0]} to {got[1]}",
                Cure("to cut it at half of the highest", {"mask_threshold": float(highest) / 2}),
                Cure("if a value is void", {"ignore_value": ANY}),
                Cure("if values are numbers of regions", {"regions": "labels"}),
            )
    return anomalous


def _plane(array: np.ndarray, expected: str, kinds: str) -> np.ndarray:
    """Drop axes of length 1 down to (H, W).

    Raises ValueError for another shape, for a dtype of none of the kinds, and for NaN.
    """
    check_size(array.shape, is_array=True)
    shape = array.shape
    while len(shape) > 2 and 1 in shape:
        at = shape.index(1)
        shape = shape[:at] + shape[at + 1 :]
    if len(shape) != 2:
        raise ValueError(f"expected one map (H, W), got the shape {array.shape}")
    plane = array.reshape(shape)
    if plane.dtype.kind not in kinds or plane.dtype.itemsize > 8:  # a longer float would be rounded
        raise ValueError(f"expected {expected}, got {plane.dtype}")
    if plane.dtype.kind == "f" and np.isnan(plane).any():
        row, column = np.argwhere(np.isnan(plane))[0].tolist()
        raise ValueError(f"expected numbers, got NaN at row {row}, column {column}")
    # in the byte order of the machine, without which a float64 would be taken for a narrow type
    return plane.astype(plane.dtype.newbyteorder("="), copy=False)


def _read_array(path: Path) -> np.ndarray:
    """The array of an .npy, or the only one of an .npz, whose header is read before it is unpacked."""
    if path.suffix.lower() == ".npz":
        return _of_only_member(path, _unpacked)
    mapped = read_npy(path)
    check_size(mapped.shape, is_array=True)
    return np.array(mapped)  # a mapped file stays open


def _unpacked(file: Any) -> np.ndarray:
    _stated(file)
    file.seek(0)
    return np.asarray(np.lib.format.read_array(file, allow_pickle=False))


def _stated(file: Any) -> tuple[int, ...]:
    """The shape in the header of an .npy file. Raises ValueError for another dtype, and for too many numbers."""
    try:
        shape, dtype = npy_header(file)
    except (ValueError, RecursionError, MemoryError):  # with messages of Python's parser
        raise ValueError(f"expected numbers as numpy.save writes them, got another header of {file.name}") from None
    if dtype.hasobject or not 0 < dtype.itemsize <= np.dtype(np.clongdouble).itemsize or min(shape, default=0) < 0:
        raise ValueError(f"expected numbers, got {dtype} of the shape {shape}")
    check_size(shape, is_array=True)
    return shape


def _of_only_member(path: Path, read: Callable[[Any], _Result]) -> _Result:
    def result() -> _Result:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
            if len(infos) != 1:
                raise ValueError(f"expected one array, got {len(infos)}: {', '.join(archive.namelist()[:9])}")
            if infos[0].compress_type not in METHODS:
                raise ValueError("expected an archive as numpy.savez writes it, got another compression")
            with archive.open(infos[0]) as file:
                return read(file)

    return tried(result)


@contextmanager
def _picture(path: Path) -> Iterator[Any]:
    with extra("anomaly"):
        from PIL import Image
    with Image.open(path, formats=_PICTURES) as image:
        check_size(image.size)
        yield image


def _mask_values(image: Any) -> np.ndarray:
    """The values of a mask that Pillow has opened, (H, W), or (H, W, channels) in colour, without transparency.

    Raises ValueError where Pillow's own reading would mislead: for several channels of 16 bits, of which Pillow reads
    8, and for a mask that is in the transparency alone; and the errors of `_of_palette`.
    """
    if image.format == "PNG" and image.mode != "I;16" and any(";16" in str(tile[3]) for tile in image.tile):
        raise ValueError("expected 8 bits a channel, or one channel of 16, got several of 16")
    if image.mode == "P":
        return _of_palette(np.asarray(image), np.asarray(image.getpalette("RGB"), np.uint8).reshape(-1, 3))
    if image.mode == "CMYK":  # in inks, black is the highest
        return np.asarray(image.convert("RGB"))
    if image.mode not in ("LA", "La", "PA", "RGBA", "RGBa"):
        return np.asarray(image)
    of_colour = image.mode.startswith("RGB") or image.mode == "PA"
    both = np.asarray(image.convert("RGBA" if of_colour else "LA"))
    values, alpha = both[..., :-1], both[..., -1]
    if (values == values[:1, :1]).all() and (alpha != alpha[:1, :1]).any():
        raise ValueError("expected a mask in its colours, got one colour and a mask in the transparency")
    return values if of_colour else values[..., 0]


def _tiff_shape(path: Path) -> tuple[int, ...]:
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


def _tiff(path: Path) -> np.ndarray:
    """The numbers of a .tiff of one page, in the dtype of the file. Raises ValueError for indices of a palette."""
    with _only_page(path) as page:
        if page.photometric == _PALETTE:
            raise ValueError("expected numbers, got the indices of a palette")
        return _numbers(page)


def _tiff_mask(path: Path) -> np.ndarray:
    """Read a mask, (H, W) or (H, W, channels), without transparency.

    Raises the errors of `_of_palette`, and ValueError for inks, of which black is the highest, and if 0 is
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
            values = _of_palette(values, np.asarray(page.colormap).T >> 8)  # 8 of its 16 bits
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


def _of_palette(indices: np.ndarray, colors: np.ndarray) -> np.ndarray:
    """The indices of a mask with a palette, (K, 3) colours, if the first is black or all are one; else their greys."""
    if not colors[:1].any():
        return indices
    used = colors[np.flatnonzero(np.bincount(indices.ravel()))]
    if (used == used[:1]).all():
        return indices
    if (used != used[:, :1]).any():
        raise ValueError(f"expected a palette of greys, or one that begins with black, got {colors[0].tolist()} first")
    return np.asarray(colors[:, 0][indices])


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
