"""A state of anomaly_suite, prepared: pixels sorted once, and images as rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ..metric.prepared import Prepared
from ..metric.results import Results
from .image_rows import ImageRows, image_rows
from .judging import Judge
from .maps import AnomalyState


class TablesMaps(Protocol):
    """A metric that has tables beside its results."""

    def tables(self, prepared: PreparedMaps, results: Results) -> dict[str, Any]:
        """Tables of the images."""


class PreparedMaps(Prepared):
    """Images, or samples of several, each with its pixels, and the judges that give the results, by name.

    Raises ValueError for rows of a state in which pixels of several images have been counted together.
    """

    def __init__(self, metric: TablesMaps, state: AnomalyState, judges: Mapping[str, Judge]) -> None:
        self.metric, self.state, self.judges = metric, state, judges

    @cached_property
    def _images(self) -> ImageRows:
        if "normal_counts" in self.state:
            raise ValueError(
                "confidence_level: pixels of several images have been counted together; give it at load, not at compute"
            )
        return image_rows(self.state)

    @property
    def counts(self) -> np.ndarray:  # type: ignore[override]
        """The number of images, or samples, that each row stands for."""
        return self._images.counts

    @property
    def strata(self) -> np.ndarray:  # type: ignore[override]
        """The kind of each row."""
        return self._images.strata

    def rates(self, counts: np.ndarray | None = None) -> Results:
        """Results of the state, or of drawn images."""
        images = None if counts is None else np.where(self._images.standing, counts[self._images.of_images], 0)
        return {key: result for judge in self.judges.values() for key, result in judge.rates(images).items()}

    def rows(self) -> np.ndarray:
        """The row of each image; −1 for all but the first image of a sample."""
        return np.where(self._images.first, self._images.of_images, -1)

    def beside(self, models: Sequence[Prepared]) -> PreparedMaps:
        """The same with judges that merge pixels as those of all models do."""
        every = [model.judges for model in models if isinstance(model, PreparedMaps)]
        judges = {name: judge.beside([own[name] for own in every]) for name, judge in self.judges.items()}
        return PreparedMaps(self.metric, self.state, judges)

    def tables(self, results: Results) -> dict[str, Any]:
        """The metric's tables."""
        return self.metric.tables(self, results)
