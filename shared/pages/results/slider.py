"""The slider of the threshold, its presets and the counts there, as HTML that `browser/page.js` keeps up to date."""

from __future__ import annotations

import html

from ..figures.digits import short
from ..figures.threshold import Sweep


def threshold_html(name: str, sweep: Sweep | None) -> str:
    """A slider over the thresholds of a sweep, at its first preset; nothing for none."""
    if sweep is None or not len(sweep.thresholds):
        return ""
    sweep = sweep.thinned()
    label = f"{name}-threshold-at"
    buttons = "".join(
        f'<button type="button" data-do="preset" data-preset="{html.escape(words)}">{html.escape(words)}</button>'
        for words in sweep.presets
    )
    slider = (
        f'<label for="{label}">Threshold <output>{short(sweep.at("threshold", sweep.start))}</output></label>'
        f'<input id="{label}" type="range" min="0" max="{len(sweep.thresholds) - 1}" value="{sweep.start}" step="1">'
    )
    group = '<div class="switch" role="group" aria-label="Thresholds one looks for">'
    presets = f"{group}{buttons}</div>" if buttons else ""
    rule = f'<p class="hint">{html.escape(sweep.rule)}; the pictures follow.</p>'
    sent = html.escape(sweep.sent())
    return (
        f'<div class="threshold" data-name="{name}" data-sweep="{sent}">{slider}{rule}{presets}'
        f'<div class="wide" tabindex="0" role="region" aria-label="Counts at the threshold">{_counts(sweep)}</div>'
        f"{_rates(sweep)}</div>"
    )


def _counts(sweep: Sweep) -> str:
    """The confusion table."""
    if not sweep.table:
        return ""
    columns = list(next(iter(sweep.table.values())))
    head = "".join(f'<th scope="col">{html.escape(column)}</th>' for column in columns)
    body = ""
    for row, cells in sweep.table.items():
        found = "".join(
            f'<td data-count="{html.escape(name)}">{int(sweep.counts[name][sweep.start]):,}</td>'
            for name in cells.values()
        )
        body += f'<tr><th scope="row">{html.escape(row)}</th>{found}</tr>'
    return f'<table class="results confusion"><thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table>'


def _rates(sweep: Sweep) -> str:
    names = [*sweep.rates, *sweep.values]
    parts = (
        f"<div><dt>{html.escape(name)}</dt>"
        f'<dd data-rate="{html.escape(name)}">{short(sweep.at(name, sweep.start))}</dd></div>'
        for name in names
    )
    return f'<dl class="rates">{"".join(parts)}</dl>'
