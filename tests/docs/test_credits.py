"""The works of others are credited, with author and licence, wherever they are shown or shipped."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

import openworld_metrics
from docs.building import figures
from openworld_metrics.answers.credits import CHINA, DIGITS, FLOWER, Work
from openworld_metrics.answers.subject import subject_of
from openworld_metrics.loading import METRICS

CARDS = {f"metrics/{name}/README.md": subject_of(name).example.origin.works for name in METRICS}
# every text beside pictures or data that are made from works of others
SHOWN: dict[str, tuple[Work, ...]] = {
    **CARDS,
    "README.md": (DIGITS, FLOWER),
    "benchmark/README.md": (DIGITS,),
    "docs/index.md": (DIGITS, FLOWER),
    "docs/guides/spaces.md": (DIGITS, FLOWER),
    "docs/notebooks/anomaly_folder.ipynb": (FLOWER, CHINA),
    "docs/notebooks/ood_suite.ipynb": (DIGITS, CHINA),
}
# what loads data of others, or makes files or pictures from what another of these loads
LOADS = re.compile(r"\bload_(digits|sample_images?)\b")
PICTURE = re.compile(r"assets/(?!first\.png)[\w/]+\.(png|webp)")


def text(path: Path) -> str:
    """A file with one space between words; of a notebook, its first cell."""
    content = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        content = "".join(json.loads(content)["cells"][0]["source"])
    return " ".join(content.split())


@pytest.mark.parametrize("file", SHOWN)
def test_a_place_names_title_author_and_licence(file: str, root: Path) -> None:
    for work in SHOWN[file]:
        assert work.markdown in text(root / file)


def test_every_text_with_a_picture_is_such_a_place(root: Path) -> None:
    texts = [root / "README.md", *(root / "docs").rglob("*.md"), *(root / "metrics").glob("*/README.md")]
    pictured = {path.relative_to(root).as_posix() for path in texts if PICTURE.search(path.read_text("utf-8"))}
    assert pictured == {"README.md", "docs/index.md", "docs/guides/spaces.md"}


@pytest.mark.parametrize("name", openworld_metrics.METRICS)
def test_examples_ship_with_their_credits(name: str, root: Path) -> None:
    """CREDITS.md stands beside the files, and git tracks it, so a Space and a wheel get it."""
    origin = subject_of(name).example.origin
    folder = root / "metrics" / name / "examples"
    assert (folder / "CREDITS.md").read_text(encoding="utf-8") == origin.notice
    assert all(work.markdown in origin.notice for work in origin.works)
    assert all(f'{work.address}">{work.title}</a> by {work.author}, <a' in origin.html for work in origin.works)
    assert all(f'{work.terms}">{work.licence}</a>' in origin.html for work in origin.works)
    tracked = subprocess.run(["git", "ls-files", folder], cwd=root, capture_output=True, text=True, check=True).stdout
    if tracked:  # not in an unpacked source distribution
        assert "CREDITS.md" in tracked


def test_no_folder_of_examples_is_left_out(root: Path) -> None:
    assert {path.parent.name for path in (root / "metrics").glob("*/examples")} == set(METRICS)


@pytest.mark.parametrize("name", [*figures.FIGURES, *figures.WRITTEN])
def test_figures_of_data_by_others(name: str) -> None:
    """The others draw numbers that are made up."""
    assert (name in figures.WORKS) == (name not in ("law", "forest", "intervals"))


def test_no_other_place_loads_them(root: Path) -> None:
    """A new script or notebook that uses one has to say so here."""
    folders = ("demo", "docs", "spaces", "shared", "metrics", "benchmark")
    files = [path for folder in folders for kind in ("py", "ipynb") for path in (root / folder).rglob(f"*.{kind}")]
    loading = {path.relative_to(root).as_posix() for path in files if LOADS.search(path.read_text(encoding="utf-8"))}
    assert loading == {
        "benchmark/make.py",
        "demo/anomaly.py",
        "demo/anomaly_folder.py",
        "demo/digits.py",
        "demo/page_examples.py",
        "docs/notebooks/anomaly_folder.ipynb",
        "docs/notebooks/ood_suite.ipynb",
    }


def test_demos_write_the_credits(root: Path) -> None:
    for writing, phrase in {
        "demo/anomaly_folder.py": "ORIGIN.notice",
        "demo/detection_files.py": "PASTED_DIGITS.notice",
        "demo/page_examples.py": "origin.notice",
        "demo/report.py": "work.short for work in (DIGITS, FLOWER, CHINA)",
    }.items():
        assert phrase in (root / writing).read_text(encoding="utf-8")
