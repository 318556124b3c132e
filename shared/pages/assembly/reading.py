"""Read the data of a page, in one pipeline for previews and computations.

inputs ─ checked_sources ─→ arrays ─ offered, guess, settled ─→ what columns are made of
└─ unread, without ─→ arrays without rows that cannot be read ─ detectors ─→ arguments
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ...reading.reading import Reading as Held
from ..page import Page
from ..reading.data import Data
from .detectors import detectors
from .gather import Arguments
from .guesses import MadeOf, guess, missing_columns, offered, settled
from .left_out import Unread, unread, without
from .sources import checked_sources


class Reading(NamedTuple):
    """The data of a page, and the names of the arrays for each of the metric's columns.

    sources: the arrays of each input, without rows that are left out
    offers, guesses, made_of: the arrays that each column may be made of, seems to be made of, and is made of, by name
    read_as: how whole numbers of a matrix are read, one of `columns.column.READ_AS`
    missing: required columns without arrays
    unread: rows that cannot be read, and whether they are left out
    held: what files hold that the page's own reader has read; columns may then be made of its `choices`
    """

    page: Page
    sources: Sequence[Data]
    offers: MadeOf
    guesses: MadeOf
    made_of: MadeOf
    read_as: str = "automatic"
    missing: Sequence[str] = ()
    unread: Unread | None = None
    leaves_out: bool = False
    held: Held | None = None

    @property
    def num_unread(self) -> int:
        """The number of rows that cannot be read, or of files that are left out."""
        if self.held is not None:
            return sum(map(len, self.held.census.left_out.values())) if self.leaves_out else 0
        return 0 if self.unread is None else len(self.unread.rows)

    @property
    def classes(self) -> Mapping[int, str]:
        """Class names by id, where the data have any."""
        return self.sources[-1].classes if self.held is None else self.held.classes

    def detectors(self) -> dict[str, Arguments]:
        """The arguments of the metric for each detector. Raises the errors of `assembly.detectors`."""
        if self.held is None:
            return detectors(self.page, self.sources, self.made_of, self.read_as)
        held = self.held
        note = " ".join([*held.guesses, *held.notes])
        return {
            name: Arguments(columns, held.images, note, held.classes, held.sizes, held.samples)
            for name, columns in held.models.items()
        }


def read(
    page: Page,
    tables: Sequence[Any],
    files: Sequence[Any],
    chosen: MadeOf | None = None,
    read_as: str = "automatic",
    leave_out: bool = False,
) -> Reading:
    """Read the inputs of a page.

    chosen: the names of the arrays for some columns, kept if the data have them; the other columns are guessed
    leave_out: whether rows that cannot be read are left out

    Raises RefusedError for files that are not taken.
    """
    paths = [[Path(path) for path in part or ()] for part in files]
    if page.takes(paths):
        offers = {column.name: [*page.choices.get(column.name, ())] for column in page.columns}
        guesses = {name: names[:1] for name, names in offers.items()}
        made_of = settled(guesses, chosen or {}, offers)
        held = page.reader(paths, made_of, leave_out)
        return Reading(page, [], offers, guesses, made_of, read_as, leaves_out=leave_out, held=held)
    return settle(page, checked_sources(page, tables, files), chosen, read_as, leave_out)


def settle(
    page: Page,
    sources: Sequence[Data],
    chosen: MadeOf | None = None,
    read_as: str = "automatic",
    leave_out: bool = False,
) -> Reading:
    """As `read`, for data that have been read."""
    offers, guesses = offered(page, sources), guess(page, sources)
    made_of = settled(guesses, chosen or {}, offers)
    missing = missing_columns(page, made_of)
    rows = None if missing else unread(page, sources, made_of)
    leave_out = leave_out and rows is not None
    if rows is not None and leave_out:
        sources = [without(sources[0], rows)]
    return Reading(page, sources, offers, guesses, made_of, read_as, missing, rows, leave_out)
