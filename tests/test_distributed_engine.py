"""A Parquet data set reduced on a local Dask cluster of two workers."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from openworld_metrics.cluster import compute_parquet
from openworld_metrics.cluster.tallies import COUNTING, OPEN_F, add_tallies, can_tally, tally, tally_results
from tests import cases
from tests.splitting import length, rows

dask = pytest.importorskip("dask")
dask_distributed = pytest.importorskip("distributed")
pytest.importorskip("dask.bag")
Load = Callable[..., Any]
every_metric = pytest.mark.parametrize("name", cases.METRICS)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    own = dict(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    # on a busy machine its processes take their time to start
    patience = dask.config.set({f"distributed.comm.timeouts.{name}": "120s" for name in ("connect", "tcp")})
    with patience, dask_distributed.LocalCluster(**own) as cluster, dask_distributed.Client(cluster) as client:
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
    computed = compute_parquet(name, write(columns, tmp_path), split_every=2, **options)
    assert computed == load(name).compute(**columns, **options)
    assert len(client.scheduler_info()["workers"]) == 2


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
    computed = compute_parquet("openset_detection", write(columns, tmp_path), split_every=2, **options)
    assert computed == load("openset_detection").compute(**columns, **options)


@pytest.mark.usefixtures("client")
def test_named_columns_and_a_list_of_files(load: Load, tmp_path: Path) -> None:
    columns, options = cases.draw("ood_bench", 9)
    write({"s": columns["predictions"], "y": columns["references"]}, tmp_path)
    names = {"predictions": "s", "references": "y"}
    files = [str(path) for path in sorted(tmp_path.glob("*.parquet"))]
    computed = compute_parquet("ood_bench", files, names, **options)
    assert computed == load("ood_bench").compute(**columns, **options)
    with pytest.raises(ValueError, match="expected a column t, got s, y"):
        compute_parquet("ood_bench", tmp_path, {"predictions": "t"})


@pytest.mark.usefixtures("client")
def test_what_a_worker_raises_arrives(tmp_path: Path) -> None:
    columns, _ = cases.draw("ood_bench", 9)
    columns["predictions"][3] = np.nan
    with pytest.raises(ValueError, match="expected no NaN"):
        compute_parquet("ood_bench", write(columns, tmp_path))
    with pytest.raises(ValueError, match="expected at least one sample"):
        compute_parquet("openauc", write(rows(columns, []), tmp_path / "."), {"predictions": "references"})


def draw_counting(name: str, seed: int) -> tuple[cases.Columns, cases.Options]:
    """A case of which a tally is enough: open-set F-scores at given thresholds, two equal; OW-DLN's counts."""
    columns, options = cases.draw(name, seed)
    options = {key: value for key, value in options.items() if key not in ("protocol", "recall_level")}
    if name in OPEN_F:
        options["t_list"] = [0.25, -np.inf, -0.0, np.inf, 0.25, *columns["open_scores"][::3].tolist()]
    assert can_tally(name, options)
    return columns, options


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("name", OPEN_F)
def test_open_f_at_thresholds_on_two_workers(name: str, load: Load, tmp_path: Path) -> None:
    columns, options = draw_counting(name, 5)
    computed = compute_parquet(name, write(columns, tmp_path), split_every=2, **options)
    assert computed == load(name).compute(**columns, **options)


@pytest.mark.parametrize("name", COUNTING)
@pytest.mark.parametrize("seed", range(40))
def test_tallies_have_the_bits_of_samples(name: str, seed: int, load: Load) -> None:
    columns, options = draw_counting(name, seed)
    metric = load(name, **options)
    tallies = []
    for part in np.array_split(np.arange(length(columns)), 3):
        metric.add_batch(**rows(columns, part))
        tallies.append(tally(metric, metric.state()))
        metric.reset()
    computed = tally_results(metric, add_tallies(name, [add_tallies(name, tallies[:2]), tallies[2], {}]))
    assert computed == load(name).compute(**columns, **options)


@pytest.mark.parametrize("name", COUNTING)
def test_tallies_do_not_grow(name: str, load: Load) -> None:
    columns, options = draw_counting(name, 9)
    metric = load(name, **options)
    metric.add_batch(**columns)
    one = tally(metric, metric.state())
    total: dict[str, Any] = {}
    for _ in range(1000):
        total = add_tallies(name, [total, one])
    assert len(pickle.dumps(total)) <= len(pickle.dumps(one)) + 100
    several = load(name).compute(**rows(columns, np.tile(np.arange(length(columns)), 1000)), **options)
    assert tally_results(metric, total) == several


def test_shards_of_other_widths_are_refused(load: Load) -> None:
    metric = load("autkc")
    tallies = []
    for width in (2, 3):
        metric.add_batch(predictions=np.eye(width), references=np.arange(width))
        tallies.append(tally(metric, metric.state()))
        metric.reset()
    with pytest.raises(ValueError, match="predictions_width: expected the same in all shards, got 2, 3"):
        add_tallies("autkc", tallies)


def test_open_f_tallies_take_any_class_ids(load: Load) -> None:
    columns = {"predictions": [7, 10**15, 3], "references": [7, 3, -1], "open_scores": [0.1, 0.2, 0.3]}
    metric = load("macro_open_f", t_list=[0.2, 0.3])
    metric.add_batch(**columns)
    counted = tally(metric, metric.state())
    metric.reset()
    assert tally_results(metric, counted) == metric.compute(**columns)
    limited = load("macro_open_f", t_list=[0.2, 0.3], num_classes=9)
    with pytest.raises(ValueError, match="predictions: expected class ids below 9, got 1000000000000000"):
        tally_results(limited, counted)


@pytest.mark.parametrize("name", COUNTING)
def test_no_samples_at_all(name: str, load: Load) -> None:
    metric = load(name, **draw_counting(name, 9)[1])
    with pytest.raises(ValueError, match="expected at least one sample, got none"):
        tally_results(metric, add_tallies(name, [{}, tally(metric, {})]))
