"""Saturation areas of defects, by the values of their masks: defects_config.json of MVTec LOCO AD."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ...arrays.checks import as_bool, as_int, as_real
from ..json import parse_json
from ..reasons import named

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
    value = as_int(entry["pixel_value"], "pixel_value", 1, 255)
    relative, threshold = as_bool(entry["relative_saturation"], "relative_saturation"), entry["saturation_threshold"]
    if not relative:
        return value, Saturation(as_int(threshold, "saturation_threshold", 1, MAX_AREA), False)
    share = as_real(threshold, "saturation_threshold")
    if not 0 < share <= 1:
        raise ValueError(f"saturation_threshold: expected a share in (0, 1], got {share!r}")
    return value, Saturation(share, True)
