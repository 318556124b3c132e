"""From what a person gave, tables or files and what the columns are made of, to the metric's columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..page import Column, Page
from ..reading.archives import are_data_sets, some
from ..reading.readers import Data
from ..reading.uploads import read_files, read_table
from .columns import FLIPPED, IMAGE_NAMES, UNUSED, Found, choices, groups, plain, take
from .guesses import guess
from .join import Owned, group_images, join_parts, split_images
from .pairing import pair, told_of_boxes


class Given(NamedTuple):
    """The metric's columns, and the Python that makes them: lines, and an expression for each column.

    names: of the images, where they are known
    told: what is to be said of how images were paired
    """

    columns: dict[str, Any]
    setup: list[str]
    code: dict[str, str]
    names: Sequence[str] = ()
    told: str = ""


def read_sources(page: Page, tables: Sequence[Any], files: Sequence[Any]) -> list[Data]:
    """Read the files of each source; the tables count only when there is no file at all."""
    paths = [[Path(path) for path in _listed(uploaded)] for uploaded in files]
    if not any(paths):
        return [read_table(table) for table in tables]
    apart = are_data_sets(paths)
    found = []
    for i, (source, part) in enumerate(zip(page.sources, paths)):
        readers = {suffix: partial(reader, apart=apart) for suffix, reader in source.readers.items()}
        found.append(read_files(sorted(part, key=lambda path: path.name), readers, f"_{i + 1}" if i else ""))
    return page.joined(found)


def _listed(value: Any) -> list[Any]:
    return [] if value is None else list(value) if isinstance(value, (list, tuple)) else [value]


def offered(page: Page, sources: Sequence[Data]) -> dict[str, list[str]]:
    """For each column of the metric, the names it may be made of."""
    offers = {column.name: choices(source_of(column, None, sources)) for column in page.columns}
    for column in page.columns:
        if column.kind == "score":
            arrays = source_of(column, None, sources).arrays
            offers[column.name] += [FLIPPED + name for name in offers[column.name] if _is_float(arrays.get(name))]
        if column.kind in UNUSED and offers[column.name]:
            offers[column.name].append(UNUSED[column.kind])
    return offers


def _is_float(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind == "f"


def source_of(column: Column, chosen: Sequence[str] | None, sources: Sequence[Data]) -> Data:
    """The data that a column comes from: those of its own input, or of the first, which may hold all columns."""
    own, first = sources[column.source], sources[0]
    has = own.arrays if chosen is None else {*chosen} & {*own.arrays, *groups(own)}
    return own if has else first


def gather(
    page: Page,
    sources: Sequence[Data],
    chosen: Mapping[str, Sequence[str]] | None = None,
    read_as: str = "automatic",
    detector: str = "",
) -> Given:
    """Put the metric's columns together; what they are made of is guessed from the names where it is not given.

    detector: the one whose rows are taken, where a column says it of each row
    Raises TypeError for a required column without anything to make it of, ValueError for a name that is not there.
    """
    guesses = guess(page, sources)
    made_of = {name: list((chosen or {}).get(name) or found) for name, found in guesses.items()}
    setup = list(dict.fromkeys(line for data in sources for line in data.setup))
    found: dict[str, Found] = {}
    ids: dict[str, Found] = {}
    origin: dict[str, int] = {}
    owners: tuple[Data, Found] | None = None
    grouped: Column | None = None
    for column in _form(page, made_of):
        names = made_of[column.name]
        data = source_of(column, names, sources)
        if not names or UNUSED.get(column.kind) in names:
            if column.required:
                raise TypeError(
                    f"{column.name}: no column of this name was found; choose what it is made of under Columns"
                    + (f", from {', '.join(data.arrays)}" if data.arrays else "")
                )
            continue
        if column.kind == "detector":
            owners = data, take(column, names, data)
            continue
        if column.kind == "group" and ids:
            grouped = column
            continue
        if column.kind == "images" and len(names) > 1 and plain(names[0]) in IMAGE_NAMES:
            ids[column.name] = take(column, names[:1], data)
            names = names[1:]
        origin[column.name] = next(i for i, source in enumerate(sources) if source is data)
        found[column.name] = take(column, names, data, read_as)
        if column.kind == "images" and column.name not in ids and getattr(found[column.name].value, "ndim", 3) == 2:
            value, code = found[column.name]
            found[column.name] = Found([value], code and f"[{code}]")
    named, told = _names_of_images(page, sources, made_of, origin, found, ids), ""
    side = next((side for side in (ids or found) if owners and sources[origin[side]] is owners[0]), None)
    owned = Owned(side, owners[1], detector) if owners and side and detector else None
    if owned and not ids:
        beside = [name for name in found if origin[name] == origin[owned.side]]
        setup.append(f"detector = np.asarray({owned.detectors.code}).astype(str)")
        found |= {name: owned.part(found[name]) for name in beside}
    if ids:
        setup += split_images(page, ids, found, origin, owned)
        told = _told_of_images(sources, ids, origin, owned) if len(ids) == 2 else ""
        if grouped is not None:
            found[grouped.name], lines, alone = group_images(grouped, made_of[grouped.name], sources, ids, origin)
            setup += lines
            told += f" Images in no group, and so in each: {len(alone):,} ({some(alone)})." if alone else ""
    elif len(named) == 2:
        (maps, map_names), (masks, mask_names) = named.items()
        paired = pair(found[maps], map_names, found[masks], mask_names)
        found[masks], told = paired.masks, paired.told
        setup += paired.setup
    found = join_parts(page, found)
    codes = {name: part.code for name, part in found.items()}
    return Given({name: part.value for name, part in found.items()}, setup, codes, next(iter(named.values()), ()), told)


def _told_of_images(
    sources: Sequence[Data], ids: Mapping[str, Found], origin: Mapping[str, int], owned: Owned | None
) -> str:
    """What is said of images that have rows, or a file, on one side only."""
    files: dict[str, list[Any]] = {}
    for side, part in ids.items():
        names, images = sources[origin[side]].names, np.asarray(part.value)
        if owned is not None and owned.side == side:
            files[side] = [*images[owned.rows].tolist(), *names.get(owned.name, ())]
        else:
            files[side] = [*images.tolist(), *names.get("image", ())]
    return told_of_boxes(files, owned.name if owned is not None else "")


def _names_of_images(
    page: Page,
    sources: Sequence[Data],
    made_of: Mapping[str, Sequence[str]],
    origin: Mapping[str, int],
    found: Mapping[str, Found],
    ids: Mapping[str, Found],
) -> dict[str, list[str]]:
    """The names of a column's images, for each column that has them; of rows in the order of the first ones."""
    if ids:
        rows = [str(name) for part in ids.values() for name in np.asarray(part.value).ravel().tolist()]
        return {next(iter(ids)): list(dict.fromkeys(rows))}
    images = [column.name for column in page.columns if column.kind == "images" and column.name in found]
    named = {name: sources[origin[name]].names.get(made_of[name][0], []) for name in images}
    return {name: names for name, names in named.items() if names}


def _form(page: Page, made_of: Mapping[str, Sequence[str]]) -> list[Column]:
    """The metric's columns; those that stand in their place, if only these are all there."""
    forms: tuple[list[Column], list[Column]] = ([], [])
    for column in page.columns:
        forms[bool(column.part_of)].append(column)
    usual, instead = (all(made_of[column.name] for column in form if column.required) for form in forms)
    return forms[1] if instead and not usual and forms[1] else forms[0]


def missing_columns(page: Page, made_of: Mapping[str, Sequence[str]]) -> list[str]:
    """The required columns that are made of nothing."""
    return [column.name for column in _form(page, made_of) if column.required and not made_of[column.name]]
