"""help() and type hints of every public function: what each argument is, what comes back."""

from __future__ import annotations

import importlib
import inspect
import pydoc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import openworld_metrics
from tests.integrations import HAS_ANOMALIB
from tests.package.rooms import KERNEL, MODULES, PACKAGE, room

# of the kernel, what the package hands on; of the rooms above it, every function without an underscore but the pages'
ABOVE = [m for m in MODULES if room(m) not in (*KERNEL, "__init__") and not m.startswith("faces.page")]
if not HAS_ANOMALIB:
    ABOVE.remove("integrations.anomalib")


def public_functions() -> Iterator[Any]:
    for name in openworld_metrics.__all__:
        if inspect.isfunction(function := getattr(openworld_metrics, name)):
            yield pytest.param(function, id=name)
    for module in ABOVE:
        for name, function in vars(importlib.import_module(f"openworld_metrics.{module}")).items():
            if inspect.isfunction(function) and function.__module__.endswith(module) and not name.startswith("_"):
                yield pytest.param(function, id=f"{module}.{name}")


@pytest.mark.parametrize("function", public_functions())
def test_help(function: Callable[..., Any]) -> None:
    text = " ".join(pydoc.plain(pydoc.render_doc(function)).split())
    words = text.partition(" -> ")[2]
    assert len(words) > 60
    signature = inspect.signature(function)
    assert signature.return_annotation is not inspect.Signature.empty
    for parameter in signature.parameters.values():
        assert parameter.annotation is not inspect.Parameter.empty, parameter.name


@pytest.mark.parametrize("method", ["compute", "add_batch", "add", "state", "merge", "reset"])
def test_help_of_a_metric(method: str) -> None:
    metric = openworld_metrics.load("openauc")
    text = pydoc.plain(pydoc.render_doc(getattr(metric, method)))
    assert len(text.splitlines()) >= 3
    if method in ("compute", "add_batch", "add"):
        assert "open_scores: (N,) open-set scores" in text


def test_type_hints_are_installed() -> None:
    assert (PACKAGE / "py.typed").exists()
