"""Image files of a data set: where they are, and their sizes, read without decoding them. Needs Pillow."""

from __future__ import annotations

import logging
from pathlib import Path

from ..extras import extra
from .boxes.dataset import Size
from .reasons import reason

SUFFIXES = frozenset([".avif", ".bmp", ".jpeg", ".jpg", ".mpo", ".png", ".tif", ".tiff", ".webp"])
_ORIENTATION = 0x0112
_TURNED = (5, 6, 7, 8)  # by a quarter

# Pillow's log of a damaged file would be printed beside the error, without a handler
logging.getLogger("PIL").addHandler(logging.NullHandler())


def find_images(folder: str | Path) -> dict[str, Path]:
    """Find the images in a folder and below it: path in the folder, without the ending → file, sorted.

    Raises ValueError if there are none, or two that differ in the ending only.
    """
    folder = Path(folder)
    images: dict[str, Path] = {}
    for path in sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES):
        name = path.relative_to(folder).with_suffix("").as_posix()
        if name in images:
            raise ValueError(f"{path}: expected one image of that name, got {images[name].name} too")
        images[name] = path
    if not images:
        raise ValueError(f"{folder}: expected a folder with images, got {'none' if folder.is_dir() else 'no folder'}")
    return images


def implied_images(labels: Path, folder: str = "labels", images: str = "images") -> Path:
    """The folder of the images by a layout: …/labels/val → …/images/val; the labels' own, if it has images itself.

    Raises ValueError if there is no such folder.
    """
    parts = labels.absolute().parts
    if folder in parts:
        last = len(parts) - 1 - parts[::-1].index(folder)
        beside = Path(*parts[:last], images, *parts[last + 1 :])
        if beside.is_dir():
            return beside
    if any(path.suffix.lower() in SUFFIXES for path in labels.iterdir()):
        return labels
    raise ValueError(f"{labels}: expected its images in a folder {images!r} in place of {folder!r}; say where they are")


def image_size(path: str | Path) -> Size:
    """Width and height of an image in pixels as it is shown, turned by its EXIF orientation.

    Raises ValueError for a file that Pillow cannot open.
    """
    with extra("detection"):
        from PIL import Image
    try:
        with Image.open(path) as image:
            width, height = image.size
            # other formats would be decoded for it, and readers do not turn them
            turned = image.format in ("JPEG", "MPO") and image.getexif().get(_ORIENTATION) in _TURNED
    except Exception as error:  # Pillow's formats have errors of many kinds
        raise ValueError(f"{path}: expected an image, got {reason(error)}") from error
    return (height, width) if turned else (width, height)
