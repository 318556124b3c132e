"""Plot a metric's results, as with the command line's --plot, and OSCR curves. Needs matplotlib."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from itertools import cycle
from pathlib import Path
from typing import Any, ParamSpec

import numpy as np

from ..arrays.arrays import to_numpy
from ..extras import extra
from ..metric.bootstrap import Part
from ..ranking.counts import Side, as_side
from ..ranking.prepared import PreparedSides
from ..written.files import write_file
from ..written.results import KINDS
from .colors import DETECTORS, INK, LINE
from .panels import Sides, draw_histogram, draw_rates, draw_roc, marked_threshold, rates_of_results

P = ParamSpec("P")
_WIDTH, _DPI = 7.5, 200  # inches, and pixels per inch


def plainly(drawing: Callable[P, None]) -> Callable[P, None]:
    """Draw with names as they are, also those in which matplotlib would see a formula between two dollar signs."""

    @wraps(drawing)
    def draw_plainly(*args: P.args, **kwargs: P.kwargs) -> None:
        with extra("cli"):
            from matplotlib import rc_context
        with rc_context({"text.parse_math": False}):
            drawing(*args, **kwargs)

    return draw_plainly


def check_picture(path: Path) -> None:
    """Raise ValueError for a file ending that matplotlib does not know."""
    with extra("cli"):
        from matplotlib.backend_bases import FigureCanvasBase

    known = sorted(f".{ending}" for ending in FigureCanvasBase.get_supported_filetypes())
    if path.suffix.lower() not in known:
        raise ValueError(f"{path}: expected a file ending in {', '.join(known)}")


@plainly
def draw(name: str, results: Mapping[str, Any], sides: Sides | None, path: Path) -> None:
    """Plot a metric's results: rates with intervals and, if it keeps scores, a histogram with a threshold and the ROC.

    Parameters: name of the metric; results of its compute(), with `kinds` if these are known; sides, the scores of
    unknown and known samples, or None; path of a file whose ending matplotlib knows (.png, .pdf, .svg).
    Raises ValueError for another ending, OSError for a file that cannot be written, which stays as it is.
    """
    check_picture(path)
    with extra("cli"):
        from matplotlib.figure import Figure

    keys, kinds = rates_of_results(results), results.get(KINDS, {})
    heights = [3.3] * (sides is not None) + [0.45 + 0.27 * len(keys)] * bool(keys)
    figure = Figure(figsize=(_WIDTH, sum(heights or [1]) + 0.4), layout="constrained", dpi=_DPI)
    figure.suptitle(name, x=0.01, ha="left", fontsize=12, fontweight="bold", color=INK)
    rows = figure.add_gridspec(len(heights) or 1, 1, height_ratios=heights or [1])
    if sides is not None:
        top = rows[0].subgridspec(1, 2, width_ratios=(1.35, 1))
        marked = marked_threshold(results, sides)
        draw_histogram(figure.add_subplot(top[0]), sides, marked)
        draw_roc(figure.add_subplot(top[1]), sides, marked)
    if keys:
        draw_rates(figure.add_subplot(rows[-1]), results, keys, kinds)
    save_figure(figure, path)


@plainly
def draw_oscr(curves: Mapping[str, Mapping[str, Sequence[float]]], path: str | Path, *, title: str = "") -> None:
    """Plot OSCR curves: the rate of known samples accepted with the right class over the rate of unknown ones accepted.

    Parameters: curves, of `oscr_curve`, by the names of their models; path, as of `draw`; title. The legend has the
    area under each, which is OpenAUC, or near it where the curve was thinned.
    Raises ValueError for no curve and another ending, OSError for a file that cannot be written.
    """
    if not curves:
        raise ValueError("curves: expected at least one, got none")
    check_picture(Path(path))
    with extra("cli"):
        from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 4.2), layout="constrained")
    axes = figure.subplots()
    for color, curve in zip(cycle(DETECTORS), curves.values()):
        axes.plot(curve["fpr"], curve["ccr"], color=color, label=" ")
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="unknown samples accepted (FPR)", title=title)
    axes.set_ylabel("known samples accepted with the right class (CCR)")
    axes.grid(color=LINE, linewidth=0.6)
    legend = axes.legend(loc="lower right", title="area ≈ OpenAUC")
    for text, (name, curve) in zip(legend.get_texts(), curves.items()):  # a label that begins with _ would be left out
        text.set_text(f"{name}: {np.trapezoid(curve['ccr'], curve['fpr']):.3f}")
    save_figure(figure, Path(path))


def save_figure(figure: Any, path: Path) -> None:
    """Write a matplotlib figure; .svg files are reproducible byte for byte. Raises OSError."""
    from matplotlib import rc_context

    kind, picture = path.suffix[1:].lower(), io.BytesIO()
    with rc_context({"svg.hashsalt": "openworld-metrics"}):
        figure.savefig(picture, format=kind, metadata={"Date": None} if kind == "svg" else None)
    write_file(path, picture.getvalue())


def sides_of(parts: Sequence[Part], state: Mapping[str, np.ndarray]) -> Sides | None:
    """The scores of unknown and known samples, or of anomalous and normal images; None for metrics that keep none.

    Parameters: parts, of `Metric.prepared()`, and the state that they are of.
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
