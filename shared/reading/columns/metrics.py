"""Layouts: the columns of each metric, by the names that they have in files, and which of them are in use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...arrays.checks import REST
from ...loading import task_of
from ...metric.clusters import CLUSTERS
from ...metric.groups import GROUPS
from ..boxes.classes import classes_of_columns
from .kinds import Classes, Clusters, Column, Images, Names, Qualities, Scores, TrueClasses
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


def _nothing(models: Mapping[str, Mapping[str, Any]]) -> tuple[Mapping[str, Any], Sequence[str]]:
    return {}, []


@dataclass(frozen=True)
class Layout:
    """The columns that a metric takes of files.

    columns: its columns
    inputs: how many inputs it has, of each of which columns have their own
    label: the column that says which samples are unknown; "" if there is none
    values: the options that say what its values mean, in_value, out_value and ignore_value: by default, 1 is unknown
    of_logits: whether scores may be computed from logits, where there are no others
    implied: options of the metric that the columns of the models imply, and sentences on them
    """

    columns: tuple[Column, ...]
    inputs: int = 1
    label: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    of_logits: bool = False
    implied: Callable[[Mapping[str, Mapping[str, Any]]], tuple[Mapping[str, Any], Sequence[str]]] = _nothing

    def unknown(self, columns: Mapping[str, Any]) -> np.ndarray | None:
        """Whether each sample is unknown, (N,) booleans; None where columns do not say it."""
        if not self.label:
            return None
        if columns.get(self.label) is None:
            return np.asarray(columns["references"]) < 0
        labels, out = np.asarray(columns[self.label]), self.values.get("out_value", 1)
        if out != REST:
            return labels == out
        return (labels != self.values.get("in_value", 0)) & (labels != self.values.get("ignore_value"))

    def of(self, chosen: Mapping[str, Any]) -> Layout:
        """The layout beside chosen columns: with qualities there are no labels, and so no sides."""
        names = {
            name: [*value] if isinstance(value, (list, tuple)) else [str(value)] if value else []
            for name, value in chosen.items()
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
# of the metrics of a task, or of one that takes other columns
LAYOUTS: Mapping[str, Layout] = {
    "classification": _TOPK,
    "autkc": replace(_TOPK, columns=(replace(_TOPK.columns[0], is_read_as=False), *_TOPK.columns[1:])),
    "open_set": _open,
    "openauc": replace(_open, columns=(*_OPEN, *(Column(name, part_of=name) for name in _PARTS))),
    "ood": Layout(_OOD, label="references", of_logits=True),
    "detection": Layout(
        (
            Images("predictions", ("boxes", "detections")),
            Images("references", ("ground_truth", "targets", "boxes"), source=1),
            replace(_DATA_SETS, source=1),
            replace(_CLUSTERS, source=1),
        ),
        inputs=2,
        implied=classes_of_columns,
    ),
    "anomaly": Layout(
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


def layout_of(metric: str) -> Layout:
    """The columns that a metric takes of files: its layout, or else that of its task. Raises ValueError without one.

    >>> layout_of("openset_detection").inputs, layout_of("ood_bench").label
    (2, 'references')
    """
    layout = LAYOUTS.get(metric) or LAYOUTS.get(task_of(metric))
    if layout is None:
        raise ValueError(f"{metric}: expected a layout of its columns in files, or of {task_of(metric)}, got none")
    return layout


MadeOf = Mapping[str, Sequence[str]]  # column of the metric → names of arrays


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
