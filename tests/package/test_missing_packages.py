"""A law: a door works, or says in one line which extra brings what is missing; and this extra is enough for it.

The doors are commands, functions and modules of extras (doors.py). Libraries are hidden from a process of its own.
"""

from __future__ import annotations

import configparser
import json
import re
import subprocess
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from openworld_metrics.extras import DISTRIBUTIONS
from tests.conftest import ROOT
from tests.package import doors

pytest.importorskip("tifffile")
pytest.importorskip("yaml")
MESSAGE = re.compile(
    r'ImportError: expected (\S+) to be installed, got none: pip install (?:"openworld-metrics\[([\w-]+)\]"|(\S+?))'
    r"(?:; note that the licence of ultralytics is AGPL-3.0)?"
)
# what an extra may bring and a door of its own is for; others are parts of these
LIBRARIES = {
    *("PIL", "apache_beam", "dask", "datasets", "evaluate", "gradio", "imagecodecs", "jinja2", "matplotlib", "pebble"),
    *("pyarrow", "pydantic", "ray", "rich", "sklearn", "tifffile", "torch", "torchmetrics", "transformers"),
    *("ultralytics", "yaml", "anomalib"),
}
HEAVY = {"torch", "torchmetrics", "transformers"}  # which take seconds to import
# of the base install
WORKING = {
    *("list", "describe", "npz", "npy", "json", "jsonl", "interval", "compare", "threshold", "table", "ood"),
    *("boxes of COCO", "maps of .npy"),
    *("all_metrics", "public", "scores", "suites", "written", "integrations"),
    *("dropin.oodeel", "dropin.xcurve", "dropin.pyadmetric", "dropin.ow_dln", "reduce_batches"),
}
OF_SEVERAL = {"pipeline", "integrations.evaluators", "report of boxes", "report of maps"}  # extras


def extras() -> dict[str, set[str]]:
    """The packages of each extra in setup.cfg, by their names on PyPI."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    return {
        name: {canonicalize_name(Requirement(line).name) for line in text.splitlines() if line and line[0] != "#"}
        for name, text in config["options.extras_require"].items()
    }


EXTRAS = extras()
# the others are for engines and frameworks, which are installed one at a time
TRIED = ["anomaly", "cli", "detection", "distributed", "evaluate", "files", "sklearn", "torch"]


@cache
def needed_by(package: str) -> frozenset[str]:
    """A package and all that it requires here, at any depth."""
    needed, waiting = set(), [package]
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name not in needed:
            needed.add(name)
            try:
                lines = requires(name) or []
            except PackageNotFoundError:
                continue
            asked = map(Requirement, lines)
            waiting += [each.name for each in asked if each.marker is None or each.marker.evaluate({"extra": ""})]
    return frozenset(needed)


def on_pypi(library: str) -> str:
    return canonicalize_name(DISTRIBUTIONS.get(library, library))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the doors read."""
    folder = tmp_path_factory.mktemp("doors")
    make_files(folder)
    return folder


def make_files(folder: Path) -> None:
    """Write the files that the doors read."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    import tifffile
    from PIL import Image

    labels = [0] * 12 + [1] * 8
    scores = np.random.default_rng(0).random(20).round(3) + 0.2 * np.asarray(labels)
    columns = {"predictions": scores.clip(0, 1).tolist(), "references": labels}
    np.savez(folder / "s.npz", **columns)
    np.save(folder / "p.npy", scores)
    np.save(folder / "q.npy", scores[::-1])
    np.save(folder / "r.npy", labels)
    rows = [dict(zip(columns, row)) for row in zip(*columns.values())]
    (folder / "s.json").write_text(json.dumps(columns))
    (folder / "s.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for suffix, between in ((".csv", ","), (".tsv", "\t")):
        lines = [between.join(columns), *(f"{score}{between}{label}" for score, label in zip(*columns.values()))]
        (folder / f"s{suffix}").write_text("\n".join(lines))
    pq.write_table(pa.table(columns), folder / "s.parquet")
    if find_spec("torch"):
        import torch

        torch.save({name: torch.tensor(column) for name, column in columns.items()}, folder / "s.pt")
    (folder / "results.json").write_text(json.dumps({"auroc": 0.75, "fpr95tpr": 0.5}))
    for name in ("photographs", "maps", "tiff", "masks", "masks_npy", "images", "labels", "predicted"):
        (folder / name).mkdir()
    grey = np.arange(64, dtype=np.uint8).reshape(8, 8) * 3
    for number in range(20):
        Image.fromarray(grey).save(folder / "photographs" / f"{number}.png")
    (folder / "images.txt").write_text("\n".join(f"photographs/{number}.png" for number in range(20)))
    for number in range(4):
        scores_of_pixels = grey / 255 + number / 100
        np.save(folder / "maps" / f"{number}.npy", scores_of_pixels)
        tifffile.imwrite(folder / "tiff" / f"{number}.tiff", scores_of_pixels.astype(np.float32), compression="zlib")
        mask = (grey > 150) * np.uint8(255 * (number % 2))
        Image.fromarray(mask).save(folder / "masks" / f"{number}.png")
        np.save(folder / "masks_npy" / f"{number}.npy", mask)
        Image.fromarray(grey).save(folder / "images" / f"{number}.jpg")
        (folder / "labels" / f"{number}.txt").write_text("0 0.5 0.5 0.2 0.2\n1 0.2 0.2 0.1 0.1\n")
        (folder / "predicted" / f"{number}.txt").write_text("0 0.5 0.5 0.2 0.2 0.9\n1 0.2 0.2 0.1 0.1 0.8\n")
    (folder / "data.yaml").write_text("path: .\nval: images\nnames: [known, unknown]\n")
    boxes = [{"image_id": 1, "category_id": 1, "bbox": [1, 1, 4, 4], "score": 0.9}]
    objects = [
        {"id": i, "image_id": 1, "category_id": i, "bbox": [i, 1, 4, 4], "area": 16, "iscrowd": 0} for i in (1, 2)
    ]
    (folder / "coco.json").write_text(json.dumps(boxes))
    known = {
        "images": [{"id": 1, "width": 8, "height": 8, "file_name": "0.jpg"}],
        "categories": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}],
        "annotations": objects,
    }
    (folder / "references.json").write_text(json.dumps(known))


def outcomes(folder: Path, hidden: set[str], names: str = "") -> dict[str, str]:
    script = Path(doors.__file__)
    command = [sys.executable, "-W", "ignore", str(script), str(folder), ",".join(hidden), names]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


def check(found: dict[str, str], hidden: set[str]) -> None:
    """Each door works, or names an extra that has what is missing; what no extra has is named itself."""
    for door, text in found.items():
        if not text:
            continue
        match = MESSAGE.fullmatch(text)
        assert match is not None, (door, text)
        missing, extra, alone = match.groups()
        absent = {on_pypi(library) for library in LIBRARIES if library in hidden or not find_spec(library)}
        assert canonicalize_name(missing) in absent, (door, text)
        if extra is None:
            assert alone == missing
            assert not any(canonicalize_name(missing) in packages for packages in EXTRAS.values())
        else:
            assert canonicalize_name(missing) in EXTRAS[extra], (door, text)


def named(bare: dict[str, str], extra: str) -> str:
    """The doors whose errors name an extra."""
    return ",".join(door for door, text in bare.items() if f"[{extra}]" in text)


@pytest.fixture(scope="module")
def bare(folder: Path) -> dict[str, str]:
    """The outcomes where nothing but the base install is there."""
    return outcomes(folder, LIBRARIES)


def test_what_the_base_install_does(bare: dict[str, str]) -> None:
    check(bare, LIBRARIES)
    assert {door for door, text in bare.items() if not text} == WORKING


@pytest.mark.parametrize("extra", TRIED)
def test_an_extra_is_enough_for_the_doors_that_name_it(folder: Path, bare: dict[str, str], extra: str) -> None:
    """So no library that it does not bring is needed there."""
    brought = frozenset().union(*map(needed_by, EXTRAS[extra]))
    hidden = {library for library in LIBRARIES if on_pypi(library) not in brought}
    found = outcomes(folder, hidden, named(bare, extra))
    check(found, hidden)
    assert {door for door, text in found.items() if text} <= OF_SEVERAL, found


@pytest.mark.parametrize(
    ("extra", "library"),
    [(extra, library) for extra in TRIED for library in sorted(LIBRARIES) if on_pypi(library) in EXTRAS[extra]],
)
def test_a_missing_library_is_named_with_its_extra(
    folder: Path, bare: dict[str, str], extra: str, library: str
) -> None:
    """At the doors that need the extra; the test above shows that no others need the library."""
    hidden = {library, *HEAVY}
    check(outcomes(folder, hidden, named(bare, extra)), hidden)


def test_pages_name_their_extra(folder: Path) -> None:
    pytest.importorskip("gradio")
    wanted = 'ImportError: expected gradio to be installed, got none: pip install "openworld-metrics[spaces]"'
    assert outcomes(folder, {"gradio"}, "serve") == {"serve": wanted}
