"""sPRO of anomaly_suite: a slow reference with fractions, hand-worked numbers, laws, states, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from openworld_metrics import AnomalySuite, load
from openworld_metrics.metric import metric as metric_module
from tests.examples import many, seeds
from tests.references import area_up_to

LIMITS = (1.0, 0.3, 0.05)
Columns = dict[str, Any]
some = settings(many, max_examples=15)


def drawn(seed: int, void: int | None = None) -> tuple[Columns, np.random.Generator]:
    """Maps with ties, and masks that overlap, lie in several parts, or are empty; two normal images."""
    rng = np.random.default_rng(seed)
    levels = int(rng.choice([4, 30, 10**6]))
    maps = (rng.integers(0, levels, (6, 5, 6)) / levels).astype(rng.choice(["float16", "float32", "float64"]))
    references = []
    for i in range(6):
        masks = rng.choice([0, 0, 1], (int(rng.integers(1, 4)) if i < 4 else 0, 5, 6))
        masks[:, 0, 0] = 0
        masks[1:2] *= int(rng.integers(0, 2))
        if i < 4:
            masks[0, 4, 5] = 1
        if void is not None:
            masks[rng.random(masks.shape) < 0.1] = void
            masks[:, 0, 0], masks[:1, 4, 5] = 0, 1
        references.append({"masks": masks, "saturation_areas": rng.integers(1, 12, len(masks))})
    return {"predictions": maps, "references": references}, rng


def slow(maps: Any, references: Any, limits: Any, void: int | None = None) -> list[Fraction]:
    """AU-sPRO by its definition, at all thresholds, in fractions."""
    normal: list[float] = []
    defects: list[tuple[list[float], int]] = []
    for scores, row in zip(maps, references):
        masks, outside = np.asarray(row["masks"]), np.zeros(np.shape(scores), bool)
        if void is not None:
            outside = (masks == void).any(axis=0)
        normal += scores[~(masks == 1).any(axis=0) & ~outside].tolist()
        for mask, area in zip(masks, np.asarray(row["saturation_areas"]).tolist()):
            inside = scores[(mask == 1) & ~outside].tolist()
            if inside:
                defects.append((inside, min(area, len(inside))))
    curve = [(Fraction(0), Fraction(0))]
    for t in sorted({*normal, *(s for inside, _ in defects for s in inside)}, reverse=True):
        found = sum(
            (min(Fraction(sum(s >= t for s in inside), area), Fraction(1)) for inside, area in defects), Fraction()
        )
        curve.append((Fraction(sum(s >= t for s in normal), len(normal)), found / len(defects)))
    return [area_up_to(curve, Fraction(limit)) / Fraction(limit) for limit in limits]


def union(columns: Columns) -> Columns:
    masks = [(np.asarray(row["masks"]) == 1).any(axis=0) for row in columns["references"]]
    return {**columns, "references": np.asarray(masks)}


def close(value: float, exact: Fraction) -> bool:
    """Whether a value is within 2 ulp of the rational one."""
    return abs(Fraction(value) - exact) <= 2 * Fraction(np.spacing(float(exact)))


@pytest.mark.parametrize("void", [None, 255])
@some
@given(seed=seeds)
def test_against_the_definition(void: int | None, seed: int) -> None:
    columns, _ = drawn(seed, void)
    metric = AnomalySuite(integration_limits=LIMITS, ignore_value=void)
    found = metric.compute(**columns)
    wide = columns["predictions"].astype(np.float64)
    for limit, exact in zip(LIMITS, slow(wide, columns["references"], LIMITS, void)):
        assert close(found[f"auspro@{limit}"], exact)
    if void is None:  # all else is of the union
        others = AnomalySuite(integration_limits=LIMITS).compute(**union(columns))
        assert {key: value for key, value in found.items() if not key.startswith("auspro")} == others


@some
@given(seed=seeds)
def test_saturation_at_the_area_of_one_region_is_pro(seed: int) -> None:
    rng = np.random.default_rng(seed)
    maps, masks = rng.integers(0, 9, (4, 6, 6)) / 8, np.zeros((4, 6, 6), int)
    masks[1:, 1:4, 2:5] = 1
    areas = rng.integers(9, 30, 4)  # the area, or more, which is as much
    references = [
        {"masks": mask[None] if mask.any() else [], "saturation_areas": [area] if mask.any() else []}
        for mask, area in zip(masks, areas.tolist())
    ]
    found = AnomalySuite().compute(predictions=maps, references=references)
    assert all(found[f"auspro@{limit}"] == found[f"aupro@{limit}"] for limit in (0.3, 0.1, 0.05, 0.01))
    sampled = AnomalySuite(num_thresholds=9).compute(predictions=maps, references=references)
    assert sampled["auspro@0.3"] == sampled["aupro@0.3"]


@some
@given(seed=seeds)
def test_more_pixels_than_enough_never_harm_and_one_is_enough_for_an_area_of_one(seed: int) -> None:
    columns, _ = drawn(seed)
    values = []
    for area in (1, 3, 40):
        references = [{**row, "saturation_areas": [area] * len(row["masks"])} for row in columns["references"]]
        values.append(AnomalySuite(levels="pixel").compute(**{**columns, "references": references})["auspro@0.3"])
    assert values == sorted(values, reverse=True)


@some
@given(seed=seeds)
def test_the_error_of_scores_that_were_cut_holds(seed: int) -> None:
    columns, rng = drawn(seed)
    columns["predictions"] = columns["predictions"].astype(np.float64)
    bits = int(rng.integers(4, 9))
    exact = AnomalySuite(levels="pixel", integration_limits=LIMITS).compute(**columns)
    found = AnomalySuite(levels="pixel", integration_limits=LIMITS, significant_bits=bits).compute(**columns)
    for limit in LIMITS:
        key = f"auspro@{limit}"
        assert abs(found[key] - exact[key]) <= found[f"{key}_error"]
    sampled = AnomalySuite(levels="pixel", significant_bits=bits, num_thresholds=9).compute(**columns)
    assert not any(key.startswith(("auspro", "aupro")) for key in sampled)


def test_types_of_maps_and_masks_and_of_the_script(monkeypatch: pytest.MonkeyPatch) -> None:
    columns, _ = drawn(1)
    expected = AnomalySuite().compute(**columns)
    plain = [
        {"masks": row["masks"].tolist(), "saturation_areas": row["saturation_areas"].tolist()}
        for row in columns["references"]
    ]
    assert load("anomaly_suite").compute(predictions=columns["predictions"], references=plain) == expected
    rows = np.empty(6, object)
    rows[:] = plain
    assert AnomalySuite().compute(predictions=columns["predictions"], references=rows) == expected
    assert AnomalySuite().compute(predictions=columns["predictions"], references=iter(plain)) == expected
    monkeypatch.setattr(metric_module, "ROWS", 8)
    metric = AnomalySuite()
    for i in range(6):
        metric.add_batch(
            predictions=columns["predictions"][i : i + 1].astype(np.float16).astype(np.float64),
            references=plain[i : i + 1],
        )
    half = {**columns, "predictions": columns["predictions"].astype(np.float16)}
    assert metric.compute() == AnomalySuite().compute(**half)
    torch = pytest.importorskip("torch")
    tensors = [{name: torch.asarray(np.asarray(column)) for name, column in row.items()} for row in plain]
    given_maps = torch.asarray(columns["predictions"])
    assert AnomalySuite().compute(predictions=given_maps, references=tensors) == expected


GOOD: Columns = {"masks": [], "saturation_areas": []}
MASK = [[[1, 0]]]


@pytest.mark.parametrize(
    ("reference", "error", "message"),
    [
        ({"masks": MASK}, TypeError, r"references\[1\]: expected a dict of masks and saturation_areas, .*, got masks"),
        ([[1, 0]], TypeError, r"references\[1\]: expected a dict of .*, as the others are, got list"),
        ({"masks": [[1, 0]], "saturation_areas": [1]}, ValueError, r"\['masks'\]: expected \(D, H, W\), got shape"),
        ({"masks": MASK, "saturation_areas": [0]}, ValueError, "numbers of pixels, at least 1, of 1 masks, got 0"),
        ({"masks": MASK, "saturation_areas": [-3]}, ValueError, "at least 1, of 1 masks, got -3"),
        ({"masks": MASK, "saturation_areas": [1, 2]}, ValueError, "at least 1, of 1 masks, got 1, 2"),
        ({"masks": MASK, "saturation_areas": []}, ValueError, "at least 1, of 1 masks, got none"),
        ({"masks": MASK, "saturation_areas": [1.5]}, ValueError, "expected integers, got 1.5"),
        ({"masks": MASK, "saturation_areas": ["a"]}, TypeError, r"\['saturation_areas'\]: expected numbers"),
        (
            {"masks": [[[1, 200]]], "saturation_areas": [1]},
            ValueError,
            r"\['masks'\]: expected a mask of 0 and 1 .* 200",
        ),
        (
            {"masks": [[[1, 0, 0]]], "saturation_areas": [1]},
            ValueError,
            r"references\[1\]: .* got \(1, 2\) and \(1, 3\)",
        ),
    ],
)
def test_references_that_are_refused(reference: Any, error: type[Exception], message: str) -> None:
    metric = AnomalySuite()
    with pytest.raises(error, match=message):
        metric.compute(predictions=[[[0.1, 0.2]], [[0.3, 0.4]]], references=[GOOD, reference])


def test_numbers_and_batches_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="expected columns of one length, got 1 predictions, 2 references"):
        AnomalySuite().compute(predictions=[[[0.1, 0.2]]], references=[GOOD, GOOD])
    metric = AnomalySuite()
    metric.add_batch(predictions=[[[0.1, 0.2]]], references=[{"masks": MASK, "saturation_areas": [9]}])
    with pytest.raises(ValueError, match=r"expected a state of .*num_defects"):
        metric.add_batch(predictions=[[[0.1, 0.2]]], references=[[[0, 1]]])
    state = metric.state()
    assert state["saturation_areas"].tolist() == [1]
    for changed, message in (
        ({"saturation_areas": [2]}, "saturation_areas of 1 pixels of defects together, got 2"),
        ({"saturation_areas": [0]}, "expected integers in"),
        ({"num_defects": [2]}, "num_defects of 1 defects together, got 2"),
        ({"num_defects": [0], "saturation_areas": [], "defect_pixels": []}, "got 0 and 1 of image 0"),
        ({"num_defects": [1, 0]}, "expected arrays of one length"),
    ):
        with pytest.raises(ValueError, match=message):
            AnomalySuite().merge({**state, **{name: np.asarray(column) for name, column in changed.items()}})
    without = {name: column for name, column in state.items() if name != "num_defects"}
    with pytest.raises(ValueError, match=r"state: expected the arrays .*num_defects"):
        AnomalySuite().merge(without)


def test_void_pixels_of_any_mask_belong_to_no_defect() -> None:
    masks = [[[1, 1, 255, 0]], [[255, 1, 1, 0]]]
    row = {"masks": masks, "saturation_areas": [2, 1]}
    state = AnomalySuite(ignore_value=255).reduce([[[0.9, 0.8, 0.7, 0.1]]], [row])
    assert (state["normal"].tolist(), state["anomalous"].tolist()) == ([0.1], [0.8])
    assert (state["defect_pixels"].tolist(), state["saturation_areas"].tolist()) == ([0.8, 0.8], [1, 1])
