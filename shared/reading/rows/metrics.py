"""The columns of each metric by the names that they have in files, and guesses of their arrays, by names and values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...metric.clusters import CLUSTERS
from ...metric.groups import GROUPS
from ..places import unsigned
from ..tables.files import Table
from .cells import are_words, distinct, num_dimensions, runs
from .kinds import FLIPPED, Classes, Clusters, Column, Images, Names, Qualities, Scores, TrueClasses
from .labels import Labels

MODELS = "detector"
_COUNTS = Column("counts", ("count",), required=False, unused="each row once", alike=False)
_DATA_SETS = Names(GROUPS, ("group", "dataset", "data_set", "ood_set"), required=False, unused="no groups")
# names of columns whose rows may depend on each other, where they repeat
_CLUSTERS = Clusters(
    CLUSTERS,
    ("cluster", "subject", "patient", "speaker", "video", "scene", "prompt", "object", "participant", "sequence"),
    required=False,
    unused="each row by itself",
)
_MODELS = Names(MODELS, ("model", "method"), required=False, unused="one detector", alike=False)
_OF_ROWS = (_COUNTS, _DATA_SETS, _CLUSTERS, _MODELS)


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

    def of(self, chosen: Mapping[str, Any]) -> Layout:
        """The layout beside chosen columns: with qualities there are no labels, and so no sides."""
        names = {
            name: [*own] if isinstance(own, (list, tuple)) else [str(own)] if own else []
            for name, own in chosen.items()
        }
        graded = next(
            (one.name for one in self.columns if isinstance(one, Qualities) and is_used(one, names.get(one.name, []))),
            None,
        )
        if graded is None:
            return self
        if chosen.get(self.label):
            raise ValueError(f"{self.label}: expected none with {graded}, which stand in their place; got both")
        columns = (column for column in self.columns if column.name != self.label and not column.part_of)
        return replace(self, columns=tuple(columns), label="")

    @property
    def has_classes(self) -> bool:
        """Whether the references are true classes."""
        return isinstance(self.columns[1], TrueClasses)

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
_GUESSES = ("y_pred", "preds", "pred", *_LOGITS, "scores", "score", "class", "guess", "p")
_TOPK = Layout((Classes("predictions", _GUESSES, is_matrix=True), TrueClasses("references", _TRUE), *_OF_ROWS))
_OPEN = (
    Classes("predictions", ("close_pred", "pred", *_LOGITS, "class", "scores", "y_pred", "p")),
    TrueClasses("references", ("close_labels", *_TRUE)),
    Scores("open_scores", ("open_pred", "open_score", "ood_score", "unknown_score")),
    Labels("open_labels", ("open_label", "is_unknown", "unknown"), required=False),
    *_OF_ROWS,
)
_PARTS = ("open_set_pred_known", "open_set_pred_unknown", "close_set_pred_class", "close_set_labels")
_OOD = (
    Scores("predictions", ("scores", "score", "ood_score", "open_scores")),
    Labels("references", ("labels", "label", "is_ood", "ood", "open_labels", "truth", "ground_truth", "gt")),
    Qualities("qualities", ("quality",), required=False, unused="labels"),
    *_OF_ROWS,
    Column("in-distribution scores", ("id_scores", "scores_in", "scores_id"), part_of="predictions", side=False),
    Column("OOD scores", ("scores_out", "scores_ood"), part_of="predictions", side=True),
)
_open = Layout(_OPEN, label="open_labels", of_logits=True)
LAYOUTS: Mapping[str, Layout] = {
    "accuracyk": _TOPK,
    "autkc": replace(_TOPK, columns=(replace(_TOPK.columns[0], is_read_as=False), *_TOPK.columns[1:])),
    "macro_open_f": _open,
    "micro_open_f": _open,
    "openauc": replace(_open, columns=(*_OPEN, *(Column(name, part_of=name) for name in _PARTS))),
    "ood_bench": Layout(_OOD, label="references", of_logits=True),
    "openset_detection": Layout(
        (
            Images("predictions", ("boxes", "detections")),
            Images("references", ("ground_truth", "targets", "boxes"), source=1),
            replace(_DATA_SETS, source=1),
            replace(_CLUSTERS, source=1),
        ),
        inputs=2,
    ),
    "anomaly_suite": Layout(
        (
            Images("predictions", ("maps", "anomaly_maps", "scores")),
            Images("references", ("masks", "mask", "ground_truth", "gt"), source=1),
            Column("image_scores", required=False),
            Labels("image_labels", required=False, source=1),
            Names("samples", required=False),
            _DATA_SETS,
            _CLUSTERS,
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


def table_of(column: Column, names: Sequence[str] | None, tables: Sequence[Table]) -> Table:
    """The table of a column's own input, or of the first, which may hold all columns."""
    own, first = tables[column.source], tables[0]
    has = own.arrays if names is None else {*names, *map(unsigned, names)} & {*own.arrays, *runs(own)}
    return own if has else first


def guessed_by_name(layout: Layout, tables: Sequence[Table], chosen: MadeOf) -> dict[str, list[str]]:
    """The names of the arrays for each column, guessed by their names; an empty list where nothing fits.

    Class scores may be columns that are named after the true classes; see `_classes_by_name`. `chosen`, the arrays of
    columns that are not to be guessed.
    """
    guesses = {column.name: [*chosen.get(column.name, ())] for column in layout.columns if not column.is_guessed}
    predictions = layout.columns[0].name
    classes = chosen.get(predictions) if layout.has_classes else None
    for column in layout.columns:
        if not column.is_guessed:
            continue
        table = tables[column.source]
        free = [*table.arrays] if column.part_of else _free(table, guesses)
        if isinstance(column, Names):  # names of sets, such as cifar10 and svhn, may be chosen as labels
            others = {unsigned(one) for name in chosen.keys() - {column.name} for one in chosen[name]}
            free = [name for name in free if name not in others]
        guesses[column.name] = column.named(free, alike=False) if column.part_of else column.guess(table, free)
        if classes and column.name == predictions:
            guesses[predictions] = [*classes]
        if column.source and not guesses[column.name]:  # one file may hold the columns of all inputs
            guesses[column.name] = column.named([*tables[0].arrays], alike=False)
    if guesses[predictions] and isinstance(layout.columns[0], Scores):  # under one header in several files: models
        header = guesses[predictions][0].rpartition(": ")[2]
        guesses[predictions] = [name for name in _free(tables[0], {}) if name.rpartition(": ")[2] == header]
    if not classes and not _has_parts(layout, guesses):
        guesses |= _classes_by_name(layout, tables[0], {**guesses, **chosen})
    return guesses


def guessed_by_values(layout: Layout, tables: Sequence[Table], guesses: MadeOf) -> dict[str, list[str]]:
    """`guesses` by name, and others by values.

    Labels are the only array of two values, class ids the only one of integers, and scores the rest.
    """
    own = {name: [*names] for name, names in guesses.items()}
    for column in sorted(() if _has_parts(layout, own) else layout.columns, key=lambda column: column.precedence):
        if column.required and column.precedence and not column.part_of and not own[column.name]:
            table = tables[column.source]
            own[column.name] = column.guess_by_values(_flat(table, _free(table, own)))
    scores = layout.scores()
    if scores is not None:
        own[scores.name] = [FLIPPED + name if says_confidence(name) else name for name in own[scores.name]]
    return own


def _has_parts(layout: Layout, made_of: MadeOf) -> bool:
    """Whether all columns that replace the usual ones are there."""
    parts = [column.name for column in layout.columns if column.part_of]
    return bool(parts) and all(made_of[name] for name in parts)


def _free(table: Table, guesses: MadeOf) -> list[str]:
    """The names of arrays that no column uses."""
    numbered = runs(table)
    used = {one for names in guesses.values() for name in names for one in (name, *numbered.get(name, ()))}
    return [name for name in table.arrays if name not in used]


def _flat(table: Table, names: Sequence[str]) -> dict[str, np.ndarray]:
    """The arrays (N,) of these names."""
    return {name: np.asarray(table.arrays[name]) for name in names if num_dimensions(table.arrays[name]) == 1}


def _classes_by_name(layout: Layout, table: Table, guesses: MadeOf) -> dict[str, list[str]]:
    """The true classes as words, and the scores of classes as the columns of these names; none if there are no such."""
    predictions, references = layout.columns[:2]
    if not isinstance(references, TrueClasses):
        return {}
    others = (names for key, names in guesses.items() if key not in (predictions.name, references.name))
    taken = {each for names in others for name in names for each in (name, unsigned(name))}
    flat = _flat(table, [name for name in table.arrays if name not in taken])
    words = [*guesses.get(references.name, ())]
    if not words or words[0] not in flat or not are_words(flat[words[0]]):
        words = references.guess_by_values(flat)
    if not words or not are_words(flat[words[0]]):
        return {}
    columns = [name for name, array in flat.items() if array.dtype.kind in "fiu"]
    classes = {*distinct(flat[words[0]])} & {*columns}
    return {references.name: words, predictions.name: _block(flat, columns, classes)} if classes else {}


def _block(flat: Mapping[str, np.ndarray], columns: Sequence[str], classes: set[str]) -> list[str]:
    """The columns of class scores: from the first to the last that is named after a true class, and columns beside.

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


def is_used(column: Column, names: Sequence[str]) -> bool:
    """Whether any array is chosen for a column, rather than none or the word for an unused one."""
    return bool(names) and not (column.unused and column.unused in names)


def columns_in_use(layout: Layout, made_of: MadeOf) -> list[Column]:
    """The metric's usual columns; their replacements (`part_of`) if only these are complete."""
    usual, instead = ([one for one in layout.columns if bool(one.part_of) is part] for part in (False, True))
    has_usual, has_instead = (
        all(made_of[column.name] for column in columns if column.required) for columns in (usual, instead)
    )
    return instead if instead and has_instead and not has_usual else usual
