"""The notebooks of docs/: stored without output, and run from the wheel, offline, on data that packages bundle.

Of those one runs here, the shortest; `make docs` runs all, and test_built_docs.py looks at what they show.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from docs.building import notebooks

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
    (built / "openworld_metrics").mkdir(parents=True)
    (built / "openworld_metrics" / "gone.py").touch()  # of an earlier build
    setup = [sys.executable, "setup.py", "-q", "build", "--build-lib", str(built)]
    subprocess.run(setup, cwd=source, check=True, capture_output=True)
    return built


def test_a_build_leaves_out_what_the_checkout_no_longer_has(wheel: Path) -> None:
    assert (wheel / "openworld_metrics" / "public.py").exists()
    assert not (wheel / "openworld_metrics" / "gone.py").exists()


def test_there_are_three() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["anomaly_folder", "ood_suite", "open_set_detection"]


@by_name
def test_it_is_stored_without_output(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code
    assert not [cell for cell in code if cell.outputs or cell.execution_count is not None]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_one_runs_and_becomes_a_page(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(wheel))
    where = [sys.executable, "-c", "import openworld_metrics; print(openworld_metrics.__file__)"]
    package = subprocess.check_output(where, cwd=tmp_path, text=True).strip()
    assert package == str(wheel / "openworld_metrics/__init__.py")
    path = notebooks.FOLDER / "open_set_detection.ipynb"
    text, pictures = notebooks.as_markdown(notebooks.run(path, tmp_path), path.stem)
    assert text.startswith("# ")
    assert ".output" in text
    assert len(pictures) == 1
    assert all(content.startswith(b"\x89PNG") for content in pictures.values())
    assert not [word for word in ("Traceback", "Warning", "http") if word in text]
