"""References with a mask for each defect of an image, and its saturation area."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arrays.arrays import MAX_EXACT, Array, array_namespace, to_numpy
from ..arrays.columns import as_labels, as_numbers, check_lengths
from .masks import as_binary
from .void import without_void

KEYS = ("masks", "saturation_areas")  # of a reference with defects


class Defects(NamedTuple):
    """The defects of an image: their masks (D, H, W), booleans, and their saturation areas (D,)."""

    masks: Array
    areas: np.ndarray


def has_defects(references: Any) -> bool:
    """Whether references have defects: any row is a dict."""
    return isinstance(references, list) and any(isinstance(row, Mapping) for row in references)


def split_defects(
    references: Sequence[Any], maps: Sequence[Array], ignore_value: int | None
) -> tuple[list[Array], list[Array] | None, list[Defects]]:
    """The union of each image's masks, its void pixels (None without an `ignore_value`), and its defects.

    Parameters: references, dicts {"masks": (D, H, W), "saturation_areas": (D,)}, D ≥ 0; maps (N), which give the shapes
    of unions where D is 0; ignore_value, the value of void pixels, in whatever mask.
    Raises TypeError for anything but such a dict, ValueError for shapes, values other than 0 and 1, areas below 1.
    """
    check_lengths(predictions=maps, references=references)
    rows = [
        _as_defects(row, score_map, f"references[{i}]", ignore_value)
        for i, (row, score_map) in enumerate(zip(references, maps))
    ]
    unions = [array_namespace(defects.masks).any(defects.masks, axis=0) for _, defects in rows]
    voids = None if ignore_value is None else [void for void, _ in rows]
    return unions, voids, [defects for _, defects in rows]


def _as_defects(row: Any, score_map: Array, name: str, ignore_value: int | None) -> tuple[Array, Defects]:
    """The void pixels of an image, and its defects without them."""
    if not isinstance(row, Mapping) or row.keys() != {*KEYS}:
        came = ", ".join(map(str, row)) or "nothing" if isinstance(row, Mapping) else type(row).__name__
        raise TypeError(f"{name}: expected a dict of {' and '.join(KEYS)}, as the others are, got {came}")
    masks = as_numbers(row["masks"], f"{name}['masks']")
    if masks.shape == (0,):  # an empty list
        masks = masks.reshape((0, *score_map.shape))
    if masks.ndim != 3:
        raise ValueError(f"{name}['masks']: expected (D, H, W), got shape {tuple(masks.shape)}")
    areas = to_numpy(as_labels(row["saturation_areas"], f"{name}['saturation_areas']"))
    if len(areas) != len(masks) or not 1 <= int(areas.min(initial=1)) <= int(areas.max(initial=1)) <= MAX_EXACT:
        raise ValueError(
            f"{name}['saturation_areas']: expected numbers of pixels, at least 1, of {len(masks)} masks, "
            f"got {', '.join(map(str, areas.tolist()[:9])) or 'none'}"
        )
    xp = array_namespace(masks)
    void = xp.zeros(masks.shape[1:], dtype=xp.bool, device=masks.device)
    if ignore_value is not None:
        masks, voids = without_void(masks, ignore_value)
        void = void if voids is None else xp.any(voids, axis=0)
    return void, Defects(as_binary(masks, f"{name}['masks']") & ~void, areas)
