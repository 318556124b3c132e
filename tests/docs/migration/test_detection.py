"""Detection: the mean average precision of torchmetrics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from openworld_metrics.evaluation import standard_metrics
from tests.detection import scenes
from tests.docs.migration.rows import row


@row("torchmetrics `MeanAveragePrecision()`")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(3))
def test_mean_average_precision_of_torchmetrics(seed: int) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("torchvision", exc_type=ImportError)
    metric = pytest.importorskip("torchmetrics.detection").MeanAveragePrecision()
    scene = scenes.scene(seed, 30)
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
