"""What a computation may cost on a page: small inputs that would take minutes or gigabytes are refused at once."""

from __future__ import annotations

import importlib
import io
import json
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest

import openworld_metrics
from openworld_metrics.pages.form.form import Form
from openworld_metrics.pages.metrics.openset_detection import MAX_PAIRS
from openworld_metrics.pages.runner import MAX_WORDS, Runner, explain
from openworld_metrics.pages.serving import costs, limits
from openworld_metrics.reading.limits import PAGES, RefusedError
from openworld_metrics.reading.tables import csv, files as readers
from tests.pages.steps import STEPS

SECONDS = 5  # a refusal takes some milliseconds


@pytest.fixture(scope="module")
def runner(root: Path) -> Callable[[str], Runner]:
    def make(name: str) -> Runner:
        return Runner(importlib.import_module(f"openworld_metrics.pages.metrics.{name}").PAGE, root / "metrics" / name)

    return make


@pytest.fixture(autouse=True)
def quick() -> Iterator[None]:
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < SECONDS


def boxes(count: int) -> dict[str, Any]:
    """Images of one prediction and of one object each, all of one place, if there are as many."""
    return {"predictions": [[[0, 0, 9, 9, 0.5, 0]] * count], "references": [[[0, 0, 9, 9, 0]] * count]}


OPEN_SET = {"predictions": [0, 1], "references": [0, -1], "open_scores": [0.1, 0.2]}
OOD = {"predictions": [0.1, 0.9], "references": [0, 1]}
MAPS = {"predictions": [[[0.1, 0.9]], [[0.2, 0.1]]], "references": [[[0, 1]], [[0, 0]]]}
RANKED = {"predictions": [[0.1, 0.9]], "references": [1]}
LONG = [0.5] * 99_999
KNOWN = {"known_classes": [0]}
EMPTY: list[Any] = [[]] * 20_001

LEVEL = {"confidence_level": 0.95}
LIMITS = [(i + 1) / 5_001 for i in range(5_000)]
KNOWN_OR_NOT = {
    "predictions": [0, 1] * 20,
    "references": [0, -1, 1, 1] * 10,
    "open_scores": [i / 40 for i in range(40)],
}


def of_groups(count: int) -> dict[str, Any]:
    """Two samples of each group."""
    groups = [i // 2 for i in range(2 * count)]
    return {"predictions": [0.1, 0.9] * count, "references": [0, 1] * count, "groups": groups}


COSTLY = {
    "pairs": ("openset_detection", boxes(3_000), KNOWN, "at most 4,000,000 pairs of a prediction and an object"),
    "known-classes": ("openset_detection", boxes(1), {"known_classes": [*range(10**6)]}, "5,000 values of known_cla"),
    "classes": (
        "openset_detection",
        {"predictions": [[[0, 0, 9, 9, 0.5, i] for i in range(10_000)]], "references": [[]]},
        KNOWN,
        "at most 10,000 known and predicted classes, not 10,001",
    ),
    "conf_list": ("openset_detection", boxes(1), {**KNOWN, "conf_list": LONG}, "5,000 values of conf_list"),
    "images": (
        "openset_detection",
        {"predictions": EMPTY, "references": EMPTY},
        KNOWN,
        "20,000 images",
    ),
    "num_thresholds": ("anomaly_suite", MAPS, {"num_thresholds": 10**8}, "5,000,000 num_thresholds"),
    "integration_limits": ("anomaly_suite", MAPS, {"integration_limits": LONG}, "5,000 values of integration_limits"),
    "thresholds-and-limits": (
        "anomaly_suite",
        MAPS,
        {"num_thresholds": 5_000_000, "integration_limits": LONG[:5_000]},
        "100,000,000 num_thresholds times integration_limits",
    ),
    "maps": ("anomaly_suite", {"predictions": [[[1]]] * 20_001, "references": [[[1]]] * 20_001}, {}, "20,000 images"),
    "k_list": ("accuracyk", RANKED, {"k_list": [1] * 99_999}, "5,000 values of k_list"),
    "t_list": ("macro_open_f", OPEN_SET, {"t_list": LONG}, "5,000 values of t_list"),
    "t_list-micro": ("micro_open_f", OPEN_SET, {"t_list": LONG}, "5,000 values of t_list"),
    "metrics": ("ood_bench", OOD, {"metrics": ["auroc"] * 99_999}, "5,000 values of metrics"),
    "groups": ("ood_bench", of_groups(2_001), {}, "2,000 groups, not 2,001"),
    "values-of-groups": (
        "ood_bench",
        of_groups(500),
        {"metrics": [f"fpr{i / 5 + 1:g}tpr" for i in range(400)]},
        "50,000 values of metrics times groups, not 200,000",
    ),
    "intervals-of-groups": ("ood_bench", of_groups(800), LEVEL, "at most 1,000,000 steps in each resample"),
    "intervals-of-keys": (
        "ood_bench",
        {"predictions": [0.1, 0.9] * 2_500, "references": [0, 1] * 2_500},
        {"metrics": [f"fpr{i / 10 + 1:g}tpr" for i in range(800)], **LEVEL},
        "1,000,000 steps in each resample",
    ),
    "intervals-of-limits": (
        "anomaly_suite",
        MAPS,
        {"integration_limits": LIMITS, **LEVEL},
        "1,000,000 steps in each resample",
    ),
    "intervals-of-fpr_list": ("openauc", KNOWN_OR_NOT, {"fpr_list": LIMITS, **LEVEL}, "1,000,000 steps in each"),
    "among-columns": ("anomaly_suite", {**MAPS, "num_thresholds": 10**8}, {}, "5,000,000 num_thresholds"),
}


@pytest.mark.parametrize("case", COSTLY)
def test_a_small_call_that_costs_much(case: str, runner: Callable[[str], Runner]) -> None:
    name, columns, options, message = COSTLY[case]
    with pytest.raises(RefusedError, match="the package and the command line have no such limit") as raised:
        runner(name).results(columns, options)
    assert message in str(raised.value)


def test_the_limit_of_pairs(runner: Callable[[str], Runner], monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a sum over images, and one below it is computed."""
    page = importlib.import_module("openworld_metrics.pages.metrics.openset_detection")
    assert MAX_PAIRS == 4_000_000
    monkeypatch.setattr(page, "MAX_PAIRS", 13)
    two = {name: [*boxes(3)[name], *boxes(2)[name]] for name in ("predictions", "references")}
    assert runner("openset_detection").results(two, KNOWN)["TP_known"] == 5
    monkeypatch.setattr(page, "MAX_PAIRS", 12)
    with pytest.raises(RefusedError, match=r"at most 12 pairs .* not 13"):
        runner("openset_detection").results(two, KNOWN)


def test_regions_times_limits(runner: Callable[[str], Runner]) -> None:
    dots = np.zeros((2, 200, 200))
    dots[0, ::2, ::2] = 1
    columns, limit = {"predictions": dots, "references": dots}, [0.5] * 1_001
    with pytest.raises(RefusedError, match="10,000,000 regions times integration_limits, not 10,010,000"):
        runner("anomaly_suite").results(columns, {"integration_limits": limit})
    with pytest.raises(RefusedError, match="times regions if there are any, not 5,010,000"):
        runner("anomaly_suite").results(columns, {"num_thresholds": 501})


def test_a_list_times_many_rows(runner: Callable[[str], Runner], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "MAX_STEPS", 11)
    columns = {"predictions": [0.1, 0.9, 0.3, 0.7], "references": [0, 1, 0, 1]}
    with pytest.raises(RefusedError, match="11 values of metrics times rows of the data, not 12"):
        runner("ood_bench").results(columns, {"metrics": ["auroc", "fpr95tpr", "tpr5fpr"]})
    assert runner("ood_bench").results(columns, {"metrics": ["auroc", "fpr95tpr"]})["auroc"] == 1.0


def test_ties_that_are_expected_at_every_k(runner: Callable[[str], Runner]) -> None:
    wide = {"predictions": np.arange(200_000.0).reshape(1, -1), "references": [3]}
    with pytest.raises(RefusedError, match="at most 100,000 in the sum of k_list with ties='expected'"):
        runner("autkc").results(wide, {"k_list": [60_000, 60_000], "ties": "expected"})
    with pytest.raises(RefusedError, match="not 200,000"):
        runner("autkc").results(wide, {"k_list": 200_000, "ties": "expected"})
    assert runner("autkc").results(wide, {"k_list": [200_000]})["autkc@200000"] == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("name", openworld_metrics.METRICS)
def test_what_the_tests_compute_costs_little(name: str, runner: Callable[[str], Runner], load: Any) -> None:
    steps = STEPS[name]
    results = runner(name).results(steps.columns, steps.options)
    assert results == load(name).compute(**steps.columns, **steps.options)


@pytest.mark.parametrize("value", [None, "many", [], [[1, 2]], 1e99, True, {"a": 1}])
@pytest.mark.parametrize("name", openworld_metrics.METRICS)
def test_a_wrong_option_is_for_the_metric_to_refuse(value: Any, name: str, runner: Callable[[str], Runner]) -> None:
    """Costs are counted before options are checked, and make no other errors of them."""
    steps = STEPS[name]
    for option in runner(name).defaults:
        with suppress(ValueError, TypeError):
            runner(name).results(steps.columns, {**steps.options, option: value})


@pytest.mark.parametrize("name", ["num_process", "process_id", "cache_dir", "experiment_id", "timeout", "self", "seed"])
@pytest.mark.parametrize("metric", openworld_metrics.METRICS)
def test_no_option_of_evaluate_is_taken(name: str, metric: str, runner: Callable[[str], Runner]) -> None:
    steps = STEPS[metric]
    known = ", ".join(runner(metric).defaults)
    with pytest.raises(TypeError) as raised:
        runner(metric).results(steps.columns, {**steps.options, name: 2})
    assert str(raised.value) == f"{metric} has no argument {name!r}; its options are {known}"


def test_columns_and_options_are_by_name(runner: Callable[[str], Runner]) -> None:
    with pytest.raises(TypeError, match=r"^columns: expected an object of values by name, got list$"):
        runner("ood_bench").results([OOD], {})
    with pytest.raises(TypeError, match=r"^options: expected an object of values by name, got str$"):
        runner("ood_bench").results(OOD, "auroc")


def show(runner: Runner, table: Any = None, files: Any = None) -> Any:
    page = runner.page
    rest = [None] * (len(page.sources) - 1)
    return runner.show(Form(tables=[table, *rest], files=[files, *rest]))


def test_two_columns_of_one_name(runner: Callable[[str], Runner], tmp_path: Path) -> None:
    for names in (["scores", "scores", "labels"], ["scores", " scores", "labels"]):
        table = pd.DataFrame([[0.1, 0.9, 0], [0.9, 0.1, 1]], columns=names)
        with pytest.raises(ValueError, match="table: expected columns of different names, got 2 named 'scores'"):
            show(runner("ood_bench"), table)
    (tmp_path / "a.csv").write_text("scores,scores,labels\n0.1,0.9,0\n0.9,0.1,1\n")
    arrays = [pyarrow.array(values) for values in ([0.1, 0.9], [0.9, 0.1], [0, 1])]
    pyarrow.parquet.write_table(pyarrow.table(arrays, ["scores", "scores", "labels"]), tmp_path / "a.parquet")
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("labels.npy", npy([0, 1]))
        archive.writestr("scores.npy", npy([0.1, 0.9]))
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("scores.npy", npy([0.9, 0.1]))
    for kind in ("csv", "parquet", "npz"):
        with pytest.raises(ValueError, match=rf"^a\.{kind}: .*scores"):
            show(runner("ood_bench"), files=[tmp_path / f"a.{kind}"])


def npy(values: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, np.asarray(values))
    return file.getvalue()


def test_many_columns(runner: Callable[[str], Runner], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A megabyte of commas took gigabytes: each column takes some 10 kB."""
    (tmp_path / "a.csv").write_text(",".join("ab" for _ in range(300_000)) + "\n1\n")
    (tmp_path / "b.csv").write_text("\n\r\n" + ",".join(f"c{i}" for i in range(5_001)) + "\n1\n")
    monkeypatch.setattr(csv, "Csv", lambda *_: pytest.fail("it was read"))
    for name, count in (("a.csv", "300,000"), ("b.csv", "5,001")):
        with pytest.raises(ValueError, match=f"{name}: expected at most 5,000 columns, got {count}"):
            show(runner("ood_bench"), files=[tmp_path / name])
    with pytest.raises(ValueError, match="table: expected at most 5,000 columns, got 5,001"):
        show(runner("ood_bench"), pd.DataFrame(np.zeros((1, 5_001))))
    table = pyarrow.table({"a": [1], "b": [1], "c": [1]})
    pyarrow.parquet.write_table(table, tmp_path / "c.parquet")
    np.savez(tmp_path / "d.npz", a=1, b=1, c=1)
    for name in ("c.parquet", "d.npz"):
        with pytest.raises(ValueError, match=f"{name}: expected at most 2 columns, got 3"):
            readers.read_table(tmp_path / name, limits=PAGES._replace(columns=2))


def test_many_columns_of_json(runner: Callable[[str], Runner], tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({f"c{i}": [1] for i in range(5_001)}))
    with pytest.raises(ValueError, match=r"a\.json: expected at most 5,000 columns, got 5,001"):
        show(runner("ood_bench"), files=[tmp_path / "a.json"])


def test_long_names(runner: Callable[[str], Runner], tmp_path: Path) -> None:
    """Runs of numbered columns are found with a pattern, which takes minutes for a name of 100,000 underscores."""
    with pytest.raises(ValueError, match="expected names of at most 200 characters, got one of 100,000"):
        show(runner("ood_bench"), pd.DataFrame({"_" * 100_000: [1]}))
    (tmp_path / "a.json").write_text(json.dumps({"_" * 100_000: [1]}))
    with pytest.raises(ValueError, match="expected names of at most 200 characters"):
        show(runner("ood_bench"), files=[tmp_path / "a.json"])


def test_names_that_no_answer_can_hold(runner: Callable[[str], Runner], tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"\ud800": [1], "labels": [0]}))
    with pytest.raises(ValueError, match=r"expected names that can be encoded in UTF-8, got '.ud800'"):
        show(runner("ood_bench"), files=[tmp_path / "a.json"])
    assert explain(ValueError("got \ud800 and ä")) == r"got \ud800 and ä"


def test_many_images_of_a_table(runner: Callable[[str], Runner]) -> None:
    columns = ["image", "x1", "y1", "x2", "y2", "confidence", "class"]
    table = pd.DataFrame(np.zeros((20_001, 7)), columns=columns)
    table["image"] = np.arange(20_001)
    with pytest.raises(ValueError, match="20,000 images in predictions, not 20,001"):
        runner("openset_detection").show(Form(tables=[table, table.drop(columns="confidence")]))


def test_what_is_said_is_short_and_has_no_addresses() -> None:
    assert len(explain(ValueError("x" * 10**6))) == MAX_WORDS + 1
    assert explain(ValueError("got <ast.Call object at 0x7f50a1>")) == "got <ast.Call object>"


def test_the_limits_are_stated() -> None:
    for limit in ("200 files", "50 MB", "10 MB of JSON", "1 MB with 50,000 rows", "within two hours"):
        assert limit in limits.STATED
