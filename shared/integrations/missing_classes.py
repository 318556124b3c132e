"""Flat results of a metric in training, where a few batches may lack a class that it needs: an error, or NaN."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..arrays.checks import as_choice
from ..metric.prepared import MissingClassError
from ..written.results import flat

WITHOUT_CLASS = ("raise", "nan")


class FlatResults:
    """The flat results of a metric: see `flat`.

    Where a class is missing, an error with the name of the metric; with "nan", one warning, and NaN for all results but
    those that do not need the class, such as the closed-set accuracy without unknown samples, and for any other result
    that an earlier computation had.
    """

    def __init__(self, without_class: str) -> None:
        """Take "raise" or "nan"."""
        self._without_class = as_choice(without_class, "without_class", WITHOUT_CLASS)
        self._names: list[str] = []
        self._warned = False

    def __call__(
        self, metric: str, compute: Callable[[], Mapping[str, Any]], names: Callable[[], Iterable[str]]
    ) -> dict[str, float]:
        """The results of a computation of the metric of this name; `names` of NaN if there were none before.

        Raises the errors of the metric.
        """
        try:
            numbers = flat(compute())
        except ValueError as error:
            # a metric that evaluate loaded has a class of its own
            if type(error).__name__ != MissingClassError.__name__:
                raise
            if self._without_class == "raise":
                cure = 'without_class="nan" makes results NaN where a class is missing'
                raise MissingClassError(f"{metric}: {error}; {cure}") from error
            if not self._warned:
                warnings.warn(f"{metric}: {error}; results are NaN", stacklevel=4)
                self._warned = True
            lost = dict.fromkeys(self._names or names(), math.nan)
            defined: Mapping[str, float] = getattr(error, "defined", {})
            return lost | {name: value for name, value in defined.items() if name in lost}
        if self._without_class == "nan":
            numbers |= {name: math.nan for name in self._names if name not in numbers}
        self._names = [*numbers]
        return numbers

    @property
    def fills(self) -> bool:
        """Whether NaN stands for results whose class is missing."""
        return self._without_class == "nan"
