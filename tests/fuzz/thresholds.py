"""Thresholds that are returned: put back, each gives the numbers that it was returned with, by a count of scores."""

from __future__ import annotations

import functools
from fractions import Fraction
from random import Random
from typing import Any, NamedTuple

import numpy as np

from openworld_metrics import AnomalySuite, MacroOpenF, MicroOpenF, OODBench, guaranteed_coverage, threshold_at_fpr
from tests.fuzz.engine import BrokenError, Case, Refused, Target
from tests.fuzz.fingerprint import check_same, fingerprint
from tests.fuzz.values import anything

RATES = ("fpr", "tpr", "fnr", "tnr")
ODD = (0.0, -0.0, 5e-324, -5e-324, 1e-45, 1e300, -1e300, float("inf"), 0.1, 0.1 + 2**-40, 1 / 3)


class Sides(NamedTuple):
    """Scores of unknown and of known samples, their true and their predicted classes, a point and a share."""

    scores: Any
    classes: Any
    predicted: Any
    point: Any
    share: Any


def make(rng: Random) -> Sides:
    """Scores of any type, with ties, neighbours, zeros of both signs and infinities."""
    numbers = np.random.default_rng(rng.getrandbits(64))
    size = rng.choice((2, 3, 10, 60))
    scores = numbers.choice(
        [
            numbers.integers(0, rng.choice((2, 9, 1000)), size) / rng.choice((1, 7, 8)) - 0.5,
            numbers.normal(size=size) * rng.choice((1e-300, 1e-3, 1.0, 1e30)),
            numbers.choice(ODD, size),
            np.nextafter(0.3, numbers.choice([0.0, 0.3, 1.0], size)),
        ]
    )
    with np.errstate(over="ignore"):
        scores = scores.astype(rng.choice(("float16", "float32", "float64", "float64")))
    classes = numbers.integers(-1, 3, size)
    classes[:2] = [-1, 1]
    predicted = np.where(numbers.random(size) < 0.6, np.abs(classes), numbers.integers(0, 3, size))
    bound = rng.choice(("95", "100", "99.5", "0.1", "50", f"{rng.uniform(0.01, 99.9):.2f}"))
    share = rng.choice((0.0, 1.0, 0.05, 0.07, rng.random()))
    return Sides(scores, classes, predicted, f"{rng.choice(RATES)}{bound}{rng.choice(RATES)}", share)


def damage(rng: Random, value: Sides) -> Sides:
    """Another score, one class only, or something wrong with the point or the share."""
    way = rng.random()
    if way < 0.5:
        return value._replace(**{rng.choice(("point", "share")): anything(rng)})
    if way < 0.6:
        return value._replace(classes=np.abs(value.classes))
    scores = value.scores.astype(float)
    scores[rng.randrange(len(scores))] = rng.choice(ODD)
    if rng.random() < 0.2:
        scores[rng.randrange(len(scores))] = np.nan
    return value._replace(scores=scores.tolist() if rng.random() < 0.5 else scores)


def run_points(case: Case) -> None:
    """The thresholds of ood_bench: a sample is detected iff score > threshold."""
    value: Sides = case.value
    given = fingerprint(value)
    unknown = value.classes < 0
    columns = {"predictions": value.scores, "references": unknown}
    if case.whole and -np.inf in value.scores:  # which no threshold exceeds
        return
    found = case.attempt(lambda: OODBench(metrics=[value.point, "detect_acc"], thresholds=True).compute(**columns))
    check_same(given, fingerprint(value), "an input")
    if isinstance(found, Refused):
        return
    scores = np.asarray(value.scores).astype(float)
    ood, others = scores[unknown].tolist(), scores[~unknown].tolist()
    for name in (value.point, "detect_acc"):
        if not isinstance(name, str) or f"{name}_threshold" not in found:  # another metric than a point
            continue
        t = found[f"{name}_threshold"]
        tp, fp = (sum(score > t for score in side) for side in (ood, others))
        accuracy = (tp + len(others) - fp) / len(scores)
        rates = dict(zip(("tpr", "fpr", "detect"), (tp / len(ood), fp / len(others), accuracy)))
        rates |= {"fnr": (len(ood) - tp) / len(ood), "tnr": (len(others) - fp) / len(others)}
        if found[name] != rates[name[:3] if name != "detect_acc" else "detect"]:
            raise BrokenError("a threshold of ood_bench does not give its rate", (name, found, rates))
        again = OODBench(metrics=RATES, threshold=t).compute(**columns)
        if any(again[rate] != rates[rate] for rate in RATES):
            raise BrokenError("the rates at a threshold are others", (name, t, again, rates))


def run_f(case: Case) -> None:
    """The thresholds of the open-set F-scores: a sample is accepted iff score ≤ threshold."""
    value: Sides = case.value
    given = fingerprint(value)
    columns = {"predictions": value.predicted, "references": value.classes, "open_scores": value.scores}
    for metric in (MacroOpenF, MicroOpenF):
        found = case.attempt(functools.partial(metric(num_classes=3, per_sample=True).compute, **columns))
        check_same(given, fingerprint(value), "an input")
        if isinstance(found, Refused):
            continue
        name = metric.name
        best, t = found[name], found[f"{name}_threshold"]
        again = metric(num_classes=3, t_list=[t]).compute(**columns)
        if again[name] != best or again[f"{name}_curve"] != [best]:
            raise BrokenError(f"the threshold of {name} does not give its value", (found, again))
        accepted = np.asarray(value.scores).astype(float) <= t
        if [word == "known" for word in found["per_sample"]["decision"]] != accepted.tolist():
            raise BrokenError(f"the decisions of {name} are others", (found, accepted))
        hits = int(np.sum(accepted & (value.classes == value.predicted)))
        counted = int(np.sum(accepted)) + int(np.sum(value.classes >= 0))
        if metric is MicroOpenF and best != float(Fraction(2 * hits, counted or 1)):
            raise BrokenError("micro F is another", (found, hits, counted))


def run_maps(case: Case) -> None:
    """The thresholds of anomaly_suite: a pixel is anomalous iff score > threshold."""
    value: Sides = case.value
    given = fingerprint(value)
    anomalous = value.classes < 0
    # each pixel twice, so that a map has two rows
    columns = {"predictions": np.stack([[value.scores] * 2]), "references": np.stack([[anomalous.astype(int)] * 2])}
    if -np.inf in np.asarray(value.scores):  # which no threshold exceeds
        return
    metric = case.attempt(lambda: AnomalySuite(levels="pixel", points=value.point, thresholds=True))
    if isinstance(metric, Refused):
        return
    found = case.attempt(lambda: metric.compute(**columns))
    check_same(given, fingerprint(value), "an input")
    if isinstance(found, Refused):
        return
    scores = np.asarray(value.scores).astype(float)
    positives, negatives = int(anomalous.sum()), int((~anomalous).sum())
    for name in ("f1_max", *metric.operating_points):
        t = found[f"pixel_{name}_threshold"]
        tp, fp = int(np.sum(scores[anomalous] > t)), int(np.sum(scores[~anomalous] > t))
        rates = {"f1_": Fraction(2 * tp, tp + fp + positives), "tpr": Fraction(tp, positives)}
        rates |= {"fpr": Fraction(fp, negatives), "fnr": 1 - rates["tpr"], "tnr": Fraction(negatives - fp, negatives)}
        if found[f"pixel_{name}"] != float(rates[name[:3]]):
            raise BrokenError("a threshold of anomaly_suite does not give its rate", (name, found, rates))
    again = AnomalySuite(levels="pixel", per_image=True, pixel_threshold=found["pixel_f1_max_threshold"])
    if again.compute(**columns)["per_image"]["iou"] != [found["pixel_iou_max"]]:
        raise BrokenError("the threshold of the best F1 does not give the best IoU", found)


def run_functions(case: Case) -> None:
    """`threshold_at_fpr` and `guaranteed_coverage`."""
    value: Sides = case.value
    given = fingerprint(value)
    t = case.attempt(lambda: threshold_at_fpr(value.scores, value.share))
    check_same(given, fingerprint(value), "an input")
    if not isinstance(t, Refused):
        scores = np.asarray(value.scores).astype(float).tolist()
        exceeding = sum(score > t for score in scores)
        lower = [score for score in scores if score < t]
        most = Fraction(repr(float(value.share))) * len(scores)  # the share is a decimal
        if exceeding > most:
            raise BrokenError("more scores exceed the threshold than may", (t, exceeding))
        if t != -np.inf and exceeding + scores.count(t) <= most:
            raise BrokenError("a lower threshold would do", (t, lower))
    scores, wrong = np.asarray(value.scores).astype(float), value.classes != value.predicted
    if (case.whole and not 0 < value.share < 1) or -np.inf in scores:
        return
    errors, right = scores[wrong], scores[~wrong]
    found = case.attempt(lambda: guaranteed_coverage(errors=errors, right=right, risk=value.share, candidates=4))
    if isinstance(found, Refused):
        return
    accepted = int(np.sum(scores <= found.threshold))
    if accepted / len(scores) != found.coverage:
        raise BrokenError("a guaranteed coverage is not that of its threshold", (found, accepted))


TARGETS = [
    Target("thresholds of ood_bench", make, damage, run_points),
    Target("thresholds of open F", make, damage, run_f),
    Target("thresholds of maps", make, damage, run_maps),
    Target("thresholds of functions", make, damage, run_functions),
]
