"""Tensors on a CUDA device give the results of NumPy arrays, to the bit.

Every test runs on a real device where there is one, and everywhere on emulated tensors, which refuse what a device
refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from tests import cases
from tests.test_references import as_tensor, convert

torch = pytest.importorskip("torch")

To = Callable[[Any], Any]
dtypes = pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
names = pytest.mark.parametrize("name", cases.METRICS)
no_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


@pytest.fixture(params=["emulated", pytest.param("cuda", marks=[pytest.mark.gpu, no_cuda])])
def to_cuda(request: pytest.FixtureRequest) -> Iterator[To]:
    """Send a CPU tensor to a CUDA device, real or emulated."""
    if request.param == "cuda":
        yield lambda tensor: tensor.to("cuda")
    else:
        from tests.emulated_cuda import EmulatedCuda, EmulatedCudaTensor  # needs torch

        with EmulatedCuda():
            yield EmulatedCudaTensor


@dtypes
@names
def test_tensors_on_a_device(name: str, dtype: str, load: Callable[..., Any], to_cuda: To) -> None:
    convert_cpu = as_tensor(dtype)
    for seed in range(300, 320):
        columns, options = cases.draw(name, seed)
        on_cpu = {key: convert(column, convert_cpu) for key, column in columns.items()}
        on_cuda = {key: convert(column, lambda array: to_cuda(convert_cpu(array))) for key, column in columns.items()}
        assert load(name).compute(**on_cuda, **options) == load(name).compute(**on_cpu, **options)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@names
def test_columns_on_different_devices(name: str, dtype: str, load: Callable[..., Any], to_cuda: To) -> None:
    convert_cpu = as_tensor(dtype)
    for seed in range(320, 325):
        columns, options = cases.draw(name, seed)
        on_cpu = {key: convert(column, convert_cpu) for key, column in columns.items()}
        on_cuda = {key: convert(column, lambda array: to_cuda(convert_cpu(array))) for key, column in columns.items()}
        expected = load(name).compute(**on_cpu, **options)
        for chosen in (chosen for count in range(1, len(columns)) for chosen in combinations(columns, count)):
            mixed = {**on_cpu, **{key: on_cuda[key] for key in chosen}}
            assert load(name).compute(**mixed, **options) == expected, chosen


@names
def test_batches_on_different_devices(name: str, load: Callable[..., Any], to_cuda: To) -> None:
    convert_cpu = as_tensor("float32")
    columns, options = cases.draw(name, 330)
    on_cpu = {key: convert(column, convert_cpu) for key, column in columns.items()}
    on_cuda = {key: convert(column, lambda array: to_cuda(convert_cpu(array))) for key, column in columns.items()}
    expected = load(name, **options)
    expected.add_batch(**on_cpu)
    expected.add_batch(**on_cpu)
    results = expected.compute()
    for order in ((on_cpu, on_cuda), (on_cuda, on_cpu)):
        metric = load(name, **options)
        for batch in order:
            metric.add_batch(**batch)
        state = metric.state()
        assert all(isinstance(array, np.ndarray) for array in state.values())
        assert metric.compute() == results
        metric.merge(state)
        assert metric.compute() == results


@pytest.mark.parametrize("name", ["accuracyk", "autkc", "macro_open_f", "micro_open_f", "openauc", "ood_bench"])
def test_no_column_is_transferred(name: str, load: Callable[..., Any]) -> None:
    from tests.emulated_cuda import EmulatedCuda, EmulatedCudaTensor

    rng = np.random.default_rng(0)
    scores, references, open_scores = rng.random((2000, 5)), rng.integers(0, 5, 2000), rng.random(2000)
    arrays = {
        "predictions": open_scores if name == "ood_bench" else scores,
        "references": references > 2 if name == "ood_bench" else references,
    }
    if name not in ("accuracyk", "autkc", "ood_bench"):
        arrays |= {"open_scores": open_scores, "open_labels": references > 2}
    with EmulatedCuda() as device:
        metric = load(name, k_list=(1, 3)) if name in ("accuracyk", "autkc") else load(name)
        assert metric.compute(**{key: EmulatedCudaTensor(torch.from_numpy(array)) for key, array in arrays.items()})
        assert device.transferred < 20


@pytest.mark.parametrize("name", ["ood_bench", "anomaly_suite"])
def test_lists_of_tensors_on_different_devices(name: str, load: Callable[..., Any], to_cuda: To) -> None:
    rng = np.random.default_rng(0)
    if name == "ood_bench":
        sides = [torch.from_numpy(rng.random(n)) for n in (9, 5)]
        expected = load(name).compute(predictions=tuple(sides))
        assert load(name).compute(predictions=(to_cuda(sides[0]), sides[1])) == expected
        assert load(name).compute(predictions=(sides[0], to_cuda(sides[1]))) == expected
        return
    maps = [torch.from_numpy(rng.random((5, size))) for size in (4, 6, 5)]
    masks = [torch.from_numpy(rng.random((5, size)) < 0.2 * i) for i, size in enumerate((4, 6, 5))]
    expected = load(name).compute(predictions=maps, references=masks)
    mixed = [to_cuda(maps[0]), maps[1], to_cuda(maps[2])]
    assert load(name).compute(predictions=mixed, references=masks) == expected
    assert load(name).compute(predictions=mixed[::-1], references=[to_cuda(m) for m in masks[::-1]]) == expected
