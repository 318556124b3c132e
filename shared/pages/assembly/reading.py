"""Reading the data of a page: one pipeline, for a look at them and for a computation alike.

inputs ─ checked_sources ─→ arrays ─ offered, settled ─→ what columns are made of
└─ unread, without ─→ arrays without rows that cannot be read ─ detectors ─→ arguments
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..page import Page
from ..reading.data import Data
from .detectors import detectors
from .gather import Arguments
from .guesses import MadeOf, missing_columns, offered, settled
from .left_out import Unread, unread, without
from .sources import checked_sources


class Reading(NamedTuple):
    """Data, and the names of the arrays that the metric's columns are made of.

    sources: the arrays of each input, without rows that are left out
    offers, made_of: for each column of the metric, the names it may be made of, and the names it is made of
    read_as: how whole numbers of a matrix are read, one of `columns.column.READ_AS`
    missing: required columns that are made of nothing
    unread: rows that cannot be read, and whether they are left out
    """

    page: Page
    sources: Sequence[Data]
    offers: MadeOf
    made_of: MadeOf
    read_as: str = "automatic"
    missing: Sequence[str] = ()
    unread: Unread | None = None
    leaves_out: bool = False

    @property
    def num_unread(self) -> int:
        """How many rows cannot be read."""
        return 0 if self.unread is None else len(self.unread.rows)

    @property
    def classes(self) -> Mapping[int, str]:
        """Names of classes by their ids, where the data give any."""
        return self.sources[-1].classes

    def detectors(self) -> dict[str, Arguments]:
        """The arguments of the metric for each detector. Raises what putting the columns together raises."""
        return detectors(self.page, self.sources, self.made_of, self.read_as)


def read(
    page: Page,
    tables: Sequence[Any],
    files: Sequence[Any],
    chosen: MadeOf | None = None,
    read_as: str = "automatic",
    leave_out: bool = False,
) -> Reading:
    """Read the inputs of a page. A choice of columns stays as long as the data offer it.

    leave_out: whether rows that cannot be read are left out

    Raises RefusedError for files that are not taken.
    """
    return settle(page, checked_sources(page, tables, files), chosen, read_as, leave_out)


def settle(
    page: Page,
    sources: Sequence[Data],
    chosen: MadeOf | None = None,
    read_as: str = "automatic",
    leave_out: bool = False,
) -> Reading:
    """As `read`, of data that are read already."""
    offers = offered(page, sources)
    made_of = settled(page, sources, chosen or {}, offers)
    missing = missing_columns(page, made_of)
    rows = None if missing else unread(page, sources, made_of)
    leave_out = leave_out and rows is not None
    if rows is not None and leave_out:
        sources = [without(sources[0], rows)]
    return Reading(page, sources, offers, made_of, read_as, missing, rows, leave_out)
