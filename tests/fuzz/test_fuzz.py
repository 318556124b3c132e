"""The fuzzing suite for half a minute, with the same inputs each time; see the package tests.fuzz."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fuzz.table import TARGETS
from tests.fuzz.worker import Worker, started


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    pytest.importorskip("resource")  # which bounds its memory
    with started() as process:
        yield process


@pytest.mark.parametrize("name", TARGETS)
def test_the_rule_holds(name: str, worker: Worker) -> None:
    count, findings = worker.run(name, 0, TARGETS[name].tested)
    assert count == TARGETS[name].tested
    first = {finding.how: finding for finding in reversed(findings)}  # each defect once, with what reproduces it
    assert not findings, "\n".join(
        f"\npython -m tests.fuzz '{name}' {one.number}: {how}\n{one.detail}" for how, one in first.items()
    )
