"""Tensors on an accelerator take the same lines as NumPy arrays, and give the same results to the bit.

Without a GPU the lines are run on CPU tensors that are kept as tensors, as those of an accelerator are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests import cases
from tests.test_references import as_tensor, convert

torch = pytest.importorskip("torch")
dtypes = pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
names = pytest.mark.parametrize("name", cases.METRICS)


@dtypes
@names
def test_lines_for_accelerators(
    name: str, dtype: str, load: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    draws = [cases.draw(name, seed) for seed in range(300, 320)]
    metric = load(name)
    kernel = sys.modules[type(metric).__module__.rpartition(".")[0] + "._arrays"]
    expected = [compute(metric, *draw, as_tensor(dtype)) for draw in draws]
    monkeypatch.setattr(kernel, "_from_tensor", lambda tensor, _: tensor.detach())
    assert isinstance(kernel.as_array(torch.ones(2), "x"), torch.Tensor)
    assert [compute(metric, *draw, as_tensor(dtype)) for draw in draws] == expected


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@dtypes
@names
def test_cuda_tensors(name: str, dtype: str, load: Callable[..., Any]) -> None:
    for seed in range(300, 320):
        draw = cases.draw(name, seed)
        found = compute(load(name), *draw, as_tensor(dtype, "cuda"))
        assert found == compute(load(name), *draw, as_tensor(dtype))


def compute(metric: Any, columns: Any, options: Any, backend: Callable[[Any], Any]) -> dict[str, Any]:
    return dict(metric.compute(**{key: convert(column, backend) for key, column in columns.items()}, **options))
