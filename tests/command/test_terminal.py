"""What people see: colour only on a terminal that wants it, intervals that take no time, progress that goes away."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any
from unicodedata import normalize

import click
import numpy as np
import pytest

from openworld_metrics import OODBench, compare
from openworld_metrics.answers.answers import answers_of
from openworld_metrics.answers.computing import compute_models, note_of
from openworld_metrics.answers.subject import subject_of
from openworld_metrics.command import messages, outputs
from openworld_metrics.command.commands import cli
from openworld_metrics.command.messages import end_waiting, show, waiting
from openworld_metrics.command.options import WaitingCommand
from openworld_metrics.faces.terminal import Painted, aligned, comparison_text, results_text, text_width
from openworld_metrics.loading import script
from openworld_metrics.metric.results import Rate, Summary
from openworld_metrics.reading.reading import Reading
from tests.command.terminal import on_terminal
from tests.waiting import until

LABELS = [0, 1] * 10
FILES = ["--predictions", "first.npy", "--references", "labels.npy"]
MODELS = ["--first-predictions", "first.npy", "--second-predictions", "second.npy", "--references", "labels.npy"]


@pytest.fixture
def scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, np.ndarray]:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    made = {"first": rng.random(20) + LABELS, "second": rng.random(20), "labels": np.asarray(LABELS)}
    for name, column in made.items():
        np.save(f"{name}.npy", column)
    return made


def bare(text: str) -> str:
    return re.sub(r"\x1b\[[\d;]*[mK]|\r", "", text)


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "xterm")])
@pytest.mark.usefixtures("scores")
def test_colours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv(name, value)
    command = (
        ["compare", "ood_bench", *MODELS, "--n-resamples", "20"]
        if value == "xterm"
        else ["compute", "ood_bench", *FILES]
    )
    printed = on_terminal([*command, "--confidence-level", "0.9"], tmp_path)
    # on a slow machine, progress is shown and erased, which is no colour
    assert bool(re.search(r"\x1b\[[\d;]*m", printed)) == (value == "xterm")
    assert re.search(r"auroc +(↑ +)?1\.000", bare(printed))


@pytest.mark.usefixtures("scores")
def test_a_name_has_no_colour_of_its_own(capfd: pytest.CaptureFixture[str]) -> None:
    show("\x1b[31mred")
    assert capfd.readouterr().out == "\\x1b[31mred\n"
    table = {key: [0.0] for key in ("first", "second", "difference", "low", "high", "p_value")}
    for colour in (False, True):
        text = comparison_text({"key": ["\x1b[31mred"], **table, "better": [None]}, colour=colour)
        assert isinstance(text, Painted) == colour
        assert "\\x1b[31mred" in text
        assert text.isprintable() or colour or "\x1b" not in text


def test_intervals_that_take_no_time(scores: dict[str, np.ndarray]) -> None:
    """They are those of the option, and leave no trace in what is saved."""
    columns = {"predictions": scores["first"], "references": scores["labels"]}
    plain, certain = (OODBench(confidence_level=level).summary(**columns) for level in (None, 0.95))
    reading, subject = Reading("ood_bench", {"": columns}), subject_of("ood_bench")
    for wanted in (None, False):
        done = compute_models(subject, reading, OODBench.options, intervals=wanted)
        found = done.models[""].summary
        assert found.results == (plain if wanted is False else certain).results
        assert note_of(done, OODBench.options) == ("" if wanted is False else "95 % intervals: 1,000 resamples")
        assert outputs.without_intervals(found) == plain


def test_too_few_samples_have_no_intervals_unasked() -> None:
    scores, labels = np.random.default_rng(0).random(40), np.repeat([1, 0], [10, 30])
    subject = subject_of("ood_bench")
    for few, groups in ((0, None), (1, None), (0, ["a", "b"] * 20)):
        columns = {"predictions": scores[few:], "references": labels[few:]} | ({"groups": groups} if groups else {})
        for level in (None, 0.95):
            options = {**OODBench.options, "confidence_level": level}
            done = compute_models(subject, Reading("ood_bench", {"": columns}), options)
            enough = level is not None or (not few and groups is None)
            assert (done.models[""].summary.results["auroc"].interval is not None) == enough
            words = "No intervals: there are fewer than 10 samples of a kind."
            assert note_of(done, options) == ("95 % intervals: 1,000 resamples" if enough else words)


def test_one_rule_says_which_intervals_come_by_themselves() -> None:
    """The same on a terminal, in a report and on a page, whatever draws: by the work of the resamples."""
    subject = subject_of("ood_bench")
    for size, resamples, quick in ((2_000, 1_000, True), (2_000, 1_000_000, False), (20_000, 100, True)):
        columns = {"predictions": np.random.default_rng(0).random(size), "references": np.arange(size) % 2}
        options = {**OODBench.options, "n_resamples": resamples}
        done = compute_models(subject, Reading("ood_bench", {"": columns}), options)
        assert (done.level is not None) == quick
        answer = answers_of("ood_bench", Reading("ood_bench", {"": columns}), options)[""]
        assert answer.level == done.level


@pytest.mark.usefixtures("scores")
def test_what_is_saved_does_not_depend_on_a_terminal(tmp_path: Path, run: Any) -> None:
    command = ["compute", "ood_bench", *FILES, "--save"]
    on_terminal([*command, "terminal.json"], tmp_path)
    assert run(*command, "pipe.json")[0] == 0
    terminal, pipe = (json.loads(Path(f"{name}.json").read_text()) for name in ("terminal", "pipe"))
    assert terminal == pipe
    assert "auroc_low" not in pipe


def test_a_threshold_has_all_its_digits() -> None:
    threshold = 1 / 3
    text = results_text("x", "", Summary({"fpr95tpr": Rate(0.5, False, threshold=threshold), "t_threshold": threshold}))
    assert text.count(repr(threshold)) == 2


def test_groups_and_their_mean(scores: dict[str, np.ndarray]) -> None:
    columns = {"predictions": scores["first"], "references": scores["labels"], "groups": ["x/a"] * 10 + ["x/b"] * 10}
    lines = results_text("ood_bench", "", OODBench().summary(**columns)).split("\n")
    assert [line.split()[:2] for line in lines[3:]] == [
        ["x", "1.000"],
        ["x/a", "1.000"],
        ["x/b", "1.000"],
        ["mean", "of"],
    ]
    assert "mean of 2" in lines[-1]
    narrow = results_text(
        "ood_bench", "", OODBench(metrics=["auroc", "aupr_in", "aupr_out"]).summary(**columns), width=40
    )
    assert max(map(len, narrow.split("\n"))) <= 40
    assert narrow.count("mean of 2") == 2


def test_a_comparison_fits(scores: dict[str, np.ndarray]) -> None:
    table = compare("ood_bench", scores["first"], scores["second"], references=LABELS, n_resamples=50)
    for width in (60, 80, 110, 160):
        lines = comparison_text(table, ("ours", "theirs"), width=width).split("\n")
        assert max(map(len, lines)) <= max(width, 66)
        assert ("p" in lines[0].split()) == (width > 60)
        assert ("●" in lines[1]) == (width >= 110)
        assert lines[1].endswith("ours is better")
    same = compare("ood_bench", scores["first"], scores["first"], references=LABELS, n_resamples=50)
    assert all(line.endswith("no clear difference") for line in comparison_text(same).split("\n")[1:])
    without = {key: column for key, column in table.items() if key in ("key", "first", "second", "difference")}
    assert comparison_text(without).split("\n")[0].split() == ["first", "second", "difference"]


def test_long_names_stand_above_a_comparison_that_is_too_wide(scores: dict[str, np.ndarray]) -> None:
    names = ("maps_patchcore_of_layer_2_and_3", "maps_padim_of_layer_1")
    table = compare("ood_bench", scores["first"], scores["second"], references=LABELS, n_resamples=50)
    for width in (70, 80, 100):
        one, other, *lines = comparison_text(table, names, width=width).split("\n")
        assert (one, other) == (f"first: {names[0]}", f"second: {names[1]}")
        assert max(map(len, lines)) <= width
        assert lines[1].endswith("first is better")
    assert comparison_text(table, names, width=160).startswith(" ")


def test_thresholds_on_a_terminal_are_the_shortest_decimals_that_decide_alike(tmp_path: Path, run: Any) -> None:
    rng = np.random.default_rng(3)
    scores = rng.random(60) + np.arange(60) % 2
    (tmp_path / "s.csv").write_text(
        "".join(["score,label\n", *(f"{s!r},{i % 2}\n" for i, s in enumerate(scores.tolist()))])
    )
    command = ["compute", "ood_bench", str(tmp_path / "s.csv"), "--thresholds", "--metrics", "fpr95tpr,detect_acc"]
    saved, text = json.loads(run(*command)[1]), bare(on_terminal(command, tmp_path))
    shown = dict(re.findall(r"^ +(\w+) .*at score > (\S+)", text, flags=re.MULTILINE))
    assert {*shown} == {"fpr95tpr", "detect_acc"}
    for key, decimal in shown.items():
        assert ((scores > float(decimal)) == (scores > saved[f"{key}_threshold"])).all()
        assert len(decimal) < 8


def test_groups_of_a_comparison_are_left_to_the_file(scores: dict[str, np.ndarray]) -> None:
    groups = ["a"] * 10 + ["b"] * 10
    table = compare("ood_bench", scores["first"], scores["second"], references=LABELS, groups=groups, n_resamples=20)
    assert len(table["key"]) == 6
    assert len(comparison_text(table).split("\n")) == 3


@pytest.mark.usefixtures("scores")
def test_forms_in_a_pipe_and_on_a_terminal(tmp_path: Path, run: Any) -> None:
    code, output, errors = run("compute", "ood_bench", *FILES, "--format", "text")
    assert (code, errors) == (0, "")
    assert output.splitlines()[0] == "ood_bench  20 samples"
    assert output.splitlines()[1].split() == ["auroc", "1.000", "↑"]
    printed = on_terminal(["compute", "ood_bench", *FILES, "--format", "json"], tmp_path)
    json.loads(printed[printed.index("{") :])  # after a line or a bar of progress, on a busy machine
    more = ["--n-resamples", "50"]
    assert "first is better" in run("compare", "ood_bench", *MODELS, *more, "--format", "text")[1]
    ood = ["ood", "--known", "second.npy", "--unknown", "a=first.npy", "--metrics", "auroc", "--percent"]
    assert re.search(r"(?m)^a +\d+\.\d\d$", run(*ood)[1])
    assert re.search(r"a +\d+\.\d\d \[\d+\.\d\d, \d+\.\d\d\]", bare(on_terminal(ood, tmp_path)))


class Terminal:
    """Standard error of a terminal, which keeps what is written."""

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


def test_a_line_of_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", stream)
    with waiting("compute: working"):
        pass
    assert stream.text == ""
    monkeypatch.setattr(messages, "_AFTER", 0.0)
    with waiting("compute: working"):
        assert until(lambda: stream.text)
        end_waiting()
        ended = stream.text
    assert re.fullmatch(r"(\r\x1b\[Kcompute: working, 0 s)+\r\x1b\[K", ended)
    assert stream.text == ended


def test_every_command_that_may_take_long_has_a_line_of_progress() -> None:
    context = click.Context(cli)
    quick = {"list", "describe", "serve"}
    lined = {name for name in cli.list_commands(context) if isinstance(cli.get_command(context, name), WaitingCommand)}
    assert lined == {*cli.list_commands(context)} - quick


BOXES = ["predictions.zip", "references.zip"]


@pytest.mark.parametrize(
    "command",
    [
        ["compute", "ood_bench", "long.csv"],
        ["compute", "ood_bench"],
        ["compute", "openauc", "digits.npz"],
        ["compute", "openset_detection", *BOXES],
        ["compare", "ood_bench", "long.csv"],
        ["threshold", "long.csv", "--predictions", "energy", "--fpr", "0.1"],
        ["detect", "--predictions", BOXES[0], "--references", BOXES[1], "--known-classes", *"012345"],
        ["list"],
    ],
    ids=lambda command: " ".join(command[:3]),
)
def test_lines_fit_the_terminal(command: list[str], tmp_path: Path, run: Any) -> None:
    """Results, notes, warnings and errors break between words; in a pipe each note is one line."""
    rows = [f"{i}.png,{i % 7}.5,{i % 5}.25,{'ab'[i % 3 > 0]},{['id', 'ood'][i % 2]}\n" for i in range(60)]
    (tmp_path / "long.csv").write_text("".join(["image,energy,msp_score,hospital,label\n", *rows]))
    for metric, names in (("openauc", ["digits.npz"]), ("openset_detection", BOXES)):
        for name in names:
            shutil.copy(script(metric).parent / "examples" / name, tmp_path)
    printed = on_terminal(command, tmp_path, expected=2 * (command == ["compute", "ood_bench"]))
    lines = map(bare, re.split(r"[\r\n]", printed))  # a bar of progress writes over its line
    assert [line for line in lines if text_width(line) > 80] == []
    if "long.csv" in command:
        errors = run(*[str(tmp_path / word) if word == "long.csv" else word for word in command])[2]
        assert max(map(len, errors.split("\n"))) > 80
        assert all(line.startswith("openworld-metrics: ") for line in errors.splitlines())


def test_wide_characters_take_two_columns() -> None:
    lines = aligned([["group", "auroc"], ["数据集", "0.5"], [normalize("NFD", "é"), "0.25"], ["ｋ🦊", "1"]]).split("\n")
    assert [text_width(line) for line in lines] == [len("数据集") * 2 + 2 + len("auroc")] * 4
    assert lines[0] == "group   auroc"


def test_lines_below_a_table_fit_the_terminal(tmp_path: Path) -> None:
    for name, values in (("a", [0.5, 0.75]), ("b", [0.25, 0.5])):
        results = {"auroc": values[0], "fpr95tpr": values[1], "signature": "ood_bench|v1"}
        (tmp_path / f"{name}.json").write_text(json.dumps(results))
    arguments = ["table", "a.json", "b.json", "--rank", "--sort", "auroc"]
    printed = on_terminal(arguments, tmp_path, COLUMNS="60")
    assert max(map(len, printed.splitlines())) <= 60
    assert "Ranks order the numbers as they are" in " ".join(printed.split())
