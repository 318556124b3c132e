"""The data of a page: what its files or tables hold, and what is chosen for the metric's columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ..reading.limits import PAGES
from ..reading.maps.maps import load
from ..reading.places import Size
from ..reading.read import READERS, holds
from ..reading.reading import Reading
from ..reading.rows.metrics import MadeOf, settled
from ..reading.rows.rows import Rows, Unread, rows_of
from ..reading.tables.files import Table
from .page import Page
from .serving.costs import Cost, check_costs
from .serving.limits import MAX_DETECTORS


class Arguments(NamedTuple):
    """The columns for a metric's computation, by the names of its arguments.

    names: names of the images, where known
    samples: names of the samples, where a column of text has some
    note: sentences on what was recognised
    classes, sizes: class names by id, and the width and height of each image, where known
    """

    columns: dict[str, Any]
    names: Sequence[str] = ()
    note: str = ""
    classes: Mapping[int, str] = {}
    sizes: Sequence[Size | None] = ()
    samples: Sequence[Any] = ()


@dataclass(frozen=True)
class Data:
    """The data of a page, of which `rows` are tables and arrays, and `held` other files.

    offers, guesses, made_of: the arrays that each column may be made of, seems to be made of, and is made of, by name;
        of other files, the choices of the page
    leaves_out: whether what cannot be used is left out
    """

    page: Page
    offers: MadeOf
    guesses: MadeOf
    made_of: MadeOf
    rows: Rows | None = None
    held: Reading | None = None
    leaves_out: bool = False

    @property
    def tables(self) -> Sequence[Table]:
        """The table of each input."""
        return () if self.rows is None else self.rows.tables

    @property
    def missing(self) -> Sequence[str]:
        """The required columns without arrays."""
        return () if self.rows is None else self.rows.missing

    @property
    def unread(self) -> Unread | None:
        """The rows that cannot be read."""
        return None if self.rows is None else self.rows.unread

    @property
    def num_unread(self) -> int:
        """The number of rows that cannot be read, or of files that are left out."""
        if self.held is not None:
            return sum(map(len, self.held.census.left_out.values())) if self.leaves_out else 0
        return 0 if self.unread is None else len(self.unread.rows)

    @cached_property
    def reading(self) -> Reading:
        """The content of the files. Raises the errors of `Rows.reading`."""
        return self.rows.reading() if self.rows is not None else self.held or Reading(self.page.name, {})

    def arguments(self) -> dict[str, Arguments]:
        """The arguments of each model, by its name."""
        reading = self.reading
        check_costs([Cost("detectors", len(reading.models), MAX_DETECTORS)])
        guesses = reading.guesses if self.held is None else []  # which the page says for as long as the form keeps them
        note = " ".join(map(_as_sentence, (*guesses, *reading.notes)))
        of_all = (reading.images, note, reading.classes, reading.sizes, reading.samples)
        return {name: Arguments(columns, *of_all) for name, columns in reading.models.items()}


def _as_sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text[:1].upper()}{text[1:]}."


def read(
    page: Page,
    tables: Sequence[Any],
    files: Sequence[Any],
    chosen: MadeOf | None = None,
    read_as: str = "automatic",
    leave_out: bool = False,
) -> Data:
    """Read the inputs of a page: files, or its tables if there are none.

    chosen: the names of the arrays for some columns, kept if the data have them; the other columns are guessed
    leave_out: whether what cannot be used is left out
    """
    paths = [[Path(path) for path in _listed(part)] for part in files]
    with _short(path for part in paths for path in part):
        for part in paths:
            PAGES.check_files(part)
        if holds(page.name, paths):
            offers = {column.name: [*page.choices.get(column.name, ())] for column in page.columns}
            guesses = {name: names[:1] for name, names in offers.items()}
            made_of = settled(guesses, chosen or {}, offers)
            choices = page.reader_choices(made_of)
            held = READERS[page.name].read(*paths, leave_out=leave_out, limits=PAGES, **choices)
            load(held, PAGES)
            return Data(page, offers, guesses, made_of, held=held, leaves_out=leave_out)
        inputs = [table for table in tables if table is not None] if not any(paths) else [*map(sorted, paths)]
        rows = rows_of(page.name, *inputs, wishes=chosen, read_as=read_as, leave_out=leave_out, limits=PAGES)
        return Data(page, rows.offers, rows.guesses, rows.made_of, rows=rows, leaves_out=rows.leaves_out)


def _listed(value: Any) -> list[Any]:
    return [] if value is None else list(value) if isinstance(value, (list, tuple)) else [value]


@contextmanager
def _short(paths: Iterator[Path]) -> Iterator[None]:
    """Name files in errors without their folders, which are the server's."""
    try:
        yield
    except (ValueError, TypeError) as error:
        for path in paths:
            error.args = tuple(
                part.replace(f"{path.parent}/", "") if isinstance(part, str) else part for part in error.args
            )
        raise
