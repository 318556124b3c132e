"""Arrow reads a text from its own memory, so that its threads need no Python when the process ends."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest

from openworld_metrics.formats.tables.csv import Csv


@pytest.mark.parametrize("length", [5, 3_000_000], ids=["a block", "a line beyond two blocks"])
def test_no_source_belongs_to_python(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    sources: list[Any] = []
    read = pyarrow.csv.read_csv

    def recorded(source: Any, **options: Any) -> pa.Table:
        sources.append(source)
        return read(source, **options)

    monkeypatch.setattr(pyarrow.csv, "read_csv", recorded)
    before = pa.total_allocated_bytes()
    csv = Csv(b"score,name\n0.5," + b"a" * length)
    assert not csv.headless
    assert csv.table.column("score").to_pylist() == [0.5]
    assert len(sources) == (1 if length == 5 else 2)
    assert all(type(source) is pa.BufferReader for source in sources)
    assert pa.total_allocated_bytes() - before >= length  # the text's copy is Arrow's
