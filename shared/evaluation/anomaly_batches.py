"""Read the images of a category in batches: maps, masks and scores, which are added to a metric."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from re import Pattern
from typing import Any

import numpy as np

from ..anomaly.anomaly_suite import AnomalySuite
from ..anomaly.maps import reduced_maps
from ..reading.maps.maps import MapAndMask, Pair, groups_of, read_ahead, sample_ids
from ..reading.maps.pairing import AnomalyMaps
from ..reading.reasons import named
from .anomaly_run import ScoredImage, belongs_to
from .category_options import options_of

_BATCH = 64  # images
_BATCH_PIXELS = 1 << 22
Reader = Callable[[Pair], MapAndMask]


def read_category(
    listed: AnomalyMaps,
    pairs: Sequence[Pair],
    read: Reader,
    options: Mapping[str, Any],
    progress: Callable[[int], object] = lambda images: None,
    samples: Pattern[str] | None = None,
) -> tuple[AnomalySuite, list[ScoredImage]]:
    """A metric with the images of a category, grouped if its defects are judged separately, and the image scores.

    Normal images belong to all groups of their category. Options may differ by category (see `options_of`);
    `samples` finds the samples that images show (see `sample_ids`).
    """
    metric = AnomalySuite(**options_of(options, pairs[0][0].category))
    groups = groups_of(listed, pairs)
    by_defect = groups != [pairs[0][0].category]
    images: list[ScoredImage] = []
    for batch, contents in batches_of(pairs, read_ahead(read, pairs)):
        scored = scored_images(batch, contents, metric.image_reduction)
        names = [f"{each.category}/{each.defect}" if each.anomalous else None for each, _ in batch]
        ids = None if samples is None else sample_ids(batch, samples)
        add_images(metric, contents, scored, names if by_defect else None, ids)
        images += scored
        progress(len(batch))
    return metric, images


def members_of(group: str, scored: Sequence[ScoredImage]) -> list[ScoredImage]:
    """The images of a group in the order of its state: its anomalous images, then the shared normal images."""
    own = [image for image in scored if belongs_to(image, group)]
    return own if "/" not in group else sorted(own, key=lambda image: not image.image.anomalous)


def batches_of(
    pairs: Sequence[Pair], contents: Iterator[MapAndMask]
) -> Iterator[tuple[Sequence[Pair], list[MapAndMask]]]:
    """Images with their maps and masks, a few at a time."""
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
    """The score of each image of a batch, and whether it is anomalous: by its folder, else by its mask."""
    scored = []
    for (image, path), (score_map, masks) in zip(batch, contents):
        pixels = score_map if masks.void is None else score_map[~masks.void]
        with named(path):
            score = float(reduced_maps([pixels], image_reduction)[0])
        marked = bool(masks.mask.any())
        anomalous = marked if image.anomalous is None else image.anomalous
        scored.append(ScoredImage(image, path, anomalous, score, marked))
    return scored


def add_images(
    metric: AnomalySuite,
    contents: Sequence[MapAndMask],
    scored: Sequence[ScoredImage],
    groups: Sequence[str | None] | None,
    samples: Sequence[str] | None,
) -> None:
    """Add images to a metric, with their groups and samples if there are any; None stands for all groups."""
    metric.add_batch(
        predictions=[content.score_map for content in contents],
        references=[content.masks.reference(metric.ignore_value) for content in contents],
        image_scores=np.asarray([image.score for image in scored], dtype=np.float64),
        image_labels=np.asarray([image.anomalous for image in scored], dtype=bool),
        groups=groups,
        samples=samples,
    )
