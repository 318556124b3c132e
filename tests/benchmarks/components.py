"""Components beside a loop over components × pixels, and operating points beside the suite without them.

python -m tests.benchmarks.components [MAPS]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy import ndimage

from openworld_metrics import AnomalySuite
from openworld_metrics.anomaly.components import components_of
from openworld_metrics.anomaly.regions import connected_components

SHAPE = (1024, 2048)
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
    found, expected, inside, sizes = components_of(predicted, connected_components(mask))
    return [*(found / expected).tolist(), *(inside / sizes).tolist()]


def seconds(call: Callable[[], Any]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def each_of(call: Callable[..., object], cases: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
    """Call a function for each case."""
    for case in cases:
        call(*case)


def main(number: int) -> None:
    """Print the two ratios."""
    scenes = [scene(seed) for seed in range(number)]
    cases = [(scores > 1, mask) for scores, mask in scenes]
    assert all(np.allclose(ours(*case), looped(*case)) for case in cases[:2])
    mine, loop = (seconds(partial(each_of, call, cases)) for call in (ours, looped))
    print(f"components of {number} maps: {mine:.2f} s, a loop over them {loop:.2f} s, {mine / loop:.3f} of it")
    columns: Any = {"predictions": [scores for scores, _ in scenes], "references": [mask for _, mask in scenes]}
    columns["image_labels"] = np.arange(number) % 2
    suites = AnomalySuite(), AnomalySuite(points=POINTS)
    plain, points = (min(seconds(partial(suite.compute, **columns)) for _ in range(3)) for suite in suites)
    print(f"the suite {plain:.2f} s, with {len(POINTS)} points {points:.2f} s, {points / plain - 1:+.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 10)
