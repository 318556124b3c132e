"""Read photographs (PNG or JPEG) to show behind images. Sizes are checked first."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from PIL import Image

from ..reading.limits import PAGES, RefusedError
from ..reading.maps.listing import key_of
from ..reading.places import matched
from .serving.limits import without_paths

_PHOTOGRAPHS = (".png", ".jpg", ".jpeg")


def photograph_of(paths: Sequence[Path], image: int, names: Sequence[str]) -> Any:
    """The photograph of an image, by name; a single photograph without a matching name is behind every image."""
    PAGES.check_files(paths)
    files = {_key(name): (path, name) for path in paths for name in _names_in(path)}
    places = matched([*files], [*map(key_of, names)], strip=True, cut=True)
    own = [file for file, place in zip(files.values(), places) if place == image]
    if not own and len(files) == 1 and places == [None]:
        own = [*files.values()]
    return read_photograph(*own[0]) if own else None


def _key(name: str) -> str:
    return key_of(PurePosixPath(name).with_suffix("").as_posix())


def _names_in(path: Path) -> list[str]:
    """The photographs in a file, which may be an archive, by their names in it."""
    if path.suffix.lower() != ".zip":
        return [path.name] if path.suffix.lower() in _PHOTOGRAPHS else []
    with path.open("rb") as file:
        PAGES.check_members(path.name, file)
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    shown = [name for name in names if not any(part.startswith((".", "__MACOSX")) for part in name.split("/"))]
    return [name for name in shown if PurePosixPath(name).suffix.lower() in _PHOTOGRAPHS]


def read_photograph(path: Path, name: str) -> Any:
    """Read a photograph, reduced to at most 1,000 pixels wide and high, and its original size.

    Parameters: path of the file, or of the archive that has a photograph of this name.
    """
    try:
        if path.suffix.lower() == ".zip":
            with zipfile.ZipFile(path) as archive:
                PAGES.check_unpacked(name, archive.getinfo(name).file_size)
                content = archive.read(name)
        else:
            content = path.read_bytes()
        with Image.open(io.BytesIO(content), formats=["PNG", "JPEG"]) as image:
            size = image.size
            PAGES.check_unpacked(name, 4 * size[0] * size[1])
            photograph = image.convert("RGB")
    except RefusedError:
        raise
    except Exception as error:  # the decoder raises errors of many types
        kind = name.rpartition(".")[2].lower()
        raise RefusedError(f"{name}: cannot be read as {kind}: {without_paths(str(error))}") from None
    photograph.thumbnail((1000, 1000))
    return photograph, size
