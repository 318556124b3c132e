"""Read and write fitted thresholds as JSON, with their kinds of scores, their rule, and their guarantee.

    {
      "decision": "score > threshold",
      "of": ["pixels"],
      "rule": "fpr:0.001",
      "promise": "At most 0.1 % of the pixels of these images exceed the threshold.",
      "threshold": {"can": 0.31, "vial": 0.27},
      "fitted_on": {"maps": "validation", "images": {"can": 45, "vial": 50}}
    }

A threshold is a number, or numbers by category; ±inf is "Infinity" or "-Infinity".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .results import read_results

_DECISION = "score > threshold"


class FittedThreshold(NamedTuple):
    """A fitted threshold: a sample, image or pixel is anomalous (unknown) if score > threshold.

    of: the kinds of scores that it applies to: samples, images, pixels
    rule: the rule of the fit
    promise: the guarantee, as a sentence
    threshold: a number, or numbers by category
    fitted_on: the sources of the scores, and their numbers
    """

    of: tuple[str, ...]
    rule: str
    promise: str
    threshold: float | dict[str, float]
    fitted_on: Mapping[str, Any]

    def as_results(self) -> dict[str, Any]:
        """The threshold as a dict for JSON."""
        return {"decision": _DECISION, **self._asdict(), "of": [*self.of]}


def _is_threshold(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value


def read_threshold(path: str | Path, kinds: Sequence[str]) -> float | dict[str, float]:
    """The threshold in a file, for scores of one of the `kinds`: a number, or numbers by category.

    Raises ValueError with the file's name for a file without a threshold, and for a threshold of other kinds.
    """
    results = read_results(path)
    of, threshold = results.get("of"), results.get("threshold")
    by_category = threshold if isinstance(threshold, dict) else {"": threshold}
    numbers = {str(name): float(x) for name, x in by_category.items() if _is_threshold(x)}  # type: ignore[arg-type]
    if results.get("decision") != _DECISION or not isinstance(of, list) or len(numbers) != max(1, len(by_category)):
        raise ValueError(f"{path}: expected a file of openworld-metrics threshold --save, got other JSON")
    if not {*kinds} & {*map(str, of)}:
        raise ValueError(
            f"{path}: expected a threshold of {' or '.join(kinds)}, got one of {' and '.join(map(str, of))}"
        )
    return numbers if isinstance(threshold, dict) else numbers[""]
