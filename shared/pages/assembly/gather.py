"""Build the arguments of a metric from the arrays chosen for its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...reading.boxes.dataset import Size
from ..columns.arrays import RESIZED, Images, Maps
from ..columns.column import FLIPPED, Column
from ..columns.samples import Detectors, Groups
from ..page import Page
from ..reading.archives import some
from ..reading.data import Data
from ..reading.names import IMAGE_NAMES, SAMPLE_NAMES, plain
from .checks import check_first_class, check_order, is_used
from .guesses import MadeOf, columns_of, source_of
from .join import Owned, group_images, join_parts, split_images
from .pairing import check_common, note_on_boxes
from .sizes import fitted


class Arguments(NamedTuple):
    """The columns for a metric's computation, by the names of its arguments.

    names: names of the images, where known
    samples: names of the samples, where a column of text has some
    note: a sentence on how images were paired
    classes, sizes: class names by id, and the width and height of each image, where known
    """

    columns: dict[str, Any]
    names: Sequence[str] = ()
    note: str = ""
    classes: Mapping[int, str] = {}
    sizes: Sequence[Size | None] = ()
    samples: Sequence[Any] = ()


def gather(
    page: Page,
    sources: Sequence[Data],
    made_of: MadeOf,
    read_as: str = "automatic",
    detector: str = "",
) -> Arguments:
    """Assemble the metric's columns.

    made_of: the names of the arrays for each column
    detector: if a column names the detector of each row, only this detector's rows are taken
    Raises TypeError for a required column without arrays, ValueError for a name that is not in the data.
    """
    values: dict[str, Any] = {}
    ids: dict[str, Any] = {}  # the image of each row, by column
    origin: dict[str, int] = {}  # the index of each column's input
    owners: tuple[Data, Any] | None = None
    grouped: Column | None = None
    for column in columns_of(page, made_of):
        names = made_of[column.name]
        if not is_used(column, names):
            _check_optional(column, source_of(column, names or None, sources))
            continue
        data = source_of(column, names, sources)
        if isinstance(column, Detectors):
            owners = data, column.take(names, data)
            continue
        if isinstance(column, Groups) and ids:
            grouped = column
            continue
        if isinstance(column, Images) and len(names) > 1 and plain(names[0]) in IMAGE_NAMES:
            ids[column.name] = _as_names(
                data.words[names[0]]() if names[0] in data.words else column.take(names[:1], data)
            )
            names = names[1:]
        origin[column.name] = next(i for i, source in enumerate(sources) if source is data)
        values[column.name] = column.take(names, data, read_as)
        if isinstance(column, Images) and column.name not in ids and getattr(values[column.name], "ndim", 3) == 2:
            values[column.name] = [values[column.name]]
    check_first_class(page, sources, made_of, values)
    image_names, note = _names_of_images(page, sources, made_of, origin, ids), ""
    side = next((side for side in (ids or values) if owners and sources[origin[side]] is owners[0]), None)
    owned = Owned(side, owners[1], detector) if owners and side and detector else None
    if owned and not ids:
        beside = [name for name in values if origin[name] == origin[owned.side]]
        values |= {name: owned.part(values[name]) for name in beside}
    if ids:
        files = {name: [*part, *sources[origin[name]].names.get("image", ())] for name, part in ids.items()}
        check_common({name: [str(image) for image in part if not pd.isna(image)] for name, part in files.items()})
        split_images(page, ids, values, origin, owned)
        note = _note_on_images(sources, ids, origin, owned) if len(ids) == 2 else ""
        if grouped is not None:
            values[grouped.name], alone = group_images(grouped, made_of[grouped.name], sources, ids, origin)
            note += f" Images without a group count in each group: {len(alone):,} ({some(alone)})." if alone else ""
    else:
        for names in image_names.values():
            check_order(names)
        _fit(page, made_of, values)
    names_of_images = next(iter(image_names.values()), [])
    known = sources[-1]
    sizes = [known.sizes.get(name) for name in names_of_images]
    samples = [] if page.images else sample_names(sources[0], made_of, owned)
    return Arguments(join_parts(page, values), names_of_images, note, known.classes, sizes, samples)


def _as_names(images: Any) -> np.ndarray:
    """The images of rows as text, so that 3 and "3" are one; None for a row without one."""
    names = np.empty(len(images), object)
    names[:] = [None if pd.isna(image) else str(_whole(image)) for image in np.asarray(images).tolist()]
    return names


def _whole(image: Any) -> Any:
    return int(image) if isinstance(image, float) and image.is_integer() else image


def _fit(page: Page, made_of: MadeOf, values: dict[str, Any]) -> None:
    """Resize maps to their masks, in place, if that is chosen."""
    column = next((column for column in page.columns if isinstance(column, Maps) and column.name in values), None)
    if column is not None and "references" in values:
        resize = made_of[column.name][0].startswith(RESIZED)
        values[column.name] = fitted(values[column.name], values["references"], resize=resize)


def sample_names(data: Data, made_of: MadeOf, owned: Owned | None = None) -> Sequence[Any]:
    """The column of text that names the samples of a table: by its name, or since its words are distinct; or none.

    owned: the detector whose rows are taken
    """
    used = {name.removeprefix(FLIPPED) for names in made_of.values() for name in names}
    texts = [
        name
        for name, array in data.arrays.items()
        if name not in used and isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype.kind in "OUT"
    ]
    chosen = next((name for name in texts if plain(name) in (*IMAGE_NAMES, *SAMPLE_NAMES)), None)
    chosen = chosen or next(
        (name for name in texts if len(pd.unique(data.arrays[name])) == len(data.arrays[name])), None
    )
    if chosen is None:
        return []
    names = data.arrays[chosen] if owned is None else owned.part(data.arrays[chosen])
    return names.tolist()


def _check_optional(column: Column, data: Data) -> None:
    if column.required:
        raise TypeError(
            f"{column.name}: no column looks like it. Pick one under Columns"
            + (f", from {', '.join(data.arrays)}" if data.arrays else "")
        )


def _note_on_images(
    sources: Sequence[Data], ids: Mapping[str, Any], origin: Mapping[str, int], owned: Owned | None
) -> str:
    """A note on images that have rows, or a file, on one side only."""
    files: dict[str, list[Any]] = {}
    for side, part in ids.items():
        names, images = sources[origin[side]].names, np.asarray(part)
        if owned is not None and owned.side == side:
            files[side] = [*images[owned.rows].tolist(), *names.get(owned.name, ())]
        else:
            files[side] = [*images.tolist(), *names.get("image", ())]
    return note_on_boxes(files, owned.name if owned is not None else "")


def _names_of_images(
    page: Page, sources: Sequence[Data], made_of: MadeOf, origin: Mapping[str, int], ids: Mapping[str, Any]
) -> dict[str, list[str]]:
    """The names of the images, for each column that has them; images of rows in the order of their first rows."""
    if ids:
        rows = [str(name) for part in ids.values() for name in np.asarray(part).ravel().tolist()]
        return {next(iter(ids)): list(dict.fromkeys(rows))}
    images = [column.name for column in page.columns if isinstance(column, Images) and column.name in origin]
    names = {name: sources[origin[name]].names.get(made_of[name][0].removeprefix(RESIZED), []) for name in images}
    return {name: own for name, own in names.items() if own}
