"""Plots of results as files, .png, .svg or .pdf: scores, ROC and rates, OSCR curves, intervals and differences."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

from ..answers.answer import NO_DIFFERENCE, Answer, Curves, Decisions, Figure, Histogram, Series
from ..answers.decisions import first_place
from ..arrays.arrays import trapezoid_area
from ..extras import extra
from ..metric.rounding import with_arrow
from ..written.files import write_file
from ..written.results import direction
from .drawing import draw_curves, draw_figure, lines_of, styled
from .palette import TOKENS
from .typography import brief, interval, number, signed, threshold_shown

__all__ = ["draw_differences", "draw_intervals", "draw_oscr"]  # for people; the others are for commands and reports

_WIDE, _DPI = 9, 200  # inches, and pixels per inch
_MODELS = [TOKENS[name].light for name in ("d1", "d2", "d3", "ink", "edge")]
_QUIET, _EDGE = (TOKENS[name].light for name in ("ink2", "edge"))
_BETTER = {"first": _MODELS[0], "second": _MODELS[1], None: _QUIET}
_ROW, _MARGIN = 0.27, 0.45  # inches
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
    rates = [
        _Row(with_arrow(each.key, each.higher), each.value, each.interval, number, interval)
        for each in answer.numbers.get(answer.model, ())
        if each.share and not math.isnan(each.value)
    ]
    place = first_place(answer.decisions)
    rows = -(-len(answer.figures) // 2)
    heights = [3.3 * rows] * bool(rows) + [_MARGIN + _ROW * len(rates)] * bool(rates)
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
            _draw_rows(axes, rates, answer.over)
            axes.set_xlim(0, 1)
            axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        save_figure(drawn, path)


def _threshold_drawn(figure: Figure, decisions: Decisions | None) -> str:
    """The threshold that is a line in a histogram, with its name; "" without one."""
    if decisions is None or not isinstance(figure, Histogram) or not figure.follows:
        return ""
    name, place = next(iter(decisions.presets.items()), ("", 0))
    return f"{name}: score > {threshold_shown(decisions.thresholds[place])}".removeprefix(": ")


class _Row(NamedTuple):
    """A row of a plot: its name, a value, the ends of its interval, if any, how both are written, and the colour."""

    name: str
    value: float
    interval: tuple[float, float] | None
    number: Callable[[Any], str]
    ends: Callable[[tuple[float, float] | None], str]
    color: str = _MODELS[0]

    @property
    def ends_drawn(self) -> tuple[float, ...]:
        """The ends of the interval, or only the value where there is none, or an infinite one."""
        return self.interval if self.interval and all(map(math.isfinite, self.interval)) else (self.value,)


def _draw_rows(axes: Any, rows: Sequence[_Row], title: str) -> None:
    """Draw a row for each number: its value as a point, its interval as a line, and both as text."""
    for place, row in enumerate(rows):
        if len(row.ends_drawn) > 1:
            axes.plot(row.ends_drawn, [place, place], color=row.color, linewidth=2.5, solid_capstyle="butt")
        axes.plot(row.value, place, "o", color=row.color, markersize=6)
        label = f"{row.number(row.value)}  {row.ends(row.interval)}".rstrip()
        axes.annotate(label, (1.02, place), xycoords=("axes fraction", "data"), va="center")
    axes.set_yticks(range(len(rows)), [brief(row.name, _LONGEST) for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)
    axes.spines["left"].set_visible(False)
    axes.set_title(title)


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
        Series(f"{name}: {trapezoid_area(curve['ccr'], curve['fpr']):.3f}", f"d{place}", curve["fpr"], curve["ccr"])
        for place, (name, curve) in enumerate(curves.items(), 1)
    ]
    names = ("unknown samples accepted (FPR)", "known samples accepted with the right class (CCR)")
    with styled() as canvas:
        figure = canvas(figsize=(5, 4.2), layout="constrained")
        axes = figure.subplots()
        draw_curves(axes, Curves(title, names, series))
        axes.legend(*lines_of(series), loc="lower right", title="area ≈ OpenAUC")
        save_figure(figure, Path(path))


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
    columns = zip(names, table["difference"], zip(table["low"], table["high"]), table["better"])
    rows = [_Row(name, value, ends, signed, interval, _BETTER[better]) for name, value, ends, better in columns]
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
    ends = ((results[f"{key}_low"], results[f"{key}_high"]) for key in sure)
    rows = [_Row(key, results[key], end, number, interval) for key, end in zip(sure, ends)]
    if not rows:
        raise ValueError("results: expected intervals, got none; compute them with a confidence_level")
    _draw_forest(rows, Path(path), title, zero=False, legend={})


def _draw_forest(rows: Sequence[_Row], path: Path, title: str, *, zero: bool, legend: Mapping[str, str]) -> None:
    if not rows:
        raise ValueError("table: expected at least one row, got none")
    check_picture(path)
    largest = [
        max((abs(end) for end in row.interval or () if math.isfinite(end)), default=abs(row.value)) for row in rows
    ]
    beyond = [row for row, most in zip(rows, largest) if most > 1]
    panels = [panel for panel in ([row for row in rows if row not in beyond], beyond) if panel]
    heights = [2 * _MARGIN + _ROW * len(panel) for panel in panels]
    with styled() as canvas:
        from matplotlib.lines import Line2D

        figure = canvas(figsize=(_WIDE, sum(heights)), layout="constrained", dpi=_DPI)
        columns = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
        for axes, panel in zip(columns, panels):
            _draw_rows(axes, panel, title if axes is columns[0] else "")
            if zero:
                axes.axvline(0, color=_EDGE, linewidth=1, linestyle="--", zorder=0)
        if legend:
            lines = [Line2D([], [], color=color, marker="o", linewidth=2) for color in legend.values()]
            figure.legend(lines, list(legend), loc="outside lower center", ncols=len(lines))
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
