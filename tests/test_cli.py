"""The command line: every kind of file, streams, terminals and pipes, and one line for whatever is wrong."""

from __future__ import annotations

import fcntl
import io
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import openworld_metrics
from openworld_metrics import cli, readers
from tests import cases

Run = Callable[..., tuple[int, str, str]]
Load = Callable[..., Any]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Run the command in tmp_path, with its standard input, and return the exit code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def run_command(*arguments: object, stdin: str = "") -> tuple[int, str, str]:
        readers._standard_input.cache_clear()
        monkeypatch.setattr(sys, "argv", ["openworld-metrics", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        with pytest.raises(SystemExit) as exit_:
            cli.main()
        output, errors = capfd.readouterr()
        return int(exit_.value.code or 0), output, errors

    return run_command


def columns() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {
        "predictions": rng.integers(-64, 64, (50, 3)) / 64,
        "references": rng.integers(-1, 3, 50),
        "open_scores": rng.integers(0, 64, 50) / 64,
    }


def compute_openauc(run: Run, places: dict[str, str], *more: str, stdin: str = "") -> dict[str, Any]:
    options = [part for name, place in places.items() for part in (f"--{name.replace('_', '-')}", place)]
    code, output, errors = run("compute", "openauc", *options, *more, stdin=stdin)
    assert (code, errors) == (0, "")
    return json.loads(output)


def save_npy(data: dict[str, Any]) -> dict[str, str]:
    for name, column in data.items():
        np.save(f"{name}.npy", column)
    return {name: f"{name}.npy" for name in data}


def save_npz(data: dict[str, Any]) -> dict[str, str]:
    np.savez("all.npz", **data)
    return dict.fromkeys(data, "all.npz")


def save_csv(data: dict[str, Any]) -> dict[str, str]:
    table = np.column_stack(list(data.values()))
    np.savetxt("all.csv", table, delimiter=",", comments="", header="cat,dog,cow,references,open_scores")
    return {**dict.fromkeys(data, "all.csv"), "predictions": "all.csv:cat,dog,cow"}


def save_bare_csv(data: dict[str, Any]) -> dict[str, str]:
    for name, column in data.items():
        np.savetxt(f"{name}.csv", column, delimiter=",")
    return {name: f"{name}.csv" for name in data}


def save_parquet(data: dict[str, Any]) -> dict[str, str]:
    table = {name: pa.array(column.tolist()) for name, column in data.items()}
    pq.write_table(pa.table(table), "all.parquet", row_group_size=7)
    return dict.fromkeys(data, "all.parquet")


def save_wide_parquet(data: dict[str, Any]) -> dict[str, str]:
    wide = {f"p{i}": data["predictions"][:, i] for i in range(3)}
    pq.write_table(pa.table({**wide, "y": data["references"]}), "wide.parquet", row_group_size=11)
    np.save("open_scores.npy", data["open_scores"])
    return {"predictions": "wide.parquet:p0,p1,p2", "references": "wide.parquet:y", "open_scores": "open_scores.npy"}


def save_json(data: dict[str, Any]) -> dict[str, str]:
    Path("all.json").write_text(json.dumps({name: column.tolist() for name, column in data.items()}))
    return dict.fromkeys(data, "all.json")


def save_pt(data: dict[str, Any]) -> dict[str, str]:
    torch = pytest.importorskip("torch")
    torch.save(torch.from_numpy(data["predictions"]), "predictions.pt")
    torch.save({name: torch.from_numpy(column) for name, column in data.items()}, "all.pt")
    return {**dict.fromkeys(data, "all.pt"), "predictions": "predictions.pt"}


SAVED = [save_npy, save_npz, save_csv, save_bare_csv, save_parquet, save_wide_parquet, save_json, save_pt]


@pytest.mark.parametrize("save", SAVED, ids=lambda save: save.__name__[5:])
def test_files(save: Callable[..., dict[str, str]], run: Run, load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "BATCH", 8)
    results = compute_openauc(run, save(columns()), "--option", "tpr=0.9")
    assert results == load("openauc", tpr=0.9).compute(**columns())


@pytest.mark.parametrize("name", cases.METRICS)
@pytest.mark.parametrize("ending", [".json", ".parquet"])
def test_every_metric(name: str, ending: str, run: Run, load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "BATCH", 3)
    data, options = cases.draw(name, 7)
    lists = {key: cases.as_lists(column) for key, column in data.items()}
    if ending == ".json":
        Path("all.json").write_text(json.dumps(lists))
    else:
        pq.write_table(pa.table(lists), "all.parquet")
    arguments = [part for key in data for part in (f"--{key.replace('_', '-')}", f"all{ending}")]
    for key, value in options.items():
        arguments += ["--option", f"{key}={list(value) if isinstance(value, (list, tuple)) else value}"]
    code, output, errors = run("compute", name, *arguments)
    assert (code, errors) == (0, "")
    assert json.loads(output) == load(name).compute(**data, **options)


@pytest.mark.parametrize("form", ["json", "csv"])
def test_standard_input(form: str, run: Run, load: Load) -> None:
    data = {**columns(), "predictions": np.arange(50) % 3}
    text = json.dumps({name: column.tolist() for name, column in data.items()})
    if form == "csv":
        rows = zip(*(column.tolist() for column in data.values()))
        text = "\n".join([",".join(data), *(",".join(map(str, row)) for row in rows)])
    results = compute_openauc(run, dict.fromkeys(data, "-"), stdin=text)
    assert results == load("openauc").compute(**data)


def test_saved_and_drawn(run: Run, load: Load, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    results = compute_openauc(run, save_npy(columns()), "--save", "out.json", "--plot", "out.png")
    assert json.loads((tmp_path / "out.json").read_text()) == results == load("openauc").compute(**columns())
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    for name in ("accuracyk", "ood_bench", "anomaly_suite"):
        data, _ = cases.draw(name, 8)
        Path("all.json").write_text(json.dumps({key: cases.as_lists(column) for key, column in data.items()}))
        arguments = [part for key in data for part in (f"--{key.replace('_', '-')}", "all.json")]
        more = ["--option", "ignore_unknown=true"] if name == "accuracyk" else []
        assert run("compute", name, *arguments, *more, "--plot", f"{name}.png")[0] == 0
        assert (tmp_path / f"{name}.png").stat().st_size > 1000


def test_list_and_describe(run: Run) -> None:
    for arguments in ([], ["--help"]):
        assert run(*arguments)[:2] == run()[:2]
        assert "compute   Compute a metric from files" in run(*arguments)[1]
    code, output, _ = run("list")
    assert code == 0
    assert [line.split()[0] for line in output.splitlines()] == list(openworld_metrics.METRICS)
    for name in openworld_metrics.METRICS:
        code, output, _ = run("describe", name)
        assert code == 0
        assert all(part in output for part in ("Args:", "Returns:", "Raises:", "Examples:", "@"))


WRONG = {
    "no such command": (["conpute"], "No such command 'conpute'"),
    "no such metric": (["compute", "opnauc"], "'opnauc' is not one of 'accuracyk'"),
    "no such flag": (["compute", "openauc", "--refs", "x.npy"], "No such option"),
    "no columns": (["compute", "openauc"], "expected at least one sample, got none"),
    "no such file": (["compute", "accuracyk", "--predictions", "none.npy"], "none.npy: No such file or directory"),
    "a folder": (["compute", "accuracyk", "--predictions", "folder.npy"], "folder.npy: Is a directory"),
    "another ending": (["compute", "accuracyk", "--predictions", "x.pkl"], "x.pkl: expected a file ending in .parquet"),
    "pickled npy": (["compute", "accuracyk", "--predictions", "pickled.npy"], "pickled.npy: .*Python objects"),
    "pickled npz": (["compute", "accuracyk", "--predictions", "pickled.npz"], "pickled.npz: Object arrays cannot"),
    "broken npy": (["compute", "accuracyk", "--predictions", "broken.npy"], "broken.npy: "),
    "broken npz": (["compute", "accuracyk", "--predictions", "broken.npz"], "broken.npz: "),
    "broken csv": (["compute", "accuracyk", "--predictions", "broken.csv"], "broken.csv: "),
    "broken parquet": (["compute", "accuracyk", "--predictions", "broken.parquet"], "broken.parquet: .*Parquet"),
    "broken json": (["compute", "accuracyk", "--predictions", "broken.json"], "broken.json: Expecting"),
    "missing values": (
        ["compute", "accuracyk", "--predictions", "gaps.csv:a,b"],
        "gaps.csv:a,b: expected no missing values",
    ),
    "gaps in parquet": (["compute", "accuracyk", "--predictions", "gaps.parquet"], "gaps.parquet: expected no missing"),
    "which column": (
        ["compute", "accuracyk", "--predictions", "good.csv"],
        "good.csv: expected a column predictions, got a, b; name others as in FILE:COLUMN,COLUMN",
    ),
    "no such column": (["compute", "accuracyk", "--predictions", "good.csv:c"], "good.csv:c: expected a column c, got"),
    "text": (
        ["compute", "accuracyk", "--predictions", "text.csv:a,b"],
        "expected numbers, got str32 values such as 'a'",
    ),
    "empty input": (["compute", "accuracyk", "--predictions", "-"], "-: expected JSON or comma-separated values, got"),
    "lengths": (
        ["compute", "accuracyk", "--predictions", "good.parquet", "--references", "good.npy"],
        "expected columns of one length, got 2 predictions, 3 references",
    ),
    "no such option": (["compute", "accuracyk", "--option", "k=1"], "accuracyk has no argument 'k'; it takes k_list"),
    "no value": (["compute", "accuracyk", "--option", "k_list"], "expected KEY=VALUE, got 'k_list'"),
    "a bad value": (
        ["compute", "accuracyk", "--predictions", "good.csv:a,b", "--references", "-", "--option", "k_list=9"],
        "k_list: expected an int of at least 1 and at most 2, got 9",
    ),
    "an unwritable file": (
        ["compute", "accuracyk", "--predictions", "good.csv:a,b", "--references", "-", "--save", "no/such/folder.json"],
        "No such file or directory",
    ),
    "an unknown picture": (
        ["compute", "accuracyk", "--predictions", "good.csv:a,b", "--references", "-", "--plot", "x.docx"],
        "docx",
    ),
}


@pytest.fixture
def bad_files(tmp_path: Path) -> None:
    np.save(tmp_path / "pickled.npy", np.asarray([{}, None]), allow_pickle=True)
    np.savez(tmp_path / "pickled.npz", predictions=np.asarray([{}, None]))
    for ending in ("npy", "npz", "csv", "parquet", "json", "pt"):
        (tmp_path / f"broken.{ending}").write_bytes(b"nonsense\n1,2,3")
    (tmp_path / "folder.npy").mkdir()
    (tmp_path / "gaps.csv").write_text("a,b\n1,2\n,4\n")
    (tmp_path / "good.csv").write_text("a,b\n1,2\n3,4\n")
    (tmp_path / "text.csv").write_text("a,b\na,b\nc,d\n")
    pq.write_table(pa.table({"predictions": [[1, 2], [None, 3], [4, 5]]}), tmp_path / "gaps.parquet")
    pq.write_table(pa.table({"predictions": [[1, 2], [2, 3]]}), tmp_path / "good.parquet")
    np.save(tmp_path / "good.npy", np.arange(3))


def assert_one_line(failed: tuple[int, str, str], pattern: str) -> None:
    code, output, errors = failed
    assert (code, output) == (2, ""), errors
    assert errors.count("\n") == 1
    assert errors.startswith("openworld-metrics: ")
    with pytest.raises(ValueError, match=pattern):
        raise ValueError(errors)


@pytest.mark.usefixtures("bad_files")
@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_one_line(wrong: str, run: Run) -> None:
    arguments, pattern = WRONG[wrong]
    needs_references = "--predictions" in arguments and "--references" not in arguments
    stdin = "" if wrong == "empty input" else "[1, 2]"
    more = ["--references", "good.npy"] if needs_references else []
    assert_one_line(run(*arguments, *more, stdin=stdin), pattern)


@pytest.mark.usefixtures("bad_files")
def test_pt_files_are_never_unpickled(run: Run, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    torch.save({"predictions": Path("x")}, tmp_path / "pickled.pt")
    for name in ("pickled", "broken"):
        failed = run("compute", "accuracyk", "--predictions", f"{name}.pt", "--references", "good.npy")
        assert_one_line(failed, f"{name}.pt: expected tensors, or a dict of tensors")


def on_terminal(arguments: list[str], folder: Path) -> str:
    """What the installed command prints when both its output and its errors go to a terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    command = [str(Path(sys.executable).with_name("openworld-metrics")), *arguments]
    process = subprocess.Popen(command, cwd=folder, stdout=theirs, stderr=theirs)
    os.close(theirs)
    printed = b""
    while True:
        try:
            printed += os.read(ours, 4096)
        except OSError:  # the other side is closed
            break
    assert process.wait(timeout=60) == 0
    return printed.decode()


def test_a_table_and_a_progress_bar_on_a_terminal(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = {"predictions": rng.random(20000), "references": rng.integers(0, 2, 20000)}
    pq.write_table(pa.table(table), tmp_path / "large.parquet")
    arguments = ["compute", "ood_bench", "--predictions", "large.parquet", "--references", "large.parquet"]
    printed = on_terminal(arguments, tmp_path)
    assert "100%" in printed
    assert "20.0k/20.0k" in printed
    results = openworld_metrics.load("ood_bench").compute(**table)
    assert printed.splitlines()[-2:] == [f"auroc     {results['auroc']:.6f}", f"fpr95tpr  {results['fpr95tpr']:.6f}"]
    code, output, errors = run(*arguments)
    assert (code, json.loads(output), errors) == (0, results, "")
