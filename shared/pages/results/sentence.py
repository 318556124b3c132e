"""The headline numbers as a sentence for a paper."""

from __future__ import annotations

import math
import re
from typing import Any

from ...metric.numbers import number_text
from ...metric.results import Count, Rate, Summary
from ...texts import Texts
from ..page import Page


def sentence(page: Page, texts: Texts, summary: Summary, *, percent: bool = False) -> str:
    """A sentence with the headline numbers, as fractions or in percent, and the citation."""
    results = {key: result for key, result in summary.results.items() if isinstance(result, (int, float, Rate, Count))}
    important = [key for key in results if re.fullmatch(page.headline, key)] or [*results][:1]
    numbers = [f"{key} = {_in_words(results[key], percent)}" for key in important]
    listed = " and ".join([", ".join(numbers[:-1]), numbers[-1]] if len(numbers) > 1 else numbers)
    cited = ",".join(re.findall(r"@\w+\{([^,]+),", texts.citation))
    return f"We report {listed}, computed with {page.name} of openworld-metrics{page.method} \\cite{{{cited}}}."


def _in_words(result: Any, percent: bool) -> str:
    value = result.value if isinstance(result, (Rate, Count)) else result
    share = percent and isinstance(result, Rate) and result.share and math.isfinite(value) and 0 <= value <= 1
    return f"{number_text(value, 1, percent=True)} %" if share else number_text(value)
