"""Boxes by outcome, with the matching of the metric itself, and the table of what objects were called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from ._matching import match_boxes
from ._outcomes import check_known_classes
from ._ui_page import Computed
from ._ui_plots import BLUE, GREEN, GREY, ORANGE, RED, figure, photograph_behind

MAX_BOXES = 300  # of an image
PREDICTED = {
    "TP known": (GREEN, "right class"),
    "TP unknown": (BLUE, "unknown, called so"),
    "FP known": (RED, "wrong class, or no object"),
    "FP unknown": (ORANGE, "known, called unknown"),
    "background": ("#a855f7", "unknown, no object"),
}
OBJECTS = ("known", "unknown", "no object")
SAID = ("its class", "another class", "unknown", "missed")


class Outcomes(NamedTuple):
    """Boxes with the image and the outcome of each.

    predicted, true: (n, 6) and (m, 5) rows, xyxy, of predictions that are confident enough and of objects
    outcome: a key of PREDICTED for each prediction; missed: whether an object was matched by none
    said: counts of OBJECTS × SAID
    """

    predicted: np.ndarray
    true: np.ndarray
    predicted_image: np.ndarray
    true_image: np.ndarray
    outcome: np.ndarray
    missed: np.ndarray
    known: np.ndarray
    said: np.ndarray


def outcomes(state: Mapping[str, Any], options: Mapping[str, Any]) -> Outcomes:
    """Say for each box what the metric counts it as."""
    known_classes, unknown_id = check_known_classes(options["known_classes"], options["unknown_class_id"])
    images = np.arange(len(state["num_predictions"]))
    image = np.repeat(images, state["num_predictions"])
    confident = state["predictions"][:, 4] >= options["conf_threshold"]
    predicted, true, image = state["predictions"][confident], state["references"], image[confident]
    counts = np.bincount(image, minlength=len(images))
    rows, columns = match_boxes(predicted, true, counts, state["num_references"], options["iou_threshold"])
    known, says_unknown = np.isin(true[:, -1], known_classes), predicted[:, -1] == unknown_id
    right = predicted[rows, -1] == true[columns, -1]
    missed = np.ones(len(true), dtype=bool)
    missed[columns] = False

    outcome = np.where(says_unknown, "background", "FP known").astype(object)
    outcome[rows[known[columns] & right]] = "TP known"
    outcome[rows[known[columns] & says_unknown[rows]]] = "FP unknown"
    outcome[rows[~known[columns] & says_unknown[rows]]] = "TP unknown"

    said = np.zeros((len(OBJECTS), len(SAID)), dtype=int)
    word = np.where(says_unknown[rows], 2, np.where(right & known[columns], 0, 1))
    alone = np.setdiff1d(np.arange(len(predicted)), rows)
    for kind, words in (
        (0, word[known[columns]]),
        (1, word[~known[columns]]),
        (0, [3] * int(np.sum(missed & known))),
        (1, [3] * int(np.sum(missed & ~known))),
        (2, np.where(says_unknown[alone], 2, 1)),
    ):
        said[kind] += np.bincount(np.asarray(words, dtype=int), minlength=len(SAID))
    true_image = np.repeat(images, state["num_references"])
    return Outcomes(predicted, true, image, true_image, outcome, missed, known, said)


def draw_boxes(found: Outcomes, computed: Computed) -> go.Figure:
    """The boxes of one image: true ones dashed, predicted ones in the colour of their outcome."""
    fig = figure("x", "y", height=460)
    predicted = np.flatnonzero(found.predicted_image == computed.image)
    true = np.flatnonzero(found.true_image == computed.image)
    boxes = np.concatenate([found.predicted[predicted, :4], found.true[true, :4]])
    photograph_behind(fig, computed.photograph, None if boxes.max(initial=0) > 1.5 else (1.0, 1.0))
    for missed, name in ((False, "object, found"), (True, "object, missed")):
        rows = true[found.missed[true] == missed]
        texts = [f"{'known' if found.known[i] else 'unknown'} object, class {found.true[i, -1]:g}" for i in rows]
        _rectangles(fig, found.true[rows, :4], texts, name, GREY, "dot" if missed else "dash")
    for outcome, (color, words) in PREDICTED.items():
        rows = predicted[found.outcome[predicted] == outcome]
        texts = [f"{outcome}: class {found.predicted[i, -1]:g}, confidence {found.predicted[i, 4]:.3g}" for i in rows]
        _rectangles(fig, found.predicted[rows, :4], texts, f"{outcome}: {words}", color, "solid")
    fig.update_yaxes(autorange="reversed", scaleanchor="x", constrain="domain")
    return fig.update_xaxes(constrain="domain")


def _rectangles(fig: go.Figure, boxes: np.ndarray, texts: list[str], name: str, color: str, dash: str) -> None:
    """One line for all boxes of an outcome, so that the legend has one entry for them."""
    if not len(boxes):
        return
    if len(boxes) > MAX_BOXES:
        name += f" ({MAX_BOXES} of {len(boxes):,})"
    x: list[Any] = []
    y: list[Any] = []
    text: list[Any] = []
    for (x1, y1, x2, y2), words in zip(boxes[:MAX_BOXES].tolist(), texts):
        x += [x1, x2, x2, x1, x1, None]
        y += [y1, y1, y2, y2, y1, None]
        text += [words] * 5 + [None]
    line = dict(color=color, dash=dash, width=2 if dash == "solid" else 3)
    fig.add_scatter(x=x, y=y, text=text, name=name, mode="lines", line=line, hovertemplate="%{text}<extra></extra>")


def draw_confusion(found: Outcomes) -> go.Figure:
    """Objects over what they were called, all images together."""
    fig = figure("called", "object", height=300)
    shares = found.said / np.maximum(found.said.sum(axis=1, keepdims=True), 1)
    fig.add_heatmap(
        x=list(SAID),
        y=list(OBJECTS),
        z=shares.tolist(),
        text=found.said.tolist(),
        texttemplate="%{text}",
        textfont=dict(size=16),
        hovertemplate="%{y} object, called %{x}: %{text} (%{z:.1%})<extra></extra>",
        colorscale=[[0, "rgba(59,130,246,0.04)"], [1, "rgba(59,130,246,0.75)"]],
        zmin=0,
        zmax=1,
        showscale=False,
        xgap=3,
        ygap=3,
    )
    return fig.update_yaxes(autorange="reversed", showgrid=False).update_xaxes(showgrid=False, side="bottom")
