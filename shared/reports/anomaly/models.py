"""A model in a report of anomaly maps: its run, its name, and its thresholds in each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...suites.anomaly import AnomalyRun, ScoredImage, images_of
from ..thresholds import shown_threshold


class Model(NamedTuple):
    """A run and the name of its model."""

    run: AnomalyRun
    name: str

    def threshold(self, group: str, level: str) -> float | None:
        """The threshold for images or pixels: as chosen, else of the best F1; None if they are not judged."""
        results = self.run.results
        chosen = results["evaluation"]["options"][f"{level}_threshold"]
        if isinstance(chosen, Mapping):
            chosen = chosen.get(group.partition("/")[0])
        table = results["groups"]
        best = table.get(f"{level}_f1_max_threshold")
        if best is None:
            return None
        return best[table["group"].index(group)] if chosen is None else float(chosen)

    def threshold_text(self, group: str) -> str:
        """The threshold for images as the shortest decimal that makes the same decisions; "" if there is none."""
        threshold = self.threshold(group, "image")
        scores = [image.score for image in self.images(group)]
        return "" if threshold is None else shown_threshold(threshold, [scores])

    @property
    def thresholds_in_words(self) -> str:
        """The origin of the thresholds for images, in words."""
        is_fixed = self.run.results["evaluation"]["options"]["image_threshold"] is not None
        return "the threshold chosen before" if is_fixed else "its threshold of the best F1 on these images"

    def images(self, group: str) -> list[ScoredImage]:
        """The images of a group, with their scores."""
        return images_of(self.run, group)

    def right(self, group: str, image: ScoredImage) -> bool:
        """Whether the decision on an image of a group is correct, if images are judged."""
        threshold = self.threshold(group, "image")
        return threshold is not None and (image.score > threshold) == image.anomalous


def model_names(runs: Sequence[AnomalyRun]) -> list[str]:
    """The names of the folders of maps; full paths if the names are equal."""
    names = [run.listed.folder.resolve().name for run in runs]
    return names if len(set(names)) == len(names) else [str(run.listed.folder) for run in runs]


def score_beside(score: float, threshold: str) -> str:
    """A score as short text on its own side of a threshold, which is text too.

    >>> score_beside(12.6, "9.3"), score_beside(0.30004, "0.30003"), score_beside(-1e-9, "−∞")
    ('12.6', '0.30004', '−1e−09')
    """
    at = float(threshold.replace("−", "-").replace("∞", "inf"))
    texts = (f"{score:.{digits}g}" for digits in range(3, 18))
    return next((text for text in texts if (float(text) > at) == (score > at)), repr(score)).replace("-", "−")
