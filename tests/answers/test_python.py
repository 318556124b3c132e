"""The Python of an answer, run in a folder that holds nothing but the files, gives its numbers and its verdict."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from openworld_metrics import METRICS, read
from openworld_metrics.answers.answer import Answer
from openworld_metrics.answers.answers import answers_of
from openworld_metrics.answers.python import Source, python_call
from openworld_metrics.answers.subject import subject_of
from openworld_metrics.loading import script


def run(code: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(code, "call.py", "exec"), names)
    return names


def assert_reproduced(answer: Answer) -> None:
    """All digits of the results and, of several models, of the differences from the best."""
    names = run(answer.call)
    results = names["results"] if len(answer.models) > 1 else {answer.model: names["results"]}
    assert results == answer.results
    if answer.differences:
        assert names["best"] == answer.best
        for rival, table in names["differences"].items():
            rows = [row for row in answer.differences if (row.first, row.second) == (answer.best, rival)]
            assert [row.key for row in rows] == table["key"]
            for name in ("difference", "low", "high", "p_value"):
                assert [getattr(row, name) for row in rows] == table[name]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", METRICS)
def test_the_example(name: str) -> None:
    example, folder = subject_of(name).example, script(name).parent / "examples"
    for file in example.files:
        shutil.copy(folder / file, file)
    options = {**example.options, "n_resamples": 20}
    answers = answers_of(name, read(name, *example.files), options, intervals=True, source=Source(example.files))
    answer = next(iter(answers.values()))
    assert "metrics/" not in answer.call
    assert len({one.call for one in answers.values()}) == 1
    assert_reproduced(answer)


def test_models_with_choices(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    label = np.arange(60) % 2
    table = pd.DataFrame({"a": rng.normal(label), "b'\"": rng.normal(2 * label), "y": np.where(label, "ood", "id")})
    table["set"] = np.where(label, np.where(np.arange(60) % 3, "svhn", "places"), "known")
    table.to_csv("scores.csv", index=False)
    choices = {"columns": {"predictions": ["-a", "b'\""], "references": ["y"], "groups": ["set"]}, "leave_out": True}
    reading = read("ood_bench", "scores.csv", **choices)
    options: Mapping[str, Any] = {"metrics": ("auroc", "tpr5fpr"), "n_resamples": 50, "random_state": 3}
    answer = answers_of("ood_bench", reading, options, intervals=True, source=Source(["scores.csv"], choices))["a"]
    assert_reproduced(answer)
    assert answer.best == "b'\""
    assert "−" not in answer.call


def test_a_call_without_differences_or_files() -> None:
    assert python_call("autkc", Source([["a.npy", "b.npy"]]), False, {"k_list": [1]}) == (
        "from openworld_metrics import load, read\n\n"
        'reading = read("autkc", ["a.npy", "b.npy"])\n'
        'results = load("autkc", k_list=[1]).compute(**reading.columns)\n'
    )
    for several, columns in ((False, "columns"), (True, "models")):
        code = python_call("autkc", None, several, {"k_list": [*range(1, 40)], "x": float("inf")})
        assert f"\n{columns} = ...  # your columns by name" in code
        assert "compare" not in code
        compile(code, "", "exec")
