"""A state prepared once: checked, sorted, counted or matched, with one function from counts to results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from .results import Results


class Prepared(ABC):
    """Rows of equal samples or images, in an order independent of the order in which they were added.

    The summary of rows with counts is bit-identical to the summary of the repeated rows. So the rows' own counts give
    the results, and drawn counts a resample: intervals, comparisons, groups and folders need `rates` alone.
    """

    counts: np.ndarray  # (R,) int64: how many samples or images each row stands for
    strata: np.ndarray  # (R,) int64, ascending: the stratum of each row, whose size a resample keeps
    sizes: np.ndarray | None = None  # (N,) int64: how many each entry of the state stands for; None for one each

    @abstractmethod
    def rates(self, counts: np.ndarray | None = None) -> Results:
        """Rates and counts where each row occurs `counts` times, (R,) int64; without counts, the exact results.

        If a state has too many distinct scores to draw from, the rows are quantiles, so `rates(self.counts)` may differ
        slightly from `rates()`; intervals are shifted by that difference.
        """

    @abstractmethod
    def rows(self) -> np.ndarray:
        """The row of each entry of the state, (N,) int64 in their order; −1 for an entry that is left out."""

    def beside(self, models: Sequence[Prepared]) -> Prepared:
        """The same for a comparison with other models of the same samples, this one among them.

        Where rows are merged, those of all models are merged alike, so that samples which two models score alike give
        them the same rates. By default no rows are merged.
        """
        return self

    def tables(self, results: Results) -> dict[str, Any]:
        """Tables beside the results, such as `per_sample`, which are not resampled. By default none."""
        return {}


class MissingClassError(ValueError):
    """A result needs samples of two classes, and one of them has none."""
