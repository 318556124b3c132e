"""The benchmark for the Hub: its files are what its command writes, and its validator says what is wrong."""

from __future__ import annotations

import csv
import runpy
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from benchmark import make, validate
from openworld_metrics import OODBench
from tests.docs.blocks import FENCE, ROOT, commands

FOLDER = ROOT / "benchmark"
BASELINES = sorted(path.stem for path in (FOLDER / "submissions").glob("*.csv"))
CARD = (FOLDER / "README.md").read_text(encoding="utf-8")
Rows = list[str]


def head() -> Any:
    return yaml.safe_load(CARD.split("---\n")[1])


def submission(name: str = "nearest") -> Rows:
    return (FOLDER / "submissions" / f"{name}.csv").read_text(encoding="utf-8").splitlines()


def write(folder: Path, rows: Rows) -> Path:
    path = folder / "scores.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_the_command_writes_the_files_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("data", "submissions"):
        (tmp_path / folder).mkdir()
    monkeypatch.setattr(sys, "argv", ["make", str(tmp_path)])
    runpy.run_path(str(FOLDER / "make.py"), run_name="__main__")
    for path in (FOLDER / "submissions").iterdir():
        assert (tmp_path / "submissions" / path.name).read_bytes() == path.read_bytes(), path.name
    for path in (FOLDER / "data").iterdir():
        assert pq.read_table(tmp_path / "data" / path.name) == pq.read_table(path), path.name
    assert sorted(make.DETECTORS) == BASELINES


def test_its_size() -> None:
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.suffix != ".pyc") < 500_000


def test_no_image_is_in_two_files() -> None:
    tables = {path.stem: pq.read_table(path) for path in (FOLDER / "data").iterdir()}
    names = [name for table in tables.values() for name in table["sample"].to_pylist()]
    assert len(names) == len(set(names))
    learned = {tuple(image) for image in tables["train"]["pixels"].to_pylist()}
    for name in ("known", "near", "far"):
        assert not learned & {tuple(image) for image in tables[name]["pixels"].to_pylist()}, name
        assert f"| `data/{name}.parquet` | {len(tables[name])} |" in CARD
    assert {value for table in tables.values() for value in table["pixels"].combine_chunks().values.to_pylist()} == {
        *range(17)
    }


def test_the_tasks_have_data() -> None:
    """Each task of eval.yaml is a configuration of the card, of the known images and its own."""
    configs = {config["config_name"]: config["data_files"] for config in head()["configs"]}
    described = yaml.safe_load((FOLDER / "eval.yaml").read_text(encoding="utf-8"))
    assert {"name", "description", "evaluation_framework", "tasks"} == described.keys()
    for task in described["tasks"]:
        files = {entry["split"]: entry["path"] for entry in configs[task["config"]]}
        assert files[task["split"]] == ["data/known.parquet", f"data/{task['id']}.parquet"]
        assert all((FOLDER / path).exists() for path in [files["train"], *files["test"]])
    assert validate.tasks() == ["near", "far"] == list(configs)


@pytest.mark.parametrize("name", BASELINES)
def test_the_numbers(name: str) -> None:
    """Those of ood_bench, task by task, and those that the card prints."""
    with (FOLDER / "submissions" / f"{name}.csv").open(encoding="utf-8") as file:
        scores = {row["sample"]: float(row["score"]) for row in csv.DictReader(file)}
    groups = validate.evaluate(scores)["groups"]
    results = dict(zip(groups["group"], groups["auroc"]))
    sides = validate.samples()
    for task in ("near", "far"):
        sample = [*sides["known"], *sides[task]]
        labels = [0] * len(sides["known"]) + [1] * len(sides[task])
        bench = OODBench(metrics="auroc").compute(predictions=[scores[x] for x in sample], references=labels)
        assert bench["auroc"] == results[task]
    assert f"`{name}.csv`" in CARD
    assert f"| {results['near']:.4f} | {results['far']:.4f} |" in CARD


def test_the_commands_of_the_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Run in a copy of the folder, as the data set on the Hub is; what they print is on the page."""
    shutil.copytree(FOLDER, tmp_path / "open-digits")
    (tmp_path / "my-model").mkdir()
    monkeypatch.chdir(tmp_path / "open-digits")
    printed = []
    for language, text in FENCE.findall(CARD):
        for command in commands(text) if language == "sh" else ():
            program, *arguments = shlex.split(command)
            if program == "python":
                monkeypatch.setattr(sys, "argv", arguments)
                runpy.run_path(arguments[0], run_name="__main__")
                printed.append(capsys.readouterr().out)
    assert printed[0] in CARD
    entries = yaml.safe_load((tmp_path / "my-model" / ".eval_results" / "open-digits.yaml").read_text())
    assert [entry["dataset"] for entry in entries] == [{"id": "ORG/open-digits", "task_id": x} for x in ("near", "far")]
    assert [round(entry["value"], 4) for entry in entries] == [0.855, 0.9961]


def test_what_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rest = ["--dataset", "us/ood", "--source-url", "https://example.org", "--source-org", "us", "--date", "2026-11-22"]
    path = str(FOLDER / "submissions" / "nearest.csv")
    validate.main([path, "--model", str(tmp_path), *rest, "--notes", "Without training!"])
    file = tmp_path / ".eval_results" / "open-digits_without_training.yaml"
    assert str(file) in capsys.readouterr().out
    near, far = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert near == {
        "dataset": {"id": "us/ood", "task_id": "near"},
        "value": near["value"],
        "date": "2026-11-22",
        "source": {"url": "https://example.org", "org": "us"},
        "notes": "Without training!",
    }
    assert 0.95 < near["value"] < far["value"] < 1


def test_rows_may_come_in_any_order(tmp_path: Path) -> None:
    first, *rows = submission()
    in_order = validate.read_scores(FOLDER / "submissions" / "nearest.csv")
    backwards = validate.read_scores(write(tmp_path, ["\ufeff" + first, "", *reversed(rows)]))
    assert validate.evaluate(backwards) == validate.evaluate(in_order)


def test_scores_of_the_wrong_direction_are_noticed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, *rows = submission()
    validate.main([str(write(tmp_path, [first, *(row.replace(",", ",-") for row in rows)]))])
    assert capsys.readouterr().out.count("Are the scores of ") == 2


def changed(line: int, text: str) -> Callable[[Rows], Rows]:
    return lambda rows: [*rows[: line - 1], text, *rows[line:]]


# what is done to a good file, and what is said of it after its name
ERRORS: dict[str, tuple[Callable[[Rows], Rows], str]] = {
    "empty": (lambda rows: [], ", line 1: expected sample,score, got nothing"),
    "no header": (lambda rows: rows[1:], ", line 1: expected sample,score, got digit-0896,190"),
    "another name": (
        changed(7, "digit-0000,3"),
        ", line 7: expected a sample of known, near, far, got 'digit-0000'",
    ),
    "twice": (changed(7, "digit-0896,3"), ", line 7: expected each sample once, got digit-0896 again"),
    "missing": (lambda rows: rows[:1] + rows[3:], ": expected a score for each of 1655 samples, got 1653; digit-0896 "),
    "nan": (changed(2, "digit-0896,nan"), ", line 2: expected a number for digit-0896, got 'nan'"),
    "empty score": (changed(2, "digit-0896,"), ", line 2: expected a number for digit-0896, got ''"),
    "a word": (changed(2, "digit-0896,high"), ", line 2: expected a number for digit-0896, got 'high'"),
    "underscore": (changed(2, "digit-0896,1_0"), ", line 2: expected a number for digit-0896, got '1_0'"),
    "three cells": (changed(2, "digit-0896,1,5"), ", line 2: expected a sample and a score, got digit-0896,1,5"),
    "semicolons": (changed(1, "sample;score"), ", line 1: expected sample,score, got sample;score"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(case: str, tmp_path: Path) -> None:
    change, message = ERRORS[case]
    path = write(tmp_path, change(submission()))
    if case == "empty":
        path.write_text("")
    with pytest.raises(SystemExit) as error:
        validate.main([str(path), "--model", str(tmp_path), "--dataset", "us/ood"])
    assert str(error.value).startswith(f"error: {path}{message}")
    assert not (tmp_path / ".eval_results").exists()


def test_other_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = str(FOLDER / "submissions" / "nearest.csv")
    bytes_ = tmp_path / "scores.csv"
    bytes_.write_bytes(b"sample,score\n\xff\xfe")
    for arguments, message in {
        (str(bytes_),): "expected comma-separated values in UTF-8",
        (str(tmp_path / "none.csv"),): r"^error: \S+none.csv: no such file or directory$",
        (good, "--model", str(tmp_path / "none"), "--dataset", "us/ood"): "--model: expected the folder of the",
        (good, "--model", str(tmp_path), "--dataset", "us/ood", "--source-org", "us"): "source_url: expected one",
    }.items():
        with pytest.raises(SystemExit, match=message):
            validate.main([*arguments])
    with pytest.raises(SystemExit):
        validate.main([good, "--model", str(tmp_path)])
    assert "--dataset: expected the benchmark's name on the Hub" in capsys.readouterr().err
