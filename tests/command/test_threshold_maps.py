"""Thresholds of maps of normal images: each rule against a plain loop, where the maps lie, and what is refused."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from openworld_metrics.command.rules import fit_map_thresholds, normal_maps, parse_rule
from openworld_metrics.reading.maps.planes import read_map
from tests.reading.maps.trees import write_map

COUNT = 70


@pytest.fixture
def maps(tmp_path: Path) -> Path:
    """Maps of two categories, in .tiff of float32 and .npy of float64."""
    rng = np.random.default_rng(0)
    for name, ending in (("can", "tiff"), ("vial", "npy")):
        folder = tmp_path / "maps" / name / "validation" / "good"
        folder.mkdir(parents=True)
        for i in range(COUNT):
            scores = np.round(rng.random((3, 4)), 2)
            if ending == "npy":
                np.save(folder / f"{i:03}.npy", scores)
            else:
                write_map(folder / f"{i:03}.tiff", scores.astype(np.float32))
    return tmp_path / "maps"


def pixels(folder: Path) -> list[list[float]]:
    return [[float(score) for score in read_map(path).reshape(-1)] for path in sorted(folder.rglob("*.*"))]


def lowest_within(scores: list[float], share: float) -> float:
    """The lowest score that at most a share of the scores exceeds."""
    return next(t for t in sorted(scores) if sum(score > t for score in scores) / len(scores) <= share)


def mean_and_deviations(images: list[list[float]], number: float) -> float:
    scores = [Fraction(score) for image in images for score in image]
    return float(statistics.fmean(scores) + number * math.sqrt(statistics.pvariance(scores)))


RULES: dict[str, Callable[[list[list[float]]], float]] = {
    "max": lambda images: max(map(max, images)),
    "fpr:0.001": lambda images: lowest_within([s for image in images for s in image], 0.001),
    "fpr:0.2": lambda images: lowest_within([s for image in images for s in image], 0.2),
    "image-fpr:0.1": lambda images: lowest_within([max(image) for image in images], 0.1),
    "image-fpr:0.05@0.95": lambda images: max(map(max, images)),  # of 70 images, none may exceed it
}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_against_a_plain_loop(maps: Path, rule: str) -> None:
    fitted = fit_map_thresholds(maps, rule)
    expected = {name: RULES[rule](pixels(maps / name)) for name in ("can", "vial")}
    assert isinstance(fitted.threshold, dict)
    for name, score in expected.items():  # strictly between this score and the next, or just above the highest
        higher = min((s for image in pixels(maps / name) for s in image if s > score), default=score * (1 + 2**-7))
        assert score < fitted.threshold[name] < higher
    assert fitted.fitted_on == {"maps": str(maps), "images": {"can": COUNT, "vial": COUNT}}


@pytest.mark.parametrize("number", [0, 1, 2.5, 3])
def test_mean_and_deviations(maps: Path, number: float) -> None:
    """A computed number stays, above all scores too."""
    fitted = fit_map_thresholds(maps, f"mean+{number}std")
    assert fitted.threshold == pytest.approx(
        {name: mean_and_deviations(pixels(maps / name), number) for name in ("can", "vial")}, rel=1e-15
    )


def test_literals() -> None:
    assert parse_rule("mean+3std").fit([np.asarray([0.0, 0.0, 1.0, 1.0])]) == 2.0
    thousand = np.random.default_rng(0).permutation(1000).astype(np.float32).reshape(10, 10, 10)
    assert parse_rule("fpr:0.002").fit([*thousand]) == 997.0


def test_sums_do_not_depend_on_order() -> None:
    rng = np.random.default_rng(0)
    maps = [(rng.normal(size=(30, 30)) * 10.0 ** rng.integers(-9, 9)).astype(np.float32) for _ in range(20)]
    fit = parse_rule("mean+3std").fit
    assert len({fit([maps[i] for i in rng.permutation(20)]) for _ in range(10)}) == 1
    assert fit([np.concatenate(maps)]) == fit(maps)


def test_where_maps_lie(tmp_path: Path) -> None:
    for name in (
        "can/validation/good/a.npy", "can/test/good/b.npy", "rice/test/good/b.npy", "rice/test/bad/c.npy", "vial/d.npy"
    ):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        np.save(tmp_path / name, np.zeros((2, 2)))
    found = {name: [path.name for path in paths] for name, paths in normal_maps(tmp_path).items()}
    assert found == {"can": ["a.npy"], "rice": ["b.npy"], "vial": ["d.npy"]}
    assert [*normal_maps(tmp_path / "vial")] == ["vial"]
    for within in ("can/validation/good", "can/test/good", "can/validation", "rice/test"):
        (category,), (paths,) = zip(*normal_maps(tmp_path / within).items())
        assert (category, [path.name for path in paths]) == (
            within.partition("/")[0],
            ["a.npy" if "va" in within else "b.npy"],
        )
    (tmp_path / "can/validation/good").rename(tmp_path / "can/train")
    assert [*normal_maps(tmp_path / "can/train")] == ["train"]
    (tmp_path / "can/train").rename(tmp_path / "can/good")
    assert [*normal_maps(tmp_path / "can/good")] == ["good"]
    (tmp_path / "can/train").mkdir()
    (tmp_path / "can/good").rename(tmp_path / "can/train/good")
    assert [*normal_maps(tmp_path / "can/train/good")] == ["can"]
    (tmp_path / "other" / "train").mkdir(parents=True)
    with pytest.raises(ValueError, match="other: expected maps of normal images in other/validation/good, other/test"):
        normal_maps(tmp_path)


def test_what_is_refused(maps: Path) -> None:
    one = maps / "can" / "validation" / "good" / "007.tiff"
    write_map(one, np.zeros((3, 3), dtype=np.float32))
    with pytest.raises(ValueError, match=r"007\.tiff: expected 3 × 4 pixels as 000\.tiff, got 3 × 3"):
        fit_map_thresholds(maps, "max")
    write_map(one, np.full((3, 4), np.inf, dtype=np.float32))
    with pytest.raises(ValueError, match="can: expected finite scores, which have a mean, got inf"):
        fit_map_thresholds(maps, "mean+3std")
    assert fit_map_thresholds(maps, "max").threshold["can"] == math.inf
    write_map(one, np.full((3, 4), np.nan, dtype=np.float32))
    with pytest.raises(ValueError, match=r"007\.tiff: expected numbers, got NaN"):
        fit_map_thresholds(maps, "max")


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("fpr:1", "fpr: expected a number between 0 and 1, both excluded, got 1.0"),
        ("image-fpr:0.05@1", "confidence_level: expected a number between 0 and 1, both excluded, got 1.0"),
        ("fpr:.1@.9", "rule: expected fpr:.1, or image-fpr:.1@.9, got 'fpr:.1@.9'"),
        ("mean", "rule: expected max, or with any numbers fpr:0.001"),
        ("image-fpr:-1", "rule: expected max, or with any numbers fpr:0.001"),
    ],
)
def test_rules_that_are_none(rule: str, message: str) -> None:
    with pytest.raises(ValueError, match="expected") as raised:
        parse_rule(rule)
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize("name", ["can/validation/good/007.exr", "loose/7.npy.bak", "loose/below/7.npy"])
def test_a_file_that_may_be_a_map_is_not_passed_over(name: str, maps: Path) -> None:
    """A note is, and a hidden file."""
    write_map(maps / "loose" / "0.tiff", np.zeros((3, 4), np.float32))
    for place in ("loose/readme.txt", "can/validation/good/.DS_Store"):
        (maps / place).write_text("")
    assert [*map(len, normal_maps(maps).values())] == [COUNT, 1, COUNT]
    (maps / name).parent.mkdir(exist_ok=True)
    (maps / name).write_text("")
    with pytest.raises(ValueError, match=rf"{name}: expected .* to hold maps in it, as .tiff, .*, got another file"):
        normal_maps(maps)
