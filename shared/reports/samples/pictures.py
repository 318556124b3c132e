"""Draw the ROC and the scores of samples, with the threshold of the decisions."""

from __future__ import annotations

import numpy as np

from ...ranking.curves import auroc
from ...ranking.roc import roc_curve
from ..charts import Line, curves_svg, histogram_svg
from ..frame import card, number
from ..frame.blocks import keys_html
from .decisions import Decisions


def roc_card(decisions: Decisions) -> str:
    """The ROC as a card, with a circle at the threshold; the note says the area under the curve."""
    known, unknown, threshold = decisions
    area = auroc(positives=unknown, negatives=known)
    curve = roc_curve(positives=unknown, negatives=known)
    line = Line("ROC", "first", list(zip(curve["fpr"], curve["tpr"])))
    point = float(np.mean(known > threshold)), float(np.mean(unknown > threshold))
    words = f"area {number(area)}"
    axes = "known, called unknown", "unknown, called unknown"
    chart = curves_svg("", [line], *axes, marked=point, said=f"ROC of unknown samples, {words}")
    note = f'<p class="small quiet">circle: the threshold, at ({number(point[0])}, {number(point[1])})</p>'
    return card(chart, note, title="ROC of unknown samples", note=words)


def scores_card(decisions: Decisions) -> str:
    """A histogram of the scores of either side, with a dashed line at the threshold."""
    known, unknown, threshold = decisions
    shown = threshold if np.isfinite(threshold) else None
    sides = {"known": known.tolist(), "unknown": unknown.tolist()}
    chart = histogram_svg("", sides, shown, unit="sample", shares=True, said="Scores of samples")
    keys = keys_html([("known", "known samples", ""), ("unknown", "unknown samples", "")])
    said = "" if shown is None else f'<p class="small quiet">dashed: the threshold, {decisions.text(shown)}</p>'
    return card(chart, keys, said, title="Scores")
