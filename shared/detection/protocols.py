"""Protocols: rules by which boxes are matched once, and one function from counts of images to results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ..metric.results import Results
from .counting import CountColumns
from .mending import Mending
from .outcomes import Outcomes, SelectedBoxes
from .pairs import Pairs
from .rules import Rules


class DetectionOptions(Protocol):
    """Options of `OpenSetDetection` that a protocol reads, each of which is checked."""

    known_classes: Sequence[int] | None
    unknown_class_id: int
    iou_threshold: float
    conf_threshold: float
    matching: str | None
    count_background: bool
    plus_one: bool
    unknown_below: float | None
    recall_level: float | None
    previously_known: Sequence[int] | None
    average_precision: str


class MatchedImages(ABC):
    """Images with boxes matched by the rules of a protocol.

    outcomes: the outcome of each prediction
    by_image: counts of one of each image, from which results are computed
    """

    outcomes: Outcomes
    by_image: CountColumns

    @staticmethod
    @abstractmethod
    def match(boxes: SelectedBoxes, pairs: Pairs) -> Outcomes:
        """Match boxes, from the pairs of them that reach the IoU threshold."""

    @classmethod
    @abstractmethod
    def rules(cls, options: DetectionOptions) -> Rules:
        """The rules among options. Raises ValueError for an option that the protocol does not have."""

    @abstractmethod
    def __init__(self, boxes: SelectedBoxes, pairs: Pairs, options: DetectionOptions) -> None:
        """Match the boxes."""

    @abstractmethod
    def rates(self, counts: np.ndarray) -> Results:
        """Rates and counts where each image occurs `counts` times, (N,) int64, 0 included."""

    @abstractmethod
    def table_by_class(self) -> dict[str, list[Any]]:
        """A row for each class, the last for "unknown"."""

    @abstractmethod
    def table_by_image(self) -> dict[str, list[Any]]:
        """A row for each image."""

    @abstractmethod
    def sweep(self, results: Results, thresholds: Sequence[float]) -> dict[str, list[Any]]:
        """U-Recall, WI and A-OSE of the predictions that reach each confidence, from the results of all of them."""

    @abstractmethod
    def mend(self, error: str, mending: Mending) -> None:
        """Add to the results their gains from mending an error."""


def gain(error: str, measure: str) -> str:
    """The name of a measure's gain from mending an error.

    >>> gain("badly placed", "mAP")
    'ΔmAP(badly placed)'
    """
    return f"Δ{measure}({error})"
