"""Tensors on a CUDA device give the results of CPU tensors, and their columns stay there.

Tests that take `to_cuda` run on emulated tensors everywhere, and on a real device where there is one. Emulated tensors
show that the kernel mixes no devices and what it brings to the CPU; that a device's own arithmetic gives the same bits
only the real one shows, in the tests marked gpu.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import openworld_metrics as om
from openworld_metrics.anomaly import regions
from openworld_metrics.arrays import threads
from openworld_metrics.loading import metric_class
from tests import cases
from tests.checking import as_tensor, convert

torch = pytest.importorskip("torch")

Load = Callable[..., Any]
To = Callable[[Any], Any]
dtypes = pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
names = pytest.mark.parametrize("name", cases.METRICS)


def on_both(columns: cases.Columns, dtype: str, to_cuda: To) -> tuple[cases.Columns, cases.Columns]:
    """The columns as CPU tensors, and on the device."""
    to_cpu = as_tensor(dtype)
    on_cpu = {key: convert(column, to_cpu) for key, column in columns.items()}
    on_cuda = {key: convert(column, lambda array: to_cuda(to_cpu(array))) for key, column in columns.items()}
    return on_cpu, on_cuda


@dtypes
@names
def test_tensors_on_a_device(name: str, dtype: str, load: Load, to_cuda: To) -> None:
    for seed in range(300, 305):
        columns, options = cases.draw(name, seed)
        on_cpu, on_cuda = on_both(columns, dtype, to_cuda)
        assert load(name).compute(**on_cuda, **options) == load(name).compute(**on_cpu, **options)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@names
def test_columns_on_different_devices(name: str, dtype: str, load: Load, to_cuda: To) -> None:
    for seed in range(320, 325):
        columns, options = cases.draw(name, seed)
        on_cpu, on_cuda = on_both(columns, dtype, to_cuda)
        expected = load(name).compute(**on_cpu, **options)
        for count in range(1, len(columns)):
            for chosen in combinations(columns, count):
                mixed = {**on_cpu, **{key: on_cuda[key] for key in chosen}}
                assert load(name).compute(**mixed, **options) == expected, chosen


@names
def test_compiled_loops_and_columns_on_different_devices(
    name: str, load: Load, to_cuda: To, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba")
    monkeypatch.setattr(threads, "WORTHWHILE", 0)
    for seed in range(325, 335):
        columns, options = cases.draw(name, seed)
        on_cpu, on_cuda = on_both(columns, "float32", to_cuda)
        expected = load(name).compute(**columns, **options)
        for key in columns:
            assert metric_class(name)(**options).compute(**{**on_cpu, key: on_cuda[key]}) == expected, key


def test_void_pixels_of_masks_on_a_device(to_cuda: To, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    rng = np.random.default_rng(0)
    maps, masks = rng.random((4, 5, 6), dtype=np.float32), rng.choice([0, 0, 1, 255], (4, 5, 6))
    for worthwhile in (0, math.inf):
        monkeypatch.setattr(threads, "WORTHWHILE", worthwhile)
        expected, found = (
            metric_class("anomaly_suite")(ignore_value=255, levels="pixel").compute(predictions=maps, references=given)
            for given in (masks, to_cuda(torch.as_tensor(masks)))
        )
        assert found == expected


@names
def test_batches_on_different_devices(name: str, load: Load, to_cuda: To) -> None:
    columns, options = cases.draw(name, 330)
    on_cpu, on_cuda = on_both(columns, "float32", to_cuda)
    on_one = load(name, **options)
    on_one.add_batch(**on_cpu)
    on_one.add_batch(**on_cpu)
    expected = on_one.compute()
    for order in ((on_cpu, on_cuda), (on_cuda, on_cpu)):
        metric = load(name, **options)
        for batch in order:
            metric.add_batch(**batch)
        state = metric.state()
        assert all(isinstance(array, np.ndarray) for array in state.values())
        assert metric.compute() == expected
        metric.merge(state)
        assert metric.compute() == expected


READS: dict[str, Callable[[Any], Any]] = {
    "item": lambda tensor: [x.item() for x in tensor],
    "item at an index": lambda tensor: [tensor[i].item() for i in range(len(tensor))],
    "float": lambda tensor: [float(x) for x in tensor],
    "int": lambda tensor: [*map(int, tensor)],
    "bool": lambda tensor: [bool(x) for x in tensor > 0],
    "if": lambda tensor: [1 for x in tensor if x > 0],
    "complex": lambda tensor: [*map(complex, tensor)],
    "a format": lambda tensor: [f"{x:.2f}" for x in tensor],
    "an index": lambda tensor: [range(9)[x] for x in tensor.long()],
    "mathematics": lambda tensor: [math.sqrt(x) for x in tensor],
    "tolist": lambda tensor: tensor.tolist(),
    "cpu": lambda tensor: tensor.cpu(),
    "to": lambda tensor: tensor.to("cpu"),
    "a copy": lambda tensor: torch.empty(len(tensor), dtype=tensor.dtype).copy_(tensor),
    "an assignment": lambda tensor: operator.setitem(torch.empty(len(tensor), dtype=tensor.dtype), ..., tensor),
    "a tensor of numbers": lambda tensor: torch.tensor([*tensor], device="cuda"),
}


@pytest.mark.parametrize("read", READS)
def test_every_number_that_leaves_the_device_is_counted(read: str) -> None:
    from tests.emulated_cuda import EmulatedCuda, EmulatedCudaTensor

    with EmulatedCuda() as device:
        column = EmulatedCudaTensor(torch.arange(300) / 100)
        READS[read](column)
        assert device.transferred == 300


def test_what_stays_on_the_device_is_not_counted() -> None:
    from tests.emulated_cuda import EmulatedCuda, EmulatedCudaTensor

    with EmulatedCuda() as device:
        column = EmulatedCudaTensor(torch.arange(300) / 100)
        made = torch.sort(column[column > 1] * 2).values.cumsum(0).unique()
        assert (len(made), made.shape, made.device.type) == (199, (199,), "cuda")
        assert device.transferred == 0
        assert made[-1] > made[0]  # a bool
        assert device.transferred == 1


def transferred(name: str, arrays: dict[str, np.ndarray], **options: Any) -> int:
    """How many numbers come to the CPU while a metric is computed from columns on a device."""
    from tests.emulated_cuda import EmulatedCuda, EmulatedCudaTensor

    with EmulatedCuda() as device:
        columns = {key: EmulatedCudaTensor(torch.from_numpy(array)) for key, array in arrays.items()}
        assert metric_class(name)(**options).compute(**columns)
        return device.transferred


FEW = 50  # checks, sums and results


@pytest.mark.parametrize("name", ["accuracyk", "autkc", "macro_open_f", "micro_open_f", "openauc", "ood_bench"])
def test_no_column_is_transferred(name: str) -> None:
    rng = np.random.default_rng(0)
    scores, references, open_scores = rng.random((20000, 5)), rng.integers(0, 5, 20000), rng.random(20000)
    columns: dict[str, np.ndarray] = {"predictions": scores, "references": references}
    if name == "ood_bench":
        columns = {"predictions": open_scores, "references": references > 2}
    elif name not in ("accuracyk", "autkc"):
        columns |= {"open_scores": open_scores, "open_labels": references > 2}
    options = {"k_list": (1, 3)} if name in ("accuracyk", "autkc") else {}
    assert transferred(name, columns, **options) < FEW


def test_of_anomaly_maps_only_anomalous_masks_are_transferred() -> None:
    masks = np.zeros((20, 50, 50), dtype=bool)
    masks[:2, 10:20, 10:20] = True  # regions are found on the CPU
    columns: dict[str, np.ndarray] = {"predictions": np.random.default_rng(0).random(masks.shape), "references": masks}
    pixels, images = 2 * 50 * 50, len(masks)
    assert transferred("anomaly_suite", columns) < pixels + np.count_nonzero(masks) + images + 3 * FEW


@pytest.mark.parametrize("width", [1, 254, 255, 256, 257, 600])
def test_ranks_in_wide_rows(width: int, to_cuda: To) -> None:
    """Flags are counted as bytes, which hold 255."""
    scores = torch.arange(width, dtype=torch.float32).repeat(3, 1)
    scores[1] = 0
    labels = torch.tensor([0, width - 1, width // 2])
    state = om.AUTKC().reduce(to_cuda(scores), to_cuda(labels))
    assert state["above"].tolist() == [width - 1, 0, width - 1 - width // 2]
    assert state["tied"].tolist() == [0, width - 1, 0]


def test_infinite_scores(to_cuda: To) -> None:
    """Scores of other kinds are made infinite, and those that are infinite are counted."""
    rng = np.random.default_rng(0)
    for share in (0.1, 0.5, 0.9):
        scores = torch.from_numpy(rng.choice([-np.inf, 0.0, 1.0, np.inf], 60))
        labels = torch.from_numpy((rng.random(60) < share).astype(np.int64))
        metric = om.OODBench(metrics=["auroc", "aupr_out", "fpr95tpr", "detect_acc"])
        assert metric.compute(predictions=to_cuda(scores), references=to_cuda(labels)) == metric.compute(
            predictions=scores, references=labels
        )
        sides = [metric.prepare(metric.reduce(*map(send, (scores, labels)))).sides for send in (np.asarray, to_cuda)]
        assert [side.repeated().tolist() for side in sides[0]] == [side.repeated().tolist() for side in sides[1]]


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
def test_unsigned_columns(dtype: str, to_cuda: To) -> None:
    labels, scores = (torch.tensor(x).to(getattr(torch, dtype)) for x in ([0, 1, 0, 1], [3, 250, 1, 2]))
    on_device, on_cpu = ({"predictions": send(scores), "references": send(labels)} for send in (to_cuda, np.asarray))
    assert om.OODBench().compute(**on_device) == om.OODBench().compute(**on_cpu)
    groups = ["a", "a", "b", "b"]
    assert om.OODBench().compute(**on_device, groups=groups) == om.OODBench().compute(**on_cpu, groups=groups)
    ids = [[1, 0], [1, 0], [0, 1], [0, 1]]
    first, second = (
        om.AccuracyK(k_list=(1,)).compute(
            predictions=send(torch.tensor(ids).to(getattr(torch, dtype))), references=send(labels)
        )
        for send in (to_cuda, np.asarray)
    )
    assert first == second


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2", "bfloat16"])
def test_floats_that_numpy_does_not_have(dtype: str, to_cuda: To) -> None:
    """They are read on the CPU as on a device."""
    wide = torch.tensor([0.5, 1.75, -2.0, 0.0625])
    labels, scores = torch.tensor([0, 1, 0, 1]), wide.to(getattr(torch, dtype))
    expected = om.OODBench().compute(predictions=wide, references=labels)
    assert om.OODBench().compute(predictions=scores, references=labels) == expected
    assert om.OODBench().compute(predictions=to_cuda(scores), references=to_cuda(labels)) == expected
    rows = scores.reshape(2, 2), torch.tensor([0, 1])
    expected = om.AUTKC(k_list=(1,)).compute(predictions=rows[0].float(), references=rows[1])
    assert om.AUTKC(k_list=(1,)).compute(predictions=rows[0], references=rows[1]) == expected
    assert om.AUTKC(k_list=(1,)).compute(predictions=to_cuda(rows[0]), references=to_cuda(rows[1])) == expected


def test_class_ids_on_a_device_where_scores_are_expected(to_cuda: To) -> None:
    with pytest.raises(ValueError, match=r"expected \(N, C\) floating scores, got int8 class ids"):
        om.AUTKC().compute(predictions=to_cuda(torch.zeros((2, 3), dtype=torch.int8)), references=[0, 1])


def test_integers_that_no_type_of_a_device_holds(to_cuda: To) -> None:
    labels = to_cuda(torch.tensor([0, 2**64 - 1], dtype=torch.uint64))
    with pytest.raises(ValueError, match=r"references: expected integers below 2\*\*63, got larger ones"):
        om.OODBench().compute(predictions=to_cuda(torch.tensor([0.5, 0.2])), references=labels)


def test_nan_on_a_device(to_cuda: To) -> None:
    scores = to_cuda(torch.tensor([0.5, float("nan"), 0.1]))
    with pytest.raises(ValueError, match="got NaN at position 1"):
        om.OODBench().compute(predictions=scores, references=to_cuda(torch.tensor([0, 1, 1])))
    with pytest.raises(ValueError, match="got NaN at position 1"):
        om.delong(positives=scores, negatives=to_cuda(torch.tensor([0.5, 0.2])))


def test_pair_of_scores_on_different_devices(load: Load, to_cuda: To) -> None:
    rng = np.random.default_rng(0)
    inside, out = (torch.from_numpy(rng.random(n)) for n in (9, 5))
    expected = load("ood_bench").compute(predictions=(inside, out))
    assert load("ood_bench").compute(predictions=(to_cuda(inside), out)) == expected
    assert load("ood_bench").compute(predictions=(inside, to_cuda(out))) == expected


@pytest.mark.parametrize("ignore_value", [None, 255])
@pytest.mark.parametrize("shape", [(7, 5, 6), (3, 1, 1), (2, 0, 4)])
def test_stacks_are_cut(
    shape: tuple[int, int, int], ignore_value: int | None, to_cuda: To, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    maps = torch.from_numpy(rng.random(shape))
    masks = torch.from_numpy(rng.choice([0, 1] if ignore_value is None else [0, 1, 255], shape))
    images = {"image_scores": maps.new_zeros(len(maps)), "image_labels": torch.arange(len(maps)) % 2}
    metric = om.AnomalySuite(ignore_value=ignore_value)
    expected = metric.reduce([*maps], [*masks], **images)  # map by map
    for pixels in (1, 100, 1000):
        monkeypatch.setattr(regions, "_PIXELS_AT_ONCE", pixels)
        state = metric.reduce(to_cuda(maps), to_cuda(masks), **images)
        assert {name: column.tolist() for name, column in state.items()} == {
            name: column.tolist() for name, column in expected.items()
        }


def test_lists_of_maps_on_different_devices(load: Load, to_cuda: To) -> None:
    rng = np.random.default_rng(0)
    maps = [torch.from_numpy(rng.random((5, size))) for size in (4, 6, 5)]
    masks = [torch.from_numpy(rng.random((5, size)) < 0.2 * i) for i, size in enumerate((4, 6, 5))]
    expected = load("anomaly_suite").compute(predictions=maps, references=masks)
    mixed = [to_cuda(maps[0]), maps[1], to_cuda(maps[2])]
    on_cuda = [to_cuda(mask) for mask in masks]
    assert load("anomaly_suite").compute(predictions=mixed, references=masks) == expected
    assert load("anomaly_suite").compute(predictions=mixed[::-1], references=on_cuda[::-1]) == expected


def test_means_of_maps(load: Load, to_cuda: To) -> None:
    for seed in range(20):
        maps = torch.from_numpy(np.random.default_rng(seed).random((4, 33, 57)))
        masks = torch.zeros(4, 33, 57, dtype=torch.bool)
        masks[:2] = True
        metric = load("anomaly_suite", levels="image", image_reduction=["mean", 20][seed % 2])
        expected = metric.compute(predictions=maps, references=masks)
        assert metric.compute(predictions=to_cuda(maps), references=to_cuda(masks)) == expected
