"""Read the masks of an image: anomalous and void pixels, numbers of regions, and defects with saturation areas."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...anomaly.masks import as_region_numbers
from ...arrays.checks import as_bool, as_int, as_real
from ..limits import size_text
from ..objects import parse_json
from ..reasons import named
from .listing import AnomalyImage
from .pairing import AnomalyMaps
from .planes import anomalous_pixels, read_invalid, read_masks_values

MAX_AREA = 2**53
_KEYS = ("pixel_value", "saturation_threshold", "relative_saturation")


class Saturation(NamedTuple):
    """The number of pixels of a defect that suffice or, if relative, the fraction of its pixels."""

    threshold: float
    relative: bool

    def area(self, num_pixels: int) -> int:
        """The saturation area of a defect with `num_pixels` pixels, as in the official code, but at least 1.

        >>> Saturation(0.5, True).area(7), Saturation(0.5, True).area(1), Saturation(20, False).area(7)
        (3, 1, 20)
        """
        return max(1, int(self.threshold * num_pixels)) if self.relative else int(self.threshold)


def read_defects_config(path: str | Path) -> dict[int, Saturation]:
    """Read a list of defects: {"pixel_value": 1 to 255, "saturation_threshold": …, "relative_saturation": …} each.

    Returns the saturation by pixel value. Raises ValueError and TypeError, with the name of the file, for a malformed
    list: a threshold is a number in (0, 1] if it is relative, else an int of at least 1.
    """
    path = Path(path)
    with named(path):
        entries = parse_json(path.read_bytes())
        if not isinstance(entries, list):
            raise TypeError(f"expected a list of defects, got {type(entries).__name__}")
        by_value: dict[int, Saturation] = {}
        for i, entry in enumerate(entries):
            with named(f"defect {i}"):
                value, saturation = _as_saturation(entry)
                if by_value.setdefault(value, saturation) != saturation:
                    raise ValueError(f"expected one saturation of the pixel value {value}, got another before")
        return by_value


def _as_saturation(entry: Any) -> tuple[int, Saturation]:
    if not isinstance(entry, Mapping) or not set(_KEYS) <= set(entry):
        came = ", ".join(map(str, entry)) if isinstance(entry, Mapping) else type(entry).__name__
        raise TypeError(f"expected {', '.join(_KEYS)}, got {came}")
    value, threshold = as_int(entry["pixel_value"], "pixel_value", 1, 255), entry["saturation_threshold"]
    if not as_bool(entry["relative_saturation"], "relative_saturation"):
        return value, Saturation(as_int(threshold, "saturation_threshold", 1, MAX_AREA), False)
    share = as_real(threshold, "saturation_threshold")
    if not 0 < share <= 1:
        raise ValueError(f"saturation_threshold: expected a share in (0, 1], got {share!r}")
    return value, Saturation(share, True)


Saturations = Mapping[str, Mapping[int, Saturation]]  # by category, and by value of the mask's pixels
VOID = -1  # the value of void pixels in references, if masks have none


class MaskRules(NamedTuple):
    """Options for reading masks.

    ignore_value: the value of void pixels in files; None if there is none
    void_where_invalid: whether pixels without a point in the image's cloud are void too
    regions: "labels" if masks hold the numbers of regions, from 1
    saturations: the saturation areas of defects; None if the layout has none
    threshold: the number above which a value is anomalous; None if masks hold 0 and one other value
    """

    ignore_value: int | None
    void_where_invalid: bool
    regions: str
    saturations: Saturations | None
    threshold: float | None = None


class Masks(NamedTuple):
    """The masks of an image.

    mask: (H, W) booleans, true for anomalous pixels
    void: (H, W) booleans, true for pixels that do not count; None if there are none
    defects: the mask of each defect with its saturation area; None for plain masks
    numbers: (H, W) the number of each pixel's region, from 1, 0 for normal and void pixels; None if regions are the
        mask's components
    """

    mask: np.ndarray
    void: np.ndarray | None = None
    defects: tuple[tuple[np.ndarray, int], ...] | None = None
    numbers: np.ndarray | None = None

    def reference(self, ignore_value: int | None) -> Any:
        """The image's reference for the metric, with `ignore_value` in void pixels."""
        if self.defects is None:
            return self._with_void(self.mask if self.numbers is None else self.numbers, ignore_value)
        masks = np.asarray([mask for mask, _ in self.defects], bool).reshape(-1, *self.mask.shape)
        if not len(masks) and self.void is not None:  # void pixels need a mask
            masks = self.mask[None]
        areas = [area for _, area in self.defects] or [1] * len(masks)
        return {"masks": self._with_void(masks, ignore_value), "saturation_areas": areas}

    def _with_void(self, masks: np.ndarray, ignore_value: int | None) -> np.ndarray:
        return masks if self.void is None else np.where(self.void, np.int32(ignore_value or 0), masks)


def saturations_of(listed: AnomalyMaps, ignore_value: int | None) -> Saturations | None:
    """The saturations of all categories; None if the layout has none.

    Raises ValueError for a missing or invalid file, and for a defect with the value of void pixels.
    """
    layout = listed.data.layout
    if layout.saturation is None:
        return None
    by_category = {}
    for category in sorted(listed.by_category):
        path = listed.data.tree.path(listed.data.categories[category]) / layout.saturation
        by_category[category] = read_defects_config(path)
        if ignore_value in by_category[category]:
            raise ValueError(f"ignore_value: expected a value of no defect in {path}, got {ignore_value}")
    return by_category


def read_masks(image: AnomalyImage, rules: MaskRules) -> Masks:
    """Read the one or more masks of an image; see `anomalous_pixels`. Void pixels are not anomalous.

    Raises ValueError with the name of the file for a mask that cannot be read, differs in size from the first, has a
    value of no defect of its category, or other values than the rules expect.
    """
    values, value = read_masks_values(image.masks), rules.ignore_value
    void = None if value is None else np.any([each == value for each in values], axis=0)
    if rules.void_where_invalid:
        invalid = invalid_pixels(image, values[0].shape)
        void = invalid if void is None else void | invalid
    void = None if void is None or not void.any() else void
    ignored, masks = () if value is None else (value,), []
    for path, each in zip(image.masks, values):
        with named(path):
            mask = anomalous_pixels(each, ignored, rules.threshold)
        masks.append(mask if void is None else mask & ~void)
    union, defects, numbers = np.any(masks, axis=0), None, None
    if rules.saturations is not None:
        known = rules.saturations[image.category]
        each_mask = zip(image.masks, values, masks)
        defects = tuple((mask, _area(path, each[mask], known)) for path, each, mask in each_mask if mask.any())
    elif rules.regions == "labels":
        not_void = values[0] if void is None else np.where(void, 0, values[0])
        numbers = as_region_numbers(not_void, str(image.masks[0]))
    return Masks(union, void, defects, numbers)


def invalid_pixels(image: AnomalyImage, shape: tuple[int, ...]) -> np.ndarray:
    """Whether each pixel has no point in the image's cloud, (H, W). Raises ValueError for a cloud of another size."""
    if image.cloud is None:
        raise ValueError(f"{image.name}: expected a cloud, got none")
    invalid = read_invalid(image.cloud)
    if invalid.shape != shape:
        raise ValueError(f"{image.cloud}: expected {size_text(shape)} points, got {size_text(invalid.shape)}")
    return invalid


def _area(path: Path, values: np.ndarray, known: Mapping[int, Saturation]) -> int:
    """The saturation area of a defect, from the values of its pixels."""
    lowest, highest = values.min().item(), values.max().item()
    if lowest != highest or highest not in known:
        got = f"{lowest} to {highest}" if lowest != highest else str(highest)
        raise ValueError(f"{path}: expected one of the pixel values {', '.join(map(str, known))}, got {got}")
    return known[int(highest)].area(len(values))
