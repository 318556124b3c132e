"""What the package does where nothing else is installed: `make dist` runs it in an environment of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import openworld_metrics as om
from openworld_metrics.loading import metric_class

SCORES, UNKNOWN = [0.1, 0.6, 0.4, 0.9], [0, 0, 1, 1]


def main() -> None:
    """Print the version; raise where something is missing."""
    home, here = Path(sys.prefix).resolve(), Path(om.__file__).resolve()
    check(here.is_relative_to(home), f"expected the package in {home}, got {here}")
    check(om.OODBench(metrics="auroc").compute(predictions=SCORES, references=UNKNOWN) == {"auroc": 0.75}, "core")
    for name in om.METRICS:
        check(metric_class(name)().name == om.load(name).name == name, name)
    listed = command("list").splitlines()
    named = [line.split()[0] for line in listed if not line.startswith(" ")]  # a text goes on below itself
    check(named == list(om.METRICS), f"list: {listed}")
    check(om.METRICS[0] in command("describe", om.METRICS[0]), "describe")
    Path("scores.json").write_text(json.dumps({"predictions": SCORES, "references": UNKNOWN}))
    columns = [part for name in ("predictions", "references") for part in (f"--{name}", f"scores.json:{name}")]
    check(json.loads(command("compute", "ood_bench", *columns))["auroc"] == 0.75, "compute")
    print(f"openworld-metrics {version('openworld-metrics')} works in {home}")


def command(*arguments: str) -> str:
    """What `openworld-metrics` prints."""
    script = Path(sys.executable).with_name("openworld-metrics")
    return subprocess.run([str(script), *arguments], capture_output=True, text=True, check=True).stdout


def check(holds: bool, what: str) -> None:
    """Raise where something does not hold."""
    if not holds:
        raise RuntimeError(what)


if __name__ == "__main__":
    main()
