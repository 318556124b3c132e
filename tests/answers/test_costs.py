"""What an answer may cost: small inputs that would take minutes or gigabytes are refused at once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from openworld_metrics import METRICS
from openworld_metrics.answers.answers import answers_of, results_of
from openworld_metrics.answers.costs import MAX_STEPS, IntervalsError, check_cost
from openworld_metrics.answers.intervals import steps_of_resample
from openworld_metrics.answers.subject import Drawing, subject_of
from openworld_metrics.reading import Reading
from openworld_metrics.reading.limits import RefusedError
from tests import cases

SECONDS = 5  # of the processor; a refusal takes some milliseconds


@pytest.fixture(autouse=True)
def quick() -> Iterator[None]:
    begun = time.process_time()
    yield
    assert time.process_time() - begun < SECONDS


def boxes(count: int) -> dict[str, Any]:
    """An image of `count` predictions and objects in one place."""
    return {"predictions": [[[0, 0, 9, 9, 0.5, 0]] * count], "references": [[[0, 0, 9, 9, 0]] * count]}


OPEN_SET = {"predictions": [0, 1], "references": [0, -1], "open_scores": [0.1, 0.2]}
OOD = {"predictions": [0.1, 0.9], "references": [0, 1]}
MAPS = {"predictions": [[[0.1, 0.9]], [[0.2, 0.1]]], "references": [[[0, 1]], [[0, 0]]]}
RANKED = {"predictions": [[0.1, 0.9]], "references": [1]}
LONG = [0.5] * 99_999
KNOWN = {"known_classes": [0]}
EMPTY: list[Any] = [[]] * 20_001
LEVEL = {"confidence_level": 0.95}
LIMITS = [(i + 1) / 5_001 for i in range(5_000)]
KNOWN_OR_NOT = {
    "predictions": [0, 1] * 20,
    "references": [0, -1, 1, 1] * 10,
    "open_scores": [i / 40 for i in range(40)],
}


def of_groups(count: int) -> dict[str, Any]:
    """Two samples of each group."""
    groups = [i // 2 for i in range(2 * count)]
    return {"predictions": [0.1, 0.9] * count, "references": [0, 1] * count, "groups": groups}


COSTLY = {  # "k_list" stands for every list of options: all are counted alike
    "pairs": ("openset_detection", boxes(3_000), KNOWN, "pairs of a prediction and an object"),
    "known-classes": ("openset_detection", boxes(1), {"known_classes": [*range(10**6)]}, "1,000,000 values of known_c"),
    "classes": (
        "openset_detection",
        {"predictions": [[[0, 0, 9, 9, 0.5, i] for i in range(20_001)]], "references": [[]]},
        KNOWN,
        "known and predicted classes",
    ),
    "images": ("openset_detection", {"predictions": EMPTY, "references": EMPTY}, KNOWN, "20,001 images"),
    "num_thresholds": ("anomaly_suite", MAPS, {"num_thresholds": 10**8}, "100,000,000 num_thresholds with 1 regions"),
    "thresholds-and-limits": (
        "anomaly_suite",
        MAPS,
        {"num_thresholds": 5_000_000, "integration_limits": LONG[:5_000]},
        "5,000,000 num_thresholds with 5,000 integration_limits",
    ),
    "k_list": ("accuracyk", RANKED, {"k_list": [1] * 99_999}, "99,999 values of k_list"),
    "groups": ("ood_bench", of_groups(2_001), {}, "2,001 groups"),
    "values-of-groups": (
        "ood_bench",
        of_groups(500),
        {"metrics": [f"fpr{i / 5 + 1:g}tpr" for i in range(400)]},
        "400 values of metrics in 500 groups",
    ),
    "values-of-rows": (
        "micro_open_f",
        {name: np.tile(np.asarray(column), 7_000) for name, column in KNOWN_OR_NOT.items()},
        {"t_list": LONG[:5_000]},
        "5,000 values of t_list for 280,000 rows",
    ),
    "counted": ("ood_bench", {**OOD, "counts": [1, 20_000_000]}, {}, "20,000,001 samples by their counts"),
    "expected-ties": (
        "autkc",
        {"predictions": np.arange(200_000.0).reshape(1, -1), "references": [3]},
        {"k_list": [60_000, 60_000], "ties": "expected"},
        "the sum of k_list, with expected ties",
    ),
}
DRAWN = {
    "groups": ("ood_bench", of_groups(800), LEVEL),
    "keys": (
        "ood_bench",
        {"predictions": [0.1, 0.9] * 2_500, "references": [0, 1] * 2_500},
        {"metrics": [f"fpr{i / 10 + 1:g}tpr" for i in range(800)], **LEVEL},
    ),
    "classes": (
        "openset_detection",
        {
            "predictions": [[[0, 0, 9, 9, 0.5, i]] for i in range(400)],
            "references": [[[0, 0, 9, 9, i]] for i in range(400)],
        },
        {"known_classes": [*range(400)], "protocol": "owod", **LEVEL},
    ),
    "limits": ("anomaly_suite", MAPS, {"integration_limits": LIMITS[:4_990], **LEVEL}),
    "fpr_list": ("openauc", KNOWN_OR_NOT, {"fpr_list": LIMITS[:4_990], **LEVEL}),
    "resamples": ("ood_bench", OOD, {"n_resamples": 10**6, **LEVEL}),
}


@pytest.mark.parametrize("case", COSTLY)
def test_a_small_call_that_costs_much(case: str) -> None:
    name, columns, options, message = COSTLY[case]
    with pytest.raises(RefusedError, match=r"^This takes too long here: .* have no such limit\.$") as raised:
        results_of(name, columns, options)
    assert message in str(raised.value)
    with pytest.raises(RefusedError):
        answers_of(name, Reading(name, {"": columns}), options)


@pytest.mark.parametrize("case", DRAWN)
def test_intervals_that_cost_much(case: str) -> None:
    name, columns, options = DRAWN[case]
    with pytest.raises(IntervalsError, match=r"^Intervals take too long here: .* have no such limit\.$"):
        results_of(name, columns, options)


def test_the_commands_have_no_bound() -> None:
    reading = Reading("accuracyk", {"": {**RANKED, "groups": ["a"]}})
    answers_of("accuracyk", reading, {"k_list": [1] * 6_000}, intervals=False, bounded=False)
    with pytest.raises(RefusedError):
        answers_of("accuracyk", reading, {"k_list": [1] * 6_000}, intervals=False)


def test_intervals_of_many_models_cost_more() -> None:
    columns = {"predictions": np.arange(20_000) / 7, "references": np.arange(20_000) % 2}
    reading = Reading("ood_bench", {f"m{i}": columns for i in range(12)})
    with pytest.raises(IntervalsError, match="20,000 rows, 144,000 resamples"):
        answers_of("ood_bench", reading, {}, intervals=True)
    answer = answers_of("ood_bench", reading, {}, points=200)["m0"]
    assert answer.notes == ["Intervals take longer here, and were left out."]


def test_the_bound_itself() -> None:
    check_cost({"a": MAX_STEPS, "b": MAX_STEPS})
    with pytest.raises(RefusedError, match="too long here: b"):
        check_cost({"a": MAX_STEPS, "b": MAX_STEPS + 1})
    assert steps_of_resample(Drawing(sample=1, group=100, number=10), 1, 1, 1, 50) == 100 + 10 + 60


@pytest.mark.parametrize("value", [None, "many", [], [[1, 2]], 1e99, True, {"a": 1}])
@pytest.mark.parametrize("name", METRICS)
def test_a_wrong_option_is_for_the_metric_to_refuse(value: Any, name: str) -> None:
    """Costs are counted before options are checked, and make no other errors of them."""
    columns, options = cases.draw(name, 1)
    for option in subject_of(name).metric.options:
        if option not in ("n_resamples", "random_state"):
            with suppress(ValueError, TypeError):
                results_of(name, columns, {**options, option: value})
