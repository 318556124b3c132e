"""Where errors go, as HTML: a bar of the fates of known and of unknown objects, and the table of errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from .colors import FATE_COLORS
from .page import table_html

_Table = Mapping[str, Sequence[Any]]
_STYLE = """<style>
.fates { display: flex; height: 2.2rem; margin: 0.3rem 0 1.2rem; gap: 2px; }
.fates span { display: block; min-width: 2px; }
.table table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.table th, .table td { padding: 0.2rem 0.6rem; text-align: right; }
.table tr > :first-child { text-align: left; }
</style>"""


def fates_html(fates: _Table, errors: _Table) -> str:
    """The two bars, what their colours mean, and the table of errors with what mending each would gain.

    Parameters: the tables "fates" and "errors" of openset_detection.
    """
    rows = [*zip(fates["objects"], fates["fate"], fates["count"], fates["share"])]
    bars = [_bar(side, [row[1:] for row in rows if row[0] == side]) for side in dict.fromkeys(fates["objects"])]
    legend = [
        f'<span class="key"><i style="border-color: {FATE_COLORS[fate]}"></i> {fate}</span>'
        for fate in dict.fromkeys(fates["fate"])
    ]
    note = (
        "What mending one kind alone would add; gains do not add up. What is badly placed or misnamed becomes right,"
        " false positives of other kinds go, missed objects no longer count."
    )
    return "\n".join(
        [
            "<h2>Where the errors go</h2>",
            _STYLE,
            *bars,
            f"<p>{' '.join(legend)}</p>",
            table_html(errors),
            f"<p>{note}</p>",
        ]
    )


def _bar(side: str, fates: Sequence[tuple[str, int, float]]) -> str:
    total = sum(count for _, count, _ in fates)
    said = "; ".join(f"{fate} {count} ({share:.0%})" for fate, count, share in fates if count)
    parts = "".join(
        f'<span style="flex: {count}; background: {FATE_COLORS[fate]}" title="{escape(fate)}: {count}"></span>'
        for fate, count, _ in fates
        if count
    )
    text = f"{total} {side} objects{': ' if said else ''}{escape(said)}"
    return f'<div>{text}</div>\n<div class="fates" role="img" aria-label="{text}">{parts}</div>'
