"""The numbers as HTML: the important ones large, the others below headings, each with the way that is better."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...reports.directions import direction
from ..figures.digits import short
from ..page import Page

MAX_CURVE = 5  # values of a list that the table shows
MAX_ROWS = 30  # of a table among the results
_DIGITS = {"short": "3 decimals", "percent": "percent", "full": "all digits"}


def numbers_html(page: Page, results: Mapping[str, Any], said: Mapping[str, str], images: Sequence[str] = ()) -> str:
    """The results of a page as tables.

    Parameters: results by key; said, what is said of each key below it; images, the names of the images that a table
    with a column of them goes over.
    """
    tables = {name: value for name, value in results.items() if isinstance(value, Mapping)}
    keys = [name for name in results if name not in tables]
    large = [key for key in keys if re.fullmatch(page.headline, key)] or keys[:1]
    parts = [_section(page, "", large, results, said), *_others(page, keys, large, results)]
    parts += [_table_html(name, columns, images) for name, columns in tables.items()]
    return f'<div class="numbers" data-name="{page.name}">{_switch()}{"".join(parts)}</div>'


def _switch() -> str:
    """Buttons that say with how many digits the numbers are shown."""
    buttons = (
        f'<button type="button" data-do="digits" data-digits="{kind}" aria-pressed="{str(kind == "short").lower()}">'
        f"{words}</button>"
        for kind, words in _DIGITS.items()
    )
    return f'<div class="switch" role="group" aria-label="How numbers are shown">{"".join(buttons)}</div>'


def _others(page: Page, keys: Sequence[str], large: Sequence[str], results: Mapping[str, Any]) -> list[str]:
    """The sections of results that are not large; a result that no pattern fits comes last."""
    rest = [key for key in keys if key not in large]
    parts = []
    for title, pattern in {**page.sections, "Others" if page.sections else "": ".*"}.items():
        own = [key for key in rest if re.fullmatch(pattern, key)]
        rest = [key for key in rest if key not in own]
        if own:
            parts.append(_section(page, title, own, results))
    return parts


def _section(
    page: Page, title: str, keys: Sequence[str], results: Mapping[str, Any], said: Mapping[str, str] | None = None
) -> str:
    """A table of results; a large one, with what is said of each, where that is given."""
    caption = f"<caption>{html.escape(title)}</caption>" if title else ""
    rows = "".join(_result_row(key, results[key], (said or {}).get(key, ""), page.meaning(key)) for key in keys)
    kind = "results" if said is None else "results large"
    return f'<table class="{kind}">{caption}<tbody>{rows}</tbody></table>'


def _result_row(key: str, value: Any, said: str, meaning: str) -> str:
    name = html.escape(key)
    below = f"<small>{html.escape(said)}</small>" if said else ""
    title = f' title="{html.escape(meaning)}"' if meaning else ""
    head = f'<th scope="row" data-key="{name}"{title}>{name.replace("_", "_<wbr>")}{below}</th>'
    return f"<tr>{head}<td>{cell(key, value)}{way(key)}</td></tr>"


def way(key: str) -> str:
    """An arrow in the direction that is better, if there is one."""
    known = direction(key)
    if known is None:
        return ""
    words = "higher is better" if known.higher else "lower is better"
    return f' <i class="way" role="img" aria-label="{words}" title="{words}">{"↑" if known.higher else "↓"}</i>'


def cell(key: str, value: Any) -> str:
    """A number with three decimals; in full it is its title."""
    if isinstance(value, list):
        more = f" and {len(value) - MAX_CURVE:,} more" if len(value) > MAX_CURVE else ""
        return ", ".join(cell(key, item) for item in value[:MAX_CURVE]) + more
    if isinstance(value, str):
        return html.escape(value)
    if value is None:
        return "–"
    known = direction(key)
    kind = ' class="rate"' if known is not None and known.rate and 0 <= value <= 1 else ""
    return f'<span{kind} title="{value!r}" data-full="{value!r}">{short(value)}</span>'


def _table_html(name: str, columns: Mapping[str, list[Any]], images: Sequence[str]) -> str:
    """A table among the results, folded, with its first rows; where they are of images, they show these."""
    head = "".join(f'<th scope="col">{html.escape(column)}{way(column)}</th>' for column in columns)
    lines = [*zip(*columns.values())]
    shown = max(MAX_ROWS, len(images))
    rows = []
    for line in lines[:shown]:
        cells = [f"<td>{cell(key, value)}</td>" for key, value in zip(columns, line)]
        if images and next(iter(columns)) == "image" and line[0] < len(images):
            cells[0] = f"<td>{image_button(line[0], images[line[0]])}</td>"
        rows.append(f"<tr>{''.join(cells)}</tr>")
    more = f"<p>… and {len(lines) - shown:,} more rows, in the JSON below</p>" if len(lines) > shown else ""
    title = f"<summary>{html.escape(name)}, {len(lines):,} rows</summary>"
    table = f'<table class="results"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    label = html.escape(f"{name}, a table")
    wide = f'<div class="wide" tabindex="0" role="region" aria-label="{label}">{table}</div>'
    return f"<details>{title}{wide}{more}</details>"


def image_button(image: int, name: str) -> str:
    """A button that shows an image; images count from 1, as the slider does."""
    return f'<button type="button" class="see" data-do="image" data-image="{image}">{html.escape(name)}</button>'


def result_help(inputs_description: str) -> dict[str, str]:
    r"""The first sentence on each result, from the Returns section of a metric's docstring.

    >>> result_help("Args:\n    x: y.\n\nReturns:\n    a, b: what they\n        are. More.\n    c@d: other.\n\nRaises:")
    {'a': 'What they are.', 'b': 'What they are.', 'c@d': 'Other.'}
    """
    section = inputs_description.partition("Returns:\n")[2].partition("\n\n")[0]
    entries = re.findall(r"^    (\S[^:]*): ((?:.*)(?:\n {8,}.*)*)", section, flags=re.MULTILINE)
    found = {}
    for names, text in entries:
        sentence = re.split(r"(?<=\.)\s+(?=[A-Z])|; ", " ".join(text.split()))[0].rstrip(".")
        for name in names.split(", "):
            found[name] = f"{sentence[:1].upper()}{sentence[1:]}."
    return found
