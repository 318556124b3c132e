"""The columns of each metric by the names that they have in files, and guesses of their arrays, by names and values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..tables.files import Table
from .cells import num_dimensions, runs
from .kinds import (
    FLIPPED,
    Classes,
    Column,
    Counts,
    Groups,
    Images,
    Labels,
    Maps,
    Matrix,
    Models,
    Names,
    ScoreMatrix,
    Scores,
    TrueClasses,
    are_words,
)

COUNTS = Counts("counts", ("count",), required=False)
DATA_SETS = Groups("groups", ("group", "dataset", "data_set", "ood_set"), required=False)
MODELS = Models("detector", ("model", "method"), required=False)


@dataclass(frozen=True)
class Layout:
    """The columns that a metric takes of files.

    columns: its columns
    inputs: how many inputs it has, of each of which columns have their own
    label: the column of 0 and 1 that says which samples are unknown; "" if there is none
    of_logits: whether scores may be computed from logits, where there are no others
    """

    columns: tuple[Column, ...]
    inputs: int = 1
    label: str = ""
    of_logits: bool = False

    def unknown(self, columns: Mapping[str, Any]) -> np.ndarray | None:
        """Whether each sample is unknown, (N,) booleans; None where columns do not say it."""
        if not self.label:
            return None
        if columns.get(self.label) is not None:
            return np.asarray(columns[self.label]) == 1
        return np.asarray(columns["references"]) < 0

    @property
    def has_classes(self) -> bool:
        """Whether the references are true classes."""
        return any(isinstance(column, TrueClasses) for column in self.columns)

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    def scores(self) -> Scores | None:
        """The column of scores that are higher for unknown samples."""
        return next((column for column in self.columns if isinstance(column, Scores)), None)

    @property
    def flag(self) -> str:
        """The flag of a command that chooses a model: its scores or, where a metric has none, its predictions."""
        return (self.scores() or self.columns[0]).name.replace("_", "-")


_TRUE = ("y_true", "labels", "label", "target", "true", "true_class", "truth", "ground_truth", "gt")
_LOGITS = ("logits", "logit", "probs", "prob", "proba")
_TOPK = (
    Matrix("predictions", ("y_pred", "preds", "pred", *_LOGITS, "scores", "score", "class", "guess", "p")),
    TrueClasses("references", _TRUE),
    COUNTS,
    DATA_SETS,
    MODELS,
)
_OPEN = (
    Classes("predictions", ("close_pred", "pred", *_LOGITS, "class", "scores", "y_pred", "p")),
    TrueClasses("references", ("close_labels", *_TRUE)),
    Scores("open_scores", ("open_pred", "open_score", "ood_score", "unknown_score")),
    Labels("open_labels", ("open_label", "is_unknown", "unknown"), required=False),
    COUNTS,
    DATA_SETS,
    MODELS,
)
_PARTS = ("open_set_pred_known", "open_set_pred_unknown", "close_set_pred_class", "close_set_labels")
_OOD = (
    Scores("predictions", ("scores", "score", "ood_score", "open_scores")),
    Labels("references", ("labels", "label", "is_ood", "ood", "open_labels", "truth", "ground_truth", "gt")),
    COUNTS,
    DATA_SETS,
    MODELS,
    Column("in-distribution scores", ("id_scores", "scores_in", "scores_id"), part_of="predictions"),
    Column("OOD scores", ("scores_out", "scores_ood"), part_of="predictions"),
)
_open = Layout(_OPEN, label="open_labels", of_logits=True)
LAYOUTS: Mapping[str, Layout] = {
    "accuracyk": Layout(_TOPK),
    "autkc": Layout((ScoreMatrix(_TOPK[0].name, _TOPK[0].names), *_TOPK[1:])),
    "macro_open_f": _open,
    "micro_open_f": _open,
    "openauc": replace(_open, columns=(*_OPEN, *(Column(name, part_of=name) for name in _PARTS))),
    "ood_bench": Layout(_OOD, label="references", of_logits=True),
    "openset_detection": Layout(
        (
            Images("predictions", ("boxes", "detections")),
            Images("references", ("ground_truth", "targets", "boxes"), source=1),
            MODELS,
            replace(DATA_SETS, source=1),
        ),
        inputs=2,
    ),
    "anomaly_suite": Layout(
        (
            Maps("predictions", ("maps", "anomaly_maps", "scores")),
            Images("references", ("masks", "mask", "ground_truth", "gt"), source=1),
            Column("image_scores", required=False),
            Labels("image_labels", required=False, source=1),
            Names("samples", required=False),
            DATA_SETS,
        ),
        inputs=2,
    ),
}


MadeOf = Mapping[str, Sequence[str]]  # column of the metric → names of arrays
_CONFIDENCE = re.compile(
    r"(?<![a-z])(conf|confidences?|certainty|max[_ -]?(softmax|prob(abilit(y|ies))?))(?![a-z])", re.I
)


def says_confidence(name: str) -> bool:
    """Whether the name of scores says that they are higher for known samples.

    >>> says_confidence("max_softmax"), says_confidence("energy")
    (True, False)
    """
    return bool(_CONFIDENCE.search(name))


def offered(layout: Layout, tables: Sequence[Table]) -> dict[str, list[str]]:
    """The names of the arrays that each column may be made of."""
    return {column.name: column.offer(table_of(column, None, tables)) for column in layout.columns}


def table_of(column: Column, names: Sequence[str] | None, tables: Sequence[Table]) -> Table:
    """The table of a column's own input, or of the first, which may hold all columns."""
    own, first = tables[column.source], tables[0]
    has = own.arrays if names is None else {*names} & {*own.arrays, *runs(own)}
    return own if has else first


def guessed(layout: Layout, tables: Sequence[Table]) -> dict[str, list[str]]:
    """The names of the arrays for each column; an empty list where nothing fits."""
    guesses: dict[str, list[str]] = {}
    for column in layout.columns:
        table = tables[column.source]
        if column.part_of:
            guesses[column.name] = column.named([*table.arrays], alike=False)
            continue
        guesses[column.name] = column.guess(table, _free(table, guesses))
        if column.source and not guesses[column.name]:  # one file may hold the columns of all inputs
            guesses[column.name] = column.named([*tables[0].arrays], alike=False)
    instead = [column for column in layout.columns if column.part_of]
    if not instead or not all(guesses[column.name] for column in instead):
        _guess_classes(layout, tables[0], guesses)
        _guess_by_values(layout, tables, guesses)
    for column in layout.columns:
        if isinstance(column, Scores):
            guesses[column.name] = [FLIPPED + name if says_confidence(name) else name for name in guesses[column.name]]
    return guesses


def _free(table: Table, guesses: MadeOf) -> list[str]:
    """The names of arrays that no column uses."""
    numbered = runs(table)
    used = {one for names in guesses.values() for name in names for one in (name, *numbered.get(name, ()))}
    return [name for name in table.arrays if name not in used]


def named_classes(layout: Layout, table: Table) -> list[str]:
    """The columns of class scores that are named after the true classes; none if there are no such."""
    guesses: dict[str, list[str]] = {column.name: [] for column in layout.columns}
    _guess_classes(layout, table, guesses)
    return next((guesses[column.name] for column in layout.columns if isinstance(column, Classes)), [])


def _guess_classes(layout: Layout, table: Table, guesses: dict[str, list[str]]) -> None:
    """Guess in place the true classes as words, and the scores of classes as the columns of these names."""
    predictions = next((column for column in layout.columns if isinstance(column, Classes)), None)
    references = next((column for column in layout.columns if isinstance(column, TrueClasses)), None)
    if predictions is None or references is None:
        return
    taken = {name for key, names in guesses.items() if key not in (predictions.name, references.name) for name in names}
    flat = {
        name: np.asarray(array)
        for name, array in table.arrays.items()
        if num_dimensions(array) == 1 and name not in taken
    }
    own = guesses[references.name]
    words = own if own and are_words(flat.get(own[0], np.zeros(0))) else references.guess_by_values(flat)
    if not words or not are_words(flat[words[0]]):
        return
    classes = {cell for cell in flat[words[0]].tolist() if isinstance(cell, str) and cell in flat}
    if not classes:
        return
    columns = [name for name, array in flat.items() if array.dtype.kind in "fiu"]
    guesses[references.name], guesses[predictions.name] = words, _block(flat, columns, classes)


def _block(flat: Mapping[str, np.ndarray], columns: Sequence[str], classes: set[str]) -> list[str]:
    """The columns of class scores: from the first to the last that is named after a true class, and those beside.

    A column beside them is one of theirs if the rows of all sum to 1 with it, or if none of these sum to 1.
    Raises ValueError if columns beside them may be theirs or not.
    """
    places = [place for place, name in enumerate(columns) if name in classes]
    inner = [*columns[places[0] : places[-1] + 1]]
    for block in (inner, [*columns]):
        if np.allclose(np.column_stack([flat[name] for name in block]).sum(axis=1), 1, atol=1e-3):
            return block
    if len(inner) == len(columns):
        return inner
    raise ValueError(
        f"predictions: expected the scores of classes to be named after the true classes, got {', '.join(inner)} and "
        f"beside these {', '.join(name for name in columns if name not in inner)}; name the columns of predictions"
    )


def _guess_by_values(layout: Layout, tables: Sequence[Table], guesses: dict[str, list[str]]) -> None:
    """Guess in place: labels are the only array of two values, class ids the only one of integers, scores the rest."""
    for column in sorted(layout.columns, key=lambda column: column.precedence):
        if column.required and not column.part_of and not guesses[column.name]:
            table = tables[column.source]
            arrays = {
                name: np.asarray(table.arrays[name])
                for name in _free(table, guesses)
                if num_dimensions(table.arrays[name]) == 1
            }
            guesses[column.name] = column.guess_by_values(arrays)


def settled(guesses: MadeOf, chosen: MadeOf, offers: MadeOf) -> dict[str, list[str]]:
    """The names of the arrays for each column: those chosen, even if none, or guessed if the data lack them."""
    return {
        name: list(chosen[name] if name in chosen and {*chosen[name]} <= {*offers[name]} else names)
        for name, names in guesses.items()
    }


def is_used(column: Column, names: Sequence[str]) -> bool:
    """Whether any array is chosen for a column, rather than none or what says that it is unused."""
    return bool(names) and not (column.unused and column.unused in names)


def columns_in_use(layout: Layout, made_of: MadeOf) -> list[Column]:
    """The metric's usual columns; their replacements (`part_of`) if only these are complete."""
    usual = [column for column in layout.columns if not column.part_of]
    instead = [column for column in layout.columns if column.part_of]
    has_usual, has_instead = (
        all(made_of[column.name] for column in columns if column.required) for columns in (usual, instead)
    )
    return instead if instead and has_instead and not has_usual else usual
