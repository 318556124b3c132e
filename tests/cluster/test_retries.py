"""Tasks that an engine runs again, since their worker died or their result was lost, count once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from openworld_metrics import OODBench
from tests.cluster.test_engines import run

# a task that ends its process in the middle, the first time that it runs
ONCE = """
import os
from pathlib import Path

def once(mark):
    try:
        Path(mark).touch(exist_ok=False)
    except FileExistsError:
        return
    os._exit(9)
"""
DASK = """
import signal
import time
import pyarrow.parquet as pq
from distributed import Client, LocalCluster, wait
from openworld_metrics import OODBench
from openworld_metrics.cluster import reduce_batches

def reduced(number):
    with open("begun.txt", "a") as file:
        file.write(f"{number}\\n")
    if number == 5:
        once("died")
    rows = pq.ParquetFile("rows.parquet").read_row_group(number)
    return reduce_batches("ood_bench", [rows])

def begun():
    with open("begun.txt") as file:
        return len(file.readlines())

if __name__ == "__main__":
    own = dict(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0")
    with LocalCluster(**own) as cluster, Client(cluster) as client:
        tasks = client.map(reduced, range(8), pure=False)
        wait(tasks)
        before = begun()
        lost = next(iter(client.who_has(tasks).values()))[0]
        os.kill(client.run(os.getpid, workers=[lost])[lost], signal.SIGKILL)  # with the results that it holds
        while begun() == before:  # its tasks run again, for those that wait for their results
            time.sleep(0.05)
        metric = OODBench()
        for task in tasks:
            metric.merge(task.result())
        assert len(metric) == 4000
        print(metric.compute())
"""
RAY = """
import ray
from openworld_metrics.cluster import ray_aggregate

def beginning(batch):
    with open("FOLDER/begun.txt", "a") as file:
        file.write(f"{batch.num_rows}\\n")
    once("FOLDER/died")
    return batch

ray.init(num_cpus=2, log_to_driver=False, include_dashboard=False)
rows = ray.data.read_parquet("rows.parquet").repartition(8).map_batches(beginning, batch_format="pyarrow")
print(rows.aggregate(ray_aggregate("ood_bench"))["ood_bench"])
"""


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "script"), [("distributed", DASK), ("ray", RAY)], ids=["Dask", "Ray"])
def test_a_task_that_is_run_again_counts_once(engine: str, script: str, tmp_path: Path) -> None:
    pytest.importorskip(engine)
    rng = np.random.default_rng(0)
    rows: dict[str, Any] = {"predictions": rng.integers(0, 50, 4000) / 64, "references": rng.integers(0, 2, 4000)}
    pq.write_table(pa.table(rows), tmp_path / "rows.parquet", row_group_size=500)
    assert run(ONCE + script.replace("FOLDER", str(tmp_path)), tmp_path) == [OODBench().compute(**rows)]
    assert (tmp_path / "died").exists()
    assert len((tmp_path / "begun.txt").read_text().split()) > 8
