"""A file of known or of unknown samples whose own columns say otherwise, and a set that is its own opposite."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from openworld_metrics import read
from openworld_metrics.reading.rows.score_files import read_scores
from openworld_metrics.suites import evaluate_ood
from tests.conftest import Run
from tests.reading.columns.test_labels import KNOWN, UNKNOWN, WRITERS


def labels_of(rng: np.random.Generator, unknown: np.ndarray) -> tuple[str, Any]:
    """A column that says which samples are unknown, in one of the forms that there are."""
    form = int(rng.integers(5))
    name = str(rng.choice(["label", "set", *UNKNOWN])) if form != 2 else str(rng.choice([*KNOWN]))
    if form in (0, 1, 2) and name != "set":
        return name, (unknown if form != 2 else ~unknown).astype((int, float, bool)[form])
    if form == 3:
        return "label", np.where(unknown, -1, rng.integers(0, 9, len(unknown)))
    return name, np.where(unknown, "ood", "id")


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("is_unknown", [False, True])
def test_labels_of_the_other_side_are_an_error(suffix: str, is_unknown: bool, tmp_path: Path) -> None:
    rng, path = np.random.default_rng(70), tmp_path / f"x.{suffix}"
    (tmp_path / "other.csv").write_text("score\n0.5\n")
    for _ in range(25):
        size = int(rng.integers(3, 20))
        frame = pd.DataFrame({"score": np.round(rng.random(size), 3)})
        for name, values in [labels_of(rng, np.full(size, is_unknown))]:
            WRITERS[suffix](path, frame.assign(**{name: values}))
            assert read_scores(path, is_unknown=is_unknown).scores.tolist() == frame["score"].tolist()
        other = rng.random(size) < 0.3
        other[rng.integers(size)] = True
        other[rng.integers(size)] = False  # class ids are those of known samples unless one is below 0
        if not other.any():
            continue
        name, values = labels_of(rng, np.full(size, is_unknown) ^ other)
        WRITERS[suffix](path, frame.assign(**{name: values}))
        first, number = int(np.argmax(other)), f"{np.count_nonzero(other)} of {size}"
        place = f"line {first + 2}" if suffix == "csv" else f"row {first + 1}"
        sides = ("unknown", "known") if is_unknown else ("known", "unknown")
        message = (
            rf"x\.{suffix}: {name}: expected {sides[0]} .*got {number} that it calls {sides[1]}, the first in {place};"
        )
        with pytest.raises(ValueError, match=message):
            read_scores(path, is_unknown=is_unknown)
        places = dict.fromkeys(("in-distribution scores", "OOD scores"), f"{tmp_path}/other.csv:score")
        places["OOD scores" if is_unknown else "in-distribution scores"] = f"{path}:score"
        with pytest.raises(ValueError, match=message):
            read("ood_bench", columns=places)
        for cure in (frame.assign(**{name: values})[~other], frame.assign(other_name=values)):  # as the error says
            WRITERS[suffix](path, cure)
            if not ("other_name" in cure and values.dtype.kind in "OU"):  # words for the sides say it by themselves
                read_scores(path, is_unknown=is_unknown)


def test_class_ids_say_nothing(tmp_path: Path) -> None:
    """OpenOOD's files have the predicted and the true classes of all samples; of two classes, too."""
    for label in ([0, 1, 1], [3, 0, 7]):
        np.savez(tmp_path / "x.npz", conf=[0.1, 0.2, 0.3], pred=[0, 1, 0], label=label)
        for is_unknown in (False, True):
            assert len(read_scores(tmp_path / "x.npz", is_unknown=is_unknown).scores) == 3
    np.savez(tmp_path / "x.npz", conf=[0.1, 0.2, 0.3], pred=[0, 1, 0], label=[0, 1, -1])
    with pytest.raises(ValueError, match=r"x\.npz: label: expected known samples alone, got 1 of 3 .*first in row 3"):
        read_scores(tmp_path / "x.npz", is_unknown=False)


def test_a_set_beside_the_scores(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("score,dataset\n0.1,cifar10\n0.2,svhn_ood\n0.3,cifar10\n")
    with pytest.raises(ValueError, match=r"x\.csv: dataset: expected known samples .* first in line 3"):
        read_scores(tmp_path / "x.csv", is_unknown=False)
    (tmp_path / "x.csv").write_text("score,dataset\n0.1,cifar10\n0.2,svhn\n0.3,cifar10\n")
    for is_unknown in (False, True):
        read_scores(tmp_path / "x.csv", is_unknown=is_unknown)


def test_files_that_their_names_call_known(tmp_path: Path) -> None:
    (tmp_path / "id.csv").write_text("score,dataset\n0.1,id\n0.2,ood\n")
    (tmp_path / "ood.csv").write_text("score,dataset\n0.3,ood\n0.4,ood\n0.5,ood\n")
    with pytest.raises(ValueError, match=r"expected"):
        read("ood_bench", [tmp_path / "id.csv", tmp_path / "ood.csv"])


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Validation data of both sides, and of known samples alone: rows 12 and 15 of reports."""
    monkeypatch.chdir(tmp_path)
    scores = [0.1, 0.25, 0.2, 0.5, 0.3, 0.6, 0.4, 0.7]
    pd.DataFrame({"score": scores * 40, "label": [0, 1] * 160}).to_csv("val.csv", index=False)
    pd.DataFrame({"score": scores[::2] * 40}).to_csv("known.csv", index=False)
    pd.DataFrame({"score": scores[1::2] * 40}).to_csv("unknown.csv", index=False)
    pd.DataFrame({"score": scores[::2] * 40}).to_csv("again.csv", index=False)


@pytest.mark.usefixtures("files")
def test_a_threshold_of_known_samples(run: Run) -> None:
    code, output, errors = run("threshold", "--known", "val.csv", "--fpr", "0.05")
    assert (code, output) == (2, "")
    assert errors == (
        "openworld-metrics: val.csv: label: expected known samples alone, got 160 of 320 that it calls unknown, the "
        "first in line 3; leave these rows out, or rename label if it says something else\n"
    )
    code, output, _ = run("threshold", "--known", "known.csv", "--fpr", "0.05")
    assert (code, json.loads(output)["threshold"]) == (0, 0.401)
    both = ("--predictions", "val.csv:score", "--references", "val.csv:label")
    assert json.loads(run("threshold", *both, "--fpr", "0.05")[1])["threshold"] == 0.41


@pytest.mark.usefixtures("files")
def test_a_set_is_no_unknown_set_of_itself(run: Run) -> None:
    for copy in ("known.csv", "again.csv", "known.csv:score"):
        message = f"{copy}: expected unknown samples, got the scores of the known set known.csv row by row\n"
        for command in (
            ("ood", "--known", "known.csv", "--unknown", f"u={copy}"),
            ("ood", "--known", "known.csv", "--unknown", "u=unknown.csv", "--unknown", f"v={copy}"),
            ("threshold", "--known", "known.csv", "--unknown", copy, "--tpr", "0.9"),
        ):
            assert run(*command) == (2, "", f"openworld-metrics: {message}")
    assert run("ood", "--known", "known.csv", "--unknown", "u=unknown.csv")[0] == 0


@pytest.mark.usefixtures("files")
def test_scores_that_are_all_the_same_are_no_copy(run: Run) -> None:
    for name in ("a", "b"):
        Path(f"{name}.csv").write_text("score\n0.5\n0.5\n")
    assert json.loads(run("ood", "--known", "a.csv", "--unknown", "u=b.csv", "--metrics", "auroc")[1])["auroc"] == 0.5


@pytest.mark.usefixtures("files")
def test_files_and_columns_that_are_copies() -> None:
    for name in ("known", "unknown_svhn"):
        Path(f"sets_{name}.csv").write_text(Path("known.csv").read_text())
    message = "unknown_svhn.csv: expected unknown samples, got the scores of the known set sets_known.csv row by row"
    with pytest.raises(ValueError, match=message):
        read("ood_bench", [Path("sets_known.csv"), Path("sets_unknown_svhn.csv")])
    both = ("in-distribution scores", "OOD scores")
    with pytest.raises(ValueError, match=r"OOD scores: expected .* known set in-distribution scores row by row"):
        read("ood_bench", columns=dict.fromkeys(both, "known.csv"))
    assert len(read("ood_bench", columns=dict(zip(both, ("known.csv", "unknown.csv")))).columns["predictions"]) == 2


def test_arrays_that_are_copies() -> None:
    known = [0.1, 0.25, 0.2]
    for unknown, spectrum, name in (
        ({"near/a": known}, [], "known"),
        ({"near/a": [1.0, 2.0]}, [[1.0, 2.0]], "full_sp"),
    ):
        with pytest.raises(
            ValueError, match=rf"near/a: expected unknown samples, got the scores of the known set {name}"
        ):
            evaluate_ood(known, {**unknown, "b": [0.5]}, full_spectrum=spectrum)
    assert evaluate_ood(known, {"a": known[::-1], "b": [0.5]}, metrics="auroc")["auroc"] == 0.75


@pytest.mark.parametrize("folder", ["in", "out", "ood", "id_scores"])
@pytest.mark.parametrize("names", [("a", "b"), ("in_a", "in_b"), ("a", "b", "c")])
def test_words_that_all_names_share_say_no_side(folder: str, names: Sequence[str], tmp_path: Path) -> None:
    """Neither the folder of all files nor a word in each of their names; a word in one of two names says both sides."""
    (tmp_path / folder).mkdir()
    for number, name in enumerate(names):
        (tmp_path / folder / f"{name}.csv").write_text("\n".join(["score", *["0.5"] * (3 + number)]))
    with pytest.raises(ValueError, match="expected names that say which file holds known samples"):
        read("ood_bench", [tmp_path / folder / f"{name}.csv" for name in names])
    first = names[0].replace("a", "ood")
    (tmp_path / folder / f"{names[0]}.csv").rename(tmp_path / folder / f"{first}.csv")
    files = [tmp_path / folder / f"{name}.csv" for name in (first, *names[1:])]
    if len(names) == 2:
        assert sum(read("ood_bench", files).columns["references"]) == 3
