"""Clusters of the commands: of rows by a column or by names, of images by a table or by names; and what is said."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from openworld_metrics import AnomalySuite, OODBench, OpenSetDetection, read
from openworld_metrics.reading.image_clusters import clusters_of_images
from openworld_metrics.reading.maps.planes import read_map
from openworld_metrics.reading.rows.score_files import Scores
from openworld_metrics.suites import evaluate_anomaly_folder, evaluate_ood
from tests.conftest import Run
from tests.detection import scenes
from tests.reading.maps.trees import write_map, write_tree

DRAWN: dict[str, Any] = dict(confidence_level=0.9, n_resamples=40, random_state=2)
FLAGS = ["--confidence-level", "0.9", "--n-resamples", "40", "--random-state", "2"]
ROWS = 40


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def scores_of(name: str, mean: float, speakers: Sequence[str]) -> np.ndarray:
    """A file of scores, of ROWS utterances of these speakers."""
    rng = np.random.default_rng(len(name))
    scores = rng.normal(mean, size=ROWS)
    lines = [f"{score!r},{speakers[i % len(speakers)]},{i:02}_{speakers[i % len(speakers)]}.wav" for i, score in
             enumerate(scores.tolist())]  # fmt: skip
    Path(name).write_text("\n".join(["score,speaker_id,utterance", *lines, ""]))
    return scores


def table_of(detections: Any, path: Path) -> list[str]:
    """A table of the scenes of images, in another order, with one image more; and the scene of each image."""
    names = detections.dataset.names
    scenes_of = [f"s{i % 3}" for i in range(len(names))]
    lines = [f"{name}.jpg,{scene}" for name, scene in zip(names, scenes_of)]
    path.write_text("\n".join(["file_name,scene", *lines[::-1], "another.jpg,s9", ""]))
    return scenes_of


def test_ood_draws_clusters_of_all_sets(here: Path, run: Run) -> None:
    """Speakers of known samples also speak in the sets: they are drawn with all of their rows."""
    known = scores_of("known.csv", 0, [f"s{i}" for i in range(10)])
    unknown = {
        "near/a": scores_of("a.csv", 1, [f"s{i}" for i in range(5, 15)]),
        "near/bb": scores_of("bb.csv", 2, [f"t{i}" for i in range(10)]),
    }
    speakers = {"near/a": [f"s{i % 10 + 5}" for i in range(ROWS)], "near/bb": [f"t{i % 10}" for i in range(ROWS)]}
    expected = OODBench(metrics="auroc", **DRAWN).compute(
        predictions=[*known, *unknown["near/a"], *unknown["near/bb"]],
        references=[0] * ROWS + [1] * 2 * ROWS,
        groups=[None] * ROWS + ["near/a"] * ROWS + ["near/bb"] * ROWS,
        clusters=[f"s{i % 10}" for i in range(ROWS)] + speakers["near/a"] + speakers["near/bb"],
    )
    files = ["--known", "known.csv:score", "--unknown", "near/a=a.csv:score", "--unknown", "near/bb=bb.csv:score"]
    command = ["ood", *files, "--metrics", "auroc", *FLAGS]
    for how in (["--clusters", "speaker_id"], ["--clusters-from-name", r"_([st]\d+)"]):
        code, output, errors = run(*command, *how)
        assert (code, json.loads(output)) == (0, expected), errors
    rows = json.loads(run(*command)[1])
    assert rows["auroc"] == expected["auroc"]
    assert rows["auroc_low"] != expected["auroc_low"]
    assert "note: known.csv:score: Rows of one speaker_id may depend on each other; to draw them" in run(*command)[2]
    own = {name: Scores(scores, clusters=speakers[name]) for name, scores in unknown.items()}
    by_row = [f"s{i % 10}" for i in range(ROWS)]
    assert evaluate_ood(Scores(known, clusters=by_row), own, metrics="auroc", **DRAWN) == expected
    with pytest.raises(ValueError, match="near/bb: expected clusters, as other sets have, got none"):
        evaluate_ood(Scores(known, clusters=by_row), {**own, "near/bb": unknown["near/bb"]})
    with pytest.raises(ValueError, match="known: expected clusters, as other sets have, got none"):
        evaluate_ood(known, own)
    with pytest.raises(ValueError, match="expected columns of one length, got 40 known, 2 clusters"):
        evaluate_ood(Scores(known, clusters=["a", "b"]), own)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (["--clusters", "speaker"], "known.csv: expected a column speaker, got score, speaker_id, utterance"),
        (["--clusters-from-name", "x(y)"], "clusters_from_name: expected a column of names that match 'x(y)'"),
        (["--clusters", "speaker_id", "--clusters-from-name", "(s)"], "expected --clusters or --clusters-from-name"),
        (["--clusters", "one"], "clusters: expected at least 2 with unknown samples, got 1"),
        (["--clusters", "blank"], "clusters: expected the cluster of each sample, got"),
    ],
)
def test_errors_of_ood(how: list[str], message: str, here: Path, run: Run) -> None:
    for name, mean in (("known.csv", 0), ("a.csv", 1)):
        scores_of(name, mean, ["s1", "s2"])
    if how[-1] in ("one", "blank"):
        Path("a.csv").write_text(
            f"score,{how[-1]}\n" + "".join(f"{i},{'x' if how[-1] == 'one' else ''}\n" for i in "12")
        )
        Path("known.csv").write_text(
            f"score,{how[-1]}\n" + "".join(f"{i},{i}\n" for i in (0.5, 0.25)).replace(",0", ",k0")
        )
    code, output, errors = run("ood", "--known", "known.csv", "--unknown", "a.csv", *how, *FLAGS)
    assert (code, output) == (2, "")
    assert message in errors


def test_detect_draws_clusters_of_images(here: Path, run: Run) -> None:
    detections = scenes.scene(4, 12)
    scenes.write_as_yolo(detections, here)
    scenes_of = table_of(detections, Path("scenes.csv"))
    command = ["detect", "--predictions", "predictions", "--references", "data.yaml", "--known-classes", "0", "1", "2"]
    command += ["--unknown-id", "999", "--no-standard", *FLAGS]
    plain = json.loads(run(*command)[1])["openset_metrics"]
    options: Any = dict(known_classes=[0, 1, 2], unknown_class_id=999, conf_threshold=0.001)
    reading = read("openset_detection", "predictions", "data.yaml", clusters="scenes.csv:scene")
    assert reading.columns["clusters"] == scenes_of
    assert reading.noun_of_clusters == "scene"
    assert "Clusters: scene of scenes.csv, by the names of images; 1 of its rows name no image here." in reading.notes
    expected = OpenSetDetection(**options, **DRAWN).compute(**reading.columns)
    code, output, errors = run(*command, "--clusters", "scenes.csv:scene")
    own = json.loads(output)["openset_metrics"]
    assert (code, own) == (0, {key: own[key] for key in own})
    assert {key: own[key] for key in expected if key in own} == {key: expected[key] for key in expected if key in own}
    assert "note: Clusters: scene of scenes.csv" in errors
    assert any(plain[key] != own[key] for key in own if key.endswith("_low"))
    assert all(plain[key] == own[key] for key in own if not key.endswith(("_low", "_high")))
    text = run(*command, "--clusters", "scenes.csv:scene", "--format", "text", "--report", "report")[1]
    assert "90 % intervals: 40 resamples, 3 scenes drawn, fewer than 10 of one class" in text
    assert "3 scenes drawn" in Path("report", "index.html").read_text()
    both = run(*command, "--clusters", "scenes.csv:scene", "--compare", "predictions", "--format", "text")[1]
    assert "90 % intervals: 40 resamples, 3 scenes drawn" in " ".join(both.split())


def test_anomaly_draws_clusters_of_images_within_categories(here: Path, run: Run) -> None:
    write_tree("mvtec-ad", here)
    for i, path in enumerate(sorted(Path("maps").rglob("*.tiff"))):  # of which some are wrong
        write_map(path, np.random.default_rng(i).random(read_map(path).shape))
    reading = read("anomaly_suite", "maps", "data")
    products = {name: f"{name.split('/')[0]}{i % 4}" for i, name in enumerate(reading.images)}
    lines = [f"{name}.png,{product}" for name, product in products.items()]
    Path("t.csv").write_text("\n".join(["image,product", *lines[::-1], ""]))
    how: Any = dict(clusters="t.csv:product")
    columns = read("anomaly_suite", "maps", "data", **how).columns
    assert columns["clusters"] == [*products.values()]
    options: Any = dict(levels="image", **DRAWN)
    expected = AnomalySuite(**options).compute(**columns)
    command = ["anomaly", "--maps", "maps", "--data", "data", "--levels", "image", *FLAGS]
    code, output, errors = run(*command, "--clusters", "t.csv:product")
    results = json.loads(output)
    assert (code, errors) == (0, "openworld-metrics: note: Clusters: product of t.csv, by the names of images.\n")
    assert {key: results[key] for key in expected if key != "groups"} == {
        key: value for key, value in expected.items() if key != "groups"
    }
    assert evaluate_anomaly_folder("maps", "data", **options, **how)["image_auroc_low"] == results["image_auroc_low"]
    assert json.loads(run(*command)[1])["image_auroc_low"] != results["image_auroc_low"]
    text = run(*command, "--clusters", "t.csv:product", "--format", "text")[1]
    assert "8 products drawn" in text
    by_name = run(*command, "--clusters-from-name", "^(.*)$")
    assert by_name[0] == 0, by_name
    # a cluster of two categories would have to be drawn in both
    Path("t.csv").write_text(
        "\n".join(["image,product", *[f"{name}.png,p{i % 4}" for i, name in enumerate(products)], ""])
    )
    code, output, errors = run(*command, "--clusters", "t.csv:product")
    assert (code, output) == (2, "")
    assert (
        "clusters: expected the images of each in one category, since categories are drawn one after another" in errors
    )
    assert "in nut and in screw" in errors
    together = read("anomaly_suite", "maps", "data", clusters="t.csv:product").columns  # drawn jointly where all are
    assert AnomalySuite(**options).compute(**together)["image_auroc"] == expected["image_auroc"]


def test_clusters_of_images() -> None:
    images = ["cam1/a", "cam1/b", "cam2/a"]
    assert clusters_of_images(images).column == {}
    by_name = clusters_of_images(images, clusters_from_name=r"(cam\d)/")
    assert by_name.names == ["cam1", "cam1", "cam2"]
    assert by_name.notes == ["Clusters: 2 of 3 images, by their names."]


@pytest.mark.parametrize(
    ("rows", "column", "message"),
    [
        (
            ["a,s", "b,s"],
            ":scene",
            "t.csv: expected a column that names the 3 images, such as 'a', got image without 1",
        ),
        (["a,s", "b,s", "c,"], ":scene", "scene: expected the cluster of each sample, got"),
        (["a,s", "b,s", "c,s", "c,t"], ":scene", "expected in image each image once, got 'c' 2 times"),
        (["a,s", "b,s", "c,s"], ":place", "expected a column place, got image, scene"),
        (["a,s", "b,s", "c,s"], "", "expected a column clusters, got image, scene"),
        (["x,s", "y,s", "z,s"], ":scene", "got image without 3 of them, such as 'a'"),
    ],
)
def test_errors_of_a_table_of_images(rows: list[str], column: str, message: str, here: Path) -> None:
    Path("t.csv").write_text("\n".join(["image,scene", *rows, ""]))
    with pytest.raises(ValueError, match=re.escape(message)):
        clusters_of_images(["a", "b", "c"], f"t.csv{column}")


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(", "clusters_from_name: expected a regular expression, got '('"),
        ("a", "clusters_from_name: expected a group in parentheses"),
        ("(d)", "clusters_from_name: expected each name to match '(d)', got 'a'"),
    ],
)
def test_errors_of_a_pattern(pattern: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        clusters_of_images(["a", "b", "c"], clusters_from_name=pattern)
    with pytest.raises(ValueError, match="clusters_from_name: expected it or clusters, got both"):
        clusters_of_images(["a"], "t.csv", "(a)")


def test_compare_says_what_was_drawn(here: Path, run: Run) -> None:
    rng = np.random.default_rng(0)
    lines = [f"{rng.normal(i % 2)},{rng.normal(i % 2)},{i % 2},p{i // 4}" for i in range(ROWS)]
    Path("t.csv").write_text("\n".join(["knn,energy,label,patient", *lines, ""]))
    command = ["compare", "ood_bench", "t.csv", "--first-predictions", "knn", "--second-predictions", "energy"]
    text = run(*command, "--clusters", "patient", "--format", "text", "--n-resamples", "50")[1]
    assert text.splitlines()[-1] == "50 paired resamples, 10 patients drawn"
    assert run(*command, "--format", "text", "--n-resamples", "50")[1].splitlines()[-1] == "50 paired resamples"


def test_what_was_drawn_is_said_in_a_pipe_too(here: Path, run: Run) -> None:
    """Beside JSON in a note; clusters without intervals change nothing, which is said."""
    rng = np.random.default_rng(0)
    lines = [f"{rng.random()!r},{rng.random()!r},{i % 2},spk{i % 12}" for i in range(96)]
    Path("x.csv").write_text("\n".join(["a,b,label,speaker", *lines, ""]))
    one = ("compute", "ood_bench", "x.csv", "--predictions", "a", "--metrics", "auroc", "--clusters", "speaker")
    code, output, errors = run(*one, *FLAGS)
    assert (code, {*json.loads(output)} >= {"auroc_low"}) == (0, True)
    assert "note: 90 % intervals: 40 resamples, 12 speakers drawn" in errors
    code, output, errors = run(*one)
    assert (code, [*json.loads(output)]) == (0, ["auroc"])
    assert "note: clusters are drawn for intervals alone, which --confidence-level gives\n" in errors
    two = ("compare", "ood_bench", "x.csv", "--metrics", "auroc", "--clusters", "speaker", "--n-resamples", "40")
    code, output, errors = run(*two)
    assert (code, [*json.loads(output)["key"]]) == (0, ["auroc"])
    assert "note: 40 paired resamples, 12 speakers drawn" in errors


def test_compute_reads_boxes_and_draws_their_clusters(here: Path, run: Run) -> None:
    """Two folders of boxes are read as `read` reads them, with known classes and clusters by the names of images."""
    for folder, label in (("predictions", 999), ("references", 7)):
        Path(folder).mkdir()
        for i in range(12):
            confidence = " 0.9" if label == 999 else ""
            unknown = label if i % 3 else 0
            lines = [f"0 0.3 0.3 0.2 0.2{confidence}", f"{unknown} 0.7 0.7 0.2 0.2{confidence}"]
            Path(folder, f"v{i // 3}_{i:02}.txt").write_text("\n".join(lines))
    pattern = r"(?P<video>v\d+)"
    command = ["compute", "openset_detection", "predictions", "references", "--clusters-from-name", pattern]
    code, output, errors = run(*command, *FLAGS, "--format", "json")
    assert code == 0
    assert "Clusters: 4 of 12 images, by their names" in errors
    reading = read("openset_detection", "predictions", "references", clusters_from_name=pattern)
    wanted = OpenSetDetection(**DRAWN, **reading.options).compute(**reading.columns)
    keys = ("U-Recall", "U-Recall_low", "U-Recall_high", "WI")
    results = json.loads(output)
    assert {key: results[key] for key in keys} == {key: wanted[key] for key in keys}
