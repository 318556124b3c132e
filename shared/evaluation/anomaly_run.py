"""The results of a model's anomaly maps: metrics, and the score of each image."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ..metric.results import Results
from ..reading.maps.listing import AnomalyImage
from ..reading.maps.pairing import AnomalyMaps
from .anomaly_curves import Curves


class ScoredImage(NamedTuple):
    """A test image: its files, its map, whether it is anomalous, its score, and whether its mask has a pixel."""

    image: AnomalyImage
    map_file: Path
    anomalous: bool
    score: float
    marked: bool

    @property
    def lacks_pixels(self) -> bool:
        """Whether it is anomalous by its folder, but has a mask without an anomalous pixel."""
        return self.anomalous and bool(self.image.masks) and not self.marked


class AnomalyRun(NamedTuple):
    """The results of a model's maps.

    listed: the files
    results: the metrics, and a record of the evaluation
    images: each test image with its score
    curves: by group, with the option `curves`
    tables: with `per_image`, the `per_image_table` of each group, with the names of its images
    """

    listed: AnomalyMaps
    results: Results
    images: list[ScoredImage]
    curves: dict[str, Curves]
    tables: dict[str, Results]

    @property
    def groups(self) -> list[str]:
        """The groups with images of their own, sorted, without means of other groups."""
        names = self.results["groups"]["group"]
        return [name for name in names if not any(other.startswith(f"{name}/") for other in names)]


def images_table(run: AnomalyRun) -> Results:
    """A table with a row for each image of each group: `run.tables`, with the name of the group first.

    A normal image is in all groups of its category, and is judged in each.
    """
    rows: Results = {"group": []}
    for group, table in run.tables.items():
        rows["group"] += [group] * len(table["image"])
        for key, column in table.items():
            rows.setdefault(key, []).extend(column)
    return rows


def images_of(run: AnomalyRun, group: str) -> list[ScoredImage]:
    """The images of a group with their scores: a normal image is in all groups of its category."""
    category = group.partition("/")[0]
    return [image for image in run.images if image.image.category == category and belongs_to(image, group)]


def belongs_to(scored: ScoredImage, group: str) -> bool:
    """Whether an image of a category is in one of its groups: a normal one is in all."""
    return not scored.image.anomalous or group in (
        scored.image.category,
        f"{scored.image.category}/{scored.image.defect}",
    )
