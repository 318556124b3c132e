"""Thresholds between scores: the same decisions on scores of every type that they name, and on their decimals."""

from __future__ import annotations

import math
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given

from openworld_metrics.ranking.thresholds import Placement, placement, placement_note, threshold_between
from tests.examples import many, seeds

TYPES: tuple[Any, ...] = (np.float16, np.float32, np.float64)


def draw_scores(rng: np.random.Generator, kind: Any) -> np.ndarray:
    """Distinct finite scores of a type, some of them neighbours in it, of any size."""
    size = 10.0 ** rng.uniform(-8, 6) * rng.choice([1, 1, 1, 1e-30, 1e30])
    with np.errstate(over="ignore"):
        drawn = (np.append(rng.normal(size=3), np.round(rng.normal(size=3), 1)) * size).astype(kind)
        drawn = np.concatenate([drawn, np.nextafter(drawn[:1], kind(np.inf)), np.round(rng.normal(size=3), 2)])
        drawn = drawn.astype(kind)
    return np.unique(drawn[np.isfinite(drawn)] + kind(0))


@many
@given(seed=seeds)
def test_scores_of_all_types_are_decided_alike(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for kind in TYPES:
        ends = [-math.inf, *map(float, draw_scores(rng, kind)), math.inf]
        for low, high in pairwise(ends):
            place = threshold_between(low, high)
            t = float(place.text)
            if not place.types:
                assert t == low
                assert math.isinf(low) or math.nextafter(low, math.inf) == high
                continue
            assert low < t < high
            assert place.types[-1] == "float64"
            for each in (one for one in TYPES if one.__name__ in place.types):
                with np.errstate(over="ignore"):
                    below, above, rounded = each(low), each(high), each(t)
                assert not below > rounded
                assert not float(below) > t
                assert not float(str(below)) > t
                if math.isfinite(high):
                    assert above > rounded
                    assert float(above) > t
                    assert float(str(above)) > t


@many
@given(seed=seeds)
def test_scores_of_a_type_leave_room_in_it(seed: int) -> None:
    """float16 and float32 always do, in float64, unless the decimal of a score lies half way to the next one."""
    for kind in TYPES[:2]:
        scores = draw_scores(np.random.default_rng(seed), kind)
        for low, high in pairwise(scores):
            half = (float(low) + float(high)) / 2
            if float(str(low)) < half:  # that of -29408 is -2.94e+04 in float16
                assert kind.__name__ in threshold_between(float(low), float(high)).types


def as_bfloat16(score: float) -> float:
    """A number rounded to bfloat16, of ties to the even one."""
    bits = int(np.float32(score).view(np.uint32))
    bits += 0x7FFF + (bits >> 16 & 1)
    return float(np.uint32(bits & 0xFFFF0000).view(np.float32))


@many
@given(seed=seeds)
@example(seed=1158)  # 1.4e-6 has room in float16, but none that bfloat16 decides alike
def test_scores_of_bfloat16_are_decided_alike_in_it(seed: int) -> None:
    """torch compares them with the threshold in bfloat16: 0.6 there is 0.6015625, the next score above 0.59765625."""
    rng = np.random.default_rng(seed)
    drawn = {as_bfloat16(score) + 0.0 for score in rng.normal(size=6) * 10.0 ** rng.uniform(-8, 6)}
    neighbours = {float(np.uint32(int(np.float32(s).view(np.uint32)) + 0x10000).view(np.float32)) for s in drawn}
    ends = [-math.inf, *sorted(drawn | neighbours), math.inf]
    for low, high in pairwise(ends):
        t = float(threshold_between(low, high).text)
        assert low < t < high
        assert not low > as_bfloat16(t)
        assert math.isinf(high) or high > as_bfloat16(t)


@many
@given(seed=seeds)
def test_no_decimal_with_fewer_places_lies_between(seed: int) -> None:
    rng = np.random.default_rng(seed)
    low, high = sorted(np.round(rng.normal(size=2), 3).tolist())
    high += 0.001 * (low == high)
    text = threshold_between(low, high).text
    fewer = -int(Decimal(text).as_tuple().exponent) - 1
    step = Decimal(1).scaleb(-fewer)
    # a margin of half a unit of float16 beside each score, of at most 2^-11 of it
    margin = max(abs(low), abs(high)) * 2.0**-10
    at = (Decimal(low) // step - 1) * step
    while fewer >= 0 and at < high:
        assert not low + margin < float(at) < high - margin
        at += step


def test_by_hand() -> None:
    every = ("float16", "float32", "float64")
    assert threshold_between(0.4, 0.6) == Placement("0.5", every)
    assert threshold_between(-0.3945, -0.3939).text == "-0.394"
    assert threshold_between(0.7, 0.8).text == "0.71", "0.7 is 0.7001953125 in float16"
    assert threshold_between(2047.0, 2048.0) == Placement("2047.1", every), "below the half, which float16 rounds up"
    assert threshold_between(2048.0, 2049.0) == Placement("2048.1", every[1:])
    assert threshold_between(60000.0, 70000.0) == Placement("60001", every), "70000 is inf in float16"
    assert threshold_between(70000.0, 80000.0) == Placement("70001", every[1:])
    assert threshold_between(0.59765625, 0.6015625).text == "0.598", "0.6 is 0.6015625 in bfloat16"
    assert threshold_between(-math.inf, 0.1) == Placement("0.091", every)
    assert threshold_between(0.31, math.inf) == Placement("0.311", every)
    assert threshold_between(0.0, 5e-324) == Placement("0.0", ())
    assert threshold_between(1e300, 2e300) == Placement("1.1e+300", every[2:])
    assert threshold_between(math.inf, math.inf) == Placement("inf", ())


@many
@given(seed=seeds)
def test_only_a_score_is_moved(seed: int) -> None:
    """A number that was chosen or computed stays, beyond all scores too: new scores may lie beside it."""
    rng = np.random.default_rng(seed)
    for kind in TYPES:
        ends = [-math.inf, *map(float, draw_scores(rng, kind)), math.inf]
        for low, high in pairwise(ends):
            if math.isfinite(low):
                assert placement(low, low, high) == threshold_between(low, high)
            chosen = float(rng.uniform(max(low, -1e300), min(high, 1e300)))
            if low < chosen < high:
                place = placement(chosen, low, high)
                assert float(place.text) == chosen
                for each in (one for one in TYPES if one.__name__ in place.types):
                    with np.errstate(over="ignore"):
                        assert not each(low) > each(chosen)
                        assert not float(str(each(low))) > chosen
                        assert math.isinf(high) or each(high) > each(chosen)
                        assert math.isinf(high) or float(str(each(high))) > chosen


def test_numbers_that_stay() -> None:
    every = ("float16", "float32", "float64")
    assert placement(1.235, 1.0, math.inf) == Placement("1.235", every)
    assert placement(-0.5, -math.inf, 0.1) == Placement("-0.5", every)
    assert placement(0.7001, 0.7, 0.8) == Placement("0.7001", every[1:]), "0.7 is 0.7001953125 in float16"
    assert placement(0.7, 0.7, 0.8) == Placement("0.71", every)


@pytest.mark.parametrize(
    ("low", "high", "note"),
    [
        (0.1, 0.2, ""),
        (0.1, 0.100001, "Scores rounded to float16 may be decided otherwise: the scores 0.1 and 0.100001"),
        (0.1, 0.1 + 1e-12, "Scores rounded to float16 or float32 may be decided otherwise"),
        (1e6, math.inf, "Scores rounded to float16 may be decided otherwise: the score 1000000.0 is too close to "),
        (0.1, np.nextafter(0.1, 1), "The threshold is itself a score, since no number lies between 0.1 and 0.1000"),
        (math.inf, math.inf, "The threshold is inf, since no number lies between"),
    ],
)
def test_notes(low: float, high: float, note: str) -> None:
    text = placement_note(threshold_between(low, high), low, float(high))
    assert text.startswith(note)
    assert bool(text) is bool(note)
