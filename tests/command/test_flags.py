"""Each option of a metric is a flag of the commands, with the help of its script, and a wrong value is one line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from openworld_metrics import metric_class
from openworld_metrics.command.flags import option_help
from openworld_metrics.loading import METRICS
from tests import cases
from tests.conftest import Run

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
