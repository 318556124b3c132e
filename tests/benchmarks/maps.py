"""AUPIMO beside anomalib's, and sPRO beside MVTec's own code: 83 images of 256 × 256, the same arrays for both.

Of anomalib, which is installed without what it depends on, only the functions of AUPIMO are imported; they need torch
alone. MVTec's code of the evaluation of MVTec LOCO is no package: the variable MVTEC_LOCO_EVALUATION names the folder
that holds its `src`.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np
import torch

from openworld_metrics import AnomalySuite
from tests.benchmarks.measure import Peer, Work

IMAGES, ANOMALOUS, SIDE, DEFECT = 83, 55, 256, 30
BOUNDS, LIMIT = (1e-5, 1e-4), 0.05
SATURATION = (400, 0.5)  # of a defect of either kind: pixels, and a share of it
Value = Callable[[], float]


def drawn(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Maps (N, H, W), and masks (N, 2, H, W) of two square defects in each anomalous image, where scores are higher."""
    maps = rng.standard_normal((IMAGES, SIDE, SIDE), dtype=np.float32)
    masks = np.zeros((IMAGES, 2, SIDE, SIDE), dtype=bool)
    for own in masks[:ANOMALOUS]:
        for mask, (row, column) in zip(own, rng.integers(0, SIDE - DEFECT, (2, 2)).tolist()):
            mask[row : row + DEFECT, column : column + DEFECT] = True
    maps[masks.any(axis=1)] += 2
    return maps, masks


def pimo(maps: np.ndarray, masks: np.ndarray) -> Work:
    """The mean AUPIMO."""
    union = masks.any(axis=1)
    metric = AnomalySuite(levels="pixel", pimo_bounds=BOUNDS)
    theirs = anomalib_pimo(torch.from_numpy(maps), torch.from_numpy(union)) if find_spec("anomalib") else None
    return Work(
        f"AUPIMO, and all metrics of pixels; {IMAGES} × {SIDE} × {SIDE}",
        lambda: metric.compute(predictions=maps, references=union)["aupimo"],
        float,
        {"anomalib aupimo_scores, 300,000 thresholds": Peer(theirs, 1 / 20, float, 5e-3)},
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


def spro(maps: np.ndarray, masks: np.ndarray) -> Work:
    """AU-sPRO up to a limit."""
    areas = [min(int(share if share > 1 else share * DEFECT**2), DEFECT**2) for share in SATURATION]
    references = [
        {"masks": own[: 2 * (i < ANOMALOUS)], "saturation_areas": areas[: 2 * (i < ANOMALOUS)]}
        for i, own in enumerate(masks)
    ]
    metric = AnomalySuite(levels="pixel")
    folder = os.environ.get("MVTEC_LOCO_EVALUATION")
    theirs = loco_spro(folder, maps, masks) if folder else None
    return Work(
        f"sPRO, and all metrics of pixels; {IMAGES} × {SIDE} × {SIDE}, {2 * ANOMALOUS} defects",
        lambda: metric.compute(predictions=maps, references=references)[f"auspro@{LIMIT}"],
        float,
        {"MVTec's evaluation of LOCO": Peer(theirs, 1 / 10, float, 1e-3)},
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


def works() -> Iterator[Callable[[], Work]]:
    arrays = drawn(np.random.default_rng(0))
    yield lambda: pimo(*arrays)
    yield lambda: spro(*arrays)
