"""Names of columns and files of archives, at the limits and beyond."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from openworld_metrics import read
from openworld_metrics.reading.limits import PAGES
from openworld_metrics.reading.places import Archives
from openworld_metrics.reading.tables.files import check_names


@pytest.mark.parametrize(
    ("fitting", "refused", "message"),
    [
        (["a" * PAGES.name], ["a" * (PAGES.name + 1)], "expected names of at most 200 characters, got one of 201"),
        ([*map(str, range(PAGES.columns))], [*map(str, range(PAGES.columns + 1))], "expected at most [0-9,]+ columns"),
        (["a", "b"], ["a", "b", "a"], "expected columns of different names, got 2 named 'a'"),
        (["é"], ["\ud800"], "expected names that can be encoded in UTF-8"),
    ],
)
def test_names_of_columns(fitting: list[str], refused: list[str], message: str) -> None:
    check_names(fitting, PAGES)
    with pytest.raises(ValueError, match=message):
        check_names(refused, PAGES)


def test_hidden_files_of_an_archive_stay_in_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "maps.zip", "w") as archive:
        archive.writestr("empty/", "")
        for name in ("a/x.txt", "a/.x.txt", ".b/x.txt", "__MACOSX/a/._x.txt"):
            archive.writestr(name, "1")
    archives = Archives(PAGES)
    folder = archives.folder(tmp_path / "maps.zip")
    assert sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*")) == ["a", "a/x.txt"]


def test_a_page_of_parquet_with_another_checksum_is_refused(tmp_path: Path) -> None:
    path, scores = tmp_path / "x.parquet", [0.125, 0.5, 0.25, 0.75]
    table = pa.table({"msp": scores, "label": [0, 1, 0, 1]})
    pq.write_table(table, path, compression="none", use_dictionary=False, write_page_checksum=True)
    assert read("ood_bench", path).columns["predictions"].tolist() == scores
    data = bytearray(path.read_bytes())
    data[data.index(pa.array(scores).buffers()[1].to_pybytes()[:32])] ^= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"x\.parquet: .*CRC"):
        read("ood_bench", path)
