"""Memory that does not grow: a thousand million scores, added in batches, each work in a process of its own.

python -m tests.benchmarks.scale              print the table and write it into docs/benchmarks.md
python -m tests.benchmarks.scale --smoke      the same works with few scores, in this process; nothing is written
python -m tests.benchmarks.scale RUN          one run as JSON, from its fields as JSON

Scores are made as 1 − the largest softmax probability is: in [0, 1), most of them small. A batch is one pool of them,
drawn once, times a factor of its own, so that making 10⁹ takes seconds. The seconds of a work are those of add_batch
and compute; what generation takes is told beside them.
"""

from __future__ import annotations

import itertools
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from openworld_metrics.loading import metric_class
from tests.benchmarks.growth import memory
from tests.benchmarks.measure import in_a_process, timed, write

SIDE = 256  # of a map
FACTORS = np.random.default_rng(1).uniform(0.5, 1, 1000).astype(np.float32)
OPTIONS = {"ood_bench": {"metrics": ["auroc", "fpr95tpr", "aupr_in", "aupr_out", "detect_acc"]}}
AUROC = {"ood_bench": "auroc", "anomaly_suite": "pixel_auroc"}
PEER_SCORES = 10**8  # that torchmetrics is given at most: it compares each with 200 thresholds, some 2 s for 10⁶
HEADER = [
    "| work | time | generating beside it | peak memory | largest certified error | torchmetrics' time | its error |",
    "|---|---|---|---|---|---|---|",
]


@dataclass(frozen=True)
class Run:
    """A metric on `size` scores (or maps), in batches; `place` is the process that computes, "peer" torchmetrics."""

    metric: str
    dtype: str
    significant_bits: int | None
    size: int
    batch: int
    place: str = "here"

    @property
    def options(self) -> dict[str, Any]:
        bits = {} if self.significant_bits is None else {"significant_bits": self.significant_bits}
        return {**OPTIONS.get(self.metric, {}), **bits}

    def __str__(self) -> str:
        unit = f"maps of {SIDE} × {SIDE}" if self.metric == "anomaly_suite" else "scores"
        kept = "" if self.significant_bits is None else f", significant_bits={self.significant_bits}"
        dask = "; rows of Parquet, Dask with two workers" if self.place == "dask" else ""
        return f"{self.metric}, {self.size:,} {unit} of {self.dtype}{kept}{dask}"


def runs(*, smoke: bool) -> list[Run]:
    """What is measured."""
    types: list[tuple[str, int | None]] = [("float16", None), ("float32", 12)]
    scores, maps, times = (2000, 2, (2,)) if smoke else (10**7, 50, (10, 100))
    made = [Run("ood_bench", *kind, many * scores, scores) for many in times for kind in types]
    made += [Run("anomaly_suite", *kind, 2 * many * maps, maps) for many in times for kind in types]
    made += [Run("ood_bench", *kind, times[0] * scores, scores // 10, "dask") for kind in types]
    return made + [Run(name, "float32", None, 2 * scores, scores // 10, "dask") for name in ("ood_bench", "openauc")]


def batches(run: Run) -> Iterator[dict[str, np.ndarray]]:
    """The columns of each batch, of arrays that are written anew for the next."""
    rng = np.random.default_rng(0)
    shape = (run.batch, SIDE, SIDE) if run.metric == "anomaly_suite" else (run.batch,)
    pool = rng.standard_normal(shape, dtype=np.float32)
    if run.metric == "anomaly_suite":
        references = np.zeros(shape, bool)
        for image in references[::2]:  # regions of 100 to 1,600 pixels, in every other map
            for row, column, size in rng.integers([0, 0, 10], [SIDE - 40, SIDE - 40, 40], (3, 3)):
                image[row : row + size, column : column + size] = True
    else:
        references = rng.random(shape, dtype=np.float32) < 0.2
    pool = 1 / (1 + np.exp(6 - 2 * pool - 3 * references, dtype=np.float32))
    scores = np.empty(shape, run.dtype)
    columns = {"predictions": scores, "references": references.astype(np.int8)}
    if run.metric == "openauc":  # ten classes, a tenth of the samples in a wrong one
        classes = rng.integers(0, 10, shape, dtype=np.int8)
        wrong = rng.random(shape, dtype=np.float32) < 0.1
        columns = {"predictions": (classes + wrong) % 10, "references": np.where(references, -1, classes)}
        columns["open_scores"] = scores
    for i in range(run.size // run.batch):
        np.multiply(pool, FACTORS[i % len(FACTORS)], out=scores, casting="same_kind")
        yield columns


def here(run: Run) -> dict[str, Any]:
    """A metric of this process takes all batches."""
    metric = metric_class(run.metric)(**run.options)
    whole, took = timed(lambda: sum(timed(partial(metric.add_batch, **columns))[0] for columns in batches(run)))
    last, results = timed(metric.compute)
    return {"seconds": took + last, "generating": whole - took, "results": plain(results), "peaks": [peak()]}


def peer(run: Run) -> dict[str, Any]:
    """The same by torchmetrics, its AUROC at 200 thresholds."""
    import torch
    from torchmetrics.classification import BinaryAUROC

    metric, took = BinaryAUROC(thresholds=200, validate_args=False), 0.0
    for columns in batches(run):
        scores, references = (torch.from_numpy(column).flatten() for column in columns.values())
        took += timed(partial(metric.update, scores.float(), references))[0]
    last, auroc = timed(metric.compute)
    return {"seconds": took + last, "results": {AUROC[run.metric]: float(auroc)}, "peaks": [peak()]}


def dask(run: Run, *, processes: bool = True) -> dict[str, Any]:
    """A cluster of two workers reads the batches, each a row group; its start counts."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def write_file(path: Path) -> None:
        tables = map(pa.table, batches(run))
        first = next(tables)
        with pq.ParquetWriter(path, first.schema) as file:
            for table in itertools.chain([first], tables):  # whose arrays are reused
                file.write_table(table)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.parquet"
        generating, _ = timed(lambda: write_file(path))
        took, (results, workers) = timed(lambda: compute_on_cluster(run, path, processes))
    return {"seconds": took, "generating": generating, "results": plain(results), "peaks": [*workers, peak()]}


def compute_on_cluster(run: Run, path: Path, processes: bool) -> tuple[dict[str, Any], list[int]]:
    """The results, and the peaks of the workers."""
    from distributed import Client

    from openworld_metrics.cluster import compute_parquet

    # as docs/guides/machines.md says that they need: more where each row is kept
    limit: Any = ("500MiB" if run.dtype == "float16" or run.significant_bits else "600MiB") if processes else 0
    with Client(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", processes=processes, memory_limit=limit
    ) as client:
        return compute_parquet(run.metric, path, **run.options), list(client.run(peak).values())


def plain(results: dict[str, Any]) -> dict[str, float]:
    return {key: value for key, value in results.items() if isinstance(value, float)}


def peak() -> int:
    """The most bytes that this process has had; `ru_maxrss` may be those of the process that started it."""
    return memory("VmHWM")


PLACES = {"here": here, "peer": peer, "dask": dask}


def line(run: Run, ours: dict[str, Any], theirs: dict[str, Any] | None) -> str:
    """The row of the table."""
    errors = [error for key, error in ours["results"].items() if key.endswith("_error")]
    certified = "exact" if run.significant_bits is None else f"{max(errors):.1e}" if errors else ""
    peaks = [f"{size / 1e6:,.0f} MB" for size in ours["peaks"]]
    held = peaks[0] if len(peaks) == 1 else f"workers {', '.join(peaks[:-1])}; caller {peaks[-1]}"
    cells = [str(run), f"{ours['seconds']:,.1f} s", f"{ours['generating']:,.1f} s", held, certified, "", ""]
    if theirs:
        key = AUROC[run.metric]
        off = abs(theirs["results"][key] - ours["results"][key])
        within = ours["results"].get(f"{key}_error", 0.0)
        cells[-2:] = f"{theirs['seconds']:,.1f} s", f"{off:.1e}" + (f" ± {within:.0e}" if within else "")
    return f"| {' | '.join(cells)} |"


def main(*, smoke: bool = False) -> list[str]:
    """Measure every run, print the table, and write it unless it is of the small ones. Returns its lines."""
    lines = list(HEADER)
    limit = PEER_SCORES // 10**4 if smoke else PEER_SCORES
    for run in runs(smoke=smoke):
        num_scores = run.size * (SIDE**2 if run.metric == "anomaly_suite" else 1)
        theirs = replace(run, place="peer") if run.place == "here" and num_scores <= limit else None
        if smoke:
            ours = dask(run, processes=False) if run.place == "dask" else here(run)
            lines.append(line(run, ours, peer(theirs) if theirs else None))
        else:
            returned = [in_a_process("scale", json.dumps(asdict(each))) for each in (run, theirs) if each]
            lines.append(line(run, returned[0], returned[1] if theirs else None))
        print(lines[-1], flush=True)
    if not smoke:
        write("scale", lines)
    return lines


if __name__ == "__main__":
    if sys.argv[1:] in ([], ["--smoke"]):
        main(smoke=bool(sys.argv[1:]))
    else:
        asked = Run(**json.loads(sys.argv[1]))
        print(json.dumps(PLACES[asked.place](asked)))
