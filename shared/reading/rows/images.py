"""Tables with a row for each box, or each row of pixels: they are split by their column of images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..reasons import some
from .cells import is_blank


def image_names(images: Any, column: str) -> np.ndarray:
    """The image of each row as text, so that 3 and "3" are one. Raises ValueError for a row without one."""
    values = np.asarray(images)
    if values.ndim != 1:
        raise ValueError(f"{column}: expected one column that names the image, got shape {values.shape}")
    blank = [i for i, image in enumerate(values.tolist()) if is_blank(image)]
    if blank:
        raise ValueError(f"{column}: expected an image for each row, got none for row {blank[0]}")
    whole = [int(x) if isinstance(x, float) and x.is_integer() else x for x in values.tolist()]
    return np.asarray([str(image) for image in whole], dtype=object)


def fitted(maps: Sequence[Any], masks: Sequence[Any], *, resize: bool) -> Sequence[Any]:
    """Maps in the sizes of their masks; with `resize`, maps of other sizes are resized (bilinear).

    Raises MapSizeError for the first map that differs in size from its mask.

    >>> fitted([np.zeros((2, 2))], [np.ones((4, 4))], resize=True)[0].shape
    (4, 4)
    """
    from ..maps.maps import MapSizeError, resized_map

    if len(maps) != len(masks) or any(np.ndim(each) != 2 for each in (*maps, *masks)):
        return maps  # the metric says what is wrong with them
    sizes = [np.shape(mask) for mask in masks]
    differing = [i for i, one in enumerate(maps) if np.shape(one) != sizes[i]]
    if differing and not resize:
        (height, width), (rows, columns) = np.shape(maps[differing[0]]), sizes[differing[0]]
        raise MapSizeError(
            f"image {differing[0] + 1}: the map is {height} × {width}, its mask {rows} × {columns} "
            f"({len(differing):,} of {len(maps):,} maps differ in size from their masks). Resize maps to masks."
        )
    return [resized_map(np.asarray(one), size, "bilinear") for one, size in zip(maps, sizes)] if differing else maps


class Split:
    """Rows of two inputs by their images, which are in the order of their first rows, those of the first input first.

    images: the names of the images of both
    """

    def __init__(self, ids: Mapping[str, np.ndarray]) -> None:
        self.ids = ids
        self.images: list[str] = list(dict.fromkeys(image for rows in ids.values() for image in rows.tolist()))
        self._place = {image: i for i, image in enumerate(self.images)}

    def by_image(self, column: str, values: Any, rows: np.ndarray | None = None) -> list[np.ndarray]:
        """The values of each image, in their order; `rows`, whether each row counts."""
        ids, values = self.ids[column], np.asarray(values)
        if len(values) != len(ids):
            raise ValueError(f"{column}: expected an image for each row, got {len(ids)} for {len(values)} rows")
        kept = np.ones(len(ids), bool) if rows is None else rows
        place = np.asarray([self._place[image] for image in ids[kept].tolist()], np.int64)
        order = np.argsort(place, kind="stable")
        ends = np.searchsorted(place[order], np.arange(1, len(self.images)))
        return np.split(values[kept][order], ends)[: len(self.images)]

    def one_each(self, column: str, name: str, values: Any) -> np.ndarray:
        """The value of each image. Raises ValueError for an image whose rows have several."""
        each = []
        for image, part in zip(self.images, self.by_image(column, values)):
            distinct = {*part.tolist()}
            if len(distinct) != 1:
                raise ValueError(
                    f"{name}: expected one value for all rows of an image, got {len(distinct)} for {image}"
                )
            each.append(part[0])
        return np.asarray(each)

    def groups(self, name: str, by_column: Mapping[str, np.ndarray]) -> list[Any]:
        """The group of each image, from rows of either input; None for an image without one."""
        group_of: dict[str, Any] = {}
        for column, values in by_column.items():
            for image, group in zip(self.ids[column].tolist(), values.tolist()):
                if not is_blank(group) and group_of.setdefault(image, group) != group:
                    got = f"{group_of[image]} and {group} for {image}"
                    raise ValueError(f"{name}: expected one value for all rows of an image, got {got}")
        return [group_of.get(image) for image in self.images]

    def notes(self, kept: Mapping[str, np.ndarray | None], model: str = "") -> list[str]:
        """Sentences on images that have rows in one input only. Raises ValueError if no image is in both.

        kept: whether each row of an input is the model's
        """
        if len(self.ids) < 2:
            return []
        own = {name: ids if kept[name] is None else ids[kept[name]] for name, ids in self.ids.items()}
        (first, predicted), (second, true) = ((name, [*dict.fromkeys(ids.tolist())]) for name, ids in own.items())
        of = f" of {model}" if model else ""
        there = ({*true}, {*predicted})
        alone, empty = ([one for one in own if one not in other] for own, other in zip((predicted, true), there))
        if predicted and true and len(alone) == len(predicted):
            raise ValueError(
                f"images: expected names that are in both inputs, got {some(predicted)} and {some(true)}: "
                "no name in common"
            )
        notes = []
        if alone:
            notes.append(f"Images with {first}{of} but no {second}, so all are wrong: {len(alone):,} ({some(alone)}).")
        if empty:
            notes.append(f"Images with {second} but no {first}{of}: {len(empty):,} ({some(empty)}).")
        return notes
