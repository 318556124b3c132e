"""What a look at the data changes of the columns' fields, when cells, files or columns change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from openworld_metrics.pages.events.inputs import Events
from openworld_metrics.pages.form.form import Form, data_frame
from openworld_metrics.pages.metrics import page_of
from openworld_metrics.pages.runner import Runner
from openworld_metrics.reading.rows.inputs import table_of_frame
from openworld_metrics.reading.rows.rows import settle

TABLE = pd.DataFrame({"scores": [0.1, 0.9], "labels": [0, 1]})
WIDER = TABLE.assign(counts=[2, 3])
EMPTY: dict[str, list[str]] = {
    "counts": [],
    "groups": [],
    "detector": [],
    "in-distribution scores": [],
    "OOD scores": [],
}
CHOSEN = {"predictions": ["scores"], "references": ["labels"], **EMPTY}


@pytest.fixture
def events(root: Path) -> Events:
    return Events(Runner(page_of("ood_bench"), root / "metrics" / "ood_bench"))


def values(changes: Any) -> dict[str, list[str]]:
    """The values that fields are given."""
    return {name: update["value"] for name, update in changes["made_of"].items() if "value" in update}


def test_an_emptied_column_stays_empty(events: Events) -> None:
    form = Form(tables=[WIDER], files=[None], made_of=CHOSEN)
    changes = events.again(form)
    assert values(changes) == {}
    assert values(events.edit(form._replace(looked=changes["looked"]))) == {}
    assert values(events.again(form._replace(made_of={**CHOSEN, "references": []}))) == {}


def test_columns_of_another_table_are_guessed(events: Events) -> None:
    """As where a file is dropped on the table: what was empty had been guessed, or chosen, for other columns."""
    looked = events.again(Form(tables=[TABLE], files=[None], made_of=CHOSEN))["looked"]
    changes = events.edit(Form(tables=[WIDER], files=[None], made_of=CHOSEN, looked=looked))
    assert values(changes) == {"counts": ["counts"]}


def test_files_leave_what_is_as_it_was(events: Events, tmp_path: Path) -> None:
    """A field that stays empty may have been filled by the time of a late answer."""
    TABLE.to_csv(tmp_path / "scores.csv", index=False)
    WIDER.to_csv(tmp_path / "wider.csv", index=False)
    assert values(events.upload(Form(tables=[None], files=[[tmp_path / "scores.csv"]], made_of=CHOSEN))) == {}
    changes = events.upload(Form(tables=[None], files=[[tmp_path / "wider.csv"]], made_of=CHOSEN))
    assert values(changes) == {"counts": ["counts"]}


def test_data_are_looked_at_again_after_a_late_answer(events: Events) -> None:
    """An answer that comes after another choice, or example, tells of a look at what the form no longer holds."""
    form = Form(tables=[WIDER], files=[None], made_of=CHOSEN)
    form = form._replace(looked=events.again(form)["looked"])
    assert events.settle(form) == {}
    counted = events.settle(form._replace(made_of={**CHOSEN, "counts": ["counts"]}))
    assert "counts" in counted["read"]["value"]
    assert values(counted) == {}
    assert events.settle(form._replace(tables=[TABLE]))["looked"] != form.looked
    assert events.settle(form._replace(tables=[TABLE], looked="")) == {}  # nothing could be read


def test_an_error_offers_the_columns_of_its_input() -> None:
    page = page_of("openset_detection")
    sources = [table_of_frame(data_frame(table)) for table in page.examples[0].tables]
    with pytest.raises(
        TypeError, match=r"^references: no column looks like it. Pick one, from image, x1, y1, x2, y2, class$"
    ):
        settle(page.name, sources, {"references": []}).reading()
