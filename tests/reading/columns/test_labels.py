"""What labels mean: the direction that the name of their column says, and words for the two sides."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest

from openworld_metrics import read
from openworld_metrics.loading import metric_class
from openworld_metrics.reading.boxes.dataset import unknown_id
from openworld_metrics.reading.sides import means_unknown, side_of, side_of_column, side_of_name
from tests.conftest import Run
from tests.reading.page import read_page

UNKNOWN = ("is_unknown", "unknown", "is_ood", "anomaly", "outlier", "is_novel", "anomalous", "not_normal", "isOutlier")
KNOWN = (
    "is_known",
    "known",
    "is_id",
    "inlier",
    "normal",
    "in_distribution",
    "inDistribution",
    "is_in",
    "non_anomalous",
)
OUTCOMES = {"wrong": "correct", "is_error": "is_correct"}
WRITERS: dict[str, Any] = {
    "csv": lambda path, frame: frame.to_csv(path, index=False),
    "npz": lambda path, frame: np.savez(
        path, allow_pickle=False, **{name: np.asarray(frame[name].tolist()) for name in frame}
    ),
    "parquet": lambda path, frame: frame.to_parquet(path),
    "json": lambda path, frame: path.write_text(json.dumps(frame.to_dict("list"))),
    "jsonl": lambda path, frame: frame.to_json(path, orient="records", lines=True),
}
SCORES = {
    "ood_bench": "predictions",
    "openauc": "open_scores",
    "macro_open_f": "open_scores",
    "micro_open_f": "open_scores",
}
OPTIONS = {"ood_bench": {"metrics": ["auroc", "fpr95tpr", "aupr_in", "aupr_out", "aurc"], "thresholds": True}}
LABELS = {"ood_bench": "references"}


def random_table(rng: np.random.Generator, metric: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Scores, and what else a metric needs, with ties; and whether each sample is unknown."""
    size = int(rng.integers(6, 40))
    unknown = rng.random(size) < 0.4
    unknown[:2] = False, True
    frame = pd.DataFrame(
        {"score" if metric == "ood_bench" else "open_score": np.round(rng.random(size) + unknown / 3, 1) + 0.05}
    )
    if metric != "ood_bench":
        frame["pred"], frame["true_class"] = rng.integers(0, 3, size), rng.integers(0, 3, size)
    return frame, unknown


@pytest.mark.parametrize("metric", SCORES)
@pytest.mark.parametrize("suffix", WRITERS)
def test_a_known_word_with_inverted_values_changes_no_result(metric: str, suffix: str, tmp_path: Path) -> None:
    """The column is guessed, chosen by its name, and in a place; as numbers, booleans and, in text, words for them."""
    rng, draw = np.random.default_rng(70), Random(metric + suffix)
    kind, column = metric_class(metric), LABELS.get(metric, "open_labels")
    for known, unknown in [
        *zip(KNOWN, UNKNOWN),
        *((right, wrong) for wrong, right in OUTCOMES.items() if metric == "ood_bench"),
    ]:
        frame, is_unknown = random_table(rng, metric)
        dtype = draw.choice((int, float, bool, np.uint8))
        results = []
        for name, values in ((unknown, is_unknown), (known, ~is_unknown)):
            path = tmp_path / f"x.{suffix}"
            WRITERS[suffix](path, frame.assign(**{name: values.astype(dtype)}))
            others = {each: f"{path}:{own}" for each, own in (("predictions", "pred"), ("references", "true_class"))}
            places = {**(others if column == "open_labels" else {}), SCORES[metric]: f"{path}:{frame.columns[0]}"}
            readings = [
                read(metric, path),
                read(metric, path, columns={column: name}),
                read(metric, columns={**places, column: f"{path}:{name}"}),
                read_page(metric, [[path]]),
            ]
            results += [kind(**OPTIONS.get(metric, {})).compute(**reading.columns) for reading in readings]
            said = [any(f"1 in {name} means a known sample" in note for note in each.notes) for each in readings]
            assert said == [name == known] * 4
        assert results == results[:1] * 8, (known, unknown)


@pytest.mark.parametrize("metric", SCORES)
def test_a_sign_sets_the_direction(metric: str, tmp_path: Path) -> None:
    frame, unknown = random_table(np.random.default_rng(1), metric)
    column, path = LABELS.get(metric, "open_labels"), tmp_path / "x.csv"
    for name, sign, values in (("is_known", "+", unknown), ("is_ood", "-", ~unknown), ("mark", "-", ~unknown)):
        frame.assign(**{name: values.astype(int)}).to_csv(path, index=False)
        for reading in (
            read(metric, path, columns={column: sign + name}),
            read_page(metric, [[path]], {column: [sign + name]}),
        ):
            assert np.asarray(reading.columns[column]).tolist() == unknown.astype(int).tolist()
            assert not any("means a known sample" in note for note in reading.notes)
    frame.assign(side=np.where(unknown, "ood", "id")).to_csv(path, index=False)
    with pytest.raises(ValueError, match=r"x\.csv: side: expected labels of 0 and 1 to swap, got words"):
        read(metric, columns={column: f"{path}:-side"})


def test_options_say_what_labels_mean(tmp_path: Path, run: Run) -> None:
    """Beside in_value and out_value the name of the column does not count, on the command line and on a page."""
    frame, unknown = random_table(np.random.default_rng(2), "ood_bench")
    path, command = tmp_path / "x.csv", ("compute", "ood_bench", tmp_path / "x.csv")
    frame.assign(is_known=(~unknown).astype(int)).to_csv(path, index=False)
    expected = run(*command)[1]
    assert run(*command, "--in-value", "1", "--out-value", "0")[1] == expected
    frame.assign(is_known=np.where(unknown, -1, 1)).to_csv(path, index=False)
    assert run(*command, "--in-value", "1", "--out-value", "-1")[1] == expected


def test_words_say_their_side_whatever_the_column_is_called(tmp_path: Path) -> None:
    for name in ("is_known", "is_unknown", "label", "mark"):
        for known, unknown in (("known", "unknown"), ("OK", "NG"), ("good", "bad"), ("pass", "fail"), ("ID", "OOD")):
            rows = "".join(f"0.{i},{word}\n" for i, word in enumerate((known, unknown, unknown, known)))
            (tmp_path / "x.csv").write_text(f"score,{name}\n{rows}")
            reading = read("ood_bench", tmp_path / "x.csv")
            assert (reading.columns["references"].tolist(), reading.notes) == ([0, 1, 1, 0], [])


def test_defects_beside_good(tmp_path: Path, run: Run) -> None:
    (tmp_path / "x.csv").write_text("score,label\n0.1,good\n0.9,crack\n0.2,good\n0.8,cut\n0.3,good\n")
    code, output, errors = run("compute", "ood_bench", tmp_path / "x.csv", "--metrics", "auroc")
    assert (code, json.loads(output)) == (0, {"auroc": 1.0})
    assert "references are kinds of unknown samples, beside 'good' for known ones" in errors


@pytest.mark.parametrize("words", [("yes", "no"), ("T", "F"), ("cat", "dog")])
def test_words_that_may_mean_either(words: tuple[str, str], tmp_path: Path, run: Run) -> None:
    """The error offers no rows to leave out, since none would be left; each way to write them that it names is read."""
    rows = [f"0.{i},{words[i % 2]}\n" for i in range(8)]
    (tmp_path / "x.csv").write_text("score,label\n" + "".join(rows))
    code, _, errors = run("compute", "ood_bench", tmp_path / "x.csv")
    assert code == 2
    assert "is not a label; write 0 and 1, or id and ood, known and unknown, normal and anomaly; if " in errors
    for pair in (("0", "1"), ("id", "ood"), ("known", "unknown"), ("normal", "anomaly")):
        cured = "".join(row.replace(words[0], pair[0]).replace(words[1], pair[1]) for row in rows)
        (tmp_path / "x.csv").write_text(f"score,label\n{cured}")
        assert run("compute", "ood_bench", tmp_path / "x.csv")[0] == 0


@pytest.mark.parametrize(
    ("name", "doubt"), [("label", True), ("y", True), ("is_ood", False), ("is_known", False), ("words", False)]
)
def test_flip_is_advised_alone_where_labels_leave_no_doubt(name: str, doubt: bool, tmp_path: Path, run: Run) -> None:
    rng, unknown = np.random.default_rng(0), np.arange(100) % 2 == 1
    labels: Any = {"is_known": (~unknown).astype(int), "words": np.where(unknown, "ood", "id")}.get(
        name, unknown.astype(int)
    )
    pd.DataFrame({"energy": rng.normal(-1.0 * unknown), name: labels}).to_csv(tmp_path / "x.csv", index=False)
    command = ("compute", "ood_bench", tmp_path / "x.csv", "--metrics", "auroc")
    _, output, errors = run(*command)
    cure = f"; if 1 in {name} does, use --in-value 1 --out-value 0"
    assert errors.endswith(f"is below 0.5; if higher scores mean in-distribution here, use --flip{cure * doubt}\n")
    cures = [["--flip"], *([["--in-value", "1", "--out-value", "0"]] if doubt else [])]
    for flags in cures:
        code, cured, errors = run(*command, *flags)
        assert (code, "below 0.5" in errors) == (0, False)
        assert json.loads(cured)["auroc"] == pytest.approx(1 - json.loads(output)["auroc"])


def test_names_of_files_leave_no_doubt(tmp_path: Path, run: Run) -> None:
    for name, low in (("id", 0.5), ("ood", 0.0)):
        (tmp_path / f"{name}.csv").write_text("score\n" + "".join(f"{low + i / 100}\n" for i in range(40)))
    errors = run("compute", "ood_bench", tmp_path / "id.csv", tmp_path / "ood.csv", "--metrics", "auroc")[2]
    assert errors.endswith("is below 0.5; if higher scores mean in-distribution here, use --flip\n")


def test_one_vocabulary() -> None:
    """A word for a class of unknown objects says the same in cells, names of files and names of columns."""
    for word in ("unknown", "unknowns", "unk", "ood", "Out-of-Distribution", "novel", "unseen"):
        assert means_unknown(f"{word}_object")
        assert side_of(word) is True
        assert side_of_column(f"is_{word}") is True
        assert side_of_name(word.replace("-", "")) is True
        assert unknown_id({0: "cat", 1: word}, {1}) == 1
    for word in ("known", "inlier", "normal", "nominal"):
        assert (side_of(word), side_of_column(word), side_of_name(word), means_unknown(word)) == (False,) * 4
    for word in ("anomaly", "defect", "open", "un known", "unknown2", ""):
        assert not means_unknown(word)


@pytest.mark.parametrize("name", ["id", "label", "references", "known_classes", "unknown_score", "y_true", "in", "2"])
def test_names_that_say_nothing(name: str) -> None:
    assert side_of_column(name) is None
