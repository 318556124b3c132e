"""Saturated per-region overlap (sPRO): a defect counts fully once enough of its pixels are called anomalous.

With saturation area s, a defect with o pixels above the threshold counts min(o, s)/s. So each of its s highest pixels
adds 1/s, and the others nothing: sPRO is the PRO of regions that hold the s highest pixels of each defect, and only
these are kept. PRO is the case s = area.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from ..arrays.arrays import MAX_EXACT, Array, concatenate, on_device, to_numpy, widen
from ..arrays.states import integer_column, score_column
from ..ranking.counts import ascending
from .defects import Defects
from .regions import Regions, check_sum

if TYPE_CHECKING:
    from typing_extensions import NotRequired

_COLUMNS = ("defect_pixels", "saturation_areas", "num_defects")


class DefectPixels(TypedDict):
    """Scores of the pixels that decide whether defects are found; absent if references were plain masks.

    defect_pixels: (B,) the highest of each defect, as many as its saturation area, defect by defect
    saturation_areas: (D,) their numbers, Σ = B
    num_defects: (N,) the number of each map's entries in `saturation_areas`
    """

    defect_pixels: NotRequired[Array]
    saturation_areas: NotRequired[np.ndarray]
    num_defects: NotRequired[np.ndarray]


def saturated_pixels(maps: Iterable[Array], defects: Iterable[Defects]) -> DefectPixels:
    """The highest pixels of each defect, up to its saturation area; defects without pixels are dropped.

    >>> scores, masks = np.asarray([[0.9, 0.3, 0.5]]), np.asarray([[[1, 1, 1]], [[0, 1, 0]], [[0, 0, 0]]]) == 1
    >>> columns = saturated_pixels([scores], [Defects(masks, np.asarray([2, 7, 1]))])
    >>> {name: column.tolist() for name, column in columns.items()}
    {'defect_pixels': [0.5, 0.9, 0.3], 'saturation_areas': [2, 1], 'num_defects': [2]}
    """
    parts, sizes, numbers = [], [], []
    for score_map, own in zip(maps, defects):
        highest = [
            ascending(score_map[on_device(mask, score_map)])[-area:]
            for mask, area in zip(own.masks, own.areas.tolist())
        ]
        kept = [len(pixels) for pixels in highest if len(pixels)]
        sizes += kept
        numbers.append(len(kept))
        parts.append(concatenate([widen(score_map[:0, 0]), *highest]))
    return {
        "defect_pixels": concatenate(parts or [np.zeros(0, np.float32)]),
        "saturation_areas": np.asarray(sizes, np.int64),
        "num_defects": np.asarray(numbers, np.int64),
    }


def regions_of(state: Mapping[str, Any]) -> Regions:
    """The regions of the masks of a state."""
    return Regions(state["anomalous"], to_numpy(state["region_sizes"]), to_numpy(state["num_regions"]))


def defects_of(state: Mapping[str, Any]) -> Regions | None:
    """The pixels that decide whether defects are found, as regions; None if references are plain masks."""
    if "defect_pixels" not in state:
        return None
    return Regions(state["defect_pixels"], to_numpy(state["saturation_areas"]), to_numpy(state["num_defects"]))


def overlaps_of(state: Mapping[str, Any]) -> dict[str, Regions]:
    """The regions of masks and of defects, by the name of the area under their mean overlap."""
    regions, defects = regions_of(state), defects_of(state)
    return {"aupro": regions} if defects is None else {"aupro": regions, "auspro": defects}


def defect_columns(state: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the columns of `DefectPixels`, if a state has one of them; else none."""
    return _COLUMNS if any(name in state for name in _COLUMNS) else ()


def checked_defects(state: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """These columns of a state from elsewhere, each by itself."""
    if not defect_columns(state):
        return {}
    return {
        "defect_pixels": score_column(state, "defect_pixels"),
        "saturation_areas": integer_column(state, "saturation_areas", 1, MAX_EXACT),
        "num_defects": integer_column(state, "num_defects", 0, MAX_EXACT),
    }


def check_defects(state: Mapping[str, Any]) -> None:
    """Raise ValueError unless these columns fit together, and to the regions of the same pixels."""
    if not defect_columns(state):
        return
    check_sum(state["saturation_areas"], "saturation_areas", len(state["defect_pixels"]), "pixels of defects")
    check_sum(state["num_defects"], "num_defects", len(state["saturation_areas"]), "defects")
    differing = (state["num_defects"] > 0) != (state["num_regions"] > 0)
    if differing.any():
        i = int(differing.argmax())
        regions, defects = int(state["num_regions"][i]), int(state["num_defects"][i])
        raise ValueError(f"state: expected defects where there are regions, got {defects} and {regions} of image {i}")
