"""The results as HTML: headline numbers large, others below headings, each with its better direction."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ...metric.groups import GROUPS, prefixes
from ...metric.results import Count, Rate, Summary, kind_of
from ..figures.computed import Computed
from ..page import Page
from .kinds import Kinds, direction, is_share
from .number import number_html, save_rows, way

MAX_LARGE = 3  # headline numbers
MAX_ROWS = 30  # of a table among the results
_DIGITS = {"short": "0.820", "percent": "82.0 %"}


class Numbers(NamedTuple):
    """The headline numbers, and the others, as HTML."""

    headline: str
    others: str


def numbers_html(
    page: Page,
    summary: Summary,
    help_of: Mapping[str, str],
    images: Sequence[str] = (),
    thresholds: Callable[[float], str | None] = lambda value: None,
    pooled: Computed | None = None,
    named: Mapping[str, Any] | None = None,
) -> Numbers:
    """The results of a page as tables.

    Parameters: summary; help_of, a sentence on each key; images, the names of the images, for tables with a column of
    images; thresholds, a function from a threshold to its text on the slider, or None; pooled, the computation of all
    groups together, if there are groups; named, the results with names in their tables, if known.
    """
    results, kinds = summary.results, summary.kinds()
    tables = {name: value for name, value in (named or summary.as_dict()).items() if isinstance(value, Mapping)}
    lines = {key: _lines(key, value, thresholds) for key, value in results.items() if key not in tables}
    large = ([key for key in lines if re.fullmatch(page.headline, key)] or [*lines])[:MAX_LARGE]
    means = _means(summary, pooled)
    names = [name for key in large for name in lines[key]]
    notes = {name: html.escape(_sentence(page.meaning(name))) or _with_code(help_of.get(name, "")) for name in names}
    headline, others = (
        _section(page, "", large, lines, {**notes, **means}),
        _others(page, large, lines),
    )
    others += [_table_html(name, columns, images, kinds) for name, columns in tables.items()]
    whole = f'<div class="numbers" data-name="{page.name}">{{}}</div>'
    return Numbers(whole.format(headline), whole.format("".join(others)) if others else "")


def _means(summary: Summary, pooled: Computed | None) -> dict[str, str]:
    """A note for each mean of a rate, as HTML: the number of groups, and the pooled value."""
    if summary.groups is None or pooled is None:
        return {}
    number = len({*summary.groups} - {*prefixes([*summary.groups])})
    notes = {}
    for key, result in summary.results.items():
        whole = pooled.summary.results.get(key)
        if isinstance(result, Rate) and isinstance(whole, Rate):
            notes[key] = f"Mean of {number} groups (pooled {number_html(whole.value, share=whole.share)})"
    return notes


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}." if words else ""


def _with_code(text: str) -> str:
    """A sentence of a docstring as HTML.

    >>> _with_code("Without `k_list`, < 1 and >= 0.")
    'Without <code>k_list</code>, &lt; 1 and ≥ 0.'
    """
    plain = html.escape(text.replace(">=", "≥").replace("<=", "≤"))
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", plain)


def _lines(key: str, result: Any, thresholds: Callable[[float], str | None]) -> dict[str, str]:
    """The rows of a result by key: its value, and its threshold if it has one."""
    own = kind_of(result)
    if not isinstance(result, Rate):
        value = result.value if isinstance(result, Count) else result
        shown = thresholds(value) if own["kind"] == "threshold" else None
        return {key: number_html(value, shown=shown) + way(own.get("higher"))}
    text = number_html(result.value, share=result.share)
    if result.interval is not None:
        text += _interval_html(result.interval, result.share)
    if result.error is not None:
        text += f" <small>± {number_html(result.error, share=result.share)}</small>"
    lines = {key: text + way(result.higher)}
    if result.threshold is not None:
        lines[f"{key}_threshold"] = number_html(result.threshold, shown=thresholds(result.threshold))
    return lines


def heading_html(name: str, question: str) -> str:
    """The name of a page, its question, and buttons for the format of all its numbers."""
    buttons = "".join(
        f'<button type="button" data-do="digits" data-digits="{kind}" aria-pressed="{str(kind == "short").lower()}">'
        f"{words}</button>"
        for kind, words in _DIGITS.items()
    )
    switch = f'<div class="switch" role="group" aria-label="How rates are shown" data-name="{name}">{buttons}</div>'
    return f'<div class="heading"><h1>{name}</h1><p>{html.escape(question)}</p>{switch}</div>'


def _others(page: Page, large: Sequence[str], lines: Mapping[str, Mapping[str, str]]) -> list[str]:
    """The sections of the results that are not headlines; results that match no pattern come last."""
    rest = [key for key in lines if key not in large]
    parts = []
    for title, pattern in {**page.sections, "Others" if page.sections else "": ".*"}.items():
        own = [key for key in rest if re.fullmatch(pattern, key)]
        rest = [key for key in rest if key not in own]
        if own:
            parts.append(_section(page, title, own, lines))
    return parts


def _section(
    page: Page,
    title: str,
    keys: Sequence[str],
    lines: Mapping[str, Mapping[str, str]],
    notes: Mapping[str, str] | None = None,
) -> str:
    """A table of results; with `notes`, which are HTML, a large one."""
    caption = f"<caption>{html.escape(title)}</caption>" if title else ""
    rows = "".join(
        _result_row(name, text, (notes or {}).get(name, ""), page.meaning(name))
        for key in keys
        for name, text in lines[key].items()
    )
    kind = "results" if notes is None else "results large"
    return f'<table class="{kind}">{caption}<tbody>{rows}</tbody></table>'


def _result_row(key: str, text: str, note: str, meaning: str) -> str:
    name = html.escape(key)
    below = f"<small>{note}</small>" if note else ""
    title = f' title="{html.escape(meaning)}"' if meaning else ""
    head = f'<th scope="row" data-key="{name}"{title}>{name.replace("_", "_<wbr>")}{below}</th>'
    return f"<tr>{head}<td>{text}</td></tr>"


def _table_html(name: str, columns: Mapping[str, list[Any]], images: Sequence[str], kinds: Kinds) -> str:
    """A collapsed table among the results, with its first rows; if rows belong to images, buttons show these."""
    if images and "image" in columns:  # the buttons have the names
        columns = {key: column for key, column in columns.items() if key != "name"}
    # an interval stands beside its number
    ends = {key: (f"{key}_low", f"{key}_high") for key in columns if {f"{key}_low", f"{key}_high"} <= columns.keys()}
    keys = [key for key in columns if not any(key in both for both in ends.values())]

    def cell(key: str, row: int) -> str:
        value, share = columns[key][row], is_share(key, kinds)
        if key == "image" and images and value < len(images):
            return image_button(value, images[value])
        return number_html(value, share=share) + _interval_html([columns[end][row] for end in ends.get(key, ())], share)

    head = "".join(
        f'<th scope="col"{" data-interval" * (key in ends)}>{html.escape(key)}{_way_of(key, kinds)}</th>'
        for key in keys
    )
    count = len(next(iter(columns.values()), ()))
    shown = min(count, max(MAX_ROWS, len(images)))
    rows = "".join(f"<tr>{''.join(f'<td>{cell(key, row)}</td>' for key in keys)}</tr>" for row in range(shown))
    more = f"<p>… and {count - shown:,} more rows, in the JSON below</p>" if count > shown else ""
    title = f"<summary>{html.escape(name)}, {count:,} rows</summary>"
    table = f'<table class="results"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    label = html.escape(f"{name}, a table")
    wide = f'<div class="wide" tabindex="0" role="region" aria-label="{label}">{table}</div>'
    save = save_rows(html.escape(name), "CSV of these rows" if more else "CSV")
    return f"<details{' open' if name == GROUPS else ''}>{title}{wide}{more}{save}</details>"


def _interval_html(ends: Sequence[float | None], share: bool) -> str:
    """The ends of an interval behind its number; "" without them."""
    if not ends or None in ends:
        return ""
    low, high = (number_html(end, share=share) for end in ends)
    return f' <small class="interval">[{low}, {high}]</small>'


def _way_of(key: str, kinds: Kinds) -> str:
    known = direction(key, kinds)
    return way(None if known is None else known.higher)


def image_button(image: int, name: str) -> str:
    """A button that shows an image; `image` counts from 0."""
    return f'<button type="button" class="see" data-do="image" data-image="{image}">{html.escape(name)}</button>'


def result_help(inputs_description: str) -> dict[str, str]:
    r"""The first sentence on each result, from the Returns section of a metric's docstring.

    >>> result_help("Args:\n    x: y.\n\nReturns:\n    a, b: what they\n        are. More.\n    c@d: other.\n\nRaises:")
    {'a': 'What they are.', 'b': 'What they are.', 'c@d': 'Other.'}
    """
    section = inputs_description.partition("Returns:\n")[2].partition("\n\n")[0]
    entries = re.findall(r"^    (\S[^:]*): ((?:.*)(?:\n {8,}.*)*)", section, flags=re.MULTILINE)
    sentences = {}
    for names, text in entries:
        sentence = re.split(r"(?<=\.)\s+(?=[A-Z])|; ", " ".join(text.split()))[0].rstrip(".")
        for name in names.split(", "):
            sentences[name] = f"{sentence[:1].upper()}{sentence[1:]}."
    return sentences
