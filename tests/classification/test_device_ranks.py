"""The kernel that counts ranks on a CUDA device, in Triton's interpreter, which takes tensors of the CPU."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from openworld_metrics.arrays.arrays import MAX_EXACT  # noqa: E402
from openworld_metrics.classification import device_ranks  # noqa: E402
from openworld_metrics.classification.ranks import true_class_ranks  # noqa: E402

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
INTEGERS = [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64]
WIDTHS = [1, 3, 300, 1030]
ROWS = 5


def matrix(dtype: Any, width: int, seed: int) -> Any:
    """Scores with ties, infinite ones and the lowest of their type among them."""
    rng = np.random.default_rng(seed)
    scores = torch.from_numpy(rng.integers(0 if dtype == torch.uint8 else -2, 5, (ROWS, width))).to(dtype)
    lowest, highest = (-torch.inf, torch.inf) if dtype.is_floating_point else limits(dtype)
    scores[torch.from_numpy(rng.random((ROWS, width)) < 0.2)] = lowest
    scores[torch.from_numpy(rng.random((ROWS, width)) < 0.1)] = highest
    return scores


def limits(dtype: Any) -> tuple[int, int]:
    info = torch.iinfo(dtype)
    return max(info.min, -MAX_EXACT), min(info.max, MAX_EXACT)


def check_ranks() -> None:
    for seed, (dtype, width) in enumerate(itertools.product(FLOATS + INTEGERS, WIDTHS)):
        scores = matrix(dtype, width, seed)
        labels = torch.from_numpy(np.random.default_rng(seed).integers(0, width, ROWS))
        if seed % 3 == 1:
            scores, labels = scores.T.contiguous().T, labels.int()
        elif seed % 3 == 2:
            scores, labels = scores[::2], labels[::2]
        columns = device_ranks.ranks_on_device(scores, labels)
        assert columns is not None
        for column, expected in zip(columns, true_class_ranks(scores, labels)):
            assert column.numpy().dtype == expected.dtype
            assert np.array_equal(column.numpy(), expected), (dtype, width)


def check_refusals() -> None:
    labels = torch.arange(ROWS) % 7
    for dtype, place in zip(FLOATS, [(0, 0), (ROWS - 1, 1029), (3, 3), (2, 500)]):
        scores = matrix(dtype, 1030, 0)
        scores[place] = torch.nan
        assert device_ranks.ranks_on_device(scores, labels) is None
    for wrong in (-1, 7, 1 << 40):
        ids = labels.clone()
        ids[3] = wrong
        assert device_ranks.ranks_on_device(matrix(torch.float32, 7, 0), ids) is None
    for beyond in (MAX_EXACT + 1, -MAX_EXACT - 1):
        scores = matrix(torch.int64, 7, 0)
        scores[2, 4] = beyond
        assert device_ranks.ranks_on_device(scores, labels) is None


def main() -> None:
    check_ranks()
    check_refusals()


def test_kernel_in_the_interpreter() -> None:
    code = f"import torch; torch.cuda.is_available = lambda: True; import {__name__} as checks; checks.main()"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr


def test_without_a_device_torch_counts() -> None:
    assert device_ranks.ranks_on_device(torch.rand(3, 4), torch.zeros(3, dtype=torch.int64)) is None
