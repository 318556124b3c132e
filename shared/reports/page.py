"""What reports share beside their frame: tables, and where a report may lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from ..formats.written.atomic import check_file, check_folder, nearest_folder


def table_html(columns: Mapping[str, Sequence[Any]], signed: bool = False, *, mean: bool = False) -> str:
    """A table with a line of names above; with `mean`, the last line is one."""
    # a long name may be broken at its underscores
    head = "".join(f"<th>{escape(key).replace('_', '_<wbr>')}</th>" for key in columns)
    rows = []
    for first, *rest in zip(*columns.values()):
        cells = "".join(f"<td>{_cell(value, signed)}</td>" for value in rest)
        rows.append(f"<tr><th>{escape(str(first))}</th>{cells}</tr>")
    body = "\n".join(rows)
    table = '<table class="mean">' if mean else "<table>"
    return f'<div class="table">{table}\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'


def _cell(value: Any, signed: bool) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:+.4f}" if signed else f"{value:.4f}"
    return escape(str(value))


def check_report_folder(folder: Path, read: Sequence[Path]) -> None:
    """Raise ValueError for a report among the files that are read, OSError for one that cannot be written."""
    for place in read:
        if folder.resolve().is_relative_to(place.resolve()):
            raise ValueError(f"{folder}: expected a report outside of {place}, which is read")
    check_folder(nearest_folder(folder))
    if folder.is_dir():
        check_file(folder / "index.html")
