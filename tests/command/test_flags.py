"""Flags: each option of a metric is one, with the help of its script, and a wrong value of any of them is one line."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

from openworld_metrics.command.columns import OWN
from openworld_metrics.command.commands import COMMANDS, cli
from openworld_metrics.command.options import option_help
from openworld_metrics.loading import METRICS, metric_class
from tests import cases
from tests.conftest import Run
from tests.detection import scenes
from tests.reading.maps.trees import write_tree

every_metric = pytest.mark.parametrize("name", METRICS)


def assert_one_line(failed: tuple[int, str, str], message: str) -> None:
    code, output, errors = failed
    assert (code, output, errors.count("\n")) == (2, "", 1), errors
    assert errors.startswith("openworld-metrics: ")
    assert message in errors, errors


@every_metric
def test_every_option_and_column_is_a_flag(name: str, run: Run) -> None:
    helps = {command: run(command, name, "--help")[1] for command in ("compute", "compare")}
    metric = metric_class(name)
    for option, default in metric.options.items():
        flag = f"--{option.replace('_', '-')}"
        shown = f"{flag} / --no-{flag[2:]}" if isinstance(default, bool) else flag
        assert all(shown in text for text in helps.values())
        assert len(option_help(metric, option)) > 10
    of_seeds = {"open_set_pred_known", "open_set_pred_unknown", "close_set_pred_class", "close_set_labels"}
    for column in {*metric.columns} - of_seeds:
        assert f"--{column.replace('_', '-')} FILE" in helps["compute"]
    assert "--tpr" not in run("compute", "--help")[1]


def written(name: str) -> tuple[list[str], dict[str, Any]]:
    """The columns of a case as files, by the flags of compute, and the options."""
    columns, options = cases.draw(name, 3)
    ending = "json" if name in ("openset_detection", "anomaly_suite") else "npy"
    for column, values in columns.items():
        if ending == "json":
            Path(f"{column}.json").write_text(json.dumps(values, default=lambda x: x.tolist()))
        else:
            np.save(f"{column}.npy", values)
    return [part for column in columns for part in (f"--{column.replace('_', '-')}", f"{column}.{ending}")], options


@pytest.mark.parametrize("command", ["compute", "compare"])
@every_metric
def test_a_wrong_option_is_one_line(name: str, command: str, run: Run) -> None:
    places, options = written(name)
    if command == "compare":
        places = [
            part
            for flag, file in zip(places[::2], places[1::2])
            for model in (("first-", "second-") if flag[2:].replace("-", "_") in OWN else ("",))
            for part in (f"--{model}{flag[2:]}", file)
        ]
    options = {**options, "confidence_level": 0.5, "n_resamples": 2}
    for option, default in metric_class(name).options.items():
        if isinstance(default, bool):
            continue
        pairs = [part for key, value in options.items() if key != option for part in ("--option", f"{key}={value!r}")]
        failed = run(command, name, *places, *pairs, f"--{option.replace('_', '-')}", "yak,-yak")
        assert_one_line(failed, f"openworld-metrics: {option}")


def switches() -> list[tuple[str, str]]:
    """The flags without a value, of each command and, with a metric, of its options."""
    pairs = []
    for name, metric in [*((name, None) for name in COMMANDS), *(("compute", metric) for metric in METRICS)]:
        command, context = cli.get_command(click.Context(cli), name), click.Context(cli)
        assert command is not None
        with suppress(click.UsageError):
            command.parse_args(context, [] if metric is None else [metric])
        pairs += [
            (f"{name} {metric}" if metric else name, flag)
            for each in command.get_params(context)
            if isinstance(each, click.Option) and each.is_flag
            for flag in (*each.opts, *each.secondary_opts)
        ]
    return list(dict.fromkeys(pairs))


@pytest.mark.parametrize(("command", "flag"), switches())
def test_a_switch_takes_no_value(command: str, flag: str, run: Run) -> None:
    assert_one_line(run(*command.split(), f"{flag}=yak"), f"Option '{flag}' does not take a value")


def test_flags_are_options(run: Run) -> None:
    places, _ = written("openauc")
    call = ("compute", "openauc", *places)
    pairs = ["--option", "tpr=0.9", "--option", "fpr_list=0.1,0.2", "--option", "per_sample=true"]
    by_pairs = run(*call, *pairs)
    assert "per_sample" in json.loads(by_pairs[1])
    assert run(*call, "--tpr", "0.9", "--fpr-list", "0.1,0.2", "--per-sample") == by_pairs
    assert run(*call, "--fpr-list", "0.1", "--tpr", "0.9", "--fpr-list", "0.2", "--per-sample") == by_pairs
    assert "per_sample" not in json.loads(run(*call, "--no-per-sample")[1])
    for wrong, message in (
        (["--k-list", "1"], "No such option"),
        (["--tpr", "0.9", "--option", "tpr=0.8"], "expected tpr once, got it twice"),
        (["--tpr"], "Option '--tpr' requires an argument"),
    ):
        assert_one_line(run(*call, *wrong), message)


NONE, NO_FOLDER = "none.npy", "s.npy/x.json"
SAMPLES = ["--predictions", "p.npy", "--references", "y.npy", "--open-scores", "s.npy"]
PAIRED = ["--first-open-scores", "s.npy", "--second-open-scores", "s.npy", "--first-predictions", "p.npy"]
BOXES = ["--predictions", "boxes/predictions", "--references", "boxes/data.yaml"]

PATTERNS = dict.fromkeys(("--label-from-name", "--groups-from-name", "--clusters-from-name"), "(")

# the other arguments of each command, and a wrong value for each of its flags that takes one
WRONG: Mapping[str, tuple[list[str], Mapping[str, str]]] = {
    "compute": (
        ["openauc", *SAMPLES],
        {
            **dict.fromkeys(("--predictions", "--references", "--open-scores", "--open-labels"), NONE),
            **dict.fromkeys(
                ("--image-scores", "--image-labels", "--samples", "--counts", "--groups", "--clusters"), NONE
            ),
            "--qualities": NONE,
            **PATTERNS,
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
            **dict.fromkeys(("--references", "--open-labels", "--qualities", "--image-labels", "--samples"), NONE),
            **dict.fromkeys(("--counts", "--groups", "--clusters"), NONE),
            **PATTERNS,
            "--option": "tpr",
            "--save": NO_FOLDER,
            "--format": "yak",
            "--plot": "x.yak",
        },
    ),
    "ood": (
        ["--known", "p.npy", "--unknown", "s.npy"],
        {
            **dict.fromkeys(("--known", "--unknown", "--full-spectrum"), NONE),
            **PATTERNS,
            "--clusters": "yak",
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
            "--clusters": NONE,
            "--clusters-from-name": "(",
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
            **dict.fromkeys(("--images", "--predictions", "--references", "--image-labels", "--groups"), "yak"),
            "--layout": "yak",
            "--category": "yak",
            **dict.fromkeys(("--resize", "--mask-threshold"), "yak"),
            "--sample-pattern": "(",
            "--clusters": NONE,
            "--clusters-from-name": "(",
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
            "--label-from-name": "( --known p.npy --fpr 0.5",
            "--save": f"{NO_FOLDER} --known p.npy --fpr 0.5",
        },
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
# flags that an error comes before: the others or the metric exclude them, or are wrong without their files
ONLY_BESIDE = {"compute": ("--images", "--qualities"), "compare": ("--qualities",), "detect": ("--model", "--data")}
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
    beside = flag in ONLY_BESIDE.get(command, ())
    assert_one_line(run(command, *others, flag, wrong, *more), "" if beside else wrong.partition("/")[0])
    assert sorted(folder.rglob("*")) == before


# commands that evaluate: arguments that suffice, and the metric
EVALUATE = {name: WRONG[name][0] for name in ("anomaly", "compare", "compute", "detect", "ood")}
EVERYWHERE = {
    "confidence_level": (["--confidence-level", "1"], "confidence_level: expected a number between 0 and 1"),
    "n_resamples": (["--confidence-level", "0.9", "--n-resamples", "0"], "n_resamples: expected an int of at least 1"),
    "random_state": (["--confidence-level", "0.9", "--random-state", "-1"], "random_state: expected an int of at"),
    "percent": (["--percent", "--format", "json"], "expected --percent with a table, got it with JSON"),
}


@pytest.fixture
def at_files(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(folder)
    return run


@pytest.mark.parametrize("command", EVALUATE)
@pytest.mark.parametrize("flag", EVERYWHERE)
def test_flags_of_all_commands(command: str, flag: str, at_files: Run) -> None:
    wrong, message = EVERYWHERE[flag]
    assert_one_line(at_files(command, *EVALUATE[command], *wrong), message)


@pytest.mark.parametrize("command", ["compute", "ood"])
def test_samples_are_kept_in_a_file(command: str, at_files: Run) -> None:
    failed = at_files(command, *EVALUATE[command], "--save-samples")
    assert_one_line(failed, "expected --save with --save-samples, got none")


@pytest.mark.parametrize(("command", "name"), [("anomaly", "anomaly_suite"), ("detect", "openset_detection")])
def test_a_wrong_option_of_a_command_of_one_metric(command: str, name: str, at_files: Run) -> None:
    # by other names or with files there, which their own tests have; and truth values have none
    own = {"known_classes", "unknown_class_id", "conf_threshold", "previously_known", "box_format", "per_image"}
    options = [key for key, value in metric_class(name).options.items() if not isinstance(value, bool)]
    for option in {*options} - own:
        flag, level = f"--{option.replace('_', '-')}", ["--confidence-level", "0.5"] * (option != "confidence_level")
        code, output, errors = at_files(command, *EVALUATE[command], *level, flag, "yak,-yak")
        assert (code, output, errors.count("\n")) == (2, "", 1), option
        assert option in errors.replace("-", "_"), errors


@pytest.mark.parametrize("command", EVALUATE)
def test_percent_in_a_pipe(command: str, at_files: Run) -> None:
    """Every share is times 100 with two digits; counts, thresholds and ratios stay."""
    call = (command, *EVALUATE[command])
    json.loads(at_files(*call)[1])
    code, text, errors = at_files(*call, "--percent")
    assert (code, errors) == (0, "")
    assert re.search(r"\d\.\d\d\b", text)
    assert at_files(*call, "--percent", "--format", "text") == (0, text, "")
    plain = at_files(*call, "--format", "text")[1]
    fractions = [float(number) for number in re.findall(r"(?<![\d.])[01]\.\d{3,}", plain)]
    hundreds = [float(number) for number in re.findall(r"\d+\.\d+", text)]
    assert any(any(abs(100 * one - other) < 0.06 for other in hundreds) for one in fractions if one)


def test_a_metric_with_an_option_percent(run: Run) -> None:
    """Its results are in percent, in JSON too, and not once more in a text."""
    places, options = written("accuracyk")
    pairs = [f"--option={key}={value!r}" for key, value in options.items() if key != "percent"]
    plain, results = (
        json.loads(run("compute", "accuracyk", *places, *pairs, flag)[1]) for flag in ("--no-percent", "--percent")
    )
    assert results == {key: pytest.approx(100 * value) for key, value in plain.items()}
    text = run("compute", "accuracyk", *places, *pairs, "--percent", "--format", "text")[1]
    assert f"{next(iter(results.values())):.3f}" in text


@pytest.mark.parametrize(("command", "place"), [("anomaly", "maps"), ("detect", "boxes/predictions")])
def test_another_model(command: str, place: str, at_files: Run) -> None:
    more = ["--confidence-level", "0.9", "--n-resamples", "20", "--percent"]
    code, text, errors = at_files(command, *EVALUATE[command], "--compare", place, *more)
    assert (code, errors) == (0, "")
    assert "difference in points [90 %]" in text
    key = "U-Recall" if command == "detect" else "pixel_auroc"
    assert re.search(rf"(?m)^{key} ↑ +(\d+\.\d\d) +\1 +0\.00", text), text
