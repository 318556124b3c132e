"""The fuzzing suite for half a minute, with the same inputs each time; see the package tests.fuzz."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fuzz.engine import Finding
from tests.fuzz.runs import Worker
from tests.fuzz.table import TARGETS


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    pytest.importorskip("resource")  # which bounds its memory
    with Worker() as started:
        yield started


@pytest.mark.parametrize("name", TARGETS)
def test_the_rule_holds(name: str, worker: Worker) -> None:
    count, findings = worker.run(name, 0, TARGETS[name].tested)
    assert count == TARGETS[name].tested
    assert not findings, told(findings)


def told(findings: list[Finding]) -> str:
    """Each defect once, with what reproduces it."""
    first = {finding.how: finding for finding in reversed(findings)}
    return "\n".join(
        f"\npython -m tests.fuzz '{one.target}' {one.number}: {how}\n{one.detail}" for how, one in first.items()
    )
