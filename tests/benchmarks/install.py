"""What it takes to have a metric: packages, megabytes and the seconds of an import, beside peers, in one run.

    python -m tests.benchmarks.install

Seconds are those of the processor, which other work on the machine moves less, the least of 5 processes, with files in
the cache. Packages and megabytes are those that the package requires without extras, as they are installed here; this
package, which may be installed as a link to its sources, is installed anew in a folder.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# a package, and the import of the metric that all have
PEERS = {
    "openworld-metrics": "from openworld_metrics import OODBench",
    "scikit-learn": "from sklearn.metrics import roc_auc_score",
    "evaluate": "import evaluate",
    "torchmetrics": "from torchmetrics.classification import BinaryAUROC",
}
_MODULES = {"openworld-metrics": "openworld_metrics", "scikit-learn": "sklearn"}
_ROOT = Path(__file__).resolve().parents[2]
_TIMES = 5


def seconds(code: str) -> float:
    """The least processor time of processes that run some code, less that of Python alone."""

    def least(text: str) -> float:
        times = []
        for _ in range(_TIMES):
            before = os.times()
            subprocess.run([sys.executable, "-c", text], check=True)
            after = os.times()
            used = after.children_user + after.children_system - before.children_user - before.children_system
            times.append(used)
        return min(times)

    return least(code) - least("pass")


def needed_by(package: str) -> dict[str, int]:
    """A package and all that it requires here, at any depth, with the bytes of each."""
    sizes: dict[str, int] = {}
    waiting = [package]
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in sizes:
            continue
        try:
            there = distribution(name)
        except PackageNotFoundError:  # of another system
            continue
        places = (Path(str(file.locate())) for file in there.files or ())
        sizes[name] = size_of(places) if name != "openworld-metrics" else installed_size()
        asked = map(Requirement, there.requires or ())
        waiting += [each.name for each in asked if each.marker is None or each.marker.evaluate({"extra": ""})]
    return sizes


def size_of(places: Iterable[Path]) -> int:
    """The bytes of the files among some places."""
    return sum(place.stat().st_size for place in places if place.is_file())


def installed_size() -> int:
    """The bytes of this package alone, as pip installs and compiles it."""
    with tempfile.TemporaryDirectory() as folder:
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder, str(_ROOT)]
        subprocess.run(install, check=True)
        return size_of(Path(folder).rglob("*"))


def main() -> None:
    """Print a row for each peer that is installed."""
    print("| package | packages | MB | import, s |\n|---|---|---|---|")
    for name, code in PEERS.items():
        if find_spec(_MODULES.get(name, name)):
            sizes = needed_by(name)
            print(f"| {name} | {len(sizes)} | {sum(sizes.values()) / 1e6:.0f} | {seconds(code):.2f} |")


if __name__ == "__main__":
    main()
