"""The column `groups`: a group's results are those of its samples alone, and the metric's are means over the groups."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from openworld_metrics import METRICS, AnomalySuite, OODBench, compare
from openworld_metrics.cluster import compute_parquet
from openworld_metrics.command.commands import cli
from openworld_metrics.integrations.combining import combine
from openworld_metrics.loading import metric_class
from openworld_metrics.metric.groups import rows_of_groups
from tests import cases
from tests.splitting import batches, rows, split_options

Load = Callable[..., Any]
every_metric = pytest.mark.parametrize("name", METRICS)
SCORES = dict(predictions=[0.1, 0.4, 0.9, 0.3, 0.8], references=[0, 0, 1, 1, 1])


def grouped(name: str, seed: int) -> tuple[cases.Columns, dict[str, Any], dict[str, Any]]:
    """Columns with groups, the metric's options, and those that are given at load."""
    columns, options = cases.draw(name, seed)
    return cases.with_groups(columns, seed), options, split_options(name, options)[0]


def alone(name: str, columns: cases.Columns, options: dict[str, Any], group: str) -> dict[str, Any]:
    here = np.flatnonzero(np.isin(columns["groups"], [group, ""]))
    own = {key: column for key, column in rows(columns, here.tolist()).items() if key != "groups"}
    return metric_class(name)(**options).compute(**own)


@every_metric
@pytest.mark.parametrize("seed", range(4))
def test_a_row_has_the_bits_of_its_group_alone(name: str, seed: int) -> None:
    columns, options, _ = grouped(name, seed)
    results = metric_class(name)(**options).compute(**columns)
    table = results["groups"]
    assert table["group"] == ["far", "near", "near/a", "near/b"]
    found = {group: alone(name, columns, options, group) for group in ("far", "near/a", "near/b")}
    for key, column in table.items():
        if key == "group":
            continue
        by_group = dict(zip(table["group"], column))
        assert {group: by_group[group] for group in found} == {group: own[key] for group, own in found.items()}
        values = [own[key] for own in found.values()]
        if isinstance(values[0], float) and not key.endswith("threshold"):
            assert results[key] == math.fsum(values) / 3
            assert by_group["near"] == math.fsum(values[1:]) / 2
        elif type(values[0]) is int:
            assert results[key] == sum(values)
        else:
            assert key not in results
            assert by_group["near"] is None


@every_metric
def test_batches_order_and_merges_change_no_bit(name: str, load: Load) -> None:
    columns, options, at_load = grouped(name, 5)
    expected = metric_class(name)(**options).compute(**columns)
    rng = np.random.default_rng(0)
    shuffled = rows(columns, rng.permutation(len(columns["groups"])).tolist())
    streamed, merged = load(name, **at_load), metric_class(name)(**options)
    for batch in batches(shuffled, rng):
        streamed.add_batch(**batch)
        part = metric_class(name)(**options)
        part.add_batch(**batch)
        merged.merge(json.loads(json.dumps({key: array.tolist() for key, array in part.state().items()})))
    assert len(streamed) == len(merged) == len(columns["groups"])
    assert sum(len(_merged(name, options, state)) for state in merged.states()) == len(merged)
    chosen = {key: value for key, value in options.items() if key not in at_load}
    assert streamed.compute(**chosen) == merged.compute() == expected


def _merged(name: str, options: dict[str, Any], state: dict[str, Any]) -> Any:
    metric = metric_class(name)(**options)
    metric.merge(state)
    return metric


@every_metric
def test_intervals_of_groups(name: str) -> None:
    columns, options, _ = grouped(name, 6)
    drawn = dict(confidence_level=0.8, n_resamples=30)
    results = metric_class(name)(**options, **drawn).compute(**columns)
    other = metric_class(name)(**options, **drawn)
    rng = np.random.default_rng(0)
    for batch in batches(rows(columns, rng.permutation(len(columns["groups"])).tolist()), rng):
        other.add_batch(**batch)
    assert other.compute() == results
    bounded = [key for key in results if f"{key}_low" in results]
    assert bounded
    for key in bounded:
        table = results["groups"]
        assert results[f"{key}_low"] <= results[f"{key}_high"]
        assert len(table[f"{key}_low"]) == len(table[f"{key}_high"]) == len(table["group"])
    # one group, and no samples that belong to all: the same resamples as without groups
    plain, options = cases.draw(name, 6)
    one = metric_class(name)(**options, **drawn).compute(**plain, groups=["all"] * len(plain["references"]))
    without = metric_class(name)(**options, **drawn).compute(**plain)
    assert {key: one[key] for key in without if key in one} == {key: without[key] for key in without if key in one}


INTERVALS: dict[str, Any] = dict(confidence_level=0.8, n_resamples=20)


@every_metric
@pytest.mark.parametrize("seed", [11, 12])
def test_a_group_that_shares_no_samples_has_the_interval_that_it_has_alone(name: str, seed: int) -> None:
    """To the bit; so another group moves no interval of its own."""
    columns, options, _ = grouped(name, seed)
    columns = {**columns, "groups": [group or "far" for group in columns["groups"]]}
    options |= INTERVALS
    table = metric_class(name)(**options).compute(**columns)["groups"]
    rows_of_table = {group: {key: column[i] for key, column in table.items()} for i, group in enumerate(table["group"])}
    for group in ("far", "near/a", "near/b"):
        own = alone(name, columns, options, group)
        assert any(key.endswith("_low") for key in own)
        assert {key: rows_of_table[group][key] for key in own} == own
    fewer = rows(columns, [i for i, group in enumerate(columns["groups"]) if group != "near/b"])
    without = metric_class(name)(**options).compute(**fewer)["groups"]
    at = without["group"].index("far")
    assert {key: column[at] for key, column in without.items()} == rows_of_table["far"]


@every_metric
def test_one_group_is_no_group(name: str) -> None:
    columns, options = cases.draw(name, 21)
    metric = metric_class(name)(**options, **INTERVALS)
    expected = metric.compute(**columns)
    of_groups = metric.compute(**columns, groups=["one"] * len(columns["references"]))
    table = of_groups.pop("groups")
    assert {key: column[0] for key, column in table.items() if key != "group"} == expected
    assert of_groups == {key: expected[key] for key in of_groups}


@every_metric
@pytest.mark.parametrize("shared", [False, True])
def test_a_comparison_the_other_way_round_is_its_mirror_image(name: str, shared: bool) -> None:
    columns, options, _ = grouped(name, 31)
    if not shared:
        columns["groups"] = [group or "far" for group in columns["groups"]]
    own = "open_scores" if "open_scores" in columns else "predictions"
    first = {own: columns.pop(own)}
    second = {own: first[own][::-1]}
    there = compare(name, first, second, **columns, **options, n_resamples=15)
    back = compare(name, second, first, **columns, **options, n_resamples=15)
    assert there["key"] == back["key"]
    assert there["difference"] == [-value for value in back["difference"]]
    assert there["low"] == pytest.approx([-value for value in back["high"]], abs=1e-15)
    assert there["p_value"] == back["p_value"]
    turned = {"first": "second", "second": "first", None: None}
    assert there["better"] == [turned[value] for value in back["better"]]


def test_groups_that_lack_a_class_are_skipped_if_asked_for() -> None:
    columns = dict(predictions=[0.1, 0.4, 0.9, 0.3], references=[0, 1, 1, 0], groups=["a/x", "a/x", "a/y", "b"])
    with pytest.raises(ValueError, match="group 'a/y': references: expected samples of both classes"):
        OODBench(metrics="auroc").compute(**columns)
    results = OODBench(metrics="auroc", groups_without="skip", **INTERVALS).compute(**columns)
    assert (results["auroc"], results["groups_skipped"]) == (1.0, 2)
    table = results["groups"]
    assert dict(zip(table["group"], table["auroc"])) == {"a": 1.0, "a/x": 1.0, "a/y": None, "b": None}
    with pytest.raises(ValueError, match="groups: expected a group with samples of both classes, got none"):
        OODBench(groups_without="skip").compute(predictions=[0.1, 0.2], references=[0, 1], groups=["a", "b"])
    with pytest.raises(ValueError, match="groups_without: expected one of 'raise', 'skip', got 'drop'"):
        OODBench(groups_without="drop")


def test_shared_samples_are_drawn_once_for_all_groups() -> None:
    """Two groups that have the same samples of their own, and share the others, can only differ by their own draws."""
    rng = np.random.default_rng(0)
    shared, own = rng.normal(size=200), rng.normal(size=1) + 1
    scores = np.concatenate([shared, own, own])
    columns = dict(predictions=scores, references=[0] * 200 + [1, 1], groups=[None] * 200 + ["a", "b"])
    results = OODBench(metrics="auroc", confidence_level=0.9, n_resamples=50).compute(**columns)
    low, high = (results["groups"][f"auroc_{end}"] for end in ("low", "high"))
    assert low[0] == low[1] == results["auroc_low"] < results["auroc_high"] == high[0] == high[1]


def test_a_group_of_one_batch_is_no_prefix_of_that_of_another() -> None:
    """Its row would be the mean of the others."""
    metric, other = OODBench(), OODBench()
    metric.add_batch(**SCORES, groups=["a"] * 5)
    other.add_batch(**SCORES, groups=["a/b"] * 5)
    metric.merge(other.state())
    with pytest.raises(ValueError, match="expected a name of a group or of what is before a slash, got 'a' for both"):
        metric.compute()


def test_a_comparison_by_group() -> None:
    other = [0.1, 0.2, 0.9, 0.8, 0.3]
    groups = ["", "", "near/x", "near/x", "far"]
    table = compare("ood_bench", SCORES["predictions"], other, references=SCORES["references"], groups=groups)
    rows_of_table = zip(table["group"], table["key"], table["first"], table["second"], table["difference"])
    assert [row for row in rows_of_table if row[1] == "auroc"] == [
        (None, "auroc", 0.875, 1.0, -0.125),
        ("far", "auroc", 1.0, 1.0, 0.0),
        ("near", "auroc", 0.75, 1.0, -0.25),
        ("near/x", "auroc", 0.75, 1.0, -0.25),
    ]
    same = compare("ood_bench", other, other, references=SCORES["references"], groups=groups)
    assert set(same["difference"]) == {0.0}
    assert set(same["p_value"]) == {1.0}


@pytest.mark.parametrize(
    ("groups", "names"),
    [
        ([10, 9, 10], ["9", "10"]),
        (np.asarray([1.0, np.nan, 2.0]), ["1", "2"]),
        (np.asarray(["b", "a", ""]), ["a", "b"]),
        (["b", 1, None], ["1", "b"]),
    ],
)
def test_names(groups: Any, names: list[str]) -> None:
    columns = dict(predictions=[[0.9, 0.1]] * 3, references=[0, 1, 0])
    assert metric_class("accuracyk")().compute(**columns, groups=groups)["groups"]["group"] == names


def test_columns_of_other_libraries() -> None:
    expected = {"a": [0, 3], "": [1], "b": [2]}
    torch, pandas, arrow = (pytest.importorskip(name) for name in ("torch", "pandas", "pyarrow"))
    names = ["a", None, "b", "a"]
    columns = [
        pandas.Series(names),
        pandas.Series(names, dtype="string"),
        pandas.Series(names, dtype="category"),
        arrow.array(names),
        arrow.chunked_array([names[:2], names[2:]]),
    ]
    for column in columns:
        assert {name: places.tolist() for name, places in rows_of_groups(column).items()} == expected
    assert {name: places.tolist() for name, places in rows_of_groups(torch.tensor([3, 1, 3])).items()} == {
        "3": [0, 2],
        "1": [1],
    }


def test_processes_and_combined_metrics(load: Load, tmp_path: Path) -> None:
    groups = ["", None, "near/x", "near/x", "far"]
    expected = OODBench().compute(**SCORES, groups=groups)
    run = dict(num_process=2, cache_dir=str(tmp_path), experiment_id="groups")
    metrics = [load("ood_bench", process_id=rank, **run) for rank in range(2)]
    for rank, metric in enumerate(metrics):
        metric.add_batch(**rows({**SCORES, "groups": groups}, range(rank, 5, 2)))
    with ThreadPoolExecutor() as pool:
        assert [future.result() for future in [pool.submit(metric.compute) for metric in metrics]] == [expected, None]
    both = combine({"a": load("ood_bench"), "b": load("ood_bench", metrics="aupr_in")})
    assert both.compute(**SCORES, groups=groups)["a_groups"] == expected["groups"]


def test_no_group_at_all_is_as_without_the_column() -> None:
    assert OODBench().compute(**SCORES, groups=[None] * 5) == OODBench().compute(**SCORES)


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        (["a"] * 4, ValueError, "expected columns of one length, got 5 predictions, 5 references, 4 groups"),
        (["a", "a", "a", "b", "b"], ValueError, r"group 'b': references: .*, got 2 unknown"),
        ([0.5] * 5, TypeError, "groups: expected strings or integers, got 0.5"),
        ([2.0**53] * 5, TypeError, "groups: expected strings or integers, got 9007199254740992.0"),  # maybe rounded
        ([True] * 5, TypeError, "groups: expected strings or integers, got True"),
        ([{"a": 1}] * 5, TypeError, "groups: expected strings or integers, got unhashable"),
        ([["a", 0.5]] * 5, TypeError, "groups: expected strings or integers, got 0.5"),
        (["a|"] * 5, ValueError, "groups: expected names such as near/cifar100, got ''"),
        ([["a", None]] * 5, ValueError, "groups: expected names such as near/cifar100, got ''"),
        (["a|a/b", "a", "a", "a", "a"], ValueError, "got 'a' for both"),
        ("aaaaa", TypeError, "groups: expected a column of strings or integers, got str"),
        (np.zeros((5, 1), int), ValueError, r"groups: expected shape \(N,\), got shape \(5, 1\)"),
        (["a/"] * 5, ValueError, "groups: expected names such as near/cifar100, got 'a/'"),
        (["a", "a/b", "a", "a", "a"], ValueError, "got 'a' for both"),
        (["a/" * 11 + "a"] * 5, ValueError, "at most 10 slashes and 1,000 characters, got 'a/a/"),
        (["a" * 1001] * 5, ValueError, "at most 10 slashes and 1,000 characters, got 'a{50}'…"),
    ],
)
def test_errors(groups: Any, error: type[Exception], message: str) -> None:
    metric = OODBench()
    metric.add_batch(predictions=[0.5], references=[0], groups=["c"])
    before = repr(metric.state())
    with pytest.raises(error, match=message):
        metric.compute(**SCORES, groups=groups)
    assert repr(metric.state()) == before


def test_a_message_names_the_row_of_the_batch() -> None:
    scores = [0.1, 0.2, float("nan"), 0.4]
    with pytest.raises(ValueError, match="predictions: expected no NaN, got NaN at position 2"):
        OODBench().add_batch(predictions=scores, references=[0, 1, 0, 1], groups=["b", "b", "a", "a"])


def test_the_longest_name() -> None:
    name = "/".join(["a" * 90] * 11)
    found = OODBench().compute(**SCORES, groups=[name] * 5)["groups"]["group"]
    assert (len(name), max(found, key=len)) == (1_000, name)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"groups": np.asarray(["a", "a"])}, "expected different names"),
        ({"groups": np.asarray([1, 2])}, "expected different names"),
        ({"groups": np.asarray(["a", "c|b"])}, "expected different names"),
        ({"groups": np.asarray(["a"])}, "expected arrays 0/… to 0/… of 1 groups, got 1/scores"),
        ({"groups": np.asarray(["a", "b", "c"])}, "expected arrays of each of its groups, got none of 'c'"),
        ({"groups": np.asarray(["a", "a/b"])}, "got 'a' for both"),
        ({"groups": np.asarray(["a", "a/" * 11 + "b"])}, "at most 10 slashes"),
        ({"scores": np.zeros(3)}, "of 2 groups, got scores"),
        ({"0/scores": np.zeros(3)}, "expected arrays of one length"),
        ({"0/scores": np.asarray([np.nan])}, "expected no NaN"),
        ({"0/x": np.zeros(3)}, "expected the arrays"),
    ],
)
def test_a_malformed_state(changes: dict[str, Any], message: str) -> None:
    source, metric = OODBench(), OODBench()
    source.add_batch(predictions=[0.5, 0.1], references=[0, 1], groups=["a", "b"])
    with pytest.raises(ValueError, match=message):
        metric.merge({**source.state(), **changes})
    assert not len(metric)


@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
def test_files(ending: str, tmp_path: Path) -> None:
    """The command line and Dask, with samples that belong to all groups."""
    pandas, dask = pytest.importorskip("pandas"), pytest.importorskip("dask")
    file = tmp_path / f"scores.{ending}"
    names = [None, None, "near/x", "near/x", "far"]
    table = pandas.DataFrame({**SCORES, "set": names})
    write = {"csv": table.to_csv, "parquet": table.to_parquet, "json": partial(table.to_json, orient="records")}[ending]
    write(file, **({} if ending == "json" else {"index": False}))
    columns = {"predictions": "predictions", "references": "references", "groups": "set"}
    places = [word for name, column in columns.items() for word in (f"--{name}", f"{file}:{column}")]
    expected = OODBench().compute(**SCORES, groups=names)
    assert json.loads(CliRunner().invoke(cli, ["compute", "ood_bench", *places]).output) == expected
    if ending == "parquet":
        with dask.config.set(scheduler="synchronous"):
            assert compute_parquet("ood_bench", file, columns) == expected


def test_a_picture_of_groups(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({**SCORES, "groups": ["a"] * 5}))
    names = [word for name in (*SCORES, "groups") for word in (f"--{name}", str(tmp_path / "a.json"))]
    found = CliRunner().invoke(cli, ["compute", "ood_bench", *names, "--plot", str(tmp_path / "a.png")])
    assert found.exit_code == 0
    assert (tmp_path / "a.png").exists()


def test_arrays_of_known_and_of_unknown_samples_have_no_groups() -> None:
    sides = dict(open_set_pred_known=[0.1], open_set_pred_unknown=[0.9], close_set_pred_class=[0], close_set_labels=[0])
    with pytest.raises(TypeError, match="groups: expected columns with an entry per sample, got open_set_pred_known"):
        metric_class("openauc")().compute(**sides, groups=["a"])


def test_images_without_boxes() -> None:
    columns = dict(predictions=[[], []], references=[[], [[0, 0, 1, 1, 0]]], groups=["a", "b"])
    found = metric_class("openset_detection")(known_classes=[0], per_image=True).compute(**columns)
    assert found["groups"]["group"] == ["a", "b"]
    metric = metric_class("openset_detection")(known_classes=[0])
    metric.add_batch(predictions=[np.zeros((0, 6))] * 2, references=[np.zeros((0, 5))] * 2, groups=["a", "b"])
    assert len(metric) == 2


def test_names_are_text() -> None:
    metric = OODBench(metrics="auroc")
    columns = dict(predictions=[0.1, 0.9, 0.3, 0.2], references=[0, 1, 0, 1])
    assert "groups" in metric.compute(**columns, groups=[1, "1", 1, "1"])
    composed, decomposed = "\u00e9", "e\u0301"
    by_group = metric.compute(**columns, groups=[composed, composed, decomposed, decomposed])["groups"]
    assert by_group["group"] == sorted([composed, decomposed])


@pytest.mark.parametrize("levels", [["image", "pixel"], ["pixel", "image"]])
def test_a_level_that_no_group_has_is_counted(levels: list[str]) -> None:
    """The number of groups skipped at any of several levels is that of the groups skipped at one or the other."""
    maps = [[[0.1, 0.9], [0.2, 0.3]], [[0.1, 0.8], [0.2, 0.3]], [[0.1, 0.2], [0.3, 0.4]], [[0.5, 0.4], [0.3, 0.2]]]
    cut, whole = [[0, 1], [0, 0]], [[0, 0], [0, 0]]
    expected = [
        ("abcd", (cut, cut, whole, whole), 4),  # no group has images of both kinds, and two have no anomalous pixels
        ("aabb", (cut, whole, cut, whole), 0),
        ("aabb", (cut, cut, cut, cut), 2),
        ("aabb", (cut, whole, cut, cut), 1),
        ("aabb", (cut, whole, whole, whole), 1),
    ]
    for groups, masks, number in expected:
        columns = dict(predictions=maps, references=masks, groups=[*groups])
        results = AnomalySuite(groups_without="skip", levels=levels).compute(**columns)
        assert results["groups_skipped"] == number, groups
        assert "groups_skipped" not in results["groups"]
    alone = AnomalySuite(groups_without="skip").compute(predictions=maps[:2], references=[cut, cut])
    assert alone["groups_skipped"] == 1
    assert "image_auroc" not in alone
    assert "groups_skipped" not in AnomalySuite(groups_without="skip").compute(
        predictions=maps[:2], references=[cut, whole]
    )
