"""The samples that a detector ranks worst: known ones with the highest scores, unknown ones with the lowest."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .digits import short

MAX_SAMPLES_SHOWN = 20  # of each side


class Worst(NamedTuple):
    """Samples of one side, the worst first: a title, and the columns of a table, of which the first is the row."""

    title: str
    columns: Mapping[str, Sequence[Any]]


class Thumbnail(NamedTuple):
    """A small picture of an image: its place, from 0, what is said of it, and its bytes as .png."""

    image: int
    said: str
    picture: bytes


def worst_samples(
    scores: Any, is_unknown: Any, words: tuple[str, str], others: Mapping[str, Any] | None = None, kept: Any = None
) -> list[Worst]:
    """The known samples with the highest scores, and the unknown ones with the lowest.

    Parameters: scores (N,), higher is more unknown; is_unknown (N,) booleans; words for known and unknown samples;
    others, columns (N,) to show beside; kept (N,) booleans, the samples that count, by default all. Rows count from 1.

    >>> known, unknown = worst_samples([0.1, 0.9, 0.4], [False, False, True], ("known", "unknown"))
    >>> known.title, known.columns
    ('known, highest scores', {'row': [2, 1], 'score': [0.9, 0.1]})
    """
    scores, is_unknown = np.asarray(scores, np.float64), np.asarray(is_unknown, bool)
    found = []
    for side, word, order in ((~is_unknown, words[0], -1), (is_unknown, words[1], 1)):
        rows = np.flatnonzero(side if kept is None else side & kept)
        rows = rows[np.argsort(order * scores[rows], kind="stable")][:MAX_SAMPLES_SHOWN]
        columns = {"row": (rows + 1).tolist(), "score": scores[rows].tolist()}
        columns |= {name: np.asarray(column)[rows].tolist() for name, column in (others or {}).items()}
        found.append(Worst(f"{word}, {'highest' if order < 0 else 'lowest'} scores", columns))
    return found


def worst_html(name: str, sides: Sequence[Worst]) -> str:
    """Folded tables of the sides, with a button that saves both as CSV; nothing for none."""
    if not sides:
        return ""
    tables = "".join(_side_html(side) for side in sides)
    save = f'<button type="button" data-do="rows" data-file="{name}_worst">CSV</button>'
    return (
        f'<details class="worst"><summary>The samples that are ranked worst</summary><div class="sides">{tables}</div>'
        f'<div class="switch">{save}</div></details>'
    )


def _side_html(side: Worst) -> str:
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in side.columns)
    body = "".join(
        f"<tr>{''.join(f'<td>{_plain(value)}</td>' for value in line)}</tr>" for line in zip(*side.columns.values())
    )
    title = html.escape(side.title)
    content = f"<caption>{title}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    region = f'<div class="wide" tabindex="0" role="region" aria-label="{title}">'
    return f'{region}<table class="results samples">{content}</table></div>'


def _plain(value: Any) -> str:
    return short(value) if isinstance(value, (int, float)) else html.escape(str(value))
