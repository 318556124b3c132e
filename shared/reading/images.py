"""Find the image files of a data set, and read their sizes without decoding them. Needs Pillow."""

from __future__ import annotations

import logging
from pathlib import Path

from ..extras import extra
from .boxes.dataset import Size
from .places import IMAGE_SUFFIXES, files_by_name, files_in
from .reasons import reason

_ORIENTATION = 0x0112
_TURNED = (5, 6, 7, 8)  # EXIF orientations rotated by 90°

# without a handler, Pillow's log of a damaged file would be printed beside the error
logging.getLogger("PIL").addHandler(logging.NullHandler())


def find_images(folder: str | Path) -> dict[str, Path]:
    """Find the images in a folder and below it: files by their paths in the folder without the suffix.

    Raises ValueError if there are none, or two that differ only in the suffix.
    """
    return files_by_name(Path(folder), IMAGE_SUFFIXES, "image", "images")


def implied_images(labels: Path, folder: str = "labels", images: str = "images") -> Path:
    """The folder of the images in a layout: …/labels/val → …/images/val; the labels' own folder if it has images.

    Raises ValueError if there is no such folder.
    """
    parts = labels.absolute().parts
    if folder in parts:
        last = len(parts) - 1 - parts[::-1].index(folder)
        beside = Path(*parts[:last], images, *parts[last + 1 :])
        if beside.is_dir():
            return beside
    if files_in(labels, IMAGE_SUFFIXES):
        return labels
    raise ValueError(f"{labels}: expected its images in a folder {images!r} in place of {folder!r}; say where they are")


def checked_size(path: Path | None, stated: Size | None, where: object) -> Size | None:
    """The size of an image that a file of annotations states, compared with the image if its file is at hand.

    Raises ValueError if they differ.
    """
    if path is None or stated is None or (size := image_size(path)) == stated:
        return stated
    swapped = "; they are swapped, as where only one of two tools turned the image by its EXIF orientation"
    hint = swapped if stated == size[::-1] else ""
    raise ValueError(
        f"{path}: expected {stated[0]} × {stated[1]} pixels, as {where} states, got {size[0]} × {size[1]}{hint}"
    )


def image_size(path: str | Path) -> Size:
    """The width and height of an image in pixels as displayed, rotated by its EXIF orientation.

    Raises ValueError for a file that Pillow cannot open.
    """
    with extra("detection"):
        from PIL import Image
    try:
        with Image.open(path) as image:
            width, height = image.size
            # getting the orientation of other formats would decode them, and readers do not rotate them
            turned = image.format in ("JPEG", "MPO") and image.getexif().get(_ORIENTATION) in _TURNED
    except Exception as error:  # Pillow's formats raise errors of many types
        raise ValueError(f"{path}: expected an image, got {reason(error)}") from error
    return (height, width) if turned else (width, height)
