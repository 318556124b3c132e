"""Maps that differ in size from their masks, and how they are resized."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...reading.maps.maps import resized_map


class MapSizeError(ValueError):
    """Maps and masks differ in size, and resizing the maps would help."""


def fitted(
    maps: Sequence[Any], masks: Sequence[Any], names: Sequence[str], has_mask: Sequence[bool], *, resize: bool
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Maps and masks of equal size, image by image; with `resize`, maps are resized (bilinear).

    The map of an image without a mask takes the size that all masks share.
    Raises MapSizeError with the name of the first map that differs in size from its mask, and ValueError for masks of
    several sizes if an image has none.

    >>> maps, masks = fitted([np.zeros((2, 2))], [np.ones((4, 4))], ["a"], [True], resize=True)
    >>> maps[0].shape, masks[0].shape
    ((4, 4), (4, 4))
    """
    if len(maps) != len(masks) or any(np.ndim(each) != 2 for each in (*maps, *masks)):
        return maps, masks  # the metric says what is wrong with them
    sizes = [np.shape(mask) for mask in masks]
    differing = [i for i, one in enumerate(maps) if has_mask[i] and np.shape(one) != sizes[i]]
    if not differing:
        return maps, masks
    if not resize:
        first = differing[0]
        name = "/".join(names[first].split("/")[-2:]) if first < len(names) else f"image {first + 1}"
        height, width = np.shape(maps[first])
        raise MapSizeError(
            f"{name}: the map is {height} × {width}, its mask {sizes[first][0]} × {sizes[first][1]} "
            f"({len(differing):,} of {len(maps):,} maps differ in size from their masks). Resize maps to masks."
        )
    shapes = {size for size, known in zip(sizes, has_mask) if known}
    if len(shapes) > 1 and not all(has_mask):
        raise ValueError(
            "masks: expected one size, since some images have no mask, got several; add masks of normal images"
        )
    goals = [size if known else next(iter(shapes)) for size, known in zip(sizes, has_mask)]
    whole = [mask if known else np.zeros(goal, bool) for mask, known, goal in zip(masks, has_mask, goals)]
    return [resized_map(np.asarray(one), goal, "bilinear") for one, goal in zip(maps, goals)], whole
