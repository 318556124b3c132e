"""What became of each sample: laws of the table, its slow reference, and what is refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from openworld_metrics import compare
from openworld_metrics.loading import metric_class
from openworld_metrics.open_set.open_f import exact_macro_f
from openworld_metrics.ranking.roc import SAMPLE_OUTCOMES
from openworld_metrics.written.results import as_json, read_results
from tests import cases
from tests.examples import few, many, seeds

Load = Callable[..., Any]
Row = tuple[Any, ...]
METRICS = ("openauc", "macro_open_f", "micro_open_f", "ood_bench")
RATES = ("fpr", "tpr", "fnr", "tnr")
by_name = pytest.mark.parametrize("name", METRICS)


def draw(name: str, seed: int) -> tuple[cases.Columns, cases.Options]:
    columns, options = cases.draw(name, seed)
    rng = np.random.default_rng(seed)
    if name == "ood_bench":
        names = [f"{rng.choice(RATES)}{rng.integers(1, 100)}{rng.choice(RATES)}", "detect_acc", "auroc"]
        chosen = [str(name) for name in rng.permutation(names)[: rng.integers(1, 4)]]
        options |= {"metrics": chosen} | ({"threshold": float(rng.normal())} if rng.random() < 0.3 else {})
        columns["references"] = columns["references"].copy()
        if rng.random() < 0.3:
            columns["references"] = np.append(columns["references"], [7, 7])[
                rng.permutation(len(columns["references"]) + 2)
            ]
            columns["predictions"] = cases.scores(rng, len(columns["references"]))
            options["ignore_value"] = 7
    return columns, options


def rows(table: dict[str, list[Any]]) -> list[Row]:
    return list(zip(*table.values(), strict=True))


def slow_rows(name: str, columns: Any, options: Any, results: Any) -> list[Row]:
    """The rows of the table, one sample after the other, as the card defines them."""
    ood, found = name == "ood_bench", []
    threshold = options.get("threshold")
    if ood and threshold is None:
        point = next((m for m in options["metrics"] if m != "auroc"), "fpr95tpr")
        threshold = results[f"{point}_threshold"]
    elif name == "openauc":
        threshold = results[f"open_set_accuracy@tpr{options['tpr'] * 100:.12g}_threshold"]
    elif not ood:
        threshold = results[f"{name}_threshold"]
    scores = columns["predictions" if ood else "open_scores"].tolist()
    for i, score in enumerate(scores):
        label, flags = int(columns["references"][i]), columns.get("open_labels")
        if ood and label == options.get("ignore_value"):
            continue
        called = score > threshold
        unknown = label == options.get("out_value", 1) if ood else bool(label < 0 if flags is None else flags[i])
        prediction = columns["predictions"][i]
        predicted = int(np.argmax(prediction) if np.ndim(prediction) else prediction)
        accepted = "called known" if ood else "right class" if predicted == label else "wrong class"
        if unknown:
            outcome = "unknown, called unknown" if called else "unknown, called known"
        else:
            outcome = "known, called unknown" if called else f"known, {accepted}"
        words = tuple("unknown" if one else "known" for one in (unknown, called))
        classes = (-1 if unknown else label, predicted) if name.endswith("_f") else ()
        found.append((i, score, *words, outcome, *classes))
    return found


@by_name
@many
@given(seed=seeds)
def test_each_sample_as_the_slow_reference_says(name: str, seed: int) -> None:
    columns, options = draw(name, seed)
    dtype = np.random.default_rng(seed).choice(["float16", "float32", "float64"])
    column = "predictions" if name == "ood_bench" else "open_scores"
    columns[column] = columns[column].astype(dtype)
    results = metric_class(name)(**options, per_sample=True).compute(**columns)
    assert rows(results["per_sample"]) == slow_rows(name, columns, options, results)
    assert [type(x) for x in rows(results["per_sample"])[0][:5]] == [int, float, str, str, str]
    assert set(results["per_sample"]["outcome"]) <= set(SAMPLE_OUTCOMES)
    plain = metric_class(name)(**options).compute(**columns)
    assert {key: results[key] for key in plain} == plain


@by_name
@many
@given(seed=seeds)
def test_outcomes_agree_with_the_reported_rates(name: str, seed: int) -> None:
    columns, options = draw(name, seed)
    results = metric_class(name)(**options, per_sample=True).compute(**columns)
    table, number = results["per_sample"], Counter(results["per_sample"]["outcome"])
    called, taken = number["known, called unknown"], number["unknown, called known"]
    unknown = table["reference"].count("unknown")
    known = len(table["reference"]) - unknown
    right, wrong = number["known, right class"], number["known, wrong class"]
    if name == "ood_bench":
        of_out = called / known, (unknown - taken) / unknown, taken / unknown, (known - called) / known
        # of in-distribution samples as positives, the false-positive rate is the other false-negative rate, and so on
        shares = dict(zip(RATES, (*of_out[2:], *of_out[:2]) if options.get("positive") == "in" else of_out))
        shares["detect_acc"] = (known - called + unknown - taken) / (known + unknown)
        point = next((m for m in options["metrics"] if m != "auroc"), None)
        if "threshold" in options:
            assert metric_class(name)(**options | {"metrics": RATES}).compute(**columns) == {
                r: shares[r] for r in RATES
            }
        elif point is not None:
            assert results[point] == shares[point if point == "detect_acc" else point[:3]]
    elif name == "openauc":
        [accuracy] = [value for key, value in results.items() if key.startswith("open_set_acc") and key[-1].isdigit()]
        assert accuracy == (known - called + unknown - taken) / (known + unknown)
    elif name == "micro_open_f":
        assert results[name] == 2 * right / (right + wrong + taken + known)
    else:
        true, predicted = (np.asarray(table[key]) for key in ("true_class", "predicted_class"))
        accepted, hit = np.asarray(table["decision"]) == "known", np.asarray(table["outcome"]) == "known, right class"
        ids = range(int(max(true.max(), predicted.max())) + 1)
        counts = (
            [int(np.sum(x)) for x in column]
            for column in (
                [hit & (true == c) for c in ids],
                [accepted & (predicted == c) for c in ids],
                [true == c for c in ids],
            )
        )
        classes = columns["predictions"].shape[1] if columns["predictions"].ndim == 2 else len(ids)
        assert results[name] == pytest.approx(float(2 * exact_macro_f(*map(np.asarray, counts)) / classes), abs=1e-12)


@by_name
@many
@given(seed=seeds)
def test_permutations_and_batches(name: str, seed: int) -> None:
    columns, options = draw(name, seed)
    rng, n = np.random.default_rng(seed), len(columns["references"])
    whole = metric_class(name)(**options, per_sample=True).compute(**columns)["per_sample"]
    order = rng.permutation(n)
    metric, other = (metric_class(name)(**options, per_sample=True) for _ in range(2))
    parts = np.split(order, np.sort(rng.integers(0, n + 1, 2)))
    for part, into in zip(parts, (metric, other, other)):
        into.add_batch(**{key: cases.take(column, part) for key, column in columns.items()})
    metric.merge(other.state())
    moved = metric.compute()["per_sample"]
    assert sorted((int(order[i]), *rest) for i, *rest in rows(moved)) == rows(whole)
    assert moved["sample"] == sorted(moved["sample"])


@by_name
@few
@given(seed=seeds)
def test_the_table_of_a_group_is_that_of_its_samples(name: str, seed: int) -> None:
    columns, options = draw(name, seed)
    twice = {key: np.concatenate([column, column]) for key, column in columns.items()}
    n = len(columns["references"])
    groups = np.random.default_rng(seed).permutation(["a"] * n + [""] * n)
    own, shared = (np.flatnonzero(groups == group) for group in ("a", ""))
    parts = {key: np.concatenate([column[own], column[shared]]) for key, column in twice.items()}
    alone = metric_class(name)(**options, per_sample=True).compute(**parts)
    found = metric_class(name)(**options, per_sample=True).compute(**twice, groups=groups)
    assert "per_sample" not in found
    assert found["groups"] == {"group": ["a"], **{key: [value] for key, value in alone.items()}}


@by_name
@few
@given(seed=seeds)
def test_intervals_and_comparisons_are_those_without_the_table(name: str, seed: int) -> None:
    columns, options = draw(name, seed)
    options |= {"confidence_level": 0.9, "n_resamples": 5}
    with_table = metric_class(name)(**options, per_sample=True).compute(**columns)
    plain = metric_class(name)(**options).compute(**columns)
    assert {key: with_table[key] for key in plain} == plain
    first = {key: columns.pop(key) for key in ("predictions", "open_scores") if key in columns}
    tables = [
        compare(metric_class(name)(**options, **more), first, first, **columns, n_resamples=5)
        for more in ({}, {"per_sample": True})
    ]
    assert tables[0] == tables[1]


@by_name
def test_through_evaluate_and_json(name: str, load: Load, tmp_path: Path) -> None:
    columns, options = draw(name, 1)
    expected = metric_class(name)(**options, per_sample=True).compute(**columns)
    loaded = load(name, **options, per_sample=True)
    loaded.add_batch(**columns)
    assert loaded.compute() == expected
    assert load(name, **options).compute(**columns, per_sample=True) == expected
    (tmp_path / "results.json").write_text(as_json(expected))
    assert read_results(tmp_path / "results.json") == json.loads(as_json(expected)) == expected


def test_over_dask_samples_come_row_group_by_row_group(tmp_path: Path) -> None:
    dask, pq, pa = (pytest.importorskip(library) for library in ("dask", "pyarrow.parquet", "pyarrow"))
    from openworld_metrics.cluster import compute_parquet

    columns = {"predictions": [1, 2, 5, 3, 4, 0], "references": [0, 0, 1, 1, 1, 0]}
    typed = {name: np.asarray(column, np.int16) for name, column in columns.items()}  # which would be counted
    pq.write_table(pa.table(typed), tmp_path / "scores.parquet", row_group_size=2)
    with dask.config.set(scheduler="synchronous"):
        found = compute_parquet("ood_bench", tmp_path / "scores.parquet", per_sample=True)
    assert found == metric_class("ood_bench")(per_sample=True).compute(**columns)


@by_name
def test_samples_that_have_been_counted_are_refused_until_asked_for_at_load(name: str) -> None:
    columns = cases.draw(name, 3)[0]
    column = "predictions" if name == "ood_bench" else "open_scores"
    columns[column] = (64 * columns[column]).astype(np.int16)
    counted, metric = metric_class(name)(), metric_class(name)(per_sample=True)
    for each in (counted, metric):
        each.add_batch(**columns)
    [state], [whole] = counted.states(), metric.states()
    assert ("counts" in state, "counts" in whole) == (True, False)
    counted.reset()
    counted.merge(state)
    message = "per_sample: equal samples were counted as batches were added; give it at load, not at compute"
    with pytest.raises(ValueError, match=f"^{message}$"):
        counted.compute(per_sample=True)
    assert counted.compute() == metric.compute(per_sample=False)


@pytest.mark.parametrize("name", ["openauc", "ood_bench"])
def test_cut_scores_are_refused(name: str) -> None:
    metric = metric_class(name)(per_sample=True, significant_bits=8)
    message = "per_sample: expected no significant_bits, which keep no sample's score; got both"
    with pytest.raises(ValueError, match=f"^{message}$"):
        metric.compute(**cases.draw(name, 3)[0])


@pytest.mark.parametrize("name", ["macro_open_f", "micro_open_f"])
def test_scores_that_were_rounded_to_thresholds_are_refused(name: str) -> None:
    columns = {"predictions": [0, 1, 1], "references": [0, 1, -1], "open_scores": [0.1, 0.2, 0.9]}
    metric = metric_class(name)(t_list=0.5)
    metric.add_batch(**columns)
    message = "per_sample: scores were rounded up to t_list as batches were added; give it at load, not at compute"
    with pytest.raises(ValueError, match=f"^{message}$"):
        metric.compute(per_sample=True)
    metric = metric_class(name)(t_list=0.5, per_sample=True)
    metric.add_batch(**columns)
    assert metric.compute()["per_sample"]["score"] == [0.1, 0.2, 0.9]


def test_what_else_is_refused() -> None:
    metric, columns = metric_class("ood_bench")(), {"predictions": [0.1, 0.6, 0.4, 0.9], "references": [0, 0, 1, 1]}
    message = "per_sample: expected a threshold with a step, since sampled points are not reached; got none"
    with pytest.raises(ValueError, match=f"^{message}$"):
        metric.compute(**columns, step=2, per_sample=True)
    assert metric.compute(**columns, step=2, threshold=0.5, per_sample=True)["per_sample"]["sample"] == [0, 1, 2, 3]
    for name in METRICS:
        given = cases.draw(name, 1)[0]
        with pytest.raises(TypeError, match=r"^per_sample: expected True or False, got 'yes'$"):
            metric_class(name)(per_sample="yes").compute(**given)
    infinite = {"predictions": [-np.inf, 0.6, -np.inf, 0.9], "references": [0, 0, 1, 1]}
    with pytest.raises(ValueError, match="expected scores above -inf where fpr95tpr is reached"):
        metric.compute(**infinite, per_sample=True)


def test_by_hand() -> None:
    columns = {"predictions": [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.7, 0.3]], "references": [0, 0, 1, -2]}
    found = metric_class("openauc")().compute(**columns, open_scores=[0.1, 0.3, 0.7, 0.5], per_sample=True)
    assert found["open_set_accuracy@tpr95"] == float(Fraction(3, 4))
    assert list(found)[-2:] == ["open_set_accuracy@tpr95_threshold", "per_sample"]
    assert found["per_sample"] == {
        "sample": [0, 1, 2, 3],
        "score": [0.1, 0.3, 0.7, 0.5],
        "reference": ["known", "known", "known", "unknown"],
        "decision": ["known", "known", "unknown", "unknown"],
        "outcome": ["known, right class", "known, wrong class", "known, called unknown", "unknown, called unknown"],
    }


def test_a_zero_has_no_sign() -> None:
    results = metric_class("ood_bench")(per_sample=True).compute(predictions=[-0.0, 1.0], references=[0, 1])
    assert repr(results["per_sample"]["score"]) == "[0.0, 1.0]"
