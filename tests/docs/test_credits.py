"""The photographs of scikit-learn are credited, with author and licence, wherever they are shown or shipped."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest

from demo import credits

# what shows parts of them, and which
SHOWN = {
    "README.md": ["flower.jpg", "china.jpg"],
    "docs/index.md": ["flower.jpg"],
    "docs/guides/spaces.md": ["flower.jpg"],
    "docs/notebooks/anomaly_folder.ipynb": ["flower.jpg", "china.jpg"],
    "docs/notebooks/ood_suite.ipynb": ["china.jpg"],
    "metrics/anomaly_suite/README.md": ["flower.jpg"],
    "metrics/anomaly_suite/examples/CREDITS.md": ["flower.jpg"],
}
LOADS = re.compile(r"load_sample_images?\b")


@pytest.mark.parametrize("file", SHOWN)
def test_a_place_names_author_and_licence(file: str, root: Path) -> None:
    text = (root / file).read_text(encoding="utf-8")
    for photograph in SHOWN[file]:
        author, address = credits.PHOTOGRAPHS[photograph]
        assert {part for part in (author, address, credits.LICENCE) if part not in text} == set(), photograph


def test_what_draws_them_writes_the_credit(root: Path) -> None:
    assert all(author in credits.LINE for author, _ in credits.PHOTOGRAPHS.values())
    for drawing in ("demo/report.py", "docs/building/figures.py"):
        assert "credits.LINE" in (root / drawing).read_text(encoding="utf-8")
    for writing in ("demo/anomaly_folder.py", "demo/page_examples.py"):
        assert "credits.notice(" in (root / writing).read_text(encoding="utf-8")
    page = (root / "shared/pages/metrics/anomaly_suite.py").read_text(encoding="utf-8")
    assert "flower.jpg of scikit-learn, by vultilion, CC BY 2.0" in page


def test_no_other_place_loads_them(root: Path) -> None:
    """A new script or notebook that uses one has to say so here."""
    folders = ("demo", "docs", "spaces", "shared", "metrics", "benchmark")
    files = [path for folder in folders for kind in ("py", "ipynb") for path in (root / folder).rglob(f"*.{kind}")]
    loading = {path.relative_to(root).as_posix() for path in files if LOADS.search(path.read_text(encoding="utf-8"))}
    assert loading == {
        "demo/anomaly.py",
        "demo/anomaly_folder.py",
        "demo/page_examples.py",
        "docs/notebooks/anomaly_folder.ipynb",
        "docs/notebooks/ood_suite.ipynb",
    }


def test_every_archive_of_photographs_is_accounted_for(root: Path) -> None:
    """Those of openset_detection are digits on a canvas."""
    archives = {path.parent.parent.name: path for path in (root / "metrics").glob("*/examples/photographs.zip")}
    assert set(archives) == {"anomaly_suite", "openset_detection"}
    with zipfile.ZipFile(archives["anomaly_suite"]) as archive:
        assert archive.namelist()
    assert (archives["anomaly_suite"].parent / "CREDITS.md").read_text(encoding="utf-8") == credits.notice("flower.jpg")
