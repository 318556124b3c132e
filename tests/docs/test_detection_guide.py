"""The blocks of the guide to detection run as they stand, one after the other, on the demo's files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from demo import detection_files

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "guides" / "detection.md").read_text(encoding="utf-8")
COMMANDS, SCRIPT = (re.findall(rf"```{kind}\n(.*?)```", PAGE, flags=re.DOTALL)[0] for kind in ("sh", "python"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where demo/pasted-digits is, and the commands and the script have run."""
    folder = tmp_path_factory.mktemp("readme")
    detection_files.main(folder / "demo" / "pasted-digits")
    return folder


def test_the_guide_runs(folder: Path) -> None:
    here = str(Path(sys.executable).parent)
    environment = {**os.environ, "PATH": os.pathsep.join([here, os.environ["PATH"]])}
    run = subprocess.run(
        ["bash", "-e", "-c", COMMANDS], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    assert (run.returncode, run.stderr) == (0, "")
    first, second, owod = map(json.loads, run.stdout.splitlines())
    assert first["openset_metrics"]["total_known"] + first["openset_metrics"]["total_unknown"] == 480
    assert 0.5 < first["openset_metrics"]["U-Recall"] < 1
    assert 0.5 < first["standard_metrics"]["mAP50-95"] < first["standard_metrics"]["mAP50"] < 1
    assert first["standard_metrics"] == second["standard_metrics"] == owod["standard_metrics"]
    assert "U-AP" in owod["openset_metrics"]
    digits = folder / "demo" / "pasted-digits"
    assert json.loads((digits / "results.json").read_text()) == second
    assert (digits / "report" / "index.html").read_text().count("<img") > 24

    script = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=digits, capture_output=True, text=True, timeout=300, check=True
    )
    numbers = first["openset_metrics"]["U-Recall"], first["standard_metrics"]["mAP50"]
    assert script.stdout.split() == [str(number) for number in numbers]


def test_the_files_hold_what_the_demo_computes(folder: Path) -> None:
    from demo.detection import detect_digits
    from demo.digits import NUM_KNOWN, recognise_digits
    from openworld_metrics import load, reading, suites

    digits = folder / "demo" / "pasted-digits"
    read = reading.read_detections(digits / "predictions", digits / "data.yaml", unknown_class_id=999)
    found = detect_digits(recognise_digits())
    metric = load("openset_detection", known_classes=range(NUM_KNOWN))
    expected = metric.compute(predictions=found.predictions, references=found.references)
    results = suites.evaluate_detections(read, range(NUM_KNOWN), standard=False, unknown_class_id=999)
    assert results["openset_metrics"] == expected


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, flags=re.DOTALL)


def test_the_example_of_errors() -> None:
    (block,) = (block for block in blocks("python") if "errors=True" in block)
    run = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, timeout=100, check=True)
    assert run.stdout == "0.5 0.5\n"
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


def test_scores_of_boxes(tmp_path: Path) -> None:
    (block,) = (block for block in blocks("python") if "OODBench" in block)
    known, ood = [0.9, 0.8, 0.7, 0.6, 0.1], [0.65, 0.3, 0.2]
    for name, scores in (("known", known), ("ood", ood)):
        (tmp_path / f"{name}_results.json").write_text(json.dumps([{"score": score} for score in scores]))
    run = subprocess.run(
        [sys.executable, "-c", block], cwd=tmp_path, capture_output=True, text=True, timeout=100, check=True
    )
    # of the boxes from 0.25 up, 0.65 lies above the lowest known one; it loses to 3 of 4, and 0.3 to all
    assert run.stdout == f"{ {'auroc': 7 / 8, 'fnr95tnr': 1 / 2} }\n"
