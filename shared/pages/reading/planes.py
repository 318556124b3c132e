"""Read one map or mask of an upload, an image or an array. Sizes are checked before it is unpacked."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from ...reading.maps.pixels import check_size, mask_values
from ...reading.maps.planes import (
    ARRAY_SUFFIXES,
    FORMATS,
    MASK_SUFFIXES,
    TIFF_SUFFIXES,
    anomalous_pixels,
    checked_map,
    checked_mask,
    read_array,
    stated_shape,
)
from ...reading.maps.tiff import read_tiff_mask, tiff_header
from ...reading.reasons import reason
from ..serving.limits import RefusedError, check_listing, check_unpacked, without_paths
from .archives import Member

PLANE_SUFFIXES = (".png", *ARRAY_SUFFIXES)
MASK_ENDINGS = (*PLANE_SUFFIXES, *sorted(MASK_SUFFIXES - {*PLANE_SUFFIXES}))  # in the order of messages


class Planes:
    """A reader of maps or masks, which together may take only the memory allowed."""

    def __init__(self, masks: bool, threshold: float | None = None) -> None:
        self.masks, self.threshold = masks, threshold
        self._bytes = 0

    def read(self, member: Member) -> np.ndarray:
        """Read a map (H, W), or a mask as booleans. Raises RefusedError with the file's name."""
        suffix = ending(member.name)
        with _refused(member):
            content = io.BytesIO(member.read_bytes())
            return self._array(member, suffix, content) if suffix in ARRAY_SUFFIXES else self._picture(member, content)

    def size(self, member: Member) -> tuple[int, int]:
        """The height and width of a photograph, whose mask is empty."""
        with _refused(member), Image.open(io.BytesIO(member.read_bytes()), formats=FORMATS) as image:
            self._count(member, 8 * image.width * image.height)
            return image.height, image.width

    def _count(self, member: Member, num_bytes: int) -> None:
        self._bytes += num_bytes
        check_unpacked(member.name, self._bytes)

    def _picture(self, member: Member, content: io.BytesIO) -> np.ndarray:
        with Image.open(content, formats=FORMATS if self.masks else ["PNG"]) as image:
            self._count(member, 8 * image.width * image.height)
            if self.masks:
                return self._anomalous(mask_values(image))
            if image.mode not in ("1", "L", "I", "I;16", "F"):
                raise RefusedError(f"{member.name}: expected a grey image, with scores as values, got {image.mode}")
            return np.asarray(image.convert("L") if image.mode == "1" else image)

    def _array(self, member: Member, suffix: str, content: io.BytesIO) -> np.ndarray:
        if suffix == ".npz":
            check_listing(member.name, content)
        self._count(member, 8 * math.prod(stated_shape(suffix, content)))
        if suffix in TIFF_SUFFIXES:
            _check_tiff(content)
            if self.masks:
                return self._anomalous(read_tiff_mask(content))
        array = read_array(suffix, content)
        return self._anomalous(checked_mask(array)) if self.masks else checked_map(array)

    def _anomalous(self, values: np.ndarray) -> np.ndarray:
        return anomalous_pixels(values, threshold=self.threshold)


def ending(name: str) -> str:
    """The suffix of a file's name in lower case."""
    return Path(name).suffix.lower()


def _check_tiff(content: io.BytesIO) -> None:
    """Raise ValueError for a compression whose unpacked size is unknown."""
    if not tiff_header(content).of_bytes:
        raise ValueError("expected no compression, or LZW, deflate, PackBits, LZMA or Zstandard, got another")


@contextmanager
def _refused(member: Member) -> Iterator[None]:
    """Turn any error from a file into a RefusedError with the names of the file and its archive."""
    try:
        yield
    except RefusedError:
        raise
    except Exception as error:  # decoders raise errors of many types
        where = f"{member.path.name}: {member.name}" if member.archive else member.name
        text = without_paths(reason(error).partition("\n")[0])[:200]
        raise RefusedError(f"{where}: cannot be read as {ending(member.name)[1:]}: {text}") from None


def split_planes(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Split files into maps or masks of one image each, and other arrays, such as stacks or a single plane."""
    planes = [path for path in paths if ending(path.name) not in (".npy", ".npz") or _is_plane(path)]
    if len(planes) == 1 and ending(planes[0].name) in (".npy", ".npz"):
        planes = []
    return planes, [path for path in paths if path not in planes]


def _is_plane(path: Path) -> bool:
    try:
        shape: Any = stated_shape(ending(path.name), path)
        check_size(shape, is_array=True)
    except Exception:  # the reader reports the error
        return False
    return len(shape) > 1 and sum(side > 1 for side in shape) < 3
