"""The blocks of the guide to many machines give the bits of one process, each where its engine is installed.

On 200,000 rows, with groups. `make test-engines` installs all engines.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from openworld_metrics import OODBench

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "machines.md"
ROWS = 50_000  # in each of four files
INTRODUCTION, *SECTIONS = GUIDE.read_text(encoding="utf-8").split("\n## ")
SCRIPTS = {
    f"{section.partition(chr(10))[0]} {i}": script
    for section in SECTIONS
    for i, script in enumerate(re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL))
}
DRAWN = dict(confidence_level=0.9, n_resamples=20)
OPTIONS = ", ".join(f"{name}={value}" for name, value in DRAWN.items())
NEEDED = {"Dask": "distributed", "SQL": "duckdb", "Ray Data": "ray", "Spark": "pyspark", "Beam": "apache_beam"}
pytestmark = pytest.mark.timeout(1000)  # an engine may take a quarter of an hour to start and to end, see `run`

# a task ends its process in the middle, the first time that it runs
RETRIED = """
import os
from pathlib import Path
import ray
from openworld_metrics.cluster import ray_aggregate

def once(batch):
    with open("FOLDER/begun.txt", "a") as file:
        file.write("one ")
    try:
        Path("FOLDER/died").touch(exist_ok=False)
    except FileExistsError:
        return batch
    os._exit(9)

ray.init(num_cpus=2, log_to_driver=False, include_dashboard=False)
rows = ray.data.read_parquet("rows.parquet").repartition(8).map_batches(once, batch_format="pyarrow")
print(rows.aggregate(ray_aggregate("ood_bench"))["ood_bench"])
"""


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the first block of the guide has written the data, of more rows."""
    folder = tmp_path_factory.mktemp("engines")
    (script,) = re.findall(r"```python\n(.*?)```", INTRODUCTION, flags=re.DOTALL)
    assert "ROWS = 1_000\n" in script
    assert '"site": sites}' in script
    script = script.replace('"site": sites}', '"site": sites, "speaker": rng.integers(2**60, 2**60 + 300, ROWS)}')
    run(script.replace("ROWS = 1_000\n", f"ROWS = {ROWS}\n"), folder)
    assert sum(pq.read_metadata(file).num_rows for file in folder.glob("scores/*.parquet")) == 4 * ROWS
    return folder


@pytest.fixture(scope="module")
def expected(scores: Path) -> dict[str, Any]:
    table = pq.read_table(scores / "scores")
    return OODBench().compute(predictions=table["score"], references=table["label"], groups=table["site"])


def run(script: str, folder: Path) -> list[Any]:
    """What a script prints, without what its engine says of itself."""
    (folder / "script.py").write_text(script, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=folder, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [ast.literal_eval(line) for line in done.stdout.splitlines() if re.match(r"\{.*\}$", line)]


def check_engine(name: str) -> None:
    engine = name.rpartition(" ")[0]
    for module in [NEEDED.get(engine, engine.lower()), *(["dask.dataframe", "pandas"] if name == "Dask 1" else [])]:
        if find_spec(module.partition(".")[0]) is None:
            pytest.skip(f"{engine} is not installed: make test-engines")
        if "." in module:
            pytest.importorskip(module)
    if engine == "Spark" and shutil.which("java") is None:
        pytest.skip("Spark needs a Java: make test-engines")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SCRIPTS if name not in ("One process 0", "Fewer bits 0")])
def test_an_engine_gives_the_bits_of_one_process(name: str, scores: Path, expected: dict[str, Any]) -> None:
    check_engine(name)
    whole, *by_site = run(SCRIPTS[name], scores)
    assert whole == expected
    table = expected["groups"]
    sites = {site: {key: table[key][i] for key in ("auroc", "fpr95tpr")} for i, site in enumerate(table["group"])}
    assert by_site == ([sites] if name in ("Ray Data 0", "Spark 0", "Beam 0", "Daft 0") else [])


def with_clusters(script: str) -> str:
    """A block of the guide for speakers in place of sites, and with intervals, which draw them."""
    for site, speaker in (
        ('"groups": "site"', '"clusters": "speaker"'),
        ('"groups": 2', '"clusters": 2'),
        ("score, label, site", "score, label, speaker"),
        ('scores["label"], scores["site"]', 'scores["label"], scores["speaker"]'),
        ("metric = OODBench()", f"metric = OODBench({OPTIONS})"),
        ("print(OODBench()", f"print(OODBench({OPTIONS})"),
    ):
        script = script.replace(site, speaker)
    aggregates = r"((?:ray_aggregate|beam_combine|compute_parquet)\(.*columns)\)"
    return re.sub(aggregates, rf"\1, {OPTIONS})", script)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SCRIPTS if name not in ("One process 0", "Fewer bits 0")])
def test_an_engine_draws_the_clusters_of_one_process(name: str, scores: Path) -> None:
    """The speakers' rows lie in all files and row groups."""
    check_engine(name)
    table = pq.read_table(scores / "scores")
    columns = dict(predictions=table["score"], references=table["label"], clusters=table["speaker"])
    expected = OODBench(**DRAWN).compute(**columns)
    assert run(with_clusters(SCRIPTS[name]), scores)[0] == expected


@pytest.mark.slow
def test_a_task_that_ray_runs_again_counts_once(tmp_path: Path) -> None:
    """Of Dask, test_dask.py kills a worker of `compute_parquet`."""
    check_engine("Ray 0")
    rng = np.random.default_rng(0)
    rows: dict[str, Any] = {"predictions": rng.integers(0, 50, 4000) / 64, "references": rng.integers(0, 2, 4000)}
    pq.write_table(pa.table(rows), tmp_path / "rows.parquet", row_group_size=500)
    assert run(RETRIED.replace("FOLDER", str(tmp_path)), tmp_path) == [OODBench().compute(**rows)]
    assert (tmp_path / "died").exists()
    assert len((tmp_path / "begun.txt").read_text().split()) > 8


def test_the_guide_shows_all_engines(tmp_path: Path) -> None:
    engines = ["SQL 0", "Dask 0", "Dask 1", "Ray Data 0", "Ray Data 1"]
    engines += ["Spark 0", "Beam 0", "Daft 0", "Polars 0", "DuckDB 0"]
    assert [*SCRIPTS] == ["One process 0", *engines, "Fewer bits 0"]
    assert all("print(" in script or "beam.Map(print)" in script for script in SCRIPTS.values())
    (script,) = re.findall(r"```python\n(.*?)```", INTRODUCTION, flags=re.DOTALL)
    for _ in range(2):  # the second run finds the folder
        run(script, tmp_path)
    (exact,) = run(SCRIPTS["One process 0"], tmp_path)
    by_files, by_batches = run(SCRIPTS["Fewer bits 0"], tmp_path)
    assert by_files == by_batches
    assert 0 < abs(by_files["auroc"] - exact["auroc"]) <= by_files["auroc_error"]
