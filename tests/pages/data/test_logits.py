"""Logits alone: the pages of open-set metrics make scores of them, and compare these."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from openworld_metrics import scores
from openworld_metrics.reading.rows.recognised import with_scores_of_logits
from openworld_metrics.reading.tables.files import Table
from tests.pages.data.test_several import called, runner_of, show
from tests.pages.steps import numbers

Load = Callable[..., Any]
RNG = np.random.default_rng(0)
LABELS = np.repeat([-1, 0, 1, 2], 15)
LOGITS = RNG.normal(size=(60, 3)) + 3 * (LABELS[:, None] == np.arange(3))
KINDS = {"msp": scores.msp, "max logit": scores.max_logit, "energy": scores.energy, "entropy": scores.entropy}


@pytest.mark.parametrize("name", ["openauc", "macro_open_f", "micro_open_f"])
def test_four_scores_of_logits(
    name: str, load: Load, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez(tmp_path / "arrays.npz", logits=LOGITS, labels=LABELS)
    found = show(runner_of(name, root), [["arrays.npz"]])
    expected = {
        f"{kind} of logits": load(name).compute(predictions=LOGITS, references=LABELS, open_scores=score(LOGITS))
        for kind, score in KINDS.items()
    }
    assert numbers(found.json) == expected
    assert called(found.call, root) == expected


def test_logits_of_ood_bench_in_columns(load: Load, root: Path, tmp_path: Path) -> None:
    table = pd.DataFrame(LOGITS, columns=[f"logit_{i}" for i in range(3)])
    table["label"] = (LABELS < 0).astype(int)
    table.to_csv(tmp_path / "logits.csv", index=False)
    found = numbers(show(runner_of("ood_bench", root), [[tmp_path / "logits.csv"]]).json)
    read = pd.read_csv(tmp_path / "logits.csv").to_numpy()[:, :3]
    assert found["energy of logit"] == load("ood_bench").compute(predictions=scores.energy(read), references=LABELS < 0)


def test_probabilities_have_no_energy() -> None:
    p = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)
    data = with_scores_of_logits(Table({"probs": p, "labels": LABELS}))
    assert [*data.arrays] == ["probs", "labels", "msp of probs", "entropy of probs"]
    np.testing.assert_allclose(data.arrays["msp of probs"], 1 - p.max(axis=1), rtol=1e-12)


@pytest.mark.parametrize(
    "arrays",
    [
        {"logits": LOGITS, "labels": LABELS, "score": RNG.random(60)},
        {"a": LOGITS, "b": LOGITS, "labels": LABELS},
        {"logits": np.where(LOGITS > 2, np.nan, LOGITS), "labels": LABELS},
        {"guesses": LOGITS.astype(int), "labels": LABELS},
    ],
    ids=["scores are there", "two matrices", "NaN", "class ids"],
)
def test_where_nothing_is_made(arrays: dict[str, Any]) -> None:
    data = with_scores_of_logits(Table(arrays))
    assert [*data.arrays] == [*arrays]


def test_two_detectors_are_no_logits() -> None:
    arrays = {"s1": RNG.random(60), "s2": RNG.random(60), "labels": LABELS}
    data = with_scores_of_logits(Table(arrays))
    assert [*data.arrays] == [*arrays]
