"""Components beside a loop over components × pixels, and operating points beside the suite without them.

python -m tests.benchmarks.components [MAPS]    by default 100: print the table, write it into docs/benchmarks.md

Times are of the processor, in all threads. The loop is written here, as official code does it (SegmentMeIfYouCan's has
no licence): each component is compared with every pixel.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import ndimage

from openworld_metrics import AnomalySuite
from openworld_metrics.anomaly.components import components_of
from openworld_metrics.anomaly.regions import connected_components
from tests.benchmarks.table import write

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


def seconds(call: Callable[[], Any]) -> float:
    """What a call takes of the processor."""
    start = time.process_time()
    call()
    return time.process_time() - start


def components_line(number: int) -> str:
    """The line of components; maps are made one at a time."""
    mine = loop = 0.0
    for seed in range(number):
        scores, mask = scene(seed)
        predicted = scores > 1
        mine += seconds(lambda: ours(predicted, mask))  # noqa: B023 (called here)
        loop += seconds(lambda: looped(predicted, mask))  # noqa: B023
        if seed < 2 and not np.allclose(ours(predicted, mask), looped(predicted, mask), rtol=1e-12):
            raise AssertionError("expected the numbers of the loop")
    return _line(
        f"components of {number} maps of {SHAPE[0]:,} × {SHAPE[1]:,}",
        mine,
        "a loop over components × pixels",
        loop,
        1 / 5,
    )


def points_line(number: int) -> str:
    """The line of operating points: the suite without and with them, in turns, and the best of three."""
    scenes = [scene(seed) for seed in range(number)]
    columns: Any = {"predictions": [scores for scores, _ in scenes], "references": [mask for _, mask in scenes]}
    columns["image_labels"] = np.arange(number) % 2
    suites = AnomalySuite(), AnomalySuite(points=POINTS)
    rounds = [[seconds(lambda: suite.compute(**columns)) for suite in suites] for _ in range(3)]  # noqa: B023
    plain, points = map(min, zip(*rounds))
    return _line(
        f"{len(POINTS)} points more, of {number} such maps", points - plain, "the suite without", plain, 1 / 10
    )


def _line(work: str, took: float, peer: str, peers: float, target: float) -> str:
    missed = " **missed**" if took > target * peers else ""
    share = f"1/{peers / took:.1f}" if took > 0 else "nothing"
    return f"| {work} | {took:.2f} s | {peer} | {peers:.2f} s | {share}{missed} | ≤ 1/{1 / target:.0f} |"


def main(number: int) -> None:
    """Print the table, and write it if all maps were measured."""
    lines = ["| work | ours | peer | peer's time | ours / peer | target |", "|---|---|---|---|---|---|"]
    lines += [components_line(number), points_line(max(2, number // 10))]
    print(*lines, sep="\n")
    if number >= MAPS:
        write("components", lines)


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else MAPS)
