"""Samples by their scores: those ranked worst, and those behind a bar of a histogram or a cell of a confusion."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

MAX_WORST = 20  # samples that are shown, per side
MAX_LISTED = 200
MAX_ASKED = 500  # characters of a question


class Ranked(NamedTuple):
    """The samples of a computation, N in the order of their rows.

    scores: (N,), higher is more unknown
    kinds: (N,) booleans by the kind of sample, named as in the histogram and the confusion; a sample of no kind does
        not count
    unknown: the kind that should score high
    words: what known and unknown samples are called
    columns: more columns (N,) to show
    names: (N,) names of the samples; empty if they have none
    """

    scores: np.ndarray
    kinds: Mapping[str, np.ndarray]
    unknown: str
    words: tuple[str, str]
    columns: Mapping[str, Any] = {}
    names: Sequence[Any] = ()

    def table(self, rows: np.ndarray) -> dict[str, list[Any]]:
        """The columns of a table of some samples, by their indices; rows count from 1."""
        shown: dict[str, list[Any]] = {"row": (rows + 1).tolist()}
        if len(self.names) == len(self.scores):
            shown["name"] = [str(self.names[row]) for row in rows]
        shown["score"] = self.scores[rows].tolist()
        return shown | {name: np.asarray(column)[rows].tolist() for name, column in self.columns.items()}


class Listed(NamedTuple):
    """Some samples: a title and the columns of a table, which begins with the row."""

    title: str
    columns: Mapping[str, Sequence[Any]]


def worst_samples(ranked: Ranked | None) -> list[Listed]:
    """The known samples with the highest scores, and the unknown ones with the lowest; none without samples.

    >>> kinds = {"known": np.asarray([True, True, False]), "unknown": np.asarray([False, False, True])}
    >>> known, unknown = worst_samples(Ranked(np.asarray([0.1, 0.9, 0.4]), kinds, "unknown", ("known", "unknown")))
    >>> known.title, known.columns
    ('Known, scored highest', {'row': [2, 1], 'score': [0.9, 0.1]})
    """
    if ranked is None:
        return []
    unknown = ranked.kinds[ranked.unknown]
    known = np.any([kind for name, kind in ranked.kinds.items() if name != ranked.unknown], axis=0)
    tables = []
    for side, word, order in ((known, ranked.words[0], -1), (unknown, ranked.words[1], 1)):
        rows = np.flatnonzero(side)
        rows = rows[np.argsort(order * ranked.scores[rows], kind="stable")][:MAX_WORST]
        title = f"{word[:1].upper()}{word[1:]}, scored {'highest' if order < 0 else 'lowest'}"
        tables.append(Listed(title, ranked.table(rows)))
    return tables


def asked_samples(ranked: Ranked | None, asked: str) -> Listed:
    """The samples of one kind in a bar, the highest scores first, or beyond a threshold, the farthest first.

    asked: as JSON, {"kind", "from", "to"} for scores in [from, to), with "last": true in [from, to]; or
    {"kind", "above", "at"} for scores > at, or ≤ at where `above` is false; `at` null is −∞
    Raises ValueError for anything else, and where equal samples were merged into counts, since their rows are lost.

    >>> kinds = {"known": np.asarray([True, True]), "unknown": np.asarray([False, False])}
    >>> ranked = Ranked(np.asarray([0.1, 0.9]), kinds, "unknown", ("known", "unknown"))
    >>> asked_samples(ranked, '{"kind": "known", "above": true, "at": 0.5}')
    Listed(title='1 sample: known, score > 0.5', columns={'row': [2], 'score': [0.9]})
    """
    if ranked is None:
        raise ValueError("Equal samples were merged into counts, so there are no rows to list.")
    try:
        question = json.loads(asked[:MAX_ASKED])
        kind, scores = ranked.kinds[question["kind"]], ranked.scores
        if "above" in question:
            at = -math.inf if question["at"] is None else float(question["at"])
            inside = scores > at if question["above"] else scores <= at
            order, words = -np.abs(scores - at), f"score {'>' if question['above'] else '≤'} {at!r}"
        else:
            low, high = float(question["from"]), float(question["to"])
            inside = (scores >= low) & (scores <= high if question["last"] else scores < high)
            order, words = -scores, f"score {low:.4g} to {high:.4g}"
    except (KeyError, TypeError, ValueError, RecursionError):
        raise ValueError("expected a bar or a cell of this page") from None
    rows = np.flatnonzero(kind & inside)
    rows, number = rows[np.argsort(order[rows], kind="stable")], len(rows)
    title = f"{number:,} sample{'s' * (number != 1)}: {question['kind']}, {words}"
    more = f"; the first {MAX_LISTED}" if number > MAX_LISTED else ""
    return Listed(title + more, ranked.table(rows[:MAX_LISTED]))
