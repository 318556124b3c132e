"""What the fuzzing suite knows the answer of, with the same inputs each time; `make fuzz` damages them, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.engine import WHOLE, execute
from tests.fuzz.table import ENDINGS, find_target

NUMBER = 60


@pytest.mark.parametrize("name", [*(f"columns.{ending}" for ending in ENDINGS), "states in parts"])
def test_whole_inputs_give_what_was_put_into_them(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the inputs have folders of their own
    findings = [execute(name, find_target(name), WHOLE * i, tmp_path / "input") for i in range(NUMBER)]
    assert [finding.detail for finding in findings if finding] == []
