"""Names of the files of maps, masks and images: endings of masks, and the places by which files are paired."""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path

from ..places import PICTURES
from .planes import ARRAY_SUFFIXES

# ends of masks' names, longest first: SegmentMeIfYouCan, Fishyscapes, KolektorSDD, MVTec AD, KolektorSDD2
MASK_ENDINGS = ("_labels_semantic", "_ground_truth", "_groundtruth", "_labels", "_label", "_masks", "_mask", "_gt")
KIND_FOLDERS = ("test", "ground_truth", "labels")  # folders that name a kind of file, not a part of the data
_TEXTS = (".html", ".ipynb", ".log", ".md", ".pdf", ".py", ".rst", ".sh", ".tex", ".txt")
_TABLES = (".cfg", ".csv", ".db", ".ini", ".json", ".jsonl", ".toml", ".tsv", ".xlsx", ".xml", ".yaml", ".yml")
NOTES = frozenset([*_TEXTS, *_TABLES])  # suffixes of files beside maps, masks and images
_SUFFIXES = PICTURES | {*ARRAY_SUFFIXES}


def suffix_of(name: str) -> str:
    """The suffix of a file's name in lower case, such as ".png"; empty for a name without one."""
    return os.path.splitext(name)[1].lower()


def is_note(name: str) -> bool:
    """Whether a file holds no map, mask or image by its suffix."""
    return suffix_of(name) in NOTES


def place_of(name: str) -> str:
    """The path of a map, mask or image without its suffixes, in one form of Unicode (NFC).

    >>> place_of("cut/a.png"), place_of("cut/a.png.npy"), place_of("v1.5.tiff")
    ('cut/a', 'cut/a', 'v1.5')
    """
    stem = os.path.splitext(name)[0]
    inner, suffix = os.path.splitext(stem)
    return unicodedata.normalize("NFC", inner if suffix.lower() in _SUFFIXES else stem)


def number_of_mask(name: str | Path) -> str:
    """The number of one of several masks of an image, as in AITEX's 0002_mask2.png; "" for other names."""
    match = re.search(r"(?<=[^/]_mask)\d+$", place_of(str(name)), re.IGNORECASE)
    return match[0] if match else ""


def place_of_mask(name: str) -> str:
    """The place of the image of a mask: without one of the MASK_ENDINGS, in any case, and its number after "_mask".

    >>> place_of_mask("kos01/Part0_label.bmp"), place_of_mask("10301_GT.png"), place_of_mask("7.png")
    ('kos01/Part0', '10301', '7')
    >>> place_of_mask("0002_002_00_mask2.png")
    '0002_002_00'
    """
    place = place_of(name)
    place = place[: len(place) - len(number_of_mask(name))]
    ending = next((ending for ending in MASK_ENDINGS if place.lower().endswith(ending)), "")
    stem = place[: len(place) - len(ending)]
    return stem if stem and not stem.endswith("/") else place


def key_of(place: str) -> str:
    """A place without the folders that name a kind of file, KIND_FOLDERS.

    >>> key_of("nut/test/cut/000")
    'nut/cut/000'
    """
    *folders, name = place.split("/")
    return "/".join([*(part for part in folders if part not in KIND_FOLDERS), name])
