"""Draw charts of a page as SVG: curves over the false-positive rate, histograms of scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

_WIDTH, _HEIGHT = 320, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 40, 12, 30, 40
_BINS = 24
_SHORT = 10  # characters of a y axis' name
_Point = tuple[float, float]


class Line(NamedTuple):
    """A curve to draw: its name, its colour (a CSS class of the page), and its points in [0, 1]²."""

    name: str
    color: str
    points: Sequence[_Point]


def curves_svg(
    title: str,
    lines: Sequence[Line],
    x_label: str,
    y_label: str,
    reach: float = 1.0,
    marked: _Point | None = None,
    said: str = "",
) -> str:
    """Curves from x = 0 to `reach`, where they are interpolated, and a marked point.

    Parameters: title, drawn above, or ""; said, the accessible name of a chart without a title; lines; names of the
    axes.

    >>> curves_svg("ROC", [Line("a", "first", [(0, 0), (0, 1), (1, 1)])], "FPR", "TPR").count("<polyline")
    1
    """
    parts = [*_frame(title, x_label, y_label, [0, reach], [0, 1])]
    if reach == 1:
        parts.append(f'<line class="grid" {_ends(_place(0, 0), _place(1, 1))}/>')
    for line in lines:
        places = (_place(x / reach, y) for x, y in _up_to(line.points, reach))
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline class="{line.color}" points="{points}"><title>{escape(line.name)}</title></polyline>')
    if marked is not None:
        x, y = _place(marked[0] / reach, marked[1])
        here = f"{x_label} {marked[0]:.4g}, {y_label} {marked[1]:.4g}"
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5"><title>{escape(here)}</title></circle>')
    return _svg(title, parts, said)


def histogram_svg(
    title: str,
    sides: Mapping[str, Sequence[float]],
    threshold: float | None,
    *,
    unit: str,
    shares: bool = False,
    said: str = "",
) -> str:
    """Histograms of the scores of two sides, and a threshold.

    Parameters: title; sides, scores by name; threshold, or None; unit, the thing that is scored, such as "image";
    shares, whether to draw each side in percent of its scores, rather than counts; said, the accessible name of a chart
    without a title.

    >>> histogram_svg("Scores", {"normal": [0.1, 0.2], "anomalous": [0.9]}, 0.5, unit="image").count("<rect")
    3
    """
    arrays = {name: np.asarray(scores, np.float64) for name, scores in sides.items()}
    finite = {name: scores[np.isfinite(scores)] for name, scores in arrays.items()}
    known = np.concatenate([*finite.values(), *([[threshold]] if threshold is not None else [])])
    known = known[np.isfinite(known)]
    if not len(known):
        return ""
    low, high = _round_ends(float(known.min()), float(known.max()))
    edges = even_edges(low, high, _BINS)
    counts = {name: np.histogram(scores, edges)[0] for name, scores in finite.items()}
    units = {name: max(1, len(scores)) / 100 if shares else 1 for name, scores in arrays.items()}
    highest = max(1, *(int(count.max()) / units[name] for name, count in counts.items()))
    highest = 2 * math.ceil(highest / 2)  # even, so that its half is short
    y_label = f"% of the {unit}s of each kind" if shares else f"{unit}s"
    infinite = sum(map(len, arrays.values())) - sum(map(len, finite.values()))
    x_label = f"score; {infinite:,} infinite ones are not drawn" if infinite else f"score of each {unit}"
    parts = [*_frame(title, x_label, y_label, [low, high], [0, highest])]
    for color, (name, count) in zip(("first", "second"), counts.items()):
        for i, value in enumerate(count.tolist()):
            if value:
                x, y = _place(i / _BINS, value / units[name] / highest)
                width, height = (_WIDTH - _LEFT - _RIGHT) / _BINS, _place(0, 0)[1] - y
                box = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
                bar = f"{value} {name}, {edges[i]:.4g} to {edges[i + 1]:.4g}"
                parts.append(f'<rect class="{color}" {box}><title>{escape(bar)}</title></rect>')
    if threshold is not None and math.isfinite(threshold):
        at = (threshold / 2 - low / 2) / (high / 2 - low / 2)  # the range of huge scores is infinite
        parts.append(f'<line class="threshold" {_ends(_place(at, 0), _place(at, 1))}/>')
    return _svg(title, parts, said)


def _round_ends(low: float, high: float) -> tuple[float, float]:
    """Round ends with a round middle that include a range.

    >>> _round_ends(7.96, 37.4), _round_ends(0.5, 0.5)
    ((0.0, 40.0), (0.0, 1.0))
    """
    low, high = (low, high) if low < high else (low - 0.5, high + 0.5)
    if not math.isfinite(high - low):
        return low, high
    power = 10.0 ** (math.floor(math.log10((high - low) / 4)) if high - low > 1e-300 else -300)
    for step in (factor * power for factor in (1, 2, 2.5, 5, 10, 20)):
        start = math.floor(low / step) * step
        if start + 4 * step >= high:
            return float(start), float(start + 4 * step)
    return low, high


def _up_to(points: Sequence[_Point], reach: float) -> Iterator[_Point]:
    """The part of a curve up to x = reach, with an interpolated end."""
    x0, y0 = points[0]
    for x, y in points:
        if x > reach:
            yield reach, y0 + (y - y0) * (reach - x0) / (x - x0)
            return
        yield x, y
        x0, y0 = x, y


def _place(x: float, y: float) -> _Point:
    """The position in the drawing of a point of [0, 1]²."""
    return _LEFT + x * (_WIDTH - _LEFT - _RIGHT), _HEIGHT - _BOTTOM - y * (_HEIGHT - _TOP - _BOTTOM)


def _ends(first: _Point, second: _Point) -> str:
    return f'x1="{first[0]:.1f}" y1="{first[1]:.1f}" x2="{second[0]:.1f}" y2="{second[1]:.1f}"'


def _frame(title: str, x_label: str, y_label: str, x_range: Sequence[float], y_range: Sequence[float]) -> Iterator[str]:
    """The title, the names of the axes, and grid lines at both ends and in the middle."""
    if title:
        yield f'<text class="title" x="{_LEFT}" y="16">{escape(title)}</text>'
    shares = (0, 0.5, 1)
    for share, x_text, y_text in zip(shares, _labels(x_range, shares), _labels(y_range, shares)):
        (x, bottom), (left, y) = _place(share, 0), _place(0, share)
        yield f'<line class="grid" {_ends((x, bottom), _place(share, 1))}/>'
        yield f'<line class="grid" {_ends((left, y), _place(1, share))}/>'
        anchor = {0: "start", 0.5: "middle", 1: "end"}[share]
        yield f'<text x="{x:.1f}" y="{bottom + 15:.1f}" text-anchor="{anchor}">{x_text}</text>'
        yield f'<text x="{left - 5:.1f}" y="{y + 4:.1f}" text-anchor="end">{y_text}</text>'
    middle = _place(0.5, 0)[0]
    yield f'<text x="{middle:.1f}" y="{_HEIGHT - 6}" text-anchor="middle">{escape(x_label)}</text>'
    x, y = 11, _place(0, 0.5 if len(y_label) > _SHORT else 0.75)[1]  # a short one stands between two numbers
    yield f'<text x="{x}" y="{y:.1f}" text-anchor="middle" transform="rotate(-90 {x} {y:.1f})">{escape(y_label)}</text>'


def even_edges(low: float, high: float, number: int) -> np.ndarray:
    """The edges of so many bins of one width; the range of huge scores may be beyond the largest float."""
    scale = 1.0 if math.isfinite(float(high) - float(low)) else 2.0
    return np.linspace(low / scale, high / scale, number + 1) * scale


def _labels(ends: Sequence[float], shares: Sequence[float]) -> list[str]:
    """Numbers of an axis as texts of three digits, or of more where these would be far off.

    >>> _labels([0, 1], [0, 0.5, 1]), _labels([1234.5, 1238], [0, 0.5, 1])
    (['0', '0.5', '1'], ['1234.5', '1236.2', '1238'])
    """
    low, high = (float(end) for end in ends)
    values = [low * (1 - share) + high * share for share in shares]
    texts: list[str] = []
    for digits in range(3, 18):
        texts = [f"{value:.{digits}g}" for value in values]
        if all(abs(float(text) - value) <= abs(high / 50 - low / 50) for text, value in zip(texts, values)):
            break
    return texts


def _svg(title: str, parts: Sequence[str], said: str = "") -> str:
    """The chart; without a title it is less high, and `said` is its accessible name."""
    top = 0 if title else _TOP - 12
    box = f'viewBox="0 {top} {_WIDTH} {_HEIGHT - top}" role="img" aria-label="{escape(title or said)}"'
    return f"<svg {box}>\n" + "\n".join(parts) + "\n</svg>"
