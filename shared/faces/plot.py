"""Plots of results as files, .png, .svg or .pdf: scores, ROC and rates, OSCR curves, intervals and differences."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np

from ..answers.answer import Answer, Curves, Decisions, Figure, Histogram, Number, Series
from ..extras import extra
from ..metric.numbers import with_arrow
from ..written.files import write_file
from ..written.results import direction
from .drawing import draw_curves, draw_figure, lines_of, styled
from .numbers import interval, number, threshold_shown, typographic
from .palette import TOKENS
from .terminal import NO_DIFFERENCE

__all__ = ["draw_differences", "draw_intervals", "draw_oscr"]  # for people; the others are for commands and reports

_WIDTH, _WIDE, _DPI = 7.5, 9, 200  # inches, of answers, and pixels per inch
_MODELS = [TOKENS[name].light for name in ("d1", "d2", "d3", "ink", "edge")]
_INK, _QUIET, _EDGE = (TOKENS[name].light for name in ("ink", "ink2", "edge"))
_BETTER = {"first": _MODELS[0], "second": _MODELS[1], None: _QUIET}
_ROW, _MARGIN = 0.32, 1.1  # inches
_TITLE = 42  # characters of a line of a title
_LONGEST = 40  # characters of a name


def check_picture(path: Path) -> None:
    """Raise ValueError for a file ending that matplotlib does not know."""
    with extra("cli"):
        from matplotlib.backend_bases import FigureCanvasBase

    known = sorted(f".{ending}" for ending in FigureCanvasBase.get_supported_filetypes())
    if path.suffix.lower() not in known:
        raise ValueError(f"{path}: expected a file ending in {', '.join(known)}")


def draw_answer(answer: Answer, path: Path) -> None:
    """Plot an answer: its figures, and the rates of the model shown with their intervals.

    path: of a file whose ending matplotlib knows (.png, .pdf, .svg)
    Raises ValueError for another ending, OSError for a file that cannot be written, which stays as it is.
    """
    check_picture(path)
    rates = [each for each in answer.numbers.get(answer.model, ()) if each.share and not math.isnan(each.value)]
    place = next(iter(answer.decisions.presets.values()), 0) if answer.decisions is not None else 0
    rows = -(-len(answer.figures) // 2)
    heights = [3.3 * rows] * bool(rows) + [0.45 + 0.27 * len(rates)] * bool(rates)
    with styled() as canvas:
        drawn = canvas(figsize=(_WIDE, sum(heights or [1]) + 0.4), layout="constrained", dpi=_DPI)
        title = ": ".join(filter(None, [answer.metric, answer.model]))
        drawn.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
        parts = drawn.subfigures(len(heights) or 1, 1, squeeze=False, height_ratios=heights or [1])[:, 0]
        for at, figure in enumerate(answer.figures):
            axes = parts[0].add_subplot(rows, 2, at + 1)
            draw_figure(axes, figure, answer.decisions, place)
            words = [figure.title, _threshold_drawn(figure, answer.decisions), figure.note]
            axes.set_title(fill(" · ".join(filter(None, words)), _TITLE))
        if rates:
            axes = parts[-1].subplots()
            _draw_rates(axes, rates)
            axes.set_title(answer.over)
        save_figure(drawn, path)


def _threshold_drawn(figure: Figure, decisions: Decisions | None) -> str:
    """The threshold that is a line in a histogram, with its name; "" without one."""
    if decisions is None or not isinstance(figure, Histogram) or not figure.follows:
        return ""
    name, place = next(iter(decisions.presets.items()), ("", 0))
    return f"{name}: score > {threshold_shown(decisions.thresholds[place])}".removeprefix(": ")


def _draw_rates(axes: Any, rates: Sequence[Number]) -> None:
    """Draw a row for each rate: its value as a point, its interval as a line; numbers beyond 1 only as text."""
    for place, each in enumerate(rates):
        if each.interval is not None and 0 <= each.interval[0] <= each.interval[1] <= 1:
            axes.plot(each.interval, [place, place], color=_MODELS[0], linewidth=2.5, solid_capstyle="butt")
        if 0 <= each.value <= 1:
            axes.plot(each.value, place, "o", color=_MODELS[0], markersize=6, clip_on=False)
        said = f"{number(each.value)}  {interval(each.interval)}".rstrip()
        axes.annotate(said, (1.02, place), xycoords=("axes fraction", "data"), va="center")
    axes.set(xlim=(0, 1), ylim=(len(rates) - 0.5, -0.5))
    axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    axes.set_yticks(range(len(rates)), [with_arrow(each.key, each.higher) for each in rates])
    axes.grid(axis="y", visible=False)
    axes.spines["left"].set_visible(False)


def draw_oscr(curves: Mapping[str, Mapping[str, Sequence[float]]], path: str | Path, *, title: str = "") -> None:
    """Plot OSCR curves: the rate of known samples accepted with the right class over the rate of unknown ones accepted.

    curves: of `oscr_curve`, by the names of their models; path of a file whose ending matplotlib knows (.png, .pdf,
    .svg); title. The legend has the area under
    each, which is OpenAUC, or near it where the curve was thinned.
    Raises ValueError for no curve and another ending, OSError for a file that cannot be written.
    """
    if not curves:
        raise ValueError("curves: expected at least one, got none")
    check_picture(Path(path))
    series = [
        Series(f"{name}: {np.trapezoid(curve['ccr'], curve['fpr']):.3f}", f"d{place}", curve["fpr"], curve["ccr"])
        for place, (name, curve) in enumerate(curves.items(), 1)
    ]
    names = ("unknown samples accepted (FPR)", "known samples accepted with the right class (CCR)")
    with styled() as canvas:
        figure = canvas(figsize=(5, 4.2), layout="constrained")
        axes = figure.subplots()
        draw_curves(axes, Curves(title, names, series))
        axes.legend(*lines_of(series), loc="lower right", title="area ≈ OpenAUC")
        save_figure(figure, Path(path))


class _Interval(NamedTuple):
    """A line of a forest plot: a key, its value, the ends of its interval, and the colour."""

    key: str
    value: float
    low: float
    high: float
    color: str = _MODELS[0]


def draw_differences(
    table: Mapping[str, Sequence[Any]],
    path: str | Path,
    *,
    title: str = "",
    models: tuple[str, str] = ("the first", "the second"),
) -> None:
    """Draw the differences of two models with their intervals and, if it is certain, which of the two is better.

    table: of `compare`; path of a file whose ending matplotlib knows (.png, .pdf, .svg); title; models, their names.
    Raises ValueError for another ending and a table without rows, OSError for a file that cannot be written.
    """
    groups = table.get("group", [None] * len(table["key"]))
    directions = [direction(key) for key in table["key"]]
    keys = [with_arrow(key, known and known.higher) for key, known in zip(table["key"], directions)]
    names = [key if group is None else f"{group} · {key}" for group, key in zip(groups, keys)]
    columns = zip(names, table["difference"], table["low"], table["high"], table["better"])
    rows = [_Interval(name, value, low, high, _BETTER[better]) for name, value, low, high, better in columns]
    there = {row.color for row in rows}
    words = (*(f"{model} is better" for model in models), NO_DIFFERENCE)
    legend = {text: color for text, color in zip(words, _BETTER.values()) if color in there}
    _draw_forest(rows, Path(path), title or "first − second", zero=True, legend=legend)


def draw_intervals(results: Mapping[str, Any], path: str | Path, *, title: str = "") -> None:
    """Draw the rates of results with a confidence_level, each with its interval.

    results: with `<key>_low` and `<key>_high`; path and title, as of `draw_differences`.
    Raises ValueError for results without intervals, and as `draw_differences`.
    """
    sure = [key for key in results if f"{key}_low" in results]
    rows = [_Interval(key, results[key], results[f"{key}_low"], results[f"{key}_high"]) for key in sure]
    if not rows:
        raise ValueError("results: expected intervals, got none; compute them with a confidence_level")
    _draw_forest(rows, Path(path), title, zero=False, legend={})


def _shortened(name: str) -> str:
    """A name that leaves room for the drawing: a long one without its middle.

    >>> _shortened("auroc ↑"), len(_shortened(60 * "x"))
    ('auroc ↑', 40)
    """
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST // 2]}…{name[1 - _LONGEST // 2 :]}"


def _draw_forest(rows: Sequence[_Interval], path: Path, title: str, *, zero: bool, legend: Mapping[str, str]) -> None:
    """Draw rates in one panel, and counts and ratios beyond 1 in another."""
    if not rows:
        raise ValueError("table: expected at least one row, got none")
    check_picture(path)
    beyond = [row for row in rows if max(abs(row.low), abs(row.high)) > 1]
    panels = [panel for panel in ([row for row in rows if row not in beyond], beyond) if panel]
    heights = [_MARGIN + _ROW * len(panel) for panel in panels]
    with styled(**{"axes.titlelocation": "center", "font.size": 10}) as canvas:
        from matplotlib.lines import Line2D

        figure = canvas(figsize=(_WIDTH, sum(heights)), layout="constrained")
        columns = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
        for axes, panel in zip(columns, panels):
            for place, row in enumerate(panel):
                axes.plot([row.low, row.high], [place, place], color=row.color, linewidth=2, solid_capstyle="butt")
                axes.plot(row.value, place, "o", color=row.color, markersize=6)
                form = ("+" if zero else "") + (".4g" if row in beyond else ".4f")
                value, low, high = (typographic(f"{end:{form}}") for end in (row.value, row.low, row.high))
                said = f"{value} [{low}, {high}]"
                axes.annotate(said, (1.02, place), xycoords=("axes fraction", "data"), va="center", fontsize=9)
            if zero:
                axes.axvline(0, color=_EDGE, linewidth=1, linestyle="--", zorder=0)
            axes.set_yticks(range(len(panel)), [_shortened(row.key) for row in panel])
            axes.set_ylim(len(panel) - 0.5, -0.5)
            axes.grid(axis="y", visible=False)
            axes.spines["left"].set_visible(False)
        if title:
            columns[0].set_title(title, fontsize=11)
        if legend:
            lines = [Line2D([], [], color=color, marker="o", linewidth=2) for color in legend.values()]
            figure.legend(lines, list(legend), loc="outside lower center", ncols=len(lines), fontsize=9)
        save_figure(figure, path)


def save_figure(figure: Any, path: Path) -> None:
    """Write a matplotlib figure; .svg files are reproducible byte for byte. Raises OSError."""
    kind, picture = path.suffix[1:].lower(), io.BytesIO()
    figure.savefig(picture, format=kind, metadata={"Date": None} if kind == "svg" else None)
    content = picture.getvalue()
    if kind == "svg":  # whose names of clips depend on the last bits of a layout
        names: dict[bytes, bytes] = {}
        clips = re.compile(rb'((?:url\(#|id=")p)([0-9a-f]{10})(?=[)"])')
        content = clips.sub(lambda clip: clip[1] + names.setdefault(clip[2], b"%d" % len(names)), content)
    write_file(path, content)
