"""Decisions on samples, and the threshold that they are taken at."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...ranking.roc import SAMPLE_OUTCOMES, SIDES
from ..frame import Part, stacked_bars
from ..thresholds import shown_threshold

_SHARE = "share of its kind"
_COLORS = dict(zip(SAMPLE_OUTCOMES, ("known", "d1", "known", "d2", "unknown", "known")))
Table = Mapping[str, Sequence[Any]]


class Decisions(NamedTuple):
    """The scores of known and of unknown samples, and the threshold: a sample is called unknown iff its score is above.

    known, unknown: (N,) scores
    threshold: inf where no sample is called unknown, and −inf where each is
    """

    known: np.ndarray
    unknown: np.ndarray
    threshold: float

    def text(self, threshold: float) -> str:
        """The shortest decimal that decides as a threshold does.

        >>> Decisions(np.asarray([0.1, 0.75]), np.asarray([1 / 3]), 0.75).text(1 / 3)
        '0.4'
        """
        return shown_threshold(threshold, [self.unknown, self.known])

    @property
    def in_words(self) -> str:
        """A sentence that says which samples are called unknown."""
        if self.threshold >= max(side.max(initial=-math.inf) for side in (self.known, self.unknown)):
            return "No sample is called unknown."
        return f"A sample is called unknown if score > {self.text(self.threshold)}."


def decisions_of(table: Table, numbers: Mapping[str, Any]) -> Decisions:
    """The decisions of a table of samples; their threshold is one of the numbers, if one of these decides so.

    Otherwise it is the highest score that is not called unknown.
    """
    scores, called = np.asarray(table["score"]), np.asarray(table["decision"]) == SIDES[1]
    unknown = np.asarray(table["reference"]) == SIDES[1]
    low = float(scores[~called].max(initial=-math.inf))
    high = float(scores[called].min(initial=math.inf))
    stated = (value for key, value in numbers.items() if key.endswith("_threshold") and low <= value < high)
    return Decisions(scores[~unknown], scores[unknown], next(stated, low))


def meter_rows(table: Table) -> tuple[dict[str, list[Any]], list[str]]:
    """How many samples there are of each outcome, their share of the known or of the unknown ones, and its column."""
    counts, sides = Counter(table["outcome"]), Counter(table["reference"])
    side_of = dict(zip(table["outcome"], table["reference"]))
    there = [outcome for outcome in SAMPLE_OUTCOMES if counts[outcome]]
    shares = [counts[outcome] / sides[side_of[outcome]] for outcome in there]
    return {"outcome": there, "samples": [counts[o] for o in there], _SHARE: shares}, [_SHARE]


def outcome_bars(table: Table) -> str:
    """The HTML of a bar for each side, which says what its samples were called."""
    counts = Counter(zip(table["reference"], table["outcome"]))
    parts = {
        side: [
            Part(outcome.partition(", ")[2], counts[side, outcome], color)
            for outcome, color in _COLORS.items()
            if counts[side, outcome]
        ]
        for side in SIDES[::-1]
    }
    return "".join(stacked_bars({f"{side.capitalize()} samples": own}, unit="samples") for side, own in parts.items())
