"""Components of thresholded maps: hand-worked numbers, and a slow reference by the definition, in fractions."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from openworld_metrics.anomaly.components import Components, component_rates, components_of
from tests.examples import many, seeds
from tests.references import flood

TAUS = [Fraction(k, 20) for k in range(5, 16)]
Pixel = tuple[int, int]

matched = partial(components_of, min_predicted=0, min_object=0)


def pixels_of(flags: np.ndarray) -> set[Pixel]:
    return {(int(i), int(j)) for i, j in np.argwhere(flags)}


def slow_ratios(
    predicted: np.ndarray, objects: list[set[Pixel]], void: set[Pixel], min_predicted: int, min_object: int
) -> tuple[list[Fraction], list[Fraction]]:
    """sIoU of each object and PPV of each predicted component, by their definitions."""
    found = [part for part in flood(pixels_of(predicted) - void) if len(part) >= min_predicted]
    objects = [each - void for each in objects]
    gone = {pixel for each in objects if len(each) < min_object for pixel in each}
    objects = [each for each in objects if each and len(each) >= min_object]
    found = [part - gone for part in found if part - gone]
    sious = []
    for k, one in enumerate(objects):
        touching = {pixel for part in found if part & one for pixel in part}
        others = {pixel for j, other in enumerate(objects) if j != k for pixel in other}
        sious.append(Fraction(len(one & touching), len((one | touching) - (touching & others))))
    inside = {pixel for each in objects for pixel in each}
    return sious, [Fraction(len(part & inside), len(part)) for part in found]


def slow_f1(sious: list[Fraction], ppvs: list[Fraction]) -> Fraction:
    total = Fraction()
    for tau in TAUS:
        tp, fp = sum(x >= tau for x in sious), sum(x < tau for x in ppvs)
        either = 2 * tp + (len(sious) - tp) + fp
        total += Fraction(2 * tp, either) if either else 0
    return total / len(TAUS)


def ratios(components: Components) -> tuple[list[Any], list[Any]]:
    found, expected, inside, sizes = (column.tolist() for column in components)
    return [Fraction(a, b) for a, b in zip(found, expected)], [Fraction(a, b) for a, b in zip(inside, sizes)]


def image(shape: tuple[int, int], *spans: tuple[int, int, int]) -> np.ndarray:
    """Pixels of rows, from one column to another."""
    flags = np.zeros(shape, bool)
    for row, first, last in spans:
        flags[row, first : last + 1] = True
    return flags


A = (image((3, 8), (0, 1, 4), (2, 6, 7)), [image((3, 8), (0, 0, 3))])
B = (image((3, 9), (0, 0, 7)), [image((3, 9), (0, 0, 2)), image((3, 9), (0, 5, 7))])
D = (image((3, 12), (0, 0, 2), (2, 4, 8)), [image((3, 12), (0, 0, 1)), image((3, 12), (2, 4, 9))])


@pytest.mark.parametrize(
    ("case", "min_object", "sious", "ppvs", "f1"),
    [
        pytest.param(A, 0, ["3/5"], ["0", "3/4"], "16/33", id="A"),
        pytest.param(B, 0, ["3/5", "3/5"], ["3/4"], "8/11", id="B"),
        pytest.param(D, 0, ["2/3", "5/6"], ["2/3", "1"], "10/11", id="D"),
        pytest.param(D, 3, ["5/6"], ["0", "1"], "2/3", id="D with a void object"),
    ],
)
def test_worked_examples(
    case: tuple[np.ndarray, list[np.ndarray]], min_object: int, sious: list[str], ppvs: list[str], f1: str
) -> None:
    predicted, masks = case
    objects = sum(k * mask for k, mask in enumerate(masks, 1))
    found = matched(predicted, objects, min_object=min_object)
    assert [sorted(each) for each in ratios(found)] == [[*map(Fraction, each)] for each in (sious, ppvs)]
    rates = component_rates(found)
    assert rates.segment_f1 == float(Fraction(f1))
    assert rates.siou == pytest.approx(float(sum(map(Fraction, sious)) / len(sious)), rel=1e-15)
    assert rates.ppv == pytest.approx(float(sum(map(Fraction, ppvs)) / len(ppvs)), rel=1e-15)


def test_without_objects_or_predictions() -> None:
    nothing = np.zeros((4, 4), int)
    assert component_rates(matched(nothing == 1, nothing)) == (None, None, 0.0)
    assert component_rates(matched(nothing == 1, nothing + 1)) == (0.0, None, 0.0)
    assert component_rates(matched(nothing == 0, nothing)) == (None, 0.0, 0.0)


@settings(many)
@given(seed=seeds)
def test_against_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(1, 9)), int(rng.integers(1, 9)))
    predicted = rng.random(shape) < rng.choice([0.2, 0.5, 0.8])
    mask = rng.random(shape) < rng.choice([0.1, 0.4])
    void = rng.random(shape) < rng.choice([0.0, 0.2])
    sizes = {"min_predicted": int(rng.integers(0, 5)), "min_object": int(rng.integers(0, 5))}
    regions = flood(pixels_of(mask & ~void))
    objects = np.zeros(shape, int)
    for number, region in zip(rng.permutation(1000)[: len(regions)] + 1, regions):
        for pixel in region:
            objects[pixel] = number
    sious, ppvs = slow_ratios(predicted, regions, pixels_of(void), *sizes.values())
    found = matched(predicted, objects, void, **sizes)
    assert [sorted(each) for each in ratios(found)] == [sorted(sious), sorted(ppvs)]
    rates = component_rates(found)
    assert rates.segment_f1 == float(slow_f1(sious, ppvs))
    for value, exact in ((rates.siou, sious), (rates.ppv, ppvs)):
        assert (value is None) == (not exact)
        assert not exact or value == pytest.approx(float(sum(exact) / len(exact)), rel=1e-15)


@settings(many)
@given(seed=seeds)
def test_counts_are_repetitions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    expected, sizes = rng.integers(1, 30, 7), rng.integers(1, 30, 5)
    components = Components(rng.integers(0, expected + 1), expected, rng.integers(0, sizes + 1), sizes)
    counts = rng.integers(0, 4, 7), rng.integers(0, 4, 5)
    repeated = Components(*(np.repeat(column, counts[i // 2]) for i, column in enumerate(components)))
    order = [rng.permutation(len(column)) for column in repeated[::2]]
    shuffled = Components(*(column[order[i // 2]] for i, column in enumerate(repeated)))
    assert component_rates(components, *counts) == component_rates(shuffled)
