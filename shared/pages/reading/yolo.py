"""Boxes of YOLO's text files, one an image, as a table with a row for each box."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...formats.boxes.yolo_lines import LISTS_OF_CLASSES, read_lines
from ..serving.limits import RefusedError
from .archives import FOLDER, Member, folders_of, keys, members
from .data import DETECTOR, Data
from .image_names import FILES

_OBJECT = ("class", "cx", "cy", "w", "h")


def read_predictions(paths: list[Path], apart: bool = False) -> Data:
    """Predictions: lines of class, cx, cy, w, h and confidence.

    Archives that have files of the same names are detectors, each named like its archive, unless they are data sets,
    which `apart` says. The images are known by the files' paths until `with_names` shortens them.
    """
    detectors = {} if apart else _by_detector(paths)
    if not detectors:
        return _boxes(_texts(paths), (*_OBJECT, "confidence"))
    data = _boxes([file for files in detectors.values() for file in files], (*_OBJECT, "confidence"), folders=False)
    owner = {id(file): name for name, files in detectors.items() for file in files}
    return data
