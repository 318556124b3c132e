"""Several detectors at once: if a column may be any of several arrays, each of them gives one set of arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..columns.cells import is_blank
from ..columns.samples import Detectors
from ..page import Page
from ..reading.data import Data
from ..serving.costs import Cost, check_costs
from ..serving.limits import MAX_DETECTORS
from .checks import check_parts, is_used
from .data_sets import with_groups
from .gather import Arguments, gather
from .guesses import MadeOf, source_of


def detectors(page: Page, sources: Sequence[Data], made_of: MadeOf, read_as: str = "automatic") -> dict[str, Arguments]:
    """The arguments for each detector, by the name of its array or in its rows, in the order chosen.

    Several detectors are several columns of scores (`predictions` of ood_bench, `open_scores` of the open-set metrics),
    several matrices or stacks of maps, or rows with a column that names the detector. Detectors share all other
    columns. A single detector is named after the metric's column. Raises the errors of `gather`.
    """
    check_parts(page, made_of)
    rows = _names_of_rows(page, sources, made_of)
    columns: dict[str, MadeOf] = {"": made_of}
    for column in page.columns:
        names = made_of[column.name]
        if len(names) > 1 and column.is_several(names, sources):
            columns = {name: {**made_of, column.name: [name]} for name in names}
            break
    several = {
        ", ".join(filter(None, (row, name))): (row, one) for row in rows or [""] for name, one in columns.items()
    }
    check_costs([Cost("detectors", len(several), MAX_DETECTORS)])
    return {
        name or page.columns[0].name: with_groups(page, gather(page, sources, one, read_as, detector=row))
        for name, (row, one) in several.items()
    }


def _names_of_rows(page: Page, sources: Sequence[Data], made_of: MadeOf) -> list[str]:
    """The distinct names in the column of detectors; none if there is no such column.

    Raises ValueError for a row without a name.
    """
    column = next((column for column in page.columns if isinstance(column, Detectors)), None)
    if column is None or not is_used(column, made_of[column.name]):
        return []
    names = made_of[column.name]
    values = np.asarray(column.take(names, source_of(column, names, sources)), dtype=object)
    missing = [i for i, value in enumerate(values) if is_blank(value)]
    if missing:
        raise ValueError(f"{names[0]}: expected a name for each row, got none in row {missing[0] + 1}")
    return [str(value) for value in pd.unique(values)]


def pooled(several: Mapping[str, Arguments]) -> dict[str, Any]:
    """The columns of the first detector; lists of images are followed by those of the other detectors."""
    first, *others = several.values()
    columns = dict(first.columns)
    for one in others:
        for name, value in one.columns.items():
            columns[name] = [*columns[name], *value] if isinstance(value, list) else columns[name]
    return columns
