"""Whatever is written is there as a whole or not at all, at whichever step writing fails."""

from __future__ import annotations

import errno
import itertools
import json
import os
import resource
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from demo import writers
from openworld_metrics import suites
from openworld_metrics.faces import summaries
from openworld_metrics.faces.report import write_report
from openworld_metrics.written.files import check_file, check_folder, nearest_folder, write_file, write_files
from tests.detection import scenes
from tests.faces.sample import sample
from tests.fuzz.disk import Disk, failing, full

OLD = b"what was there before"


def two_files(folder: Path) -> list[Path]:
    write_files([(folder / "one", "1" * 5000), (folder / "two", b"2" * 5000), (folder / "new", "3")])
    return [folder / "one", folder / "two", folder / "new"]


def yolo(folder: Path) -> list[Path]:
    writers.write_yolo_predictions(scenes.scene(1, 3), folder / "labels")
    return [folder / "labels" / f"000{i}.txt" for i in range(3)]


def coco(folder: Path) -> list[Path]:
    writers.write_coco(scenes.scene(1, 3).dataset, folder / "coco.json")
    return [folder / "coco.json"]


def coco_results(folder: Path) -> list[Path]:
    writers.write_coco_results(scenes.scene(1, 3), folder / "coco.json")
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


WRITERS: list[Callable[[Path], list[Path]]] = [two_files, yolo, coco, coco_results, results, report]


@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
@pytest.mark.parametrize("before", [OLD, None], ids=["old files", "no files"])
def test_a_disk_that_is_full_at_any_step(
    before: bytes | None, write: Callable[[Path], list[Path]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each file is old or new, as a whole; all are old until all are written; no draft is left."""
    at_one_time = SimpleNamespace(now=lambda zone: datetime(2026, 11, 24, tzinfo=zone))  # a report says its minute
    monkeypatch.setattr("openworld_metrics.faces.report.frame.datetime", at_one_time)
    paths = write(tmp_path)
    whole = {path: path.read_bytes() for path in paths}
    for at in itertools.count(1):
        for path in paths:
            path.unlink(missing_ok=True)
            if before is not None:
                path.write_bytes(before)
        disk, failure = Disk(tmp_path, at, full), None
        with failing(disk):
            try:
                write(tmp_path)
            except OSError as error:
                failure = error
        found = {path: path.read_bytes() for path in paths if path.exists()}
        assert not list(tmp_path.rglob("*.draft"))
        if not disk.reached:
            assert (failure, found) == (None, whole)
            assert at > 3 * len(paths)
            return
        assert failure is not None
        assert failure.errno == errno.ENOSPC
        assert Path(failure.filename) in [*paths, *(path.parent for path in paths)]
        if disk.last[0] in ("open", "write"):
            assert {*found.values()} <= {before}
        assert all(content in (before, whole[path]) for path, content in found.items())


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
