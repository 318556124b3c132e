"""The examples of the package, and of the scripts run as they stand."""

from __future__ import annotations

import doctest
import importlib
import inspect
import sys
from pathlib import Path

import pytest

import openworld_metrics
from tests.integrations import HAS_ANOMALIB
from tests.package.rooms import MODULES, room


def run_examples(text: str, name: str) -> int:
    """Run the examples of a text and return how many there were."""
    report: list[str] = []
    examples = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    doctest.DocTestRunner().run(examples, out=report.append)
    assert not report, "".join(report)
    return len(examples.examples)


@pytest.mark.parametrize("module", MODULES)
def test_module(module: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if room(module) == "pages":
        pytest.importorskip("gradio")
    if module == "integrations.torchmetrics":
        pytest.importorskip("torchmetrics")
    if module == "integrations.anomalib" and not HAS_ANOMALIB:
        pytest.skip("anomalib is not installed with what it needs")
    monkeypatch.chdir(root)
    failed, _ = doctest.testmod(importlib.import_module(f"openworld_metrics.{module}".removesuffix(".")))
    assert failed == 0


PUBLIC = [name for name in openworld_metrics.__all__ if inspect.isfunction(getattr(openworld_metrics, name))]


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_function_says_what_it_returns_or_shows_it(name: str) -> None:
    said = getattr(openworld_metrics, name).__doc__
    assert "Returns" in said or ">>>" in said


@pytest.mark.parametrize("name", openworld_metrics.METRICS)
def test_script(name: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    metric = openworld_metrics.load(name)
    assert run_examples(sys.modules[type(metric).__module__]._KWARGS_DESCRIPTION, name) >= 2
