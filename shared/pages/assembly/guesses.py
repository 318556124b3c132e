"""Guess what each column of the metric is made of: by names first, and where none is known by what the values are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from ..page import Column, Page
from ..reading.readers import Data
from ..serving.limits import MAX_DETECTORS
from .columns import IMAGE_NAMES, NUMBERED, groups, num_dimensions, plain
from .words import LOOKED_AT, is_label


def guess(page: Page, sources: Sequence[Data]) -> dict[str, list[str]]:
    """Guess what each column of the metric is made of; an empty list where nothing fits."""
    guesses: dict[str, list[str]] = {}
    for column in page.columns:
        if column.part_of:
            guesses[column.name] = _named(column, list(sources[column.source].arrays), alike=False)
            continue
        taken = {name for names in guesses.values() for name in names}
        guesses[column.name] = _guess(column, sources[column.source], taken)
        if column.source and not guesses[column.name]:  # one file may hold the columns of all inputs
            guesses[column.name] = _named(column, list(sources[0].arrays), alike=False)
    instead = [column for column in page.columns if column.part_of]
    if not instead or not all(guesses[column.name] for column in instead):
        _guess_by_values(page, sources, guesses)
    return guesses


def settled(
    page: Page, sources: Sequence[Data], chosen: Mapping[str, Sequence[str]], offers: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """What each column is made of: what a person chose, where there are columns of these names, or the guess."""
    made_of = guess(page, sources)
    kept = {name: list(names) for name, names in chosen.items() if names and set(names) <= set(offers[name])}
    return made_of | kept


def _guess_by_values(page: Page, sources: Sequence[Data], guesses: dict[str, list[str]]) -> None:
    """In place: labels are the one column of two values, class ids the one of integers, scores all that are left.

    A column that could be another as well stays without a guess, and so do integers that count the rows.
    """
    for kind, fits in _FITTING.items():
        for column in page.columns:
            if column.kind == kind and column.required and not column.part_of and not guesses[column.name]:
                taken = {name for names in guesses.values() for name in names}
                runs = groups(sources[column.source])
                taken |= {member for name in taken & set(runs) for member in runs[name]}
                arrays = sources[column.source].arrays
                free = [name for name, array in arrays.items() if name not in taken and num_dimensions(array) == 1]
                found = [name for name in free if fits(np.asarray(arrays[name]))]
                guesses[column.name] = found if kind == "score" or len(found) == 1 else []


def _is_class_ids(array: np.ndarray) -> bool:
    return array.dtype.kind in "iu" and len(array) > 0 and not _counts_rows(array)


def _counts_rows(array: np.ndarray) -> bool:
    return len(array) > 1 and bool((np.diff(array.astype(np.int64)) == 1).all())


def _is_score(array: np.ndarray) -> bool:
    """Numbers with fractions, or, as a column whose text is mostly numbers, one that has a cell of another kind."""
    if array.dtype.kind == "f":
        return not is_label(array)
    if array.dtype.kind in "OU":
        return bool(pd.to_numeric(pd.Series(array[:LOOKED_AT]), errors="coerce").notna().mean() > 0.5)
    return False


_FITTING: Mapping[str, Callable[[np.ndarray], bool]] = {
    "label": is_label,
    "vector": _is_class_ids,
    "score": _is_score,
}


def _guess(column: Column, data: Data, taken: set[str]) -> list[str]:
    runs, free = groups(data), [name for name in data.arrays if name not in taken]
    if column.kind == "images":
        return _guess_images(column, data, runs)
    if column.kind in ("matrix", "scores", "classes"):
        stems = {plain(_stem(names[0])): run for run, names in runs.items()}
        named = [stems[plain(name)] for name in (column.name, *column.names) if plain(name) in stems]
        only = list(stems.values()) if len(stems) == 1 else []
        return named[:1] or _named(column, free, alike=False) or only or _named(column, free)
    single = [name for name in free if num_dimensions(data.arrays[name]) == 1]
    named = _named(column, single, alike=column.kind != "detector")
    if column.kind == "detector" and any(len(pd.unique(data.arrays[name])) > MAX_DETECTORS for name in named):
        return []
    return named


def _guess_images(column: Column, data: Data, runs: Mapping[str, list[str]]) -> list[str]:
    """A stack of images by its name, or the only one, or those whose images have the same names, each of a detector.

    Otherwise, of a table, the image column and the columns in their order.
    """
    stacks = [name for name, array in data.arrays.items() if num_dimensions(array) != 1]
    alike = len({tuple(data.names.get(name, [name])) for name in stacks}) == 1
    named = _named(column, stacks) or (stacks if alike else [])
    if named:
        return named
    image = [name for name in data.arrays if plain(name) in IMAGE_NAMES][:1]
    fields = [_named(Column(field, (field, *aliases)), list(data.arrays)) for field, *aliases in _FIELDS]
    if all(fields[:4]):
        return image + [name for field in fields for name in field]
    return [*image, *runs] if len(runs) == 1 else []


_FIELDS = (
    ("x1", "xmin", "left", "x", "cx", "xcenter"),
    ("y1", "ymin", "top", "y", "cy", "ycenter"),
    ("x2", "xmax", "right", "w", "width"),
    ("y2", "ymax", "bottom", "h", "height"),
    ("confidence", "conf", "score", "scores"),
    ("class", "cls", "label", "category", "categoryid", "classid"),
)


def _stem(name: str) -> str:
    match = NUMBERED.fullmatch(name)
    return match[1] if match else name


def _named(column: Column, names: Sequence[str], alike: bool = True) -> list[str]:
    """The first of the names that the column goes by; if `alike`, a name that contains one is the second choice."""
    known = [plain(name) for name in (column.name, *column.names)]
    for alias in known:
        exact = [name for name in names if plain(name.rpartition(": ")[2]) == alias]
        if exact:
            return exact[:1]
    return [name for alias in known if alike and len(alias) > 4 for name in names if alias in plain(name)][:1]
