"""Write a report of a page as one HTML file; `browser/page.js` adds the figures when it saves the file."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...texts import Texts
from ..figures.computed import Computed
from ..figures.ranked import Listed
from ..page import Page
from .computation import Computation
from .frame import Section, card, details, facts_html, grid, report_html as framed
from .report_numbers import all_numbers, detectors_section, groups_section, headline_html, tables, worst_section
from .sentence import sentence

MAX_CALL = 20_000  # characters of the Python code in a report; longer code spells out typed data
_FIGURES, _THRESHOLD, _STRIP = "<!--figures-->", "<!--threshold-->", "<!--strip-->"


class Kept(NamedTuple):
    """Contents of a report: those of a page's results.

    computed, done: the detector in full, and all of them
    call: the Python code that gives the same
    results: those of the detector, with the names of what their tables go over
    worst: the samples that are ranked worst
    moves, strips: whether there are a threshold to move, and a strip of images
    """

    page: Page
    texts: Texts
    computed: Computed
    done: Computation
    call: str
    results: Mapping[str, Any]
    worst: Sequence[Listed]
    moves: bool
    strips: bool


def report_html(kept: Kept) -> str:
    """A button that saves the report, with the report, still without figures, as its data."""
    page, computed = kept.page, kept.computed
    sections = [
        _figures(kept),
        detectors_section(page, kept.done),
        Section("Images", "Images with the most errors", _STRIP if kept.strips else ""),
        groups_section(computed.summary),
        worst_section(kept.worst),
        _details(kept),
    ]
    whole = framed(
        page.name if not computed.title else f"{page.name}: {computed.title}",
        "openworld-metrics page",
        _facts(kept),
        headline_html(page, kept.texts, computed, kept.done),
        [section for section in sections if section.body],
    )
    button = '<button type="button" data-do="report">Download the report (one HTML file)</button>'
    return f'<div class="report" data-name="{page.name}" data-page="{html.escape(whole)}">{button}</div>'


def _facts(kept: Kept) -> list[str]:
    places = [name for names in kept.done.recipe.files for name in names]
    files = [Path(place).name for place in places]
    shown = [*files[:3], *([f"{len(files) - 3:,} more"] if len(files) > 3 else [])]
    origins = [sample.origin for sample in kept.page.samples if {*sample.places(kept.page.name)} & {*places}]
    credit = "".join(f"made from {work.plain}" for origin in origins for work in origin.works)
    facts = [kept.page.question, f"data: {', '.join(shown)}" if shown else "", credit, kept.done.left_out]
    return [fact for fact in facts if fact]


def _figures(kept: Kept) -> Section:
    threshold = grid(card(f'<div class="at">{_THRESHOLD}</div>', title="At a threshold"), columns=1)
    pooled = "All groups are pooled in the figures." if kept.computed.together is not None else ""
    body = f'<div class="grid2 drawn">{_FIGURES}</div>{threshold if kept.moves else ""}'
    return Section("Figures", "Figures", body, pooled)


def _details(kept: Kept) -> Section:
    """All numbers, the tables of the results, options, and what a paper needs."""
    computed, call = kept.computed, kept.call
    code = call if len(call) <= MAX_CALL else f"{call[:MAX_CALL]}\n… and {len(call) - MAX_CALL:,} more characters"
    options = {name: str(value) for name, value in computed.options.items()}
    paper = f"<p>{html.escape(sentence(kept.page, kept.texts, computed.summary))}</p>"
    return details(
        {
            "All numbers, six digits": all_numbers(computed.summary),
            **tables(kept.results),
            "Options and versions": facts_html(
                {**options, "numpy": np.__version__, "signature": computed.summary.signature}
            ),
            "In Python": f"<pre>{html.escape(code)}</pre>",
            "For a paper": f"{paper}<pre>{html.escape(kept.texts.citation)}</pre>",
        }
    )
