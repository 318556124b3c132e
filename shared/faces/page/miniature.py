"""The picture of a metric on the front page: an image or a figure of its example, small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from ...answers.answer import Answer, Curves, Decisions, Histogram, Series
from ...answers.decisions import first_place
from ..html import framed, rendered
from ..palette import DASHES, token

WIDTH, HEIGHT, MARGIN = 132, 88, 8  # pixels
_DASHES = {"dash": "5 2.5", "dot": "1.5 2"}
Points = Sequence[tuple[float, float]]


def miniature(answer: Answer) -> str:
    """The least wrong of the worst images, else a histogram of two sides or the first curves; "" without any."""
    if answer.images:
        image = answer.images[-1]
        return framed(replace(image, picture=image.thumbnail), {})
    figures = [one for one in answer.figures if isinstance(one, Curves) or len(getattr(one, "series", ())) == 2]
    if not figures:
        return ""
    figure = figures[0]
    if isinstance(figure, Histogram):
        return _histogram(figure, answer.decisions)
    assert isinstance(figure, Curves)
    return _curves(figure)


def _histogram(figure: Histogram, decisions: Decisions | None) -> str:
    """The steps of both sides, the unknown one hatched, and the threshold."""
    left = min(min(one.x) for one in figure.series)
    right = max(max(one.x) for one in figure.series) + figure.width
    top = max(max(one.y) for one in figure.series)
    lines = []
    for one in figure.series:
        steps = [(x + width, y) for x, y in zip(one.x, one.y) for width in (0, figure.width)]
        ends = [(steps[0][0], 0.0), *steps, (steps[-1][0], 0.0)]
        lines.append({"path": _path(ends, (left, right), (0, top)), "role": token(one.role), "filled": True})
    at = None if decisions is None else float(decisions.thresholds[first_place(decisions)])
    marked = None if at is None else _across(min(max(at, left), right), left, right)
    return rendered("miniature", lines=lines, at=marked, size=(WIDTH, HEIGHT))


def _curves(figure: Curves) -> str:
    """The curves, the selected one on top, between the axes."""
    series = sorted(figure.series, key=lambda one: one.selected)
    lines = []
    for one in series:
        x, y = _finite(one)
        ends = (0.0, 1.0) if figure.shares[0] else (min(x), max(x))
        points = [*zip(x, y)]
        if figure.steps:  # a value holds back to the point before
            points = [points[0], *((b[0] if k else a[0], b[1]) for a, b in pairwise(points) for k in (0, 1))]
        dash = _DASHES.get(DASHES.get(one.role, ""), "")
        path = _path(points, ends, (0.0, max(1.0, *y)))
        lines.append({"path": path, "role": token(one.role), "dash": dash, "filled": False})
    return rendered("miniature", lines=lines, at=None, size=(WIDTH, HEIGHT))


def _finite(one: Series) -> tuple[list[float], list[float]]:
    pairs = [(float(x), float(y)) for x, y in zip(one.x, one.y) if abs(x) < float("inf") and y == y]
    return [x for x, _ in pairs], [y for _, y in pairs]


def _across(x: float, low: float, high: float) -> float:
    return round(MARGIN + (WIDTH - MARGIN - 4) * (x - low) / ((high - low) or 1), 1)


def _path(points: Points, across: tuple[float, float], up: tuple[float, float]) -> str:
    """An SVG path in pixels."""
    bottom, tall = HEIGHT - MARGIN, HEIGHT - 2 * MARGIN
    places = [(_across(x, *across), round(bottom - tall * (y - up[0]) / ((up[1] - up[0]) or 1), 1)) for x, y in points]
    return "M" + " L".join(f"{x:g},{y:g}" for x, y in places)
