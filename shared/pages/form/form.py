"""The inputs of a page by name: their values, or the components that hold them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from ..page import Page, Sample, Table
from .fields import filled

OWN = "Your own data"  # from files
PASTED = "Your own cells"
TABLE = "To type in: "


class Form(NamedTuple):
    """The values of a page's inputs, or the components that hold them.

    tables, files: one for each source
    made_of: the names of the arrays chosen for each column of the metric
    read_as: how whole numbers of a matrix are read
    options: the value of each option's control; an option that is missing has its default
    leave_out: whether rows that cannot be read are left out
    looked: the headers of the tables, and the arrays of each column, at the last look at the data: see `looked_at`
    image, photographs: the image that is shown, from 1, and files to show behind the images
    detector, token: the detector that is shown in full, and the token of the last computation
    selection: the bar or the cell whose samples are listed: see `figures.ranked.asked_samples`
    place: from a link, what to show of the next results; for a link, the threshold; as the text of a query
    stamp: identifies in the browser the inputs of the last computation
    """

    example: Any = ""
    tables: Sequence[Any] = ()
    files: Sequence[Any] = ()
    made_of: Mapping[str, Any] = {}
    read_as: Any = "automatic"
    options: Mapping[str, Any] = {}
    leave_out: Any = False
    looked: Any = ""
    image: Any = 1
    photographs: Any = None
    detector: Any = ""
    token: Any = ""
    selection: Any = ""
    place: Any = ""
    stamp: Any = ""

    @property
    def uploaded(self) -> bool:
        """Whether there are files of the user's own."""
        return any(self.files)

    @property
    def chosen(self) -> dict[str, list[str]]:
        """The names of the arrays that the user chose for each column."""
        return {name: as_names(names) for name, names in self.made_of.items()}

    @property
    def headers(self) -> list[list[str]]:
        """The headers of the tables."""
        return [[] if table is None else [*map(str, table.columns)] for table in self.tables]

    @property
    def has_other_headers(self) -> bool:
        """Whether the tables have other headers than at the last look at the data."""
        return not self.looked or self.headers != json.loads(self.looked)["headers"]

    @property
    def is_looked_at(self) -> bool:
        """Whether the preview is of the form's present columns and headers, or nothing could be read."""
        return not self.looked or self.looked == looked_at(self, self.chosen)

    def guessed_anew(self) -> Form:
        """The form without its empty columns, which are then guessed."""
        return self._replace(made_of={name: names for name, names in self.chosen.items() if names})


def looked_at(form: Form, made_of: Mapping[str, Sequence[str]]) -> str:
    """The headers and columns of a look at the data, as JSON that the browser compares with the columns' fields."""
    return json.dumps({"headers": form.headers, "made_of": [[*names] for names in made_of.values()]})


def from_browser(components: Form, values: Sequence[Any]) -> Form:
    """The form with the values of its components, which come from the browser in the order of `leaves`."""
    form: Form = filled(components, values)
    return form._replace(
        tables=[*map(_frame, form.tables)],
        files=[*map(_paths, form.files)],
        photographs=_paths(form.photographs),
    )


def _frame(table: Any) -> pd.DataFrame | None:
    return table and pd.DataFrame([] if table["data"] == [[]] else table["data"], columns=table["headers"])


def _paths(files: Any) -> list[str]:
    """The paths of the files in a file input: none, one or several."""
    return [file["path"] for file in ([files] if isinstance(files, Mapping) else files or [])]


def data_frame(table: Table) -> pd.DataFrame:
    """A table of an example as a data frame."""
    return pd.DataFrame(dict(table))


def titles(page: Page) -> list[str]:
    """The titles of the examples: real data first, tables to type in last."""
    return [*(sample.title for sample in page.samples), *(f"{TABLE}{example.title}" for example in page.examples)]


def sample_of(page: Page, title: str) -> Sample | None:
    """The example of real data with this title, if there is one."""
    return next((sample for sample in page.samples if sample.title == title), None)


def with_sample(page: Page, folder: Path, form: Form) -> Form:
    """The form with the files of the chosen real data, unless the user has uploaded files."""
    sample = sample_of(page, form.example)
    if sample is None or form.uploaded:
        return form
    names = [*sample.files, *[""] * (len(page.sources) - len(sample.files))]
    files = [[folder / "examples" / name] if name else [] for name in names]
    behind = form.photographs or ([folder / "examples" / sample.photographs] if sample.photographs else None)
    return form._replace(files=files, photographs=behind)


def as_names(value: Any) -> list[str]:
    """The value of a field for one or several names, as a list."""
    return [] if not value else [value] if isinstance(value, str) else list(value)
