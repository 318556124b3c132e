"""torch.distributed, accelerate and torchmetrics with two processes under torchrun (gloo)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import openworld_metrics as om
from openworld_metrics.loading import metric_class
from openworld_metrics.written.results import flat
from tests import cases

torch = pytest.importorskip("torch")
pytest.importorskip("accelerate")
pytest.importorskip("torchmetrics")


def test_two_processes_equal_one(root: Path, tmp_path: Path, load: Callable[..., Any]) -> None:
    from tests.integrations.test_torchmetrics import COLUMNS, of_collection, part

    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    done = subprocess.run(
        [*torchrun, "-m", "tests.integrations.ranks", str(tmp_path)],
        cwd=root,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    first, second = (json.loads((tmp_path / f"{rank}.json").read_text()) for rank in range(2))
    for rank, results in enumerate((first, second)):
        assert results.pop("of_this_process") == flat(om.OpenAUC().compute(**part(10 * rank, 10 * rank + 10)))
    assert first == second
    for name in om.METRICS:
        columns, options = cases.draw(name, 6)
        assert first["of_every_metric"][name] == flat(metric_class(name)().compute(**columns, **options))
    assert first["of_a_collection"] == {**of_collection(COLUMNS), "val/mse": 0.0}
    assert "unknown" in first["after_an_error"].pop("error")
    assert first["after_an_error"] == flat(om.OpenAUC().compute(**COLUMNS))

    torch.manual_seed(0)
    features, labels = torch.randn(21, 5), torch.randint(-1, 3, (21,))
    with torch.no_grad():
        logits = torch.nn.Linear(5, 3)(features)
    expected = load("openauc").compute(predictions=logits, references=labels, open_scores=-logits.max(dim=1).values)
    assert first["accelerate"] == expected
