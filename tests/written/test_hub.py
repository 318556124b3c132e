"""Metadata of model cards and .eval_results, read back by huggingface_hub's own classes; nothing is sent."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from openworld_metrics.loading import metric_class
from openworld_metrics.written.hub import to_eval_results, to_model_index
from openworld_metrics.written.results import flat
from tests import cases

hub = pytest.importorskip("huggingface_hub")
RESULTS = {"auroc": 0.75, "threshold": -math.inf, "total": 4, "curve": [0.1], "near": {"cifar100": {"auroc": 0.5}}}
PLACE = dict(model="resnet", dataset="me/ood", dataset_name="OOD", config="v1", split="test", revision="5503434")
SOURCE = dict(source_url="https://example.org/runs", source_name="runs")


def read_back(metadata: dict[str, Any]) -> list[Any]:
    """The EvalResults of metadata after they were a card's YAML; the same metadata come of them."""
    card = hub.ModelCard(f"---\n{hub.ModelCardData(**metadata)}\n---\n")
    name, read = hub.repocard_data.model_index_to_eval_results(metadata["model-index"])
    assert card.data.eval_results is None or card.data.eval_results == read
    assert hub.repocard_data.eval_results_to_model_index(name, read) == metadata["model-index"]
    written = hub.ModelCardData(model_name=name, eval_results=read, language="en")
    again = hub.ModelCard(f"---\n{written.to_yaml()}\n---\n")
    assert again.data.eval_results == read
    assert again.data.model_name == name == PLACE["model"]
    again.data.to_dict()
    return list(read)


@pytest.mark.parametrize("source", [{}, SOURCE], ids=["no source", "source"])
def test_the_card(source: dict[str, str]) -> None:
    read = read_back(to_model_index(RESULTS, **PLACE, **source, options={"tpr": 0.9}))
    values = {result.metric_name: result.metric_value for result in read}
    assert values == {"auroc": 0.75, "threshold": "-Infinity", "total": 4, "near/cifar100/auroc": 0.5}
    assert [result.metric_type for result in read] == ["auroc", "threshold", "total", "auroc"]
    for result in read:
        assert (result.task_type, result.dataset_type, result.dataset_name) == ("image-classification", "me/ood", "OOD")
        assert (result.dataset_config, result.dataset_split, result.dataset_revision) == ("v1", "test", "5503434")
        assert (result.source_url, result.source_name) == (source.get("source_url"), source.get("source_name"))
        assert result.metric_args == {"tpr": 0.9}


@pytest.mark.parametrize("name", cases.METRICS)
def test_every_metric(name: str) -> None:
    columns, options = cases.draw(name, 0)
    results = metric_class(name)(**options).compute(**columns)
    values = {x.metric_name: x.metric_value for x in read_back(to_model_index(results, model="resnet", dataset="d"))}
    words = {math.inf: "Infinity", -math.inf: "-Infinity"}
    assert values == {key: words.get(value, value) for key, value in flat(results).items()}


def test_a_card_that_is_there(tmp_path: Any) -> None:
    """As `metadata_update` does: the metadata are merged into a card, which validates them."""
    card = hub.ModelCard("---\nlicense: apache-2.0\nlibrary_name: timm\n---\n# A model\n")
    for key, value in hub.ModelCardData(**to_model_index(RESULTS, **PLACE)).to_dict().items():
        card.data[key] = value
    card.save(tmp_path / "README.md")
    loaded = hub.ModelCard.load(tmp_path / "README.md")
    assert loaded.data.license == "apache-2.0"
    assert [x.metric_value for x in loaded.data.eval_results] == [0.75, "-Infinity", 4, 0.5]
    assert loaded.text.strip() == "# A model"


@pytest.mark.skipif(not hasattr(hub, "EvalResultEntry"), reason="huggingface_hub knows no .eval_results")
def test_eval_results() -> None:
    every = dict(revision="5503434", date="2026-11-22", notes="logits of one run", **SOURCE)
    every |= dict(source_user="me", source_org="us")
    tasks = {"default": "auroc", "near": "near/cifar100/auroc"}
    for options in ({}, every):
        content = to_eval_results(RESULTS, dataset="me/ood", tasks=tasks, **options)
        entries = hub.parse_eval_result_entries(content)
        assert hub.eval_result_entries_to_yaml(entries) == content
        assert [(x.dataset_id, x.task_id, x.value) for x in entries] == [
            ("me/ood", "default", 0.75),
            ("me/ood", "near", 0.5),
        ]
    assert (entries[0].dataset_revision, entries[0].date) == ("5503434", "2026-11-22")
    assert (entries[0].source_user, entries[0].source_org) == ("me", "us")
    assert "&" not in yaml.safe_dump(content)  # an anchor, which not every reader of YAML takes


NEEDED: dict[Callable[..., Any], dict[str, Any]] = {
    to_model_index: {"model": "m"},
    to_eval_results: {"tasks": {"a": "auroc"}},
}
ERRORS: list[tuple[Callable[..., Any], dict[str, Any], str]] = [
    (to_model_index, dict(results={"curve": [1.0]}), "results: expected numbers by name, got none"),
    (to_model_index, dict(results={"auroc": math.nan}), "results: expected numbers, got NaN for auroc"),
    (to_model_index, dict(source_name="x"), "source_url: expected one beside source_name, got None"),
    (to_eval_results, dict(tasks={"a": "fpr"}), "tasks: expected for each a name of auroc, got fpr"),
    (to_eval_results, dict(tasks={}), "got no task"),
    (to_eval_results, dict(source_user="x"), "source_url: expected one beside source_user, got None"),
    (to_eval_results, dict(source_org="x"), "source_url: expected one beside source_org, got None"),
]


@pytest.mark.parametrize(("function", "wrong", "message"), ERRORS, ids=[message for _, _, message in ERRORS])
def test_errors(function: Callable[..., Any], wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        function(**{"results": {"auroc": 0.5}, "dataset": "d", **NEEDED[function], **wrong})
