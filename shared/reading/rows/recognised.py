"""The meaning of columns beside what they say: names of classes, ids from 1, known samples with a group, logits, and
rows of an image's boxes or pixels.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...arrays.checks import as_counts, as_numbers
from ...metric.groups import GROUPS
from ...metric.states import COUNTS
from ...ranking.counts import sides_of_kinds
from ...ranking.curves import auroc
from ...scores import energy, entropy, max_logit, msp
from ..reasons import some
from ..tables.files import Table
from .cells import are_missing, is_blank, is_text, num_dimensions, number_at_end, plain, runs, side_of
from .kinds import is_score
from .metrics import Layout

UNKNOWN = -1  # the reference of an unknown sample
_OF_LOGITS = {"msp": msp, "max logit": max_logit, "energy": energy, "entropy": entropy}
_OF_PROBABILITIES = ("msp", "entropy")  # the other two need the logits themselves
_OF_CLASSES = ("logit", "prob", "class", "softmax", "output", "pred")  # in the names of columns, one for each class
_CLEARLY = 1.645  # standard errors, beyond which chance lies in 5 % of cases


class Facts(NamedTuple):
    """The facts of all rows, of which batches may say less.

    lowest, highest: of the true classes that are ids of at least 0; None if there are none
    shared: groups of known samples alone, where unknown samples have others
    are_words: whether true classes are words
    are_ids: whether labels are class ids, where those below 0 are unknown, rather than 0 and 1
    """

    lowest: float | None
    highest: float | None
    shared: frozenset[Any] = frozenset()
    are_words: bool = False
    are_ids: bool = False


def facts_of(layout: Layout, batches: Iterable[Mapping[str, Any]]) -> Facts:
    """The facts of columns: `references`, `open_labels` and `groups`, where there are any."""
    low, high, are_words = math.inf, -math.inf, False
    whole, below, above = bool(layout.label) and not layout.has_classes, False, False
    # the groups of known and of unknown samples, with labels of 0 and 1, and with class ids
    sides: dict[bool, tuple[set[Any], set[Any]]] = {False: (set(), set()), True: (set(), set())}
    for columns in batches:
        labels = np.asarray(columns.get("references", ()) if layout.label or layout.has_classes else ())
        if layout.has_classes:
            are_words = are_words or (is_text(labels) and len(labels) > 0)
            ids = labels[labels >= 0] if labels.dtype.kind in "iuf" else labels[:0]
            if len(ids):
                low, high = min(low, ids.min()), max(high, ids.max())
        elif whole:
            whole = labels.dtype.kind in "if" and not (labels != np.round(labels)).any()
            if whole:
                below, above = below or bool((labels < 0).any()), above or bool((labels > 1).any())
        if GROUPS not in columns or not layout.label:
            continue
        groups = np.asarray(columns[GROUPS], dtype=object)
        if groups.ndim != 1:
            continue
        named = ~np.asarray([*map(is_blank, groups.tolist())], bool)
        for are_ids, (of_known, of_unknown) in sides.items():
            try:
                unknown = labels < 0 if are_ids else layout.unknown(columns)
            except (ValueError, TypeError, KeyError):  # the metric's own message is better
                continue
            if unknown is not None and unknown.shape == groups.shape:
                of_known |= {*groups[named & ~unknown].tolist()}
                of_unknown |= {*groups[named & unknown].tolist()}
    are_ids = whole and below and above
    of_known, of_unknown = sides[are_ids]
    shared = frozenset(of_known - of_unknown) if of_unknown else frozenset[Any]()
    return Facts(None if low > high else low, None if low > high else high, shared, are_words, are_ids)


def recognised(layout: Layout, columns: dict[str, Any], names: Sequence[str], facts: Facts) -> dict[str, Any]:
    """Columns, or a batch of them, with true classes as ids from 0, and known samples in every group.

    Parameters: names, of the columns of class scores; facts, of all rows. Names of classes become their places, and
    words that mean unknown −1. Raises the errors of `class_ids`.
    """
    changed = dict(columns)
    if layout.has_classes and "references" in columns:
        changed["references"] = class_ids(columns["references"], names, facts)
    elif facts.are_ids:
        changed["references"] = (np.asarray(columns["references"]) < 0).astype(np.int64)
    if facts.shared and GROUPS in columns:
        groups = np.asarray(columns[GROUPS], dtype=object).tolist()
        changed[GROUPS] = [None if group in facts.shared else group for group in groups]
    return changed


def sentences_of(layout: Layout, columns: Mapping[str, Any], names: Sequence[str], facts: Facts) -> list[str]:
    """Sentences on what `recognised` changes in columns, or in a batch of them."""
    said = []
    if layout.has_classes and "references" in columns:
        if facts.are_words:
            said.append("references are names of the columns of class scores")
        elif _are_from_one(names, facts):
            said.append(f"references count classes from 1, as the columns {names[0]} to {names[-1]} do")
    elif facts.are_ids:
        said.append("references are class ids, of which those below 0 are unknown")
    if facts.shared and GROUPS in columns:
        named = ", ".join(sorted(map(str, facts.shared)))
        said.append(f"samples of {named} are known, and belong to every group")
    return said


def _are_from_one(names: Sequence[str], facts: Facts) -> bool:
    """Whether ids of classes count from 1, as the columns of their scores do."""
    low, high = facts.lowest, facts.highest
    if len(names) < 2 or low is None or high is None or low < 1:
        return False
    return number_at_end(names[0]) == 1 and high <= len(names)


def class_ids(labels: Any, names: Sequence[str], facts: Facts) -> Any:
    """True classes as ids from 0; ids from 1 lose 1 where the columns of scores are numbered from 1.

    Parameters: labels (N,), ids, or names of classes or words for unknown; names, of the columns of scores, one for
    each class; facts, of all labels. Raises ValueError for a word that is
    neither a class nor means unknown, and for larger ids beside columns from 1.

    >>> facts = Facts(1, 2)
    >>> class_ids(np.asarray(["dog", "ood"], dtype=object), ["cat", "dog"], facts).tolist()
    [1, -1]
    >>> class_ids(np.asarray([1, 2]), ["class 1", "class 2"], facts).tolist()
    [0, 1]
    """
    values = np.asarray(labels)
    if is_text(values) and len(values):
        places: dict[Any, int] = {name: place for place, name in enumerate(names)}
        words = {*values.tolist()} - {*places}
        wrong = [word for word in words if not side_of(word)]
        if wrong:
            listed = f"{', '.join(names[:9]) or 'none'}, or a word for unknown"
            raise ValueError(f"references: expected names of the columns of scores, {listed}, got {wrong[0]!r}")
        places |= dict.fromkeys(words, UNKNOWN)
        return np.asarray([places[word] for word in values.tolist()], np.int64)
    if _are_from_one(names, facts):
        return np.where(values >= 1, values - 1, values)
    low, high = facts.lowest, facts.highest
    if low is not None and low >= 1 and len(names) > 1 and number_at_end(names[0]) == 1:
        raise ValueError(
            f"references: expected classes from 0, since the first column of scores, {names[0]}, is class 0, got "
            f"{low:g} to {high:g}; if these are the numbers of the columns, subtract 1"
        )
    return labels


def with_scores_of_logits(table: Table, classes: Sequence[str] = ()) -> Table:
    """The table, with open-set scores of its only matrix (N, C ≥ 2) of logits if no array could be a score.

    Parameters: classes, the names of its columns of class scores, if they are named after the classes.

    They are called "msp of logits" and so on, after the matrix. Rows of probabilities p give only the scores that do
    not need logits, computed from log p, since softmax(log p) = p.

    >>> table = with_scores_of_logits(Table({"logits": np.asarray([[2.0, 0.0], [0.0, -1.0]]), "labels": [0, 1]}))
    >>> [*table.arrays][2:]
    ['msp of logits', 'max logit of logits', 'energy of logits', 'entropy of logits']
    """
    matrix = _only_matrix(table)
    if len(classes) > 1:
        values = np.column_stack([table.arrays[name] for name in classes])
        matrix = (f"{classes[0]} … {classes[-1]}", values) if values.dtype.kind == "f" else None
    numbered = {*classes, *(name for names in runs(table).values() for name in names)}
    flat = (array for name, array in table.arrays.items() if name not in numbered and num_dimensions(array) == 1)
    if matrix is None or any(is_score(np.asarray(array)) for array in flat):
        return table
    name, logits = matrix
    likely = bool(np.all(logits >= 0) and np.allclose(logits.sum(axis=1), 1, atol=1e-3))
    with np.errstate(divide="ignore"):
        logits = np.log(logits) if likely else logits
    kinds = _OF_PROBABILITIES if likely else [*_OF_LOGITS]
    try:
        columns = {f"{kind} of {name}": np.asarray(_OF_LOGITS[kind](logits)) for kind in kinds}
    except (ValueError, TypeError):  # NaN, or a matrix of something else
        return table
    return table._replace(arrays={**table.arrays, **columns})


def _only_matrix(table: Table) -> tuple[str, np.ndarray] | None:
    """The name and values of the only matrix of floats, or the only run of numbered columns of floats."""
    matrices = {name: array for name, array in table.arrays.items() if num_dimensions(array) == 2}
    for names in runs(table).values():
        if any(word in plain(names[0]) for word in _OF_CLASSES):  # unlike s1 and s2, two models
            matrices[names[0].rstrip("0123456789_ ")] = np.column_stack([table.arrays[name] for name in names])
    floats = {name: np.asarray(array) for name, array in matrices.items() if np.asarray(array).dtype.kind == "f"}
    if len(floats) != 1:
        return None
    ((name, matrix),) = floats.items()
    return (name, matrix) if matrix.shape[1] >= 2 else None


def wrong_way(layout: Layout, columns: Mapping[str, Any]) -> float | None:
    """The AUROC of scores in the wrong direction, beyond chance; None for others, and if it cannot be computed.

    Higher scores should mean unknown. The standard error of the AUROC of scores that say nothing is
    √((u + k + 1) / (12 u k)) for u unknown and k known samples. Source: Mann & Whitney, AMS 1947.
    """
    column = layout.scores()
    if column is None or not layout.label:
        return None
    try:
        scores, is_unknown = as_numbers(columns[column.name], column.name), np.asarray(layout.unknown(columns))
        counts = as_counts(columns[COUNTS], COUNTS) if COUNTS in columns else None
        known, unknown = sides_of_kinds(scores, is_unknown, 2, counts)
        value = auroc(positives=unknown, negatives=known)
    except (LookupError, TypeError, ValueError):  # the metric says what is wrong with them
        return None
    u, k = unknown.total, known.total
    return value if 0.5 - value > _CLEARLY * math.sqrt((u + k + 1) / (12 * u * k)) else None


def without_trailing_blanks(column: Any) -> Any:
    """A column without blank cells at its end; whole numbers, which blank cells make floats, become ints again."""
    value = np.asarray(column)
    blank = are_missing(value)
    if value.ndim != 1 or not blank.any():
        return column
    value = value[: np.flatnonzero(~blank)[-1] + 1] if not blank.all() else value[:0]
    return value.astype(int) if value.dtype.kind == "f" and (value == np.round(value)).all() else value


def blank_rows(names: np.ndarray) -> np.ndarray:
    """The rows without a name, which are empty or white space, (n,) indices."""
    return np.flatnonzero([is_blank(name) for name in names.tolist()])


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
