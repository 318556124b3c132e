"""A compute that is interrupted in its middle leaves the batches as they were."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from openworld_metrics import AnomalySuite
from openworld_metrics.anomaly import anomaly_suite, rates
from openworld_metrics.anomaly.anomaly_suite import AnomalySuite as Core
from tests import cases


def contents(metric: Core) -> dict[str, Any]:
    return {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in metric.state().items()}


def interrupted(after: int, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is interrupted when it has returned so many times."""
    left = [after]

    def call(*args: Any, **kwargs: Any) -> Any:
        returned = function(*args, **kwargs)
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return returned

    return call


@pytest.mark.parametrize("with_columns", [False, True], ids=["batches", "batches and columns"])
@pytest.mark.parametrize("options", [{}, {"confidence_level": 0.9, "n_resamples": 4}], ids=["rates", "intervals"])
@pytest.mark.parametrize(
    ("place", "name"),
    [(anomaly_suite, "PixelRates"), (rates, "level_rates"), (Core, "tables")],
    ids=["sorted", "rates", "tables"],
)
def test_the_state_is_as_it_was(
    place: Any, name: str, options: dict[str, Any], with_columns: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns, own = cases.draw("anomaly_suite", 4)
    columns.pop("groups", None)
    own.pop("confidence_level", None)
    metric = AnomalySuite(**own, **options)
    for _ in range(2):
        metric.add_batch(**columns)
    before, number = contents(metric), len(metric)
    more = columns if with_columns else {}
    sent = {key: np.array(column) if isinstance(column, np.ndarray) else column for key, column in more.items()}
    with monkeypatch.context() as patch:
        patch.setattr(place, name, interrupted(0, getattr(place, name)))
        with pytest.raises(KeyboardInterrupt):
            metric.compute(**more)
    assert contents(metric) == before
    assert len(metric) == number
    for key, column in sent.items():
        if isinstance(column, np.ndarray):
            np.testing.assert_array_equal(more[key], column)
    other = AnomalySuite(**own, **options)
    for _ in range(2):
        other.add_batch(**columns)
    assert metric.compute(**more) == other.compute(**more)
