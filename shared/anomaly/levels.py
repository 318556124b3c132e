"""The levels of anomaly_suite, images and pixels, each with an anomalous and a normal side."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..arrays.arrays import Array
from ..arrays.options import as_choice, plain_value
from ..arrays.splitting import split
from ..metric.prepared import MissingClassError
from ..ranking.counts import Side, as_side
from .maps import AnomalyState

LEVELS = ("image", "pixel")


def check_levels(levels: Any) -> list[str]:
    """Check the levels to report: "image", "pixel", or a list of them."""
    levels = plain_value(levels)
    if not isinstance(levels, Iterable):
        raise TypeError(f"levels: expected a list of {LEVELS}, got {levels!r}")
    chosen = [levels] if isinstance(levels, str) else list(levels)
    if not chosen:
        raise ValueError(f"levels: expected at least one of {LEVELS}, got none")
    return [as_choice(level, "levels", LEVELS) for level in chosen]


def level_sides(state: AnomalyState, level: str) -> tuple[Side, Side]:
    """The anomalous and the normal side of a level, sorted; parameters and errors as of `level_counts`."""
    positives, negatives, counts = level_scores(state, level)
    return as_side(positives), as_side(negatives, counts)


def level_scores(state: AnomalyState, level: str) -> tuple[Array, Array, Array | None]:
    """Scores of both sides of a level, and the number of samples that each normal score stands for; None: one each."""
    counts = None
    if as_choice(level, "levels", LEVELS) == "pixel":
        positives, negatives, counts = state["anomalous"], state["normal"], state.get("normal_counts")
    else:
        positives, negatives = split(state["image_scores"], state["image_labels"])
    if not positives.shape[0] or not negatives.shape[0]:
        raise MissingClassError(
            f"references: expected anomalous and normal {level}s, got {positives.shape[0]} anomalous and "
            f"{negatives.shape[0]} normal; leave {level!r} out of levels={LEVELS} to go without"
        )
    return positives, negatives, counts
