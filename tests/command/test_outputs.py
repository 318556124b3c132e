"""Where the command leaves its results: what is checked before, what is printed, and what a broken stream costs."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from openworld_metrics import OODBench
from openworld_metrics.reading.rows import inputs
from openworld_metrics.reading.tables import files as readers
from tests.conftest import Run, without_position

RESULTS = {"auroc": 0.75, "fpr95tpr": 0.5}
COMPUTE = ["compute", "ood_bench", "--predictions", "x.npy", "--references", "y.npy"]

DETECT = ["detect", "--predictions", "meta.pt", "--references", "meta.pt", "--known-classes", "0"]


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", [0.1, 0.6, 0.4, 0.9])
    np.save(tmp_path / "y.npy", [0, 0, 1, 1])
    table = {"predictions": [0.1, 0.6, 0.4, 0.9], "references": [0, 0, 1, 1]}
    pq.write_table(pa.table(table), tmp_path / "all.parquet")


def command(*arguments: str, folder: Path, **options: Any) -> tuple[int, str, str]:
    """The installed command in a process of its own."""
    call = [str(Path(sys.executable).with_name("openworld-metrics")), *arguments]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    done = subprocess.run(call, cwd=folder, text=True, check=False, **streams)
    return done.returncode, done.stdout or "", done.stderr or ""


@pytest.mark.parametrize("option", ["--save", "--plot"])
def test_a_place_is_checked_before_anything_is_read(option: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "read_table", pytest.fail)
    ending = ".json" if option == "--save" else ".png"
    Path("file").touch()
    for place, reason in (("no/such", "no: No such file or directory"), ("file/x", "Not a directory")):
        assert_failed(run(*COMPUTE, option, place + ending), reason)
    assert sorted(path.name for path in Path().iterdir()) == ["all.parquet", "file", "x.npy", "y.npy"]


def assert_failed(failed: tuple[int, str, str], reason: str) -> None:
    code, output, errors = failed
    assert (code, output) == (2, "")
    assert errors.startswith("openworld-metrics: ")
    assert reason in errors
    assert errors.count("\n") == 1


def test_results_are_printed_though_they_cannot_be_saved(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for name in ("x.json", "x.png"):
        Path(name).write_text("old")
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        code, output, errors = run(*COMPUTE, "--save", "x.json", "--plot", "x.png")
    assert (code, json.loads(output)) == (2, RESULTS)
    assert errors == "openworld-metrics: x.png: No space left on device\n"
    assert {Path(name).read_text() for name in ("x.json", "x.png")} == {"old"}
    # what can be saved is, though something else cannot
    monkeypatch.setattr("openworld_metrics.faces.plot.write_file", full)
    assert run(*COMPUTE, "--save", "x.json", "--plot", "x.png")[0] == 2
    assert json.loads(Path("x.json").read_text()).items() >= RESULTS.items()


@pytest.mark.parametrize("place", ["/dev/full", "a pipe that nobody reads", "closed"])
def test_results_are_saved_though_they_cannot_be_printed(place: str, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with open("/dev/full", "w") as full, os.fdopen(writing, "w") as pipe:
        options: dict[str, dict[str, Any]] = {
            "/dev/full": {"stdout": full},
            "a pipe that nobody reads": {"stdout": pipe},
            "closed": {"stdout": None, "preexec_fn": lambda: os.close(1)},
        }
        code, _, errors = command(*COMPUTE, "--save", "x.json", folder=tmp_path, **options[place])
    assert (code, errors) == {
        "/dev/full": (2, "openworld-metrics: standard output: No space left on device\n"),
        "a pipe that nobody reads": (1, ""),
        "closed": (2, "openworld-metrics: standard output: expected it to be open, got it closed\n"),
    }[place]
    assert json.loads((tmp_path / "x.json").read_text()).items() >= RESULTS.items()


def test_an_unwritable_hugging_face_home(tmp_path: Path) -> None:
    names = dict.fromkeys(("HF_HOME", "HF_MODULES_CACHE", "HF_METRICS_CACHE", "XDG_CACHE_HOME"), "/proc/nowhere")
    code, output, errors = command(*COMPUTE, folder=tmp_path, env={**os.environ, **names})
    assert (code, json.loads(output), errors) == (0, RESULTS, "")
    assert command("list", folder=tmp_path, env={**os.environ, **names})[::2] == (0, "")


MODULES = ["click", "numpy", "openworld_metrics.command.commands", "openworld_metrics.reading.tables.files"]


@pytest.mark.parametrize("module", MODULES)
def test_ctrl_c_while_modules_are_imported(module: str, tmp_path: Path) -> None:
    """A finder of modules in the place of sitecustomize presses it."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(f"""
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # as in the foreground, wherever the suite runs
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
""")
    code, output, errors = command(*COMPUTE, folder=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path / "site")})
    assert (code, output, errors.strip()) == (130, "", "")


def test_warnings_of_libraries_are_not_shown(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import warnings

    def loud(path: Path) -> Any:
        warnings.warn("of a library", RuntimeWarning, stacklevel=1)
        return np.load(path)

    monkeypatch.setattr(readers, "read_npy", loud)
    code, output, errors = run(*COMPUTE)
    assert (code, json.loads(output), errors) == (0, RESULTS, "")


OUT_OF_MEMORY: dict[str, tuple[Exception, str]] = {
    "NumPy": (
        MemoryError("Unable to allocate 8.00 TiB for an array"),
        "there is not enough memory: Unable to allocate 8.00 TiB for an array",
    ),
    "Python": (MemoryError(), "there is not enough memory"),
    "Arrow": (pa.ArrowMemoryError("malloc of size 1"), "there is not enough memory: malloc of size 1"),
    "torch": (
        RuntimeError("[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you"),
        "there is not enough memory",
    ),
}


@pytest.mark.parametrize("of", OUT_OF_MEMORY)
def test_memory_errors_are_called_so(of: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    error, said = OUT_OF_MEMORY[of]

    def fails(*_: object, **__: object) -> Any:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(readers, "read_npy", fails)
        assert run(*COMPUTE) == (2, "", f"openworld-metrics: x.npy: {said}\n")
    monkeypatch.setattr(OODBench, "prepare", fails)
    assert run(*COMPUTE) == (2, "", f"openworld-metrics: {said}\n")


def test_a_defect_is_one_line_too(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> Any:
        raise RuntimeError("two\nlines \x1b[31m" + "x" * 600)

    monkeypatch.setattr(OODBench, "prepare", fails)
    code, output, errors = run(*COMPUTE)
    assert (code, output, len(errors)) == (2, "", 501)
    assert errors.startswith("openworld-metrics: RuntimeError: two lines \\x1b[31mxxx")
    assert " … " in errors


def test_the_package_is_the_command() -> None:
    command = [sys.executable, "-m", "openworld_metrics"]
    ran = subprocess.run([*command, "compute", "ood_bench"], capture_output=True, text=True, timeout=100)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert ran.stderr.startswith("openworld-metrics: expected files, as in openworld-metrics compute ood_bench table")
    ran = subprocess.run([*command, "list"], capture_output=True, text=True, timeout=100)
    assert (ran.returncode, ran.stderr, len(ran.stdout.splitlines())) == (0, "", 15)


def test_errors_of_a_column_have_the_name_of_its_file(run: Run, tmp_path: Path) -> None:
    np.save(tmp_path / "words.npy", ["a", "b", "c", "d"])
    told = "words.npy: words, row 1 and 3 more: 'a' is not a number"
    assert_failed(run(*COMPUTE[:3], "words.npy", *COMPUTE[4:]), told)


def test_tensors_that_do_not_fit(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    torch.save(torch.zeros(4, device="meta"), tmp_path / "meta.pt")
    torch.save({"predictions": [torch.zeros(4).to_sparse()]}, tmp_path / "sparse.pt")
    for kind in ("meta", "sparse"):
        assert_failed(
            run(*COMPUTE[:3], f"{kind}.pt", *COMPUTE[4:]), f"{kind}.pt: expected plain tensors, got a {kind} one"
        )
    error, said = OUT_OF_MEMORY["torch"]

    def fails(*_: object, **__: object) -> Any:
        raise error

    monkeypatch.setattr(torch, "load", fails)
    for arguments in ([*COMPUTE[:3], "meta.pt", *COMPUTE[4:]], DETECT):
        assert_failed(run(*arguments), f"openworld-metrics: meta.pt: {said}\n")


def test_rows_of_more_than_a_megabyte(run: Run, tmp_path: Path) -> None:
    numbers = np.random.default_rng(0).random(4)
    rows = [f"{number!r},{'x' * 1_200_000}" for number in numbers.tolist()]
    (tmp_path / "wide.csv").write_text("\n".join(["predictions,notes", *rows]))
    header = ["predictions", *(f"{'x' * 60_000}{i}" for i in range(20))]
    lines = [",".join(header), *(",".join([f"{number!r}", *"9" * 20]) for number in numbers.tolist())]
    (tmp_path / "header.csv").write_text("\n".join(lines))
    expected = OODBench().compute(predictions=numbers, references=[0, 0, 1, 1])
    for name in ("wide.csv", "header.csv"):
        code, output, errors = run(*COMPUTE[:3], name, *COMPUTE[4:])
        assert (code, json.loads(output), without_position(errors)) == (0, expected, "")
