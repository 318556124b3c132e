"""Columns named as what rows depend on: named in a note, used only where they are chosen; and what was drawn."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from openworld_metrics import OODBench, read
from openworld_metrics.command.commands import cli

ROWS = 48


def table(path: Path, column: str, speakers: int) -> Path:
    """Known and unknown samples of some speakers."""
    rng = np.random.default_rng(0)
    lines = [f"{rng.random():.4f},{i % 2},s{i % speakers:02}" for i in range(ROWS)]
    path.write_text("\n".join([f"score,label,{column}", *lines, ""]))
    return path


@pytest.mark.parametrize(
    ("column", "speakers", "said"),
    [("speaker", 12, True), ("Video_ID", 12, True), ("speaker", ROWS, False), ("speaker", 1, False), ("x", 12, False)],
)
def test_a_column_that_repeats_is_named_and_never_used_unasked(
    column: str, speakers: int, said: bool, tmp_path: Path
) -> None:
    reading = read("ood_bench", table(tmp_path / "t.csv", column, speakers))
    note = (
        f"Rows of one {column} may depend on each other; to draw them together in intervals, "
        f"use columns={{'clusters': '{column}'}}."
    )
    assert (note in reading.notes) == said
    assert "clusters" not in reading.columns
    chosen = read("ood_bench", tmp_path / "t.csv", columns={"clusters": column})
    assert note not in chosen.notes
    assert len({*np.asarray(chosen.columns["clusters"]).tolist()}) == speakers


def test_what_was_drawn_is_said(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "speaker_id", 12)
    flags = ["--clusters", "speaker_id", "--confidence-level", "0.95", "--n-resamples", "60"]
    run = CliRunner().invoke(cli, ["compute", "ood_bench", str(path), *flags, "--format", "text"])
    assert run.exit_code == 0, run.output
    assert "95 % intervals: 60 resamples, 12 speakers drawn, fewer than 10 of one class" in run.output
    metric = OODBench(confidence_level=0.95, n_resamples=60)
    expected = metric.compute(**read("ood_bench", path, columns={"clusters": "speaker_id"}).columns)
    run = CliRunner().invoke(cli, ["compute", "ood_bench", str(path), *flags])
    assert f'"auroc_low": {expected["auroc_low"]}' in run.output


@pytest.mark.parametrize(
    ("how", "record"),
    [
        (["--clusters", "speaker_id"], {"unit": "speaker", "number": 12}),
        (["--clusters-from-name", r"(?P<speaker>s\d+)"], {"unit": "speaker", "number": 12}),
        (["--clusters-from-name", r"(s\d+)"], {"unit": "cluster", "number": 12}),
        ([], {"unit": "row"}),
    ],
)
def test_the_name_of_a_group_says_what_was_drawn_and_saved_results_have_it(
    how: list[str], record: dict[str, object], tmp_path: Path
) -> None:
    """What was saved before stays as it was."""
    path, saved = table(tmp_path / "t.csv", "speaker_id", 12), tmp_path / "r.json"
    flags = [*how, "--confidence-level", "0.95", "--n-resamples", "60", "--format", "text", "--save", str(saved)]
    run = CliRunner().invoke(cli, ["compute", "ood_bench", str(path), *flags])
    assert run.exit_code == 0, run.output
    assert (f"60 resamples, 12 {record['unit']}s drawn" in run.output) == (record["unit"] != "row")
    results = json.loads(saved.read_text())
    assert results["drawn"] == {**record, "resamples": 60}
    assert isinstance(results["auroc"], float)
    models = ["--first-predictions", f"{path}:score", "--second-predictions", f"{path}:-score"]
    if how[:1] != ["--clusters-from-name"]:
        columns = ["--references", f"{path}:label", *(["--clusters", f"{path}:speaker_id"] if how else [])]
        run = CliRunner().invoke(cli, ["compare", "ood_bench", *models, *columns, "--n-resamples", "60", *flags[-2:]])
        assert run.exit_code == 0, run.output
        compared = json.loads(saved.read_text())
        assert compared["drawn"] == {**record, "resamples": 60}
        assert isinstance(compared["difference"], list)


def test_an_only_model_has_the_name_of_its_scores(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "speaker_id", 12)
    path.write_text(path.read_text().replace("score,", "knn,", 1))
    assert [*read("ood_bench", path).models] == ["knn"]
    assert [*read("ood_bench", path, columns={"predictions": "-knn"}).models] == ["knn"]
