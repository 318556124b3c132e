"""The units in the last place that cards promise, where they are hardest: searches over small and large counts."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from openworld_metrics import (
    AccuracyK,
    OpenSetDetection,
    aupr,
    aupro,
    auroc,
    average_precision,
    delong,
    detection_accuracy,
    f1_max,
    risk_coverage,
    voc_average_precision,
)
from openworld_metrics.arrays.exact import rounded_sum
from openworld_metrics.classification.topk import Ranks, mean_hits, rates_by_class, topk_rates
from openworld_metrics.detection.curves import AVERAGE_PRECISIONS
from openworld_metrics.ranking.counts import Side, as_side
from tests.hardest import ulps, worst_of

MOSTS = [3, 12, 60, 1000, 2**36]


def test_a_sum_of_ratios_is_rounded_once() -> None:
    rng = np.random.default_rng(0)
    for most in (3, 10, 1000, 2**60):
        for _ in range(2000):
            pairs = [(int(a), int(b)) for a, b in rng.integers([0, 1], most, (rng.integers(1, 9), 2), endpoint=True)]
            divisor = int(rng.integers(1, most, endpoint=True))
            assert rounded_sum(pairs, divisor) == float(sum((Fraction(*pair) for pair in pairs), Fraction()) / divisor)
    # halfway between two doubles, of which the even one is the nearest
    assert rounded_sum([(2**53 + 1, 3), (2**54 + 2, 3)], 1) == 2.0**53
    assert rounded_sum([(2**53 + 3, 3), (2**54 + 6, 3)], 1) == 2.0**53 + 4
    assert rounded_sum([], 3) == 0.0


def ranks_of(counts: np.ndarray) -> Ranks:
    """Rows of (class, ties, above) with a count each: half of them among the top 3 for certain, the others in part."""
    rows = [(label, tied, above, int(n)) for (label, tied, above), n in np.ndenumerate(counts) if n]
    classes, tied, above, numbers = (np.asarray(column) for column in zip(*rows))
    return Ranks(above, tied, above == 0, numbers, classes)


def expected_rates(counts: np.ndarray, k: int) -> list[Fraction]:
    """By class, the chance of being among the top k."""
    rates = []
    for of_class in counts:
        hits = sum(
            (
                int(n) * Fraction(min(max(k - above, 0), tied + 1), tied + 1)
                for (tied, above), n in np.ndenumerate(of_class)
            ),
            Fraction(),
        )
        rates.append(hits / int(of_class.sum()))
    return rates


@pytest.mark.parametrize("most", MOSTS)
def test_expected_ties_are_rounded_once(most: int) -> None:
    rng = np.random.default_rng(most)
    for k, classes, ties in product((1, 3, 5), (1, 2, 3), (3, 13)):
        for _ in range(5):
            counts = rng.integers(0, most, (classes, ties, 4), endpoint=True)
            counts[:, 0, 0] += 1
            ranks, rates = ranks_of(counts), expected_rates(counts, k)
            total = int(counts.sum())
            pooled = sum((rate * int(of.sum()) for rate, of in zip(rates, counts)), Fraction()) / total
            options: dict[str, Any] = {"ties": "expected", "one": 1, "counts": ranks.counts}
            assert mean_hits(ranks.above, ranks.tied, range(k, k + 1), **options) == float(pooled)
            spans = {"a": range(k, k + 1)}
            assert rates_by_class(ranks, spans, ties="expected", one=1)["a"] == [*map(float, rates)]
            found = topk_rates(ranks, spans, ties="expected", average="macro", one=1)
            assert found["a"] == float(sum(rates, Fraction()) / classes)


def test_eleven_tied_places() -> None:
    predictions = [[1.0] * 11 + [0.0]] * 27 + [[1.0] * 11 + [2.0]] * 7
    found = AccuracyK(k_list=11, ties="expected").compute(predictions=predictions, references=[0] * 34)
    assert found["accuracy@11"] == 367 / 374


def sides(counts: np.ndarray) -> dict[str, Side]:
    """Scores of positives and of negatives from the highest on, with the rows of a table as their counts."""
    places = {name: (np.flatnonzero(side), side) for name, side in zip(("positives", "negatives"), counts.T)}
    return {name: as_side((-some).astype(float), side[some]) for name, (some, side) in places.items()}


def areas(counts: np.ndarray) -> tuple[Fraction, Fraction]:
    """Average precision and the area by trapezoids."""
    average, trapezoid, tp, fp, before = Fraction(), Fraction(), 0, 0, Fraction(1)
    for positives, negatives in counts.tolist():
        tp, fp = tp + positives, fp + negatives
        if tp + fp:
            precision = Fraction(tp, tp + fp)
            average += positives * precision
            trapezoid += positives * (precision + before) / 2
            before = precision
    return average / tp, trapezoid / tp


@pytest.mark.parametrize("most", MOSTS)
def test_areas_under_precision_are_within_two_ulps(most: int) -> None:
    rng = np.random.default_rng(most)

    def error(counts: np.ndarray) -> float:
        if not counts.sum(axis=0).all():
            return 0.0
        both = sides(counts)
        return max(map(ulps, (average_precision(**both), aupr(**both)), areas(counts)))

    worst = max(worst_of(error, (length, 2), 0, most, rng) for length in (1, 2, 3, 5, 9) for _ in range(4))
    assert 0.5 < worst <= 2


@pytest.mark.parametrize("most", MOSTS)
def test_rates_are_rounded_once(most: int) -> None:
    rng = np.random.default_rng(most)
    for _ in range(300):
        counts = 1 + rng.integers(0, most, (rng.integers(1, 7), 2), endpoint=True)
        positives, negatives = map(int, counts.sum(axis=0))
        pairs = sum(int(p) * (2 * int(counts[i + 1 :, 1].sum()) + int(n)) for i, (p, n) in enumerate(counts))
        both = sides(counts)
        assert auroc(**both) == float(Fraction(pairs, 2 * positives * negatives))
        reached = np.cumsum(counts, axis=0).tolist()
        f1 = [Fraction(2 * tp, tp + fp + positives) for tp, fp in reached]
        at = f1.index(max(f1))
        assert f1_max(**both) == (float(max(f1)), -at - 1.0 if at + 1 < len(f1) else -math.inf)
        accuracies = [
            Fraction(negatives + gain, positives + negatives) for gain in (0, *(tp - fp for tp, fp in reached))
        ]
        assert detection_accuracy(**both) == float(max(accuracies))


def test_the_threshold_of_f1_is_that_of_the_exact_best() -> None:
    """Of nearly equal F1, which round to one number."""
    n = 2**40
    scores = np.asarray([3.0, 2.0, 1.0]), np.asarray([2.5, 1.5])
    for counts in ((np.asarray([n, 1, 3]), np.asarray([1, 3])), (np.asarray([n, 3, 2]), np.asarray([2, 4]))):
        both = dict(zip(("positives", "negatives"), map(as_side, scores, counts)))
        positives = sum(counts[0].tolist())
        tp, fp = np.cumsum(counts[0]).tolist(), [0, *np.cumsum(counts[1]).tolist()]
        f1 = [Fraction(2 * a, a + b + positives) for a, b in zip(tp, fp)]
        assert f1_max(**both) == (float(max(f1)), [2.5, 1.5, -math.inf][f1.index(max(f1))])


def exact_aupro(regions: list[np.ndarray], normal: np.ndarray, limit: Fraction) -> Fraction:
    """Area under the per-region overlap, of counts at scores from the highest on."""
    area, last, fp = Fraction(), (Fraction(), Fraction()), 0
    overlaps = [np.cumsum(region).tolist() for region in regions]
    total = int(normal.sum())
    for i, negatives in enumerate(normal.tolist()):
        fp += negatives
        pro = sum((Fraction(region[i], region[-1]) for region in overlaps), Fraction()) / len(regions)
        fpr = Fraction(fp, total)
        stop = min(fpr, limit)
        if stop > last[0]:
            at_stop = last[1] + (pro - last[1]) * (stop - last[0]) / (fpr - last[0])
            area += (stop - last[0]) * (last[1] + at_stop) / 2
        last = fpr, pro
        if fpr >= limit:
            break
    return area / limit


@pytest.mark.parametrize("most", [2, 5, 20, 200])
def test_aupro_is_within_two_ulps(most: int) -> None:
    rng = np.random.default_rng(most)

    def error(counts: np.ndarray) -> float:
        normal, *regions = counts.T
        if not counts.sum(axis=0).all():
            return 0.0
        levels = -np.arange(len(counts)) * 1.0
        scores = np.concatenate([np.repeat(levels, region) for region in regions])
        sizes = np.asarray([region.sum() for region in regions])
        limits = [1.0, 0.3, 0.05]
        found = aupro(scores, sizes, np.repeat(levels, normal), limits)
        return max(ulps(value, exact_aupro(regions, normal, Fraction(x))) for value, x in zip(found, limits))

    worst = max(worst_of(error, (levels, 1 + n), 0, most, rng) for levels in (2, 3, 6) for n in (1, 2, 5))
    assert 0.5 < worst <= 2


def risks(counts: np.ndarray, share: Fraction) -> dict[str, Fraction]:
    """Areas under risk and generalised risk, and the risk at a coverage, sample by sample from the lowest score on."""
    expected, errors = [], Fraction()
    for wrong, right in counts[::-1].tolist():
        tied = wrong + right
        expected += [errors + Fraction(wrong * k, tied) for k in range(1, tied + 1)]
        errors += wrong
    total = len(expected)
    accepted = -(-total * share.numerator // share.denominator)
    generalised = sum(((a + b) / 2 for a, b in zip([Fraction(), *expected], expected)), Fraction()) / total**2
    area = sum((errors / k for k, errors in enumerate(expected, 1)), Fraction()) / total
    return {"aurc": area, "augrc": generalised, f"risk@cov{100 * share}": expected[accepted - 1] / accepted}


@pytest.mark.parametrize("most", [2, 7, 40])
def test_risks_are_rounded_once_and_their_area_is_within_1e_14(most: int) -> None:
    rng = np.random.default_rng(most)

    def error(counts: np.ndarray) -> float:
        if not counts.sum(axis=0).all():
            return 0.0
        exact = risks(counts, Fraction(4, 5))
        wrong, right = (np.repeat(-np.arange(len(counts)) * 1.0, side) for side in counts.T)
        found = risk_coverage(errors=wrong, right=right, metrics=[*exact])
        area = exact.pop("aurc")
        assert {name: found[name] for name in exact} == {name: float(value) for name, value in exact.items()}
        return float(abs(Fraction(found["aurc"]) - area))

    assert max(worst_of(error, (length, 2), 0, most, rng) for length in (1, 2, 5) for _ in range(2)) <= 1e-14


@pytest.mark.parametrize("most", [2, 7, 40])
def test_delongs_variance_is_rounded_once(most: int) -> None:
    rng = np.random.default_rng(most)
    for _ in range(60):
        counts = rng.integers(0, most, (rng.integers(1, 5), 2), endpoint=True)
        counts[0] += 2
        positives, negatives = (np.repeat(-np.arange(len(counts)) * 1.0, side) for side in counts.T)
        placed = [
            [
                Fraction(sum((p > n) * 2 + (p == n) for n in negatives.tolist()), 2 * len(negatives))
                for p in positives.tolist()
            ],
            [
                Fraction(sum((p > n) * 2 + (p == n) for p in positives.tolist()), 2 * len(positives))
                for n in negatives.tolist()
            ],
        ]
        mean = sum(placed[0], Fraction()) / len(positives)
        spread = [sum((share - mean) ** 2 for share in side) / (len(side) - 1) / len(side) for side in placed]
        assert delong(positives=positives, negatives=negatives)[:2] == (float(mean), float(sum(spread, Fraction())))


def all_points(counts: np.ndarray, objects: int) -> Fraction:
    """Average precision under the envelope, of TP and FP at each confidence."""
    reached = np.cumsum(counts, axis=0).tolist()
    precisions = [Fraction(tp, tp + fp) if tp else Fraction() for tp, fp in reached]
    highest = [max(precisions[k:]) for k in range(len(reached))]
    steps = np.diff([0, *(tp for tp, _ in reached)]).tolist()
    return sum((step * precision for step, precision in zip(steps, highest)), Fraction()) / objects


def eleven_points(counts: np.ndarray, objects: int) -> Fraction:
    reached = np.cumsum(counts, axis=0).tolist()
    total = Fraction()
    for tenths in range(11):
        total += max(
            (Fraction(tp, tp + fp) for tp, fp in reached if tp and 10 * tp >= tenths * objects), default=Fraction()
        )
    return total / 11


@pytest.mark.parametrize("most", [*MOSTS, 2**24])
def test_average_precisions_of_detection_are_within_two_ulps(most: int) -> None:
    rng = np.random.default_rng(most)

    def error(counts: np.ndarray) -> float:
        *rows, (missed, _) = counts
        tp, fp = np.cumsum(np.asarray(rows), axis=0).T
        objects = int(tp[-1] + missed)
        area, total = AVERAGE_PRECISIONS["11-point"](tp, fp, objects)
        if not objects:
            assert math.isnan(voc_average_precision(tp, fp, objects))
            return 0.0
        exact, of_eleven = all_points(np.asarray(rows), objects), eleven_points(np.asarray(rows), objects)
        return max(ulps(voc_average_precision(tp, fp, objects), exact), ulps(area / total, of_eleven))

    worst = max(worst_of(error, (1 + length, 2), 0, most, rng) for length in (1, 2, 3, 6) for _ in range(4))
    assert worst <= 2


def detections(counts: list[np.ndarray]) -> dict[str, list[Any]]:
    """For each class, TP and FP at each confidence, and in the last row the missed objects, each in an image alone."""
    box, far = [0, 0, 1, 1], [5, 5, 6, 6]
    found: list[Any] = []
    true: list[Any] = []
    for label, rows in enumerate(counts):
        for k, (tp, fp) in enumerate(rows[:-1].tolist()):
            confidence = 1 - k / 16
            found += [[[*box, confidence, label]]] * tp + [[[*far, confidence, label]]] * fp
            true += [[[*box, label]]] * tp + [[]] * fp
        missed = int(rows[-1][0])
        found += [[]] * missed
        true += [[[*box, label]]] * missed
    return {"predictions": found, "references": true}


@pytest.mark.parametrize("rule", ["all", "11-point"])
def test_means_of_average_precisions_are_within_two_ulps(rule: str) -> None:
    rng = np.random.default_rng(0)

    def error(counts: np.ndarray) -> float:
        metric = OpenSetDetection(
            known_classes=range(len(counts)), protocol="owod", recall_level=None, average_precision=rule
        )
        if not counts.sum(axis=(1, 2)).all():
            return 0.0
        found = metric.compute(**detections([*counts]))["mAP"]
        of_class = all_points if rule == "all" else eleven_points
        objects = [int(rows[:, 0].sum()) for rows in counts]
        aps = [of_class(rows[:-1], number) for rows, number in zip(counts, objects) if number]
        return ulps(found, sum(aps, Fraction()) / len(aps)) if aps else 0.0

    for classes, length, most in product((1, 2, 3), (2, 4), (3, 20)):
        assert worst_of(error, (classes, length, 2), 0, most, rng, steps=25) <= 2


def test_the_map_of_71_objects() -> None:
    """Four roundings were 2.61 ulp off."""
    columns = detections([np.asarray([[23, 13], [33, 26], [15, 0]])])
    found = OpenSetDetection(known_classes=[0], protocol="owod", recall_level=None).compute(**columns)["mAP"]
    assert ulps(found, (Fraction(23 * 23, 36) + Fraction(33 * 56, 95)) / 71) <= 1
