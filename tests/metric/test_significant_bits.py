"""Scores that were cut to some significant bits: the value of the whole ones is within the error, always."""

from __future__ import annotations

import itertools
import json
import math
import pickle
import threading
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import openworld_metrics
from openworld_metrics.loading import metric_class
from openworld_metrics.metric import metric as metric_module
from openworld_metrics.ranking.auroc import AUROC
from openworld_metrics.ranking.counts import exceedance_counts
from openworld_metrics.ranking.curves import AUPR, AVERAGE_PRECISION, DETECTION_ACCURACY, F1_MAX
from openworld_metrics.ranking.quantities import bounded, cut, was_cut
from tests import cases
from tests.splitting import length, rows

Rng = np.random.Generator
NAMES = ["ood_bench", "openauc", "anomaly_suite"]
BITS = (4, 8, 12, 24, 52)
SEEDS = 60  # of each metric and distribution: 2,160 cases
RATES = ("fpr", "tpr", "fnr", "tnr")
DISTRIBUTIONS: dict[str, Callable[[Rng, tuple[int, ...]], np.ndarray]] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "softmax near 1": lambda rng, shape: 1 / (1 + np.exp(-rng.normal(12, 3, shape))),
    "about 1e-30": lambda rng, shape: 1e-30 * rng.random(shape),
    "1e4 and a little": lambda rng, shape: 1e4 + rng.random(shape),
    "heavy ties": lambda rng, shape: rng.integers(-9, 9, shape) / 64,
    "ties of long numbers": lambda rng, shape: rng.normal(size=9)[rng.integers(0, 9, shape)],
    "1e-200 to 1e200": lambda rng, shape: rng.choice([-1, 1], shape) * 10 ** rng.uniform(-200, 200, shape),
    "infinite": lambda rng, shape: rng.choice([-np.inf, np.inf, 0.3, 0.31], shape),
    "zeros": lambda rng, shape: rng.choice([-0.0, 0.0, 5e-324, -5e-324, 1e-310, 1e-44], shape),
    "subnormal": lambda rng, shape: rng.integers(-9999, 9999, shape) * 2.0**-149,
    "constant": lambda rng, shape: np.full(shape, rng.normal()),
    "neighbours": lambda rng, shape: 1 + rng.integers(0, 1 << 12, shape) * 2.0 ** -float(rng.choice([10, 24, 52])),
}


def point(rng: Rng) -> str:
    return f"{rng.choice(RATES)}{rng.choice([1, 5, 12.5, 50, 95, 99.9, 100])}{rng.choice(RATES)}"


def draw(name: str, kind: str, rng: Rng) -> tuple[cases.Columns, cases.Options]:
    """A random case with scores of a distribution, in float32 or float64."""
    n = int(rng.choice([2, 5, 30, 200]))
    columns, options = cases.METRICS[name].draw(rng, min(n, 9) if name == "anomaly_suite" else n)
    key = "open_scores" if name == "openauc" else "predictions"
    with np.errstate(over="ignore", under="ignore"):
        scores = DISTRIBUTIONS[kind](rng, columns[key].shape).astype(rng.choice(["float32", "float64"]))
    columns[key] = scores
    if name == "openauc":
        options["fpr_list"] = [0.0, 0.05, float(rng.random()), 1.0]
        options["risk_metrics"] = ["aurc", "augrc", "risk@cov0.1", f"risk@cov{rng.integers(1, 100)}", "coverage@risk5"]
        options["roc_metrics"] = ["eer", f"pauroc@fpr{rng.integers(1, 100)}", "pauroc@tpr80_mcclish"]
    if name == "ood_bench":
        more = ("auroc", "aupr_in_trapezoid", "aupr_out_trapezoid", "detect_acc", *(point(rng) for _ in range(4)))
        options["metrics"] = [*dict.fromkeys([*options["metrics"], *more])]
    if options.get("image_reduction") == "mean" and np.isinf(scores).any():
        del options["image_reduction"]  # of +inf and −inf there is none
    return columns, options


def computed(name: str, columns: cases.Columns, options: cases.Options, parts: list[np.ndarray]) -> dict[str, float]:
    metric = metric_class(name)(**options)
    for part in parts:
        metric.add_batch(**rows(columns, part))
    return metric.compute()


def check(found: dict[str, float], exact: dict[str, float]) -> None:
    """Whether every result that has an error is within it, and every other is exact."""
    for key, value in found.items():
        if key.endswith("_error"):
            assert 0 <= value <= (math.inf if key == "prr_error" else 1)
            continue
        error = found.get(f"{key}_error")
        if error is None:
            assert key == "closed_set_accuracy" or key.startswith(("image_", "sample_"))
            assert value == exact[key], key
        else:
            assert abs(Fraction(value) - Fraction(exact[key])) <= Fraction(error), key


@pytest.mark.parametrize("kind", DISTRIBUTIONS)
@pytest.mark.parametrize("name", NAMES)
def test_the_exact_value_is_within_the_error(name: str, kind: str) -> None:
    for seed in range(SEEDS):
        rng = np.random.default_rng([seed, *name.encode(), *kind.encode()])
        columns, options = draw(name, kind, rng)
        exact = metric_class(name)(**options).compute(**columns)
        options["significant_bits"] = int(rng.choice(BITS))
        found = metric_class(name)(**options).compute(**columns)
        check(found, exact)
        unbounded = ("pixel_f1_max_threshold", "coverage@risk", "dcf@", "answered", "f_answered", "reliability@")
        left_out = {key for key in exact if key.startswith(unbounded)}
        assert set(exact) - set(found) <= left_out
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(metric_module, "ROWS", 4)
            order = np.array_split(rng.permutation(length(columns)), 3)
            assert computed(name, columns, options, order) == found


def orders(positives: list[int], negatives: list[int]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """All scores that bins of so many positives and negatives can have had, the highest bin last."""
    bins = []
    for p, n in zip(positives, negatives):
        levels = range(p + n)
        bins.append(
            [
                (a, b)
                for a in itertools.combinations_with_replacement(levels, p)
                for b in itertools.combinations_with_replacement(levels, n)
            ]
        )
    for choice in itertools.product(*bins):
        yield tuple(  # type: ignore[misc]
            np.asarray([16 * i + 1 + level for i, both in enumerate(choice) for level in both[side]]) for side in (0, 1)
        )


@pytest.mark.parametrize("positives", [(1, 0), (2, 1), (1, 2), (0, 3)])
@pytest.mark.parametrize("negatives", [(0, 1), (1, 1), (2, 0), (1, 2)])
def test_the_bounds_hold_in_every_order_of_two_bins(positives: Any, negatives: Any) -> None:
    exact = {"auroc": AUROC, "ap": AVERAGE_PRECISION, "aupr": AUPR, "detect_acc": DETECTION_ACCURACY, "f1": F1_MAX}
    middle = [1.0625, 1.1875]  # what is cut to 4 bits between eighths
    sides = [np.repeat(middle, count).astype(float) for count in (positives, negatives)]
    counts = exceedance_counts(positives=sides[0], negatives=sides[1])
    assert was_cut(counts.thresholds, 4).all()
    reached: dict[str, list[float]] = {name: [] for name in exact}
    for one, other in orders(positives, negatives):
        ordered = exceedance_counts(positives=one.astype(float), negatives=other.astype(float))
        for name, quantity in exact.items():
            value = quantity.of([ordered])
            reached[name].append(value[0] if name == "f1" else value)
    for name, quantity in bounded(exact, 4).items():
        three = [value[0] if name == "f1" else value for value in quantity.of([counts])]
        least, most = min(reached[name]), max(reached[name])
        assert min(three) <= least <= most <= max(three), name
        slack = {"ap": 0.02, "aupr": 0.06}.get(name, 0)  # of logarithms for sums
        assert least - min(three) <= slack, name
        assert max(three) - most <= slack, name


def test_a_case_by_hand() -> None:
    metric = metric_class("ood_bench")(metrics=["auroc", "fpr95tpr", "detect_acc"], significant_bits=4)
    # of 4 bits: 1.9 and 1.95 lie between 1.875 and 2, which are told apart from both
    found = metric.compute(predictions=([1.9, 1.0, 1.875], [1.95, 2.0]))
    assert {key: round(value, 12) for key, value in found.items()} == {
        "auroc": round(11 / 12, 12),
        "auroc_error": round(1 / 12, 12),
        "fpr95tpr": round(1 / 3, 12),
        "fpr95tpr_error": round(1 / 3, 12),
        "detect_acc": 0.8,
        "detect_acc_error": 0.2,
    }


@pytest.mark.parametrize("bits", BITS)
def test_what_no_bin_can_change_has_no_error(bits: int) -> None:
    rng = np.random.default_rng(0)
    low, high = rng.uniform(1, 2, 99), rng.uniform(4, 8, 99)
    points = ["auroc", "aupr_in", "aupr_out", "aupr_in_trapezoid", "aupr_out_trapezoid", "detect_acc", "fpr99.5tpr"]
    metric = metric_class("ood_bench")(metrics=points, significant_bits=bits)
    assert set(metric.compute(predictions=(low, high)).values()) == {0.0, 1.0}
    narrow = rng.normal(size=200).round(1).astype(np.float16)
    columns = dict(predictions=narrow, references=np.arange(200) % 2)
    if bits > 10:  # float16 has no more
        found = metric_class("ood_bench")(metrics=points, significant_bits=bits).compute(**columns)
        assert {value for key, value in found.items() if key.endswith("_error")} == {0.0}
    maps, masks = np.where(np.arange(64) % 5 == 0, *rng.permuted([high[:64], low[:64]])), np.zeros((8, 8))
    masks = (maps > 3).reshape(1, 8, 8).repeat(2, 0) * np.asarray([1, 0])[:, None, None]
    maps = np.stack([maps.reshape(8, 8), low[:64].reshape(8, 8)])
    found = metric_class("anomaly_suite")(significant_bits=bits).compute(predictions=maps, references=masks)
    assert {value for key, value in found.items() if key.endswith("_error")} == {0.0}


@pytest.mark.parametrize("name", NAMES)
def test_errors_shrink_with_more_bits(name: str) -> None:
    rng = np.random.default_rng(1)
    columns, options = cases.METRICS[name].draw(rng, 500)
    key = "open_scores" if name == "openauc" else "predictions"
    columns[key] = rng.normal(size=columns[key].shape)
    errors = []
    for bits in (4, 8, 12, 16, 52):
        found = metric_class(name)(significant_bits=bits, **options).compute(**columns)
        errors.append({key: value for key, value in found.items() if key.endswith("_error")})
    assert all(later[key] < first[key] or not first[key] for first, later in zip(errors, errors[2:]) for key in first)
    assert max(errors[0].values()) < 0.5
    assert max(errors[-1].values()) == 0.0


def test_memory_does_not_grow() -> None:
    rng = np.random.default_rng(0)
    ood, suite = metric_class("ood_bench")(significant_bits=8), metric_class("anomaly_suite")(significant_bits=8)
    masks = np.zeros((4, 128, 128), bool)
    masks[0, :4, :4] = True
    exponents: set[int] = set()
    for _ in range(16):
        scores = rng.normal(size=masks.size).astype(np.float32)
        exponents |= set(np.frexp(scores)[1].tolist())
        ood.add_batch(predictions=scores, references=rng.integers(0, 2, scores.size))
        suite.add_batch(predictions=scores.reshape(masks.shape), references=masks)
    most = 2 * 2**8 * len(exponents)  # of either sign
    (state,) = ood.states()
    assert len(state["scores"]) <= 2 * most
    assert state["counts"].sum() == len(ood) == 16 * masks.size
    (state,) = suite.states()
    assert len(state["normal"]) <= most
    assert len(suite) == 64


@pytest.mark.parametrize("name", NAMES)
def test_states_keep_the_mark(name: str, tmp_path: Path) -> None:
    columns, options = cases.draw(name, 5)
    columns = {key: np.asarray(column) for key, column in columns.items()}
    options["significant_bits"] = 6
    expected = metric_class(name)(**options).compute(**columns)
    metric = metric_class(name)(**options)
    metric.add_batch(**columns)
    state = metric.state()
    for carried in (
        json.loads(json.dumps({key: array.tolist() for key, array in state.items()})),
        pickle.loads(pickle.dumps(state)),
    ):
        other = metric_class(name)(**options)
        other.merge(carried)
        assert int(other.state()["significant_bits"]) == 6
        assert other.compute() == expected
    assert pickle.loads(pickle.dumps(metric)).compute() == expected
    without = {key: value for key, value in options.items() if key != "significant_bits"}
    with pytest.raises(ValueError, match=r"state: expected significant_bits=None, as here, got significant_bits=\d+$"):
        metric_class(name)(**without).merge(state)
    with pytest.raises(ValueError, match="state: expected significant_bits=8, as here, got significant_bits=6"):
        metric_class(name)(**{**options, "significant_bits": 8}).merge(state)
    plain = metric_class(name)(**without)
    plain.add_batch(**columns)
    with pytest.raises(ValueError, match="state: expected significant_bits=6, as here, got significant_bits=None"):
        metric.merge(plain.state())
    for other_bits in None, 8:
        with pytest.raises(ValueError, match="significant_bits: it was applied as batches were added; give it at load"):
            metric.compute(significant_bits=other_bits)
    assert metric.compute() == expected


@pytest.mark.parametrize("name", NAMES)
def test_processes_share_cut_scores(name: str, tmp_path: Path) -> None:
    columns, options = cases.draw(name, 4)
    columns = {key: np.asarray(column) for key, column in columns.items()}
    options["significant_bits"] = 5
    results: list[Any] = [None, None]

    def work(process_id: int) -> None:
        own = dict(num_process=2, process_id=process_id, cache_dir=str(tmp_path), experiment_id="bits", timeout=30)
        metric = openworld_metrics.load(name, **own, **options)
        metric.add_batch(**rows(columns, np.arange(process_id, length(columns), 2)))
        results[process_id] = metric.compute()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert results == [metric_class(name)(**options).compute(**columns), None]


@pytest.mark.parametrize(
    ("bits", "error"), [(3, ValueError), (53, ValueError), (True, TypeError), (12.5, TypeError), ("12", TypeError)]
)
@pytest.mark.parametrize("name", NAMES)
def test_wrong_bits(name: str, bits: Any, error: type[Exception]) -> None:
    columns, options = cases.draw(name, 5)
    with pytest.raises(error, match="significant_bits: expected an int"):
        metric_class(name)(**options, significant_bits=bits).compute(**columns)


def test_what_has_no_bound_is_left_out() -> None:
    columns: dict[str, Any] = dict(predictions=[0.1, 0.6, 0.4, 0.9], references=[0, 0, 1, 1])
    options: dict[str, Any] = dict(significant_bits=12, threshold=0.5, thresholds=True)
    names = ["f1_score", "roc_auc_score", "tpr", "fpr95tpr", "aupr_in"]
    found = metric_class("ood_bench")(metrics=names, **options).compute(**columns)
    assert list(found) == ["fpr95tpr", "fpr95tpr_error", "aupr_in", "aupr_in_error"]
    sampled = metric_class("ood_bench")(metrics=["auroc", "aupr_out"], significant_bits=12, step=2)
    assert list(sampled.compute(**columns)) == ["aupr_out", "aupr_out_error"]
    message = r"error bound, since scores were cut to significant_bits=12; got tpr, f1_score"
    with pytest.raises(ValueError, match=message):
        metric_class("ood_bench")(metrics=["tpr", "f1_score"], **options).compute(**columns)
    maps, masks = np.random.default_rng(0).random((2, 4, 4)), np.eye(4)[None] * np.asarray([0, 1])[:, None, None]
    suite = metric_class("anomaly_suite")(significant_bits=12, num_thresholds=9, levels="pixel")
    assert list(suite.compute(predictions=maps, references=masks)) == [
        *itertools.chain(*((f"pixel_{x}", f"pixel_{x}_error") for x in ("auroc", "ap", "aupr", "f1_max", "iou_max")))
    ]


@pytest.mark.parametrize("reduction", ["mean", 2])
def test_states_of_two_image_reductions_do_not_merge(reduction: Any) -> None:
    maps, masks = np.random.default_rng(0).random((2, 4, 4)), np.eye(4)[None] * np.asarray([0, 1])[:, None, None]
    metric, other = metric_class("anomaly_suite")(), metric_class("anomaly_suite")(image_reduction=reduction)
    for each in metric, other:
        each.add_batch(predictions=maps, references=masks)
    expected = metric.state()
    with pytest.raises(ValueError, match=f"state: expected image_reduction=max, as here, got {reduction}"):
        metric.merge(other.state())
    assert len(metric) == 2
    same = metric_class("anomaly_suite")(image_reduction=reduction)
    same.merge(other.state())
    assert same.compute() == other.compute()
    assert str(expected["image_reduction"]) == "max"


def test_scores_of_both_types_are_cut_alike() -> None:
    rng = np.random.default_rng(0)
    scores = np.concatenate([DISTRIBUTIONS[kind](rng, (500,)) for kind in DISTRIBUTIONS])
    with np.errstate(over="ignore", under="ignore"):
        single = scores.astype(np.float32)
    for bits in range(4, 53):
        of_single = cut(single, bits)
        assert of_single.dtype == np.float32
        assert np.array_equal(of_single, cut(single.astype(np.float64), bits))
        assert np.array_equal(was_cut(of_single, bits), was_cut(of_single.astype(np.float64), bits))
        whole = ~was_cut(of_single, bits)
        assert np.array_equal(of_single[whole], single[whole])


def test_torch_has_the_same_results() -> None:
    torch = pytest.importorskip("torch")
    for name, seed in itertools.product(NAMES, range(5)):
        columns, options = cases.draw(name, seed)
        key = "open_scores" if name == "openauc" else "predictions"
        columns[key] = columns[key] + np.pi
        options["significant_bits"] = 5
        expected = metric_class(name)(**options).compute(**columns)
        columns[key] = torch.from_numpy(columns[key])
        found = metric_class(name)(**options).compute(**columns)
        assert found.keys() == expected.keys()
        assert all(math.isclose(found[key], expected[key], rel_tol=1e-10, abs_tol=1e-10) for key in found)
