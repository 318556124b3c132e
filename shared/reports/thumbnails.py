"""List the images of samples in order, and embed thumbnails of them in a page. Needs Pillow."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..extras import extra
from ..reading.limits import check_size
from ..reading.places import find_images
from ..reading.reasons import named
from ..reading.rows.inputs import file_of, read_column


def list_images(place: str, count: int) -> list[Path]:
    """The image of each sample.

    Parameters: place, a folder, whose images belong to the samples in the order of their names; or a .txt with a path
    in each line, or a file of columns, as in images.csv:path, in the order of the samples: paths are relative to the
    file. count, the number of samples. Raises ValueError for another number of images, and for unreadable files.
    """
    paths = list(find_images(place).values()) if Path(place).is_dir() else _listed(place)
    if len(paths) != count:
        raise ValueError(f"{place}: expected an image for each of {count} samples, got {len(paths)} images")
    return paths


def _listed(place: str) -> list[Path]:
    file = file_of(place)
    names: Sequence[Any]
    if file is not None and file.suffix.lower() == ".txt":
        with named(place):
            names = [line for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    else:
        if file is not None and not file.suffix:
            raise ValueError(f"{place}: expected a folder of images, or a file of their paths, got none")
        names = read_column(place, "images")
    if any(not isinstance(name, str) for name in names):
        odd = next(name for name in names if not isinstance(name, str))
        raise ValueError(f"{place}: expected paths of images, got {odd}")
    return [(Path() if file is None else file.parent) / name for name in names]


def photograph(path: Path, side: int, quality: int = 82) -> tuple[str, tuple[int, int]]:
    """An image as a data: URI, at most `side` pixels wide and high, and its original width and height.

    Parameters: path; side; quality of the JPEG, up to 95. Raises ValueError for a file that is not an image.
    """
    with extra("cli"):
        from PIL import Image, ImageOps
    with named(path), Image.open(path) as image:
        check_size(image.size)
        shown = as_rgb(ImageOps.exif_transpose(image))
        size = shown.size
        shown.thumbnail((side, side))
        file = io.BytesIO()
        shown.save(file, "JPEG", quality=quality)
    return "data:image/jpeg;base64," + base64.b64encode(file.getvalue()).decode(), size


def as_rgb(image: Any) -> Any:
    """A Pillow image in RGB with 8 bits each; grey of 16 bits keeps the upper 8."""
    if image.mode.startswith("I;16"):  # Pillow would clip values above 255
        from PIL import Image

        image = Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
    return image.convert("RGB")
