"""Results for loggers: which numbers there are, what they are called, and that loggers take them."""

from __future__ import annotations

import math
import posixpath
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from openworld_metrics.written import flat
from tests import cases

RESULTS = {
    "auroc": 0.75,
    "accuracy@5": 0.5,
    "total": 3,
    "macro_open_f_threshold": -math.inf,
    "macro_open_f_curve": [0.1, 0.2],
    "known": True,
    "name": "a word",
    "per_class": {"class": [0, 1], "accuracy": [0.5, 1.0]},
    "standard_metrics": {"mAP50": 0.25, "names": ["cat"]},
    "groups": {"group": ["near", "near/tin"], "auroc": [0.5, 0.5], "curve": [[0.1], [0.2]], "void": [None, 1.0]},
}
NUMBERS = {
    "auroc": 0.75,
    "accuracy@5": 0.5,
    "total": 3,
    "macro_open_f_threshold": -math.inf,
    "standard_metrics/mAP50": 0.25,
    "near/auroc": 0.5,
    "near/tin/auroc": 0.5,
    "near/tin/void": 1.0,
}


def test_scalars_by_name() -> None:
    assert flat(RESULTS) == NUMBERS
    assert list(flat(RESULTS)) == list(NUMBERS)
    assert flat(RESULTS, "val") == flat(RESULTS, "val/") == {f"val/{name}": x for name, x in NUMBERS.items()}
    assert {type(x) for x in flat(RESULTS).values()} == {int, float}
    assert flat({}) == {}


def test_plain_names() -> None:
    assert "accuracy_5" in flat(RESULTS, plain=True)
    assert list(flat({"U-Recall": 1.0, "WI(OWOD)@0.8": 1.0}, "Übung 1", plain=True)) == [
        "_bung 1/U-Recall",
        "_bung 1/WI_OWOD__0.8",
    ]
    assert list(flat({"./a": {"x": 1.0, "..": 2.0}, "/b//.c": 3.0}, "val", plain=True)) == [
        "val/_/a/x",
        "val/_/a/__",
        "val/_/b/_/_c",
    ]
    long = [f"{'a' * 300}{end}" for end in "bc"]
    assert [name[:233] for name in flat(dict.fromkeys(long, 1.0), plain=True)] == ["a" * 233] * 2


def is_taken(name: str) -> bool:
    """Whether MLflow 3.17 takes the name of a metric, on all systems."""
    norm = posixpath.normpath(name)
    is_path = norm == name and norm != "." and not norm.startswith(("..", "/"))
    return is_path and len(name) <= 250 and re.fullmatch(r"[/\w.\- ]*", name, re.ASCII) is not None


@pytest.mark.parametrize("name", cases.METRICS)
def test_mlflow_takes_every_name(name: str, load: Callable[..., Any]) -> None:
    """Of every key and group, or two numbers would have one name, which is an error."""
    columns, options = cases.draw(name, 0)
    results = load(name, **options).compute(**columns)
    rng, key = random.Random(name), next(iter(flat(results)))
    for _ in range(200):
        letters = "a1Ü/.. @:%_-\n~" if rng.random() < 0.5 else "ab../"
        group, prefix = ("".join(rng.choices(letters, k=rng.choice([1, 2, 3, 5, 300]))) for _ in range(2))
        grouped = {**results, "groups": {"group": [group, f"{group}b"], key: [1.0, 0.5]}}
        numbers = flat(grouped, prefix, plain=True)
        assert len(numbers) == len(flat(grouped, prefix))
        assert [one for one in numbers if not is_taken(one)] == []


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ({"a@1": 1.0, "a_1": 2.0}, "expected one number of a name, got two of 'a_1'"),
        ({"groups": {"group": ["a", "b"], "x": [1.0]}}, "groups: expected a list of 2 for x"),
        ({"groups": {"group": "ab", "x": [1.0, 2.0]}}, "groups: expected a list of names, got 'ab'"),
        ({"groups": {"group": ["a", "a"], "x": [1.0, 2.0]}}, "groups: expected each once, got a, a"),
    ],
    ids=["one name", "lengths", "no list", "a group twice"],
)
def test_errors(results: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        flat(results, plain=True)


@pytest.mark.parametrize("name", cases.METRICS)
def test_every_metric(name: str, load: Callable[..., Any]) -> None:
    columns, options = cases.draw(name, 0)
    results = load(name, **options).compute(**columns)
    numbers = flat(results)
    assert numbers
    assert set(numbers) <= set(results)


def test_tensorboard(tmp_path: Path) -> None:
    tensorboard = pytest.importorskip("torch.utils.tensorboard", exc_type=ImportError)
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    with tensorboard.SummaryWriter(str(tmp_path)) as writer:
        for name, value in flat(RESULTS, "val").items():
            writer.add_scalar(name, value, global_step=2)
    read = events.EventAccumulator(str(tmp_path))
    read.Reload()
    assert {name: read.Scalars(name)[0].value for name in read.Tags()["scalars"]} == pytest.approx(flat(RESULTS, "val"))


def test_mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'runs.db'}")
    finite = {name: value for name, value in flat(RESULTS, "val", plain=True).items() if math.isfinite(value)}
    with mlflow.start_run() as run:
        mlflow.log_metrics(finite)
    assert mlflow.get_run(run.info.run_id).data.metrics == finite


def test_trackio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    trackio = pytest.importorskip("trackio")
    storage = pytest.importorskip("trackio.sqlite_storage").SQLiteStorage
    numbers = {**flat(RESULTS, "val"), "val/threshold": math.inf}
    trackio.init(project="project", name="run")
    trackio.log(numbers)
    trackio.finish()
    [logged] = storage.get_logs("project", "run")
    assert {name: logged[name] for name in numbers} == numbers
