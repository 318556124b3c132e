"""Each option of a metric is a flag of the commands, with the help of its script, and a wrong value is one line."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

from openworld_metrics.command.commands import COMMANDS as NAMES, cli
from openworld_metrics.command.compare import OWN
from openworld_metrics.command.options import option_help
from openworld_metrics.loading import METRICS, metric_class
from openworld_metrics.metric.metric import Metric
from tests import cases
from tests.conftest import Run
from tests.detection import scenes
from tests.suites.trees import write_tree

OPTIONS = [(name, option) for name in METRICS for option in metric_class(name).options]


@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_the_script_has_help_for_every_option(name: str, option: str) -> None:
    assert len(option_help(metric_class(name), option)) > 10


@pytest.mark.parametrize("name", METRICS)
def test_every_option_is_a_flag(name: str, run: Run) -> None:
    helps = {command: run(command, name, "--help")[1] for command in ("compute", "compare")}
    for option, default in metric_class(name).options.items():
        flag = f"--{option.replace('_', '-')}"
        shown = f"{flag} / --no-{option.replace('_', '-')}" if isinstance(default, bool) else flag
        assert shown in helps["compute"]
        assert shown in helps["compare"]
    assert "--tpr" not in run("compute", "--help")[1]


@pytest.mark.parametrize("name", METRICS)
def test_every_column_is_a_flag(name: str, run: Run) -> None:
    of_seeds = ("open_set_pred_known", "open_set_pred_unknown", "close_set_pred_class", "close_set_labels")
    text = run("compute", name, "--help")[1]
    for column in metric_class(name).columns:
        assert column in of_seeds or f"--{column.replace('_', '-')} FILE" in text


def written(name: str) -> tuple[list[str], dict[str, Any]]:
    """The columns of a case as files, by the flags of compute, and the options."""
    columns, options = cases.draw(name, 3)
    for column, values in columns.items():
        if name in ("openset_detection", "anomaly_suite"):
            Path(f"{column}.json").write_text(json.dumps(values, default=lambda x: x.tolist()))
        else:
            np.save(f"{column}.npy", values)
    ending = "json" if name in ("openset_detection", "anomaly_suite") else "npy"
    places = [part for column in columns for part in (f"--{column.replace('_', '-')}", f"{column}.{ending}")]
    return places, options


@pytest.mark.parametrize("name", METRICS)
def test_a_wrong_value_is_one_line(name: str, run: Run) -> None:
    places, options = written(name)
    options = {**options, "confidence_level": 0.5, "n_resamples": 2}
    for option, default in metric_class(name).options.items():
        if isinstance(default, bool):
            continue
        pairs = [part for key, value in options.items() if key != option for part in ("--option", f"{key}={value!r}")]
        code, output, errors = run("compute", name, *places, *pairs, f"--{option.replace('_', '-')}", "yak,-yak")
        assert (code, output, errors.count("\n")) == (2, "", 1), option
        assert errors.startswith(f"openworld-metrics: {option}"), errors


@pytest.mark.parametrize("name", METRICS)
def test_a_wrong_value_in_a_comparison_is_one_line(name: str, run: Run) -> None:
    places, options = written(name)
    pairs = list(zip(places[::2], places[1::2]))
    both = [
        part
        for flag, file in pairs
        for each in (("first-", "second-") if flag[2:].replace("-", "_") in OWN else ("",))
        for part in (f"--{each}{flag[2:]}", file)
    ]
    for option, default in metric_class(name).options.items():
        if isinstance(default, bool):
            continue
        others = [part for key, value in options.items() if key != option for part in ("--option", f"{key}={value!r}")]
        flag = f"--{option.replace('_', '-')}"
        code, output, errors = run("compare", name, *both, "--n-resamples", "2", *others, flag, "yak,-yak")
        assert (code, output, errors.count("\n")) == (2, "", 1), (option, errors)
        assert option in errors.replace("-", "_"), errors


def switches() -> list[tuple[str, str]]:
    """The flags without a value, of each command and, with a metric, of its options."""
    pairs = []
    for name, metric in [*((name, None) for name in NAMES), *(("compute", metric) for metric in METRICS)]:
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
    pairs = ["--option", "tpr=0.9", "--option", "fpr_list=0.1,0.2", "--option", "per_sample=true"]
    by_pairs = run("compute", "openauc", *places, *pairs)
    by_flags = run("compute", "openauc", *places, "--tpr", "0.9", "--fpr-list", "0.1,0.2", "--per-sample")
    assert by_flags == by_pairs
    assert "per_sample" in json.loads(by_flags[1])
    assert "per_sample" not in json.loads(run("compute", "openauc", *places, "--no-per-sample")[1])
    repeated = run(
        "compute", "openauc", *places, "--fpr-list", "0.1", "--tpr", "0.9", "--fpr-list", "0.2", "--per-sample"
    )
    assert repeated == by_pairs


def test_flags_of_compare(run: Run) -> None:
    columns, _ = cases.draw("ood_bench", 3)
    for column, values in columns.items():
        np.save(f"{column}.npy", values)
    both = ["--first-predictions", "predictions.npy", "--second-predictions", "predictions.npy"]
    arguments = ["compare", "ood_bench", *both, "--references", "references.npy", "--n-resamples", "5"]
    expected = run(*arguments, "--option", "metrics=aupr_in,auroc")
    assert run(*arguments, "--metrics", "aupr_in,auroc") == expected
    assert json.loads(expected[1])["key"] == ["aupr_in", "auroc"]


WRONG = {
    "another metric's flag": (["--k-list", "1"], "No such option '?--k-list'?"),
    "a flag and an option": (["--tpr", "0.9", "--option", "tpr=0.8"], "expected tpr once, got it twice"),
    "no value": (["--tpr"], "Option '--tpr' requires an argument"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_flags(wrong: str, run: Run) -> None:
    arguments, message = WRONG[wrong]
    places, _ = written("openauc")
    code, output, errors = run("compute", "openauc", *places, *arguments)
    assert (code, output, errors.count("\n")) == (2, "", 1)
    assert re.search(message, errors), errors


# of each command that evaluates: arguments that suffice, its metric, and options that it names otherwise
DETECT = [
    *("--predictions", "predictions", "--references", "data.yaml"),
    *("--known-classes", "0", "1", "2", "--unknown-id", "999", "--no-standard"),
]
ANOMALY = ["--maps", "maps", "--data", "data"]
BOTH = ["--first-predictions", "x.npy", "--second-predictions", "y.npy", "--references", "z.npy"]
COMMANDS: dict[str, tuple[list[str], str]] = {
    "anomaly": (ANOMALY, "anomaly_suite"),
    "compare": (["ood_bench", *BOTH], "ood_bench"),
    "compute": (["ood_bench", "--predictions", "x.npy", "--references", "z.npy"], "ood_bench"),
    "detect": (DETECT, "openset_detection"),
    "ood": (["--known", "x.npy", "--unknown", "far=y.npy"], "ood_bench"),
}


@pytest.fixture
def data(tmp_path: Path) -> None:
    """Files for each of the commands."""
    scenes.write_as_yolo(scenes.scene(4, 10), tmp_path / "boxes")
    for path in (tmp_path / "boxes").iterdir():
        path.rename(tmp_path / path.name)
    write_tree("mvtec-ad", tmp_path)
    columns: dict[str, list[Any]] = {"x": [0.1, 0.6, 0.4, 0.9], "y": [0.7, 0.2, 0.8, 0.9], "z": [0, 0, 1, 1]}
    for name, column in columns.items():
        np.save(tmp_path / f"{name}.npy", column)


def assert_one_line(failed: tuple[int, str, str], message: str) -> None:
    code, output, errors = failed
    assert (code, output, errors.count("\n")) == (2, "", 1), errors
    assert errors.startswith("openworld-metrics: ")
    assert message in errors, errors


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("command", ["anomaly", "compare", "detect"])
def test_a_wrong_value_of_any_option_is_one_line(command: str, run: Run) -> None:
    """As of compute, with the files of the command."""
    arguments, name = COMMANDS[command]
    metric: type[Metric] = metric_class(name)
    # by other names or with files there, which their own tests have; and truth values have none
    own = {"known_classes", "unknown_class_id", "conf_threshold", "previously_known", "box_format", "per_image"}
    options = [key for key, default in metric.options.items() if not isinstance(default, bool) and key not in own]
    assert options
    for option in options:
        flag, level = f"--{option.replace('_', '-')}", ["--confidence-level", "0.5"] * (option != "confidence_level")
        code, output, errors = run(command, *arguments, *level, flag, "yak,-yak")
        assert (code, output, errors.count("\n")) == (2, "", 1), option
        assert option in errors.replace("-", "_"), errors


WRONG_EVERYWHERE = {
    "confidence_level": (["--confidence-level", "1"], "confidence_level: expected a number between 0 and 1"),
    "n_resamples": (["--confidence-level", "0.9", "--n-resamples", "0"], "n_resamples: expected an int of at least 1"),
    "random_state": (
        ["--confidence-level", "0.9", "--random-state", "-1"],
        "random_state: expected an int of at least",
    ),
    "format": (["--format", "xml"], "'xml' is not one of "),
    "percent": (["--percent", "--format", "json"], "expected --percent with a table, got it with JSON"),
}


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("flag", WRONG_EVERYWHERE)
def test_flags_of_all_commands(command: str, flag: str, run: Run) -> None:
    wrong, message = WRONG_EVERYWHERE[flag]
    assert_one_line(run(command, *COMMANDS[command][0], *wrong), message)


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("command", COMMANDS)
def test_percent_in_a_pipe(command: str, run: Run) -> None:
    """Every share is times 100 with two digits; counts, thresholds and ratios stay."""
    arguments = COMMANDS[command][0]
    json.loads(run(command, *arguments)[1])
    json.loads(run(command, *arguments, "--format", "json")[1])
    code, text, errors = run(command, *arguments, "--percent")
    assert (code, errors) == (0, "")
    assert re.search(r"\d\.\d\d\b", text)
    assert run(command, *arguments, "--percent", "--format", "text") == (0, text, "")
    plain = run(command, *arguments, "--format", "text")[1]
    fractions = [float(number) for number in re.findall(r"(?<![\d.])[01]\.\d{3,}", plain)]
    hundreds = [float(number) for number in re.findall(r"\d+\.\d+", text)]
    assert any(any(abs(100 * one - other) < 0.06 for other in hundreds) for one in fractions if one)


def test_a_metric_with_an_option_percent(run: Run) -> None:
    """Its results are in percent, in JSON too, and not once more in a text."""
    places, options = written("accuracyk")
    arguments = [
        "compute",
        "accuracyk",
        *places,
        *(f"--option={key}={value!r}" for key, value in options.items() if key != "percent"),
    ]
    plain = json.loads(run(*arguments, "--no-percent")[1])
    results = json.loads(run(*arguments, "--percent")[1])
    assert results == {key: pytest.approx(100 * value) for key, value in plain.items()}
    first = next(iter(results.values()))
    assert f"{first:.3f}" in run(*arguments, "--percent", "--format", "text")[1]


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("command", ["anomaly", "detect"])
def test_a_comparison_in_percent(command: str, run: Run) -> None:
    places = {"anomaly": "maps", "detect": "predictions"}
    more = ["--compare", places[command], "--confidence-level", "0.9", "--n-resamples", "20", "--percent"]
    code, text, errors = run(command, *COMMANDS[command][0], *more)
    assert (code, errors) == (0, "")
    assert "difference in points [90 %]" in text
    row = (
        r"(?m)^U-Recall ↑ +(\d+\.\d\d) +\1 +0\.00"
        if command == "detect"
        else r"(?m)^pixel_auroc ↑ +(\d+\.\d\d) +\1 +0\.00"
    )
    assert re.search(row, text), text


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("command", ["anomaly", "detect"])
def test_another_model_that_is_not_there(command: str, run: Run) -> None:
    assert_one_line(run(command, *COMMANDS[command][0], "--compare", "no"), "no: ")
