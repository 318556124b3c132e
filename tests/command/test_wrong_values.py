"""A wrong value of each flag of each command is one line; the table below is compared with the commands' own flags."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click
import numpy as np
import pytest

from openworld_metrics.command.commands import COMMANDS, cli
from tests.conftest import Run
from tests.detection import scenes
from tests.suites.trees import write_tree

NONE, NO_FOLDER = "none.npy", "s.npy/x.json"
SAMPLES = ["--predictions", "p.npy", "--references", "y.npy", "--open-scores", "s.npy"]
PAIRED = ["--first-open-scores", "s.npy", "--second-open-scores", "s.npy", "--first-predictions", "p.npy"]
BOXES = ["--predictions", "boxes/predictions", "--references", "boxes/data.yaml"]

# the other arguments of each command, and a wrong value for each of its flags that takes one
WRONG: Mapping[str, tuple[list[str], Mapping[str, str]]] = {
    "compute": (
        ["openauc", *SAMPLES],
        {
            **dict.fromkeys(("--predictions", "--references", "--open-scores", "--open-labels"), NONE),
            **dict.fromkeys(("--image-scores", "--image-labels", "--samples", "--counts", "--groups"), NONE),
            "--option": "tpr",
            "--save": NO_FOLDER,
            "--format": "yak",
            "--plot": "x.yak",
            "--report": "s.npy",
            "--images": "boxes",  # without --report
        },
    ),
    "compare": (
        ["openauc", *PAIRED, "--second-predictions", "p.npy", "--references", "y.npy"],
        {
            **dict.fromkeys(("--first-predictions", "--first-open-scores", "--first-image-scores"), NONE),
            **dict.fromkeys(("--second-predictions", "--second-open-scores", "--second-image-scores"), NONE),
            **dict.fromkeys(("--references", "--open-labels", "--image-labels", "--samples"), NONE),
            **dict.fromkeys(("--counts", "--groups"), NONE),
            "--option": "tpr",
            "--confidence-level": "2",
            "--n-resamples": "0",
            "--random-state": "yak",
            "--save": NO_FOLDER,
            "--format": "yak",
            "--plot": "x.yak",
        },
    ),
    "ood": (
        ["--known", "p.npy", "--unknown", "s.npy"],
        {
            **dict.fromkeys(("--known", "--unknown", "--full-spectrum"), NONE),
            "--metrics": "yak",
            "--threshold": "yak",
            "--save": NO_FOLDER,
            "--format": "yak",
        },
    ),
    "detect": (
        [*BOXES, "--known-classes", "0", "1", "--unknown-id", "999"],
        {
            **dict.fromkeys(("--predictions", "--references", "--compare", "--images", "--image-set"), NONE),
            "--model": NONE,
            "--data": NONE,
            "--split": "yak",
            "--known-classes": "yak",
            "--previously-known": "yak",
            "--unknown-id": "yak",
            "--names": "none.txt",
            "--conf": "yak",
            "--iou": "yak",
            "--max-detections": "0",
            "--score-field": "yak",
            "--option": "tpr",
            "--save": "x.yak",
            "--report": "s.npy",
            "--format": "yak",
        },
    ),
    "anomaly": (
        ["--maps", "maps", "--data", "data"],
        {
            **dict.fromkeys(("--maps", "--data", "--compare"), NONE),
            "--layout": "yak",
            "--category": "yak",
            **dict.fromkeys(("--resize", "--mask-threshold"), "yak"),
            "--sample-pattern": "(",
            "--save": "x.yak",
            "--per-image": "x.yak",
            "--report": "s.npy",
            "--format": "yak",
        },
    ),
    "threshold": (
        [],
        {
            "--known": f"{NONE} --fpr 0.5",
            "--unknown": f"{NONE} --known p.npy --tpr 0.5",
            "--predictions": f"{NONE} --references y.npy --tpr 0.5",
            "--references": f"{NONE} --predictions s.npy --tpr 0.5",
            "--maps": f"{NONE} --rule max",
            "--fpr": "2 --known p.npy",
            "--tpr": "2 --known p.npy --unknown s.npy",
            "--confidence-level": "2 --known p.npy --fpr 0.5",
            "--rule": "yak --maps maps",
            "--save": f"{NO_FOLDER} --known p.npy --fpr 0.5",
        },
    ),
    "submission": (
        ["--maps", "maps", "--thresholds", "t.json", "--out", "out"],
        {"--maps": NONE, "--thresholds": NONE, "--out": "maps", "--data": NONE},
    ),
    "table": (
        ["r.json"],
        {
            **dict.fromkeys(("--keys", "--groups", "--sort", "--rename", "--confidence-level"), "yak"),
            **dict.fromkeys(("--format", "--rows", "--intervals"), "yak"),
            "--seeds": "yak",
            "--digits": "-1",
            "--save": NO_FOLDER,
        },
    ),
    "serve": ([], {"--port": "0"}),
    "describe": ([], {}),
    "list": ([], {}),
}
# flags that an error comes before: the others exclude them, or are wrong without their files
ONLY_BESIDE = {"compute": ("--images",), "detect": ("--model", "--data"), "submission": ("--data",)}
CASES = [(command, flag) for command, (_, flags) in WRONG.items() for flag in flags]


def test_no_flag_is_left_out() -> None:
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        options = (each for each in click.Command.get_params(command, click.Context(command)))
        flags = {each.opts[0] for each in options if isinstance(each, click.Option) and not each.is_flag}
        assert set(WRONG[name][1]) == flags - {"--help"}, name


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that each command takes."""
    place = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(0)
    for name, values in (("p", rng.integers(0, 2, 8)), ("y", np.arange(8) % 3 - 1), ("s", rng.random(8))):
        np.save(place / f"{name}.npy", values)
    (place / "r.json").write_text('{"auroc": 0.5}')
    (place / "t.json").write_text(
        '{"decision": "score > threshold", "of": ["pixels"], "rule": "max", "promise": "", "threshold": {"nut": 0.5}}'
    )
    write_tree("mvtec-ad", place)
    (place / "boxes").mkdir()
    scenes.write_as_yolo(scenes.scene(4, 10), place / "boxes")
    return place


@pytest.mark.parametrize(("command", "flag"), CASES)
def test_a_wrong_value_is_one_line(
    command: str, flag: str, folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    before = sorted(folder.rglob("*"))
    others, flags = WRONG[command]
    wrong, *more = flags[flag].split(" ")
    code, output, errors = run(command, *others, flag, wrong, *more)
    assert (code, output, errors.count("\n")) == (2, "", 1), errors
    if flag not in ONLY_BESIDE.get(command, ()):
        assert wrong.partition("/")[0] in errors
    assert errors.startswith("openworld-metrics: ")
    assert sorted(folder.rglob("*")) == before
