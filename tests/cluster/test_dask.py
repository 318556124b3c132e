"""A Parquet data set reduced on a local Dask cluster of two workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from openworld_metrics.cluster import compute_parquet, reducing, row_groups
from openworld_metrics.cluster.reducing import check_memory, reduce_row_group
from openworld_metrics.cluster.row_groups import RowGroup, list_row_groups
from tests import cases
from tests.splitting import rows

dask = pytest.importorskip("dask")
dask_distributed = pytest.importorskip("distributed")
pytest.importorskip("dask.bag")
Load = Callable[..., Any]
T_LIST = [0.25, -np.inf, -0.0, np.inf, 0.25]
BOXES = {"known_classes": [0, 1], "unknown_class_id": 9}
# options other than those of a case
OPTIONS: list[tuple[str, cases.Options | None]] = [
    *((name, None) for name in cases.METRICS),
    ("macro_open_f", {"t_list": T_LIST, "num_classes": 9}),
    ("micro_open_f", {"t_list": T_LIST}),
    ("openset_detection", {**BOXES, "per_class": True, "per_image": True}),
    ("openset_detection", {**BOXES, "matching": "confidence", "conf_list": [0.5, -1.0]}),
    ("openset_detection", {**BOXES, "protocol": "owod", "recall_level": None}),
]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    # as much memory as docs/guides/machines.md says that workers need; a port of its own
    own = dict(n_workers=2, threads_per_worker=1, processes=True, memory_limit="500MiB")
    own["dashboard_address"] = "127.0.0.1:0"
    # on a busy machine its processes take their time to start
    settings = {f"distributed.comm.timeouts.{name}": "120s" for name in ("connect", "tcp")}
    # dask looks for a killed worker once, so much later: if it is down again by then, it would be given up
    settings["distributed.deploy.lost-worker-timeout"] = "1h"
    with (
        dask.config.set(settings),
        dask_distributed.LocalCluster(**own) as cluster,
        dask_distributed.Client(cluster) as client,
    ):
        yield client


def write(columns: cases.Columns, folder: Path, num_files: int = 3) -> Path:
    """The rows of a case in several files of small row groups, the last file without a row."""
    table = pa.table({key: pa.array(cases.as_lists(column)) for key, column in columns.items()})
    cuts = np.linspace(0, table.num_rows, num_files).astype(int).tolist()
    for i, (start, stop) in enumerate(zip(cuts, [*cuts[1:], table.num_rows])):
        pq.write_table(table.slice(start, stop - start), folder / f"{i}.parquet", row_group_size=2)
    return folder


@pytest.mark.parametrize(("name", "others"), OPTIONS, ids=str)
def test_two_workers_equal_one_process(name: str, others: Any, client: Any, load: Load, tmp_path: Path) -> None:
    columns, options = cases.draw(name, 9, at_least=9)
    options = options if others is None else others
    computed = compute_parquet(name, write(columns, tmp_path), **options)
    assert computed == load(name).compute(**columns, **options)
    if others is None:  # rows of one cluster lie in several files
        columns = cases.with_clusters(columns, 9)
        options = {**options, "confidence_level": 0.9, "n_resamples": 9}
        (tmp_path / "clusters").mkdir()
        drawn = compute_parquet(name, write(columns, tmp_path / "clusters"), **options)
        assert drawn == load(name).compute(**columns, **options)
        assert any(key.endswith("_low") for key in drawn)
    assert len(client.nthreads()) == 2


def test_processes_of_this_machine(load: Load, tmp_path: Path) -> None:
    columns, options = cases.draw("ood_bench", 9)
    with dask.config.set(scheduler="processes", num_workers=1):  # as is the default where no client is in place
        computed = compute_parquet("ood_bench", write(columns, tmp_path), **options)
    assert computed == load("ood_bench").compute(**columns, **options)


@pytest.mark.usefixtures("client")
def test_sources_and_columns(load: Load, tmp_path: Path) -> None:
    """A list of files and folders, columns of other names; what is not there is named."""
    columns, options = cases.draw("ood_bench", 9)
    expected = load("ood_bench").compute(**columns, **options)
    write({"s": columns["predictions"], "y": columns["references"]}, tmp_path)
    names = {"predictions": "s", "references": "y"}
    files = sorted(tmp_path.glob("*.parquet"))
    half = tmp_path / "references=0"
    half.mkdir()
    files[0].rename(half / "0.parquet")
    assert compute_parquet("ood_bench", (half, *map(str, files[1:])), names, **options) == expected
    (tmp_path / "empty").mkdir()
    boxes = {"predictions": [[[0.0, 0, 4, 4, 0.9, 1]]], "references": [[[0.0, 0, 4, 4, 1]]], "counts": [3]}
    pq.write_table(pa.table(boxes), tmp_path / "boxes")
    no_files, nothing = "source: expected Parquet files, got none in ", "expected a column "
    calls: list[tuple[Any, type[Exception], str, Any]] = [
        (files[1], TypeError, "ood_bench has no argument 'metric'", {"metric": "auroc"}),
        ([half, tmp_path / "nowhere"], FileNotFoundError, "nowhere", {}),
        (tmp_path / "empty", ValueError, f"{no_files}.*empty", {}),
        ([], ValueError, f"{no_files}an empty list", {}),
        (files[1], ValueError, f"{nothing}t, got s, y", {"columns": {"predictions": "t"}}),
        (
            half,
            ValueError,
            f"{nothing}references, got s, y; names of folders are not",
            {"columns": {"x": "references"}},
        ),
        (tmp_path / "boxes", TypeError, "openset_detection has no argument 'counts'", {"name": "openset_detection"}),
    ]
    for source, error, message, more in calls:
        with pytest.raises(error, match=message):
            compute_parquet(**{"name": "ood_bench", "source": source, **more})
    none = write(rows(columns, []), tmp_path / "empty")
    with pytest.raises(ValueError, match="expected at least one sample"):
        compute_parquet("ood_bench", none)


GOOD = {"predictions": [0.1, 0.2, 0.3, 0.4], "references": [0, 1, 0, 1]}
MATRIX = {"predictions": [[0.1, 0.9]] * 4, "references": [0, 1, 0, 1], "open_scores": [0.1] * 4}
DEFECTS: dict[str, tuple[str, dict[str, Any], Any, type[Exception], str]] = {
    "a NaN": (
        "ood_bench",
        GOOD,
        {**GOOD, "predictions": [0.1, 0.2, 0.3, np.nan]},
        ValueError,
        "1.parquet, row group 1: predictions: expected no NaN, got NaN at position 1",
    ),
    "texts": (
        "ood_bench",
        GOOD,
        {"predictions": ["a", "b"], "references": [0, 1]},
        TypeError,
        "1.parquet, row group 0: predictions: expected numbers",
    ),
    "no such column": (
        "ood_bench",
        GOOD,
        {"predictions": [0.1, 0.2]},
        ValueError,
        "1.parquet: expected a column references, got predictions",
    ),
    "another width": (
        "openauc",
        MATRIX,
        {**MATRIX, "predictions": [[1.0] * 3] * 4},
        ValueError,
        "1.parquet, row group 0: predictions_width: expected 2 as in the batches before, got 3",
    ),
    "a column of one file": ("ood_bench", GOOD, {**GOOD, "counts": [1] * 4}, ValueError, "expected a column counts"),
    "not Parquet": ("ood_bench", GOOD, b"PAR1 and something else", ValueError, "1.parquet"),
}


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("defect", DEFECTS)
def test_errors_say_which_file_and_which_row_group(defect: str, tmp_path: Path) -> None:
    name, good, bad, error, message = DEFECTS[defect]
    for i, columns in enumerate((good, bad)):
        if isinstance(columns, bytes):
            (tmp_path / f"{i}.parquet").write_bytes(columns)
        else:
            pq.write_table(pa.table(columns), tmp_path / f"{i}.parquet", row_group_size=2)
    with pytest.raises(error, match=message):
        compute_parquet(name, tmp_path)


def test_a_file_that_is_damaged_or_changes_meanwhile(load: Load, tmp_path: Path) -> None:
    path, scores = tmp_path / "0.parquet", np.linspace(0, 1, 2000)
    table = pa.table({"predictions": scores, "references": np.arange(2000) % 2})
    pq.write_table(table, path, 1000, write_page_checksum=True, use_dictionary=False, compression="none")
    columns, (_, last) = list_row_groups(path, None, load("ood_bench"))
    content = bytearray(path.read_bytes())
    content[content.index(scores[1500].tobytes())] ^= 1
    others: dict[str, Callable[[], Any]] = {
        "(?i:.*(crc|checksum))": lambda: path.write_bytes(content),
        "expected 1000 rows, as when .* listed, got 1": lambda: pq.write_table(table.slice(0, 1001), path, 1000),
        "expected 1000 rows, as when .* listed, got 0": lambda: pq.write_table(table, path),
        "": path.unlink,
    }
    for message, change in others.items():
        change()
        with pytest.raises(ValueError, match=rf"0\.parquet, row group 1: {message}"):
            reduce_row_group("ood_bench", {}, columns, last)


BOUNDED: dict[str, tuple[str, dict[str, Any], int]] = {  # a metric, its options, and how many rows there can be
    "ranks": ("accuracyk", {}, 3 * 3),  # classes, and ranks of each
    "float16": ("ood_bench", {}, 2 * 101),
    "float16 of openauc": ("openauc", {}, 3 * 101),
    "significant bits": ("openauc", {"significant_bits": 4}, 3 * 2 * 8 * 32),  # kinds, signs, significands, exponents
    "thresholds": ("micro_open_f", {"t_list": [0.25, 0.5], "num_classes": 3}, 3 * 4 * 3),
    "float32": ("ood_bench", {}, 0),
}


@pytest.mark.parametrize("kind", BOUNDED)
def test_states_of_several_batches(kind: str, load: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Those that count equal rows are small; others are as many as there are batches, and hold every score."""
    name, options, most = BOUNDED[kind]
    rng = np.random.default_rng(0)
    num_rows = 100_000
    monkeypatch.setattr(row_groups, "BATCH_BYTES", 1 << 20)
    scores = (rng.integers(-50, 51, num_rows) / 64).astype(np.float32)
    if kind in ("significant bits", "float32"):
        scores += rng.uniform(0, 1 / 64, num_rows).astype(np.float32)
    columns: dict[str, Any] = {
        "predictions": rng.integers(0, 3, num_rows).astype(np.int8),
        "references": rng.integers(-1, 3, num_rows).astype(np.int8),
        "open_scores": scores.astype(np.float16) if "float16" in kind else scores,
    }
    if name == "ood_bench":
        columns = {"predictions": columns["open_scores"], "references": columns["references"] < 0}
    if name == "accuracyk":
        ids = rng.integers(0, 3, (num_rows, 2)).astype(np.int8)
        columns = {"predictions": ids, "references": np.abs(columns["references"])}
    lists = {key: pa.FixedSizeListArray.from_arrays(x.ravel(), 2) if x.ndim > 1 else x for key, x in columns.items()}
    pq.write_table(pa.table(lists), tmp_path / "0.parquet", row_group_size=num_rows)
    metric = load(name, **options)
    names, (group,) = list_row_groups(tmp_path, None, metric)
    place, states = reduce_row_group(name, options, names, group)
    assert place == f"{tmp_path}/0.parquet, row group 0"
    if most:
        assert sum(len(state["counts"]) for state in states) <= most
        assert sum(state["counts"].sum() for state in states) == num_rows
    else:
        assert len(states) > 1
        assert sum(len(state["scores"]) for state in states) == num_rows
    for state in states:
        metric.merge(state)
    assert metric.compute() == load(name, **options).compute(**columns)


def test_the_benchmark_of_scale_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torchmetrics")
    from tests.benchmarks import scale

    monkeypatch.setattr(scale, "SIDE", 64)
    lines = scale.main(smoke=True)
    assert len(lines) == len(scale.HEADER) + len(scale.runs(smoke=True))
    (exact,) = [line for line in lines if "4,000 scores of float16 |" in line]
    assert "| exact |" in exact


def test_a_worker_with_too_little_memory_is_an_error(client: Any, tmp_path: Path) -> None:
    def too_large() -> None:
        from openworld_metrics.cluster import reducing

        reducing.PROCESS = 400 << 20

    def as_it_was(process: int) -> None:
        from openworld_metrics.cluster import reducing

        reducing.PROCESS = process

    pq.write_table(pa.table(GOOD), tmp_path / "0.parquet")
    client.run(too_large)
    message = r"0: expected workers of 1 threads to have 625 MiB of memory, got 500 MiB at tcp://.*: give workers more"
    with pytest.raises(ValueError, match=message):
        compute_parquet("ood_bench", tmp_path)
    client.run(as_it_was, reducing.PROCESS)


def test_how_much_memory_is_enough() -> None:
    small, large = (RowGroup("0.parquet", None, 0, 1, size) for size in (0, 1 << 30))
    for threads, limit in (1, 500 << 20), (2, 625 << 20):
        check_memory(small, limit, threads, "a", grows=True)
        check_memory(large, limit, threads, "a", grows=False)
        with pytest.raises(ValueError, match="a: give workers more memory, or fewer threads"):
            check_memory(large, limit - 1, threads, "a", grows=False)
    check_memory(large, 2100 << 20, 1, "a", grows=True)
    message = (
        r"expected workers of 2 threads to have 3775 MiB of memory, got 2100 MiB at a: write smaller row groups \("
    )
    with pytest.raises(ValueError, match=message):
        check_memory(large, 2100 << 20, 2, "a", grows=True)
    for unlimited in (0, None):
        check_memory(large, unlimited, 1, "a", grows=True)


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Raise TimeoutError in here after some time, rather than wait for ever."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def kill_at(client: Any, num_read: int, worker: str) -> None:
    """Have a worker killed when it has read some row groups, as the system does where memory is short.

    Other workers read none before that.
    """
    pid = client.run(os.getpid)[worker]

    def arm() -> None:
        import psutil

        from openworld_metrics.cluster import reducing
        from tests.waiting import until

        read = reducing.read_row_group
        read_before: list[Any] = []

        def read_or_die(*arguments: Any) -> Any:
            if os.getpid() == pid and len(read_before) == num_read:
                os.kill(pid, signal.SIGKILL)
            if os.getpid() != pid:
                assert until(lambda: not psutil.pid_exists(pid))
            read_before.append(arguments)
            return read(*arguments)

        reducing.read_row_group = read_or_die

    client.run(arm)


@pytest.mark.parametrize("tries", [4, 1])
def test_a_worker_killed_in_the_middle(
    tries: int, client: Any, load: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Another does its work; where no other may try it, the error names the row group."""
    columns, options = cases.draw("ood_bench", 30)
    monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", tries - 1)
    with within(240):
        client.wait_for_workers(2)
        before = client.run(os.getpid)
        kill_at(client, 3, min(before))
        write(columns, tmp_path, 5)
        if tries > 1:
            assert compute_parquet("ood_bench", tmp_path, **options) == load("ood_bench").compute(**columns, **options)
        else:
            with pytest.raises(ValueError, match=r"\d\.parquet, row group \d: Attempted to run task .* workers died"):
                compute_parquet("ood_bench", tmp_path, **options)
        client.wait_for_workers(2)
        assert before[min(before)] not in client.run(os.getpid).values()


def test_a_worker_imports_the_core_alone(tmp_path: Path) -> None:
    pq.write_table(pa.table(GOOD), tmp_path / "0.parquet")
    code = f"""if True:
        import sys
        from openworld_metrics.cluster.reducing import reduce_row_group
        from openworld_metrics.cluster.row_groups import RowGroup
        from pyarrow.fs import LocalFileSystem

        group = RowGroup({str(tmp_path / "0.parquet")!r}, LocalFileSystem(), 0, 4, 32)
        reduce_row_group("ood_bench", {{}}, dict(predictions="predictions", references="references"), group)
        slow = ["dask.dataframe", "datasets", "evaluate", "pyarrow.dataset", "torch", "transformers"]
        print([name for name in slow if name in sys.modules])
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout == "[]\n"
