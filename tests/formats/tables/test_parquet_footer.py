"""The sizes of column chunks, from the footer: those that Arrow says, and no end of the process where it is damaged."""

from __future__ import annotations

import base64
import io
import zlib
from pathlib import Path
from typing import Any

import pytest

from openworld_metrics.cluster import compute_parquet
from openworld_metrics.formats.tables.parquet import unpacked_bytes
from openworld_metrics.formats.tables.parquet_footer import column_chunks

pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")

# a table of five strings, one byte of whose footer was changed: pyarrow 26 ends the process at row_group(0).column(0)
DAMAGED = (
    "c-l=-!AiqG5S<MgO30<chAix%mj(~E+7weLy-Z4jV%0WK3f^J~v4^%XRr3daf;YjB@vl78*(5~Y?#>K5^WH48GYorN=N_$(@6R7L<pzi19C0|29"
    "-Oj)&D>@a01U>+y2|wHXrPS8HF0(cw!U9I#hZw0z|FR1AFnr261QP0sm3yd6w(37P0`jtR9S9XhV{;9JB`u5c0$q{fRsko;h+l#45dMZhSMNNd"
    "E3M=yk8E>p7s|zSLma{9826F=IAFFASO6YiaXy&yj8&%@w&M9^Mr{qiz-?u9`Ub~PNC~p$~Xy%N<XhjB^1?9AD6-QVO~>;JlL%?%AQ~2m(D6pJ5i"
    "SH^443N?bo|)%k{b!-JXzYRChGf8GXzz194WH"
)


@pytest.mark.parametrize("options", [{}, {"row_group_size": 3}, {"compression": "none", "write_statistics": False}])
def test_chunks_are_those_that_arrow_says(options: dict[str, Any]) -> None:
    table = pa.table({"a": [0.5] * 8, "é.b": [[1, 2], [3]] * 4, "s": [{"x": 1, "y": "q"}] * 8, "t": ["u", None] * 4})
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    metadata = pq.read_metadata(file)
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    chunks = [[group.column(i) for i in range(metadata.num_columns)] for group in groups]
    expected = [[(c.path_in_schema, c.num_values, c.total_uncompressed_size) for c in each] for each in chunks]
    assert column_chunks(file) == expected


def test_a_damaged_footer_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "damaged.parquet"
    file.write_bytes(zlib.decompress(base64.b85decode(DAMAGED)))
    assert unpacked_bytes(file) == 107
    with pytest.raises(ValueError, match=r"damaged\.parquet"):
        compute_parquet("ood_bench", file, {"predictions": pq.read_schema(file).names[0], "references": "x"})
    with pytest.raises(ValueError, match=r"damaged\.parquet.*histogram"):
        compute_parquet("ood_bench", file, dict.fromkeys(("predictions", "references"), pq.read_schema(file).names[0]))


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + b"\xff" * 9 + b"\x09\0\0\0PAR1", b"\xff\xff\xff\x7fPAR1"])
def test_what_is_no_footer(content: bytes) -> None:
    with pytest.raises(ValueError, match="expected a Parquet file, got one"):
        column_chunks(io.BytesIO(content))
