"""Write a report on single samples: known ones that look unknown, and unknown ones that look known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...metric.metric import Metric
from ...ranking.roc import SIDES
from ...written.files import write_file
from ...written.results import KINDS
from ..frame import Section, card, data_table, details, grid, headline, report_html
from .decisions import decisions_of, meter_rows, outcome_bars
from .numbers import all_numbers, figures
from .pictures import roc_card, scores_card
from .worst import worst_section


def has_errors_of_samples(metric: type[Metric]) -> bool:
    """Whether the results of a metric can have a table of samples with their decisions."""
    return "per_sample" in metric.options


def write_error_report(
    results: Mapping[str, Any],
    folder: str | Path,
    *,
    title: str = "Known and unknown samples",
    about: str = "",
    note: str = "",
    images: Sequence[str | Path] | None = None,
    count: int = 24,
) -> Path:
    """Write a page with the numbers, the ROC, the scores, and the samples with the most misleading scores.

    Parameters: results with the table per_sample; folder, created if missing; title; about, a description of the
    samples; note, a sentence below the numbers, such as how their intervals were computed; images, a path for each
    sample in the order of addition, to show their pictures; count, the largest number of samples to show of each kind.

    Returns the path of the page, index.html, which needs no other file. Raises ValueError for results without that
    table, such as results of groups, and for images that cannot be read; OSError for a folder that cannot be created or
    written to.
    """
    if "per_sample" not in results:
        raise ValueError(
            "results: expected a table per_sample, got none; give the metric per_sample=True, and no groups"
        )
    table = results["per_sample"]
    numbers = {key: value for key, value in results.items() if isinstance(value, (int, float))}
    decisions = decisions_of(table, numbers)
    rows, shares = meter_rows(table)
    sections = [
        Section(
            "Decisions",
            "At the threshold",
            grid(card(outcome_bars(table)), roc_card(decisions), scores_card(decisions), columns=3),
            decisions.in_words,
        ),
        *(worst_section(table, side, images, count) for side in SIDES),
        details(
            {
                "Decisions": data_table(rows, "Decisions", meters=shares),
                "All numbers, six digits": all_numbers(numbers),
            }
        ),
    ]
    number = len(table["sample"])
    facts = [about, f"{number:,} samples, counted from 0" if number > 1 else "1 sample", results.get("signature", "")]
    first = headline(figures(numbers, decisions, results.get(KINDS, {})), hint=note)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "index.html"
    write_file(page, report_html(title, "openworld-metrics compute", [*filter(None, facts)], first, sections))
    return page
