"""Rows with cells that cannot be read: told, left out only when a person asks, and then said beside the numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from openworld_metrics.pages.events.inputs import Events
from openworld_metrics.pages.form.form import Form
from openworld_metrics.reading.rows.inputs import table_of_frame
from openworld_metrics.reading.rows.rows import rows_of, settle
from tests.pages.data.test_reading import controls, rerun
from tests.pages.results.test_comparison import runner
from tests.pages.steps import numbers

# of each metric a table whose cells are wrong in rows 2, 5 and 9, from 0
WRONG: dict[str, dict[str, tuple[list[Any], dict[int, str]]]] = {
    "ood_bench": {
        "energy": ([0.1, 0.4, 0.3, 0.2, 0.9, 0.8, 0.5, 0.35, 0.7, 0.6, 0.45, 0.55], {2: "", 5: "n.a."}),
        "knn": ([1.5, 2.5, 0.5, 1, 3, 2, 1.25, 4, 3.5, 1.75, 2.25, 0.75], {2: "?"}),
        "is_new": ([0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1], {9: "?"}),
    },
    "openauc": {
        "predictions": ([0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2], {2: ""}),
        "references": ([0, 1, 0, 0, -1, 2, -1, 1, 1, 0, -1, 2], {5: "none"}),
        "open_scores": ([0.1, 0.4, 0.3, 0.2, 0.9, 0.8, 0.5, 0.35, 0.7, 0.6, 0.45, 0.55], {9: ""}),
    },
    "accuracyk": {
        "class_0": ([0.1, 0.4, 0.3, 0.2, 0.9, 0.8, 0.5, 0.35, 0.7, 0.6, 0.45, 0.55], {2: "", 9: "x"}),
        "class_1": ([0.9, 0.6, 0.7, 0.8, 0.1, 0.2, 0.5, 0.65, 0.3, 0.4, 0.55, 0.45], {}),
        "references": ([0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1], {5: ""}),
    },
}
LEFT = "Left out 3 of 12 rows that could not be read: lines 4, 7, 11."


def written(name: str, folder: Path) -> tuple[list[list[Path]], pd.DataFrame]:
    """The file with wrong cells, and the table without their rows."""
    whole = pd.DataFrame({column: cells for column, (cells, _) in WRONG[name].items()})
    cells = whole.astype(object)
    for column, (_, wrong) in WRONG[name].items():
        for row, text in wrong.items():
            cells.loc[row, column] = text
    cells.to_csv(folder / "mine.csv", index=False)
    return [[folder / "mine.csv"]], whole.drop(index=[2, 5, 9])


@pytest.mark.parametrize("name", WRONG)
def test_one_press_leaves_rows_out(name: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The numbers are those of the other rows, by the call that is shown too; without it nothing is computed."""
    one, (files, clean) = runner(root, name), written(name, tmp_path)
    form = Form(files=files)
    with pytest.raises(ValueError, match=r"line \d+.*leave out these 3 rows"):
        one.show(form)
    found = one.show(form._replace(leave_out=True))
    assert f'role="status">{LEFT}</div>' in found.compared
    assert LEFT in found.report
    clean.to_csv(tmp_path / "clean.csv", index=False)
    expected = one.show(Form(files=[[tmp_path / "clean.csv"]]))
    assert found.json == expected.json
    assert "left out" not in expected.compared
    assert rerun(found.call, tmp_path, root, monkeypatch) == numbers(found.json)
    typed = pd.DataFrame({column: pd.read_csv(files[0][0], dtype=object)[column] for column in clean})
    assert one.show(Form(tables=[typed], leave_out=True)).json == expected.json


def test_the_button_says_how_many(root: Path, tmp_path: Path) -> None:
    """Line, value and cure of each column; a second press takes the rows in again, and so does another file."""
    one, (files, _) = runner(root, "ood_bench"), written("ood_bench", tmp_path)
    here = Events(one)
    form = Form(files=[[str(files[0][0])]], options=controls(one))

    def seen(changes: dict[str, Any]) -> tuple[str, str, bool, Any, bool]:
        button, scores = changes["leave"], changes["made_of"]["predictions"]["value"]
        return changes["read"]["value"], button.get("value"), button["visible"], scores, changes["leave_out"]

    text, said, visible, scores, left_out = seen(here.upload(form._replace(leave_out=True)))
    assert (
        "energy, line 4 and 1 more: this cell is empty or NaN. mine.csv: knn, line 4: &#x27;?&#x27; is not a number. "
        in text
    )
    assert (
        "mine.csv: is_new, line 11: &#x27;?&#x27; is not a number. Fix the file, or leave out these 3 rows of 12."
        in text
    )
    assert (said, visible, left_out) == ("Leave out 3 rows", True, False)
    assert scores == ["energy", "knn"]
    text, said, visible, _, left_out = seen(here.leave(form))
    assert LEFT in text
    assert "9 rows, 3 columns" in text
    assert (said, visible, left_out) == ("Do not leave out 3 rows", True, True)
    assert seen(here.leave(form._replace(leave_out=True)))[1:3] == ("Leave out 3 rows", True)


def test_rows_that_are_not_left_out(tmp_path: Path) -> None:
    """Where nothing would be left, of columns that end before others, and where rows are parts of an image."""
    all_wrong = table_of_frame(pd.DataFrame({"scores": ["a", "b"], "labels": [0, 1]}))
    assert settle("ood_bench", [all_wrong], {"predictions": ["scores"], "references": ["labels"]}).unread is None
    uneven = table_of_frame(pd.DataFrame({"ID scores": [0.1, 0.2, 0.3], "OOD scores": [0.4, np.nan, np.nan]}))
    assert settle("ood_bench", [uneven]).unread is None
    words = table_of_frame(pd.DataFrame({"scores": [0.1, 0.2, 0.3], "labels": ["id", "cat", "ood"]}))
    found = settle("ood_bench", [words], {"predictions": ["scores"], "references": ["labels"]}).unread
    assert found is not None
    assert found.question.startswith("labels, row 2: 'cat' is not a label; write 0 and 1")
    assert found.note == "Left out 1 of 3 rows that could not be read: row 2."
    np.savez(tmp_path / "maps.npz", predictions=np.zeros((2, 3, 3)), references=np.zeros((2, 3, 3)))
    assert rows_of("anomaly_suite", tmp_path / "maps.npz").unread is None
