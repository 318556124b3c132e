"""Laws that hold for every metric, bit for bit: what must not change a result, and what must."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from openworld_metrics.loading import metric_class
from tests import cases
from tests.examples import few, many, seeds
from tests.splitting import batches, length, rows, split_options

every_metric = pytest.mark.parametrize("name", cases.METRICS)
Load = Callable[..., Any]


@every_metric
@many
@given(seed=seeds)
def test_order_of_samples_does_not_matter(name: str, seed: int, load: Load) -> None:
    columns, options = cases.draw(name, seed)
    shuffled = rows(columns, np.random.default_rng(seed).permutation(length(columns)))
    assert load(name).compute(**shuffled, **options) == load(name).compute(**columns, **options)


@every_metric
@many
@given(seed=seeds)
def test_batches_do_not_matter(name: str, seed: int, load: Load) -> None:
    columns, options = cases.draw(name, seed)
    at_load, at_compute = split_options(name, options)
    metric = load(name, **at_load)
    for batch in batches(columns, np.random.default_rng(seed)):
        metric.add_batch(**batch)
    assert len(metric) == length(columns)
    assert metric.compute(**at_compute) == load(name).compute(**columns, **options)
    assert len(metric) == 0


@every_metric
@few
@given(seed=seeds)
def test_adding_one_by_one_does_not_matter(name: str, seed: int, load: Load) -> None:
    columns, options = cases.draw(name, seed)
    at_load, at_compute = split_options(name, options)
    for kind in (load(name, **at_load), metric_class(name)(**at_load)):
        for i in range(length(columns)):
            sample = {key: column[i] for key, column in columns.items()}
            kind.add(prediction=sample.pop("predictions"), reference=sample.pop("references"), **sample)
            assert len(kind) == i + 1
        kind.state()  # which leaves it as it was
        assert kind.compute(**at_compute) == load(name).compute(**columns, **options)


@every_metric
@many
@given(seed=seeds)
def test_merged_states_equal_one_metric(name: str, seed: int, load: Load) -> None:
    """Whichever of evaluate's metric and the class of the core gives or takes them."""
    columns, options = cases.draw(name, seed)
    at_load, at_compute = split_options(name, options)
    kinds = [partial(load, name, **at_load), partial(metric_class(name), **at_load)]
    wholes = [kind() for kind in kinds]
    for i, batch in enumerate(batches(columns, np.random.default_rng(seed))):
        for whole, kind in zip(wholes, (kinds[i % 2], kinds[1 - i % 2])):
            part = kind()
            part.add_batch(**batch)
            state = part.state()
            assert all(type(array) is np.ndarray for array in state.values())
            whole.merge(state)
            assert len(part) == length(batch)
    for whole in wholes:
        assert len(whole) == length(columns)
        assert whole.compute(**at_compute) == load(name).compute(**columns, **options)


@every_metric
@few
@given(seed=seeds)
def test_processes_do_not_matter(name: str, seed: int, load: Load, tmp_path: Path) -> None:
    columns, options = cases.draw(name, seed)
    at_load, at_compute = split_options(name, options)
    cut = int(np.random.default_rng(seed).integers(0, length(columns) + 1))
    shards = [rows(columns, np.arange(cut)), rows(columns, np.arange(cut, length(columns)))]
    own = dict(num_process=2, cache_dir=str(tmp_path), experiment_id=str(seed), timeout=20)

    def run(process_id: int) -> Any:
        metric = load(name, process_id=process_id, **own, **at_load)
        metric.add_batch(**shards[process_id])
        return metric.compute(**at_compute)

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(run, range(2))
    assert first == load(name).compute(**columns, **options)
    assert second is None
    assert not list(tmp_path.rglob("*.arrow"))


@every_metric
@many
@given(seed=seeds)
def test_only_the_order_of_scores_matters(name: str, seed: int, load: Load) -> None:
    columns, options = cases.draw(name, seed)
    options.pop("t_list", None)
    threshold = options.pop("threshold", None)
    if options.get("image_reduction", "max") not in ("max", 1):
        del options["image_reduction"]
    rng = np.random.default_rng(seed)
    moved = dict(columns)
    for key in cases.METRICS[name].scores:
        if columns[key].dtype.kind == "f":
            levels, index = np.unique(columns[key], return_inverse=True)
            steep = np.sort(
                rng.choice(
                    [
                        rng.uniform(-1e300, 1e300, 4 * len(levels)),
                        np.spacing(rng.uniform(0, 1e-300, 4 * len(levels))).cumsum(),
                    ]
                )
            )
            moved[key] = np.sort(rng.choice(np.unique(steep), len(levels), replace=False))[index].reshape(
                columns[key].shape
            )
    there = dict(options)
    if name == "ood_bench" and threshold is not None:
        options["threshold"] = threshold
        there["threshold"] = moved["predictions"][columns["predictions"] == threshold][0]
    results, expected = load(name).compute(**moved, **there), load(name).compute(**columns, **options)
    for key in cases.METRICS[name].thresholds:
        results.pop(key, None), expected.pop(key, None)
    assert results == expected


@every_metric
@many
@given(seed=seeds)
def test_rates_are_floats_within_bounds_and_counts_are_ints(name: str, seed: int, load: Load) -> None:
    columns, options = cases.draw(name, seed)
    results = load(name).compute(**columns, **options)
    unbounded = (*cases.METRICS[name].thresholds, "WI", "A-OSE")
    for key, value in results.items():
        if key.startswith(("TP", "FP", "FN", "total")) or (key.startswith("A-OSE") and isinstance(value, int)):
            assert type(value) is int
            assert value >= 0
        elif key not in unbounded and not key.startswith("dcf@"):
            assert all(type(v) is float for v in (value if isinstance(value, list) else [value]))
            # below 0 for orders worse than chance, and for wrong answers that cost much
            least = -np.inf if key.startswith(("prr", "reliability@")) else 0
            assert least <= np.min(value) <= np.max(value) <= (100 if options.get("percent") else 1)


@every_metric
@few
@given(seed=seeds)
def test_inputs_are_not_modified_and_may_be_reused(name: str, seed: int, load: Load) -> None:
    columns, options = cases.draw(name, seed)
    at_load, at_compute = split_options(name, options)
    expected = load(name).compute(**columns, **options)
    buffers: dict[str, Any] = {
        k: [i.copy() for i in c] if isinstance(c, list) else c.copy() for k, c in columns.items()
    }
    metric = load(name, **at_load)
    metric.add_batch(**buffers)
    for key, column in columns.items():
        for buffer, original in zip(buffers[key], column):
            np.testing.assert_array_equal(buffer, original)
        for buffer in buffers[key]:
            if isinstance(buffer, np.ndarray):
                buffer[...] = 0
        if isinstance(buffers[key], np.ndarray):
            buffers[key][...] = 0
    assert metric.compute(**at_compute) == expected


@many
@given(seed=seeds)
def test_swapping_the_classes_complements_auroc(seed: int, load: Load) -> None:
    columns, _ = cases.draw("ood_bench", seed)
    metric = load("ood_bench", metrics=["auroc", "aupr_in", "detect_acc"])
    results = metric.compute(**columns)
    negated = metric.compute(predictions=-columns["predictions"], references=columns["references"])
    swapped = metric.compute(
        predictions=-columns["predictions"], references=columns["references"], in_value=1, out_value=0
    )
    assert results["auroc"] + negated["auroc"] == pytest.approx(1, abs=1e-15)
    assert results["auroc"] == swapped["auroc"]
    assert results["detect_acc"] == swapped["detect_acc"]
    out = metric.compute(**columns, metrics=["aupr_out"])
    assert metric.compute(
        predictions=-columns["predictions"],
        references=columns["references"],
        in_value=1,
        out_value=0,
        metrics=["aupr_in"],
    ) == {"aupr_in": out["aupr_out"]}


@many
@given(seed=seeds)
def test_autkc_is_the_mean_of_top_k_accuracies(seed: int, load: Load) -> None:
    columns, options = cases.draw("autkc", seed)
    options.pop("k_list")
    classes = columns["predictions"].shape[1]
    accuracies = load("accuracyk").compute(**columns, **options, k_list=range(1, classes + 1))
    area = load("autkc").compute(**columns, **options, k_list=classes)
    assert area[f"autkc@{classes}"] == pytest.approx(np.mean(list(accuracies.values())), rel=1e-14)


@many
@given(seed=seeds)
def test_openauc_is_accuracy_times_auroc_of_the_correct(seed: int, load: Load) -> None:
    columns, _ = cases.draw("openauc", seed)
    results = load("openauc").compute(**columns)
    state = load("openauc")
    state.add_batch(**columns)
    reduced = state.state()
    unknown, right = reduced["classes"] < 0, reduced["predicted"] == reduced["classes"]
    if not right.any():
        assert results["openauc"] == 0.0
        return
    keep = unknown | right
    auroc = load("ood_bench", metrics="auroc").compute(
        predictions=reduced["scores"][keep], references=unknown[keep].astype(int)
    )["auroc"]
    assert results["openauc"] == pytest.approx(results["closed_set_accuracy"] * auroc, rel=1e-14)


@many
@given(seed=seeds)
def test_every_distinct_score_as_t_list_equals_the_exact_sweep(seed: int, load: Load) -> None:
    for name in ("macro_open_f", "micro_open_f"):
        columns, _ = cases.draw(name, seed)
        listed = load(name).compute(**columns, t_list=np.unique(columns["open_scores"]))
        exact = load(name).compute(**columns)
        assert {key: listed[key] for key in exact} == exact


@many
@given(seed=seeds)
def test_a_coarser_float_type_of_the_same_scores_changes_no_threshold(seed: int, load: Load) -> None:
    rng = np.random.default_rng(seed)
    values = rng.choice(np.asarray([0.1, 0.2, 0.3], dtype=np.float32), 12)  # not the doubles of the same names
    references = cases.both_classes(rng, 12) - 1
    columns = dict(predictions=np.zeros(12, dtype=int), references=references)
    for t in (0.1, 0.2, 0.3, float(np.float32(0.1))):
        single, double = (
            load("micro_open_f").compute(**columns, open_scores=values.astype(dtype), t_list=[t])
            for dtype in (np.float32, np.float64)
        )
        assert single == double
