"""What is resampled for intervals of open-set F-scores: known and unknown samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.arrays import to_numpy
from ..metric.units import Units, units_of_table
from ..ranking.counts import as_side
from ..ranking.rows import rows_of_sides
from .samples import OPEN_SET_TABLES, OpenSetState


def open_set_units(state: OpenSetState, summarise: Callable[[OpenSetState], dict[str, float]]) -> Units:
    """The unknown and the known samples of a state, whose results are those of `summarise`."""
    known, scores, counts = to_numpy(state["classes"]) >= 0, to_numpy(state["scores"]), state.get("counts")
    numbers = None if counts is None else to_numpy(counts)
    kinds = (~known, known)
    sides = (as_side(scores[kind], None if numbers is None else numbers[kind]) for kind in kinds)
    merged = np.empty(len(scores), np.float64)
    for kind, rows in zip(kinds, rows_of_sides(*sides)):
        merged[kind] = rows.scores[rows.places(scores[kind])]
    table: Any = {**state, "scores": merged}
    return units_of_table(table, OPEN_SET_TABLES["counts"], lambda rows: rows["classes"] >= 0, summarise)
