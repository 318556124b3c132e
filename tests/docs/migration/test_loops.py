"""The loops of docs/coming-from.md, with the libraries where they are installed, else with the shape of their calls."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import openworld_metrics as om
from tests.docs.blocks import FENCE, PAGES
from tests.integrations.test_anomalib import KEYS, batches, expected

torch = pytest.importorskip("torch")
_PART = re.search(
    r"## In their evaluation loops\n(.*?)\n## ", PAGES["docs/coming-from.md"].read_text("utf-8"), re.DOTALL
)
OPENOOD, PYTORCH_OOD, ANOMALIB, TORCHMETRICS = (text for _, text in FENCE.findall(_PART[1] if _PART else ""))
RNG = np.random.default_rng(0)
LOGITS, LABELS = torch.from_numpy(RNG.normal(size=(60, 4))), torch.from_numpy(RNG.integers(-1, 4, 60))
LOADER = [(LOGITS[start : start + 16], LABELS[start : start + 16]) for start in range(0, 60, 16)]
MEASURES = ["auroc", "fpr95tpr", "aupr_in", "aupr_out"]


def _max_softmax(logits: Any) -> Any:
    return -torch.softmax(logits, dim=1).max(dim=1).values


def run(text: str, **names: Any) -> list[Any]:
    """Run a loop, and return what it prints."""
    printed: list[Any] = []
    exec(text, {**names, "print": printed.append})
    return printed


def test_openood() -> None:
    """`BasePostprocessor.inference(net, loader)`, at commit 3c35632, gives predictions, confidences and labels."""

    def inference(net: Any, loader: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        logits, labels = (torch.cat([*part]) for part in zip(*loader))
        confidence, predicted = torch.softmax(logits, dim=1).max(dim=1)
        return predicted.numpy(), confidence.numpy(), labels.numpy()

    known = LABELS >= 0
    loaders = {"id_loader": [(LOGITS[known], LABELS[known])], "ood_loader": [(LOGITS[~known], LABELS[~known])]}
    printed = run(OPENOOD, net=None, postprocessor=SimpleNamespace(inference=inference), **loaders)
    scores = -torch.softmax(LOGITS, dim=1).max(dim=1).values
    wanted = om.OODBench(metrics=MEASURES).compute(predictions=scores, references=LABELS < 0)
    assert printed == [wanted]


def test_pytorch_ood() -> None:
    """With its detector and its own metric, which has the same AUROC and FPR95TPR."""
    theirs: Any = None
    detector: Any = _max_softmax
    if find_spec("pytorch_ood"):
        detector = import_module("pytorch_ood.detector").MaxSoftmax(torch.nn.Identity())
        theirs = import_module("pytorch_ood.metrics").OODMetrics()
        for x, y in LOADER:
            theirs.update(detector(x), y)
    (results,) = run(PYTORCH_OOD, detector=detector, loader=LOADER)
    scores = torch.cat([detector(x) for x, _ in LOADER])
    assert results == om.OODBench(metrics=MEASURES).compute(predictions=scores, references=LABELS < 0)
    if theirs is not None:
        found = theirs.compute()
        assert (found["AUROC"], found["FPR95TPR"]) == pytest.approx((results["auroc"], results["fpr95tpr"]), rel=1e-12)


def test_anomalib(monkeypatch: pytest.MonkeyPatch) -> None:
    """`Engine.test` updates the metrics of the model's Evaluator with each batch, and logs them by name at the end."""
    pytest.importorskip("torchmetrics")
    if not find_spec("anomalib"):
        from tests.integrations.test_anomalib import _Metric

        metrics: Any = ModuleType("anomalib.metrics")
        metrics.AnomalibMetric, metrics.Evaluator = _Metric, SimpleNamespace
        monkeypatch.setitem(sys.modules, "anomalib", ModuleType("anomalib"))
        monkeypatch.setitem(sys.modules, "anomalib.metrics", metrics)
        monkeypatch.delitem(sys.modules, "openworld_metrics.integrations.anomalib", raising=False)
    logged: dict[str, float] = {}

    class Engine:
        def test(self, model: Any, datamodule: Any) -> None:
            for batch in datamodule:
                for metric in model.evaluator.test_metrics:
                    metric.update(batch)
            logged.update({metric.name: float(metric.compute()) for metric in model.evaluator.test_metrics})

    run(ANOMALIB, Padim=SimpleNamespace, Engine=Engine, post_processor=None, datamodule=batches())
    wanted = expected(batches())
    assert logged == {key: wanted[key] for key in KEYS}


def test_torchmetrics() -> None:
    pytest.importorskip("torchmetrics")
    loader = [(x.amax(dim=1), (y < 0).int()) for x, y in LOADER]
    (results,) = run(TORCHMETRICS, loader=loader)
    columns = {"predictions": LOGITS.amax(dim=1), "references": (LABELS < 0).int()}
    assert {key: float(value) for key, value in results.items()} == om.OODBench(metrics=MEASURES[:2]).compute(**columns)


def test_a_loop_has_five_lines() -> None:
    for text in (OPENOOD, PYTORCH_OOD, ANOMALIB, TORCHMETRICS):
        assert len(text.splitlines()) <= 6
