"""Boxes by outcome, with the matching of the metric itself, and the table of what objects were called."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from ...detection.boxes import DetectionState
from ...detection.openset_detection import OpenSetDetection
from ...detection.outcomes import Outcomes, select_boxes
from ...detection.ow_dln import one_to_one_outcomes
from ...detection.words import (
    CALLED_UNKNOWN,
    IGNORED,
    LEFT_OUT,
    MISSED,
    NO_OBJECT,
    OUTCOME_WORDS,
    RIGHT,
    UNKNOWN_CALLED_KNOWN,
    UNKNOWN_CALLED_UNKNOWN,
    WRONG_CLASS,
    outcomes_in_words,
)
from ...formats.boxes.named import class_words
from .computed import Computed
from .style import BLUE, GREEN, GREY, ORANGE, PURPLE, figure, photograph_behind

MAX_BOXES = 300  # of an image
MAX_SIGNS = 60  # boxes of an image that carry their sign


class Style(NamedTuple):
    """How an outcome is drawn: by colour, by dash, and by a sign at the box."""

    color: str
    dash: str
    sign: str


STYLES = {
    RIGHT: Style(GREEN, "solid", "✓"),
    UNKNOWN_CALLED_UNKNOWN: Style(BLUE, "solid", "✓ unknown"),
    WRONG_CLASS: Style("#a06a00", "dash", "≠"),
    CALLED_UNKNOWN: Style("#857a00", "dashdot", "≠ unknown"),
    UNKNOWN_CALLED_KNOWN: Style(PURPLE, "longdash", "unknown!"),
    MISSED: Style(ORANGE, "dot", "missed"),
    NO_OBJECT: Style(GREY, "solid", "–"),
    IGNORED: Style(GREY, "dot", "ignored"),
    LEFT_OUT: Style(GREY, "dashdot", "left out"),
}
OF_OBJECTS = (MISSED, IGNORED)  # outcomes that objects have and predictions do not
OBJECTS = ("known", "unknown", "no object")
SAID = ("its class", "another class", "unknown", "missed")


class DrawnBoxes(NamedTuple):
    """Boxes with the image and the outcome of each.

    predicted, true: (n, 6) and (m, 5) rows, xyxy, of predictions that are confident enough and of objects
    outcome, true_outcome: of each its place in OUTCOME_WORDS
    known: whether an object is of a known class
    said: counts of OBJECTS × SAID
    """

    predicted: np.ndarray
    true: np.ndarray
    predicted_image: np.ndarray
    true_image: np.ndarray
    outcome: np.ndarray
    true_outcome: np.ndarray
    known: np.ndarray
    said: np.ndarray


def boxes_to_draw(state: DetectionState, options: Mapping[str, Any]) -> DrawnBoxes:
    """Say for each box what the metric counts it as."""
    metric = OpenSetDetection(**options)
    boxes = select_boxes(state, metric.rules)
    pairs = boxes.pairs()
    one_to_one = one_to_one_outcomes(boxes, pairs)
    outcome, true_outcome = outcomes_in_words(metric.matched_images.match(boxes, pairs))
    # those of `boxes` are larger with plus_one
    predicted = state["predictions"][state["predictions"][:, 4] >= boxes.rules.conf_threshold]
    known = boxes.object_label != boxes.unknown_id
    images = boxes.image, boxes.object_image
    return DrawnBoxes(predicted, state["references"], *images, outcome, true_outcome, known, _said(one_to_one))


def _said(found: Outcomes) -> np.ndarray:
    """What objects were called, whatever the classes of the boxes that match them."""
    boxes = found.boxes
    predicted, true = outcomes_in_words(found)
    is_unknown = boxes.object_label == boxes.unknown_id
    says_unknown = boxes.predictions[predicted == NO_OBJECT, 5] == boxes.unknown_id
    known, unknown = (np.bincount(true[kind], minlength=len(OUTCOME_WORDS)) for kind in (~is_unknown, is_unknown))
    return np.asarray(
        [
            known[[RIGHT, WRONG_CLASS, CALLED_UNKNOWN, MISSED]],
            [0, *unknown[[UNKNOWN_CALLED_KNOWN, UNKNOWN_CALLED_UNKNOWN, MISSED]]],
            [0, np.sum(~says_unknown), np.sum(says_unknown), 0],
        ]
    )


def draw_boxes(found: DrawnBoxes, computed: Computed) -> go.Figure:
    """The boxes of one image in the style of their outcome, which a sign says too; objects that are found are thin."""
    fig = figure("", "", height=400)
    predicted = np.flatnonzero(found.predicted_image == computed.image)
    true = np.flatnonzero(found.true_image == computed.image)
    boxes = np.concatenate([found.predicted[predicted, :4], found.true[true, :4]])
    shares = boxes.max(initial=0) <= 1.5  # of YOLO: of the width and the height
    photograph_behind(fig, computed.photograph, (1.0, 1.0) if shares else None)
    word = partial(_class_word, computed)
    texts = {i: f"{'known' if found.known[i] else 'unknown'} object, class {word(found.true[i, -1])}" for i in true}
    objects = true[~np.isin(found.true_outcome[true], OF_OBJECTS)]
    _rectangles(fig, found.true[objects, :4], [texts[i] for i in objects], "object, found", _FOUND, 1)
    for outcome, words in enumerate(OUTCOME_WORDS):
        rows = predicted[found.outcome[predicted] == outcome]
        objects = true[found.true_outcome[true] == outcome] if outcome in OF_OBJECTS else true[:0]
        said = [f"class {word(found.predicted[i, -1])}, confidence {found.predicted[i, 4]:.3g}" for i in rows]
        said = [f"{words}: {text}" for text in [*said, *(texts[i] for i in objects)]]
        drawn = np.concatenate([found.predicted[rows, :4], found.true[objects, :4]])
        _rectangles(fig, drawn, said, f"{STYLES[outcome].sign}  {words}", STYLES[outcome], 3)
    _signs(fig, found, predicted, true, word)
    fig.update_yaxes(autorange="reversed", scaleanchor="x", constrain="domain")
    fig.update_xaxes(constrain="domain")
    if shares and len(boxes):
        return _framed(fig, 1.0, 1.0)
    size = computed.size if computed.photograph is None else computed.photograph[1]
    return _with_margin(fig, boxes) if size is None else _framed(fig, *size)


def _class_word(computed: Computed, label: float) -> str:
    """The name of a class, of the one that means unknown too, or its id where the data give no names."""
    names = class_words(computed.classes, computed.options["unknown_class_id"]) if computed.classes else {}
    return names.get(int(label), f"{label:g}")


def _framed(fig: go.Figure, width: float, height: float) -> go.Figure:
    """Show the whole image, so that a place in it is the same from image to image."""
    return fig.update_xaxes(range=[0, width]).update_yaxes(range=[height, 0], autorange=False)


_FOUND = Style(GREY, "dot", "")


def _signs(
    fig: go.Figure, found: DrawnBoxes, predicted: np.ndarray, true: np.ndarray, word: Callable[[float], str]
) -> None:
    """The sign and the class at the upper left corner of boxes, of objects at the lower left one."""
    missed = true[np.isin(found.true_outcome[true], OF_OBJECTS)]
    for boxes, outcomes, places, corner, below in (
        (found.predicted, found.outcome, predicted, 1, False),
        (found.true, found.true_outcome, missed, 3, True),
    ):
        for i in places[:MAX_SIGNS].tolist():
            style = STYLES[int(outcomes[i])]
            fig.add_annotation(
                x=float(boxes[i, 0]),
                y=float(boxes[i, corner]),
                text=html.escape(_label(style.sign, word(boxes[i, -1])), quote=False),
                showarrow=False,
                xanchor="left",
                yanchor="top" if below else "bottom",
                font=dict(size=12, color="white"),
                bgcolor="#1f1f23",
                bordercolor=style.color,
                borderwidth=2,
                borderpad=1,
            )


def _label(sign: str, name: str) -> str:
    """A sign and the name of a class, which a sign may say already.

    >>> _label("✓", "dog"), _label("✓ unknown", "unknown")
    ('✓ dog', '✓ unknown')
    """
    return sign if sign.endswith(f" {name}") else f"{sign} {name}"


def _with_margin(fig: go.Figure, boxes: np.ndarray) -> go.Figure:
    """Let no box touch the frame, which would hide half of its line."""
    if not len(boxes):
        return fig
    (left, top), (right, bottom) = boxes[:, :2].min(axis=0).tolist(), boxes[:, 2:4].max(axis=0).tolist()
    margin = 0.03 * max(right - left, bottom - top) or 1.0
    fig.update_xaxes(range=[left - margin, right + margin])
    return fig.update_yaxes(range=[bottom + margin, top - margin], autorange=False)


def _rectangles(fig: go.Figure, boxes: np.ndarray, texts: list[str], name: str, style: Style, width: int) -> None:
    """One line for all boxes of an outcome, so that the legend has one entry for them."""
    if not len(boxes):
        return
    if len(boxes) > MAX_BOXES:
        name += f" ({MAX_BOXES} of {len(boxes):,})"
    x: list[Any] = []
    y: list[Any] = []
    text: list[Any] = []
    texts = [html.escape(words, quote=False) for words in texts]
    for (x1, y1, x2, y2), words in zip(boxes[:MAX_BOXES].tolist(), texts):
        x += [x1, x2, x2, x1, x1, None]
        y += [y1, y1, y2, y2, y1, None]
        text += [words] * 5 + [None]
    line = dict(color=style.color, dash=style.dash, width=width)
    fig.add_scatter(x=x, y=y, text=text, name=name, mode="lines", line=line, cliponaxis=False)
    fig.data[-1].hovertemplate = "%{text}<extra></extra>"


def draw_confusion(found: DrawnBoxes) -> go.Figure:
    """Objects over what they were called, all images together."""
    fig = figure("called", "object", height=400)
    shares = found.said / np.maximum(found.said.sum(axis=1, keepdims=True), 1)
    fig.add_heatmap(
        x=list(SAID),
        y=list(OBJECTS),
        z=shares.tolist(),
        text=found.said.tolist(),
        texttemplate="%{text}",
        textfont=dict(size=16),
        hovertemplate="%{y} object, called %{x}: %{text} (%{z:.1%})<extra></extra>",
        colorscale=[[0, "rgba(0,114,178,0.04)"], [1, "rgba(0,114,178,0.5)"]],
        zmin=0,
        zmax=1,
        showscale=False,
        xgap=3,
        ygap=3,
    )
    return fig.update_yaxes(autorange="reversed", showgrid=False).update_xaxes(showgrid=False, side="bottom")
