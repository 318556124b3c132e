"""A picture of a metric's results, for the command line's --plot. Needs matplotlib."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..extras import extra
from ..formats.writing import write_file


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
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix[1:].lower())
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
