"""The loops of docs/coming-from.md, with the libraries where they are installed, else with the shape of their calls."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import openworld_metrics as om
from tests.docs.blocks import FENCE, PAGES
from tests.integrations import HAS_ANOMALIB
from tests.integrations.test_anomalib import KEYS, batches, expected

torch = pytest.importorskip("torch")
_PART = re.search(
    r"## In their evaluation loops\n(.*?)\n## ", PAGES["docs/coming-from.md"].read_text("utf-8"), re.DOTALL
)
OPENOOD, PYTORCH_OOD, ANOMALIB, TORCHMETRICS = (text for _, text in FENCE.findall(_PART[1] if _PART else ""))
RNG = np.random.default_rng(0)
LOGITS, LABELS = torch.from_numpy(RNG.normal(size=(60, 4))), torch.from_numpy(RNG.integers(-1, 4, 60))
LOADER = [(LOGITS[start : start + 16], LABELS[start : start + 16]) for start in range(0, 60, 16)]
NO_ARGUMENTS: Mapping[str, Any] = MappingProxyType({})
MEASURES = ["auroc", "fpr95tpr", "aupr_in", "aupr_out"]


def _max_softmax(logits: Any) -> Any:
    return -torch.softmax(logits, dim=1).max(dim=1).values


def run(text: str, **names: Any) -> list[Any]:
    """Run a loop, and return what it prints."""
    printed: list[Any] = []
    exec(text, {**names, "print": printed.append})
    return printed


def test_openood(monkeypatch: pytest.MonkeyPatch) -> None:
    """`BasePostprocessor.inference(net, loader)`, at commit 3c35632, gives predictions, confidences and labels.

    With OpenOOD, its `compute_all_metrics` has the same numbers.
    """

    def inference(net: Any, loader: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        logits, labels = (torch.cat([*part]) for part in zip(*loader))
        confidence, predicted = torch.softmax(logits, dim=1).max(dim=1)
        return predicted.numpy(), confidence.numpy(), labels.numpy()

    known = LABELS >= 0
    parts: dict[str, Any] = {
        "id_loader": [(LOGITS[known], LABELS[known])],
        "ood_loader": [(LOGITS[~known], LABELS[~known])],
    }
    postprocessor: Any = SimpleNamespace(inference=inference)
    if find_spec("openood"):
        monkeypatch.setattr(torch.Tensor, "cuda", lambda tensor: tensor)
        postprocessor = import_module("openood.postprocessors").BasePostprocessor(None)
        parts = {
            name: [{"data": x, "label": y} for x, y in zip(logits.split(16), labels.split(16))]
            for name, [(logits, labels)] in parts.items()
        }
    (results,) = run(OPENOOD, net=torch.nn.Identity(), postprocessor=postprocessor, **parts)
    scores = -torch.softmax(LOGITS, dim=1).max(dim=1).values
    assert results == om.OODBench(metrics=MEASURES).compute(predictions=scores, references=LABELS < 0)
    if find_spec("openood"):
        measured = import_module("openood.evaluators.metrics").compute_all_metrics(
            -scores.numpy(), LABELS.clamp(min=-1).numpy(), LOGITS.argmax(dim=1).numpy()
        )
        assert measured[:2] == pytest.approx([results["fpr95tpr"], results["auroc"]], rel=1e-12)


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


def _tested_by_anomalib(folder: Path) -> Mapping[str, float]:
    """The results of the loop by anomalib's Engine, of a model whose batches have their maps already."""
    engine: Any = import_module("anomalib.engine").Engine
    base: Any = import_module("anomalib.models.components.base").AnomalibModule
    data: Any = import_module("lightning").LightningDataModule
    one_class, batch_of = import_module("anomalib").LearningType.ONE_CLASS, import_module("anomalib.data").ImageBatch

    class Model(base):
        learning_type, trainer_arguments = one_class, NO_ARGUMENTS

        def test_step(self, batch: Any, *_: Any) -> Any:
            return batch

        def configure_optimizers(self) -> None: ...

    class Data(data):
        name, category = "maps", ""

        def test_dataloader(self) -> Any:
            images = torch.zeros(4, 3, 6, 7)
            parts = [batch_of(image=images, **vars(each)) for each in batches()]
            return torch.utils.data.DataLoader(parts, batch_size=None)

    model = partial(Model, pre_processor=False, visualizer=False)
    trainer = engine(logger=False, default_root_dir=folder, accelerator="cpu", enable_progress_bar=False)
    run(ANOMALIB.replace("Engine()", "engine"), Padim=model, engine=trainer, post_processor=False, datamodule=Data())
    return {key: float(value) for key, value in trainer.trainer.callback_metrics.items()}


@pytest.mark.filterwarnings("ignore")  # of anomalib's models
def test_anomalib(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`Engine.test` updates the metrics of the model's Evaluator with each batch, and logs them by name at the end."""
    pytest.importorskip("torchmetrics")
    wanted = expected(batches())
    if HAS_ANOMALIB and find_spec("lightning"):
        assert _tested_by_anomalib(tmp_path) == {key: wanted[key] for key in KEYS}
        return
    if not HAS_ANOMALIB:
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
