"""Read thresholds from files of `openworld-metrics threshold --save`, where a command takes a number."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import click

from ..written.thresholds import read_threshold

# options that are thresholds, and the kinds of scores that each may apply to
_KINDS = {
    "threshold": ("samples",),
    "t_list": ("samples",),
    "image_threshold": ("images", "samples"),
    "pixel_threshold": ("pixels",),
}


def is_fitted(name: str, value: Any) -> bool:
    """Whether the value of an option of a metric is a file of thresholds."""
    return name in _KINDS and isinstance(value, str) and value.endswith(".json")


def fitted_threshold(name: str, path: str) -> float:
    """The threshold of a file for an option. Raises ValueError for a file of other scores or several categories."""
    thresholds = fitted_thresholds(name, path)
    if len(thresholds) > 1:
        raise ValueError(
            f"{path}: expected one threshold, got {len(thresholds)}, one a category: the command anomaly takes them"
        )
    return next(iter(thresholds.values()))


def fitted_thresholds(name: str, path: str) -> dict[str, float]:
    """The thresholds of a file for an option, by category; "" in a file without categories."""
    fitted = read_threshold(path, _KINDS[name])
    return fitted if isinstance(fitted, dict) else {"": fitted}


class Threshold(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4
    """A number, or a file that `openworld-metrics threshold` saved.

    number: the type of a number
    reached: whether the option is the least score that counts, the next float above a threshold
    """

    name = "number|t.json"

    def __init__(self, number: Any = click.FLOAT, *, reached: bool = False) -> None:
        self.number, self.reached = number, reached

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """The number of an argument."""
        if not (isinstance(value, str) and value.endswith(".json")):
            return self.number.convert(value, param, ctx)
        threshold = self.number.convert(fitted_threshold("threshold", value), param, ctx)
        return math.nextafter(threshold, math.inf) if self.reached else threshold


def with_numbers(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options, with files of thresholds replaced by their numbers."""
    return {name: fitted_threshold(name, value) if is_fitted(name, value) else value for name, value in options.items()}
