"""The threshold slider with presets and counts, as HTML that `browser/page.js` updates."""

from __future__ import annotations

import html

from ...metric.numbers import number_text
from ..figures.decisions import CONFIDENCE
from ..figures.threshold import Sweep
from .number import moving_html


def threshold_html(name: str, sweep: Sweep | None, pooled: bool = False) -> str:
    """A slider over the thresholds of a sweep, set to its first preset; "" if there is none.

    pooled: whether samples of several groups are pooled
    """
    if sweep is None or not len(sweep.thresholds):
        return ""
    sweep = sweep.thinned()
    text, last = sweep.text(sweep.start), len(sweep.thresholds) - 1
    spoken = html.escape(
        ", ".join([text, *(f"{name} {number_text(sweep.at(name, sweep.start))}" for name in _names(sweep))])
    )
    slider = (
        f'<input type="range" aria-label="Threshold" aria-valuetext="{spoken}" min="0" max="{last}" step="1" '
        f'value="{sweep.start}">'
    )
    rule = html.escape(sweep.rule + (" if score >" if sweep.counts else ""))
    typed = (
        f'<label>{rule} <input type="text" inputmode="decimal" data-typed value="{text}" autocomplete="off" '
        f'size="9"></label>'
    )
    note = '<span class="hint">All groups pooled.</span>' if pooled else ""
    if not sweep.whole:
        note += (
            f'<span class="hint">A number typed in becomes the nearest of {len(sweep.thresholds):,} thresholds.</span>'
        )
    note += f'<span class="hint clicks">Or click a curve{_LISTS if sweep.flagged else ""}.</span>'
    sent = html.escape(sweep.sent())
    return (
        f'<div class="threshold" data-name="{name}" data-sweep="{sent}">{slider}'
        f'<div class="decide">{typed}{_presets(sweep)}{_promises(sweep)}{note}</div>'
        f"{_SENTENCE if sweep.promises else ''}"
        f'<div class="decided"><div class="wide" tabindex="0" role="region" aria-label="Counts at the threshold">'
        f"{_counts(sweep)}</div>{_rates(sweep)}</div></div>"
    )


_LISTS = "; click a bar or a count to see its samples"


def opened_at(slider: str, threshold: str) -> str:
    """The slider, to be moved to a threshold as soon as it is shown; page.js moves it, and the figures with it."""
    return slider.replace("<div ", f'<div data-at="{html.escape(threshold)}" ', 1) if threshold else slider


_SENTENCE = (
    '<p class="promise" role="status" hidden><span></span> '
    '<button type="button" class="copy" data-do="sentence" aria-label="Copy the sentence"></button></p>'
)


def _presets(sweep: Sweep) -> str:
    """Buttons for common thresholds."""
    buttons = "".join(
        f'<button type="button" data-do="preset" data-preset="{html.escape(words)}" '
        f'aria-pressed="{str(place == sweep.start).lower()}">{html.escape(words)}</button>'
        for words, place in sweep.presets.items()
        if words not in sweep.promises
    )
    return f'<div class="switch" role="group" aria-label="Common thresholds">{buttons}</div>' if buttons else ""


def _promises(sweep: Sweep) -> str:
    """A list of thresholds with guarantees on new data."""
    if not sweep.promises:
        return ""
    options = "".join(f"<option>{html.escape(words)}</option>" for words in sweep.promises)
    label = f"A threshold that holds on new data, with {CONFIDENCE} % confidence"
    return (
        f'<select data-promise aria-label="{label}"><option value="">A promise on new data…</option>{options}</select>'
    )


def _counts(sweep: Sweep) -> str:
    """The confusion matrix as a table."""
    if not sweep.table:
        return ""
    columns = list(next(iter(sweep.table.values())))
    head = "".join(f'<th scope="col">{html.escape(column)}</th>' for column in columns)
    body = ""
    for row, cells in sweep.table.items():
        numbers = "".join(f"<td>{_count(sweep, row, column, name)}</td>" for column, name in cells.items())
        body += f'<tr><th scope="row">{html.escape(row)}</th>{numbers}</tr>'
    return f'<table class="results confusion"><thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table>'


def _count(sweep: Sweep, row: str, column: str, name: str) -> str:
    """A count, as a button that lists its samples where they are known."""
    count, shown = f'data-count="{html.escape(name)}"', f"{int(sweep.counts[name][sweep.start]):,}"
    if not sweep.flagged:
        return f"<span {count}>{shown}</span>"
    kind = f'data-kind="{html.escape(row)}" data-above="{str(column == sweep.flagged).lower()}"'
    return (
        f'<button type="button" class="number cell" data-do="list" {kind} {count} '
        f'aria-description="List these samples">{shown}</button>'
    )


def _names(sweep: Sweep) -> list[str]:
    """The names of the numbers at a threshold."""
    return [*sweep.rates, *sweep.values]


def _rates(sweep: Sweep) -> str:
    parts = (
        f"<div><dt>{html.escape(name)}</dt>"
        f"<dd>{moving_html(name, sweep.at(name, sweep.start), share=sweep.is_share(name))}</dd></div>"
        for name in _names(sweep)
    )
    return f'<dl class="rates">{"".join(parts)}</dl>'
