"""Open-set detection after OW-DLN's evaluation guide: outcomes of matched boxes, and their rates.

boxes → one-to-one matching, whatever the classes → an outcome for each prediction → counts → rates
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..metric.results import Rate, Results
from .matching import one_to_one_outcomes
from .outcomes import (
    BY_CONFIDENCE,
    FP_UNKNOWN,
    TP_UNKNOWN,
    Correction,
    CountColumns,
    SelectedBoxes,
    as_rows,
    counts_above,
    counts_by_class,
    counts_by_image,
    gain,
    in_total,
    ratio,
    tally,
    unknown_by_image,
)
from .overlap import Pairs

_LOWER = ("WI", "A-OSE")  # rates of which lower is better


def openset_detection_rates(counts: Mapping[str, int]) -> dict[str, float]:
    """The rates of open-set detection; 0/0 is 0.

    U-Recall = TP_unknown / total_unknown                              in [0, 1], higher is better
    WI = FP_unknown / total_known                                      lower is better
    A-OSE = (FP_known + FN_known + FP_unknown + FN_unknown) / total    lower is better
    Precision(Known) = TP_known / (TP_known + FP_known),  Recall(Known) = TP_known / total_known

    Parameters: counts by name, TP, FP, FN and total, each _known and _unknown. Source: the evaluation guide of OW-DLN.

    >>> counts = {"TP_known": 3, "FP_known": 1, "FN_known": 1, "total_known": 4}
    >>> counts |= {"TP_unknown": 1, "FP_unknown": 1, "FN_unknown": 1, "total_unknown": 2}
    >>> openset_detection_rates(counts)["U-Recall"], openset_detection_rates(counts)["WI"]
    (0.5, 0.25)
    """
    errors = sum(counts[name] for name in ("FP_known", "FN_known", "FP_unknown", "FN_unknown"))
    return {
        "U-Recall": ratio(counts["TP_unknown"], counts["total_unknown"]),
        "WI": ratio(counts["FP_unknown"], counts["total_known"]),
        "A-OSE": ratio(errors, counts["total_known"] + counts["total_unknown"]),
        "Precision(Known)": ratio(counts["TP_known"], counts["TP_known"] + counts["FP_known"]),
        "Recall(Known)": ratio(counts["TP_known"], counts["total_known"]),
    }


class OwDln:
    """Images with boxes matched one to one, whatever their classes.

    See `one_to_one_outcomes` and `openset_detection_rates`.

    outcomes: the outcome of each prediction
    by_image: counts of one of each image
    """

    match = staticmethod(one_to_one_outcomes)

    def __init__(self, boxes: SelectedBoxes, pairs: Pairs) -> None:
        self.outcomes = self.match(boxes, pairs)
        self.by_image = counts_by_image(self.outcomes)
        self._corrections: dict[str, CountColumns] = {}  # by error, changes of counts

    def rates(self, counts: np.ndarray) -> Results:
        """Rates and counts where each image occurs `counts` times, (N,) int64, 0 included."""
        totals = in_total(self.by_image, counts)
        values = openset_detection_rates(totals)
        rates: Results = {
            name: Rate(value, name not in _LOWER, share=name not in _LOWER) for name, value in values.items()
        }
        for error, columns in self._corrections.items():
            more = in_total(columns, counts)
            after = ratio(*(totals[name] + more[name] for name in ("TP_unknown", "total_unknown")))
            rates[gain(error, "U-Recall")] = Rate(after - values["U-Recall"], None)
        return {**rates, **totals}

    def correct(self, error: str, correction: Correction) -> None:
        """Add to the results the gain of U-Recall from correcting an error."""
        self._corrections[error] = unknown_by_image(self.outcomes.boxes, correction)

    def table_by_class(self) -> dict[str, list[Any]]:
        """Counts of each class, with the number of its objects that were called unknown."""
        outcomes, boxes = self.outcomes, self.outcomes.boxes
        called = outcomes.matched[(outcomes.matched >= 0) & np.isin(outcomes.outcome, (TP_UNKNOWN, FP_UNKNOWN))]
        weights = boxes.counts[boxes.object_image[called]]
        number = tally(boxes.object_rows[called], weights, len(boxes.classes))
        return {**counts_by_class(outcomes), "called unknown": number.tolist()}

    def table_by_image(self) -> dict[str, list[Any]]:
        """Rates and counts of each image."""
        return _with_rates(as_rows(self.by_image, self.outcomes.boxes.counts))

    def sweep(self, results: Results, thresholds: Sequence[float]) -> dict[str, list[Any]]:
        """Rates of the predictions that reach each confidence; only if they are matched in this order."""
        if self.outcomes.boxes.rules.matching != BY_CONFIDENCE:
            raise ValueError(
                "conf_list: expected matching='confidence', where a prediction takes nothing from a more confident one;"
                " got matching='iou', where each threshold needs a matching of its own"
            )
        above = _with_rates(counts_above(self.outcomes, results, thresholds))
        return {name: above[name] for name in ("U-Recall", "WI", "A-OSE")}


def _with_rates(counts: CountColumns) -> dict[str, list[Any]]:
    """Columns of counts as lists, after the rates of each row."""
    columns = {name: column.tolist() for name, column in counts.items()}
    rows = [openset_detection_rates(dict(zip(columns, row))) for row in zip(*columns.values())]
    rates = openset_detection_rates(dict.fromkeys(columns, 0))
    return {**{name: [row[name] for row in rows] for name in rates}, **columns}
