"""A hundred million rows of Parquet through the engines of the guide to many machines, each in a process of its own.

python -m tests.benchmarks.engines            print the table and write it into docs/benchmarks.md
python -m tests.benchmarks.engines WORK FOLDER     one work as JSON, of the Parquet files in a folder

The time of processors is that of all processes of a work, with their start. Its memory is the peak of the largest, as
the system counts it: pages that processes share count in each. What travels are the bytes of the states that its tasks
hand on, or of the rows that leave the engine.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import json
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from openworld_metrics import Metric, OODBench
from openworld_metrics.cluster import compute_parquet, ray_aggregate, reduce_batches
from tests.benchmarks.measure import in_a_process, timed, write
from tests.benchmarks.scale import Run, batches

RUN = Run("ood_bench", "float16", None, 10**8, 10**6)
FILES = 10
METRICS = ("auroc", "fpr95tpr", "aupr_in", "aupr_out")
HEADER = [
    "| engine | time | processors' time | memory of the largest process | what travels | AUROC |",
    "|---|---|---|---|---|---|",
]


def write_rows(folder: Path, run: Run) -> None:
    """Files of as many batches, a row group each."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables = map(pa.table, batches(run))
    each = max(1, run.size // run.batch // FILES)
    for i, first in enumerate(tables):
        with pq.ParquetWriter(folder / f"{i}.parquet", first.schema) as file:
            for table in itertools.chain([first], itertools.islice(tables, each - 1)):  # whose arrays are reused
                file.write_table(table)


def dask(folder: Path) -> tuple[dict[str, Any], int]:
    """Two workers of a local cluster."""
    from distributed import Client

    travelled: list[int] = []
    merge = Metric.merge

    def counting(metric: Metric, state: Any) -> None:
        travelled.append(sum(array.nbytes for array in state.values()))
        merge(metric, state)

    with (
        Client(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"),
        mock.patch.object(Metric, "merge", counting),
    ):
        return compute_parquet("ood_bench", folder, metrics=METRICS), sum(travelled)


def duckdb_groups(folder: Path) -> tuple[dict[str, Any], int]:
    """`GROUP BY` on two threads, and counts."""
    import duckdb

    duckdb.sql("SET threads = 2")
    rows = duckdb.sql(
        f"SELECT predictions, \"references\", count(*) AS n FROM '{folder}/*.parquet' GROUP BY ALL"
    ).to_arrow_table()
    columns = {"predictions": rows["predictions"], "references": rows["references"], "counts": rows["n"]}
    return OODBench(metrics=METRICS).compute(**columns), rows.nbytes


def duckdb_batches(folder: Path) -> tuple[dict[str, Any], int]:
    """All rows as batches of Arrow."""
    import duckdb

    duckdb.sql("SET threads = 2")
    rows = duckdb.sql(f"SELECT predictions, \"references\" FROM '{folder}/*.parquet'")
    return of_batches(rows.to_arrow_reader(1_000_000), lambda batch: int(batch.nbytes))


def polars_groups(folder: Path) -> tuple[dict[str, Any], int]:
    """`group_by` of the streaming engine, and counts."""
    import polars as pl

    rows = (
        pl.scan_parquet(f"{folder}/*.parquet")
        .group_by("predictions", "references")
        .len("counts")
        .collect(engine="streaming")
    )
    return OODBench(metrics=METRICS).compute(**{name: rows[name] for name in rows.columns}), rows.estimated_size()


def polars_batches(folder: Path) -> tuple[dict[str, Any], int]:
    """All rows as batches of the streaming engine."""
    import polars as pl

    rows = pl.scan_parquet(f"{folder}/*.parquet").collect_batches(maintain_order=False)
    return of_batches(rows, lambda batch: int(batch.estimated_size()))


def of_batches(read: Iterable[Any], size: Callable[[Any], int]) -> tuple[dict[str, Any], int]:
    """The results of batches, and their bytes."""
    travelled: list[int] = []

    def noted() -> Iterator[Any]:
        for batch in read:
            travelled.append(size(batch))
            yield batch

    metric = OODBench(metrics=METRICS)
    metric.merge(reduce_batches("ood_bench", noted(), metrics=METRICS))
    return metric.compute(), sum(travelled)


def ray_data(folder: Path) -> tuple[dict[str, Any], int]:
    """An aggregate over the whole data set; each block notes the bytes of its state."""
    import ray

    aggregate = ray_aggregate("ood_bench", metrics=METRICS)
    reduced, notes = aggregate.accumulate_block, str(folder.with_suffix(".travelled"))

    def noting(state: bytes, block: Any) -> bytes:
        data = bytes(reduced(state, block))
        with open(notes, "a", encoding="utf-8") as file:
            file.write(f"{len(data)}\n")
        return data

    aggregate.accumulate_block = noting
    ray.init(num_cpus=2, log_to_driver=False, include_dashboard=False)
    results = ray.data.read_parquet(str(folder), file_extensions=["parquet"]).aggregate(aggregate)["ood_bench"]
    noted = Path(notes).read_text(encoding="utf-8").split() if Path(notes).exists() else []
    return results, sum(map(int, noted))


def sklearn_whole(folder: Path) -> tuple[dict[str, Any], int]:
    """scikit-learn's AUROC of all rows in memory: one number, where the others compute four."""
    import numpy as np
    import pyarrow.parquet as pq
    from sklearn.metrics import roc_auc_score

    rows = pq.read_table(folder)
    scores, labels = (rows[name].to_numpy() for name in ("predictions", "references"))
    return {"auroc": float(roc_auc_score(labels, scores.astype(np.float32)))}, 0


WORKS: dict[str, tuple[str, Callable[[Path], tuple[dict[str, Any], int]], str]] = {
    "duckdb-groups": ("DuckDB, `GROUP BY` and counts", duckdb_groups, "duckdb"),
    "polars-groups": ("Polars, `group_by` and counts", polars_groups, "polars"),
    "dask": ("Dask, `compute_parquet`, two workers", dask, "distributed"),
    "duckdb": ("DuckDB, batches of all rows", duckdb_batches, "duckdb"),
    "polars": ("Polars, batches of all rows", polars_batches, "polars"),
    "ray": ("Ray Data, `ray_aggregate`, two cores", ray_data, "ray"),
    "sklearn": ("one process, scikit-learn's `roc_auc_score` alone", sklearn_whole, "sklearn"),
}


class Watched(threading.Thread):
    """Watches this process and all that it starts: the largest peak of one, in bytes, and the processors' seconds."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.largest, self.done = 0, threading.Event()
        self.seconds: dict[int, float] = {}

    def run(self) -> None:
        """Look ten times a second."""
        while not self.done.wait(0.1):
            self.look()

    def look(self) -> None:
        """Take the peaks of the processes that there are now."""
        import psutil

        here = psutil.Process()
        for process in (here, *here.children(recursive=True)):
            with contextlib.suppress(psutil.Error, OSError):  # it has just ended
                times, status = process.cpu_times(), Path(f"/proc/{process.pid}/status").read_text()
                self.seconds[process.pid] = times.user + times.system
                peak = next((line for line in status.splitlines() if line.startswith("VmHWM")), "VmHWM: 0 kB")
                self.largest = max(self.largest, 1024 * int(peak.split()[1]))


def measured(name: str, folder: Path) -> dict[str, Any]:
    """A work, timed and watched in this process."""
    watched = Watched()
    watched.start()
    took, (results, travelled) = timed(lambda: WORKS[name][1](folder))
    watched.done.set()
    watched.look()
    cost = {"processors": sum(watched.seconds.values()), "memory": watched.largest, "travelled": travelled}
    return {"seconds": took, **cost, "results": results}


def line(title: str, found: dict[str, Any]) -> str:
    """The row of the table."""
    travelled = f"{found['travelled'] / 1e6:,.1f} MB" if found["travelled"] else "–"
    memory = f"{found['memory'] / 1e6:,.0f} MB"
    took = f"{found['seconds']:,.1f} s | {found['processors']:,.1f} s"
    return f"| {title} | {took} | {memory} | {travelled} | {found['results']['auroc']!r} |"


def main() -> None:
    """Write the rows, measure every work that is installed, print the table and write it."""
    lines, results = list(HEADER), {}
    with tempfile.TemporaryDirectory() as folder:
        write_rows(Path(folder), RUN)
        for name, (title, _, module) in WORKS.items():
            if importlib.util.find_spec(module) is None:
                print(f"{module} is not installed: make bench-engines")
                continue
            taken = in_a_process("engines", name, folder)
            results[name] = taken["results"]
            lines.append(line(title, taken))
            print(lines[-1], flush=True)
    ours = [result for name, result in results.items() if name != "sklearn"]
    assert all(result == ours[0] for result in ours), "the engines differ"
    write("engines", lines)


if __name__ == "__main__":
    main() if len(sys.argv) == 1 else print(json.dumps(measured(sys.argv[1], Path(sys.argv[2]))))
