"""The type of numbers does not decide what they mean, where the names of their columns say it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from openworld_metrics import read
from openworld_metrics.loading import metric_class
from openworld_metrics.reading.columns.kinds import meant_by
from tests.conftest import Run

METRICS = ("accuracyk", "autkc", "openauc", "macro_open_f", "micro_open_f")
NAMES = {
    "named": ("cat", "dog", "elk", "fox"),
    "numbered": ("class_0", "class_1", "class_2", "class_3"),
    "numbered from 1": ("class 1", "class 2", "class 3", "class 4"),
    "logits": ("logit0", "logit1", "logit2", "logit3"),
}
WRITERS: dict[str, Any] = {
    "csv": lambda path, frame: frame.to_csv(path, index=False),
    "tsv": lambda path, frame: frame.to_csv(path, index=False, sep="\t"),
    "parquet": lambda path, frame: frame.to_parquet(path),
    "json": lambda path, frame: path.write_text(json.dumps(frame.to_dict("list"))),
    "jsonl": lambda path, frame: frame.to_json(path, orient="records", lines=True),
}


def table(rng: np.random.Generator, names: tuple[str, ...], metric: str, kind: str) -> pd.DataFrame:
    """Whole scores of classes, true classes by the names of the columns or by numbers, and open scores."""
    size = int(rng.integers(6, 30))
    frame = pd.DataFrame({name: rng.integers(0, 7, size).astype(np.uint8) for name in names})
    classes = np.arange(size) % len(names)
    is_open = metric not in ("accuracyk", "autkc")
    labels = [*names] if kind == "named" else np.arange(len(names)) + (kind == "numbered from 1")
    frame["true_class"] = np.asarray(labels)[classes]
    if is_open:
        frame["open_score"] = rng.random(size)
        unknown = rng.random(size) < 0.3
        unknown[:5] = False, False, False, False, True  # each class is there
        frame.loc[unknown, "true_class"] = "unknown" if kind == "named" else -1
    return frame


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", NAMES)
def test_integers_and_floats_in_named_columns_give_one_result(metric: str, kind: str, tmp_path: Path) -> None:
    rng = np.random.default_rng([*map(ord, metric + kind)])
    names = NAMES[kind]
    for suffix, write in WRITERS.items():
        frame = table(rng, names, metric, kind)
        results = []
        for dtype in (np.uint8, np.int64, np.float32, np.float64):
            path = tmp_path / f"x.{suffix}"
            write(path, frame.astype(dict.fromkeys(names, dtype)))
            for columns in ({}, {"predictions": [*names]}):
                results.append(metric_class(metric)().compute(**read(metric, path, columns=columns).columns))
        assert results == results[:1] * len(results), suffix


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("name", ["logits", "probs", "scores"])
def test_integers_and_floats_in_named_arrays_give_one_result(metric: str, name: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for _ in range(5):
        frame = table(rng, NAMES["numbered"], metric, "numbered")
        labels = {column: frame[column].to_numpy() for column in frame if column in ("true_class", "open_score")}
        results = []
        for dtype in (np.uint8, np.int32, np.float16, np.float64):
            np.savez(tmp_path / "x.npz", **{name: frame[[*NAMES["numbered"]]].to_numpy(dtype)}, **labels)
            results.append(metric_class(metric)().compute(**read(metric, tmp_path / "x.npz").columns))
        assert results == results[:1] * len(results)


def test_open_scores_of_whole_logits(tmp_path: Path) -> None:
    """Scores that are computed from logits are those of the same numbers as floats."""
    models = []
    for text in (
        "5,0,cat\n0,4,dog\n1,1,unknown\n2,1,cat\n",
        "5.0,0.0,cat\n0.0,4.0,dog\n1.0,1.0,unknown\n2.0,1.0,cat\n",
    ):
        (tmp_path / "x.csv").write_text(f"cat,dog,label\n{text}")
        models.append(read("openauc", tmp_path / "x.csv").models)
    assert [*models[0]] == [*models[1]] != []
    assert all(np.array_equal(models[0][name]["open_scores"], models[1][name]["open_scores"]) for name in models[0])


@pytest.mark.parametrize("ids", ["top1,top2", "guess_1,guess_2", "predicted_class_id_1,predicted_class_id_2"])
def test_columns_named_for_class_ids(ids: str, tmp_path: Path, run: Run) -> None:
    """The best guesses of each sample, as integers and as the floats that a blank cell elsewhere makes of them."""
    for end in ("", ".0"):
        rows = "".join(f"{a}{end},{b}{end},{label}\n" for a, b, label in [(3, 1, 1), (0, 2, 0), (2, 5, 5), (4, 1, 2)])
        (tmp_path / "x.csv").write_text(f"{ids},label\n{rows}")
        code, output, errors = run("compute", "accuracyk", tmp_path / "x.csv")
        assert (code, json.loads(output)) == (0, {"accuracy": 0.75}), errors


def test_votes_in_columns_named_after_classes(tmp_path: Path, run: Run) -> None:
    """Row 16 of reports: whole votes for cat, dog and elk are scores, as the note says."""
    (tmp_path / "votes.csv").write_text("cat,dog,elk,label\n3,1,0,cat\n0,4,0,dog\n1,1,2,elk\n0,3,1,dog\n")
    places = {"predictions": f"{tmp_path}/votes.csv:cat,dog,elk", "references": f"{tmp_path}/votes.csv:label"}
    for source in ([tmp_path / "votes.csv"], [part for name, place in places.items() for part in (f"--{name}", place)]):
        code, output, errors = run("compute", "accuracyk", *source, "--k-list", "1")
        assert (code, json.loads(output)) == (0, {"accuracy@1": 1.0})
        assert "references are names of the columns of class scores" in errors


def test_an_assumed_meaning_of_whole_numbers_is_said(tmp_path: Path, run: Run) -> None:
    np.savez(tmp_path / "x.npz", predictions=[[0, 1], [1, 2]], labels=[0, 1])
    assert (
        "predictions are class ids, since they are whole numbers" in run("compute", "accuracyk", tmp_path / "x.npz")[2]
    )


def test_one_column_of_floats_is_of_class_ids(tmp_path: Path, run: Run) -> None:
    for point in ("", ".0"):
        (tmp_path / "x.csv").write_text(f"pred,label\n1{point},1\n0{point},0\n2{point},1\n")
        code, output, errors = run("compute", "accuracyk", tmp_path / "x.csv")
        assert (code, [*json.loads(output).values()]) == (0, [2 / 3]), errors


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["pred_0", "pred_1"], "automatic"),
        (["predictions"], "automatic"),
        (["class"], "automatic"),
        (["0", "1"], "automatic"),
        (["pred_logit_0", "pred_logit_1"], "scores"),
        (["-cat", "-dog"], "scores"),
        (["class_prob[0]", "class_prob[1]"], "scores"),
    ],
)
def test_what_names_say(names: list[str], expected: str) -> None:
    assert meant_by(names, 2) == expected
    assert meant_by(names, 1) == "class ids"


def test_whole_scores_of_numbered_classes_are_said(tmp_path: Path, run: Run) -> None:
    for point, said in (("", True), (".0", False)):
        (tmp_path / "x.csv").write_text(f"class_0,class_1,label\n3{point},1,0\n0{point},4,1\n")
        code, output, errors = run("compute", "accuracyk", tmp_path / "x.csv")
        assert (code, json.loads(output)) == (0, {"accuracy": 1.0})
        assert ("whole numbers of predictions are scores, as the names of their columns say" in errors) is said
