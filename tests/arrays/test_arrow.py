"""Columns of Arrow become the arrays that Arrow makes of them, without pandas."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from openworld_metrics import OODBench
from openworld_metrics.reading.tables.arrow import from_arrow, ids_of
from tests.package.test_rooms import loaded_by

NUMBERS = [
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    "float32",
    "float64",
    "float16",
    "bool",
]


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_as_they_lie(name: str) -> None:
    values = np.asarray([0, 1, 3, 0, 1, 1, 0, 5, 1, 0], name)
    column = pa.array(values)
    chunks = pa.chunked_array([column[7:], column[:0], column[2:4]])
    rows = pa.FixedSizeListArray.from_arrays(column, 5)
    for given, expected in (
        (column, values),
        (column[3:9], values[3:9]),
        (column[:0], values[:0]),
        (chunks, np.concatenate([values[7:], values[2:4]])),
        (pa.chunked_array([], column.type), values[:0]),
        (rows, values.reshape(2, 5)),
        (rows[1:], values.reshape(2, 5)[1:]),
    ):
        found = from_arrow(given)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == values.dtype


@pytest.mark.parametrize("name", NUMBERS)
def test_missing_numbers(name: str) -> None:
    column = pa.array(np.asarray([1, 0, 1], name), mask=np.asarray([False, True, False]))
    with pytest.raises(ValueError, match="expected no missing values, got 1"):
        from_arrow(column)
    assert repr(from_arrow(column, gaps=True)) == repr(column.to_numpy(zero_copy_only=False))


def test_what_is_no_number() -> None:
    words = pa.array(["a", "b", "a"])
    for column in (words, words.dictionary_encode(), pa.array([1, 2]).cast(pa.timestamp("s")), pa.array([b"a"])):
        assert repr(from_arrow(column)) == repr(column.to_numpy(zero_copy_only=False))


def test_decimals() -> None:
    whole = pa.array([Decimal(3), Decimal(2**62 + 1), None], pa.decimal128(38, 0))
    assert from_arrow(whole[:2]).tolist() == [3, 2**62 + 1]
    assert ids_of(pa.chunked_array([whole[:1], whole[1:]])).tolist() == [3, 2**62 + 1, None]
    with pytest.raises(ValueError, match="expected no missing values, got 1"):
        from_arrow(whole)
    with pytest.raises(pa.ArrowInvalid, match="out of bounds"):
        from_arrow(pa.array([Decimal(2**70)], pa.decimal128(38, 0)))
    prices = [Decimal("0.5"), Decimal("0.25")]
    for scores in (prices, from_arrow(pa.array(prices))):
        message = r"expected numbers, got Decimal\('0\.50?'\) at position 0"
        with pytest.raises(TypeError, match=message):
            OODBench().compute(predictions=scores, references=[0, 1])


def test_a_table_of_numbers_loads_no_pandas(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b,c\n1,0.5,true\n2,0.25,false\n")
    code = """
from pathlib import Path
from openworld_metrics.reading.tables.files import read_table
assert [len(array) for array in read_table(Path("x.csv")).arrays.values()] == [2, 2, 2]
"""
    loaded = loaded_by(code, tmp_path)
    assert "pyarrow" in loaded
    assert "pandas" not in loaded
