"""Anomaly maps and masks as files: one array of two dimensions each. By Pillow; tifffile and imagecodecs for .tiff."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..extras import extra
from .npy import read_npy, tried
from .pixels import check_size, size_text
from .reasons import named
from .tiff import read_tiff, read_tiff_mask

MAP_SUFFIXES = frozenset([".npy", ".npz", ".png", ".tif", ".tiff"])
_TIFF_SUFFIXES = (".tif", ".tiff")
_PICTURES = ("BMP", "GIF", "JPEG", "PNG", "WEBP")  # not TIFF, whose library prints what is wrong with a file
_SIXTEEN_BITS = ("I;16", "I;16B")


def read_map(path: str | Path) -> np.ndarray:
    """Read an anomaly map: .tiff or .tif, .npy, .npz of one array, or .png of 16 bits.

    Returns (H, W) numbers in the type that the file has; axes of length 1 beside these two are dropped. Raises
    ValueError with the name of the file for what is no such map: pictures in colour or of 8 bits, arrays of another
    shape, NaN, broken files, and more than MAX_PIXELS.
    """
    path = Path(path)
    with named(path):
        readers = {".npy": _read_npy, ".npz": _read_npz} | dict.fromkeys(_TIFF_SUFFIXES, read_tiff)
        found = readers.get(path.suffix.lower(), _read_png)(path)
        return _checked(_as_plane(found), "a map of real numbers", "fiu")


def _checked(plane: np.ndarray, expected: str, kinds: str) -> np.ndarray:
    """Raise ValueError unless an array is of one of the kinds of types, and without NaN."""
    if plane.dtype.kind not in kinds:
        raise ValueError(f"expected {expected}, got {plane.dtype}")
    if plane.dtype.kind == "f" and np.isnan(plane).any():
        row, column = np.argwhere(np.isnan(plane))[0].tolist()[-2:]
        raise ValueError(f"expected numbers, got NaN at row {row}, column {column}")
    return plane


def read_mask(path: str | Path) -> np.ndarray:
    """Read a mask as booleans (H, W): whatever is above 0 is anomalous. Of files, and raises, as `read_mask_values`."""
    return read_mask_values(path) > 0


def read_mask_values(path: str | Path) -> np.ndarray:
    """Read a mask: an image of any kind, or an array.

    Returns (H, W) numbers. Of an image with a palette, the places in the palette count; of one in colour, the largest
    channel, and transparency not. Raises ValueError with the name of the file for what is none.
    """
    path = Path(path)
    with named(path):
        suffix = path.suffix.lower()
        if suffix in (".npy", ".npz"):
            found = _read_npy(path) if suffix == ".npy" else _read_npz(path)
            return _checked(_as_plane(found), "a mask of numbers", "bfiu")
        values = read_tiff_mask(path) if suffix in _TIFF_SUFFIXES else _read_picture(path)
        return values if values.ndim == 2 else np.asarray(values.max(axis=2))


def read_masks_values(paths: Sequence[Path]) -> list[np.ndarray]:
    """The masks of an image, as `read_mask_values`. Raises ValueError, with the name, for one of another size."""
    found = [read_mask_values(path) for path in paths]
    for path, values in zip(paths, found):
        if values.shape != found[0].shape:
            raise ValueError(
                f"{path}: expected {size_text(found[0].shape)} as {paths[0].name}, got {size_text(values.shape)}"
            )
    return found


def _as_plane(array: np.ndarray) -> np.ndarray:
    check_size(array.shape)
    shape = array.shape
    while len(shape) > 2 and 1 in shape:
        at = shape.index(1)
        shape = shape[:at] + shape[at + 1 :]
    if len(shape) != 2:
        raise ValueError(f"expected one map (H, W), got the shape {array.shape}")
    return np.asarray(array).reshape(shape)


def _read_npy(path: Path) -> np.ndarray:
    mapped = read_npy(path)
    check_size(mapped.shape)
    return np.array(mapped)  # a mapped file stays open


def _read_npz(path: Path) -> np.ndarray:
    return tried(lambda: _only_array(path))


def _only_array(path: Path) -> np.ndarray:
    """The only array of an archive, whose header is read before it is unpacked."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        if len(names) != 1:
            raise ValueError(f"expected one array, got {len(names)}: {', '.join(names[:9])}")
        with archive.open(names[0]) as file:
            version = np.lib.format.read_magic(file)
            header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            try:
                shape, _, dtype = header(file)
            except ValueError:  # whose words are of Python's parser
                raise ValueError(
                    f"expected numbers as numpy.save writes them, got another header of {names[0]}"
                ) from None
        if dtype.hasobject or dtype.itemsize > np.dtype(np.clongdouble).itemsize or min(shape, default=0) < 0:
            raise ValueError(f"expected numbers, got {dtype} of the shape {shape}")
        check_size(shape)
        with archive.open(names[0]) as file:
            return np.asarray(np.lib.format.read_array(file, allow_pickle=False))


def _read_png(path: Path) -> np.ndarray:
    with _picture(path) as image:
        if image.mode not in _SIXTEEN_BITS:
            raise ValueError(f"expected a map, which is a .png of 16 bits and one channel, got {image.mode}")
        return np.array(image)


def _read_picture(path: Path) -> np.ndarray:
    with _picture(path) as image:
        if image.mode in ("LA", "La", "PA", "RGBA", "RGBa"):
            image = image.convert("RGB" if image.mode.startswith("RGB") else "L")
        return np.asarray(image)


@contextmanager
def _picture(path: Path) -> Iterator[Any]:
    with extra("anomaly"):
        from PIL import Image
    with Image.open(path, formats=_PICTURES) as image:
        check_size(image.size)
        yield image
