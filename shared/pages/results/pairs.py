"""Show which detectors are better: marks in the table, differences as sentences, and their intervals as a figure."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Any

from ...faces.tables import OVERALL
from ...metric.results import Key, Rate, Summary
from ..page import Page
from .number import difference_html, save_rows

Pairs = Mapping[tuple[str, str], Mapping[Key, Mapping[str, Any]]]  # rows of comparisons, by the names of both detectors
MAX_SENTENCES = 5  # the most rivals of the best that get a sentence
MAX_PAIRS = 200  # the most rows of the table of all pairs
_RULE = (
    "Bold marks the best, and every detector that is not clearly worse than it "
    "(paired bootstrap on the same samples, 1,000 resamples)."
)
_HEAD = ("pair", "group", "key", "difference", "interval", "better")


def difference(pairs: Pairs, first: str, second: str, key: Key) -> Mapping[str, Any] | None:
    """The difference first − second with its interval and the better of the two; None if it was not computed."""
    if (first, second) in pairs:
        return pairs[first, second].get(key)
    row = pairs[second, first].get(key)
    if row is None:
        return None
    better = {"first": "second", "second": "first", None: None}[row["better"]]
    return {**row, "difference": -row["difference"], "low": -row["high"], "high": -row["low"], "better": better}


def best_of(summaries: Mapping[str, Summary], key: Key) -> str | None:
    """The detector with the best value of a rate, the first of equals; None for a rate without a direction."""
    rates = ((name, summary.rates().get(key)) for name, summary in summaries.items())
    known = {name: rate for name, rate in rates if rate is not None and rate.higher is not None}
    values = {name: rate.value if rate.higher else -rate.value for name, rate in known.items()}
    return max(values, key=lambda name: values[name]) if values else None


def marks(summaries: Mapping[str, Summary], pairs: Pairs) -> frozenset[tuple[str, str, str]]:
    """The places (detector, group, key) of the best values, and of all that do not differ significantly from them."""
    marked = set()
    for key in {key: None for summary in summaries.values() for key in summary.rates()}:
        best = best_of(summaries, key)
        if best is None:
            continue
        rows = {name: difference(pairs, best, name, key) for name in summaries if name != best}
        if None in rows.values():
            continue
        place = (OVERALL, key) if isinstance(key, str) else key
        marked.add((best, *place))
        marked |= {(name, *place) for name, row in rows.items() if row is not None and row["better"] is None}
    return frozenset(marked)


def pairs_html(page: Page, summaries: Mapping[str, Summary], pairs: Pairs) -> str:
    """A sentence and an interval for each rival of the best, the rule of the marks, and a collapsed table of pairs."""
    if not pairs:
        return ""
    rates = next(iter(summaries.values())).rates()
    keys = [key for key, rate in rates.items() if isinstance(key, str) and rate.higher is not None]
    key = next((key for key in keys if re.fullmatch(page.headline, key)), keys[0] if keys else "")
    best = best_of(summaries, key)
    if best is None:
        return ""
    rows = {name: difference(pairs, best, name, key) for name in summaries if name != best}
    shown = {name: row for name, row in [*rows.items()][:MAX_SENTENCES] if row is not None}
    reach = max((abs(row[end]) for row in shown.values() for end in ("low", "high")), default=0) or 1.0
    lines = "".join(_line_html((best, name), key, row, reach, rates[key].share) for name, row in shown.items())
    return f'<table class="forest"><tbody>{lines}</tbody></table><p class="hint">{_RULE}</p>{_all_pairs(rates, pairs)}'


def _line_html(names: tuple[str, str], key: str, row: Mapping[str, Any], reach: float, share: bool) -> str:
    """A row with a sentence, and the interval drawn across the line of no difference."""
    best, rival = names
    verdict = {"first": f"{best} is better", "second": f"{rival} is better", None: "no clear difference"}[row["better"]]
    said = f"{difference_html(row['difference'], share=share, unit=True)} {_interval(row, share)}"
    low, high, at = (50 + 50 * row[name] / reach for name in ("low", "high", "difference"))
    track = (
        f'<div class="track" aria-hidden="true"><i style="left:{low:.1f}%;width:{high - low:.1f}%"></i>'
        f'<b style="left:{at:.1f}%"></b></div>'
    )
    both, key, verdict = map(html.escape, (f"{best} vs {rival}", key, verdict))
    words = f"<strong>{both}:</strong> {key} {said}, <strong>{verdict}</strong>"
    return f"<tr><td>{words}</td><td>{track}</td></tr>"


def _interval(row: Mapping[str, Any], share: bool) -> str:
    low, high = (difference_html(row[end], share=share) for end in ("low", "high"))
    return f'<span class="interval">[{low}, {high}]</span>'


def _all_pairs(rates: Mapping[Key, Rate], pairs: Pairs) -> str:
    """A collapsed table of every pair and every rate."""
    head = "".join(f'<th scope="col">{name}</th>' for name in _HEAD)
    lines = []
    for (first, second), rows in pairs.items():
        for key, row in rows.items():
            group, name = ("", key) if isinstance(key, str) else key
            which = {"first": first, "second": second, None: "no clear difference"}[row["better"]]
            share = key in rates and rates[key].share
            before, after = map(html.escape, (f"{first} − {second}", which))
            numbers = (difference_html(row["difference"], share=share, unit=True), _interval(row, share))
            cells = (before, html.escape(group), html.escape(name), *numbers, after)
            lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    more = f"<p>… and {len(lines) - MAX_PAIRS:,} more</p>" if len(lines) > MAX_PAIRS else ""
    body = "".join(lines[:MAX_PAIRS])
    table = f'<table class="results compared"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    region = f'<div class="wide" tabindex="0" role="region" aria-label="All pairs">{table}</div>'
    save = save_rows("pairs", "CSV of these rows" if more else "CSV")
    return f"<details><summary>All pairs</summary>{region}{more}{save}</details>"
