"""The columns of each metric, by the names that they have in files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .kinds import (
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
