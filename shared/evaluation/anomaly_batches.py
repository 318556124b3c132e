"""Images of a category, a few at a time: what was read of them, their scores, and how they go to a metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ..anomaly.anomaly_suite import AnomalySuite
from ..anomaly.image_scores import reduced_maps
from ..formats.maps.folders import AnomalyImage
from ..formats.maps.listing import AnomalyMaps
from ..formats.reasons import named
from .anomaly_run import ScoredImage
from .map_reading import MapAndMask

_BATCH = 64  # images
_BATCH_PIXELS = 1 << 22
Pair = tuple[AnomalyImage, Path]  # with its map


def groups_of(listed: AnomalyMaps, pairs: Sequence[Pair]) -> list[str]:
    """The names of a category's groups: its own, or one for each defect."""
    category, layout = pairs[0][0].category, listed.data.layout
    if layout is None or not layout.by_defect:
        return [category]
    defects = sorted({image.defect for image, _ in pairs} - {*layout.normal})
    return [f"{category}/{defect}" for defect in defects] or [category]


def batches_of(
    pairs: Sequence[Pair], contents: Iterator[MapAndMask]
) -> Iterator[tuple[Sequence[Pair], list[MapAndMask]]]:
    """Images and what was read of them, a few at a time."""
    start, held, pixels = 0, [], 0
    for end, content in enumerate(contents, 1):
        held.append(content)
        pixels += content.score_map.size
        if len(held) == _BATCH or pixels >= _BATCH_PIXELS or end == len(pairs):
            yield pairs[start:end], held
            start, held, pixels = end, [], 0


def scored_images(
    batch: Sequence[Pair], contents: Sequence[MapAndMask], image_reduction: str | int
) -> list[ScoredImage]:
    """The score of each image of a batch, and whether it is anomalous: as its folder says, else by its mask."""
    found = []
    for (image, path), (score_map, masks) in zip(batch, contents):
        pixels = score_map if masks.void is None else score_map[~masks.void]
        with named(path):
            score = float(reduced_maps([pixels], image_reduction)[0])
        marked = bool(masks.mask.any())
        anomalous = marked if image.anomalous is None else image.anomalous
        found.append(ScoredImage(image, path, anomalous, score, marked))
    return found


def add_images(
    metric: AnomalySuite,
    contents: Sequence[MapAndMask],
    scored: Sequence[ScoredImage],
    groups: Sequence[str | None] | None = None,
) -> None:
    """Add images to a metric, in groups if these are given; None is for images of all groups."""
    metric.add_batch(
        predictions=[content.score_map for content in contents],
        references=[content.masks.reference(metric.loaded_options["ignore_value"]) for content in contents],
        image_scores=np.asarray([image.score for image in scored], dtype=np.float64),
        image_labels=np.asarray([image.anomalous for image in scored], dtype=bool),
        groups=groups,
    )
