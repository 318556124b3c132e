"""A page to look at: which known samples look unknown, and which unknown ones look known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from ..detection.words import OUTCOME_WORDS
from ..formats.written.atomic import write_file
from ..metric.metric import Metric
from ..ranking.counts import exceedance_counts
from ..ranking.curves import auroc
from ..ranking.per_sample import CALLED_KNOWN, RIGHT, SAMPLE_OUTCOMES, SIDES
from ..ranking.roc import roc_curve
from .charts import Line, curves_svg, histogram_svg
from .colors import OUTCOME_COLORS
from .frame import FRAME
from .page import table_html
from .thumbnails import thumbnail

_COLORS = {word: OUTCOME_COLORS[place] for place, word in enumerate(OUTCOME_WORDS) if word in SAMPLE_OUTCOMES}
_COLORS[CALLED_KNOWN] = _COLORS[RIGHT]
_KINDS = (
    '<span class="key"><i style="background: var(--first)"></i>known samples</span>'
    '<span class="key"><i style="background: var(--second)"></i>unknown samples</span>'
)
_Table = Mapping[str, Sequence[Any]]


def has_errors_of_samples(metric: type[Metric]) -> bool:
    """Whether the results of a metric can say what became of each sample."""
    return "per_sample" in metric.options


def write_error_report(
    results: Mapping[str, Any],
    folder: str | Path,
    *,
    title: str = "Known and unknown samples",
    about: str = "",
    images: Sequence[str | Path] | None = None,
    count: int = 24,
) -> Path:
    """Write a page with the numbers, the ROC, the scores, and the samples whose scores are most misleading.

    Parameters: results with the table per_sample; folder, made if there is none; title; about, what the samples are;
    images, a path for each sample in the order of addition, to show pictures of them; count, at most how many samples
    are shown of each kind.

    Returns the path of the page, index.html, which needs no other file. Raises ValueError for results without that
    table, as those of groups are, and images that cannot be read; OSError for a folder that cannot be made or written.
    """
    if "per_sample" not in results:
        raise ValueError(
            "results: expected a table per_sample, got none; give the metric per_sample=True, and no groups"
        )
    table: _Table = results["per_sample"]
    numbers = {key: value for key, value in results.items() if isinstance(value, (int, float))}
    body = [
        f"<p>{escape(about)}</p>" if about else "",
        table_html({"result": [*numbers], "value": [*numbers.values()]}),
        "<h2>At the threshold</h2>",
        table_html(_outcome_rows(table)),
        _charts(table),
        *(_gallery(table, side, images, count) for side in SIDES),
    ]
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "index.html"
    write_file(page, FRAME.format(title=escape(title), body="\n".join(body)))
    return page


def _outcome_rows(table: _Table) -> dict[str, list[Any]]:
    """How many samples there are of each outcome, and their share of the known or of the unknown ones."""
    counts, sides = Counter(table["outcome"]), Counter(table["reference"])
    side_of = dict(zip(table["outcome"], table["reference"]))
    there = [outcome for outcome in SAMPLE_OUTCOMES if counts[outcome]]
    shares = [counts[outcome] / sides[side_of[outcome]] for outcome in there]
    return {"outcome": there, "samples": [counts[o] for o in there], "share of its kind": shares}


def _charts(table: _Table) -> str:
    """The ROC with the point of the decisions, and the scores with the lowest that is called unknown."""
    scores, called = np.asarray(table["score"]), np.asarray(table["decision"]) == SIDES[1]
    unknown = np.asarray(table["reference"]) == SIDES[1]
    area = auroc(exceedance_counts(scores[unknown], scores[~unknown]))
    curve = roc_curve(scores[unknown], scores[~unknown])
    line = Line("ROC", "first", list(zip(curve["fpr"], curve["tpr"])))
    point = float(np.mean(called[~unknown])), float(np.mean(called[unknown]))
    threshold = float(scores[called].min()) if called.any() else None
    charts = (
        curves_svg(
            f"ROC of unknown samples: {area:.4f}",
            [line],
            "known, called unknown",
            "unknown, called unknown",
            marked=point,
        ),
        histogram_svg(
            "Scores", {"known": scores[~unknown], "unknown": scores[unknown]}, threshold, unit="sample", shares=True
        ),
    )
    said = "none is called unknown" if threshold is None else f"dashed: from {threshold:.6g} on, called unknown"
    keys = f'{_KINDS}<span class="key">{said}</span><span class="key">circle: that threshold</span>'
    return '<div class="charts">' + "".join(f"<div>{chart}</div>" for chart in charts) + f"</div>\n<p>{keys}</p>"


def _gallery(table: _Table, side: str, images: Sequence[str | Path] | None, count: int) -> str:
    """The samples of a side that look most like the other: known ones from the highest score on, others from below."""
    scores = np.asarray(table["score"])
    own = np.flatnonzero(np.asarray(table["reference"]) == side)
    order = own[np.argsort(-scores[own] if side == SIDES[0] else scores[own], kind="stable")].tolist()
    wrong = sum(table["decision"][i] != side for i in order)
    other, end = (SIDES[1], "highest") if side == SIDES[0] else (SIDES[0], "lowest")
    chosen = order[:count]
    head = f"<h2>{side.capitalize()} samples that look most {other}</h2>\n"
    head += f"<p>{wrong:,} of {len(own):,} are called {other}. Here are the {len(chosen)} of the {end} scores.</p>\n"
    if images is None:
        shown = {"sample": [table["sample"][i] for i in chosen]}
        shown["score"] = [f"{table['score'][i]:.6g}" for i in chosen]
        others = [key for key in table if key not in ("sample", "score", "reference", "decision")]
        return head + table_html({**shown, **{key: [table[key][i] for i in chosen] for key in others}})
    return head + '<div class="gallery">' + "\n".join(_figure(table, i, images) for i in chosen) + "</div>"


def _figure(table: _Table, row: int, images: Sequence[str | Path]) -> str:
    """A sample as a figure of the page."""
    sample, outcome = table["sample"][row], table["outcome"][row]
    path = Path(images[sample])
    lines = [
        f"<b>{escape(path.name)}</b>",
        f'<i style="background: {_COLORS[outcome]}"></i>{escape(outcome)}',
        f"score {table['score'][row]:.6g}, sample {sample}",
    ]
    if "true_class" in table:
        true, predicted = table["true_class"][row], table["predicted_class"][row]
        lines.append(f"predicted class {predicted}" if true < 0 else f"class {true}, predicted {predicted}")
    picture = f'<img src="{thumbnail(path)}" alt="{escape(path.name)}">'
    return f'<figure>{picture}<figcaption class="key">{"<br>".join(lines)}</figcaption></figure>'
