"""The blocks of the guide to detection run as they stand, one after the other, on the demo's files."""

from __future__ import annotations

import json
import re
import runpy
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from demo import detection_files
from tests.conftest import Run
from tests.docs.blocks import PAGES, commands

PAGE = PAGES["docs/guides/detection.md"].read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder demo/pasted-digits, where the commands and the script run."""
    folder = tmp_path_factory.mktemp("digits")
    detection_files.main(folder)
    return folder


def output_of(block: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What a block prints as a script of its own."""
    (folder / "block.py").write_text(block, encoding="utf-8")
    capsys.readouterr()
    runpy.run_path(str(folder / "block.py"), run_name="__main__")
    return capsys.readouterr().out


def test_the_guide_runs(digits: Path, run: Run, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.chdir(digits)
    first, *others = commands(blocks("sh")[0])
    assert first == "cd demo/pasted-digits"
    printed = []
    for command in others:
        code, output, errors = run(*shlex.split(command)[1:])
        assert (code, errors) == (0, "")
        printed.append(json.loads(output))
    plain, saved, owod = printed
    assert plain["openset_metrics"]["total_known"] + plain["openset_metrics"]["total_unknown"] == 480
    assert 0.5 < plain["openset_metrics"]["U-Recall"] < 1
    assert 0.5 < plain["standard_metrics"]["mAP50-95"] < plain["standard_metrics"]["mAP50"] < 1
    assert plain["standard_metrics"] == saved["standard_metrics"] == owod["standard_metrics"]
    assert "U-AP" in owod["openset_metrics"]
    assert json.loads((digits / "results.json").read_text()) == saved
    assert (digits / "report" / "index.html").read_text().count("<img") > 24
    numbers = plain["openset_metrics"]["U-Recall"], plain["standard_metrics"]["mAP50"]
    assert output_of(blocks("python")[0], digits, capfd).split() == [str(number) for number in numbers]


def test_the_files_hold_what_the_demo_computes(digits: Path) -> None:
    from demo.detection import detect_digits
    from demo.digits import NUM_KNOWN, recognise_digits
    from openworld_metrics import load, reading, suites

    read = reading.read_detections(digits / "predictions", digits / "data.yaml", unknown_class_id=999)
    found = detect_digits(recognise_digits())
    metric = load("openset_detection", known_classes=range(NUM_KNOWN))
    expected = metric.compute(predictions=found.predictions, references=found.references)
    results = suites.evaluate_detections(read, range(NUM_KNOWN), standard=False, unknown_class_id=999)
    assert results["openset_metrics"] == expected


def test_the_example_of_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = (block for block in blocks("python") if "errors=True" in block)
    assert output_of(block, tmp_path, capsys) == "0.5 0.5\n"
    assert block.endswith("# 0.5 0.5\n")


def test_the_four_tasks(tmp_path: Path) -> None:
    loop, lists = (block for block in blocks("text") if "frisbee" in block)
    fake = 'openworld-metrics() { printf "%s\\t" "$@"; echo; }\n'
    run = subprocess.run(
        ["bash", "-e", "-c", fake + loop], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    *tasks, table = [line.split("\t") for line in run.stdout.splitlines()]
    assert table[0] == "table"
    before: list[str] = []
    for number, task in enumerate(tasks, 1):
        assert task[:3] == ["detect", "--predictions", f"results{number}"]
        known = task[task.index("--known-classes") + 1].split(",")
        assert len({*known}) == len(known) == 20 * number
        previous = task[task.index("--previously-known") + 1].split(",") if "--previously-known" in task else []
        assert previous == before == known[: len(before)]
        before = known
    other = [name for line in lists.splitlines() for name in line.split('"')[1].split(",")]
    assert {*other} == {*before}
    assert [len(line.split(",")) for line in lists.splitlines()] == [19, 21, 20, 20]


def test_scores_of_boxes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = (block for block in blocks("python") if "OODBench" in block)
    monkeypatch.chdir(tmp_path)
    known, ood = [0.9, 0.8, 0.7, 0.6, 0.1], [0.65, 0.3, 0.2]
    for name, scores in (("known", known), ("ood", ood)):
        Path(f"{name}_results.json").write_text(json.dumps([{"score": score} for score in scores]))
    # of the boxes from 0.25 up, 0.65 lies above the lowest known one; it loses to 3 of 4, and 0.3 to all
    assert output_of(block, tmp_path, capsys) == f"{ {'auroc': 7 / 8, 'fnr95tnr': 1 / 2} }\n"
