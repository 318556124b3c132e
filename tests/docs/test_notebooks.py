"""The notebooks of docs/: stored without output, and run from the wheel, offline, on data that packages bundle."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from docs.building import notebooks
from openworld_metrics.faces.page.credits import CHINA, DIGITS, FLOWER

NOTEBOOKS = sorted(notebooks.FOLDER.glob("*.ipynb"))
by_name = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a wheel's packages, built from a copy of the sources."""
    folder = tmp_path_factory.mktemp("wheel")
    source, built = folder / "source", folder / "built"
    for part in ("shared", "metrics", "setup.cfg", "setup.py", "pyproject.toml", "README.md", "LICENSE"):
        copy = shutil.copytree if (root / part).is_dir() else shutil.copy
        source.mkdir(exist_ok=True)
        copy(root / part, source / part)
    setup = [sys.executable, "setup.py", "-q", "build", "--build-lib", str(built)]
    subprocess.run(setup, cwd=source, check=True, capture_output=True)
    return built


def test_there_are_three() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["anomaly_folder", "ood_suite", "open_set_detection"]


@by_name
def test_it_is_stored_without_output(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code
    assert not [cell for cell in code if cell.outputs or cell.execution_count is not None]


@by_name
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_it_runs_and_becomes_a_page(path: Path, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(wheel))
    where = [sys.executable, "-c", "import openworld_metrics; print(openworld_metrics.__file__)"]
    assert subprocess.check_output(where, cwd=tmp_path, text=True).strip() == str(
        wheel / "openworld_metrics/__init__.py"
    )
    text, pictures = notebooks.as_markdown(notebooks.run(path, tmp_path), path.stem)
    assert text.startswith("# ")
    assert ".output" in text
    assert len(pictures) == 1
    assert all(content.startswith(b"\x89PNG") for content in pictures.values())
    for link in (link for work in (CHINA, DIGITS, FLOWER) for link in (work.address, work.terms)):
        text = text.replace(f"({link})", "")  # credits, which are written, not computed
    assert not [word for word in ("Traceback", "Warning", "http") if word in text]
