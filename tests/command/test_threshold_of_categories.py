"""From validation folders to test folders: thresholds by category, put into openworld-metrics anomaly."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from openworld_metrics.reading.maps.planes import read_map
from tests.conftest import Run
from tests.reading.maps.trees import CATEGORIES, SHAPE, Drawn, write_map, write_tree

TEST = ["anomaly", "--maps", "maps", "--data", "data"]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Drawn]:
    """A data set with a model's maps, and maps of normal images for validation."""
    made = write_tree("mvtec-ad", tmp_path)
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for category in CATEGORIES:
        for i in range(20):
            path = Path("validation", category, "validation", "good", f"{i:03}.tiff")
            path.parent.mkdir(parents=True, exist_ok=True)
            write_map(path, (0.9 * rng.random(SHAPE)).astype(np.float32))
    return made


def plain_f1(made: list[Drawn], category: str, threshold: float) -> dict[str, float]:
    """F1, precision and recall of a category's pixels, one by one."""
    tp = fp = positives = 0
    for drawn in made:
        if drawn.category == category:
            for score, anomalous in zip(drawn.score_map.reshape(-1).tolist(), drawn.mask.reshape(-1).tolist()):
                tp += score > threshold and anomalous
                fp += score > threshold and not anomalous
                positives += anomalous
    return {
        "pixel_f1": 2 * tp / (tp + fp + positives),
        "pixel_precision": tp / (tp + fp),
        "pixel_recall": tp / positives,
    }


@pytest.mark.parametrize("rule", ["max", "fpr:0.05", "image-fpr:0.2", "mean+2std"])
def test_from_validation_to_test(made: list[Drawn], run: Run, rule: str) -> None:
    assert run("threshold", "--maps", "validation", "--rule", rule, "--save", "t.json")[0] == 0
    thresholds = json.loads(Path("t.json").read_text())["threshold"]
    assert [*thresholds] == [*CATEGORIES]
    status, output, errors = run(*TEST, "--pixel-threshold", "t.json")
    assert (status, errors) == (0, "")
    results = json.loads(output)
    assert results["evaluation"]["options"]["pixel_threshold"] == thresholds
    groups = results["groups"]
    for category in CATEGORIES:
        at = groups["group"].index(category)
        expected = plain_f1(made, category, thresholds[category])
        assert {key: groups[key][at] for key in expected} == expected


def test_the_rule_of_images_holds_for_images(made: list[Drawn], run: Run) -> None:
    rule = ["--rule", "image-fpr:0.2@0.9"]
    assert run("threshold", "--maps", "validation", *rule, "--save", "t.json")[0] == 0
    thresholds = json.loads(Path("t.json").read_text())["threshold"]
    for category, threshold in thresholds.items():
        tops = sorted(float(read_map(path).max()) for path in Path("validation", category).rglob("*.tiff"))
        assert tops[-2] < threshold < tops[-1]  # P(Bin(20, 1/5) ≤ 1) ≤ 10 % < P(… ≤ 2)
    command = [*TEST, "--image-threshold", "t.json", "--per-image", "images.csv"]
    groups = json.loads(run(*command)[1])["groups"]
    for category, threshold in thresholds.items():
        images = [
            (drawn.score_map.max() > threshold, drawn.defect != "") for drawn in made if drawn.category == category
        ]
        hits = sum(called and anomalous for called, anomalous in images)
        recall = hits / sum(anomalous for _, anomalous in images)
        assert groups["image_recall"][groups["group"].index(category)] == recall
    with Path("images.csv").open() as file:
        assert len([*csv.DictReader(file)]) == len(made)
    assert run(*TEST, "--image-threshold", "t.json", "--image-reduction", "mean")[2] == (
        "openworld-metrics: t.json: expected an image_reduction of max, since its thresholds are for the highest "
        "pixels, got 'mean'\n"
    )


def test_two_models_with_intervals(made: list[Drawn], run: Run) -> None:
    shutil.copytree("maps", "other")
    run("threshold", "--maps", "validation", "--rule", "max", "--save", "t.json")
    more = ["--compare", "other", "--confidence-level", "0.9", "--n-resamples", "20", "--levels", "pixel"]
    status, output, errors = run(*TEST, "--pixel-threshold", "t.json", *more)
    assert (status, errors) == (0, "")
    comparison = json.loads(output)["comparison"]
    assert comparison["difference"][comparison["key"].index("pixel_f1")] == 0.0


@pytest.mark.parametrize("levels", [[], ["--confidence-level", "0.9", "--n-resamples", "10"]])
def test_thresholds_of_other_categories(made: list[Drawn], run: Run, levels: list[str]) -> None:
    shutil.rmtree(Path("validation", CATEGORIES[1]))
    run("threshold", "--maps", "validation", "--rule", "fpr:0.1", "--save", "t.json")
    command = [*TEST, *levels, "--save", "r.json"]
    assert run(*command, "--pixel-threshold", "t.json") == (
        2,
        "",
        f"openworld-metrics: pixel_threshold: expected a value for category {CATEGORIES[1]!r}, got values for nut\n",
    )
    assert run(*command, "--image-threshold", "t.json")[2] == (
        "openworld-metrics: t.json: expected a threshold of images or samples, got one of pixels\n"
    )
    assert not Path("r.json").exists()
