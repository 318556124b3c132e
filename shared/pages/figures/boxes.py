"""Boxes by outcome, matched as the metric matches them, and a table of what objects were called."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from ...detection.boxes import DetectionState
from ...detection.matching import one_to_one_outcomes
from ...detection.openset_detection import PROTOCOLS, OpenSetDetection
from ...detection.outcomes import Outcomes, select_boxes
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
from ...reading.boxes.dataset import class_words
from .computed import Computed
from .style import BLUE, GREEN, GREY, ORANGE, PURPLE, figure, photograph_behind

MAX_BOXES = 300  # per image
MAX_SIGNS = 60  # boxes with a sign, per image


class Style(NamedTuple):
    """Colour, dash and sign of an outcome."""

    color: str
    dash: str
    sign: str


STYLES = {
    RIGHT: Style(GREEN, "solid", "✓"),
    UNKNOWN_CALLED_UNKNOWN: Style(BLUE, "solid", "✓ unknown"),
    WRONG_CLASS: Style("#a06a00", "dash", "≠"),
    CALLED_UNKNOWN: Style("#807600", "dashdot", "≠ unknown"),
    UNKNOWN_CALLED_KNOWN: Style(PURPLE, "longdash", "unknown!"),
    MISSED: Style(ORANGE, "dot", "not found"),
    NO_OBJECT: Style(GREY, "solid", "–"),
    IGNORED: Style(GREY, "dot", "ignored"),
    LEFT_OUT: Style(GREY, "dashdot", "left out"),
}
OF_OBJECTS = (MISSED, IGNORED)  # outcomes of objects alone
OBJECTS = ("known", "unknown", "no object")
SAID = ("its class", "another class", "unknown", "not found")
CALLED = "called"


class DrawnBoxes(NamedTuple):
    """Boxes with the image and the outcome of each.

    predicted: (n, 6) rows, xyxy, of the predictions above the confidence threshold
    true: (m, 5) rows, xyxy, of the objects
    outcome, true_outcome: an index into OUTCOME_WORDS for each of them
    known: whether each object belongs to a known class
    said: a table of counts, OBJECTS × SAID, for each image
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
    """Match all boxes as the metric does, and note the outcome of each."""
    metric = OpenSetDetection(**options)
    boxes = select_boxes(state, metric)
    pairs = boxes.pairs()
    one_to_one = one_to_one_outcomes(boxes, pairs)
    outcome, true_outcome = outcomes_in_words(PROTOCOLS[metric.protocol].match(boxes, pairs))
    # not `boxes.predictions`, which plus_one enlarges
    predicted = state["predictions"][state["predictions"][:, 4] >= boxes.rules.conf_threshold]
    known = boxes.object_label != boxes.unknown_id
    images = boxes.image, boxes.object_image
    said = _said(one_to_one, len(state["num_references"]))
    return DrawnBoxes(predicted, state["references"], *images, outcome, true_outcome, known, said)


_CELLS = {  # the cell of an object, known or unknown, by its outcome
    False: {RIGHT: 0, WRONG_CLASS: 1, CALLED_UNKNOWN: 2, MISSED: 3},
    True: {UNKNOWN_CALLED_KNOWN: 1, UNKNOWN_CALLED_UNKNOWN: 2, MISSED: 3},
}


def _said(outcomes: Outcomes, num_images: int) -> np.ndarray:
    """Count what objects were called in each image; each is matched to a box of any class."""
    boxes = outcomes.boxes
    predicted, true = outcomes_in_words(outcomes)
    is_unknown = boxes.object_label == boxes.unknown_id
    said = np.zeros((num_images, len(OBJECTS), len(SAID)), np.int64)
    for unknown, cells in _CELLS.items():
        for outcome, cell in cells.items():
            of_cell = boxes.object_image[(is_unknown == unknown) & (true == outcome)]
            said[:, int(unknown), cell] = np.bincount(of_cell, minlength=num_images)
    on_nothing = predicted == NO_OBJECT
    says_unknown = boxes.predictions[:, 5] == boxes.unknown_id
    for cell, says in ((1, ~says_unknown), (2, says_unknown)):
        said[:, 2, cell] = np.bincount(boxes.image[on_nothing & says], minlength=num_images)
    return said


def draw_boxes(drawn: DrawnBoxes, computed: Computed) -> go.Figure:
    """Draw the boxes of one image, each in the style of its outcome; detected objects get thin lines."""
    fig = figure("", "", height=400)
    predicted = np.flatnonzero(drawn.predicted_image == computed.image)
    true = np.flatnonzero(drawn.true_image == computed.image)
    boxes = np.concatenate([drawn.predicted[predicted, :4], drawn.true[true, :4]])
    shares = boxes.max(initial=0) <= 1.5  # YOLO's coordinates are fractions of width and height
    photograph_behind(fig, computed.photograph, (1.0, 1.0) if shares else None)
    word = partial(_class_word, computed)
    texts = {i: f"{'known' if drawn.known[i] else 'unknown'} object, class {word(drawn.true[i, -1])}" for i in true}
    objects = true[~np.isin(drawn.true_outcome[true], OF_OBJECTS)]
    _rectangles(fig, drawn.true[objects, :4], [texts[i] for i in objects], "object, found", _FOUND, 1)
    for outcome, words in enumerate(OUTCOME_WORDS):
        rows = predicted[drawn.outcome[predicted] == outcome]
        objects = true[drawn.true_outcome[true] == outcome] if outcome in OF_OBJECTS else true[:0]
        said = [f"class {word(drawn.predicted[i, -1])}, confidence {drawn.predicted[i, 4]:.3g}" for i in rows]
        said = [f"{words}: {text}" for text in [*said, *(texts[i] for i in objects)]]
        corners = np.concatenate([drawn.predicted[rows, :4], drawn.true[objects, :4]])
        _rectangles(fig, corners, said, f"{STYLES[outcome].sign}  {words}", STYLES[outcome], 3)
    _signs(fig, drawn, predicted, true, word)
    fig.update_yaxes(autorange="reversed", scaleanchor="x", constrain="domain")
    fig.update_xaxes(constrain="domain")
    if shares and len(boxes):
        return _framed(fig, 1.0, 1.0)
    size = computed.size if computed.photograph is None else computed.photograph[1]
    return _with_margin(fig, boxes) if size is None else _framed(fig, *size)


def _class_word(computed: Computed, label: float) -> str:
    """The name of a class, including the unknown class; its id if the data have no names."""
    names = class_words(computed.classes, computed.options["unknown_class_id"]) if computed.classes else {}
    return names.get(int(label), f"{label:g}")


def _framed(fig: go.Figure, width: float, height: float) -> go.Figure:
    """Set the axes to the whole image, so that positions can be compared between images."""
    return fig.update_xaxes(range=[0, width]).update_yaxes(range=[height, 0], autorange=False)


_FOUND = Style(GREY, "dot", "")


def _signs(
    fig: go.Figure, drawn: DrawnBoxes, predicted: np.ndarray, true: np.ndarray, word: Callable[[float], str]
) -> None:
    """Write sign and class at the upper left of each prediction and at the lower left of each object."""
    missed = true[np.isin(drawn.true_outcome[true], OF_OBJECTS)]
    for boxes, outcomes, places, corner, below in (
        (drawn.predicted, drawn.outcome, predicted, 1, False),
        (drawn.true, drawn.true_outcome, missed, 3, True),
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
    """Join a sign and a class name, unless the sign already ends with the name.

    >>> _label("✓", "dog"), _label("✓ unknown", "unknown")
    ('✓ dog', '✓ unknown')
    """
    return sign if sign.endswith(f" {name}") else f"{sign} {name}"


def _with_margin(fig: go.Figure, boxes: np.ndarray) -> go.Figure:
    """Add a margin, since the frame would hide half the line of a box that touches it."""
    if not len(boxes):
        return fig
    (left, top), (right, bottom) = boxes[:, :2].min(axis=0).tolist(), boxes[:, 2:4].max(axis=0).tolist()
    margin = 0.03 * max(right - left, bottom - top) or 1.0
    fig.update_xaxes(range=[left - margin, right + margin])
    return fig.update_yaxes(range=[bottom + margin, top - margin], autorange=False)


def _rectangles(fig: go.Figure, boxes: np.ndarray, texts: list[str], name: str, style: Style, width: int) -> None:
    """Draw all boxes of an outcome as one trace, with one entry in the legend."""
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


def draw_confusion(drawn: DrawnBoxes) -> go.Figure:
    """Draw the confusion table: objects against what they were called, over all images."""
    fig = figure("called", "object", height=400)
    said = drawn.said.sum(axis=0)
    shares = said / np.maximum(said.sum(axis=1, keepdims=True), 1)
    fig.add_heatmap(
        x=list(SAID),
        y=list(OBJECTS),
        z=shares.tolist(),
        text=said.tolist(),
        meta={"kind": CALLED},  # a click lists the images of the cell
        customdata=[[[row, column] for column in range(len(SAID))] for row in range(len(OBJECTS))],
        texttemplate="%{text}",
        textfont=dict(size=16),
        hovertemplate="%{y} object, called %{x}: %{text} (%{z:.3f})<extra></extra>",
        colorscale=[[0, "rgba(0,114,178,0.04)"], [1, "rgba(0,114,178,0.5)"]],
        zmin=0,
        zmax=1,
        showscale=False,
        xgap=3,
        ygap=3,
    )
    return fig.update_yaxes(autorange="reversed", showgrid=False).update_xaxes(showgrid=False, side="bottom")
