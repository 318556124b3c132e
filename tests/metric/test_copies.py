"""Every metric with every option is the same in a pickle, in a copy and in another process, in mid-batch too."""

from __future__ import annotations

import copy
import math
import multiprocessing
import pickle
import re
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest

from openworld_metrics.loading import METRICS, metric_class
from tests.cases import take
from tests.metric.every_option import OPTIONS, Columns, Options, draw

CASES = [(name, options) for name, every in OPTIONS.items() for options in every]
COPIES: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda metric: pickle.loads(pickle.dumps(metric)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


def case_id(value: Any) -> str:
    """The text of a parameter, the same in every process: functions by their names alone."""
    return re.sub(r"<function (\w+) at \w+>", r"\1", str(value))


def test_every_option_occurs() -> None:
    for name in METRICS:
        assert {*metric_class(name).options} == {option for options in OPTIONS[name] for option in options}


def halves(columns: Columns) -> list[Columns]:
    number = len(columns["references"])
    rows = [[*range(number // 2)], [*range(number // 2, number)]]
    return [{key: take(column, some) for key, column in columns.items()} for some in rows]


def text(results: Any) -> str:
    """NaN is equal to itself; a confusion matrix is an array."""
    return repr(results)


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize(("name", "options"), CASES, ids=case_id)
def test_copies(name: str, options: Options, how: str) -> None:
    columns = draw(name, 1)
    expected = text(metric_class(name)(**options).compute(**columns))
    assert text(COPIES[how](metric_class(name)(**options)).compute(**columns)) == expected
    first, second = halves(columns)
    metric = metric_class(name)(**options)
    metric.add_batch(**first)
    other = COPIES[how](metric)
    other.add_batch(**second)
    assert text(other.compute()) == expected
    assert other.signature == metric_class(name)(**options).signature


def computed(metric: Any, columns: Columns) -> Any:
    return metric.compute(**columns)


def test_in_other_processes() -> None:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        columns = {name: draw(name, 2) for name in METRICS}
        there = [pool.submit(computed, metric_class(name)(**options), columns[name]) for name, options in CASES]
        for (name, options), each in zip(CASES, there):
            assert text(each.result(timeout=120)) == text(metric_class(name)(**options).compute(**columns[name]))


@pytest.mark.parametrize(("name", "options"), CASES, ids=case_id)
def test_as_torchmetrics(name: str, options: Options) -> None:
    pytest.importorskip("torchmetrics")
    from openworld_metrics.integrations.torchmetrics import as_torchmetrics

    first, second = halves(draw(name, 1))
    metric = as_torchmetrics(name, **options)
    metric.update(**first)
    other = pickle.loads(pickle.dumps(metric))
    for each in (metric, other):
        each.update(**second)
    one, two = ({key: value.item() for key, value in each.compute().items()} for each in (metric, other))
    assert one.keys() == two.keys()
    assert all(value == two[key] or math.isnan(value) for key, value in one.items())
