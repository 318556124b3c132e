"""Two models' maps in folders: the intervals and p-values of what they differ by, by group and of the mean."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from openworld_metrics import AnomalySuite, compare
from openworld_metrics.anomaly import rates as pixel_bins
from openworld_metrics.loading import metric_class
from openworld_metrics.ranking import strata as rows
from openworld_metrics.reading.boxes.dataset import Dataset, Detections
from openworld_metrics.suites import compare_detections, evaluate_anomaly_folder
from tests.reading.maps.trees import Drawn, comparison, write_maps, write_tree

OPTIONS: dict[str, Any] = dict(confidence_level=0.9, n_resamples=25, integration_limits=[0.3], pimo_bounds=(0.1, 0.5))


def write_other(made: list[Drawn], maps: Path) -> list[Drawn]:
    """A worse model."""
    rng = np.random.default_rng(5)
    other = [one._replace(score_map=(one.score_map + rng.random(one.score_map.shape)).astype("f4")) for one in made]
    write_maps(other, maps)
    return other


@pytest.mark.parametrize("layout", ["mvtec-ad", "mvtec-loco"])
def test_intervals_by_group_and_of_the_mean(layout: str, tmp_path: Path) -> None:
    made = write_tree(layout, tmp_path)
    other = write_other(made, tmp_path / "other")
    folders = (tmp_path / "maps", tmp_path / "other", tmp_path / "data")
    first, second = (evaluate_anomaly_folder(each, folders[2], **OPTIONS) for each in folders[:2])
    table = comparison(*folders, **OPTIONS)
    assert table["difference"] == [first[key] - second[key] for key in table["key"]]
    assert {"image_auroc", "aupro@0.3", "aupimo"} <= set(table["key"])
    assert ("auspro@0.3" in table["key"]) == (layout == "mvtec-loco")
    at = table["groups"]["group"].index("nut")
    for i, key in enumerate(table["key"]):
        assert table["low"][i] <= table["difference"][i] <= table["high"][i]
        assert 0 < table["p_value"][i] <= 1
        groups = {end: table["groups"][f"{key}_{end}"] for end in ("low", "high", "p_value")}
        assert all(len(column) == len(table["groups"]["group"]) for column in groups.values())
        # a mean of groups that are drawn apart is surer than each of them
        widths = np.subtract(groups["high"], groups["low"])
        assert table["high"][i] - table["low"][i] <= max(widths)
    # of one category, as the arrays by `compare`, whose resamples are others
    own = [i for i, one in enumerate(made) if one.category == "nut"]
    by_defect = layout == "mvtec-loco"
    columns: dict[str, Any] = {
        "references": [made[i].defects if by_defect else made[i].mask for i in own],
        **({"groups": [made[i].defect or None for i in own]} if by_defect else {}),
    }
    models = ([drawn[i].score_map for i in own] for drawn in (made, other))
    of_arrays = compare("anomaly_suite", *models, **columns, **{**OPTIONS, "n_resamples": 40})
    for i, key in enumerate(of_arrays["key"][: len(table["key"])]):
        for end in ("low", "high"):
            found = table["groups"][f"{key}_{end}"][at]
            assert found == pytest.approx(of_arrays[end][i], abs=0.2)
    same = comparison(folders[0], folders[0], folders[2], **{**OPTIONS, "n_resamples": 39})
    assert set(same["p_value"]) == {1.0}
    assert set(same["low"]) == set(same["high"]) == {0.0}


def test_a_folder_and_groups_give_the_same_intervals(tmp_path: Path) -> None:
    """A folder's categories and `AnomalySuite(groups=…)`, with intervals, to the last bit."""
    made = write_tree("mvtec-ad", tmp_path)
    folder = evaluate_anomaly_folder(tmp_path / "maps", tmp_path / "data", **OPTIONS)
    columns: dict[str, Any] = {
        "predictions": [one.score_map for one in made],
        "references": [one.mask for one in made],
        "image_labels": [bool(one.defect) for one in made],
    }
    arrays = AnomalySuite(**OPTIONS).compute(**columns, groups=[one.category for one in made])
    table = arrays.pop("groups")
    assert any(key.endswith("_low") for key in arrays)
    assert {key: folder[key] for key in arrays} == arrays
    assert {key: folder["groups"][key] for key in table} == table


def test_an_interval_does_not_depend_on_the_other_categories(tmp_path: Path) -> None:
    made = write_tree("mvtec-ad", tmp_path)
    write_other(made, tmp_path / "other")
    options: dict[str, Any] = {**OPTIONS, "num_thresholds": 9, "n_resamples": 9}
    tables = []
    for category in (None, "screw"):
        if category is not None:
            for name in ("maps", "other", "data"):
                shutil.rmtree(tmp_path / name / "nut")
        tables.append(comparison(*(tmp_path / name for name in ("maps", "other", "data")), **options))
    both, one = tables
    for key, column in one["groups"].items():
        assert both["groups"][key][-1:] == column
    assert one["low"][one["key"].index("aupro@0.3")] is None  # of sampled thresholds
    assert "aupro@0.3_low" not in one["groups"]


def test_resamples_in_which_models_are_alike_are_ties() -> None:
    """Regions of three pixels, whose shares are rounded: the difference of equal rates stays 0."""
    rng = np.random.default_rng(0)
    masks = np.zeros((10, 4, 8), int)
    masks[5:, 1, 1:4] = 1
    first = rng.integers(0, 9, (10, 4, 8)) / 4.0
    second = first.copy()
    second[5, 1, 1:4] -= 1.0  # an image that a third of the resamples lack
    metric = metric_class("anomaly_suite")(levels="pixel", integration_limits=[1.0])
    table = compare(metric, first, second, references=masks, n_resamples=400)
    verdicts = {
        key: (low, p, better) for key, low, p, better in zip(*(table[n] for n in ("key", "low", "p_value", "better")))
    }
    assert verdicts["aupro@1.0"][0] == 0.0
    assert 0.5 < verdicts["aupro@1.0"][1] < 0.8
    assert {better for *_, better in verdicts.values()} == {None}


@pytest.mark.parametrize("name", ["ood_bench", "anomaly_suite"])
def test_merged_rows_of_two_models_are_merged_alike(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "MAX_ROWS", 16)
    monkeypatch.setattr(pixel_bins, "MAX_BINS", 16)
    rng = np.random.default_rng(1)
    if name == "ood_bench":
        references = rng.random(300) < 0.4
        first = rng.normal(size=300) + references
        metric = metric_class(name)(metrics=["auroc", "fpr95tpr"])
    else:
        references = np.zeros((12, 8, 8), bool)
        references[6:, 2:4, 2:5] = True
        first = rng.normal(size=references.shape) + references
        metric = metric_class(name)(levels="pixel", integration_limits=[0.3])
    second = first.copy()
    second[-1] -= 0.5
    one, other = (
        compare(metric, *both, references=references, n_resamples=200) for both in ((first, second), (second, first))
    )
    for table in (one, other):
        assert {*table["better"]} == {None}
        assert min(table["p_value"]) > 0.5
    assert one["low"] == [-high + 0.0 for high in other["high"]]


def test_a_second_detector_of_other_objects_is_refused() -> None:
    true = {"boxes": np.asarray([[0.0, 0, 9, 9]]), "labels": np.asarray([0]), "ignored": np.zeros(1, np.int64)}
    found = {"boxes": true["boxes"], "labels": true["labels"], "scores": np.asarray([0.5])}
    names = {0: "cat", 1: "dog"}
    first, other = (
        Detections(Dataset(["a"], [{**true, "labels": np.asarray([label])}], names, [None], [(9, 9)], [0]), [found])
        for label in (0, 1)
    )
    with pytest.raises(ValueError, match="references: expected the same of first and of second, got others"):
        compare_detections(first, other, [0], unknown_class_id=9)
    renamed = first._replace(dataset=first.dataset._replace(classes={0: "dog", 1: "cat"}))
    with pytest.raises(ValueError, match="expected classes of the same ids and names"):
        compare_detections(first, renamed, [0], unknown_class_id=9)
