"""Whatever is written is there as a whole or not at all, at whichever step writing fails."""

from __future__ import annotations

import errno
import json
import os
import resource
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from openworld_metrics import suites, written
from openworld_metrics.faces import summaries
from openworld_metrics.faces.report import write_report
from openworld_metrics.written import files as writing
from openworld_metrics.written.files import check_file, check_folder, nearest_folder, write_file, write_files
from tests.detection import scenes
from tests.faces.sample import sample

OLD = b"what was there before"
REPLACE = os.replace


class Disk:
    """A disk on which one step fails: to make a draft, to write half of it or all, to give it to its place, …"""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps, self.failing, self.replaced = 0, 0, 0
        for name in ("chown", "chmod", "replace"):
            monkeypatch.setattr(os, name, self.in_a_step(getattr(os, name)))
        monkeypatch.setattr(writing, "open", self.open, raising=False)

    def fail_at(self, step: int) -> None:
        self.steps, self.failing, self.replaced = 0, step, 0

    def in_a_step(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any, **options: Any) -> Any:
            self.step()
            self.replaced += call is REPLACE
            return call(*arguments, **options)

        return step

    def step(self) -> None:
        self.steps += 1
        if self.steps == self.failing:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    @contextmanager
    def open(self, *arguments: Any, **options: Any) -> Iterator[Any]:
        self.step()
        with open(*arguments, **options) as file:
            yield SimpleNamespace(write=partial(self.write, file))
        self.step()

    def write(self, file: Any, data: bytes) -> None:
        file.write(data[: len(data) // 2])
        self.step()
        file.write(data[len(data) // 2 :])


def two_files(folder: Path) -> list[Path]:
    write_files([(folder / "one", "1" * 5000), (folder / "two", b"2" * 5000), (folder / "new", "3")])
    return [folder / "one", folder / "two", folder / "new"]


def yolo(folder: Path) -> list[Path]:
    written.write_yolo_predictions(scenes.scene(1, 3), folder / "labels")
    return [folder / "labels" / f"000{i}.txt" for i in range(3)]


def coco(folder: Path) -> list[Path]:
    written.write_coco(scenes.scene(1, 3).dataset, folder / "coco.json")
    return [folder / "coco.json"]


def coco_results(folder: Path) -> list[Path]:
    written.write_coco_results(scenes.scene(1, 3), folder / "coco.json")
    return [folder / "coco.json"]


def results(folder: Path) -> list[Path]:
    summaries.save_results({"openset_metrics": {"WI": 0.5}}, folder / "results.txt")
    return [folder / "results.txt"]


def plot(folder: Path) -> list[Path]:
    pytest.importorskip("matplotlib")
    from openworld_metrics.faces.plot import draw_answer

    draw_answer(sample(), folder / "x.png")
    return [folder / "x.png"]


def report(folder: Path) -> list[Path]:
    made, options = scenes.scene(4, 10), {"unknown_class_id": scenes.UNKNOWN_ID}
    found = suites.evaluate_detections(made, scenes.KNOWN, standard=False, **options)
    page = write_report(made, found, folder / "report", scenes.KNOWN, images=2, **options)
    return [page]


WRITERS: list[Callable[[Path], list[Path]]] = [two_files, yolo, coco, coco_results, results, plot, report]


def error_of(write: Callable[[Path], object], folder: Path) -> OSError | None:
    try:
        write(folder)
    except OSError as error:
        return error
    return None


@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
def test_a_failure_at_any_step(
    write: Callable[[Path], list[Path]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_one_time = SimpleNamespace(now=lambda zone: datetime(2026, 11, 24, tzinfo=zone))  # a report says its minute
    monkeypatch.setattr("openworld_metrics.faces.report.frame.datetime", at_one_time)
    paths = write(tmp_path)
    whole = [path.read_bytes() for path in paths]
    for path in paths[:2]:
        path.write_bytes(OLD)
    disk, failures = Disk(monkeypatch), 0
    while True:
        before = {path: path.read_bytes() for path in paths}
        disk.fail_at(failures + 1)
        if (error := error_of(write, tmp_path)) is None:
            break
        failures += 1
        assert error.errno == errno.ENOSPC
        assert Path(error.filename) in paths
        # to replace a file needs no room; where it fails all the same, each file is old or new
        if disk.replaced == 0:
            assert {path: path.read_bytes() for path in paths} == before
        assert all(path.read_bytes() in (before[path], content) for path, content in zip(paths, whole))
        assert not list(tmp_path.rglob("*.draft"))
    assert failures >= 4 * len(paths)
    assert [path.read_bytes() for path in paths] == whole


def test_a_new_file_is_not_there_by_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(monkeypatch)
    for step in (1, 2, 3, 4):
        disk.fail_at(step)
        with pytest.raises(OSError, match=r"No space left on device: '.*/x'"):
            write_file(tmp_path / "x", "abc")
        assert list(tmp_path.iterdir()) == []


def test_contents_that_fail_change_nothing(tmp_path: Path) -> None:
    def contents() -> Iterator[tuple[Path, str]]:
        yield tmp_path / "x", "new"
        raise ValueError("no more")

    (tmp_path / "x").write_bytes(OLD)
    with pytest.raises(ValueError, match="no more"):
        write_files(contents())
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [OLD]


def test_what_a_path_may_be(tmp_path: Path) -> None:
    plain, link, new = tmp_path / "plain", tmp_path / "link", tmp_path / "dangling"
    plain.write_text("old")
    plain.chmod(0o640)
    link.symlink_to("plain")
    new.symlink_to("folder/new")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    long = tmp_path / ("x" * 255)
    with ThreadPoolExecutor() as pool:
        read = pool.submit((tmp_path / "pipe").read_text)
        write_files((path, "neu") for path in (link, new, tmp_path / "pipe", long))
        assert read.result(timeout=60) == "neu"
    assert (link.readlink(), new.readlink()) == (Path("plain"), Path("folder/new"))
    assert plain.read_text() == (tmp_path / "folder/new").read_text() == long.read_text() == "neu"
    assert stat.S_IMODE(plain.stat().st_mode) == 0o640
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(long.stat().st_mode) == 0o666 & ~mask
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_odd_bytes_of_names_in_a_text(tmp_path: Path) -> None:
    write_file(tmp_path / "x", "\udcff √")
    assert (tmp_path / "x").read_text(encoding="utf-8") == "\\udcff √"


def test_checks_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(OLD)
    (tmp_path / "loop").symlink_to("loop")
    for path, message in [
        (tmp_path / "folder", f"Is a directory: '{tmp_path}/folder'"),
        (tmp_path / "no" / "x", f"No such file or directory: '{tmp_path}/no'"),
        (tmp_path / "file" / "x", f"Not a directory: '{tmp_path}/file/x'"),
        (tmp_path / "loop", f"Too many levels of symbolic links: '{tmp_path}/loop'"),
        (tmp_path / ("x" * 256), "File name too long"),
        (Path("/proc/x"), "No such file or directory: '/proc'"),
    ]:
        with pytest.raises(OSError, match=message):
            check_file(path)
        with pytest.raises(OSError, match="'"):
            write_file(path, "new")
    for path in (tmp_path / "new", tmp_path / "file", Path(os.devnull)):
        check_file(path)
    assert nearest_folder(tmp_path / "a" / "b") == nearest_folder(tmp_path) == tmp_path
    with pytest.raises(OSError, match="Not a directory"):
        check_folder(nearest_folder(tmp_path / "file" / "b"))
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match=f"'{tmp_path}/file'"):
        check_file(tmp_path / "file")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder", "loop"]
    assert (tmp_path / "file").read_bytes() == OLD


def test_a_reader_sees_no_half(tmp_path: Path) -> None:
    contents = [bytes([i]) * 100_000 for i in range(5)]
    write_file(tmp_path / "x", contents[0])
    with ThreadPoolExecutor() as pool:
        done = pool.submit(lambda: [write_file(tmp_path / "x", content) for content in contents * 20])
        while not done.done():
            assert (tmp_path / "x").read_bytes() in contents
        done.result()


def test_a_full_disk(tmp_path: Path) -> None:
    """The command itself, where the system allows no file of more than 20 bytes."""
    np.save(tmp_path / "x.npy", [0.1, 0.6, 0.4, 0.9])
    np.save(tmp_path / "y.npy", [0, 0, 1, 1])
    (tmp_path / "old.json").write_bytes(OLD * 50)
    command = [str(Path(sys.executable).with_name("openworld-metrics")), "compute", "ood_bench"]
    command += ["--predictions", "x.npy", "--references", "y.npy", "--save", "old.json"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20)),
    )
    assert (done.returncode, done.stderr) == (2, "openworld-metrics: old.json: File too large\n")
    assert json.loads(done.stdout) == {"auroc": 0.75, "fpr95tpr": 0.5}
    assert (tmp_path / "old.json").read_bytes() == OLD * 50
    assert len(list(tmp_path.iterdir())) == 3
