"""Operating points of ood_bench: exact bounds, thresholds that reach them, rates at a threshold, labels of sides."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from openworld_metrics import OODBench, operating_point
from openworld_metrics.metric.signature import VERSION
from openworld_metrics.ranking.operating_points import parse_point
from openworld_metrics.ranking.quantities import least_reaching, most_within
from tests import cases, references
from tests.checking import bench
from tests.examples import many, seeds

Load = Callable[..., Any]
RATES = ("fpr", "tpr", "fnr", "tnr")


@many
@given(seed=seeds)
def test_a_fitted_threshold_gives_the_reported_rates(seed: int) -> None:
    columns, _ = cases.draw("ood_bench", seed)
    rng = np.random.default_rng(seed)
    dtype = rng.choice(["float16", "float32", "float64"])
    columns["predictions"] = columns["predictions"].astype(dtype)
    if bool((columns["predictions"] == -np.inf).any()):
        columns["predictions"][columns["predictions"] == -np.inf] = -1000
    bounds = ["95", "100", "99.5", "0.5", str(rng.integers(1, 100)), f"{rng.uniform(0.01, 99.9):.2f}"]
    names = [f"{rng.choice(RATES)}{bound}{rng.choice(RATES)}" for bound in bounds]
    names = [*dict.fromkeys(names), "detect_acc"]
    found = OODBench(metrics=names, thresholds=True).compute(**columns)
    assert list(found) == [key for name in names for key in (name, f"{name}_threshold")]
    assert {name: found[name] for name in names} == OODBench(metrics=names).compute(**columns)
    for name in names:
        t = found[f"{name}_threshold"]
        rates = OODBench(metrics=RATES, threshold=t).compute(**columns)
        point = parse_point(name)
        if point is None:
            right = OODBench(metrics="accuracy_score", threshold=t).compute(**columns)
            assert found[name] == pytest.approx(right["accuracy_score"], abs=1e-15)
        else:
            rate, bounded, bound = point
            assert rates[rate] == found[name]
            total = int((columns["references"] == (bounded in ("tpr", "fnr"))).sum())
            share = Fraction(round(rates[bounded] * total), total)
            assert share >= bound if bounded in ("tpr", "tnr") else share <= bound
        # in the caller's own precision, too
        called = columns["predictions"] > t
        assert float(np.mean(called[columns["references"] == 1])) == pytest.approx(rates["tpr"], abs=1e-3)


@many
@given(seed=seeds)
def test_decimals_against_the_reference(seed: int) -> None:
    columns, _ = cases.draw("ood_bench", seed)
    rng = np.random.default_rng(seed)
    names = [f"{rng.choice(RATES)}{b}{rng.choice(RATES)}" for b in ("100", "99.5", "0.1", "33.4", "66.6", "50.0")]
    lists = {key: column.tolist() for key, column in columns.items()}
    ood, ind = ([s for s, y in zip(lists["predictions"], lists["references"]) if y == side] for side in (1, 0))
    found = OODBench(metrics=[*dict.fromkeys(names)]).compute(**columns)
    for name in names:
        bound = Fraction(name[3:-3]) / 100
        assert found[name] == float(references.operating_point(ood, ind, name[:3], name[-3:], bound))


@pytest.mark.parametrize("total", [7, 100, 1000, 3 * 10**7, 2**45])
def test_bounds_are_met_by_exactly_the_counts_that_meet_them(total: int) -> None:
    for text in ("0.07", "0.29", "0.95", "0.995", "0.001", "0.333", "1", "0.0000001"):
        exact, share = Fraction(text), float(text)
        assert most_within(share, total) == math.floor(exact * total)
        assert least_reaching(share, total) == max(1, math.ceil(exact * total))


def test_shares_that_no_decimal_is() -> None:
    assert [most_within(k / 3, 3) for k in range(4)] == [0, 0, 1, 3]  # 0.3333333333333333 is less than a third
    for k in range(1, 50):
        decimal, share = Fraction(str(k / 49)), Fraction(k, 49)
        assert most_within(k / 49, 49) == k - (decimal < share)
        assert least_reaching(k / 49, 49) == k + (decimal > share)


def test_the_bound_of_an_operating_point_is_a_decimal() -> None:
    sides: Any = {"positives": [0.9, 0.4, 0.2], "negatives": [0.6, 0.1, 0.0]}
    for bound, fpr in ((1 / 3, 0.0), (0.3333333333333334, 1 / 3), (2 / 3, 1 / 3), (0.67, 2 / 3)):
        assert operating_point(**sides, rate="tpr", bounded="fpr", bound=bound).fpr <= fpr
        assert operating_point(**sides, rate="fnr", bounded="tnr", bound=round(1 - bound, 2)).tpr >= 1 / 3


@pytest.mark.parametrize(
    "name",
    ["fpr0tpr", "fpr101tpr", "fpr05tpr", "fpr100.5tpr", "fpr0.0tpr", "fpr95.tpr", "fpr.5tpr", "fpr-5tpr"],
)
def test_names_that_are_no_points(name: str) -> None:
    assert parse_point(name) is None
    with pytest.raises(ValueError, match=f"metrics: unknown metric '{name}'"):
        OODBench(metrics=name).compute(predictions=[0.0, 1.0], references=[0, 1])


def test_a_threshold_by_hand() -> None:
    sides = {"positives": np.asarray([0.5, 0.6, 0.8, 0.9]), "negatives": np.asarray([0.1, 0.2, 0.4, 0.7])}
    names = ["fpr75tpr", "fpr100tpr", "tpr0.1fpr", "tnr100tpr", "fpr1fpr", "detect_acc"]
    found = bench(**sides, metrics=names, thresholds=True)
    assert found == {
        "fpr75tpr": 0.25, "fpr75tpr_threshold": 0.5,
        "fpr100tpr": 0.25, "fpr100tpr_threshold": 0.4,
        "tpr0.1fpr": 0.5, "tpr0.1fpr_threshold": 0.7,
        "tnr100tpr": 0.75, "tnr100tpr_threshold": 0.4,
        "fpr1fpr": 0.0, "fpr1fpr_threshold": 0.8,
        "detect_acc": 0.875, "detect_acc_threshold": 0.4,
    }  # fmt: skip
    lowest = bench(**{**sides, "positives": sides["positives"] - 1}, metrics="fpr100tpr", thresholds=True)
    assert lowest == {"fpr100tpr": 1.0, "fpr100tpr_threshold": -math.inf}
    none = bench(
        positives=np.asarray([0.1]), negatives=np.asarray([0.9]), metrics=["tpr5fpr", "detect_acc"], thresholds=True
    )
    assert none == {"tpr5fpr": 0.0, "tpr5fpr_threshold": math.inf, "detect_acc": 0.5, "detect_acc_threshold": math.inf}


def test_infinite_scores() -> None:
    above = bench(
        positives=np.asarray([math.inf, 1.0]), negatives=np.asarray([0.0]), metrics="fpr50tpr", thresholds=True
    )
    assert above == {"fpr50tpr": 0.0, "fpr50tpr_threshold": 1.0}
    below = {"positives": np.asarray([-math.inf, 1.0]), "negatives": np.asarray([0.0])}
    assert bench(**below, metrics="fpr50tpr", thresholds=True)["fpr50tpr_threshold"] == 0.0
    with pytest.raises(ValueError, match=r"thresholds: expected scores above -inf where fpr100tpr is reached"):
        bench(**below, metrics="fpr100tpr", thresholds=True)
    for t, expected in ((math.inf, 0.0), (-math.inf, 0.5), (1e300, 0.0), (-1e300, 0.5)):
        side = np.asarray([-math.inf, 1.0], np.float32)
        assert bench(positives=side, negatives=side, metrics=["tpr", "tnr"], threshold=t) == {
            "tpr": expected,
            "tnr": 1 - expected,
        }


def test_rates_do_not_round_the_threshold() -> None:
    scores = np.asarray([0.4, 0.1], np.float32)  # 0.4 as a float32 is greater than 0.4
    assert bench(positives=scores, negatives=scores, metrics=["tpr", "fpr", "fnr", "tnr"], threshold=0.4) == {
        "tpr": 0.5, "fpr": 0.5, "fnr": 0.5, "tnr": 0.5,
    }  # fmt: skip
    with pytest.raises(ValueError, match="threshold: expected a number, since 'tpr' judges"):
        bench(positives=scores, negatives=scores, metrics="tpr")


def test_sampled_points_have_no_thresholds() -> None:
    with pytest.raises(ValueError, match="thresholds: expected False with a step"):
        bench(positives=np.ones(3), negatives=np.zeros(3), thresholds=True, step=4)


@pytest.mark.parametrize("name", ["auroc", "detect_acc", "fpr95tpr", "tpr5fpr", "fnr5fpr", "tnr95tpr"])
def test_sampled_measures_have_the_direction_of_exact_ones(name: str) -> None:
    rates = []
    for step in (None, 4):
        metric = OODBench(metrics=name, step=step)
        state = metric.reduce([0.1, 0.6, 0.4, 0.9], [0, 0, 1, 1])
        rates.append(metric.prepare(state).rates()[name])
    assert rates[0].higher is rates[1].higher is (name not in ("fpr95tpr", "fnr5fpr"))


@pytest.mark.parametrize("bounded", ["fpr", "tpr", "fnr", "tnr"])
@pytest.mark.parametrize("rate", ["fpr", "tpr", "fnr", "tnr"])
def test_bounds_of_sampled_points_end_at_99(rate: str, bounded: str) -> None:
    """No sampled rate is beyond 100, and oodeel has no such name."""
    rng = np.random.default_rng(0)
    sides: Any = {"positives": rng.normal(1, 1, 50), "negatives": rng.normal(0, 1, 60)}
    for bound in ("100", "100.0"):
        name = f"{rate}{bound}{bounded}"
        with pytest.raises(ValueError, match=f"metrics: expected a bound below 100 with a step, .* got '{name}'"):
            bench(**sides, metrics=name, step=4)
    with pytest.raises(ValueError, match="unknown metric"):
        bench(**sides, metrics=f"{rate}0{bounded}", step=4)
    name = f"{rate}99.9{bounded}"
    assert 0 <= bench(**sides, metrics=name, step=4)[name] <= 1


@pytest.mark.parametrize(
    ("inside", "out", "names"),
    [
        ([-0.9, -0.8, -0.7, -0.3], [-0.6, -0.4, -0.2], (0.908333, 0.763889)),  # OpenOOD's of these confidences
        ([1, 1, 1], [1, 1, 1], (0.75, 0.75)),
    ],
)
def test_areas_by_trapezoids(inside: list[float], out: list[float], names: tuple[float, float]) -> None:
    found = OODBench(metrics=["aupr_in_trapezoid", "aupr_out_trapezoid"]).compute(predictions=(inside, out))
    assert [*found.values()] == pytest.approx(names, abs=5e-7)


def test_samples_that_are_left_out() -> None:
    scores, labels = np.asarray([0.1, 0.6, 9.0, 0.4, 0.9, -9.0]), np.asarray([0, 0, 255, 1, 1, 255], np.uint8)
    expected = OODBench().compute(predictions=scores[labels < 2], references=labels[labels < 2])
    assert OODBench(ignore_value=255).compute(predictions=scores, references=labels) == expected
    metric = OODBench(ignore_value=255)
    for rows in (slice(2, 3), slice(0, 2), slice(3, 6)):
        metric.add_batch(predictions=scores[rows], references=labels[rows])
    state = metric.state()
    assert state["labels"].dtype == np.int16
    assert metric.compute() == expected
    other = OODBench(ignore_value=255)
    other.merge({**state, "counts": np.asarray([7, 1, 1, 1, 1, 7])})
    assert other.compute() == expected
    with pytest.raises(ValueError, match=r"references: expected 0 \(in_value\) or 1 \(out_value\), got 255"):
        OODBench().compute(predictions=scores, references=labels)
    with pytest.raises(ValueError, match=r"or 255 \(ignore_value\), got 7"):
        OODBench(ignore_value=255).compute(predictions=[1.0, 2.0], references=[0, 7])
    with pytest.raises(ValueError, match="references: expected samples of both classes"):
        OODBench(ignore_value=1).compute(predictions=scores[:2], references=[0, 1], out_value=2)


def test_the_rest_of_the_labels() -> None:
    scores, labels = [0.1, 0.6, 0.4, 0.9, 5.0], [3, 0, -1, -1, 255]
    expected = {"auroc": 0.75, "fpr95tpr": 0.5}
    classes = OODBench(in_value="rest", out_value=-1, ignore_value=255)
    assert classes.compute(predictions=scores, references=labels) == expected
    flipped = OODBench(in_value=-1, out_value="rest", ignore_value=255)
    assert flipped.compute(predictions=[-s for s in scores], references=labels)["auroc"] == 0.75
    for values in ({"in_value": "rest", "out_value": 0}, {"in_value": 1, "out_value": "rest", "ignore_value": 0}):
        pair = OODBench(**values)
        pair.add_batch(predictions=([0.1, 0.6], [0.4, 0.9]))
        assert pair.compute() == expected
    out, inside = (side.repeated() for side in classes.prepare(classes.reduce(scores, labels)).sides)
    assert (out.tolist(), inside.tolist()) == ([0.4, 0.9], [0.1, 0.6])


def test_labels_that_will_not_do() -> None:
    with pytest.raises(ValueError, match="in_value, out_value: expected two different labels, got 1 for both"):
        OODBench(in_value=1).compute(predictions=[0.1], references=[0])
    with pytest.raises(ValueError, match=r"references: expected 5 \(in_value\) or 1 \(out_value\), got 0"):
        OODBench(in_value=5).compute(predictions=[0.1], references=[0])
    late = OODBench()
    late.add_batch(predictions=([0.1, 0.2], [0.3, 0.4]))  # whose sides the tuple tells
    with pytest.raises(ValueError, match="in_value: it was applied as batches were added; give it at load"):
        late.compute(in_value=1, out_value=0)
    assert late.compute()["auroc"] == 1.0
    with pytest.raises(ValueError, match="in_value, out_value: expected two different labels, got rest for both"):
        OODBench(in_value="rest", out_value="rest").reduce([0.1], [0])
    with pytest.raises(ValueError, match="ignore_value: expected neither in_value nor out_value, got 1"):
        OODBench(ignore_value=1).reduce([0.1], [0])
    with pytest.raises(
        TypeError,
        match=r"out_value: expected a string, .*, or 'rest', every label except the other, got 1",
    ):
        OODBench(in_value="all").reduce([0.1], [0])
    with pytest.raises(ValueError, match="in_value, out_value: expected different labels, got a, a"):
        OODBench(in_value="a", out_value="a").reduce([0.1], ["a"])


def test_strings_as_labels() -> None:
    scores, words = [0.1, 0.6, 0.4, 0.9, 0.5], ["bonafide", "bonafide", "spoof", "spoof", "unsure"]
    expected = OODBench(ignore_value=2).compute(predictions=scores, references=[0, 0, 1, 1, 2])
    named = OODBench(in_value="bonafide", out_value="spoof", ignore_value="unsure")
    for column in (words, np.asarray(words), np.asarray(words, dtype=object)):
        assert named.compute(predictions=scores, references=column) == expected
    rest = OODBench(in_value="bonafide", out_value="rest")
    assert rest.compute(predictions=scores, references=words) == OODBench().compute(
        predictions=scores, references=[0, 0, 1, 1, 1]
    )
    named.add_batch(predictions=scores, references=words)
    other = OODBench(in_value="bonafide", out_value="spoof", ignore_value="unsure")
    other.merge(named.state())
    assert other.compute() == expected
    assert named.signature == f"ood_bench|ignore_value:unsure|v{VERSION}"
    with pytest.raises(ValueError, match="references: expected 'bonafide' or 'spoof', got 'unsure'"):
        OODBench(in_value="bonafide", out_value="spoof").compute(predictions=scores, references=words)


def test_an_accelerator_s_tensors() -> None:
    torch = pytest.importorskip("torch")
    scores, labels = torch.tensor([0.1, 0.6, 9.0, 0.4, 0.9]), torch.tensor([0, 0, 255, 1, 1], dtype=torch.uint8)
    found = OODBench(ignore_value=255, thresholds=True, metrics=["fpr95tpr", "tpr"], threshold=0.5)
    assert found.compute(predictions=scores, references=labels) == {
        "fpr95tpr": 0.5, "fpr95tpr_threshold": float(scores[0]), "tpr": 0.5,
    }  # fmt: skip
