"""Pages of the top-k metrics: accuracy over k, with the values of k_list or the area up to them."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ...arrays.checks import as_int_list
from ...classification.topk import AVERAGES, TIES, known_ranks, topk_rates
from ...metric.numbers import number_text
from .. import credits
from ..figures.computed import Computed
from ..figures.ranked import MAX_LISTED, ROWS_ARE_LOST, UNKNOWN_QUESTION, Listed
from ..figures.style import BLUE, GREY, ORANGE, RATE_TICKS, figure, line_style
from ..page import CONFIDENCE, Option, Sample, rows

MAX_K = 200  # bars drawn
MIN_K = 10  # bars drawn at least, if there are as many; otherwise twice the largest k of k_list
OPTIONS = (
    Option("k_list", "numbers"),
    Option("ties", "choice", TIES),
    Option("average", "choice", AVERAGES),
    Option("per_class", "flag"),
    Option("percent", "flag"),
    Option("ignore_unknown", "flag"),
    CONFIDENCE,
)
DIGITS = Sample(
    "Ten handwritten digits, logits",
    ("digits.npz",),
    credits.TENTH_OF_DIGITS,
    {"k_list": (1, 2, 3)},
)
TOPK_SCORES = rows("""
    class 0, class 1, class 2, class 3, class 4, references
    0.64838829, 0.55347873, 0.54402452, 0.44256019, 0.93269784, 1
    0.90289872, 0.20138704, 0.535019, 0.09570918, 0.82571798, 4
    0.56390727, 0.54268805, 0.51674891, 0.38070372, 0.88541311, 4
    0.7735994, 0.91112566, 0.16059716, 0.55685722, 0.3408125, 4
    0.02986079, 0.25893837, 0.77636374, 0.19880775, 0.45766495, 1
    0.34103661, 0.78989861, 0.92651628, 0.93653775, 0.98839753, 3
    0.29854327, 0.52052683, 0.87691339, 0.67445962, 0.67494816, 3
    0.0353367, 0.73544842, 0.31514033, 0.87075895, 0.86990737, 3
    0.71549516, 0.65359928, 0.15977091, 0.09389867, 0.25932929, 2
    0.25369997, 0.84567305, 0.51449316, 0.54070907, 0.51912976, 1
""")


def draw_accuracies(computed: Computed) -> Sequence[Any]:
    """Draw accuracy at every k, and mark the ks of the results."""
    fig, shown = _bars(computed, until=0)
    for i, k in enumerate(k for k in _ks(computed) if k <= shown):
        value = computed.results[f"accuracy@{k}"]
        name = f"accuracy@{k} = {number_text(value)}{_unit(computed)}"
        marker = dict(size=11, color=ORANGE, symbol=i, line=dict(color="white", width=1))
        hover = f"{name}<extra></extra>"
        fig.add_scatter(x=[k], y=[value], name=name, mode="markers", marker=marker, hovertemplate=hover)
    return [fig]


def draw_area(computed: Computed) -> Sequence[Any]:
    """Draw accuracy at every k, filled up to the largest K: the mean height there is AUTKC@K."""
    until = max(_ks(computed))
    fig, shown = _bars(computed, until)
    for k, (color, dash) in zip(_ks(computed), map(line_style, count(1))):
        value = computed.results[f"autkc@{k}"]
        name = f"autkc@{k} = {number_text(value)}{_unit(computed)}"
        fig.add_scatter(
            x=[0.5, min(k, shown) + 0.5],
            y=[value, value],
            name=name,
            mode="lines",
            line=dict(width=3, color=color, dash=dash),
            hovertemplate=f"{name}<extra></extra>",
        )
    return [fig]


def _unit(computed: Computed) -> str:
    """The unit of the results: with the option percent they are no shares, and page.js leaves them as they are."""
    return " %" if computed.options["percent"] else ""


def _ks(computed: Computed) -> list[int]:
    """The values of k_list."""
    k_list, width = computed.options["k_list"], int(computed.state["predictions_width"])
    return [] if k_list is None else as_int_list(k_list, "k_list", 1, width)


MISSED = "not among the k best"


def missed_samples(computed: Computed, question: Mapping[str, Any], names: Sequence[str] = ()) -> Listed:
    """The samples whose class may not be among the k best: those with at least k scores that are not below its own."""
    state = computed.state
    if "counts" in state:
        raise ValueError(ROWS_ARE_LOST)
    try:
        k = operator.index(question["at"][0])
    except (KeyError, TypeError, IndexError):
        raise ValueError(UNKNOWN_QUESTION) from None
    above, tied = np.asarray(state["above"]), np.asarray(state["tied"])
    missed = np.flatnonzero((above >= 0) & (above + tied >= k))  # -1 is a class that is unknown
    rows = missed[np.argsort(-above[missed], kind="stable")]
    title = f"{len(rows):,} sample{'s' * (len(rows) != 1)} whose class is not among the {k} best"
    more = f"; the first {MAX_LISTED}" if len(rows) > MAX_LISTED else ""
    rows = rows[:MAX_LISTED]
    columns: dict[str, list[Any]] = {"row": (rows + 1).tolist()}
    if len(computed.samples) == len(above):
        columns["name"] = [str(computed.samples[row]) for row in rows]
    columns |= {"class": np.asarray(state["classes"])[rows].tolist()}
    columns |= {"higher scores": above[rows].tolist(), "equal scores": tied[rows].tolist()}
    return Listed(title + more, columns)


def _bars(computed: Computed, until: int) -> tuple[go.Figure, int]:
    """Draw bars of accuracy at k, the first `until` in blue (all if it is 0); also return the number of bars."""
    options = computed.options
    ranks = known_ranks(computed.state, ignore_unknown=options["ignore_unknown"])
    width = int(computed.state["predictions_width"])
    listed = _ks(computed)
    ks = range(1, min(width, MAX_K, max(MIN_K, 2 * max(listed))) + 1 if listed else min(width, MAX_K) + 1)
    top = 100 if options["percent"] else 1
    spans = {f"accuracy@{k}": range(k, k + 1) for k in ks}
    bars = topk_rates(ranks, spans, ties=options["ties"], average=options["average"], one=top)
    heights = list(bars.values())
    title = f"k (the first {len(ks)} of {width:,})" if width > len(ks) else "k"
    fig = figure(title, "accuracy@k in %" if options["percent"] else "accuracy@k", bargap=0)
    ticks, digits = (None, ".4g") if options["percent"] else (RATE_TICKS, ".3f")
    fig.update_yaxes(range=[0, 1.04 * top], tickformat=ticks).update_xaxes(range=[0.4, len(ks) + 0.6])
    if len(ks) <= 20:
        fig.update_xaxes(dtick=1)
    split = until or len(ks)
    for part, color, name in ((slice(split), BLUE, "accuracy@k"), (slice(split, None), GREY, "beyond K")):
        if heights[part]:
            hover = f"k = %{{x}}<br>accuracy = %{{y:{digits}}}{_unit(computed)}<extra></extra>"
            drawn = list(ks)[part]
            fig.add_bar(x=drawn, y=heights[part], name=name, marker=dict(color=color), opacity=0.55)
            fig.data[-1].update(meta={"kind": MISSED}, customdata=[[k] for k in drawn])  # a click lists samples
            fig.data[-1].update(hovertemplate=hover, marker_line=dict(width=1, color=color))
    return fig, len(ks)
