"""Detection: the mean average precision of torchmetrics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from openworld_metrics.reading import Detections
from openworld_metrics.suites import standard_metrics
from tests.detection import scenes
from tests.docs.migration.rows import row


def untied(seed: int) -> Detections:
    """A scene in which no two confidences are equal, and no IoU is a threshold."""
    rng, scene = np.random.default_rng(seed), scenes.scene(seed, 30)
    for found in scene.predictions:
        found["boxes"] = found["boxes"] + rng.uniform(0, 0.5, found["boxes"].shape)
        found["scores"] = found["scores"] + rng.uniform(0, 0.01, found["scores"].shape)
    return scene


@row("torchmetrics `MeanAveragePrecision()`")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(3))
def test_mean_average_precision_of_torchmetrics(seed: int) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("torchvision", exc_type=ImportError)
    detection = pytest.importorskip("torchmetrics.detection")
    metric = detection.MeanAveragePrecision(rec_thresholds=[r / 100 for r in range(101)])  # its own are in float32
    scene = untied(seed)
    known = torch.tensor(scenes.KNOWN)

    def kept(boxes: Any) -> dict[str, Any]:
        columns = {
            name: torch.as_tensor(np.asarray(boxes[name])) for name in ("boxes", "scores", "labels") if name in boxes
        }
        return {name: column[torch.isin(columns["labels"], known)] for name, column in columns.items()}

    metric.update([*map(kept, scene.predictions)], [*map(kept, scene.dataset.references)])
    theirs, results = metric.compute(), standard_metrics(scene, scenes.KNOWN)
    assert float(theirs["map"]) == pytest.approx(results["mAP50-95"], abs=1e-6)
    assert float(theirs["map_50"]) == pytest.approx(results["mAP50"], abs=1e-6)
    assert 0 < results["mAP50-95"] < results["mAP50"] < 1
