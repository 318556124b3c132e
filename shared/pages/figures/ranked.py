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
ROWS_ARE_LOST = "Equal samples were merged into counts, so there are no rows to list."
UNKNOWN_QUESTION = "expected a bar or a cell of this page"


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
    """Some samples: a title and the columns of a table, which begins with the row, or with the names of `images`."""

    title: str
    columns: Mapping[str, Sequence[Any]]
    images: Sequence[int] = ()


def question_of(selection: str) -> Mapping[str, Any]:
    """Parse a page's selection: JSON of "kind", and "at" of a bar or a cell.

    Raises ValueError for anything else.
    """
    try:
        question = json.loads(selection[:MAX_ASKED])
    except (ValueError, RecursionError):
        question = None
    if not isinstance(question, Mapping) or not isinstance(question.get("kind"), str) or "at" not in question:
        raise ValueError(UNKNOWN_QUESTION)
    return question


def images_by_count(counts: Sequence[int], names: Sequence[str], words: str) -> Listed:
    """The images with the most of something, by the number in each image.

    names: (n,) of the images, of which those without a name are left out

    >>> listed = images_by_count([0, 2, 5], ["a", "b", "c"], "unknown objects, missed")
    >>> listed.title, listed.columns, listed.images
    ('7 unknown objects, missed, in 2 images', {'image': ['c', 'b'], 'count': [5, 2]}, [2, 1])
    """
    number = np.asarray(counts)
    title = f"{number.sum():,} {words}, in {np.count_nonzero(number):,} images"
    images = np.argsort(-number[: len(names)], kind="stable")
    images = images[number[images] > 0]
    more = f"; the first {MAX_LISTED}" if len(images) > MAX_LISTED else ""
    chosen = images[:MAX_LISTED].tolist()
    columns = {"image": [names[image] for image in chosen], "count": [int(number[image]) for image in chosen]}
    return Listed(title + more, columns, chosen)


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


def asked_samples(ranked: Ranked | None, question: Mapping[str, Any]) -> Listed:
    """The samples of one kind in a bar, the highest scores first, or beyond a threshold, the farthest first.

    question: {"kind", "at": [low, high]} for scores in [low, high), with "last": true in [low, high]; or
        {"kind", "at": threshold, "above"} for scores > at, or ≤ at where `above` is false; None is −∞
    Raises ValueError for anything else, and where equal samples were merged into counts, since their rows are lost.

    >>> kinds = {"known": np.asarray([True, True]), "unknown": np.asarray([False, False])}
    >>> ranked = Ranked(np.asarray([0.1, 0.9]), kinds, "unknown", ("known", "unknown"))
    >>> asked_samples(ranked, {"kind": "known", "above": True, "at": 0.5})
    Listed(title='1 sample: known, score > 0.5', columns={'row': [2], 'score': [0.9]}, images=())
    """
    if ranked is None:
        raise ValueError(ROWS_ARE_LOST)
    try:
        kind, scores = ranked.kinds[question["kind"]], ranked.scores
        if "above" in question:
            at = -math.inf if question["at"] is None else float(question["at"])
            inside = scores > at if question["above"] else scores <= at
            order, words = -np.abs(scores - at), f"score {'>' if question['above'] else '≤'} {at!r}"
        else:
            low, high = map(float, question["at"])
            inside = (scores >= low) & (scores <= high if question["last"] else scores < high)
            order, words = -scores, f"score {low:.4g} to {high:.4g}"
    except (KeyError, TypeError, ValueError):
        raise ValueError(UNKNOWN_QUESTION) from None
    rows = np.flatnonzero(kind & inside)
    rows, number = rows[np.argsort(order[rows], kind="stable")], len(rows)
    title = f"{number:,} sample{'s' * (number != 1)}: {question['kind']}, {words}"
    more = f"; the first {MAX_LISTED}" if number > MAX_LISTED else ""
    return Listed(title + more, ranked.table(rows[:MAX_LISTED]))
