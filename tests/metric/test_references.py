"""Every metric equals its slow reference, on random cases with many ties, for every type of input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests import cases
from tests.checking import BACKENDS, check


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("name", cases.METRICS)
def test_metric_equals_its_slow_reference(name: str, seed: int, load: Callable[..., Any]) -> None:
    check(name, load, seed, BACKENDS["numpy-float64"])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", cases.METRICS)
def test_every_type_of_input_gives_the_reference(name: str, backend: str, load: Callable[..., Any]) -> None:
    for seed in range(100, 110):
        check(name, load, seed, BACKENDS[backend])
