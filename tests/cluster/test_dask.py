"""A Parquet data set reduced on a local Dask cluster of two workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from openworld_metrics.cluster import compute_parquet
from openworld_metrics.cluster.memory import check_memory, check_this_worker, check_workers
from openworld_metrics.cluster.reducing import reduce_row_group
from openworld_metrics.cluster.row_groups import RowGroup, list_row_groups
from tests import cases
from tests.splitting import length, rows

dask = pytest.importorskip("dask")
dask_distributed = pytest.importorskip("distributed")
pytest.importorskip("dask.bag")
Load = Callable[..., Any]
every_metric = pytest.mark.parametrize("name", cases.METRICS)


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


@every_metric
def test_two_workers_equal_one_process(name: str, client: Any, load: Load, tmp_path: Path) -> None:
    columns, options = cases.draw(name, 9)
    assert length(columns) > 8
    computed = compute_parquet(name, write(columns, tmp_path), **options)
    assert computed == load(name).compute(**columns, **options)
    assert len(client.nthreads()) == 2


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize(
    "options",
    [
        {"per_class": True, "per_image": True},
        {"matching": "confidence", "conf_list": [0.5, -1.0]},
        {"protocol": "owod", "recall_level": None},
    ],
    ids=str,
)
def test_what_needs_the_boxes(options: cases.Options, load: Load, tmp_path: Path) -> None:
    columns, _ = cases.draw("openset_detection", 9)
    options = {"known_classes": [0, 1], "unknown_class_id": 9, **options}
    computed = compute_parquet("openset_detection", write(columns, tmp_path), **options)
    assert computed == load("openset_detection").compute(**columns, **options)


@pytest.mark.usefixtures("client")
def test_counts_of_a_metric_that_takes_none(tmp_path: Path) -> None:
    boxes = {"predictions": [[[0.0, 0, 4, 4, 0.9, 1]]], "references": [[[0.0, 0, 4, 4, 1]]], "counts": [3]}
    pq.write_table(pa.table(boxes), tmp_path / "boxes.parquet")
    with pytest.raises(TypeError, match="openset_detection has no argument 'counts'"):
        compute_parquet("openset_detection", tmp_path / "boxes.parquet", known_classes=[1])


@pytest.mark.usefixtures("client")
def test_named_columns_and_a_list_of_files(load: Load, tmp_path: Path) -> None:
    columns, options = cases.draw("ood_bench", 9)
    write({"s": columns["predictions"], "y": columns["references"]}, tmp_path)
    names = {"predictions": "s", "references": "y"}
    files = [str(path) for path in sorted(tmp_path.glob("*.parquet"))]
    expected = load("ood_bench").compute(**columns, **options)
    assert compute_parquet("ood_bench", files, names, **options) == expected
    half = tmp_path / "half"
    half.mkdir()
    Path(files[0]).rename(half / "0.parquet")
    assert compute_parquet("ood_bench", (half, *files[1:]), names, **options) == expected
    with pytest.raises(ValueError, match="expected a column t, got s, y"):
        compute_parquet("ood_bench", tmp_path, {"predictions": "t"})


@pytest.mark.parametrize("name", ["accuracyk", "ood_bench"])
def test_processes_of_this_machine(name: str, load: Load, tmp_path: Path) -> None:
    columns, options = cases.draw(name, 9)
    with dask.config.set(scheduler="processes", num_workers=1):  # as is the default where no client is in place
        computed = compute_parquet(name, write(columns, tmp_path), **options)
    assert computed == load(name).compute(**columns, **options)


def test_what_is_asked_for_is_checked(tmp_path: Path) -> None:
    columns, _ = cases.draw("ood_bench", 9)
    write(columns, tmp_path)
    with pytest.raises(TypeError, match="ood_bench has no argument 'metric'"):
        compute_parquet("ood_bench", tmp_path, metric="auroc")
    for source in (tmp_path / "nowhere", [tmp_path, tmp_path / "nowhere"]):
        with pytest.raises(FileNotFoundError, match="nowhere"):
            compute_parquet("ood_bench", source)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"source: expected Parquet files, got none in .*empty"):
        compute_parquet("ood_bench", tmp_path / "empty")
    with pytest.raises(ValueError, match="source: expected Parquet files, got none in an empty list"):
        compute_parquet("ood_bench", [])
    (tmp_path / "references=0").mkdir()
    pq.write_table(pa.table({"predictions": [0.1]}), tmp_path / "references=0" / "0.parquet")
    with pytest.raises(ValueError, match="expected a column references, got predictions; names of folders are not"):
        compute_parquet("ood_bench", tmp_path / "references=0", {"references": "references"})


def test_no_samples_in_any_file(client: Any, tmp_path: Path) -> None:
    columns, _ = cases.draw("ood_bench", 9)
    with pytest.raises(ValueError, match="expected at least one sample"):
        compute_parquet("openauc", write(rows(columns, []), tmp_path), {"predictions": "references"})


GOOD = {"predictions": [0.1, 0.2, 0.3, 0.4], "references": [0, 1, 0, 1]}
MATRIX = {"predictions": [[0.1, 0.9]] * 4, "references": [0, 1, 0, 1]}
DEFECTS: dict[str, tuple[str, dict[str, Any], dict[str, Any], type[Exception], str]] = {
    "a null": (
        "ood_bench",
        GOOD,
        {**GOOD, "references": [0, 1, None, 1]},
        ValueError,
        "1.parquet, row group 1: references: expected no missing values, got 1",
    ),
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
        {**MATRIX, "open_scores": [0.1] * 4},
        {**MATRIX, "predictions": [[1.0] * 3] * 4, "open_scores": [0.1] * 4},
        ValueError,
        "1.parquet, row group 0: predictions_width: expected 2 as in the batches before, got 3",
    ),
}


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("defect", DEFECTS)
def test_errors_say_which_file_and_which_row_group(defect: str, tmp_path: Path) -> None:
    name, good, bad, error, message = DEFECTS[defect]
    for i, columns in enumerate((good, bad)):
        pq.write_table(pa.table(columns), tmp_path / f"{i}.parquet", row_group_size=2)
    with pytest.raises(error) as caught:
        compute_parquet(name, tmp_path)
    assert str(caught.value).startswith(f"{tmp_path}/{message}")


@pytest.mark.usefixtures("client")
def test_a_damaged_page_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "0.parquet"
    scores = np.linspace(0, 1, 2000)
    table = pa.table({"predictions": scores, "references": np.arange(2000) % 2})
    pq.write_table(table, path, 1000, write_page_checksum=True, use_dictionary=False, compression="none")
    content = bytearray(path.read_bytes())
    content[content.index(scores[1500].tobytes())] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"0\.parquet, row group 1: .*(?i:crc|checksum)"):
        compute_parquet("ood_bench", path)


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("place", [0, 1])
def test_what_is_no_parquet_file_is_named(place: int, tmp_path: Path) -> None:
    columns, _ = cases.draw("ood_bench", 9)
    write(columns, tmp_path)
    (tmp_path / f"{place}.parquet").write_bytes(b"PAR1 and something else")
    with pytest.raises(ValueError, match=rf"{place}\.parquet"):
        compute_parquet("ood_bench", tmp_path)


def test_a_file_that_changes_meanwhile_is_an_error(load: Load, tmp_path: Path) -> None:
    pq.write_table(pa.table(GOOD), tmp_path / "0.parquet", row_group_size=2)
    columns, (_, last) = list_row_groups(tmp_path, None, load("ood_bench"))
    pq.write_table(pa.table(GOOD).slice(0, 3), tmp_path / "0.parquet", row_group_size=2)
    with pytest.raises(ValueError, match=r"0\.parquet, row group 1: expected 2 rows, as when .* listed, got 1"):
        reduce_row_group("ood_bench", {}, columns, last)
    pq.write_table(pa.table(GOOD), tmp_path / "0.parquet")
    with pytest.raises(ValueError, match=r"0\.parquet, row group 1: expected 2 rows, as when .* listed, got 0"):
        reduce_row_group("ood_bench", {}, columns, last)
    (tmp_path / "0.parquet").unlink()
    with pytest.raises(ValueError, match=r"0\.parquet, row group 1: "):
        reduce_row_group("ood_bench", {}, columns, last)


BOUNDED: dict[str, tuple[str, dict[str, Any], int]] = {  # a metric, its options, and how many rows there can be
    "ranks": ("accuracyk", {}, 3 * 3),  # classes, and ranks of each
    "float16": ("ood_bench", {}, 2 * 101),
    "float16 of openauc": ("openauc", {}, 3 * 101),
    "significant bits": ("openauc", {"significant_bits": 4}, 3 * 2 * 8 * 32),  # kinds, signs, significands, exponents
    "thresholds": ("micro_open_f", {"t_list": [0.25, 0.5], "num_classes": 3}, 3 * 4 * 3),
}


@pytest.mark.parametrize("kind", BOUNDED)
def test_states_that_count_equal_rows_are_small(kind: str, load: Load, tmp_path: Path) -> None:
    name, options, most = BOUNDED[kind]
    rng = np.random.default_rng(0)
    num_rows = 2_000_000  # several batches
    scores = (rng.integers(-50, 51, num_rows) / 64).astype(np.float32)
    if kind == "significant bits":
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
    assert sum(len(state["counts"]) for state in states) <= most
    assert sum(state["counts"].sum() for state in states) == num_rows
    for state in states:
        metric.merge(state)
    assert metric.compute() == load(name, **options).compute(**columns)


def test_a_row_group_of_several_batches_of_float32_is_exact(load: Load, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    num_rows = 4_000_000
    columns: dict[str, Any] = {
        "predictions": rng.standard_normal(num_rows, dtype=np.float32),
        "references": rng.integers(0, 2, num_rows).astype(np.int8),
    }
    pq.write_table(pa.table(columns), tmp_path / "0.parquet", row_group_size=num_rows)
    metric = load("ood_bench")
    names, (group,) = list_row_groups(tmp_path, None, metric)
    _, states = reduce_row_group("ood_bench", {}, names, group)
    assert len(states) > 1
    assert not any("counts" in state for state in states)
    for state in states:
        metric.merge(state)
    for name in "scores", "labels":
        given = columns["predictions" if name == "scores" else "references"]
        assert np.array_equal(metric.state()[name], given)
    assert metric.compute() == load("ood_bench").compute(**columns)


def test_the_benchmark_of_scale_runs() -> None:
    pytest.importorskip("torchmetrics")
    from tests.benchmarks import scale

    lines = scale.main(smoke=True)
    assert len(lines) == len(scale.HEADER) + len(scale.runs(smoke=True))
    (exact,) = [line for line in lines if "4,000 scores of float16 |" in line]
    assert "| exact |" in exact


def test_workers_with_too_little_memory_are_an_error(client: Any, tmp_path: Path) -> None:
    same = np.full(8_000_000, 0.1, np.float32)  # whose file is small, and which is not known to be of few values
    table = pa.table({"predictions": same, "references": np.zeros(len(same), np.int8)})
    pq.write_table(table, tmp_path / "0.parquet", row_group_size=1 << 23)
    message = (
        r"row group 0: expected workers of 1 threads to have \d+ MiB of memory, got 500 MiB at tcp://.*: write small"
    )
    with pytest.raises(ValueError, match=message):
        compute_parquet("ood_bench", tmp_path)
    late = client.submit(check_this_worker, RowGroup("0.parquet", None, 0, 1, 1 << 40), grows=True)
    with pytest.raises(ValueError, match=r"0\.parquet, row group 0: expected workers of 1 threads"):
        late.result()


def test_the_memory_of_workers_is_known_while_a_client_looks_at_its_scheduler(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client's own regular look, which lists no workers, may come between."""
    monkeypatch.setattr("openworld_metrics.cluster.memory.PROCESS", 400 << 20)
    often = dask.config.set({"distributed.client.scheduler-info-interval": "1ms"})
    group = RowGroup("0.parquet", None, 0, 1, 1)
    with often, dask_distributed.Client(client.scheduler.address, set_as_default=False) as looking:
        for _ in range(200):
            with pytest.raises(ValueError, match="expected workers of 1 threads"):
                check_workers(looking, [group])


def test_how_much_memory_is_enough() -> None:
    small, large = (RowGroup("0.parquet", None, 0, 1, size) for size in (0, 1 << 30))
    for threads, limit in (1, 500 << 20), (2, 625 << 20):
        check_memory(small, limit, threads, "a", grows=True)
        check_memory(large, limit, threads, "a", grows=False)
        with pytest.raises(ValueError, match="a: give workers more memory, or fewer threads"):
            check_memory(large, limit - 1, threads, "a", grows=False)
    check_memory(large, 2100 << 20, 1, "a", grows=True)
    with pytest.raises(ValueError, match="expected workers of 2 threads to have 3775 MiB of memory, got 2100 MiB at a"):
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
        from openworld_metrics.cluster import reducing

        read = reducing.read_row_group
        read_before: list[Any] = []

        def read_or_die(*arguments: Any) -> Any:
            if os.getpid() == pid and len(read_before) == num_read:
                os.kill(pid, signal.SIGKILL)
            with suppress(ProcessLookupError):
                while os.getpid() != pid:
                    os.kill(pid, 0)
                    time.sleep(0.01)
            read_before.append(arguments)
            return read(*arguments)

        reducing.read_row_group = read_or_die

    client.run(arm)


@pytest.mark.parametrize("name", ["accuracyk", "ood_bench"])  # states with counts, and without
def test_a_worker_killed_in_the_middle(name: str, client: Any, load: Load, tmp_path: Path) -> None:
    columns, options = cases.draw(name, 30)
    with within(240):
        client.wait_for_workers(2)
        before = client.run(os.getpid)
        kill_at(client, 3, min(before))
        computed = compute_parquet(name, write(columns, tmp_path, 5), **options)
        assert computed == load(name).compute(**columns, **options)
        client.wait_for_workers(2)
        assert before[min(before)] not in client.run(os.getpid).values()


@pytest.mark.parametrize("name", ["accuracyk", "ood_bench"])
def test_a_row_group_at_which_workers_die(
    name: str, client: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    columns, options = cases.draw(name, 9)
    monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 0)
    with within(240):
        client.wait_for_workers(2)
        kill_at(client, 2, min(client.run(os.getpid)))
        with pytest.raises(ValueError, match=r"\d\.parquet, row group \d: Attempted to run task .* workers died"):
            compute_parquet(name, write(columns, tmp_path), **options)
        client.wait_for_workers(2)


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


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("name", ["macro_open_f", "micro_open_f"])
def test_open_f_at_thresholds_on_two_workers(name: str, load: Load, tmp_path: Path) -> None:
    columns, options = cases.draw(name, 5)
    options = {**options, "t_list": [0.25, -np.inf, -0.0, np.inf, 0.25, *columns["open_scores"][::3].tolist()]}
    computed = compute_parquet(name, write(columns, tmp_path), **options)
    assert computed == load(name).compute(**columns, **options)
