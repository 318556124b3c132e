"""The notebooks of docs/ are stored without output; `make docs` runs them, and test_built_docs.py reads their pages."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from docs.building import notebooks

NOTEBOOKS = sorted(notebooks.FOLDER.glob("*.ipynb"))
by_name = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def test_there_are_three() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["anomaly_folder", "ood_suite", "open_set_detection"]


@by_name
def test_it_is_stored_without_output(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code
    assert not [cell for cell in code if cell.outputs or cell.execution_count is not None]
