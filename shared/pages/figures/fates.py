"""Fates of known and of unknown objects, as two bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from ...detection.errors import FATES
from ...detection.openset_detection import OpenSetDetection, detection_results
from .computed import Computed
from .style import BLUE, GREEN, GREY, ORANGE, PURPLE, RATE_TICKS, figure, ink_on

TABLES = ("per_class", "per_image", "conf_list", "recall_budgets")  # not needed for the fates
FATE = "fate"
FATE_COLORS = {
    "found": GREEN,
    "called another known": "#a06a00",
    "called unknown": "#807600",
    "called known": PURPLE,
    "badly placed": BLUE,
    "both": GREY,
    "missed": ORANGE,
}
_WORDS = {"both": "badly placed, wrong class"}


def draw_fates(computed: Computed) -> go.Figure:
    """Draw the share of each fate among known and among unknown objects."""
    table = _fates(computed)
    fig = figure("share of the objects", "object", height=300)
    rows = [*zip(table["objects"], table["fate"], table["count"], table["share"])]
    for fate in dict.fromkeys(fate for _, fate in FATES):
        of_fate = [row for row in rows if row[1] == fate]
        sides, counts = [row[0] for row in of_fate], [row[2] for row in of_fate]
        fig.add_bar(
            x=[row[3] for row in of_fate],
            y=sides,
            orientation="h",
            name=_WORDS.get(fate, fate),
            text=[str(count) if count else "" for count in counts],
            customdata=[[fate, *one] for one in zip(sides, counts)],
            meta={"kind": FATE},  # a click lists the images with such objects
            textposition="inside",
            insidetextanchor="middle",
            insidetextfont=dict(color=ink_on(FATE_COLORS[fate])),
            marker=dict(color=FATE_COLORS[fate]),
            hovertemplate=f"%{{y}} objects, {fate}: %{{customdata[2]}} (%{{x:.3f}})<extra></extra>",
        )
    fig.update_layout(barmode="stack", legend=dict(traceorder="normal"))
    return fig.update_yaxes(autorange="reversed", showgrid=False).update_xaxes(range=[0, 1], tickformat=RATE_TICKS)


def _fates(computed: Computed) -> Mapping[str, Sequence[Any]]:
    """The table of fates from the results; computed here if they lack it."""
    if "fates" in computed.results:
        table: Mapping[str, Sequence[Any]] = computed.results["fates"]
        return table
    # below 0.1 no box is badly placed, so there are no fates
    if computed.options["iou_threshold"] < 0.1:
        return {"objects": [], "fate": [], "count": [], "share": []}
    fates: Mapping[str, Sequence[Any]] = _with_errors(computed)["fates"]
    return fates


def fates_by_image(computed: Computed, side: str, fate: str) -> Sequence[int]:
    """The number of known or unknown objects with a fate in each image. Raises KeyError for another fate."""
    counts: Sequence[int] = _with_errors(computed, per_image=True)["per_image"][f"{side} objects {fate}"]
    return counts


def _with_errors(computed: Computed, **tables: bool) -> Mapping[str, Any]:
    options = {name: value for name, value in computed.options.items() if name not in TABLES}
    options |= {"errors": True, "recall_level": None, "confidence_level": None, **tables}
    state: Any = computed.state
    results: Mapping[str, Any] = detection_results(state, OpenSetDetection(**options))
    return results
