"""Anomaly maps and masks: stacks or lists, checked against each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arrays.arrays import (
    MAX_EXACT,
    Array,
    array_namespace,
    equal,
    is_floating,
    is_narrow,
    is_numpy_array,
    is_torch_array,
    on_device,
    on_one_device,
    to_numpy,
    widen,
    without_arrow,
)
from ..arrays.checks import as_choice, as_int, as_labels, as_numbers, check_lengths, check_no_nan, integer_scalar
from .images import maxima

AsMask = Callable[[Array, str, bool], Array]
_SWAPPED = "are predictions and references swapped?"


class CheckedMaps(NamedTuple):
    """Scores in float32 or float64 and masks of the same shapes, as two stacks or two lists.

    maxima: (N,) the highest score of each map; None unless the check for NaN computed it
    """

    maps: Any
    masks: Any
    maxima: Array | None = None


def checked_maps(maps: Any, masks: Any, regions: str) -> CheckedMaps:
    """Check maps and masks, and convert them.

    Masks are booleans if regions are "components", and integers of at least 0 if they are "labels". Raises ValueError
    for NaN, other shapes and other values, and for masks in which regions cannot be found.
    """
    check_lengths(predictions=maps, references=masks)
    if regions == "labels":
        return _as_lists(maps, masks, as_region_numbers)
    checked = _as_stacks(maps, masks) or _as_lists(maps, masks, as_binary)
    _check_shapes(checked.masks)
    return checked


def as_images(x: Any, name: str) -> Sequence[Array]:
    """The images of a stack, or of any sequence; shapes may differ in the latter."""
    x = without_arrow(x)
    if (is_numpy_array(x) and x.dtype != object) or is_torch_array(x):
        stack = as_numbers(x, name)
        if stack.shape == (0,):
            return []
        if stack.ndim != 3:
            raise ValueError(f"{name}: expected (N, H, W) or a list of (H, W), got shape {tuple(stack.shape)}")
        return stack
    if isinstance(x, (str, bytes, Mapping)) or not isinstance(x, Iterable):
        raise TypeError(f"{name}: expected (N, H, W) or a list of (H, W), got {type(x).__name__}")
    return [as_numbers(row, f"{name}[{i}]") for i, row in enumerate(x)]


def _as_stacks(maps: Any, masks: Any) -> CheckedMaps | None:
    """Two stacks that pass all checks as a whole; None for lists, and for stacks with a wrong image, which is named
    when its turn comes.
    """
    if isinstance(maps, list) or isinstance(masks, list) or maps.shape != masks.shape:
        return None
    maps, masks = on_one_device(maps, masks)
    xp = array_namespace(masks)
    flags = masks if masks.dtype == xp.bool else masks == 1
    scores = maps if is_narrow(maps) else widen(maps, "predictions")
    binary = flags is masks or bool(xp.all(flags | (masks == 0)))
    if not binary:
        return None
    # a maximum passes NaN on, and is faster than isnan of every pixel
    highest = None if is_narrow(scores) or not math.prod(scores.shape) else maxima(scores)
    has_nan = bool(xp.any(xp.isnan(scores if highest is None else highest)))
    return None if has_nan else CheckedMaps(scores, flags, highest)


def _as_lists(maps: Any, masks: Any, as_mask: AsMask) -> CheckedMaps:
    """Check maps and masks pair by pair, on the device of the first; pairs may differ in shape."""
    pairs = [
        _checked_pair(on_device(score_map, maps[0]), on_device(mask, maps[0]), i, as_mask)
        for i, (score_map, mask) in enumerate(zip(maps, masks))
    ]
    return CheckedMaps([score_map for score_map, _ in pairs], [mask for _, mask in pairs])


def _checked_pair(score_map: Array, mask: Array, i: int, as_mask: AsMask) -> tuple[Array, Array]:
    if score_map.ndim != 2 or tuple(score_map.shape) != tuple(mask.shape):
        raise ValueError(
            f"predictions[{i}], references[{i}]: expected a map (H, W) and a mask of the same shape, "
            f"got {tuple(score_map.shape)} and {tuple(mask.shape)}"
        )
    mask = as_mask(mask, f"references[{i}]", is_floating(mask) and not is_floating(score_map))
    if not is_narrow(score_map):
        score_map = widen(score_map, f"predictions[{i}]")
    check_no_nan(score_map, f"predictions[{i}]")
    return score_map, mask


def as_binary(mask: Array, name: str, swapped: bool = False) -> Array:
    """A mask as booleans. Raises ValueError unless it holds 0 and 1; `swapped` says whether it looks like a map."""
    xp = array_namespace(mask)
    if mask.dtype == xp.bool:
        return mask
    ones = mask == 1
    others = ~ones & (mask != 0)
    if bool(xp.any(others)):
        cure = _SWAPPED if swapped else "binarise it, for example mask > 0"
        raise ValueError(f"{name}: expected a mask of 0 and 1 or booleans, got {mask[others][0].item()!r}; {cure}")
    return ones


def as_region_numbers(mask: Array, name: str, swapped: bool = False) -> Array:
    """A mask as int64, 0 for normal pixels and k > 0 in region k; ValueError for other values; swapped as before."""
    xp = array_namespace(mask)
    if is_floating(mask):
        wrong = ~((mask >= 0) & (mask < MAX_EXACT) & (mask == xp.round(mask)))
    else:
        wrong = mask < 0 if xp.isdtype(mask.dtype, "signed integer") else xp.zeros_like(mask, dtype=xp.bool)
    if bool(xp.any(wrong)):
        cure = f"; {_SWAPPED}" if swapped else ""
        raise ValueError(
            f"{name}: expected the region of each pixel, an integer of at least 0, got {mask[wrong][0].item()!r}{cure}"
        )
    return xp.astype(mask, xp.int64)


def _check_shapes(masks: Any) -> None:
    """Raise ValueError for a mask of one row or column with several anomalous pixels, which have no regions."""
    for i, mask in enumerate(masks):
        if min(mask.shape) == 1 and int(array_namespace(mask).count_nonzero(mask)) > 1:
            raise ValueError(
                f"references[{i}]: expected a mask with rows and columns, since regions are grown from neighbouring "
                f"pixels, got shape {tuple(mask.shape)}; for point clouds give the region of each point, from 1, and 0 "
                "for normal ones, with regions='labels'"
            )


def image_labels_of(masks: Any) -> Array:
    """Whether each mask has an anomaly."""
    if not isinstance(masks, list):
        return array_namespace(masks).any(masks, axis=(1, 2))
    return np.asarray([bool(array_namespace(mask).any(mask != 0)) for mask in masks], dtype=bool)


# Void pixels of masks: neither normal nor anomalous, and not counted.


_LOWEST, _HIGHEST = -(2**31), 2**31 - 1


def check_ignore_value(ignore_value: Any) -> int | None:
    """Check the value of void pixels: None, or an int that is neither 0 nor 1."""
    if ignore_value is None:
        return None
    value = as_int(ignore_value, "ignore_value", _LOWEST, _HIGHEST)
    if value in (0, 1):
        raise ValueError(
            f"ignore_value: expected an int other than 0 and 1, which are normal and anomalous, got {value}"
        )
    return value


def checked_ignore_value(state: Mapping[str, Any], ignore_value: Any) -> dict[str, np.ndarray]:
    """The ignore_value of a state from elsewhere, as an entry. Raises ValueError if it differs from the option."""
    expected, entry = check_ignore_value(ignore_value), None
    if "ignore_value" in state:
        entry = int(integer_scalar(state, "ignore_value", _LOWEST, _HIGHEST))
    if entry != expected:
        raise ValueError(f"state: expected ignore_value={expected}, as here, got {entry}")
    return {} if expected is None else {"ignore_value": np.asarray(expected)}


def without_void(masks: Any, ignore_value: int) -> tuple[Any, Any]:
    """Masks, a stack or a list, with 0 for void pixels; and where these are, None if there are none.

    >>> without_void([np.asarray([[0, 255, 1]])], 255)
    ([array([[0, 0, 1]])], [array([[False,  True, False]])])
    """
    if not isinstance(masks, list):
        void = equal(masks, ignore_value)
        xp = array_namespace(void)
        return (xp.where(void, xp.zeros_like(masks), masks), void) if bool(xp.any(void)) else (masks, None)
    parts = [without_void(mask, ignore_value) for mask in masks]
    if all(void is None for _, void in parts):
        return masks, None
    cleared = [mask for mask, _ in parts]
    return cleared, [
        array_namespace(m).zeros_like(m, dtype=array_namespace(m).bool) if v is None else v for m, v in parts
    ]


def pixels_left(maps: Any, voids: Any) -> list[Array]:
    """The scores of each map's pixels that are not void, (P_i,)."""
    return [score_map[~on_device(void, score_map)] for score_map, void in zip(maps, voids)]


def check_left(voids: Any) -> None:
    """Raise ValueError for an entirely void image, whose pixels give neither a score nor a label."""
    for i, void in enumerate(voids):
        if math.prod(void.shape) and bool(array_namespace(void).all(void)):
            raise ValueError(
                f"references[{i}]: expected a pixel that is not void, since the image's score and label come of its "
                "pixels; give image_scores and image_labels where images are all void"
            )


# References with a mask for each defect of an image, and its saturation area.


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


# The truth about the pixels of images, from any form of references.


REGIONS = ("components", "labels")
DEFAULT_REGIONS = "components"


class Truth(NamedTuple):
    """The truth about the pixels of all images.

    masks: (N, H, W) or a list of (H_i, W_i), 0 for normal and void pixels; others are anomalous, in numbered regions
    voids: likewise, booleans, whether a pixel is void; None if no pixel is
    defects: the defects of each image; None if references are plain masks
    """

    masks: Sequence[Array]
    voids: Sequence[Array] | None = None
    defects: Sequence[Defects] | None = None


def check_regions(regions: Any) -> str:
    """Check the option of that name: "components" or "labels"."""
    return as_choice(regions, "regions", REGIONS)


def checked_regions(state: Mapping[str, Any], regions: str) -> dict[str, np.ndarray]:
    """The kind of regions of a state from elsewhere, as an entry. Raises ValueError if it differs from the option."""
    expected, stored = check_regions(regions), str(state.get("regions", "components"))
    if stored != expected:
        raise ValueError(f"state: expected regions={expected!r}, as here, got {stored[:80]!r}")
    return {"regions": np.asarray(expected)} if "regions" in state else {}


def as_truth(references: Any, maps: Sequence[Array], ignore_value: int | None, regions: str) -> Truth:
    """Convert masks, or dicts with separate defects (see `split_defects`), to a `Truth`.

    Parameters: references; maps, for the shapes of images without defects; ignore_value, that of void pixels, or None;
    regions, "labels" for masks of region numbers, which defects are numbered by, too.
    Raises TypeError and ValueError for references of another form, and for numbered defects that share pixels.
    """
    rows = _one_by_one(references)
    if not has_defects(rows):
        masks = as_images(rows, "references")
        return Truth(masks) if ignore_value is None else Truth(*without_void(masks, ignore_value))
    truth = Truth(*split_defects(rows, maps, ignore_value))
    if regions == "components" or truth.defects is None:
        return truth
    return truth._replace(masks=[_numbered(each.masks, f"references[{i}]") for i, each in enumerate(truth.defects)])


def _one_by_one(references: Any) -> Any:
    """References as a list of rows, unless they are one array."""
    rows = without_arrow(references)
    is_array = is_torch_array(rows) or (is_numpy_array(rows) and rows.dtype != object)
    if is_array or isinstance(rows, (str, bytes, Mapping)) or not isinstance(rows, Iterable):
        return references
    return list(rows)


def _numbered(masks: Array, name: str) -> Array:
    """The number of each pixel's defect, from 1, (H, W); 0 where there is none."""
    xp = array_namespace(masks)
    shared = int(xp.count_nonzero(xp.sum(xp.astype(masks, xp.int64), axis=0) > 1))
    if shared:
        raise ValueError(f"{name}['masks']: expected defects that share no pixel, with regions='labels'; got {shared}")
    numbers = xp.arange(1, masks.shape[0] + 1, dtype=xp.int64, device=masks.device)
    return xp.sum(masks * numbers[:, None, None], axis=0)
