"""The samples that a detector ranks worst: known ones with the highest scores, unknown ones with the lowest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

MAX_SAMPLES_SHOWN = 20  # per side


class Worst(NamedTuple):
    """Samples of one side, the worst first: a title and the columns of a table, which begins with the row."""

    title: str
    columns: Mapping[str, Sequence[Any]]


def worst_samples(
    scores: Any, is_unknown: Any, words: tuple[str, str], others: Mapping[str, Any] | None = None, kept: Any = None
) -> list[Worst]:
    """The known samples with the highest scores, and the unknown ones with the lowest.

    Parameters: scores (N,), higher is more unknown; is_unknown (N,) booleans; words for known and unknown samples;
    others, more columns (N,) to show; kept (N,) booleans, the samples that count, by default all. Rows count from 1.

    >>> known, unknown = worst_samples([0.1, 0.9, 0.4], [False, False, True], ("known", "unknown"))
    >>> known.title, known.columns
    ('Known, scored highest', {'row': [2, 1], 'score': [0.9, 0.1]})
    """
    scores, is_unknown = np.asarray(scores, np.float64), np.asarray(is_unknown, bool)
    tables = []
    for side, word, order in ((~is_unknown, words[0], -1), (is_unknown, words[1], 1)):
        rows = np.flatnonzero(side if kept is None else side & kept)
        rows = rows[np.argsort(order * scores[rows], kind="stable")][:MAX_SAMPLES_SHOWN]
        columns = {"row": (rows + 1).tolist(), "score": scores[rows].tolist()}
        columns |= {name: np.asarray(column)[rows].tolist() for name, column in (others or {}).items()}
        tables.append(Worst(f"{word[:1].upper()}{word[1:]}, scored {'highest' if order < 0 else 'lowest'}", columns))
    return tables
