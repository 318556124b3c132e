"""transformers.Trainer with a tiny ResNet of random weights: metrics in both modes, best checkpoint, resume, saving."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import evaluate
import numpy as np
import pytest

from openworld_metrics.integrations.combining import combine

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("accelerate")

CLASSES = 3
Load = Callable[..., Any]
# Trainer and torch warn of their own affairs
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")


def samples(n: int, lowest: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(n)
    pixels = torch.from_numpy(rng.normal(size=(n, 3, 8, 8)).astype(np.float32))
    return [{"pixel_values": x, "labels": int(y)} for x, y in zip(pixels, rng.integers(lowest, CLASSES, n))]


TRAIN = samples(16, 0)
EVAL = samples(22, -1)  # −1 is unknown; it has no loss


# not a ViT: transformers 5.23 renames its weights in checkpoints, and load_best_model_at_end restores a part of them
class Model(transformers.ResNetForImageClassification):  # type: ignore[name-defined]
    """Leaves unknown samples out of the loss."""

    def forward(self, pixel_values: Any, labels: Any = None) -> Any:
        output = super().forward(pixel_values)
        if labels is not None:
            output.loss = torch.nn.functional.cross_entropy(output.logits.float(), labels, ignore_index=-1)
        return output


def model(dtype: Any = None) -> Any:
    torch.manual_seed(0)
    sizes = dict(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic")
    return Model(transformers.ResNetConfig(**sizes, num_labels=CLASSES)).to(dtype)


def arguments(folder: Path, **changed: Any) -> Any:
    return transformers.TrainingArguments(
        output_dir=str(folder),
        per_device_train_batch_size=8,
        per_device_eval_batch_size=8,
        use_cpu=True,
        report_to=[],
        disable_tqdm=True,
        label_names=["labels"],
        **changed,
    )


def open_scores(logits: Any) -> Any:
    """1 − the highest softmax probability, in float32 or float64."""
    if isinstance(logits, np.ndarray):
        e = np.exp(logits - logits.max(axis=1, keepdims=True))
        return 1 - (e / e.sum(axis=1, keepdims=True)).max(axis=1)
    return 1 - logits.float().softmax(dim=1).max(dim=1).values


def metrics(load: Load) -> Any:
    topk = load("accuracyk", k_list=(1, 2), ignore_unknown=True)
    return combine([load("openauc"), load("macro_open_f", t_list=(0.5, 0.6)), topk])


def by_batches(load: Load) -> Callable[..., dict[str, Any]]:
    """compute_metrics for batch_eval_metrics=True."""
    metric = metrics(load)
    seen = []

    def compute_metrics(prediction: Any, compute_result: bool) -> dict[str, Any]:
        logits, labels = prediction.predictions, prediction.label_ids
        seen.append((type(logits), logits.dtype))
        metric.add_batch(predictions=logits, references=labels, open_scores=open_scores(logits))
        return metric.compute() if compute_result else {}

    compute_metrics.seen = seen  # type: ignore[attr-defined]
    return compute_metrics


def at_once(load: Load) -> Callable[..., dict[str, Any]]:
    """compute_metrics for the default mode."""
    metric = metrics(load)

    def compute_metrics(prediction: Any) -> dict[str, Any]:
        logits, labels = prediction.predictions, prediction.label_ids
        assert type(logits) is np.ndarray
        return metric.compute(predictions=logits, references=labels, open_scores=open_scores(logits))

    return compute_metrics


def expected(load: Load, network: Any) -> dict[str, Any]:
    pixels = torch.stack([sample["pixel_values"] for sample in EVAL]).to(network.dtype)
    with torch.no_grad():
        logits = torch.cat([network(part).logits for part in pixels.split(8)])
    labels = [sample["labels"] for sample in EVAL]
    return metrics(load).compute(predictions=logits, references=labels, open_scores=open_scores(logits))


def test_default_mode(load: Load, tmp_path: Path) -> None:
    trainer = transformers.Trainer(model(), arguments(tmp_path), eval_dataset=EVAL, compute_metrics=at_once(load))
    results = trainer.evaluate()
    own = {f"eval_{name}": value for name, value in expected(load, trainer.model.eval()).items()}
    assert {name: results[name] for name in own} == own
    saved = evaluate.save(tmp_path / "saved", **results)
    assert json.loads(saved.read_text(), parse_constant=pytest.fail)["eval_openauc"] == own["eval_openauc"]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_batch_mode(dtype: str, load: Load, tmp_path: Path) -> None:
    given = by_batches(load)
    network = model(getattr(torch, dtype))
    options = arguments(tmp_path, batch_eval_metrics=True)
    cast = [{**sample, "pixel_values": sample["pixel_values"].to(network.dtype)} for sample in EVAL]
    trainer = transformers.Trainer(network, options, eval_dataset=cast, compute_metrics=given)
    for _ in range(2):
        results = trainer.evaluate()
        own = {f"eval_{name}": value for name, value in expected(load, network.eval()).items()}
        assert {name: results[name] for name in own} == own
    assert set(given.seen) == {(torch.Tensor, network.dtype)}  # type: ignore[attr-defined]


def test_the_best_checkpoint_by_our_metric_and_resuming(load: Load, tmp_path: Path) -> None:
    options = dict(
        eval_strategy="epoch",
        save_strategy="epoch",
        metric_for_best_model="openauc",
        greater_is_better=True,
        load_best_model_at_end=True,
        learning_rate=0.01,
    )

    def trainer(epochs: int) -> Any:
        return transformers.Trainer(
            model(),
            arguments(tmp_path, num_train_epochs=epochs, **options),
            train_dataset=TRAIN,
            eval_dataset=EVAL,
            compute_metrics=at_once(load),
        )

    first = trainer(2)
    first.train()
    values = [entry["eval_openauc"] for entry in first.state.log_history if "eval_openauc" in entry]
    assert len(values) == 2
    assert first.state.best_metric == max(values)
    assert first.evaluate()["eval_openauc"] == max(values)
    best = Model.from_pretrained(first.state.best_model_checkpoint).state_dict()
    assert {name for name, weight in first.model.state_dict().items() if not weight.equal(best[name])} == set()

    resumed = trainer(3)
    resumed.train(resume_from_checkpoint=True)
    again = [entry["eval_openauc"] for entry in resumed.state.log_history if "eval_openauc" in entry]
    assert again[:2] == values
    assert len(again) == 3
    state = (tmp_path / "checkpoint-6" / "trainer_state.json").read_text()
    assert json.loads(state, parse_constant=pytest.fail)["best_metric"] == max(again)
    curves = [entry["eval_macro_open_f_curve"] for entry in resumed.state.log_history if "eval_openauc" in entry]
    assert all(len(curve) == 2 for curve in curves)
