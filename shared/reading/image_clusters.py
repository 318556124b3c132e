"""Clusters of images, such as scenes, cameras or patients: by a pattern of their names, or by a table of these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ..metric.clusters import CLUSTERS, as_cluster_names
from .columns.cells import noun_of
from .columns.kinds import Clusters, repeats
from .columns.metrics import layout_of
from .cures import CurableError, Cure, Or
from .limits import COMMANDS, Limits
from .reasons import named
from .rows.from_names import pattern_of
from .rows.inputs import read_column, split_place
from .rows.joins import row_names
from .tables.files import read_table


class ImageClusters(NamedTuple):
    """The cluster of each image, in their order; none where images are drawn one by one.

    noun: a cluster in words, such as "scene"
    notes: a sentence on where they come from
    """

    names: Sequence[str] = ()
    noun: str = "cluster"
    notes: Sequence[str] = ()

    @property
    def column(self) -> dict[str, Sequence[str]]:
        """The column of a metric; none without clusters."""
        return {CLUSTERS: self.names} if self.names else {}


NO_CLUSTERS = ImageClusters()


def clusters_of_images(
    images: Sequence[str],
    clusters: str | None = None,
    clusters_from_name: str | None = None,
    limits: Limits = COMMANDS,
) -> ImageClusters:
    r"""The clusters of images by their names.

    Parameters: images, their names, such as cam1/0004; clusters, FILE or FILE:COLUMN of a table with a column that
    names the images, with or without their suffixes, and a column of clusters; clusters_from_name, a regular
    expression whose groups are the cluster, as in '(cam\d+)/', and whose only group may name it, as in
    '(?P<camera>cam\d+)/'; limits, of the table's size. By default there are none.

    Raises ValueError for both, for a name that the pattern does not match, and for a table that lacks an image or its
    cluster, or names one twice.
    """
    if clusters is not None and clusters_from_name is not None:
        raise ValueError("clusters_from_name: expected it or clusters, got both")
    if clusters_from_name is not None:
        pattern = pattern_of("clusters_from_name", CLUSTERS, clusters_from_name)
        by_image = [*map(str, pattern.values(images))]
        noun = noun_of([pattern.made]) or NO_CLUSTERS.noun
        return ImageClusters(
            by_image, noun, [f"Clusters: {len({*by_image}):,} of {len(images):,} images, by their names."]
        )
    return NO_CLUSTERS if clusters is None else _of_table(images, clusters, limits)


def _of_table(images: Sequence[str], place: str, limits: Limits) -> ImageClusters:
    file, picked = split_place(place)
    column = picked[0] if picked else _likely(place, limits)
    cells, sheet = read_column(f"{file}:{column}", CLUSTERS, limits)
    with named(sheet.name):
        rows = _rows_of_images(images, [(name, words) for name, words, _ in row_names(sheet.table) if name != column])
        by_image = as_cluster_names([cells[rows[image]] for image in images], column)
    others = len(cells) - len({*rows.values()})
    less = f"; {others:,} of its rows name no image here" if others else ""
    note = f"Clusters: {column} of {sheet.name}, by the names of images{less}."
    return ImageClusters(by_image, noun_of([column]) or NO_CLUSTERS.noun, [note])


def _likely(place: str, limits: Limits) -> str:
    """The column of clusters of a table: the one of that name, or else the only one that may be."""
    offered = columns_of_clusters(place, limits)
    if len(offered) == 1:
        return offered[0]
    there = read_table(Path(place), (), limits).arrays
    raise CurableError(
        f"{Path(place).name}: expected a column {CLUSTERS}, got {', '.join(there)}",
        *([Cure("to choose one", {"clusters": Or(*(f"{place}:{name}" for name in offered))})] if offered else []),
    )


def columns_of_clusters(place: str, limits: Limits) -> list[str]:
    """The columns of a table that may be clusters: the likeliest by its name alone, or all whose values repeat."""
    arrays = read_table(Path(place), (), limits).arrays
    if CLUSTERS in arrays:
        return [CLUSTERS]
    column = next(each for each in layout_of("anomaly_suite").columns if isinstance(each, Clusters))
    likely = [name for name, array in arrays.items() if column.is_likely(name, array)]
    repeating = [name for name, array in arrays.items() if repeats(array)]
    return likely if len(likely) == 1 else repeating


def _rows_of_images(images: Sequence[str], columns: Sequence[tuple[str, Sequence[str]]]) -> Mapping[str, int]:
    """The row of each image, by the first column that names all of them: whole, or without suffixes, or folders too."""
    lacking = []
    for column, cells in columns:
        bare = [PurePosixPath(cell).with_suffix("").as_posix() if cell else "" for cell in cells]
        files = [cell.rpartition("/")[2] for cell in bare]
        of_files = [image.rpartition("/")[2] for image in images]
        ways = [(images, cells), (images, bare), *([(of_files, files)] if len({*of_files}) == len(images) else [])]
        for wanted, keys in ways:
            times = Counter(keys)
            without = [image for image, key in zip(images, wanted) if key not in times]
            twice = next((key for key in wanted if times[key] > 1), None)
            if without:
                lacking.append((len(without), column, without[0]))
                continue
            if twice is not None:
                raise ValueError(f"expected in {column} each image once, got {twice!r} {times[twice]} times")
            rows = {key: row for row, key in enumerate(keys)}
            return {image: rows[key] for image, key in zip(images, wanted)}
    expected = f"expected a column that names the {len(images):,} images, such as {images[0]!r}"
    if not lacking:
        raise ValueError(f"{expected}, got none")
    number, column, first = min(lacking, key=lambda each: each[0])
    raise ValueError(f"{expected}, got {column} without {number:,} of them, such as {first!r}")
