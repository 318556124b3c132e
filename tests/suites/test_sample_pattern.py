"""Samples of several images in folders, by a pattern of the images' names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from openworld_metrics import AnomalySuite
from openworld_metrics.suites import evaluate_anomaly_folder
from tests.suites.trees import CATEGORIES, write_tree


def test_numbers_are_those_of_arrays(tmp_path: Path) -> None:
    made = write_tree("mvtec-ad", tmp_path)
    pattern = r"/(\w+/\d\d)\d$"  # ten images a sample
    found = evaluate_anomaly_folder(tmp_path / "maps", tmp_path / "data", levels="image", sample_pattern=pattern)
    for at, category in enumerate(CATEGORIES):
        own = [one for one in made if one.category == category]
        samples = [one.defect or "good" for one in own]
        assert len(set(samples)) < len(samples)
        expected = AnomalySuite(levels="image").compute(
            predictions=[one.score_map for one in own],
            references=[one.mask for one in own],
            samples=samples,
            image_labels=np.asarray([bool(one.defect) for one in own]),
        )
        assert found["groups"]["sample_auroc"][at] == expected["sample_auroc"]
    assert found["evaluation"]["sample_pattern"] == pattern


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(", "sample_pattern: expected a regular expression, got '\\('"),
        (r"\d+", r"sample_pattern: expected a group, as in"),
        ("^(S[0-9]+)", r"maps.*: expected a name in which '\^\(S\[0-9\]\+\)' finds a sample, got '"),
    ],
)
def test_what_is_refused(pattern: str, message: str, tmp_path: Path) -> None:
    write_tree("mvtec-ad", tmp_path)
    with pytest.raises(ValueError, match=message):
        evaluate_anomaly_folder(tmp_path / "maps", tmp_path / "data", sample_pattern=pattern)
