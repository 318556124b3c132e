"""Plots of results as files, .png, .svg or .pdf: scores, ROC and rates, OSCR curves, intervals and differences."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np

from ..answers.answer import Answer, Curves, Histogram, Series
from ..answers.thresholds import shown_threshold
from ..arrays.arrays import to_numpy
from ..extras import extra
from ..metric.bootstrap import Part
from ..metric.numbers import with_arrow
from ..ranking.counts import Side, as_side
from ..ranking.curves import auroc
from ..ranking.operating_points import operating_point, samples_above
from ..ranking.prepared import PreparedSides
from ..ranking.roc import roc_curve
from ..written.files import write_file
from ..written.results import KINDS, direction, direction_of
from .drawing import draw_curves, draw_figure, draw_histogram, drawable, edges_of, lines_of, styled
from .numbers import interval, number, typographic
from .palette import TOKENS
from .terminal import NO_DIFFERENCE

__all__ = ["draw_differences", "draw_intervals", "draw_oscr"]  # for people; the others are for commands and reports

_BINS, _POINTS = 40, 2000
_WIDTH, _WIDE, _DPI = 7.5, 9, 200  # inches, of answers, and pixels per inch
_MODELS = [TOKENS[name].light for name in ("d1", "d2", "d3", "ink", "edge")]
_INK, _QUIET, _EDGE = (TOKENS[name].light for name in ("ink", "ink2", "edge"))
_BETTER = {"first": _MODELS[0], "second": _MODELS[1], None: _QUIET}
_ROW, _MARGIN = 0.32, 1.1  # inches
_TITLE = 42  # characters of a line of a title
_LONGEST = 40  # characters of a name


class Sides(NamedTuple):
    """The scores of two sides, their names, and what the keys of their results begin with."""

    unknown: Side
    known: Side
    names: tuple[str, str] = ("unknown", "known")
    level: str = ""

    def text(self, threshold: float) -> str:
        """A threshold as the shortest decimal that makes the same decisions."""
        return shown_threshold(threshold, [self.unknown.scores, self.known.scores])


def check_picture(path: Path) -> None:
    """Raise ValueError for a file ending that matplotlib does not know."""
    with extra("cli"):
        from matplotlib.backend_bases import FigureCanvasBase

    known = sorted(f".{ending}" for ending in FigureCanvasBase.get_supported_filetypes())
    if path.suffix.lower() not in known:
        raise ValueError(f"{path}: expected a file ending in {', '.join(known)}")


def draw(name: str, results: Mapping[str, Any], sides: Sides | None, path: Path) -> None:
    """Plot a metric's results: rates with intervals and, if it keeps scores, a histogram with a threshold and the ROC.

    name: of the metric; results of its compute(), with `kinds` if these are known
    sides: the scores of unknown and known samples, or None
    path: of a file whose ending matplotlib knows (.png, .pdf, .svg)
    Raises ValueError for another ending, OSError for a file that cannot be written, which stays as it is.
    """
    check_picture(path)
    keys, kinds = rates_of_results(results), results.get(KINDS, {})
    heights = [3.3] * (sides is not None) + [0.45 + 0.27 * len(keys)] * bool(keys)
    with styled() as canvas:
        figure = canvas(figsize=(_WIDTH, sum(heights or [1]) + 0.4), layout="constrained", dpi=_DPI)
        figure.suptitle(name, x=0.01, ha="left", fontsize=12, fontweight="bold")
        rows = figure.add_gridspec(len(heights) or 1, 1, height_ratios=heights or [1])
        if sides is not None:
            top = rows[0].subgridspec(1, 2, width_ratios=(1.35, 1))
            marked = marked_threshold(results, sides)
            scores = histogram_of({"unknown": sides.unknown, "known": sides.known}, sides.names)
            title = f"Scores · {marked[0]}: above {sides.text(marked[1])}" if marked else "Scores"
            axes = figure.add_subplot(top[0])
            draw_histogram(axes, scores, marked and marked[1])
            axes.set_title(title)
            axes.set_xlabel("; ".join(filter(None, ["score", scores.note])))
            _draw_roc(figure.add_subplot(top[1]), sides, marked and marked[1])
        if keys:
            _draw_rates(figure.add_subplot(rows[-1]), results, keys, kinds)
        save_figure(figure, path)


def draw_answer(answer: Answer, path: Path) -> None:
    """Plot an answer: its figures, and the rates of the model shown with their intervals.

    path: of a file whose ending matplotlib knows (.png, .pdf, .svg)
    Raises ValueError for another ending, OSError for a file that cannot be written, which stays as it is.
    """
    check_picture(path)
    rates = {
        each.key: each for each in answer.numbers.get(answer.model, ()) if each.share and not math.isnan(each.value)
    }
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
            axes.set_title(fill(" · ".join(filter(None, [figure.title, figure.note])), _TITLE))
        if rates:
            results = {key: each.value for key, each in rates.items()}
            for key, each in rates.items():
                if each.interval is not None:
                    results |= {f"{key}_low": each.interval[0], f"{key}_high": each.interval[1]}
            kinds = {key: {"higher": each.higher, "rate": True} for key, each in rates.items()}
            _draw_rates(parts[-1].subplots(), results, [*rates], kinds)
        save_figure(drawn, path)


def histogram_of(
    sides: Mapping[str, Side], names: Sequence[str], *, title: str = "Scores", unit: str = "score", bins: int = _BINS
) -> Histogram:
    """The share of each side's samples in bins of one width over all scores.

    sides: by role; names, of the sides, to which the numbers of their samples are added
    unit: the name of the axis, on which infinite scores have no place, as the note says
    """
    here = {role: drawable(side.scores) for role, side in sides.items()}
    every = np.concatenate([side.scores[here[role]].astype(np.float64) for role, side in sides.items()])
    edges = edges_of(float(every.min()), float(every.max()), bins) if len(every) else edges_of(0, 1, bins)
    series, notes = [], []
    for (role, side), name in zip(sides.items(), names):
        shown = here[role]
        heights = np.histogram(side.scores[shown], edges, weights=side.sizes[shown] / max(1, side.total))[0]
        series.append(Series(f"{name}, {side.total:,}", role, edges[:-1].tolist(), heights.tolist()))
        infinite = int(side.sizes[~shown].sum())
        notes += [f"{infinite:,} infinite scores of {name} are not drawn"] if infinite else []
    return Histogram(title, unit, series, float(edges[1] - edges[0]), note="; ".join(notes))


def roc_of(unknown: Side, known: Side, *, name: str = "", role: str = "d1", title: str = "ROC") -> Curves:
    """The ROC curve of the samples of both sides as a figure, with at most 2,000 points."""
    curve = roc_curve(positives=unknown, negatives=known, max_points=_POINTS)
    return Curves(
        title, ("FPR", "TPR"), [Series(name, role, curve["fpr"], curve["tpr"])], ("FPR", "TPR"), diagonal=True
    )


def marked_threshold(results: Mapping[str, Any], sides: Sides) -> tuple[str, float] | None:
    """The sides' first threshold in the results, or else that of 95 % TPR, with its name; None if none is finite."""
    for key, value in results.items():
        own = key.startswith(sides.level) and key.endswith("_threshold")
        if own and isinstance(value, float) and math.isfinite(value):
            return key.removesuffix("_threshold"), value
    unknown, known = sides[:2]
    point = operating_point(positives=unknown, negatives=known, rate="fpr", bounded="tpr", bound=0.95)
    return ("95 % TPR", point.threshold) if math.isfinite(point.threshold) else None


def rates_of_results(results: Mapping[str, Any]) -> list[str]:
    """The keys of rates among results, without interval ends, errors and thresholds."""
    ends = {f"{key}_{end}" for key in results for end in ("low", "high", "error", "threshold")}
    return [key for key, value in results.items() if isinstance(value, float) and key not in ends]


def _draw_roc(axes: Any, sides: Sides, threshold: float | None) -> None:
    """Draw the ROC curve with its area, and the point of a threshold with its rates."""
    area = number(auroc(positives=sides.unknown, negatives=sides.known))
    point = None
    if threshold is not None:
        x, y = (samples_above(side, threshold) / side.total for side in (sides.known, sides.unknown))
        point = (x, y)
        said = f"TPR {number(y)}\nFPR {number(x)}"
        axes.annotate(said, point, (8, -8), textcoords="offset points", va="top", fontsize=8.5)
    draw_curves(axes, roc_of(sides.unknown, sides.known, title=f"ROC · area {area}"), point)
    axes.set_aspect("equal")


def _draw_rates(axes: Any, results: Mapping[str, Any], keys: Sequence[str], kinds: Mapping[str, Any]) -> None:
    """Draw a row for each rate: its value as a point, its interval as a line; numbers beyond 1 only as text."""
    names = []
    for place, key in enumerate(keys):
        value, low, high = results[key], results.get(f"{key}_low"), results.get(f"{key}_high")
        known = direction_of(key, kinds)
        names.append(with_arrow(key, known and known.higher))
        said = number(value)
        if low is not None and high is not None:
            said += f"  {interval((low, high))}"
            if 0 <= low <= high <= 1:
                axes.plot([low, high], [place, place], color=_MODELS[0], linewidth=2.5, solid_capstyle="butt")
        if 0 <= value <= 1:
            axes.plot(value, place, "o", color=_MODELS[0], markersize=6, clip_on=False)
        axes.annotate(said, (1.02, place), xycoords=("axes fraction", "data"), va="center")
    axes.set(xlim=(0, 1), ylim=(len(keys) - 0.5, -0.5))
    axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    axes.set_yticks(range(len(keys)), names)
    axes.grid(axis="y", visible=False)
    axes.spines["left"].set_visible(False)


def draw_oscr(curves: Mapping[str, Mapping[str, Sequence[float]]], path: str | Path, *, title: str = "") -> None:
    """Plot OSCR curves: the rate of known samples accepted with the right class over the rate of unknown ones accepted.

    curves: of `oscr_curve`, by the names of their models; path, as of `draw`; title. The legend has the area under
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
    write_file(path, picture.getvalue())


def sides_of(parts: Sequence[Part], state: Mapping[str, np.ndarray]) -> Sides | None:
    """The scores of unknown and known samples, or of anomalous and normal images; None for metrics that keep none.

    parts: of `Metric.prepared()`, and the state that they are of
    """
    prepared = parts[0].prepared
    if isinstance(prepared, PreparedSides):
        kinds = [side for side, stratum in zip(prepared.sides, prepared.stratum_of) if not stratum]
        unknown, known = kinds, [side for side in prepared.sides if not any(side is other for other in kinds)]
        return Sides(_joined(unknown), _joined(known))
    if "image_scores" in state:
        sides = _split(state["image_scores"], state["image_labels"].astype(bool), None)
        return None if sides is None else sides._replace(names=("anomalous", "normal"), level="image_")
    if "scores" in state and "classes" in state:
        return _split(state["scores"], state["classes"] < 0, state.get("counts"))
    return None


def _split(scores: np.ndarray, unknown: np.ndarray, counts: np.ndarray | None) -> Sides | None:
    first, second = (as_side(scores[at], None if counts is None else counts[at]) for at in (unknown, ~unknown))
    return Sides(first, second) if first.total and second.total else None


def _joined(sides: Sequence[Side]) -> Side:
    """Several sides, joined."""
    scores, sizes = (
        np.concatenate([to_numpy(column) for column in columns])
        for columns in zip(*((side.scores, side.sizes) for side in sides))
    )
    return as_side(scores, sizes)
