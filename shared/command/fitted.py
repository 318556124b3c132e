"""Fitted thresholds: the JSON of `openworld-metrics threshold --save`, which a command takes in place of a number.

    {
      "decision": "score > threshold",
      "of": ["pixels"],
      "rule": "fpr:0.001",
      "promise": "At most 0.1 % of the pixels of these images exceed the threshold.",
      "threshold": {"can": 0.311, "vial": 0.28},
      "scores": "float32",
      "fitted_on": {"maps": "validation", "images": {"can": 45, "vial": 50}},
      "signature": "threshold|rule:fpr:0.001|v0.2.0"
    }

A threshold is a number, or numbers by category; ±inf is "Infinity" or "-Infinity". It lies strictly between two
neighbouring scores where there is room, so that it decides alike on scores in other types; a "note" says where not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from ..arrays.arrays import exceeds
from ..metric.signature import VERSION
from ..ranking.thresholds import placement, placement_note
from ..written.results import read_results

_DECISION = "score > threshold"
# options that are thresholds, and the kinds of scores that each may apply to
_KINDS = {
    "threshold": ("samples",),
    "t_list": ("samples",),
    "image_threshold": ("images", "samples"),
    "pixel_threshold": ("pixels",),
}


class FittedThreshold(NamedTuple):
    """A fitted threshold: a sample, image or pixel is anomalous (unknown) if score > threshold.

    of: the kinds of scores that it applies to: samples, images, pixels
    rule: the rule of the fit
    promise: the guarantee, as a sentence
    threshold: a number, or numbers by category
    scores: the type of the scores
    fitted_on: the sources of the scores, and their numbers
    note: on types of scores that it may decide otherwise; "" if there are none
    """

    of: tuple[str, ...]
    rule: str
    promise: str
    threshold: float | dict[str, float]
    scores: str
    fitted_on: Mapping[str, Any]
    note: str = ""

    def as_results(self) -> dict[str, Any]:
        """The threshold as a dict for JSON, with a signature of the rule."""
        signature = f"threshold|rule:{self.rule}|v{VERSION}"
        results = {"decision": _DECISION, **self._asdict(), "of": [*self.of], "signature": signature}
        return results if self.note else {name: value for name, value in results.items() if name != "note"}


def off_scores(fitted: float, scores: Iterable[np.ndarray]) -> tuple[float, str]:
    """A fitted threshold that lies on no score, and the note on it; see `placement`. ±inf stays.

    >>> off_scores(0.3, [np.asarray([0.1, 0.3]), np.asarray([0.7])]), off_scores(0.5, [np.asarray([0.1, 0.7])])
    ((0.4, ''), (0.5, ''))
    """
    if math.isinf(fitted):
        return fitted, f"The threshold is {fitted}: {'no' if fitted > 0 else 'every finite'} score exceeds it."
    low, high = -math.inf, math.inf
    for part in scores:
        is_above = exceeds(part, fitted)
        low = max(low, float(part.max(where=~is_above, initial=-np.inf)))
        high = min(high, float(part.min(where=is_above, initial=np.inf)))
    place = placement(fitted, low, high)
    return float(place.text), placement_note(place, low, high)


def is_fitted(name: str, value: Any) -> bool:
    """Whether the value of an option of a metric is a file of thresholds."""
    return name in _KINDS and isinstance(value, str) and value.endswith(".json")


def fitted_thresholds(name: str, path: str | Path) -> dict[str, float]:
    """The thresholds of a file for an option, by category; "" in a file without categories.

    Raises ValueError with the file's name for a file without a threshold, and for a threshold of other scores.
    """
    results, kinds = read_results(path), _KINDS[name]
    of, threshold = results.get("of"), results.get("threshold")
    by_category = threshold if isinstance(threshold, dict) else {"": threshold}
    numbers = {
        str(category): float(x)
        for category, x in by_category.items()
        if isinstance(x, (int, float)) and not isinstance(x, bool) and x == x
    }
    if results.get("decision") != _DECISION or not isinstance(of, list) or len(numbers) != max(1, len(by_category)):
        raise ValueError(f"{path}: expected a file of openworld-metrics threshold --save, got other JSON")
    if not {*kinds} & {*map(str, of)}:
        raise ValueError(
            f"{path}: expected a threshold of {' or '.join(kinds)}, got one of {' and '.join(map(str, of))}"
        )
    return numbers


def fitted_threshold(name: str, path: str) -> float:
    """The threshold of a file for an option; see `fitted_thresholds`. Raises ValueError for several categories."""
    thresholds = fitted_thresholds(name, path)
    if len(thresholds) > 1:
        raise ValueError(
            f"{path}: expected one threshold, got {len(thresholds)}, one a category: the command anomaly takes them"
        )
    return next(iter(thresholds.values()))


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
