"""Several detectors in one file, labels in words, signs that are turned, and columns of any name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from openworld_metrics import METRICS, read as read_files
from openworld_metrics.reading.rows.metrics import LAYOUTS, guessed, offered
from openworld_metrics.reading.rows.rows import rows_of, settle

SCORES = pd.DataFrame(
    {
        "index": range(6),
        "msp": [0.9, 0.8, 0.4, 0.3, 0.7, 0.2],
        "energy": [-3.5, -2.0, 1.5, 2.0, -1.0, 3.0],
        "truth": ["id", "ID", "ood", "ood", "id", "OOD"],
    }
)
LABELS = [0, 0, 1, 1, 0, 1]


def read(name: str, frame: pd.DataFrame, folder: Path) -> Any:
    frame.to_csv(folder / "mine.csv", index=False)
    return rows_of(name, folder / "mine.csv").tables


def test_detectors_of_a_file(tmp_path: Path) -> None:
    page, sources = "ood_bench", read("ood_bench", SCORES, tmp_path)
    found = guessed(LAYOUTS[page], sources)
    assert (found["predictions"], found["references"]) == (["msp", "energy"], ["truth"])
    several = settle(page, sources, {"predictions": ["-msp", "energy"]}).reading().models
    assert [*several] == ["-msp", "energy"]
    assert several["-msp"]["predictions"].tolist() == (-SCORES["msp"]).tolist()
    assert "-msp" in offered(LAYOUTS[page], sources)["predictions"]
    assert all(given["references"].tolist() == LABELS for given in several.values())
    again = read_files("ood_bench", tmp_path / "mine.csv", columns={"predictions": ["-msp", "energy"]}).models
    assert [*again] == [*several]
    for name, given in several.items():
        assert all(np.array_equal(again[name][key], column) for key, column in given.items())
    with pytest.raises(ValueError, match="expected one model, got msp, energy; models holds the columns of each"):
        print(read_files("ood_bench", tmp_path / "mine.csv").columns)
    assert [*settle(page, sources, {"predictions": ["energy"]}).reading().models] == ["predictions"]


def test_detectors_of_rows(tmp_path: Path) -> None:
    """A column that says the detector of each row, alone and beside several columns of scores."""
    long = SCORES.melt(["index", "truth"], ["msp", "energy"], "method", "score")
    page, sources = "ood_bench", read("ood_bench", long, tmp_path)
    several = settle(page, sources).reading().models
    assert [*several] == ["msp", "energy"]
    for name, given in several.items():
        assert given["predictions"].tolist() == SCORES[name].tolist()
        assert given["references"].tolist() == LABELS
    (alone,) = settle(page, sources, {"detector": ["one detector"]}).reading().models.values()
    assert len(alone["predictions"]) == 12
    crossed = settle(page, read("ood_bench", SCORES.assign(model=["a", "b"] * 3), tmp_path)).reading().models
    assert [*crossed] == ["a, msp", "a, energy", "b, msp", "b, energy"]
    assert crossed["b, energy"]["predictions"].tolist() == SCORES["energy"][1::2].tolist()
    many = pd.concat([SCORES.drop(columns="msp")] * 4).assign(model=[f"car {i}" for i in range(24)])
    assert [*settle(page, read("ood_bench", many, tmp_path)).reading().models] == ["predictions"]


@pytest.mark.parametrize("name", ["accuracyk", "autkc", "macro_open_f", "micro_open_f", "openauc"])
def test_models_of_rows(name: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"class": [0, 1, 1, 0], "label": [0, 1, 0, -1], "score": [0.1, 0.4, 0.2, 0.6]})
    page = name
    if name in ("accuracyk", "autkc"):
        frame = pd.DataFrame({"p0": [0.1, 0.4, 0.2, 0.6], "p1": [0.9, 0.6, 0.8, 0.4], "label": [0, 1, 0, 1]})
    several = settle(page, read(name, frame.assign(model=["new", "old", "new", "old"]), tmp_path)).reading().models
    assert [*several] == ["new", "old"]
    assert np.array_equal(several["old"]["references"], frame["label"][1::2])
    assert {len(column) for column in several["old"].values()} == {2}


def test_matrices_side_by_side(tmp_path: Path) -> None:
    """Of two matrices each is a detector; of two columns one matrix is made."""
    np.savez(tmp_path / "a.npz", a=np.eye(3), b=np.ones((3, 3)), labels=[0, 1, 2])
    page = "accuracyk"
    sources = rows_of("accuracyk", tmp_path / "a.npz").tables
    assert [*settle(page, sources, {"predictions": ["a", "b"]}).reading().models] == ["a", "b"]
    (given,) = settle(page, sources, {"predictions": ["a[:, 0]", "b[:, 2]"]}).reading().models.values()
    assert given["predictions"].shape == (3, 2)


def test_words_that_are_no_label(tmp_path: Path) -> None:
    frame = SCORES.assign(truth=["id", "ood", "cat", "id", "id", "ood"])
    sources = read("ood_bench", frame, tmp_path)
    with pytest.raises(ValueError, match="truth, line 4: 'cat' is not a label; write 0 and 1, or id"):
        settle("ood_bench", sources, {"references": ["truth"]}).reading()


@pytest.mark.parametrize("name", [name for name in METRICS if name not in ("openset_detection", "anomaly_suite")])
def test_names_of_ones_own(name: str, tmp_path: Path) -> None:
    """Class ids are the one column of integers, labels the one of two values, scores what is left."""
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {f"n{i}": rng.normal(size=40) for i in range(3)} if name != "ood_bench" else {}
    columns |= {"mine": rng.integers(0, 2 if name == "ood_bench" else 3, 40)}
    if name not in ("accuracyk", "autkc"):
        columns |= {"knn": rng.normal(size=40)}
    found = guessed(LAYOUTS[name], read(name, pd.DataFrame(columns), tmp_path))
    assert found["references"] == ["mine"]
    assert found.get("open_scores", found["predictions"]) == (["knn"] if "knn" in columns else ["n0 … n2"])
