"""Convert results for Hugging Face's Hub: the model-index of a model's card, and `.eval_results/*.yaml`.

Both are plain dicts and lists for YAML, to be written by huggingface_hub or another tool:

    from huggingface_hub import metadata_update
    metadata_update("me/model", to_model_index(results, model="model", dataset="cifar10"))

This module does not need huggingface_hub, and sends nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from .results import WORDS, flat


def to_model_index(
    results: Mapping[str, Any],
    *,
    model: str,
    dataset: str,
    dataset_name: str | None = None,
    config: str | None = None,
    split: str | None = None,
    revision: str | None = None,
    task: str = "image-classification",
    options: Mapping[str, Any] | None = None,
    source_url: str | None = None,
    source_name: str | None = None,
) -> dict[str, Any]:
    """The metadata of a model's card with these results, as in huggingface_hub's `EvalResult`.

    Parameters: results of a metric, of several by name, or of an evaluation, with scalars by the names of `flat`;
    model, the name of the model; dataset, its id on the Hub; dataset_name, its displayed name, by default the id; its
    config, split and revision; task, the Hub's id of the task; options of the metric, which become `args` of each
    number; source_url and source_name, the source of the results.

    Returns {"model-index": […]}; each metric's `type` is the last part of the flat name, and its `name` the full name,
    so that `near/cifar100/auroc` is an auroc. Infinite thresholds are "Infinity" or "-Infinity".
    Raises ValueError if there is no number, for NaN, and for a source_name without source_url.
    Source: model-index in hub-docs' modelcard.md.

    >>> index = to_model_index({"auroc": 0.75}, model="resnet", dataset="cifar10", split="test")["model-index"]
    >>> index[0]["results"][0]["metrics"]
    [{'type': 'auroc', 'value': 0.75, 'name': 'auroc'}]
    """
    place = {"name": dataset_name or dataset, "type": dataset, "config": config, "split": split, "revision": revision}
    args = {"args": dict(options)} if options else {}
    metrics = [
        {"type": name.rpartition("/")[2], "value": value, "name": name, **args}
        for name, value in _numbers(results).items()
    ]
    result = {"task": {"type": task}, "dataset": _without_none(place), "metrics": metrics}
    return {"model-index": [{"name": model, "results": [result | _source(url=source_url, name=source_name)]}]}


def to_eval_results(
    results: Mapping[str, Any],
    *,
    dataset: str,
    tasks: Mapping[str, str],
    revision: str | None = None,
    date: str | None = None,
    source_url: str | None = None,
    source_name: str | None = None,
    source_user: str | None = None,
    source_org: str | None = None,
    notes: str | None = None,
) -> list[dict[str, Any]]:
    """The content of a file `.eval_results/*.yaml` of a model's repository, which feeds a benchmark's leaderboard.

    Parameters: results as of `to_model_index`; dataset, the id of a benchmark on the Hub; tasks, from the ids of tasks
    in its eval.yaml to the flat names of their numbers; revision of the dataset; date, in ISO 8601; source_url, the
    source of the result, source_name, the text of that link, and source_user or source_org, who is credited; notes on
    how the evaluation was done, to which the signature of saved results is added. Two variants of one evaluation, with
    different notes, are two files.

    Returns a list of {"dataset": {"id", "task_id", "revision"}, "value", "date", "source", "notes"}, without entries
    that are None. Raises ValueError for names that results do not have, for NaN, for no task, for another date, and for
    a source without its url.
    Source: docs/hub/eval-results.md of hub-docs, and huggingface_hub's EvalResultEntry.

    >>> to_eval_results({"auroc": 0.75}, dataset="me/ood", tasks={"near": "auroc"})
    [{'dataset': {'id': 'me/ood', 'task_id': 'near'}, 'value': 0.75}]
    """
    numbers = _numbers(results)
    if date is not None:
        _check_date(date)
    missing = [name for name in tasks.values() if name not in numbers]
    if missing or not tasks:
        known = ", ".join(numbers)
        raise ValueError(f"tasks: expected for each a name of {known}, got {missing[0] if missing else 'no task'}")
    source = {"url": source_url, "name": source_name, "user": source_user, "org": source_org}
    notes = "; ".join(filter(None, [notes, results.get("signature")])) or None
    return [
        {
            "dataset": _without_none({"id": dataset, "task_id": task, "revision": revision}),
            "value": numbers[name],
            **_without_none({"date": date}),
            **_source(**source),  # a new dict each time, since YAML would write a reference to a shared one
            **_without_none({"notes": notes}),
        }
        for task, name in tasks.items()
    ]


def _check_date(date: str) -> None:
    try:
        datetime.fromisoformat(date[:-1] if date.endswith("Z") else date)  # which Python 3.10 does not take
    except ValueError:
        raise ValueError(f"date: expected one in ISO 8601, such as '2026-11-28', got {date!r}") from None


def _numbers(results: Mapping[str, Any]) -> dict[str, Any]:
    numbers = flat(results)
    if not numbers:
        raise ValueError("results: expected numbers by name, got none")
    nan = [name for name, value in numbers.items() if math.isnan(value)]
    if nan:
        raise ValueError(f"results: expected numbers, got NaN for {nan[0]}")
    return {name: WORDS.get(value, value) for name, value in numbers.items()}


def _source(**parts: str | None) -> dict[str, Any]:
    source = _without_none(parts)
    if source and "url" not in source:
        raise ValueError(f"source_url: expected one beside source_{next(iter(source))}, got None")
    return {"source": source} if source else {}


def _without_none(parts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parts.items() if value is not None}
