"""The meaning of columns beyond their names: names of classes, ids from 1, known samples with a group, and logits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays.checks import as_counts, as_numbers
from ...metric.groups import GROUPS, groups_of, rows_of_groups
from ...metric.states import COUNTS
from ...ranking.auroc import auroc
from ...ranking.counts import sides_of_kinds
from ...scores import SCORES
from ..places import unsigned
from ..sides import means_unknown, side_of
from ..tables.files import Table
from .cells import are_blank, distinct, header, is_score, is_text, num_dimensions, number_at_end, plain, runs
from .kinds import meant_by
from .metrics import Layout

UNKNOWN = -1  # the reference of an unknown sample
_OF_LOGITS = ("msp", "max_logit", "energy", "entropy")
_OF_PROBABILITIES = ("msp", "entropy")  # the other two need the logits themselves
_OF_CLASSES = ("logit", "prob", "class", "softmax", "output", "pred")  # in the names of columns, one for each class
_CLEARLY = 1.645  # standard errors, beyond which chance lies in 5 % of cases


@dataclass(frozen=True)
class Meaning:
    """The meaning of references and groups, from all rows, of which batches may say less.

    classes: the names of the columns of class scores, or the names of classes that predictions and references share
    lowest, highest: of the true classes that are ids of at least 0
    shared: groups of known samples alone, where unknown samples have others
    are_words: whether true classes are words; predict_words, whether predicted classes are
    are_ids: whether labels are class ids, where those below 0 are unknown, rather than 0 and 1
    """

    classes: Sequence[str]
    lowest: float = math.inf
    highest: float = -math.inf
    shared: frozenset[Any] = frozenset()
    are_words: bool = False
    are_ids: bool = False
    predict_words: bool = False

    @staticmethod
    def of(layout: Layout, classes: Sequence[str], batches: Iterable[Mapping[str, Any]]) -> Meaning:
        """The meaning of columns: `references`, `open_labels` and `groups`, where there are any.

        Predicted classes that are words are names of known classes, other than words that mean unknown as a class.
        Raises ValueError for such words beside true classes that are numbers.
        """
        if not layout.label and not layout.has_classes:
            return Meaning(classes)
        low, high, below, words, whole = math.inf, -math.inf, False, False, True
        # the groups of known and of unknown samples, with labels of 0 and 1, and with class ids
        sides: dict[bool, tuple[set[Any], set[Any]]] = {False: (set(), set()), True: (set(), set())}
        predicted, true = dict[str, None](), dict[str, None]()
        for columns in batches:
            guesses = np.asarray(columns.get("predictions", ()) if layout.has_classes else ())
            if len(guesses) and is_text(guesses.ravel()):
                predicted |= dict.fromkeys(distinct(guesses.ravel()))
            labels = np.asarray(columns.get("references", ()))
            words = words or (is_text(labels) and len(labels) > 0)
            true |= dict.fromkeys(distinct(labels) if predicted and labels.dtype.kind in "OU" else ())
            if labels.dtype.kind in "iuf":
                ids = labels[labels >= 0]
                if len(ids):
                    low, high = min(low, ids.min()), max(high, ids.max())
                below = below or len(ids) < len(labels)
                whole = whole and (labels.dtype.kind != "f" or bool((labels == np.round(labels)).all()))
            if GROUPS in columns and layout.label:
                for are_ids, (of_known, of_unknown) in sides.items():
                    with suppress(ValueError, TypeError, KeyError):  # the metric's own message is better
                        unknown = np.asarray(labels < 0 if are_ids else layout.unknown(columns))
                        rows = rows_of_groups(columns[GROUPS]).items()
                        of_known |= {*groups_of(key for key, here in rows if not unknown[here].all())}
                        of_unknown |= {*groups_of(key for key, here in rows if unknown[here].any())}
        are_ids = not layout.has_classes and not layout.values and whole and below and high > 1
        of_known, of_unknown = sides[are_ids]
        shared = frozenset(of_known - of_unknown) if of_unknown else frozenset[Any]()
        if predicted and not words:
            raise ValueError(f"predictions: expected class ids, as references are, got {next(iter(predicted))!r}")
        if predicted:
            known = {word for word in predicted if not means_unknown(word)}
            of_true = {word for word in true if word in known or not (means_unknown(word) or side_of(word))}
            classes = [*sorted(of_true), *sorted(known - of_true)]  # so that true classes have one id for all models
        return Meaning(classes, low, high, shared, layout.has_classes and words, are_ids, bool(predicted))

    def applied(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """Columns, or a batch of them, with true classes as ids from 0, and known samples in every group.

        Raises ValueError for a word that is neither a class nor means unknown, and for large ids beside columns from 1.

        >>> words = np.asarray(["dog", "ood"], dtype=object)
        >>> Meaning(["cat", "dog"], are_words=True).applied({"references": words})["references"].tolist()
        [1, -1]
        >>> Meaning(["class 1", "class 2"], 1, 2).applied({"references": np.asarray([1, 2])})["references"].tolist()
        [0, 1]
        """
        changed = dict(columns)
        if self.predict_words:
            changed["predictions"] = self._of_names(columns["predictions"])
        if "references" in columns:
            changed["references"] = self._ids(columns["references"])
        if self.shared and GROUPS in columns:
            changed[GROUPS] = [*columns[GROUPS]]
            for key, rows in rows_of_groups(columns[GROUPS]).items():
                for row in rows.tolist() if key in self.shared else ():
                    changed[GROUPS][row] = None
        return changed

    def sentences(self) -> list[str]:
        """A sentence for each change by `applied`."""
        notes = []
        if self.predict_words:
            first = ", ".join(self.classes[:5]) + (", …" if len(self.classes) > 5 else "")
            notes.append(f"predictions and references are names of {len(self.classes)} classes: {first}")
        elif self.are_words:
            notes.append("references are names of the columns of class scores")
        elif self._are_from_one:
            notes.append(f"references count classes from 1, as the columns {self.classes[0]} to {self.classes[-1]} do")
        elif self.are_ids:
            notes.append("references are class ids, of which those below 0 are unknown")
        if self.shared:
            named = ", ".join(sorted(map(str, self.shared)))
            notes.append(f"samples of {named} are known, and belong to every group")
        return notes

    @property
    def _may_be_from_one(self) -> bool:
        numbered = len(self.classes) > 1 and number_at_end(self.classes[0]) == 1
        return numbered and 1 <= self.lowest <= self.highest

    @property
    def _are_from_one(self) -> bool:
        """Whether ids of classes count from 1, as the columns of their scores do."""
        return self._may_be_from_one and self.highest <= len(self.classes)

    def _of_names(self, predictions: Any) -> np.ndarray:
        """Predicted classes as ids from 0, and −1 for words that mean unknown."""
        places = {name: place for place, name in enumerate(self.classes)}
        words = np.asarray(predictions)
        return np.asarray([places.get(word, UNKNOWN) for word in words.ravel().tolist()], np.int64).reshape(words.shape)

    def _ids(self, labels: Any) -> Any:
        """True classes as ids from 0: the places of names of classes, and −1 for words that mean unknown."""
        if self.are_ids:
            return (np.asarray(labels) < 0).astype(np.int64)
        if self.are_words and is_text(values := np.asarray(labels)):
            places: dict[Any, int] = {name: place for place, name in enumerate(self.classes)}
            words = [word for word in distinct(values) if word not in places]
            wrong = [word for word in words if not side_of(word)]
            if wrong:
                listed = f"{', '.join(self.classes[:9]) or 'none'}, or a word for unknown"
                raise ValueError(f"references: expected names of the columns of scores, {listed}, got {wrong[0]!r}")
            places |= dict.fromkeys(words, UNKNOWN)
            return np.asarray([places[word] for word in values.tolist()], np.int64)
        if self._are_from_one:
            ids = np.asarray(labels)
            return np.where(ids >= 1, ids - 1, ids)
        if self._may_be_from_one:
            raise ValueError(
                f"references: expected classes from 0, since the first column of scores, {self.classes[0]}, is class "
                f"0, got {self.lowest:g} to {self.highest:g}; if these are the numbers of the columns, subtract 1"
            )
        return labels


def with_scores_of_logits(table: Table, classes: Sequence[str] = (), wanted: Sequence[str] = ()) -> Table:
    """The table, with open-set scores of the matrix (N, C ≥ 2) of logits of each file if no array could be a score.

    None of files with several matrices. Parameters: classes, the names of its columns of class scores: several arrays
    (N,) are the matrix; wanted, names of columns, of which some may be other scores than the usual ones.

    They are called "msp of logits" and so on, after the matrix. Rows of probabilities p give only the scores that do
    not need logits, computed from log p, since softmax(log p) = p.

    >>> table = with_scores_of_logits(Table({"logits": np.asarray([[2.0, 0.0], [0.0, -1.0]]), "labels": [0, 1]}))
    >>> [*table.arrays][2:]
    ['msp of logits', 'max logit of logits', 'energy of logits', 'entropy of logits']
    """
    flat = {name: array for name, array in table.arrays.items() if num_dimensions(array) == 1}
    classes = classes if len(classes) > 1 and {*classes} <= flat.keys() else ()
    by_file: dict[str, list[tuple[str, tuple[str, ...], np.ndarray]]] = {}
    for name, (members, logits) in _matrices(table, classes).items():
        by_file.setdefault(table.files.get(members[0], ""), []).append((name, members, logits))
    numbered = {*classes, *(name for names in runs(table).values() for name in names)}
    if any(len(matrices) > 1 for matrices in by_file.values()):
        return table
    if any(is_score(np.asarray(flat[name])) for name in flat.keys() - numbered):
        return table
    for file, ((name, members, logits),) in by_file.items():
        table = _with_scores(table, name, members, logits, file, wanted)
    return table


def scores_named(names: Sequence[str], offered: Sequence[str]) -> list[str]:
    """The names of columns, where the name of a score of logits stands for the columns that are made by it.

    >>> scores_named(["max_logit", "knn"], ["a: max logit of logits", "b: max logit of logits", "knn"])
    ['a: max logit of logits', 'b: max logit of logits', 'knn']
    """

    def of(name: str) -> list[str]:
        by_it = [one for one in offered if name in SCORES and _is_by(one, name) and one == unsigned(one)]
        return [name] if name in offered else by_it or [name]

    return [one for name in names for one in of(name)]


def _in_words(kind: str) -> str:
    return kind.replace("_", " ")


def _is_by(name: str, kind: str) -> bool:
    """Whether a name is that of a score of logits, or of a column that is made by it."""
    return name == kind or header(unsigned(name)).startswith(f"{_in_words(kind)} of ")


def _with_scores(
    table: Table, name: str, members: Sequence[str], logits: np.ndarray, file: str, wanted: Sequence[str]
) -> Table:
    """The table with the open-set scores of a matrix of logits, which are columns `members` of a file."""
    likely = bool(np.all(logits >= 0) and np.allclose(logits.sum(axis=1), 1, atol=1e-3))
    with np.errstate(divide="ignore"):
        logits = np.log(logits) if likely else logits
    usual = _OF_PROBABILITIES if likely else _OF_LOGITS
    kinds = [*usual, *(kind for kind in SCORES if kind not in usual and any(_is_by(name, kind) for name in wanted))]
    with suppress(ValueError, TypeError):  # NaN, or a matrix of one column
        stem = name.removesuffix(header(name))
        columns = {f"{stem}{_in_words(kind)} of {header(name)}": np.asarray(SCORES[kind](logits)) for kind in kinds}
        return table._replace(
            arrays={**table.arrays, **columns},
            files={**table.files, **(dict.fromkeys(columns, file) if file else {})},
            sources={**table.sources, **dict.fromkeys(columns, members)},
        )
    return table


def _matrices(table: Table, classes: Sequence[str]) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
    """The matrices of scores by name, with the names of their columns, also of runs; or that of `classes` alone."""
    matrices = {name: array for name, array in table.arrays.items() if num_dimensions(array) == 2}
    blocks: dict[str, list[str]] = {}
    if classes:
        matrices, by_file = {}, dict[str, list[str]]()
        for name in classes:
            by_file.setdefault(table.files.get(name, ""), []).append(name)
        blocks = {f"{each[0]} … {header(each[-1])}": each for each in by_file.values()}
    else:
        for names in runs(table).values():
            if any(word in plain(names[0]) for word in _OF_CLASSES):  # unlike s1 and s2, two models
                blocks[names[0].rstrip("0123456789_ ")] = names
    matrices |= {name: np.column_stack([table.arrays[each] for each in names]) for name, names in blocks.items()}
    of_scores = {name: np.asarray(array) for name, array in matrices.items() if array.shape[1] > 1}
    members = {name: (*blocks.get(name, (name,)),) for name in of_scores}
    return {
        name: (members[name], array.astype(float) if array.dtype.kind in "iu" else array)
        for name, array in of_scores.items()
        if array.dtype.kind == "f" or (array.dtype.kind in "iu" and meant_by(members[name], 2) == "scores")
    }


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
    blank = are_blank(value)
    if value.ndim != 1 or not blank.any():
        return column
    value = value[: np.flatnonzero(~blank)[-1] + 1] if not blank.all() else value[:0]
    return value.astype(int) if value.dtype.kind == "f" and (value == np.round(value)).all() else value
