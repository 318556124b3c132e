"""What the package does where nothing else is installed: `make check-dist` runs it in an environment of its own.

With the argument `evaluate`, it checks what the extra of that name adds.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import distributions, version
from pathlib import Path
from typing import Any

import numpy as np

import openworld_metrics as om
from openworld_metrics.loading import metric_class

SCORES, UNKNOWN = [0.1, 0.6, 0.4, 0.9], [0, 0, 1, 1]
MOST = 10  # packages, with pip


def main(*extras: str) -> None:
    """Print the version, the packages and their size; raise where something is missing."""
    home, here = Path(sys.prefix).resolve(), Path(om.__file__).resolve()
    check(here.is_relative_to(home), f"expected the package in {home}, got {here}")
    check(om.__version__ == version("openworld-metrics"), om.__version__)
    columns: dict[str, Any] = {"predictions": SCORES, "references": UNKNOWN}
    check(om.OODBench(metrics="auroc").compute(**columns) == {"auroc": 0.75}, "core")
    sure = om.OODBench(metrics="auroc", confidence_level=0.9, n_resamples=20).compute(**columns)
    check(sure.keys() == {"auroc", "auroc_low", "auroc_high"}, f"intervals: {sure}")
    one, other = {"predictions": SCORES}, {"predictions": SCORES[::-1]}
    compared = om.compare("ood_bench", one, other, references=UNKNOWN, n_resamples=20)
    check(compared["key"] == ["auroc", "fpr95tpr"], f"compare: {compared}")
    for name in om.METRICS:
        check(metric_class(name)().name == name, name)
    listed = command("list").splitlines()
    named = [line.split()[0] for line in listed if not line.startswith(" ")]  # a text goes on below itself
    check(named == list(om.METRICS), f"list: {listed}")
    check(om.METRICS[0] in command("describe", om.METRICS[0]), "describe")
    Path("scores.json").write_text(json.dumps(columns))
    Path("scores.csv").write_text("predictions,references\n0.1,0\n0.9,1\n")
    np.savez("scores.npz", **columns)
    for key, column in columns.items():
        np.save(f"{key}.npy", column)
    arrays = [part for key in columns for part in (f"--{key}", f"{key}.npy")]
    for files in (["scores.json"], ["scores.npz"], arrays):
        check(json.loads(command("compute", "ood_bench", *files))["auroc"] == 0.75, f"compute {files}")
    if "evaluate" in extras:
        for name in om.METRICS:
            check(om.load(name).name == name, name)
    else:
        done = run("compute", "ood_bench", "scores.csv")
        wanted = 'expected pyarrow to be installed, got none: pip install "openworld-metrics[files]"'
        check(done.returncode == 2 and done.stderr == f"openworld-metrics: {wanted}\n", done.stderr)
        packages = sorted(f"{each.name} {each.version}" for each in distributions())
        check(len(packages) <= MOST, f"expected at most {MOST} packages, got {packages}")
        size = sum(file.stat().st_size for file in home.rglob("*") if file.is_file() and "pip" not in file.parts)
        print(f"{len(packages)} packages, {size / 1e6:.0f} MB without pip: {', '.join(packages)}")
    print(f"openworld-metrics {om.__version__} works in {home}")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    script = Path(sys.executable).with_name("openworld-metrics")
    return subprocess.run([str(script), *arguments], capture_output=True, text=True, check=False)


def command(*arguments: str) -> str:
    """What `openworld-metrics` prints."""
    done = run(*arguments)
    check(done.returncode == 0, done.stderr)
    return done.stdout


def check(holds: bool, what: str) -> None:
    """Raise where something does not hold."""
    if not holds:
        raise RuntimeError(what)


if __name__ == "__main__":
    main(*sys.argv[1:])
