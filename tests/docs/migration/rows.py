"""The rows of docs/coming-from.md, and which test runs each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tests.docs.blocks import ROOT

_Test = TypeVar("_Test", bound=Callable[..., None])
_TABLE = (ROOT / "docs" / "coming-from.md").read_text(encoding="utf-8").partition("\n## Their call")[2]
ROWS = {
    cells[0].strip(): cells[1:]
    for cells in (line.strip("|").split(" | ") for line in _TABLE.splitlines() if line.startswith("| "))
    if cells[0].strip() != "their call"
}
RUN: dict[str, str] = {}  # a row's first cell, and the test that runs it


def row(*beginnings: str) -> Callable[[_Test], _Test]:
    """Say which rows a test runs, by the beginnings of their first cells."""

    def mark(test: _Test) -> _Test:
        for beginning in beginnings:
            (name,) = [name for name in ROWS if name.startswith(beginning)]
            RUN[name] = f"{test.__module__}.{test.__name__}"
        return test

    return mark
