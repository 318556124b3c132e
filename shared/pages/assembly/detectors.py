"""Several detectors at once: a column for which several names are chosen gives the metric's columns once for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..page import Column, Page
from ..reading.readers import Data
from ..serving.costs import Cost, check_costs
from ..serving.limits import MAX_DETECTORS
from .columns import UNUSED, groups, num_dimensions, take
from .guesses import guess
from .inputs import Given, gather, source_of
from .join import is_blank


def detectors(
    page: Page, sources: Sequence[Data], chosen: Mapping[str, Sequence[str]] | None = None, read_as: str = "automatic"
) -> dict[str, Given]:
    """The metric's columns for each detector, by the name of what it is made of, in the order chosen.

    Several detectors are several columns of scores (`predictions` of ood_bench, `open_scores` of the open-set metrics),
    several matrices or stacks of maps, or rows of which a column says the detector. All other columns are the same for
    each. Where there is one detector, its name is that of the metric's column. Raises what `gather` raises.
    """
    guesses = guess(page, sources)
    made_of = {name: list((chosen or {}).get(name) or found) for name, found in guesses.items()}
    own = _names_of_rows(page, sources, made_of)
    made = {"": made_of}
    for column in page.columns:
        names = made_of[column.name]
        if len(names) > 1 and _is_several(column, names, sources):
            made = {name: {**made_of, column.name: [name]} for name in names}
            break
    several = {", ".join(filter(None, (row, name))): (row, one) for row in own or [""] for name, one in made.items()}
    check_costs([Cost("detectors", len(several), MAX_DETECTORS)])
    return {
        name or page.columns[0].name: gather(page, sources, one, read_as, detector=row)
        for name, (row, one) in several.items()
    }


def _names_of_rows(page: Page, sources: Sequence[Data], made_of: Mapping[str, Sequence[str]]) -> list[str]:
    """The detectors that a column says of each row; none where there is no such column.

    Raises ValueError for a row without one.
    """
    column = next((column for column in page.columns if column.kind == "detector" and made_of[column.name]), None)
    if column is None:
        return []
    names = made_of[column.name]
    if UNUSED["detector"] in names:
        return []
    values = np.asarray(take(column, names, source_of(column, names, sources)).value, dtype=object)
    missing = [i for i, value in enumerate(values) if is_blank(value)]
    if missing:
        raise ValueError(f"{names[0]}: expected a name for each row, got none in row {missing[0] + 1}")
    return [str(value) for value in pd.unique(values)]


def pooled(several: Mapping[str, Given]) -> dict[str, Any]:
    """The columns of the first detector, with the images of all of them one after the other where they are lists."""
    first, *others = several.values()
    columns = dict(first.columns)
    for one in others:
        for name, value in one.columns.items():
            columns[name] = [*columns[name], *value] if isinstance(value, list) else columns[name]
    return columns


def _is_several(column: Column, names: Sequence[str], sources: Sequence[Data]) -> bool:
    """Whether each of the names could be the column by itself."""
    if column.part_of:
        return False
    if column.kind == "score":
        return True
    data = [source for source in sources if set(names) & {*source.arrays, *groups(source)}]
    whole = {name for source in data for name in groups(source)} if column.kind != "images" else set()
    whole |= {name for source in data for name, array in source.arrays.items() if num_dimensions(array) >= 2}
    return column.kind not in ("vector", "label") and set(names) <= whole
