"""The role of a file, known or unknown samples: its own labels and names of sets must not contradict it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..columns.cells import are_blank, are_numbers, are_words, as_numbers, header, num_dimensions, plain
from ..places import unsigned
from ..sides import Place, side_of_column, side_of_name, sides_of
from ..tables.files import Lines, Table, whole

_LABELS = ("labels", "label", "references", "truth", "groundtruth", "gt", "target", "openlabels")
_SETS = ("set", "group", "groups", "dataset", "oodset", "subset", "split", "source")
_ROLES = {False: "known", True: "unknown"}


def check_role(table: Table, used: Sequence[str], is_unknown: bool) -> None:
    """Raise ValueError if a column beside the scores says that samples are of the other side than their file.

    Parameters: table, of one file; used, the names of its columns of scores; is_unknown, the side of the file. Such
    columns are of words for the sides, of 0 and 1 by the name of labels, of class ids below 0, and names of sets.
    """
    scores = {*used, *map(unsigned, used)}
    beside = {name: array for name, array in table.arrays.items() if name not in scores and num_dimensions(array) == 1}
    has_classes = any("pred" in plain(name) for name in beside)  # whose labels are class ids, as OpenOOD's
    for name, array in beside.items():
        sides = _sides(header(name).strip(), np.asarray(whole(array)), has_classes)
        other = sides == float(not is_unknown)
        if other.any():
            first = table.lines.get(name, Lines()).place(int(np.argmax(other)))
            number = f"{np.count_nonzero(other):,} of {len(other):,}"
            file = f"{table.files[name]}: " if name in table.files else ""
            raise ValueError(
                f"{file}{name}: expected {_ROLES[is_unknown]} samples alone, got {number} that it calls "
                f"{_ROLES[not is_unknown]}, the first in {first}; leave these rows out, or rename {name} if it says "
                "something else"
            )


def _sides(name: str, array: np.ndarray, has_classes: bool) -> np.ndarray:
    """Whether each sample is unknown, 1 or 0, by a column of its file; NaN where the column does not say it."""
    nothing = np.full(len(array), np.nan)
    if array.dtype.kind in "OU" and are_words(array[~are_blank(array)]):
        words = {*map(str, array.tolist())}
        of_word = {word: side_of_name(word) for word in words} if plain(name) in _SETS else sides_of(words)
        sides = np.asarray([of_word[str(cell)] for cell in array.tolist()], dtype=float)
        is_named = plain(name) in (*_SETS, *_LABELS) or side_of_column(name, Place.COLUMN) is not None
        return sides if is_named or not np.isnan(sides).any() else nothing
    by_name = side_of_column(name, Place.COLUMN)
    if by_name is None and plain(name) not in _LABELS:
        return nothing
    numbers = _numbers(array)
    is_whole = bool((numbers[~np.isnan(numbers)] % 1 == 0).all())
    if is_whole and by_name is None and (numbers < 0).any():  # class ids
        return np.where(np.isnan(numbers), np.nan, numbers < 0)
    if not np.isin(numbers[~np.isnan(numbers)], (0, 1)).all() or (by_name is None and has_classes):
        return nothing
    return 1 - numbers if by_name is False else numbers


def _numbers(array: np.ndarray) -> np.ndarray:
    """A column as floats, NaN where a cell is no number."""
    if array.dtype.kind in "biuf":
        return array.astype(float)
    if array.dtype.kind not in "OU":
        return np.full(len(array), np.nan)
    numbers = np.full(len(array), np.nan)
    there = are_numbers(array)
    numbers[there] = as_numbers(array[there]).astype(float)
    return numbers


def numbers_of(table: Table) -> np.ndarray:
    """The columns of numbers of a table, side by side, (N, K)."""
    flat = [np.asarray(x) for x in table.arrays.values() if num_dimensions(x) == 1]
    numbers = [array for array in flat if array.dtype.kind in "iuf"]
    return np.column_stack(numbers) if len({*map(len, numbers)}) == 1 else np.zeros(0)


def check_sets(known: Mapping[str, Any], unknown: Mapping[str, Any]) -> None:
    """Raise ValueError for a set of unknown samples that has the scores of a set of known ones, row by row.

    Parameters: scores (N,) of each set by its name, or columns (N, K). Scores that are all the same say nothing.
    """
    for name, scores in unknown.items():
        for other, theirs in known.items():
            ours, others = np.asarray(scores), np.asarray(theirs)
            if np.array_equal(ours, others) and ours.size and (ours != ours.flat[0]).any():
                raise ValueError(
                    f"{name}: expected unknown samples, got the scores of the known set {other} row by row"
                )


def is_known_beside(path: Path, paths: Sequence[Path]) -> bool:
    """Whether the other files are OOD sets of OpenOOD's benchmark of a file's set: svhn of cifar10."""
    unknown = {name for name, group in BENCHMARKS.get(path.stem.lower(), {}).items() if group != KNOWN_GROUP}
    return {other.stem.lower() for other in paths if other != path} <= unknown


# sets of known classes under covariate shift, from OpenOOD
KNOWN_GROUP = "csid"


def _benchmark(near: str, far: str, csid: str) -> Mapping[str, str]:
    groups = {"near": near, "far": far, KNOWN_GROUP: csid}
    return {name: group for group, names in groups.items() for name in names.split()}


# OpenOOD's sets, in the spellings of its configurations and of its evaluator
_IMAGENET = _benchmark(
    "ssb_hard ninco",
    "inaturalist textures openimageo openimage_o",
    "imagenetv2 imagenetc imagenetr imagenetes imagenet_v2 imagenet_c imagenet_r imagenet_es",
)
BENCHMARKS: Mapping[str, Mapping[str, str]] = {
    "mnist": _benchmark("notmnist fashionmnist", "texture cifar10 tin places365", "svhn"),
    "cifar10": _benchmark("cifar100 tin", "mnist svhn texture places365 place365", "cinic10 cifar10c"),
    "cifar100": _benchmark("cifar10 tin", "mnist svhn texture places365 place365", "cifar100c"),
    "imagenet200": _IMAGENET,
    "imagenet": _IMAGENET,
}
