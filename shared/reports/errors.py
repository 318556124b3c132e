"""A page to look at: which known samples look unknown, and which unknown ones look known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..formats.written.atomic import write_file
from ..metric.metric import Metric
from ..ranking.counts import exceedance_counts
from ..ranking.curves import auroc
from ..ranking.per_sample import SAMPLE_OUTCOMES, SIDES
from ..ranking.roc import roc_curve
from .charts import Line, curves_svg, histogram_svg
from .directions import direction
from .frame import (
    Figure,
    Part,
    Section,
    Tile,
    card,
    data_table,
    details,
    grid,
    headline,
    picture_html,
    report_html,
    stacked_bars,
    tiles_html,
)
from .frame.blocks import keys_html
from .thumbnails import photograph

_SHARE = "share of its kind"
_COLORS = dict(zip(SAMPLE_OUTCOMES, ("known", "d1", "known", "d2", "unknown", "known")))
_SIDE = 256  # pixels of a picture
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
    """Write a page with the numbers, the ROC, the scores, and the samples with the most misleading scores.

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
    sections = [
        Section("Decisions", "At the threshold", grid(card(_bars(table)), *map(card, _charts(table)), columns=3)),
        *(_section(table, side, images, count) for side in SIDES),
        details(
            {
                "Decisions": data_table(_outcome_rows(table), "Decisions", meters=[_SHARE]),
                "All numbers, six digits": _numbers(numbers),
            }
        ),
    ]
    facts = [*([about] if about else []), f"{len(table['sample']):,} samples"]
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "index.html"
    write_file(page, report_html(title, "openworld-metrics compute", facts, headline(_headline(numbers)), sections))
    return page


def _headline(numbers: Mapping[str, Any]) -> list[Figure]:
    """The first three rates, with their intervals."""
    rates = [key for key in numbers if (known := direction(key)) is not None and known.rate][:3]
    return [
        Figure(
            key,
            numbers[key],
            numbers.get(f"{key}_low"),
            numbers.get(f"{key}_high"),
            higher=higher,
            words="higher is better" if higher else "lower is better",
        )
        for key in rates
        for higher in [getattr(direction(key), "higher", None)]
    ]


def _numbers(numbers: Mapping[str, Any]) -> str:
    """All numbers, each with its interval."""
    ends = {f"{key}_{end}" for key in numbers for end in ("low", "high") if f"{key}_{end}" in numbers}
    values = [
        (numbers[key], numbers[f"{key}_low"], numbers[f"{key}_high"]) if f"{key}_low" in ends else numbers[key]
        for key in numbers
        if key not in ends
    ]
    keys = [key for key in numbers if key not in ends]
    return data_table({"result": keys, "value": values}, "All numbers", digits=6)


def _outcome_rows(table: _Table) -> dict[str, list[Any]]:
    """How many samples there are of each outcome, and their share of the known or of the unknown ones."""
    counts, sides = Counter(table["outcome"]), Counter(table["reference"])
    side_of = dict(zip(table["outcome"], table["reference"]))
    there = [outcome for outcome in SAMPLE_OUTCOMES if counts[outcome]]
    shares = [counts[outcome] / sides[side_of[outcome]] for outcome in there]
    return {"outcome": there, "samples": [counts[o] for o in there], _SHARE: shares}


def _bars(table: _Table) -> str:
    """A bar for each side, of what its samples were called."""
    counts = Counter(zip(table["reference"], table["outcome"]))
    parts = {
        side: [
            Part(outcome.partition(", ")[2], counts[side, outcome], color)
            for outcome, color in _COLORS.items()
            if counts[side, outcome]
        ]
        for side in SIDES[::-1]
    }
    return "".join(stacked_bars({f"{side.capitalize()} samples": own}, unit="samples") for side, own in parts.items())


def _charts(table: _Table) -> tuple[str, str]:
    """The ROC with the point of the decisions, and the scores with the lowest that is called unknown."""
    scores, called = np.asarray(table["score"]), np.asarray(table["decision"]) == SIDES[1]
    unknown = np.asarray(table["reference"]) == SIDES[1]
    area = auroc(exceedance_counts(scores[unknown], scores[~unknown]))
    curve = roc_curve(scores[unknown], scores[~unknown])
    line = Line("ROC", "first", list(zip(curve["fpr"], curve["tpr"])))
    point = float(np.mean(called[~unknown])), float(np.mean(called[unknown]))
    threshold = float(scores[called].min()) if called.any() else None
    roc = curves_svg(
        f"ROC of unknown samples: {area:.4f}",
        [line],
        "known, called unknown",
        "unknown, called unknown",
        marked=point,
    )
    histogram = histogram_svg(
        "Scores", {"known": scores[~unknown], "unknown": scores[unknown]}, threshold, unit="sample", shares=True
    )
    said = "none is called unknown" if threshold is None else f"dashed: from {threshold:.6g} on, called unknown"
    keys = keys_html([("known", "known samples", ""), ("unknown", "unknown samples", "")])
    note = f'<p class="small quiet">{said}; circle: that threshold</p>'
    return roc, histogram + keys + note


def _section(table: _Table, side: str, images: Sequence[str | Path] | None, count: int) -> Section:
    """The samples of a side that look most like the other: known ones from the highest score on, others from below."""
    scores = np.asarray(table["score"])
    own = np.flatnonzero(np.asarray(table["reference"]) == side)
    order = own[np.argsort(-scores[own] if side == SIDES[0] else scores[own], kind="stable")].tolist()
    wrong = sum(table["decision"][i] != side for i in order)
    other, end = (SIDES[1], "highest") if side == SIDES[0] else (SIDES[0], "lowest")
    chosen = order[:count]
    lead = f"{wrong:,} of {len(own):,} are called {other}. Here are the {len(chosen)} of the {end} scores."
    name, title = f"{side.capitalize()} samples", f"{side.capitalize()} samples that look most {other}"
    if images is not None:
        return Section(name, title, tiles_html([_tile(table, i, images) for i in chosen], _FILTERS), lead)
    shown = {"sample": [table["sample"][i] for i in chosen]}
    shown["score"] = [f"{table['score'][i]:.6g}" for i in chosen]
    others = [key for key in table if key not in ("sample", "score", "reference", "decision")]
    return Section(
        name, title, data_table({**shown, **{key: [table[key][i] for i in chosen] for key in others}}, title), lead
    )


def _tile(table: _Table, row: int, images: Sequence[str | Path]) -> Tile:
    """A sample with its image."""
    sample, outcome = table["sample"][row], table["outcome"][row]
    path = Path(images[sample])
    lines = [outcome, f"score {table['score'][row]:.6g}, sample {sample}"]
    if "true_class" in table:
        true, predicted = table["true_class"][row], table["predicted_class"][row]
        lines.append(f"predicted class {predicted}" if true < 0 else f"class {true}, predicted {predicted}")
    source, size = photograph(path, _SIDE)
    return Tile(path.name, lines, picture_html(source, path.name, size), [_kind(outcome)])


def _kind(outcome: str) -> str:
    """An outcome as the key of a filter."""
    return outcome.replace(",", "").replace(" ", "-")


_FILTERS = {_kind(outcome): outcome.capitalize() for outcome in SAMPLE_OUTCOMES}
