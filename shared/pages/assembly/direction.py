"""Scores that are higher for what is in-distribution: told by an AUROC below a half."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...ranking.counts import exceedance_counts
from ...ranking.curves import auroc
from ..page import Page
from .inputs import Given


def wrong_way(page: Page, several: Mapping[str, Given]) -> dict[str, float]:
    """The AUROC of each detector whose scores rank the wrong way round; nothing where that cannot be known.

    Higher scores are to mean out-of-distribution, or unknown.
    """
    found: dict[str, float] = {}
    column = next((column for column in page.columns if column.kind == "score"), None)
    if page.outside is None or column is None:
        return found
    for name, given in several.items():
        try:
            scores = np.asarray(given.columns[column.name], dtype=np.float64)
            outside = np.asarray(page.outside(given.columns), dtype=bool)
            value = auroc(exceedance_counts(scores[outside], scores[~outside]))
        except (LookupError, TypeError, ValueError):  # the metric says what is wrong with them
            continue
        if value < 0.5:
            found[name] = value
    return found


def labelled_outside(columns: Mapping[str, Any]) -> Any:
    """The unknown samples of an open-set metric: by `open_labels`, or by references below 0."""
    labels = columns.get("open_labels")
    return np.asarray(columns["references"]) < 0 if labels is None else np.asarray(labels) == 1
