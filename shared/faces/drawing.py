"""Figures that stand still, by matplotlib: in reports as SVG in the colours of the theme, and for files of `plot`.

Each function draws a figure of an answer on axes. matplotlib is imported when something is drawn.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from textwrap import fill, wrap
from typing import Any

import numpy as np

from ..answers.answer import Bars, Curves, Decisions, Figure, Histogram, Matrix, Series
from ..answers.charts import LARGE
from ..answers.decisions import number_at
from ..extras import extra
from .palette import DASHES, HATCHED, TOKENS, light, on, token
from .typography import number

INK, QUIET, LINE, EDGE, SOFT = (TOKENS[name].light for name in ("ink", "ink2", "line", "edge", "soft"))
STYLE: dict[str, Any] = {
    "text.parse_math": False,  # names are drawn as they are, also with two dollar signs
    "text.color": INK,
    "axes.edgecolor": EDGE,
    "axes.labelcolor": QUIET,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": LINE,
    "grid.linewidth": 0.8,
    "xtick.labelcolor": QUIET,
    "ytick.labelcolor": QUIET,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "hatch.linewidth": 1.2,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "font.size": 9,
    "svg.hashsalt": "openworld-metrics",
}
_DASHES: dict[str, Any] = {"solid": "-", "dash": (0, (5, 2.5)), "dot": (0, (1, 1.5))}
_FILL, _FAINT = 0.75, 0.3  # opacity of the bars of the known and the unknown side, and of a third one
_PALE = 0.35  # part of it up to the threshold
_SHADE = 0.5  # of a cell of a matrix that has a whole row
_LEGIBLE = 0.03  # fraction of a bar that has room for a character
WIDTH, NARROW = 340, 220  # units of an inline figure, and of one of four side by side
_MARGINS = (48, 42, 10, 8)  # around the axes of an inline figure: left, bottom, right, top
_LETTERS = 48  # that a line of a legend has room for
_WRAPPED = 9  # letters of a line of a name below a column, at most
_BESIDE = 16  # letters of a line of a name of a row
_ROW, _LETTER, _LINE = 34, 6.5, 14  # units: the height of a row of bars or of a matrix, a letter, and a line

_VARIABLES = {color.light: f"var(--{name})" for name, color in TOKENS.items() if name not in ("ground", "surface")}


@contextmanager
def styled(**more: Any) -> Iterator[Any]:
    """A context in which matplotlib draws quiet axes in the colours of the palette; gives its Figure."""
    with extra("cli"):
        from matplotlib import rc_context
        from matplotlib.figure import Figure as Canvas
    style: Any = {**STYLE, **more}
    with rc_context(style):
        yield Canvas


def svg_of(
    figure: Figure,
    decisions: Decisions | None = None,
    place: int = 0,
    *,
    name: str = "",
    width: int = WIDTH,
    threshold: float | None = None,
) -> str:
    """A figure as an SVG element for a page, `width` units wide, whose colours are CSS variables of the palette.

    figure: without its title, note and legend, which `html.title_of` has
    decisions and place: of the threshold that is drawn, and of the moving point
    name: the accessible name, by default the title
    threshold: of a histogram, in place of that of decisions. Raises ImportError without matplotlib.
    """
    left, bottom, right, top = _MARGINS
    height = round(0.74 * width)
    if isinstance(figure, (Bars, Matrix)):
        left, bottom = min(width // 3, _wide(figure.rows, _BESIDE)), top
        if isinstance(figure, Matrix):
            letters = _letters(figure.columns)
            bottom += _LINE * max((len(wrap(name, letters)) for name in figure.columns), default=0)
        height = bottom + top + _ROW * len(figure.rows)
    frame = (left / width, bottom / height, 1 - (left + right) / width, 1 - (top + bottom) / height)
    with styled(**{"svg.fonttype": "none", "font.size": 11, "legend.fontsize": 11, "axes.linewidth": 1}) as canvas:
        drawn = canvas(figsize=(width / 72, height / 72), dpi=72)
        axes = drawn.add_axes(frame)
        draw_figure(axes, figure, decisions, place, threshold=threshold)
        axes.set_title("")
        if isinstance(figure, Matrix):
            axes.set(xlabel="", ylabel="")
        if axes.get_legend() is not None:
            axes.get_legend().remove()
        for ground in (drawn.patch, axes.patch):
            ground.set_visible(False)
        file = io.StringIO()
        unnamed = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        drawn.savefig(file, format="svg", transparent=True, metadata=unnamed)
    box = f'viewBox="0 0 {width} {height}"'
    return _inline(file.getvalue(), f'{box} role="img" aria-label="{escape(name or figure.title)}"')


def width_of(figure: Matrix) -> int:
    """The units that a matrix needs, so that the names of its columns do not meet."""
    across = len(figure.columns) * _wide(figure.columns, _letters(figure.columns))
    return max(WIDTH, _wide(figure.rows, _BESIDE) + across + _MARGINS[2])


def _letters(columns: Sequence[str]) -> int:
    """The letters of a line of the names of columns: as many as the longest word has, if there is room."""
    return min(_WRAPPED, max((len(word) for name in columns for word in name.split()), default=1))


def _wide(names: Sequence[str], letters: int) -> int:
    """The units of the longest line of names that are wrapped, and a gap."""
    return 10 + math.ceil(_LETTER * max((len(line) for name in names for line in wrap(name, letters)), default=0))


def draw_figure(
    axes: Any, figure: Figure, decisions: Decisions | None = None, place: int = 0, *, threshold: float | None = None
) -> None:
    """Draw a figure of an answer, with its title, at a threshold of its decisions, if any; see `svg_of`."""
    if isinstance(figure, Histogram):
        if threshold is None and decisions is not None and figure.follows:
            threshold = number_at(decisions, "threshold", place)
        draw_histogram(axes, figure, threshold)
    elif isinstance(figure, Curves):
        point = None
        if decisions is not None and figure.follows is not None:
            x, y = (number_at(decisions, name, place) for name in figure.follows)
            point = x, y
        draw_curves(axes, figure, point)
    elif isinstance(figure, Bars):
        draw_bars(axes, figure)
    else:
        draw_matrix(axes, figure)


def _inline(svg: str, attributes: str) -> str:
    """An SVG file as an element of a page: its text has the font of the page, its colours are variables.

    Its style sheet is left out, which would be that of the whole page, and so are names that nothing refers to.
    """
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", svg[svg.index("<svg") :], flags=re.S)
    svg = re.sub(r"<svg[^>]*>", f"<svg {attributes.replace(chr(92), chr(92) * 2)}>", svg, count=1)
    svg = svg.replace("xlink:href", "href")
    used = {*re.findall(r'(?:url\(#|href="#)([^")]+)', svg)}
    svg = re.sub(r' id="([^"]*)"', lambda match: match[0] if match[1] in used else "", svg)
    svg = re.sub(r"font: (?:(\d+) )?([\d.]+)px [^;\"]*", _font, re.sub(r" font-family: [^;\"]*;", "", svg))
    svg = re.sub(r"#[0-9a-f]{6}", lambda color: _VARIABLES.get(color[0], color[0]), svg)
    svg = re.sub(r' d="[^"]*"', lambda path: re.sub(r"(\.\d)\d+", r"\1", path[0]).replace("\n", ""), svg)
    svg = re.sub(r" transform=\"rotate\(-0 [^)]*\)\"", "", svg)
    return re.sub(r"\s*\n\s*", "\n", re.sub(r"<g>\s*</g>|<g/>|<defs>\s*</defs>|<defs/>", "", svg)).strip()


def _font(rule: re.Match[str]) -> str:
    """The size and weight of a rule that names a font, too."""
    return f"font-size: {rule[2]}px" + (f"; font-weight: {rule[1]}" if rule[1] else "")


def draw_histogram(axes: Any, figure: Histogram, threshold: float | None = None) -> None:
    """Draw the share of each side's samples by score: paler up to the threshold, and unknown samples hatched."""
    if threshold is not None and not abs(threshold) < LARGE:
        threshold = None
    for series in figure.series:
        left, heights = np.asarray(series.x, float), np.asarray(series.y, float)
        inside = threshold is not None and len(left) > 0 and left[0] < threshold < left[-1] + figure.width
        if threshold is not None and inside and threshold not in left:
            at = int(np.searchsorted(left, threshold)) - 1  # a bin divided by the threshold has equal heights
            left, heights = np.insert(left, at + 1, threshold), np.insert(heights, at + 1, heights[at])
        edges = np.append(left, left[-1] + figure.width) if len(left) else np.asarray([0.0, 1.0])
        heights = heights if len(left) else np.zeros(1)
        pale = edges[:-1] < (-math.inf if threshold is None else threshold)
        color = light(series.role)
        for places, part in ((~pale, 1.0), (pale, _PALE)):
            style: dict[str, Any] = {"align": "edge", "linewidth": 0, **_filled(series.role, part)}
            axes.bar(edges[:-1][places], heights[places], np.diff(edges)[places], **style)
        axes.stairs(heights, edges, color=color, linewidth=1)
    if threshold is not None:
        axes.axvline(threshold, color=INK, linewidth=1.2)
    _name_axes(axes, figure.title, figure.unit, f"share of {'all samples' if figure.of_all else 'each side'}")
    axes.set_ylim(bottom=0)
    _round_ticks(axes.xaxis)
    _round_ticks(axes.yaxis, 3)
    _sides_legend(axes, figure.series)


def _filled(role: str, part: float = 1.0) -> dict[str, Any]:
    """The fill of a side, a part of its full strength: hatched for the unknown one alone, faint for a third."""
    if token(role) == "unknown":
        return {"facecolor": "none", "edgecolor": light(role), "hatch": "//////", "alpha": _FILL * part}
    return {"facecolor": light(role), "alpha": (_FILL if token(role) == "known" else _FAINT) * part}


def draw_curves(axes: Any, figure: Curves, point: tuple[float, float] | None = None) -> None:
    """Draw curves, the selected ones bold, with a point, such as that of a threshold."""
    if figure.diagonal:
        axes.plot([0, 1], [0, 1], color=LINE, linewidth=1)
    for series in figure.series:
        axes.plot(
            series.x,
            series.y,
            color=light(series.role),
            linestyle=_DASHES[DASHES.get(series.role, "solid")],
            linewidth=2.2 if series.selected else 1.4,
            drawstyle="steps-pre" if figure.steps else "default",
            clip_on=False,
        )
    if point is not None and all(map(math.isfinite, point)):
        axes.plot(*point, "o", color=INK, markersize=5.5, clip_on=False)
    _name_axes(axes, figure.title, *figure.axes)
    across, down = (
        np.concatenate([np.zeros(0), *points]) for points in zip(*((each.x, each.y) for each in figure.series))
    )
    for axis, is_share, values in zip((axes.xaxis, axes.yaxis), figure.shares, (across, down)):
        if is_share:
            _share_ticks(axis, float(values[np.isfinite(values)].max(initial=0)) or 1.0)
        else:
            _round_ticks(axis, integer=bool((values % 1 == 0).all()))
    if sum(bool(series.name) for series in figure.series) > 1:
        axes.legend(*lines_of(figure.series), loc="lower right" if figure.diagonal else "best", handlelength=1.6)


def draw_bars(axes: Any, figure: Bars) -> None:
    """Draw divided bars, with the counts of parts that have room for them."""
    counts = np.asarray(figure.counts, np.int64).reshape(len(figure.rows), len(figure.parts))
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    starts = np.cumsum(shares, axis=1) - shares
    for part, role in enumerate(figure.roles):
        widths, left = shares[:, part], starts[:, part]
        style = {"facecolor": light(role), "linewidth": 0, **_hatch(role)}
        axes.barh(range(len(widths)), widths, left=left, height=0.7, **style)
        for row, (count, share) in enumerate(zip(counts[:, part].tolist(), widths)):
            if share > _LEGIBLE * (1 + len(f"{count:,}")):
                style = {"ha": "center", "va": "center", "color": light(on(role)), "fontweight": "bold"}
                axes.text(left[row] + share / 2, row, f"{count:,}", **style)
    axes.set(xlim=(0, 1), xticks=[])
    _rows(axes, figure.rows, figure.title)
    axes.spines[["left", "bottom"]].set_visible(False)
    patches = [_patch(light(role), **_hatch(role)) for role in figure.roles]
    columns = max(1, min(3, _LETTERS // (6 + max(map(len, figure.parts), default=0))))
    axes.legend(
        patches, list(figure.parts), loc="upper left", bbox_to_anchor=(0, -0.02), ncols=columns, borderaxespad=0
    )


def _hatch(role: str) -> dict[str, Any]:
    return {"hatch": "////", "edgecolor": "white"} if role in HATCHED else {}


def draw_matrix(axes: Any, figure: Matrix) -> None:
    """Draw counts in cells, shaded by their share of the row or, without shares, by the highest; right ones framed."""
    from matplotlib.collections import PatchCollection
    from matplotlib.colors import to_rgba

    most = max([1, *(count for row in figure.counts for count in row if count is not None)])
    cells, shades, frames = [], [], []
    for row, counts in enumerate(figure.counts):
        total = sum(count or 0 for count in counts) or 1
        for column, count in enumerate(counts):
            role = figure.roles[row][column] if figure.roles else "unknown"
            cells.append(_patch("none", (column - 0.47, row - 0.44), 0.94, 0.88))
            shades.append(to_rgba(light(role), _SHADE * (count or 0) / (total if figure.shares else most)))
            frames.append(1.5 if (row, column) in figure.right else 0)
            text = "–" if count is None else f"{count:,}" if count or figure.shares else "·"
            axes.text(column, row, text, ha="center", va="center")
    for colors, widths in ((SOFT, 0), (shades, frames)):
        axes.add_collection(PatchCollection(cells, facecolors=colors, edgecolors=INK, linewidths=widths), autolim=False)
    axes.set_xlim(-0.5, len(figure.columns) - 0.5)
    letters = _letters(figure.columns)
    axes.set_xticks(range(len(figure.columns)), [fill(name, letters) for name in figure.columns])
    _rows(axes, figure.rows, figure.title)
    _name_axes(axes, figure.title, figure.axes[1], figure.axes[0])
    axes.spines[["left", "bottom"]].set_visible(False)


def _name_axes(axes: Any, title: str, x: str, y: str) -> None:
    axes.set_title(title)
    axes.set_xlabel(x)
    axes.set_ylabel(y)


def _share_ticks(axis: Any, most: float) -> None:
    """An axis from 0 to the highest value, or to 1, with three numbers."""
    end = most if 0 < most < 0.99 and axis.axis_name == "x" else 1.0
    getattr(axis.axes, f"set_{axis.axis_name}lim")(0, end)
    axis.set_ticks([0, end / 2, end], ["0", f"{end / 2:.3g}", f"{end:.3g}"])


def _round_ticks(axis: Any, number: int = 4, *, integer: bool = False) -> None:
    """Few, round numbers, which are written in full, with a minus sign."""
    from matplotlib.ticker import MaxNLocator, ScalarFormatter

    axis.set_major_locator(MaxNLocator(number, integer=integer, steps=[1, 2, 2.5, 5, 10]))
    form = ScalarFormatter(useOffset=False)
    form.set_powerlimits((-4, 6))
    axis.set_major_formatter(form)


def _rows(axes: Any, names: Sequence[str], title: str) -> None:
    axes.set_title(title)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_yticks(range(len(names)), [fill(name, _BESIDE) for name in names])
    axes.grid(visible=False)


def _patch(color: str, corner: tuple[float, float] = (0, 0), width: float = 1, height: float = 1, **more: Any) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle(corner, width, height, **{"facecolor": color, "linewidth": 0, **more})


def _sides_legend(axes: Any, sides: Sequence[Series]) -> None:
    """The sides' names below the axis, outside the data; names that begin with _ are names, too."""
    patches = [_patch("none", **_filled(series.role)) for series in sides]
    axes.legend(
        patches,
        [series.name for series in sides],
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        ncols=2,
        borderaxespad=3.4,
        handlelength=1.2,
        columnspacing=1.2,
    )


def lines_of(curves: Sequence[Series]) -> tuple[list[Any], list[str]]:
    """The lines and names of a legend; names that begin with _ are names, too."""
    from matplotlib.lines import Line2D

    lines = [
        Line2D([], [], color=light(series.role), linestyle=_DASHES[DASHES.get(series.role, "solid")], linewidth=2)
        for series in curves
    ]
    values = ("" if series.value is None else f" {number(series.value)}" for series in curves)
    return lines, [f"{series.name}{value}" for series, value in zip(curves, values)]
