"""Boxes by outcome, with the matching of the metric itself, and the table of what objects were called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from ._matching import overlapping_pairs
from ._openset_counts import openset_outcomes
from ._outcomes import FP_UNKNOWN, NEITHER, select_boxes
from ._outcomes import Outcomes as Matched
from ._ui_page import Computed
from ._ui_plots import BLUE, GREEN, GREY, ORANGE, RED, figure, photograph_behind
from ._voc import voc_outcomes

MAX_BOXES = 300  # of an image
PREDICTED = {
    "TP known": (GREEN, "right class"),
    "TP unknown": (BLUE, "unknown, called so"),
    "FP known": (RED, "wrong class, or no object"),
    "FP unknown": (ORANGE, "called unknown, and is not"),
    "background": ("#a855f7", "unknown, no object"),
    "left out": (GREY, "on an ignored object, or of no class that counts"),
}
_WORDS = ("TP known", "FP known", "TP unknown", "FP unknown", "left out")  # in the order of the kernel's outcomes
OBJECTS = ("known", "unknown", "no object")
SAID = ("its class", "another class", "unknown", "missed")


class Outcomes(NamedTuple):
    """Boxes with the image and the outcome of each.

    predicted, true: (n, 6) and (m, 5) rows, xyxy, of predictions that are confident enough and of objects
    outcome: a key of PREDICTED for each prediction; missed: whether an object was matched by none
    known, ignored: whether an object is of a known class, and whether it counts nowhere
    said: counts of OBJECTS × SAID
    """

    predicted: np.ndarray
    true: np.ndarray
    predicted_image: np.ndarray
    true_image: np.ndarray
    outcome: np.ndarray
    missed: np.ndarray
    known: np.ndarray
    ignored: np.ndarray
    said: np.ndarray


def outcomes(state: Mapping[str, Any], options: Mapping[str, Any]) -> Outcomes:
    """Say for each box what the metric counts it as."""
    one_to_one = _one_to_one(state, options)
    found, is_voc = one_to_one, options["protocol"] == "owod"
    if is_voc:
        own = ("known_classes", "unknown_class_id", "conf_threshold", "plus_one")
        boxes = select_boxes(dict(state), *(options[name] for name in own))
        found = voc_outcomes(boxes, overlapping_pairs(*boxes[:4], options["iou_threshold"]))
    boxes = found.boxes
    outcome = np.asarray(_WORDS, dtype=object)[found.outcome]
    outcome[(found.outcome == FP_UNKNOWN) & (found.matched < 0) & (not is_voc)] = "background"
    missed = np.ones(len(boxes.references), dtype=bool)
    missed[found.matched[found.matched >= 0]] = False
    predicted = state["predictions"][state["predictions"][:, 4] >= options["conf_threshold"]]
    known = boxes.object_label != boxes.unknown_id
    images = boxes.image, boxes.object_image
    return Outcomes(predicted, state["references"], *images, outcome, missed, known, boxes.ignored, _said(one_to_one))


def _one_to_one(state: Mapping[str, Any], options: Mapping[str, Any]) -> Matched:
    """Predictions that are matched whatever their classes; for owod, which does not do so, the most confident first."""
    matching = options["matching"] or ("confidence" if options["protocol"] == "owod" else "iou")
    own = ("known_classes", "unknown_class_id", "iou_threshold", "conf_threshold", "plus_one")
    chosen = {name: options[name] for name in own}
    return openset_outcomes(dict(state), **chosen, matching=matching, count_background=True)


def _said(found: Matched) -> np.ndarray:
    boxes = found.boxes
    says_unknown = boxes.predictions[:, 5] == boxes.unknown_id
    rows = np.flatnonzero(found.matched >= 0)
    objects = found.matched[rows]
    kind = (boxes.object_label == boxes.unknown_id).astype(int)
    right = boxes.predictions[rows, 5] == boxes.object_label[objects]
    word = np.where(says_unknown[rows], 2, np.where(right, 0, 1))
    missed = ~boxes.ignored
    missed[objects] = False
    alone = says_unknown[(found.matched < 0) & (found.outcome != NEITHER)]
    said = np.zeros((len(OBJECTS), len(SAID)), dtype=int)
    np.add.at(said, (kind[objects], word), 1)
    np.add.at(said[:, 3], kind[missed], 1)
    said[2, 1:3] = np.sum(~alone), np.sum(alone)
    return said


def draw_boxes(found: Outcomes, computed: Computed) -> go.Figure:
    """The boxes of one image: true ones dashed, predicted ones in the colour of their outcome."""
    fig = figure("x", "y", height=460)
    predicted = np.flatnonzero(found.predicted_image == computed.image)
    true = np.flatnonzero(found.true_image == computed.image)
    boxes = np.concatenate([found.predicted[predicted, :4], found.true[true, :4]])
    photograph_behind(fig, computed.photograph, None if boxes.max(initial=0) > 1.5 else (1.0, 1.0))
    for missed, name in ((False, "object, found"), (True, "object, missed"), (None, "object, ignored")):
        ignored = found.ignored[true]
        rows = true[ignored if missed is None else ~ignored & (found.missed[true] == missed)]
        texts = [f"{'known' if found.known[i] else 'unknown'} object, class {found.true[i, -1]:g}" for i in rows]
        dash = "dash" if missed is False else "dot" if missed else "longdashdot"
        _rectangles(fig, found.true[rows, :4], texts, name, GREY, dash)
    for outcome, (color, words) in PREDICTED.items():
        rows = predicted[found.outcome[predicted] == outcome]
        texts = [f"{outcome}: class {found.predicted[i, -1]:g}, confidence {found.predicted[i, 4]:.3g}" for i in rows]
        _rectangles(fig, found.predicted[rows, :4], texts, f"{outcome}: {words}", color, "solid")
    fig.update_yaxes(autorange="reversed", scaleanchor="x", constrain="domain")
    fig.update_xaxes(constrain="domain")
    return fig if computed.photograph is not None else _with_margin(fig, boxes)


def _with_margin(fig: go.Figure, boxes: np.ndarray) -> go.Figure:
    """Let no box touch the frame, which would hide half of its line."""
    if not len(boxes):
        return fig
    (left, top), (right, bottom) = boxes[:, :2].min(axis=0).tolist(), boxes[:, 2:4].max(axis=0).tolist()
    margin = 0.03 * max(right - left, bottom - top) or 1.0
    fig.update_xaxes(range=[left - margin, right + margin])
    return fig.update_yaxes(range=[bottom + margin, top - margin], autorange=False)


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
    fig.add_scatter(x=x, y=y, text=text, name=name, mode="lines", line=line, cliponaxis=False)
    fig.data[-1].hovertemplate = "%{text}<extra></extra>"


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
