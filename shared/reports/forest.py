"""Draw forest plots: intervals of results, or of the differences of two models. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..extras import extra
from ..metric.numbers import with_arrow
from ..written.results import direction
from .colors import DETECTORS, EDGE, LINE, QUIET
from .plots import check_picture, plainly, save_figure
from ..faces.terminal import NO_DIFFERENCE

_COLORS = {"first": DETECTORS[0], "second": DETECTORS[1], None: QUIET}
_ROW, _MARGIN = 0.32, 1.1  # inches
_LONGEST = 40  # characters of a name


class Interval(NamedTuple):
    """A line of a forest plot: a key, its value, the ends of its interval, and the colour."""

    key: str
    value: float
    low: float
    high: float
    color: str = _COLORS["first"]


@plainly
def draw_differences(
    table: Mapping[str, Sequence[Any]],
    path: str | Path,
    *,
    title: str = "",
    models: tuple[str, str] = ("the first", "the second"),
) -> None:
    """Draw the differences of two models with their intervals and, if it is certain, which of the two is better.

    Parameters: table, of `compare`; path of a file whose ending matplotlib knows (.png, .pdf, .svg); title;
    models, their names.
    Raises ValueError for another ending and a table without rows, OSError for a file that cannot be written.
    """
    groups = table.get("group", [None] * len(table["key"]))
    directions = [direction(key) for key in table["key"]]
    keys = [with_arrow(key, known and known.higher) for key, known in zip(table["key"], directions)]
    names = [key if group is None else f"{group} · {key}" for group, key in zip(groups, keys)]
    columns = zip(names, table["difference"], table["low"], table["high"], table["better"])
    rows = [Interval(name, value, low, high, _COLORS[better]) for name, value, low, high, better in columns]
    there = {row.color for row in rows}
    words = (*(f"{model} is better" for model in models), NO_DIFFERENCE)
    legend = {text: color for text, color in zip(words, _COLORS.values()) if color in there}
    _draw(rows, Path(path), title or "first − second", zero=True, legend=legend)


@plainly
def draw_intervals(results: Mapping[str, Any], path: str | Path, *, title: str = "") -> None:
    """Draw the rates of results with a confidence_level, each with its interval.

    Parameters: results, with `<key>_low` and `<key>_high`; path and title, as of `draw_differences`.
    Raises ValueError for results without intervals, and as `draw_differences`.
    """
    sure = [key for key in results if f"{key}_low" in results]
    rows = [Interval(key, results[key], results[f"{key}_low"], results[f"{key}_high"]) for key in sure]
    if not rows:
        raise ValueError("results: expected intervals, got none; compute them with a confidence_level")
    _draw(rows, Path(path), title, zero=False, legend={})


def _shortened(name: str) -> str:
    """A name that leaves room for the drawing: a long one without its middle.

    >>> _shortened("auroc ↑"), len(_shortened(60 * "x"))
    ('auroc ↑', 40)
    """
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST // 2]}…{name[1 - _LONGEST // 2 :]}"


def _draw(rows: Sequence[Interval], path: Path, title: str, *, zero: bool, legend: Mapping[str, str]) -> None:
    """Draw rates in one panel, and counts and ratios beyond 1 in another."""
    if not rows:
        raise ValueError("table: expected at least one row, got none")
    check_picture(path)
    with extra("cli"):
        from matplotlib.figure import Figure
        from matplotlib.lines import Line2D

    beyond = [row for row in rows if max(abs(row.low), abs(row.high)) > 1]
    panels = [panel for panel in ([row for row in rows if row not in beyond], beyond) if panel]
    heights = [_MARGIN + _ROW * len(panel) for panel in panels]
    figure = Figure(figsize=(7.5, sum(heights)), layout="constrained")
    columns = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
    for axes, panel in zip(columns, panels):
        for place, row in enumerate(panel):
            axes.plot([row.low, row.high], [place, place], color=row.color, linewidth=2, solid_capstyle="butt")
            axes.plot(row.value, place, "o", color=row.color, markersize=6)
            form = ("+" if zero else "") + (".4g" if row in beyond else ".4f")
            value, low, high = (f"{end:{form}}".replace("-", "−") for end in (row.value, row.low, row.high))
            said = f"{value} [{low}, {high}]"
            axes.annotate(said, (1.02, place), xycoords=("axes fraction", "data"), va="center", fontsize=9)
        if zero:
            axes.axvline(0, color=EDGE, linewidth=1, linestyle="--", zorder=0)
        axes.set_yticks(range(len(panel)), [_shortened(row.key) for row in panel])
        axes.set_ylim(len(panel) - 0.5, -0.5)
        axes.grid(axis="x", color=LINE, linewidth=0.6)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(left=False)
    if title:
        columns[0].set_title(title, fontsize=11)
    if legend:
        lines = [Line2D([], [], color=color, marker="o", linewidth=2) for color in legend.values()]
        figure.legend(lines, list(legend), loc="outside lower center", ncols=len(lines), frameon=False, fontsize=9)
    save_figure(figure, path)
