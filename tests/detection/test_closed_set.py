"""What a closed-set detector cannot change is left out of its results, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from openworld_metrics import OpenSetDetection, suites
from openworld_metrics.answers.folders import compute_detections
from openworld_metrics.reading import Detections
from openworld_metrics.reading.boxes.reading import reading_of
from tests.detection import scenes

MOST: dict[str, Any] = {"per_class": True, "per_image": True, "errors": True, "recall_budgets": (1, 3)}
PROTOCOLS: dict[str, dict[str, Any]] = {
    "ow-dln": {"matching": "confidence", "conf_list": [0.25, 0.5]},
    "owod": {"protocol": "owod", "recall_level": None, "conf_list": [0.25, 0.5]},
    "called unknown": {"budget": "called unknown"},
}


FATES_OF_UNKNOWN = ("both", "missed", "called known")


def closed_set(rng: np.random.Generator, right: float) -> Detections:
    """One data set; a detector that names no box unknown, and places boxes well or badly."""
    made = scenes.scene(5, 12, ignored=0.1)
    found = []
    for boxes in made.dataset.references:
        kept = rng.random(len(boxes["labels"])) < 0.8
        shifts = rng.integers(-6, 7, (int(kept.sum()), 1)) * (rng.random((int(kept.sum()), 1)) < 0.6)
        labels = np.where(rng.random(len(kept)) < right, boxes["labels"] % 3, rng.integers(0, 3, len(kept)))
        corners = np.concatenate([boxes["boxes"][kept] + shifts, [[1.0, 1, 9, 9]]])
        found.append(
            {
                "boxes": corners,
                "scores": rng.permutation(64)[: len(corners)] / 64,
                "labels": np.append(labels[kept], rng.integers(0, 3)).astype(np.int64),
            }
        )
    return Detections(made.dataset, found)


def cells(results: dict[str, Any]) -> dict[tuple[str, ...], Any]:
    """The numbers of results, those in tables by table, column and row."""
    flat: dict[tuple[str, ...], Any] = {}
    for key, value in results.items():
        if not isinstance(value, dict):
            flat[(key,)] = value
            continue
        rows = {"per_class": "class", "per_image": "image", "errors": "error", "sweep": "confidence"}
        names = zip(value["objects"], value["fate"]) if key == "fates" else value[rows[key]]
        for place, name in enumerate(map(str, names)):
            flat |= {(key, column, name): column_of[place] for column, column_of in value.items()}
    return flat


@pytest.mark.parametrize("name", PROTOCOLS)
def test_what_no_closed_set_detector_changes_is_left_out(name: str) -> None:
    options = {"known_classes": scenes.KNOWN, "unknown_class_id": scenes.UNKNOWN_ID, **MOST, **PROTOCOLS[name]}
    rng = np.random.default_rng(0)
    detectors = [closed_set(rng, right) for right in np.linspace(0, 1, 30)]
    whole, kept = [], set[tuple[str, ...]]()
    for one in detectors:
        (summary,) = compute_detections(reading_of({"": one}), options, intervals=False).values()
        own = cells(summary.as_dict())
        all_ = OpenSetDetection(**options).compute(predictions=one.predictions, references=one.dataset.references)
        whole.append(cells(all_))
        assert own.items() <= whole[-1].items(), "what stays is as the metric has it"
        kept = {*own}
    gone = {*whole[0]} - kept
    assert ("U-Recall",) in gone
    assert gone >= {(f"{count}_unknown",) for count in ("TP", "FP", "FN")}
    assert ("A-OSE",) in kept
    for cell in gone:
        of_fates = cell[0] == "per_class" and cell[-1] == "999" and cell[1] in FATES_OF_UNKNOWN  # "fates" holds them
        if not of_fates and not any(part.startswith("ΔU-") for part in cell):  # a gain of what is left out
            assert len({row[cell] for row in whole}) == 1, cell
    same = {cell for cell in kept if len(cell) == 1 and len({str(row[cell]) for row in whole}) == 1}
    # facts of the data, and errors that these detectors do not make
    assert same <= {("total_known",), ("total_unknown",), ("ΔmAP(duplicate)",)}


def test_intervals_groups_and_comparisons_too() -> None:
    rng = np.random.default_rng(1)
    first, second = closed_set(rng, 0.5), closed_set(rng, 0.9)
    for options in PROTOCOLS.values():
        drawn: dict[str, Any] = {"n_resamples": 20, "confidence_level": 0.9, **options}
        results = suites.evaluate_detections(first, scenes.KNOWN, **drawn)
        assert not [key for key in results["openset_metrics"] if key.startswith("U-")]
        assert not [key for key in results["kinds"] if key.startswith("U-")]
        assert "A-OSE" in results["kinds"]
        table = suites.compare_detections(first, second, scenes.KNOWN, **drawn)
        assert {*table["key"]} <= {*results["openset_metrics"]}
        assert "U-Recall" not in table["key"]
        listed = suites.compare_detections(first, second._replace(unknown_class_id=7), scenes.KNOWN, **drawn)
        assert "U-Recall" in listed["key"]


def test_a_class_that_is_called_unknown_but_not_predicted_asks_nothing() -> None:
    """By itself; beside a detector that says unknown, numbers are as before."""
    made = closed_set(np.random.default_rng(2), 0.5)
    named = made._replace(dataset=made.dataset._replace(classes={**scenes.NAMES, 7: "OOD"}))
    plain, results = (suites.evaluate_detections(one, scenes.KNOWN, standard=False) for one in (made, named))
    assert "U-Recall" not in results["openset_metrics"]
    assert results["openset_metrics"] == plain["openset_metrics"]
    first, *others = named.predictions
    says = named._replace(predictions=[{**first, "labels": np.full_like(first["labels"], 7)}, *others])
    table = suites.compare_detections(named, says, scenes.KNOWN, n_resamples=20)
    assert table["first"][table["key"].index("U-Recall")] == 0.0


@pytest.mark.parametrize(
    ("change", "options"),
    [
        ({}, {"unknown_below": 0.5}),
        ({"unknown_class_id": 7}, {}),
        ({"dataset": {**scenes.NAMES, 7: "yak"}}, {"unknown_class_id": 7}),
        ({"labels": 7}, {"unknown_class_id": 7}),
    ],
)
def test_a_detector_that_could_say_unknown_keeps_its_numbers(change: dict[str, Any], options: dict[str, Any]) -> None:
    made = closed_set(np.random.default_rng(2), 0.5)
    plain = suites.evaluate_detections(made, scenes.KNOWN, standard=False)["openset_metrics"]
    assert "U-Recall" not in plain
    if "dataset" in change:
        change = {"dataset": made.dataset._replace(classes=change["dataset"])}
    if "labels" in change:
        first, *others = made.predictions
        more = {**first, "labels": np.full_like(first["labels"], change["labels"])}
        change = {"predictions": [more, *others]}
    results = suites.evaluate_detections(made._replace(**change), scenes.KNOWN, standard=False, **options)
    assert "U-Recall" in results["openset_metrics"]
