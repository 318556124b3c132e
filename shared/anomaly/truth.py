"""The truth about the pixels of images, from any form of references."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arrays.arrays import Array, array_namespace, is_numpy_array, is_torch_array, without_arrow
from ..arrays.options import as_choice
from .defects import Defects, has_defects, split_defects
from .masks import as_images
from .void import without_void

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
