"""Evaluators with tiny models of random weights, which give the metrics full rows of scores."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import datasets
import numpy as np
import pytest
from PIL import Image

from openworld_metrics.integrations.evaluators import evaluator
from openworld_metrics.scores import score_function

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

CLASSES = 4
Load = Callable[..., Any]


@pytest.fixture(scope="module")
def vit() -> dict[str, Any]:
    torch.manual_seed(0)
    config = transformers.ViTConfig(
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        image_size=8,
        patch_size=4,
        num_labels=CLASSES,
        initializer_range=1.0,
    )
    processor = transformers.ViTImageProcessorPil(size={"height": 8, "width": 8})
    return {
        "model_or_pipeline": transformers.ViTForImageClassification(config).eval(),
        "feature_extractor": processor,
    }


@pytest.fixture(scope="module")
def images() -> datasets.Dataset:
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (24, 8, 8, 3), dtype=np.uint8)
    labels = rng.integers(-1, CLASSES, 24).tolist()
    return datasets.Dataset.from_dict({"image": [Image.fromarray(x) for x in pixels], "label": labels})


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    torch.manual_seed(0)
    words = [*"abcdefgh", "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = tmp_path_factory.mktemp("bert") / "vocab.txt"
    vocabulary.write_text("\n".join(words))
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        num_labels=CLASSES,
        initializer_range=1.0,
    )
    return {
        "model_or_pipeline": transformers.BertForSequenceClassification(config).eval(),
        "tokenizer": transformers.BertTokenizer(str(vocabulary), model_max_length=16),
    }


@pytest.fixture(scope="module")
def texts() -> datasets.Dataset:
    rng = np.random.default_rng(1)
    return datasets.Dataset.from_dict(
        {
            "text": [" ".join(rng.choice(list("abcdefgh"), 5)) for _ in range(24)],
            "label": rng.integers(-1, CLASSES, 24).tolist(),
        }
    )


def columns_of(rows: np.ndarray) -> dict[str, Any]:
    return {"predictions": rows, "open_scores": 1 - rows.max(axis=1)}


def image_scores(vit: dict[str, Any], images: datasets.Dataset) -> np.ndarray:
    pixels = vit["feature_extractor"](images["image"][:], return_tensors="pt")
    with torch.no_grad():
        return vit["model_or_pipeline"](**pixels).logits.softmax(-1).numpy()


def test_images(vit: dict[str, Any], images: datasets.Dataset, load: Load) -> None:
    rows = image_scores(vit, images)
    for metric in (load("openauc"), load("macro_open_f"), load("accuracyk", k_list=(1, 2), ignore_unknown=True)):
        results = evaluator("image-classification").compute(**vit, data=images, metric=metric)
        expected = metric.compute(references=images["label"], **columns_of(rows))
        assert {key: results[key] for key in expected} == pytest.approx(expected)
        assert results["total_time_in_seconds"] > 0


def test_texts(bert: dict[str, Any], texts: datasets.Dataset, load: Load) -> None:
    tokens = bert["tokenizer"](texts["text"][:], return_tensors="pt", padding=True)
    with torch.no_grad():
        rows = bert["model_or_pipeline"](**tokens).logits.softmax(-1).numpy()
    results = evaluator("text-classification").compute(**bert, data=texts, metric=load("openauc"))
    expected = load("openauc").compute(references=texts["label"], **columns_of(rows))
    assert {key: results[key] for key in expected} == pytest.approx(expected)


def test_a_pipeline_and_a_label_mapping(vit: dict[str, Any], images: datasets.Dataset, load: Load) -> None:
    pipe = transformers.pipeline(
        "image-classification", model=vit["model_or_pipeline"], image_processor=vit["feature_extractor"]
    )
    reverse = {f"LABEL_{i}": CLASSES - 1 - i for i in range(CLASSES)}
    metric = load("autkc", k_list=2, ignore_unknown=True)
    results = evaluator("image-classification").compute(pipe, images, metric=metric, label_mapping=reverse)
    rows = image_scores(vit, images)[:, ::-1]
    assert results["autkc@2"] == metric.compute(predictions=rows, references=images["label"])["autkc@2"]
    with pytest.raises(ValueError, match="expected labels for the class ids 0 to C − 1"):
        evaluator("image-classification").compute(pipe, images, metric=metric, label_mapping={"LABEL_0": 7})


@pytest.mark.parametrize("scores", [None, "energy"])
def test_a_score_for_ood_bench(scores: str | None, vit: dict[str, Any], images: datasets.Dataset, load: Load) -> None:
    outliers = images.map(lambda sample: {"label": int(sample["label"] < 1)})
    found = evaluator("image-classification", scores=scores).compute(**vit, data=outliers, metric=load("ood_bench"))
    pixels = vit["feature_extractor"](images["image"][:], return_tensors="pt")
    with torch.no_grad():
        logits = vit["model_or_pipeline"](**pixels).logits.numpy().astype(np.float64)
    column = 1 - image_scores(vit, images).max(axis=1) if scores is None else score_function(scores)(logits)
    expected = load("ood_bench").compute(predictions=column, references=outliers["label"])
    assert {key: found[key] for key in expected} == expected
    assert expected["auroc"] != 0.5  # which negated scores have, too


def test_bootstrap(vit: dict[str, Any], images: datasets.Dataset, load: Load) -> None:
    metric = load("accuracyk", k_list=2, ignore_unknown=True)
    results = evaluator("image-classification").compute(
        **vit, data=images, metric=metric, strategy="bootstrap", n_resamples=20, random_state=0
    )
    point = metric.compute(predictions=image_scores(vit, images), references=images["label"])["accuracy@2"]
    interval = results["accuracy@2"]
    low, high = interval["confidence_interval"]
    assert interval["score"] == point
    assert 0 <= low < point < high <= 1
    assert interval["standard_error"] > 0
    assert json.loads(json.dumps(interval))["score"] == point
    results = evaluator("image-classification").compute(
        **vit, data=images, metric=load("macro_open_f", t_list=[0.1, 0.2]), strategy="bootstrap", n_resamples=20
    )
    assert len(results["macro_open_f_curve"]["score"]) == 2
    assert len(results["macro_open_f"]["confidence_interval"]) == 2


@pytest.mark.parametrize("score", ["msp", "energy"])
def test_scores_by_name(score: str, vit: dict[str, Any], images: datasets.Dataset, load: Load) -> None:
    probabilities = evaluator("image-classification").compute(data=images, metric=load("openauc"), **vit)
    results = evaluator("image-classification", scores=score).compute(data=images, metric=load("openauc"), **vit)
    logits = vit["model_or_pipeline"](**vit["feature_extractor"](images["image"][:], return_tensors="pt")).logits
    expected = load("openauc").compute(
        predictions=logits, references=images["label"], open_scores=score_function(score)(logits)
    )
    assert {key: results[key] for key in expected} == expected
    assert (results["openauc"] == probabilities["openauc"]) == (score == "msp")


def test_scores_that_are_none() -> None:
    with pytest.raises(ValueError, match=r"scores: expected one of msp, .* got 'odin'"):
        evaluator("image-classification", scores="odin")
    with pytest.raises(ValueError, match="expected one of image-classification, text-classification, got 'summ"):
        evaluator("summarization")
