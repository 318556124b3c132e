"""Arrays of maps that differ in size from their masks, and how they are resized."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...reading.maps.maps import MapSizeError, resized_map


def fitted(maps: Sequence[Any], masks: Sequence[Any], *, resize: bool) -> Sequence[Any]:
    """Maps in the sizes of their masks; with `resize`, maps of other sizes are resized (bilinear).

    Raises MapSizeError for the first map that differs in size from its mask.

    >>> fitted([np.zeros((2, 2))], [np.ones((4, 4))], resize=True)[0].shape
    (4, 4)
    """
    if len(maps) != len(masks) or any(np.ndim(each) != 2 for each in (*maps, *masks)):
        return maps  # the metric says what is wrong with them
    sizes = [np.shape(mask) for mask in masks]
    differing = [i for i, one in enumerate(maps) if np.shape(one) != sizes[i]]
    if differing and not resize:
        (height, width), (rows, columns) = np.shape(maps[differing[0]]), sizes[differing[0]]
        raise MapSizeError(
            f"image {differing[0] + 1}: the map is {height} × {width}, its mask {rows} × {columns} "
            f"({len(differing):,} of {len(maps):,} maps differ in size from their masks). Resize maps to masks."
        )
    return [resized_map(np.asarray(one), size, "bilinear") for one, size in zip(maps, sizes)] if differing else maps
