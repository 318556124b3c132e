"""Several detectors at once: a column for which several names are chosen gives the metric's columns once for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .columns import groups, num_dimensions
from .guesses import guess
from .inputs import Given, gather
from .page import Column, Page
from .readers import Data


def detectors(
    page: Page, sources: Sequence[Data], chosen: Mapping[str, Sequence[str]] | None = None, read_as: str = "automatic"
) -> dict[str, Given]:
    """The metric's columns for each detector, by the name of what it is made of, in the order chosen.

    Several detectors are several columns of scores (`predictions` of ood_bench, `open_scores` of the open-set metrics),
    or several matrices or stacks of maps. All other columns are the same for each. Where there is one detector, its
    name is that of the metric's column. Raises what `gather` raises; where there are several, with the name.
    """
    guesses = guess(page, sources)
    made_of = {name: list((chosen or {}).get(name) or found) for name, found in guesses.items()}
    for column in page.columns:
        names = made_of[column.name]
        if len(names) > 1 and _is_several(column, names, sources):
            return {name: gather(page, sources, {**made_of, column.name: [name]}, read_as) for name in names}
    return {page.columns[0].name: gather(page, sources, made_of, read_as)}


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
