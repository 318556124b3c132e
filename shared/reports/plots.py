"""Pictures of a metric's results, such as the command line's --plot, and of OSCR curves. Needs matplotlib."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from ..extras import extra
from ..formats.written.atomic import write_file

_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # Okabe and Ito's


def check_picture(path: Path) -> None:
    """Raise ValueError for a file whose ending matplotlib does not know."""
    with extra("cli"):
        from matplotlib.backend_bases import FigureCanvasBase

    known = sorted(f".{ending}" for ending in FigureCanvasBase.get_supported_filetypes())
    if path.suffix.lower() not in known:
        raise ValueError(f"{path}: expected a file ending in {', '.join(known)}")


def draw(name: str, results: Mapping[str, Any], state: Mapping[str, np.ndarray], path: Path) -> None:
    """Draw the rates of a metric as bars and, where it has them, the scores of known and of unknown samples.

    Parameters: name of the metric; results of its compute(); state, its state() before that; path of a file whose
    ending matplotlib knows (.png, .pdf, .svg). Raises ValueError for another ending, OSError for a file that cannot be
    written, which stays as it is.
    """
    check_picture(path)
    with extra("cli"):
        from matplotlib.figure import Figure

    groups = _scores(state)
    figure = Figure(figsize=(10 if groups else 6, 4), layout="constrained")
    axes = figure.subplots(1, 2 if groups else 1, squeeze=False)[0]
    _draw_rates(axes[0], {key: value for key, value in results.items() if isinstance(value, float)})
    axes[0].set_title(name)
    if groups:
        _draw_scores(axes[1], groups)
    save_figure(figure, path)


def draw_oscr(curves: Mapping[str, Mapping[str, Sequence[float]]], path: str | Path, *, title: str = "") -> None:
    """Draw OSCR curves: the share of known samples that are accepted with the right class, over unknown ones accepted.

    Parameters: curves, those of `oscr_curve` by the names of their models; path, as of `draw`; title. The area under
    each, which is OpenAUC, stands beside its name.
    Raises ValueError for no curve and another ending, OSError for a file that cannot be written.
    """
    if not curves:
        raise ValueError("curves: expected at least one, got none")
    check_picture(Path(path))
    with extra("cli"):
        from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 4.2), layout="constrained")
    axes = figure.subplots()
    for color, (name, curve) in zip(cycle(_COLORS), curves.items()):
        area = np.trapezoid(curve["ccr"], curve["fpr"])
        axes.plot(curve["fpr"], curve["ccr"], color=color, label=f"{name}: {area:.4f}")
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="unknown samples accepted (FPR)", title=title)
    axes.set_ylabel("known samples accepted with the right class (CCR)")
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.legend(loc="lower right", title="area, OpenAUC")
    save_figure(figure, Path(path))


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure of matplotlib, with the same bytes each time as .svg. Raises OSError."""
    from matplotlib import rc_context

    kind, picture = path.suffix[1:].lower(), io.BytesIO()
    with rc_context({"svg.hashsalt": "openworld-metrics"}):
        figure.savefig(picture, format=kind, metadata={"Date": None} if kind == "svg" else None)
    write_file(path, picture.getvalue())


def _draw_rates(axes: Any, rates: Mapping[str, float]) -> None:
    bars = axes.barh(list(rates), list(rates.values()))
    axes.bar_label(bars, fmt="%.4g", padding=3)
    axes.margins(x=0.15)
    axes.invert_yaxis()


def _draw_scores(axes: Any, groups: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> None:
    finite = {label: scores[np.isfinite(scores)].astype(np.float64) for label, (scores, _) in groups.items()}
    edges = np.histogram_bin_edges(np.concatenate(list(finite.values())), bins=50)
    for label, (scores, counts) in groups.items():
        style: dict[str, Any] = dict(density=len(finite[label]) > 0, alpha=0.6, label=f"{label}, {counts.sum()}")
        axes.hist(finite[label], bins=edges, weights=counts[np.isfinite(scores)], **style)
    axes.set_xlabel("score")
    axes.legend()


def _scores(state: Mapping[str, np.ndarray]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Scores of the state by kind of sample, and how many samples have each; empty for metrics that keep none."""
    if "image_scores" in state:
        scores, labels, names = state["image_scores"], state["image_labels"], {False: "normal", True: "anomalous"}
        counts = np.ones(len(scores), np.int64)
    elif "scores" in state:
        scores, counts = state["scores"], state.get("counts", np.ones(len(state["scores"]), np.int64))
        labels, names = (
            state["labels"] if "labels" in state else state["classes"] >= 0,
            {True: "known", False: "unknown"},
        )
        names = {value: f"label {value}" for value in np.unique(labels)} if "labels" in state else names
    else:
        return {}
    return {name: (scores[labels == value], counts[labels == value]) for value, name in names.items()}
