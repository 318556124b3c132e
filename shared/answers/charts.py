"""Figures of scores as data: histograms of the sides, and curves of all models over each other."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..ranking.counts import Side
from ..ranking.roc import MAX_POINTS, roc_curve
from .answer import Curves, Histogram, Series, Texts, Worst
from .decisions import curve_points, said_at
from .subject import Computed

BINS = 40
LARGE = 1e300  # where the arithmetic of axes ends
FEW = 0.002  # of the samples of a side, on either end, which may lie beyond an axis
MAX_WORST = 20  # of each side
SAMPLED = "of every score; the numbers are sampled"
Sides = Callable[[Computed], tuple[Side, Side]]  # the positives and the negatives of a model
Points = tuple[Sequence[float], Sequence[float], Sequence[str]]  # x, y and the decision at each, in words


def joined(*notes: str) -> str:
    """Notes on a figure in one line, without the empty ones, separated by semicolons."""
    return "; ".join(filter(None, notes))


def score_of(computed: Computed) -> str:
    """The score that is decided on: "score", or the negative of the column whose sign is turned, by its name."""
    return f"-{computed.model}" if computed.model in computed.reading.turned else "score"


def model_score(computed: Computed) -> str:
    """The name of a model's scores: "score" of a single model."""
    score = score_of(computed)
    return f"{computed.model} {score}" if computed.rivals and score == "score" else score


def histogram(title: str, unit: str, sides: Sequence[tuple[str, str, Side]], *, of_all: bool = False) -> Histogram:
    """The shares of each side's samples in common bins of score; the note says how many lie far out, and are not drawn.

    Parameters: title and unit of the scores, in words; name, role and scores of each side; of_all, whether shares are
    of all samples, on one scale, as for kinds of which one may have few.

    >>> drawn = histogram("Scores", "score", [("OOD", "unknown", Side(np.asarray([0.1, 0.9, np.inf])))])
    >>> drawn.series[0].y, drawn.note
    ([0.3333333333333333, 0.0, 0.0, 0.0, 0.0, 0.3333333333333333], '1 of 3 OOD scores lie beyond the axis')
    """
    scores = [np.asarray(side.scores, np.float64) for *_, side in sides]
    low, high = _axis([values[np.abs(values) < LARGE] for values in scores])
    number = sum(int(side.total) for *_, side in sides)
    edges = _edges(low, high, min(BINS, 5 + number // 2))
    series, notes = [], []
    for (name, role, side), values in zip(sides, scores):
        sizes, inside = np.asarray(side.sizes), (values >= edges[0]) & (values <= edges[-1])
        total = max(1, number if of_all else side.total)
        shares = np.histogram(values[inside], edges, weights=sizes[inside])[0] / total
        series.append(Series(name, role, edges[:-1].tolist(), shares.tolist()))
        outside = int(sizes[~inside].sum())
        if outside:
            notes.append(f"{outside:,} of {side.total:,} {name} scores lie beyond the axis")
    return Histogram(title, unit, series, float(edges[1] - edges[0]), note="; ".join(notes), of_all=of_all)


def _edges(low: float, high: float, number: int) -> np.ndarray:
    """The edges of bins of one width over a range, which is widened to 1 where it is empty."""
    low, high = (low, high) if low < high else (low - 0.5, high + 0.5)
    return np.linspace(low, high, number + 1) if low < high else np.linspace(low, np.nextafter(low, math.inf), 2)


def _axis(sides: Sequence[np.ndarray]) -> tuple[float, float]:
    """The ends of an axis of finite scores: all of them or, where a few lie far out, all but these."""
    there = [side for side in sides if len(side)] or [np.zeros(1)]
    whole = min(side.min() for side in there), max(side.max() for side in there)
    far = [math.ceil(FEW * len(side)) if len(side) >= 50 else 0 for side in there]  # scores are ascending
    low, high = min(side[k] for side, k in zip(there, far)), max(side[-1 - k] for side, k in zip(there, far))
    if high > low and whole[1] / 4 - whole[0] / 4 > high - low:  # divided first, so that it is finite
        margin = 0.05 * (high - low)
        return max(whole[0], low - margin), min(whole[1], high + margin)
    return whole


def curves(
    title: str,
    axes: tuple[str, str],
    shown: Computed,
    points: Callable[[Computed], Points],
    key: str = "",
    **others: Any,
) -> Curves:
    """Curves of all models, in the order of the file, of which that of the model shown is selected.

    Parameters: title; axes; the model shown; points of a model; key of the number that stands beside each curve, if
    any; others as of `Curves`.
    """
    series = []
    for one in shown.all_models:
        if title not in one.memo:
            x, y, texts = points(one)
            at = drawn_vertices(x, y, curve_points(one.points), steps=others.get("steps", False))
            there = texts.at(at) if isinstance(texts, Texts) else [texts[i] for i in at]
            one.memo[title] = [x[i] for i in at], [y[i] for i in at], there
        x, y, texts = one.memo[title]
        value = one.results.get(key)
        beside = value if isinstance(value, float) else None
        series.append(Series(one.model, one.role, x, y, texts, selected=one.place == shown.place, value=beside))
    return Curves(title, axes, series, **others)


def drawn_vertices(x: Sequence[float], y: Sequence[float], most: int, *, steps: bool = False) -> list[int]:
    """The indices of at most `most` vertices of a curve, so that the line that is drawn through them is near to all.

    Again and again the vertex that is farthest from the line as it is drawn so far is kept, too: the distance, in parts
    of the axes, to the segment between the kept vertices around it, or to the nearer side of the step. Ends are kept.

    Parameters: x, y (V,); most of at least 2; steps, whether the value of a vertex holds back to the vertex before it.
    Source: Douglas and Peucker, Cartographica 1973.

    >>> drawn_vertices([0, 0.5, 0.6, 1], [1, 1, 0.9, 0], 3), drawn_vertices([0, 0.5, 0.6, 1], [1, 1, 0.9, 0], 9)
    ([0, 1, 3], [0, 1, 2, 3])
    """
    if len(x) <= most:
        return [*range(len(x))]
    points = np.stack([np.asarray(x, np.float64), np.asarray(y, np.float64)])
    spans = points.max(axis=1) - points.min(axis=1)
    points /= np.where(spans > 0, spans, 1)[:, None]

    def farthest(first: int, last: int) -> tuple[float, int, int, int]:
        start, end, between = points[:, first, None], points[:, last, None], points[:, first + 1 : last]
        if steps:
            corner = np.stack([start[0], end[1]])
            away = np.minimum(_distances(start, corner, between), _distances(corner, end, between))
        else:
            away = _distances(start, end, between)
        place = int(away.argmax())
        return -float(away[place]), first, first + 1 + place, last

    chosen, waiting = [0, len(x) - 1], [farthest(0, len(x) - 1)]
    while len(chosen) < most and waiting:
        _, first, place, last = heapq.heappop(waiting)
        chosen.append(place)
        for part in ((first, place), (place, last)):
            if part[1] - part[0] > 1:
                heapq.heappush(waiting, farthest(*part))
    return sorted(chosen)


def _distances(start: np.ndarray, end: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The distances (N,) of points (2, N) to the segment from start (2, 1) to end (2, 1)."""
    along, length = end - start, float(((end - start) ** 2).sum())
    share = np.clip((along * (points - start)).sum(axis=0) / length, 0, 1) if length else 0.0
    return np.hypot(*(points - start - share * along))


def fine_points(computed: Computed) -> int:
    """The most vertices of a curve before `drawn_vertices` chooses of them."""
    return max(MAX_POINTS, curve_points(computed.points))


def flagging(
    curve: Callable[..., Mapping[str, Sequence[float]]], x: str, y: str, sides: Sides
) -> Callable[[Computed], Points]:
    """The points of a curve such as `roc_curve` of the sides of a model, from its columns x and y."""

    def points(one: Computed) -> Points:
        positives, negatives = both = sides(one)
        table = curve(positives=positives, negatives=negatives, max_points=fine_points(one))
        return table[x], table[y], said_at(table["threshold"], both, "everything flagged", "nothing flagged")

    return points


def roc(title: str, shown: Computed, sides: Sides, key: str = "", **others: Any) -> Curves:
    """The ROC curves of all models; key and others as of `curves`."""
    axes = "FPR", "TPR"
    points = flagging(roc_curve, "fpr", "tpr", sides)
    return curves(title, axes, shown, points, key, **{"follows": axes, "diagonal": True, **others})


def worst_of_sides(
    computed: Computed,
    scores: np.ndarray,
    kinds: tuple[np.ndarray, np.ndarray],
    words: tuple[str, str],
    more: Mapping[str, Sequence[Any]] = {},
    *,
    decided: bool = True,
) -> list[Worst]:
    """The known samples with the highest scores, and the unknown ones with the lowest.

    Parameters: scores (N,) in the order of the rows; whether each is known, and whether it is unknown; words for them;
    more columns (N,); decided, whether the decisions are of these scores. Each sample says what share of the other side
    it is above, or below.
    """
    sides = []
    for i, sign in ((0, 1), (1, -1)):
        other = np.sort(sign * scores[kinds[1 - i]])
        rows = np.flatnonzero(kinds[i])
        rows = rows[np.argsort(-sign * scores[rows], kind="stable")][:MAX_WORST]
        columns = names_of_rows(computed, rows, len(scores)) | {"score": scores[rows].tolist()}
        if len(other):
            beyond = np.searchsorted(other, sign * scores[rows], side="left") / len(other)
            columns[f"{'higher' if sign > 0 else 'lower'} than … of {words[1 - i]}"] = beyond.tolist()
        columns |= {name: [column[row] for row in rows.tolist()] for name, column in more.items()}
        title = f"{words[i][:1].upper()}{words[i][1:]}, scored {'highest' if sign > 0 else 'lowest'}"
        if len(rows):
            role = ("known", "unknown")[i] if decided else ""
            sides.append(Worst(title, columns, rows=rows.tolist(), role=role))
    return sides


def names_of_rows(computed: Computed, rows: np.ndarray, number: int) -> dict[str, list[Any]]:
    """Columns that name some of `number` samples: their names where known, else their rows from 1, and their groups."""
    names, groups = computed.reading.samples or computed.reading.images, computed.groups
    named = len(names) == number
    columns: dict[str, list[Any]] = {
        "sample" if named else "row": [str(names[row]) if named else int(row) + 1 for row in rows.tolist()]
    }
    row_groups = [groups[row] for row in rows.tolist()] if len(groups) == number else []
    return columns | ({"group": row_groups} if any(row_groups) else {})
