"""Read photographs (PNG or JPEG) to show behind images. Sizes are checked first."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from ...reading.limits import PAGES, RefusedError
from ..serving.limits import without_paths
from .archives import keys, last_parts, members


def photograph_of(paths: Sequence[Path], image: int, names: Sequence[str]) -> Any:
    """The photograph of an image, by name; a single photograph without a matching name is behind every image."""
    if not paths:
        return None
    PAGES.check_files(paths)
    files = members(list(paths), _PHOTOGRAPHS)
    if names and image < len(names):
        parts, short_names = keys(names)
        by_name = dict(zip(last_parts([member.key for member in files], parts), files))
        if short_names[image] in by_name:
            return read_photograph(by_name[short_names[image]])
        if by_name.keys() & set(short_names):
            return None
    return read_photograph(files[0]) if len(files) == 1 else None


_PHOTOGRAPHS = (".png", ".jpg", ".jpeg")


def read_photograph(member: Any) -> Any:
    """Read a photograph (PNG or JPEG), reduced to at most 1,000 pixels wide and high, and its original size."""
    try:
        with Image.open(io.BytesIO(member.read_bytes()), formats=["PNG", "JPEG"]) as image:
            size = image.size
            PAGES.check_unpacked(member.name, 4 * size[0] * size[1])
            photograph = image.convert("RGB")
    except RefusedError:
        raise
    except Exception as error:  # the decoder raises errors of many types
        kind = member.name.rpartition(".")[2].lower()
        raise RefusedError(f"{member.name}: cannot be read as {kind}: {without_paths(str(error))}") from None
    photograph.thumbnail((1000, 1000))
    return photograph, size
