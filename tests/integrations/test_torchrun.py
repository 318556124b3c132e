"""torch.distributed and accelerate with two processes under torchrun (gloo)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import cases

torch = pytest.importorskip("torch")
pytest.importorskip("accelerate")
Load = Callable[..., Any]


@pytest.fixture(scope="module")
def ranks(root: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Results of both processes of tests/integrations/ranks.py."""
    folder = tmp_path_factory.mktemp("ranks")
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    done = subprocess.run(
        [*torchrun, "-m", "tests.integrations.ranks", str(folder)],
        cwd=root,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(2)]


def test_gathered_states_equal_one_process(ranks: list[dict[str, Any]], load: Load) -> None:
    expected = {}
    for name in cases.METRICS:
        columns, options = cases.draw(name, 6)
        expected[name] = load(name).compute(**columns, **options)
    assert [rank["gather"] for rank in ranks] == [expected, expected]


def test_accelerate_gathers_for_metrics(ranks: list[dict[str, Any]], load: Load) -> None:
    torch.manual_seed(0)
    features, labels = torch.randn(21, 5), torch.randint(-1, 3, (21,))
    with torch.no_grad():
        logits = torch.nn.Linear(5, 3)(features)
    expected = load("openauc").compute(predictions=logits, references=labels, open_scores=-logits.max(dim=1).values)
    assert [rank["accelerate"] for rank in ranks] == [expected, expected]
