"""Results of anomaly_suite in anomalib's Evaluator: by anomalib, or by what stands for it where it is missing."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from openworld_metrics import AnomalySuite
from tests.integrations import HAS_ANOMALIB

torch = pytest.importorskip("torch")
torchmetrics = pytest.importorskip("torchmetrics")
KEYS = ("image_auroc", "pixel_fpr95tpr", "aupro@0.3")
COLUMNS = ("predictions", "references", "image_scores", "image_labels")


class _Metric:
    """What anomalib's class of that name does as it is made, in a few lines."""

    def __init__(self, fields: Any = None, prefix: str = "", strict: bool = True, **options: Any) -> None:
        self.fields = fields or type(self).default_fields  # type: ignore[attr-defined]
        self.name, self.strict = prefix + type(self).__name__, strict
        super().__init__(**options)


@pytest.fixture
def anomalib(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module, with anomalib, or with what stands for it."""
    if not HAS_ANOMALIB:
        metrics: Any = ModuleType("anomalib.metrics")
        metrics.AnomalibMetric = _Metric
        monkeypatch.setitem(sys.modules, "anomalib", ModuleType("anomalib"))
        monkeypatch.setitem(sys.modules, "anomalib.metrics", metrics)
    monkeypatch.delitem(sys.modules, "openworld_metrics.integrations.anomalib", raising=False)
    return import_module("openworld_metrics.integrations.anomalib")


def batches(seed: int = 0) -> list[Any]:
    """Two batches of four images, as anomalib has them."""
    rng = np.random.default_rng(seed)
    masks = np.zeros((8, 6, 7), bool)
    masks[::2, 1:4, 2:5] = True
    maps = rng.random(masks.shape).astype(np.float32) + masks * np.float32(0.4)
    columns = (maps, masks, maps.max(axis=(1, 2)), masks.any(axis=(1, 2)))
    tensors = [torch.from_numpy(column) for column in columns]
    names = ("anomaly_map", "gt_mask", "pred_score", "gt_label")
    return [SimpleNamespace(**dict(zip(names, (x[part] for x in tensors)))) for part in (slice(0, 4), slice(4, 8))]


def expected(parts: list[Any]) -> dict[str, Any]:
    fields = ("anomaly_map", "gt_mask", "pred_score", "gt_label")
    columns = {name: torch.cat([getattr(part, field) for part in parts]) for name, field in zip(COLUMNS, fields)}
    return AnomalySuite(points="fpr95tpr").compute(**columns)


def test_results_are_those_of_the_suite(anomalib: Any) -> None:
    metrics = anomalib.anomaly_metrics(*KEYS, prefix="test_", points="fpr95tpr")
    for _ in range(2):  # a second epoch begins anew
        for batch in batches():
            for metric in metrics:
                metric.update(batch)
        assert [metric.name for metric in metrics] == [f"test_{key}" for key in KEYS]
        wanted = expected(batches())
        assert [float(metric.compute()) for metric in metrics] == [wanted[key] for key in KEYS]
        for metric in metrics:
            metric.reset()


def test_batches_with_a_channel(anomalib: Any) -> None:
    (metric,) = anomalib.anomaly_metrics("pixel_auroc")
    for batch in batches():
        batch.anomaly_map, batch.pred_score = batch.anomaly_map[:, None], batch.pred_score[:, None]
        metric.update(batch)
    assert float(metric.compute()) == expected(batches())["pixel_auroc"]


def test_pixels_are_held_once(anomalib: Any) -> None:
    first, *others = anomalib.anomaly_metrics(*KEYS, points="fpr95tpr")
    assert all(metric.store is first.store for metric in others)
    assert [metric.fills for metric in (first, *others)] == [True, False, False]
    others[0].update(batches()[0])
    assert not len(first.store.metric)


def test_a_field_that_is_missing(anomalib: Any) -> None:
    batch = batches()[0]
    batch.gt_mask = None
    (strict,) = anomalib.anomaly_metrics("image_auroc")
    with pytest.raises(ValueError, match="gt_mask: expected a batch with anomaly_map, gt_mask, pred_score, gt_label"):
        strict.update(batch)
    (lenient,) = anomalib.anomaly_metrics("image_auroc", strict=False)
    lenient.update(batch)
    assert lenient.compute() is None
    assert not len(lenient.store.metric)


def test_fields_of_its_own_and_wrong_results(anomalib: Any) -> None:
    (metric,) = anomalib.anomaly_metrics("pixel_auroc", fields=("anomaly_map", "gt_mask"))
    for batch in batches():
        metric.update(batch)
    assert float(metric.compute()) == expected(batches())["pixel_auroc"]
    (other,) = anomalib.anomaly_metrics("pixel_auc")
    for batch in batches():
        other.update(batch)
    with pytest.raises(KeyError, match=r"result: expected one of .*pixel_auroc.*, got 'pixel_auc'"):
        other.compute()
    with pytest.raises(ValueError, match="expected the keys of results"):
        anomalib.anomaly_metrics()
