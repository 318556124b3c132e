"""Read one plane (H, W), a map or mask, from a .tiff, .npy or .npz of one array, on disk or in memory."""

from __future__ import annotations

import zipfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from ...extras import extra
from ..places import PICTURES
from ..reasons import named
from ..tables.arrays import npy_header, read_npy, tried
from .pixels import check_size, mask_values, size_text
from .tiff import read_tiff, read_tiff_mask, tiff_header

TIFF_SUFFIXES = (".tiff", ".tif")
ARRAY_SUFFIXES = (*TIFF_SUFFIXES, ".npy", ".npz")
_PACKING = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the methods of NumPy; others may need gigabytes to unpack


def stated_shape(suffix: str, source: Path | IO[bytes]) -> tuple[int, ...]:
    """The shape in the header of a file, read before the file is unpacked.

    Raises ValueError for an invalid header, and for more than MAX_PIXELS, also in a tile of a .tiff.
    """
    if suffix in TIFF_SUFFIXES:
        return tiff_header(source).shape
    if suffix == ".npz":
        return tried(lambda: _shape_of_only(source))
    return read_npy(source).shape if isinstance(source, Path) else tried(lambda: _stated_in_memory(source))


def read_array(suffix: str, source: Path | IO[bytes]) -> np.ndarray:
    """The array of a file, in its own shape and dtype. Raises the errors of `stated_shape`."""
    if suffix in TIFF_SUFFIXES:
        return read_tiff(source)
    if suffix == ".npz":
        return tried(lambda: _only_array(source))
    if isinstance(source, Path):
        mapped = read_npy(source)
        check_size(mapped.shape, is_array=True)
        return np.array(mapped)  # a mapped file stays open
    return tried(lambda: _in_memory(source))


def checked_map(array: np.ndarray) -> np.ndarray:
    """The plane of a map. Raises ValueError for another shape, for any dtype but real numbers, and for NaN."""
    return _checked(as_plane(array), "a map of real numbers", "fiu")


def checked_mask(array: np.ndarray) -> np.ndarray:
    """The plane of a mask. Raises the errors of `checked_map`, but takes booleans."""
    return _checked(as_plane(array), "a mask of numbers", "bfiu")


def anomalous_pixels(values: np.ndarray, ignored: Collection[float] = (), threshold: float | None = None) -> np.ndarray:
    """The anomalous pixels of a mask (H, W), booleans: those above a threshold; without one, those of its other value.

    Parameters: values, (H, W), or (H, W, channels), of which the highest counts; ignored, values that are not
    anomalous. Raises ValueError without a threshold unless the mask holds 0 and one other value, beside those ignored:
    greys between are edges that were resized, or compressed with loss.
    """
    values = values if values.ndim == 2 else values.max(axis=2)
    anomalous = np.asarray(values > (threshold or 0))
    for value in ignored:
        anomalous &= values != value
    if threshold is None:
        left = values[anomalous]
        lowest, highest = (left.min(), left.max()) if left.size else (0, 0)
        below = values.min()
        if lowest < highest or (below < 0 and below not in ignored):
            got = (below if below < 0 else lowest, highest)
            raise ValueError(
                f"expected a mask of 0 and one other value, got {got[0]} to {got[1]}; --mask-threshold {highest / 2:g} "
                "cuts it at half of the highest (or --ignore-value: a void value; --regions labels: numbers of regions)"
            )
    return anomalous


def _checked(plane: np.ndarray, expected: str, kinds: str) -> np.ndarray:
    """Raise ValueError unless the dtype is of one of the kinds and there is no NaN."""
    if plane.dtype.kind not in kinds or plane.dtype.itemsize > 8:  # a longer float would be rounded
        raise ValueError(f"expected {expected}, got {plane.dtype}")
    if plane.dtype.kind == "f" and np.isnan(plane).any():
        row, column = np.argwhere(np.isnan(plane))[0].tolist()[-2:]
        raise ValueError(f"expected numbers, got NaN at row {row}, column {column}")
    return plane


def as_plane(array: np.ndarray) -> np.ndarray:
    """Drop axes of length 1 down to (H, W). Raises ValueError for another shape."""
    check_size(array.shape, is_array=True)
    shape = array.shape
    while len(shape) > 2 and 1 in shape:
        at = shape.index(1)
        shape = shape[:at] + shape[at + 1 :]
    if len(shape) != 2:
        raise ValueError(f"expected one map (H, W), got the shape {array.shape}")
    return np.asarray(array).reshape(shape)


def _in_memory(file: IO[bytes]) -> np.ndarray:
    _stated_in_memory(file)
    file.seek(0)
    return np.asarray(np.lib.format.read_array(file, allow_pickle=False))


def _only_array(source: Path | IO[bytes]) -> np.ndarray:
    """The only array of an archive; its header is read before it is unpacked."""
    with _only_member(source) as file:
        return _in_memory(file)


def _shape_of_only(source: Path | IO[bytes]) -> tuple[int, ...]:
    with _only_member(source) as file:
        return _stated_in_memory(file)


@contextmanager
def _only_member(source: Path | IO[bytes]) -> Iterator[Any]:
    with zipfile.ZipFile(source) as archive:
        infos = archive.infolist()
        if len(infos) != 1:
            raise ValueError(f"expected one array, got {len(infos)}: {', '.join(archive.namelist()[:9])}")
        if infos[0].compress_type not in _PACKING:
            raise ValueError("expected an archive as numpy.savez writes it, got another compression")
        with archive.open(infos[0]) as file:
            yield file


def _stated_in_memory(file: IO[bytes]) -> tuple[int, ...]:
    """The shape in the header of an .npy file. Raises ValueError for another dtype, and for too many numbers."""
    file.seek(0)
    try:
        shape, dtype = npy_header(file)
    except (ValueError, RecursionError, MemoryError):  # with messages of Python's parser
        where = getattr(file, "name", "the file")
        raise ValueError(f"expected numbers as numpy.save writes them, got another header of {where}") from None
    if dtype.hasobject or not 0 < dtype.itemsize <= np.dtype(np.clongdouble).itemsize or min(shape, default=0) < 0:
        raise ValueError(f"expected numbers, got {dtype} of the shape {shape}")
    check_size(shape, is_array=True)
    return shape


# Read anomaly maps and masks, one two-dimensional array a file, with Pillow, or tifffile and imagecodecs for .tiff.


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
