"""Components beside a loop over components × pixels, and operating points beside the suite without them.

The loop is written here, as official code does it (SegmentMeIfYouCan's has no licence): each component is compared with
every pixel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import ndimage

from openworld_metrics import AnomalySuite
from openworld_metrics.anomaly.components import components_of
from openworld_metrics.anomaly.regions import connected_components
from tests.benchmarks.measure import Peer, Work

SHAPE = (1024, 2048)
MAPS = 100
POINTS = ("fpr95tpr", "tnr95tpr", "tpr5fpr")


def scene(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A smooth map with some twenty components, and a mask of five objects."""
    rng = np.random.default_rng(seed)
    coarse = rng.normal(size=(SHAPE[0] // 64, SHAPE[1] // 64))
    scores = ndimage.zoom(coarse, 64, order=1).astype(np.float32)
    mask = np.zeros(SHAPE, bool)
    for row, column in zip(rng.integers(0, 900, 5), rng.integers(0, 1900, 5)):
        mask[row : row + 60, column : column + 90] = True
    return scores, mask


def looped(predicted: np.ndarray, mask: np.ndarray) -> list[float]:
    """sIoU and PPV, each component compared with every pixel."""
    eight = np.ones((3, 3), int)
    found, number = ndimage.label(predicted, eight)
    objects, count = ndimage.label(mask, eight)
    values = []
    for k in range(1, count + 1):
        own = objects == k
        touching = np.isin(found, [part for part in np.unique(found[own]) if part])
        others = touching & (objects > 0) & ~own
        values.append(float((own & touching).sum() / ((own | touching) & ~others).sum()))
    return values + [float((mask & (found == part)).sum() / (found == part).sum()) for part in range(1, number + 1)]


def ours(predicted: np.ndarray, mask: np.ndarray) -> list[float]:
    """The same numbers."""
    found, expected, inside, sizes = components_of(predicted, connected_components(mask), min_predicted=0, min_object=0)
    return [*(found / expected).tolist(), *(inside / sizes).tolist()]


def components() -> Work:
    """The components of predictions and of objects."""
    pairs = [(scores > 1, mask) for scores, mask in map(scene, range(MAPS))]
    theirs = Peer(lambda: [looped(*pair) for pair in pairs], 1 / 5, np.concatenate)
    return Work(
        f"components of {MAPS} maps of {SHAPE[0]:,} × {SHAPE[1]:,}",
        lambda: [ours(*pair) for pair in pairs],
        np.concatenate,
        {"a loop over components × pixels": theirs},
    )


def points() -> Work:
    """Operating points beside all else."""
    scenes = [scene(seed) for seed in range(MAPS // 10)]
    columns: Any = {"predictions": [scores for scores, _ in scenes], "references": [mask for _, mask in scenes]}
    columns["image_labels"] = np.arange(len(scenes)) % 2
    plain, suite = AnomalySuite(), AnomalySuite(points=POINTS)
    return Work(
        f"anomaly_suite with {len(POINTS)} points; {len(scenes)} such maps",
        lambda: suite.compute(**columns),
        lambda results: results["pixel_auroc"],
        {"without them": Peer(lambda: plain.compute(**columns), 1.1, lambda results: results["pixel_auroc"], 0.0)},
    )


def works() -> Iterator[Callable[[], Work]]:
    yield components
    yield points
