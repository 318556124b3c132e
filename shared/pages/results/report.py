"""Write a report of a page as one HTML file; `browser/page.js` adds the figures when it saves the file."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...metric.results import Count, Rate, Summary
from ...reports.frame import FRAME
from ...texts import Texts
from ..figures.computed import Computed
from ..figures.digits import short
from ..page import Page

MAX_CALL = 20_000  # characters of the Python code in a report; longer code spells out typed data
_FIGURES, _THRESHOLD = "<!--figures-->", "<!--threshold-->"


def report_html(page: Page, texts: Texts, computed: Computed, numbers: str, call: str, moves: bool) -> str:
    """A button that saves the report, with the report, still without figures, as its data.

    Parameters: numbers, the tables as HTML; call, the Python code; moves, whether the page has a threshold slider.
    """
    code = call if len(call) <= MAX_CALL else f"{call[:MAX_CALL]}\n… and {len(call) - MAX_CALL:,} more characters"
    shown = re.sub(r'<div class="switch".*?</div>', "", numbers)
    shown = re.sub(r"<button[^>]*>(.*?)</button>", r"\1", shown)
    title = page.name if not computed.title else f"{page.name}: {computed.title}"
    parts = [
        f"<p>{html.escape(page.question)}</p>",
        shown,
        f"<h2>At a threshold</h2>{_THRESHOLD}" if moves else "",
        f'<h2>Figures</h2><div class="charts">{_FIGURES}</div>',
        f"<h2>Options</h2><p>{html.escape(_options(computed.options))}. numpy {np.__version__}.</p>",
        f"<h2>In Python</h2><pre>{html.escape(code)}</pre>",
        f"<h2>For a paper</h2><p>{html.escape(sentence(page, texts, computed.summary))}</p>",
        f"<pre>{html.escape(texts.citation)}</pre>",
    ]
    whole = FRAME.format(title=html.escape(title), body="\n".join(parts))
    button = '<button type="button" data-do="report">Download the report (one HTML file)</button>'
    return f'<div class="report" data-name="{page.name}" data-page="{html.escape(whole)}">{button}</div>'


def sentence(page: Page, texts: Texts, summary: Summary) -> str:
    """A sentence with the headline numbers and the citation."""
    results = {key: result for key, result in summary.results.items() if isinstance(result, (int, float, Rate, Count))}
    important = [key for key in results if re.fullmatch(page.headline, key)] or [*results][:1]
    numbers = [f"{key} = {_in_words(results[key])}" for key in important]
    listed = " and ".join([", ".join(numbers[:-1]), numbers[-1]] if len(numbers) > 1 else numbers)
    cited = ",".join(re.findall(r"@\w+\{([^,]+),", texts.citation))
    return f"We report {listed}, computed with {page.name} of openworld-metrics{page.method} \\cite{{{cited}}}."


def _in_words(result: Any) -> str:
    value = result.value if isinstance(result, (Rate, Count)) else result
    share = isinstance(result, Rate) and result.share and math.isfinite(value) and 0 <= value <= 1
    return f"{100 * value:.2f} %" if share else short(value)


def _options(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in options.items())
