"""AUPIMO beside anomalib's, and sPRO beside MVTec's own code: 83 images of 256 × 256, the same arrays for both.

python -m tests.benchmarks.maps    print the table and write it into docs/benchmarks.md

Of anomalib, which is installed without what it depends on, only the functions of AUPIMO are imported; they need torch
alone. MVTec's code of the evaluation of MVTec LOCO is no package: the variable MVTEC_LOCO_EVALUATION names the folder
that holds its `src`. A peer that is not there has no numbers.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from importlib.util import find_spec
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import torch

from openworld_metrics import AnomalySuite
from tests.benchmarks.__main__ import milliseconds
from tests.benchmarks.table import write

IMAGES, ANOMALOUS, SIDE, DEFECT = 83, 55, 256, 30
BOUNDS, LIMIT = (1e-5, 1e-4), 0.05
SATURATION = (400, 0.5)  # of a defect of either kind: pixels, and a share of it
ROUNDS, REPEATED_S = 5, 20.0  # calls that take more are made once
HEADER = [
    "| work | ours | peer | peer's time | ours / peer | target | ours, wall | peer's, wall | ours / peer |",
    "|---|---|---|---|---|---|---|---|---|",
]
Value = Callable[[], float]


class Pair(NamedTuple):
    """Ours and a peer, None if it is not there, of one number; and how far the peer's may be from ours."""

    work: str
    ours: Value
    peer_name: str
    peer: Value | None
    target: float
    tolerance: float


class Took(NamedTuple):
    """Seconds of the processor, in all threads, and of the clock."""

    processor: float
    wall: float


def measured(call: Value) -> tuple[Took, float]:
    """What a call takes, and what it returns."""
    start, began = time.perf_counter(), time.process_time()
    value = call()
    return Took(time.process_time() - began, time.perf_counter() - start), value


def drawn(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Maps (N, H, W), and masks (N, 2, H, W) of two square defects in each anomalous image, where scores are higher."""
    maps = rng.standard_normal((IMAGES, SIDE, SIDE), dtype=np.float32)
    masks = np.zeros((IMAGES, 2, SIDE, SIDE), dtype=bool)
    for own in masks[:ANOMALOUS]:
        for mask, (row, column) in zip(own, rng.integers(0, SIDE - DEFECT, (2, 2)).tolist()):
            mask[row : row + DEFECT, column : column + DEFECT] = True
    maps[masks.any(axis=1)] += 2
    return maps, masks


def pimo(maps: np.ndarray, masks: np.ndarray) -> Pair:
    """The mean AUPIMO."""
    union = masks.any(axis=1)
    metric = AnomalySuite(levels="pixel", pimo_bounds=BOUNDS)
    return Pair(
        f"AUPIMO, and all metrics of pixels; {IMAGES} × {SIDE} × {SIDE}",
        lambda: float(metric.compute(predictions=maps, references=union)["aupimo"]),
        "anomalib aupimo_scores, 300,000 thresholds",
        anomalib_pimo(torch.from_numpy(maps), torch.from_numpy(union)) if find_spec("anomalib") else None,
        1 / 20,
        5e-3,
    )


def anomalib_pimo(maps: torch.Tensor, masks: torch.Tensor) -> Value:
    """The same by anomalib, whose packages are entered without running them: they import all of anomalib."""
    for name in ("anomalib.metrics", "anomalib.metrics.pimo"):
        package = ModuleType(name)
        package.__path__ = [os.path.join(importlib.import_module("anomalib").__path__[0], *name.split(".")[1:])]
        sys.modules[name] = package
    scores: Any = importlib.import_module("anomalib.metrics.pimo.functional").aupimo_scores

    def value() -> float:
        of_images = scores(maps, masks, 300_000, fpr_bounds=BOUNDS)[4]
        return float(of_images[~of_images.isnan()].mean())

    return value


def spro(maps: np.ndarray, masks: np.ndarray) -> Pair:
    """AU-sPRO up to a limit."""
    areas = [min(int(share if share > 1 else share * DEFECT**2), DEFECT**2) for share in SATURATION]
    references = [
        {"masks": own[: 2 * (i < ANOMALOUS)], "saturation_areas": areas[: 2 * (i < ANOMALOUS)]}
        for i, own in enumerate(masks)
    ]
    metric = AnomalySuite(levels="pixel")
    folder = os.environ.get("MVTEC_LOCO_EVALUATION")
    return Pair(
        f"sPRO, and all metrics of pixels; {IMAGES} × {SIDE} × {SIDE}, {2 * ANOMALOUS} defects",
        lambda: float(metric.compute(predictions=maps, references=references)[f"auspro@{LIMIT}"]),
        "MVTec's evaluation of LOCO",
        loco_spro(folder, maps, masks) if folder else None,
        1 / 10,
        1e-3,
    )


def loco_spro(folder: str, maps: np.ndarray, masks: np.ndarray) -> Value:
    """The same by MVTec's code, with its default of 0.01 between two points of the curve; in one process."""
    sys.path.insert(0, folder)
    image, aggregation, util = (importlib.import_module(f"src.{name}") for name in ("image", "aggregation", "util"))
    kinds = [
        image.DefectConfig(str(value), value, share, isinstance(share, float))
        for value, share in enumerate(SATURATION, 1)
    ]
    truth = [
        image.GroundTruthMap([image.GroundTruthChannel(mask, kind) for mask, kind in zip(own, kinds)])
        for own in masks[:ANOMALOUS]
    ]

    def value() -> float:
        of_images = [*truth, *[None] * (IMAGES - ANOMALOUS)]
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            found = aggregation.MetricsAggregator(of_images, list(map(image.AnomalyMap, maps))).run(0.01)
        return float(util.get_auc_for_max_fpr(found.get_fp_rates(), found.get_mean_spros(), LIMIT))

    return value


def line(pair: Pair) -> tuple[str, bool]:
    """A line of the table, and whether the two numbers agree: both are called in turns, and the best of each counts."""
    pair.ours()  # compiles what is compiled
    ours: list[Took] = []
    theirs: list[Took] = []
    for _ in range(ROUNDS):
        took, value = measured(pair.ours)
        ours.append(took)
        if pair.peer is not None and sum(each.wall for each in theirs) < REPEATED_S:
            took, other = measured(pair.peer)
            theirs.append(took)
    best = Took(*map(min, zip(*ours)))
    named = f"| {pair.work} | {milliseconds(best.processor)} | {pair.peer_name}"
    target = f"≤ 1/{1 / pair.target:.0f}"
    if not theirs:
        return f"{named} | not installed | | {target} | {milliseconds(best.wall)} | | |", True
    peer = Took(*map(min, zip(*theirs)))
    missed = " **missed**" if best.processor > pair.target * peer.processor else ""
    ratios = [f"1/{whole / part:.1f}" for part, whole in zip(best, peer)]
    cells = milliseconds(peer.processor), ratios[0] + missed, target, *map(milliseconds, (best.wall, peer.wall))
    print(f"{pair.peer_name}: {other!r}, ours {value!r}")
    return f"{named} | {' | '.join(cells)} | {ratios[1]} |", abs(other - value) <= pair.tolerance


def main() -> int:
    """Measure and write the table. Returns 1 if a peer's number differs from ours."""
    maps, masks = drawn(np.random.default_rng(0))
    found = [line(make(maps, masks)) for make in (pimo, spro)]
    lines = HEADER + [text for text, _ in found]
    print(*lines, sep="\n")
    write("maps", lines)
    return 0 if all(agree for _, agree in found) else 1


if __name__ == "__main__":
    sys.exit(main())
