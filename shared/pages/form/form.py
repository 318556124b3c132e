"""What a person has filled in, by what it is, and the data that it chooses: uploads, real examples or a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from ..page import Page, Sample

OWN = "Your own data"


class Form(NamedTuple):
    """The values of a page's inputs; tables and files, one for each source."""

    example: str
    tables: Sequence[Any]
    files: Sequence[Any]
    made_of: Sequence[Any]
    read_as: str
    controls: Sequence[Any]
    leave_out: bool = False
    image: Any = 1
    photographs: Any = None

    @property
    def uploaded(self) -> bool:
        """Whether there are files of the person's own."""
        return any(self.files)


def form_of(page: Page, values: Sequence[Any]) -> Form:
    """The values of the inputs as the browser holds them, in their order on the page, by what they are."""
    example, *rest = values
    parts: list[Any] = []
    for size in (len(page.sources), len(page.sources), len(page.columns), 1, len(page.options)):
        parts.append(rest[:size])
        rest = rest[size:]
    tables, files, made_of, (read_as,), controls = parts
    return Form(example, [*map(_frame, tables)], [*map(paths_of, files)], made_of, read_as, controls, *rest)


def _frame(table: Any) -> pd.DataFrame | None:
    return table and pd.DataFrame([] if table["data"] == [[]] else table["data"], columns=table["headers"])


def paths_of(files: Any) -> list[str]:
    """The paths of what a place for files holds: none, one or several."""
    return [file["path"] for file in ([files] if isinstance(files, Mapping) else files or [])]


def titles(page: Page) -> list[str]:
    """The examples that can be chosen: real data first, tables to type in last."""
    return [*(sample.title for sample in page.samples), *(f"{TABLE}{example.title}" for example in page.examples)]


TABLE = "To type in: "


def sample_of(page: Page, title: str) -> Sample | None:
    """The real data of a title, if it is one."""
    return next((sample for sample in page.samples if sample.title == title), None)


def with_sample(page: Page, folder: Path, form: Form) -> Form:
    """The form with the files of the real data that are chosen, where there are none of the person's own."""
    sample = sample_of(page, form.example)
    if sample is None or form.uploaded:
        return form
    files = [[folder / "examples" / name] if name else [] for name in _padded(sample.files, len(page.sources))]
    behind = form.photographs or ([folder / "examples" / sample.photographs] if sample.photographs else None)
    return form._replace(files=files, photographs=behind)


def _padded(names: Sequence[str], count: int) -> list[str]:
    return [*names, *[""] * (count - len(names))]


def sample_call(page: Page, title: str, call: str) -> str:
    """The Python of real data, with the place of their files."""
    sample = sample_of(page, title)
    lines = []
    for name, column in zip(sample.files if sample else (), page.columns):
        path = f"metrics/{page.name}/examples/{name}"
        if name.endswith(".zip"):
            lines.append(f'shutil.unpack_archive("{path}", "{column.name}")')
        call = call.replace(repr(name), repr(path))
    return "\n".join(["import shutil", "", *lines, "", call]) if lines else call


def as_names(value: Any) -> list[str]:
    """What a field for one or several names holds, as a list."""
    return [] if not value else [value] if isinstance(value, str) else list(value)
