"""The column `counts`: the results are, to the bit, those of the rows repeated, wherever the column is given."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

from openworld_metrics import AUTKC, METRICS, AccuracyK, MicroOpenF, OODBench, OpenAUC, compare
from openworld_metrics.arrays import threads
from openworld_metrics.cluster import compute_parquet
from openworld_metrics.integrations.combining import combine
from openworld_metrics.loading import metric_class
from openworld_metrics.metric import metric as metric_module
from tests import cases
from tests.conftest import Run
from tests.examples import few, many, seeds
from tests.splitting import batches, length, rows, split_options

Load = Callable[..., Any]
COUNTED = [name for name in METRICS if "counts" in metric_class(name).columns]
every_metric = pytest.mark.parametrize("name", COUNTED)
OOD: dict[str, Any] = dict(predictions=[0.1, 0.6, 0.4, 0.9], references=[0, 0, 1, 1])


def counted(columns: cases.Columns, seed: int, *, highest: int = 5) -> tuple[cases.Columns, cases.Columns]:
    """Columns with counts, some of which are 0, and the rows repeated; one row of each side is there."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, highest, length(columns))
    unknown = np.asarray(columns.get("open_labels", columns["references"]))
    for side in (unknown < 0, unknown == 0, unknown > 0):
        counts[np.flatnonzero(side)[:1]] = 1
    groups = np.asarray(columns.get("groups", [""] * len(counts)))
    for group in np.unique(groups):  # and of each group, if there are any
        counts[groups == group] = np.maximum(counts[groups == group], 1) if group else counts[groups == group]
    return {**columns, "counts": counts}, rows(columns, np.repeat(np.arange(len(counts)), counts).tolist())


def draw(name: str, seed: int, *, groups: bool = False, bits: bool = False) -> tuple[cases.Columns, dict[str, Any]]:
    columns, options = cases.draw(name, seed)
    options |= {"significant_bits": 6} if bits and "significant_bits" in metric_class(name).options else {}
    return cases.with_groups(columns, seed) if groups else columns, options


def test_which_metrics_take_counts() -> None:
    assert COUNTED == ["accuracyk", "autkc", "macro_open_f", "micro_open_f", "openauc", "ood_bench"]


@every_metric
@many
@given(seed=seeds)
def test_at_once_in_batches_and_merged(name: str, seed: int, load: Load) -> None:
    columns, options = draw(name, seed, bits=seed % 2 == 0)
    whole, repeated = counted(columns, seed)
    at_load, at_compute = split_options(name, options)
    expected = load(name, **at_load).compute(**repeated, **at_compute)
    assert load(name, **at_load).compute(**whole, **at_compute) == expected
    streamed, merged = load(name, **at_load), load(name, **at_load)
    for batch in batches(whole, np.random.default_rng(seed)):
        streamed.add_batch(**batch)
        part = load(name, **at_load)
        part.add_batch(**batch)
        merged.merge(part.state())
    assert len(streamed) == len(merged) == whole["counts"].sum() == length(repeated)
    assert streamed.compute(**at_compute) == merged.compute(**at_compute) == expected


@every_metric
@few
@given(seed=seeds)
def test_beside_batches_without_counts_as_rows_are_compacted(name: str, seed: int) -> None:
    columns, options = draw(name, seed)
    whole, repeated = counted(columns, seed)
    twice = {key: cases.take(column, [*range(length(repeated))] * 2) for key, column in repeated.items()}
    expected = metric_class(name)(**options).compute(**twice)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metric_module, "ROWS", 4)
        metric = metric_class(name)(**options)
        metric.reset()
        for batch in (*batches(whole, np.random.default_rng(seed)), repeated):
            metric.add_batch(**batch)
        assert metric.compute() == expected


@every_metric
@few
@given(seed=seeds)
def test_intervals_and_groups(name: str, seed: int) -> None:
    for groups in (False, True):
        columns, options = draw(name, seed, groups=groups, bits=True)
        whole, repeated = counted(columns, seed, highest=60 if seed % 2 else 5)
        metric = partial(metric_class(name), **options, confidence_level=0.8, n_resamples=9)
        assert metric().compute(**whole) == metric().compute(**repeated)


@every_metric
@few
@given(seed=seeds)
def test_comparisons(name: str, seed: int) -> None:
    for groups in (False, True):
        columns, options = draw(name, seed, groups=groups)
        options.pop("t_list", None)
        key = "open_scores" if "open_scores" in columns else "predictions"
        columns["other"] = cases.take(columns[key], np.random.default_rng(seed).permutation(length(columns)).tolist())
        tables = []
        for one in counted(columns, seed, highest=60 if seed % 2 else 5):
            own, other = one.pop(key), one.pop("other")
            tables.append(compare(metric_class(name)(**options), {key: own}, {key: other}, n_resamples=9, **one))
        assert tables[0] == tables[1]
        assert [*tables[0]["key"]]


def test_a_comparison_of_rows_that_occur_another_number_of_times() -> None:
    first, second = ({"predictions": OOD["predictions"], "counts": counts} for counts in ([1, 2, 3, 4], [1, 2, 4, 3]))
    with pytest.raises(ValueError, match="first, second: expected the same samples, got 10 and 10, or of other kinds"):
        compare("ood_bench", first, second, references=OOD["references"])


@every_metric
def test_a_trillion_samples_have_the_rates_of_their_shares(name: str) -> None:
    for seed in range(20):
        columns, options = draw(name, seed, bits=seed % 2 == 0)
        whole, _ = counted(columns, seed)
        options.pop("step", None)
        if name == "openauc" and seed % 2:
            options |= {"risk_metrics": ["augrc", "risk@cov60", "coverage@risk50"], "fpr_list": [0.1, 0.5]}
            options |= {"ood_cost": 0.3, "unknown_share": 0.25}
        many_times = {**whole, "counts": whole["counts"] * (2**39 // int(whole["counts"].sum()))}
        results, expected = (metric_class(name)(**options).compute(**one) for one in (many_times, whole))
        # risks at each sample, and errors of areas over ranks, depend on how many there are, too
        wins = ("auroc_error", "openauc_error", "open_set_auroc_error")
        by_rank = ("aurc", "auarc", "e_aurc", "prr")
        same = [key for key in expected if key in wins or not (key.endswith("_error") or key in by_rank)]
        if name == "ood_bench":  # ⌈a share of them⌉ is more than that share of few; weights are rounded
            others = ("precision@top", "recall@top", "risk@cov", "aupr_out@share")
            same = [key for key in same if not key.startswith(others)]
        assert {key: results[key] for key in same} == {key: expected[key] for key in same}


@pytest.mark.parametrize("average", ["micro", "macro"])
def test_sums_that_exceed_64_bits(average: str) -> None:
    """All of 20,000 classes tie: top-k accuracy by chance is k/C, the mean of all of them (C + 1)/2C."""
    columns = dict(predictions=np.zeros((3, 20_000), np.float32), references=[1, 2, 3], counts=[2**38] * 3)
    found = AUTKC(k_list=(10, 20_000), ties="expected", average=average).compute(**columns)
    assert found == {"autkc@10": 11 / 40_000, "autkc@20000": 20_001 / 40_000}


@every_metric
def test_intervals_of_a_trillion_samples(name: str) -> None:
    columns, options = cases.draw(name, 1)
    whole, _ = counted(columns, 1)
    metric = metric_class(name)(**options, confidence_level=0.9, n_resamples=20)
    results = metric.compute(**{**whole, "counts": whole["counts"] * 2**30})
    rates = [key.removesuffix("_low") for key in results if key.endswith("_low")]
    assert rates
    for key in rates:
        assert results[f"{key}_high"] - results[f"{key}_low"] < 1e-2
    key = "open_scores" if "open_scores" in whole else "predictions"
    own = whole.pop(key)
    whole["counts"] = whole["counts"] * 2**30
    table = compare(metric_class(name)(**options), {key: own}, {key: own}, n_resamples=3, **whole)
    assert set(table["difference"]) == {0.0}


@every_metric
def test_compiled_loops(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    monkeypatch.setattr(threads, "WORTHWHILE", 0)
    for seed in range(5):
        columns, options = draw(name, seed)
        whole, repeated = counted(columns, seed)
        assert metric_class(name)(**options).compute(**whole) == metric_class(name)(**options).compute(**repeated)


@every_metric
def test_command_line_and_dask(name: str, run: Run, tmp_path: Path) -> None:
    pytest.importorskip("dask")
    columns, options = cases.draw(name, 4)
    whole, repeated = counted(columns, 4)
    options = {key: value for key, value in options.items() if key == "ignore_unknown"}
    expected = metric_class(name)(**options).compute(**repeated)
    for key, column in whole.items():
        np.save(f"{key}.npy", column)
    flags = [part for key in whole for part in (f"--{key.replace('_', '-')}", f"{key}.npy")]
    flags += ["--ignore-unknown"] if options else []
    code, output, errors = run("compute", name, *flags)
    assert (code, errors) == (0, "")
    assert json.loads(output) == expected
    vectors = {key: column for key, column in whole.items() if np.ndim(column) == 1}
    lists = {key: [*map(list, column)] for key, column in whole.items() if np.ndim(column) == 2}
    pq.write_table(pa.table({**vectors, **lists}), tmp_path / "rows.parquet", row_group_size=7)
    assert compute_parquet(name, tmp_path / "rows.parquet", **options) == expected


def test_a_column_of_a_file_on_the_command_line(run: Run) -> None:
    Path("rows.csv").write_text("score,label,n\n0.1,0,2\n0.6,0,1\n0.4,1,0\n0.9,1,3\n0.3,1,1\n")
    places = [f"--{name}=rows.csv:{column}" for name, column in (("references", "label"), ("counts", "n"))]
    expected = OODBench().compute(predictions=[0.1, 0.1, 0.6, 0.9, 0.9, 0.9, 0.3], references=[0, 0, 0, 1, 1, 1, 1])
    output = run("compute", "ood_bench", "--predictions=rows.csv:score", *places)[1]
    assert f'"auroc": {expected["auroc"]}' in output
    models = ["--first-predictions=rows.csv:score", "--second-predictions=rows.csv:score"]
    assert run("compare", "ood_bench", *models, *places, "--n-resamples", "5")[0] == 0
    reported = run("compute", "ood_bench", "--predictions=rows.csv:score", *places, "--report", "out")
    assert reported[:2] == (0, output)
    assert f"{expected['auroc']:.3f}" in Path("out/index.html").read_text()


def test_groups_whose_rows_are_all_absent(load: Load) -> None:
    groups = ["a", "a", "a", "b"]
    columns = dict(predictions=[0.1, 0.6, 0.4, 0.9], references=[0, 0, 1, 1])
    results = OODBench(metrics="auroc").compute(**columns, groups=groups, counts=[1, 2, 3, 0])
    assert results["groups"]["group"] == ["a"]
    metric = load("ood_bench")
    metric.add_batch(**OOD, counts=[0, 0, 0, 0])
    assert len(metric) == 0


def test_one_sample_with_a_count_and_metrics_that_are_combined(load: Load) -> None:
    metric = OODBench()
    for score, label, count in zip(OOD["predictions"], OOD["references"], [3, 1, 2, 2]):
        metric.add(prediction=score, reference=label, counts=count)
    assert len(metric) == 8
    both = combine([load("accuracyk"), load("openauc")])
    columns = dict(predictions=[[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]], references=[0, 0, 1], open_scores=[0.1, 0.2, 0.7])
    assert both.compute(**columns, open_labels=[0, 0, 1], counts=[5, 1, 2])["accuracy"] == 5 / 8
    others = combine([load("accuracyk"), load("anomaly_suite")])
    with pytest.raises(TypeError, match="counts: expected all metrics to take counts, got anomaly_suite, which does"):
        others.add_batch(predictions=columns["predictions"], references=[0, 0, 1], counts=[5, 1, 2])


NAN = float("nan")
BAD = [
    ([1, -1, 1, 1], ValueError, "counts: expected integers of at least 0, got -1 at position 1"),
    ([1, 1, 0.5, 1], ValueError, "counts: expected integers, got 0.5"),
    ([1, 1, 1, NAN], ValueError, "counts: expected no NaN, got NaN at position 3"),
    ([1, 1, 1, float("inf")], ValueError, "counts: expected integers within ±2**53, got inf"),
    ([1, 2**40, 1, 1], ValueError, "counts: expected at most 1099511627776 samples in all, got 1.1e"),
    (
        np.asarray([2**64 - 1, 0, 0, 1], np.uint64),
        ValueError,
        "counts: expected integers below 2**63, got 18446744073709551615",
    ),
    ([1, 1, 1], ValueError, "counts: expected one for each of 4 samples, got 3"),
    ([[1], [1], [1], [1]], ValueError, "counts: expected integers of shape (N,), got shape (4, 1)"),
    (["1", "2", "3", "4"], TypeError, "counts: expected numbers, got '1' at position 0"),
    (3, TypeError, "counts: expected an array, got 3"),
]


@pytest.mark.parametrize(("counts", "error", "message"), BAD)
@pytest.mark.parametrize("groups", [None, ["a", "b", "a", "b"]])
def test_bad_counts(counts: Any, error: type[Exception], message: str, groups: Any) -> None:
    metric = OODBench()
    metric.add_batch(**OOD, counts=[1, 2, 3, 4])
    before = metric.state()
    for call in (metric.add_batch, metric.compute):
        with pytest.raises(error, match=re.escape(message) if groups is None or "for each" not in message else "3"):
            call(**OOD, counts=counts, groups=groups)
    after = metric.state()
    assert before.keys() == after.keys()
    assert all(np.array_equal(before[key], after[key]) for key in before)


def test_too_many_in_several_batches() -> None:
    metric = OODBench()
    for counts in ([2**38] * 4, [0] * 4):
        metric.add_batch(**OOD, counts=counts)
    with pytest.raises(ValueError, match="expected at most 1099511627776 samples in all, got 1099511627780"):
        metric.add_batch(**OOD, counts=[1] * 4)
    with pytest.raises(ValueError, match="expected at most 1099511627776 samples in all, got 1099511627780"):
        metric.compute(**OOD)
    assert len(metric) == 2**40
    assert metric.compute() == OODBench().compute(**OOD)


def test_other_columns_and_options_that_do_not_go_with_counts() -> None:
    both = "counts: expected none with per_sample, whose table has a row for each sample; got both"
    for metric in (OODBench(per_sample=True), OpenAUC(per_sample=True), MicroOpenF(per_sample=True)):
        columns = OOD if isinstance(metric, OODBench) else dict(predictions=[0] * 4, references=[0, 0, -1, -1])
        more = {} if isinstance(metric, OODBench) else {"open_scores": [0.1, 0.2, 0.3, 0.4]}
        with pytest.raises(ValueError, match=re.escape(both)):
            metric.add_batch(**columns, **more, counts=[1] * 4)
    late = OODBench()
    late.add_batch(**OOD, counts=[1, 1, 1, 2])
    with pytest.raises(ValueError, match="per_sample: equal samples were counted as batches were added"):
        late.compute(per_sample=True)
    with pytest.raises(TypeError, match="counts: expected columns with an entry per sample, got open_set_pred_known"):
        OpenAUC().compute(
            open_set_pred_known=[0.1],
            open_set_pred_unknown=[0.3],
            close_set_pred_class=[0],
            close_set_labels=[0],
            counts=[1, 1],
        )
    for name in ("openset_detection", "anomaly_suite"):
        options = {"known_classes": [0]} if name == "openset_detection" else {}
        with pytest.raises(TypeError, match=f"{name} has no argument 'counts'"):
            metric_class(name)(**options).add_batch(predictions=[], references=[], counts=[])


def test_a_row_that_occurs_never_is_checked_as_the_others_are() -> None:
    with pytest.raises(ValueError, match="predictions: expected no NaN, got NaN at position 1"):
        OODBench().compute(predictions=[0.1, NAN, 0.9], references=[0, 0, 1], counts=[1, 0, 1])


def test_by_hand() -> None:
    """Two known samples at 0.2 and one at 0.8, three unknown at 0.5: two thirds of the pairs are won."""
    columns = dict(predictions=[0.2, 0.8, 0.5], references=[0, 0, 1], counts=[2, 1, 3])
    assert OODBench(metrics="auroc").compute(**columns) == {"auroc": 2 / 3}
    assert AccuracyK().compute(predictions=[[7], [5]], references=[7, 7], counts=[3, 1]) == {"accuracy": 0.75}
