"""The page's door to the reader, without its server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from openworld_metrics.faces.page.worker import Request, read_request
from openworld_metrics.reading.reading import Reading


def request(metric: str, inputs: Sequence[Sequence[Path]], **others: Any) -> Request:
    """What the page asks for, once these files of each input are uploaded."""
    return Request(metric, [{"": [*map(str, paths)]} for paths in inputs], **others)


def read_page(metric: str, inputs: Sequence[Sequence[Path]], chosen: Mapping[str, Any] = {}, **others: Any) -> Reading:
    """What the page reads."""
    with TemporaryDirectory() as folder:
        reading, rows = read_request(request(metric, inputs, wishes=chosen, **others), Path(folder))
        if rows is None:
            return reading
        _, again = read_request(request(metric, inputs, wishes=rows.made_of, **others), Path(folder))
        assert again is not None
        assert again.made_of == rows.made_of  # a page computes from the columns that it has shown
        return rows.reading()
