"""Detect scores that are higher for in-distribution samples, by an AUROC below 0.5."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...arrays.checks import as_counts
from ...metric.states import COUNTS
from ...ranking.counts import as_side
from ...ranking.curves import auroc
from ..columns.samples import Scores
from ..page import Page
from .gather import Arguments


def column_of_scores(page: Page) -> Scores | None:
    """The column of scores that may be flipped."""
    return next((column for column in page.columns if isinstance(column, Scores)), None)


_CLEARLY = 1.645  # standard errors, beyond which chance lies in 5 % of cases


def _error_by_chance(unknown: int, known: int) -> float:
    """The standard error of the AUROC of scores that say nothing. Source: Mann & Whitney, AMS 1947."""
    return math.sqrt((unknown + known + 1) / (12 * unknown * known))


def wrong_way(page: Page, detectors: Mapping[str, Arguments]) -> dict[str, float]:
    """The AUROC of each detector with scores in the wrong direction, beyond chance, if it can be computed.

    Higher scores should mean out-of-distribution, or unknown.
    """
    aurocs: dict[str, float] = {}
    column = column_of_scores(page)
    if page.outside is None or column is None:
        return aurocs
    for name, arguments in detectors.items():
        try:
            scores = np.asarray(arguments.columns[column.name], dtype=np.float64)
            outside = np.asarray(page.outside(arguments.columns), dtype=bool)
            counts = as_counts(arguments.columns.get(COUNTS, np.ones(len(scores), np.int64)), COUNTS)
            out, inside = outside & (counts > 0), ~outside & (counts > 0)
            sides = [as_side(scores[kind], counts[kind]) for kind in (out, inside)]
            value = auroc(positives=sides[0], negatives=sides[1])
        except (LookupError, TypeError, ValueError):  # the metric says what is wrong with them
            continue
        if 0.5 - value > _CLEARLY * _error_by_chance(int(counts[out].sum()), int(counts[inside].sum())):
            aurocs[name] = value
    return aurocs


def labelled_outside(columns: Mapping[str, Any]) -> Any:
    """Whether each sample of an open-set metric is unknown: by `open_labels`, or by references below 0."""
    labels = columns.get("open_labels")
    return np.asarray(columns["references"]) < 0 if labels is None else np.asarray(labels) == 1
