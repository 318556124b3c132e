"""Lay out a report as one HTML file: head, contents and sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from functools import cache
from html import escape
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from .forms import MEDIA

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main class="report">
<header>
<p class="small quiet mono">{command}</p>
<h1>{title}</h1>
<p class="meta">{facts}</p>
</header>
<nav class="contents" aria-label="Contents">{contents}</nav>
{headline}
{sections}
</main>
<script>
{script}</script>
</body>
</html>
"""


class Section(NamedTuple):
    """A section: its name in the contents, its heading, its HTML, and a sentence in grey below the heading."""

    name: str
    title: str
    body: str
    lead: str = ""


def report_html(
    title: str,
    command: str,
    facts: Sequence[str],
    headline: str,
    sections: Sequence[Section],
    *,
    date: datetime | None = None,
) -> str:
    """The HTML of a report.

    Parameters: title; command, what made it, such as "openworld-metrics detect"; facts, what was evaluated (names of
    the data, how many images), to which the date and the version of this package are added; headline, of `headline`;
    sections, of which the last is that of `details`; date, by default now.
    """
    now = (date or datetime.now(timezone.utc)).astimezone(timezone.utc)
    said = [f"{now.day} {now:%B %Y, %H:%M} UTC", *facts, _made_by()]
    contents = "".join(f'<a href="#{_id(part)}">{escape(part.name)}</a>' for part in sections)
    return _PAGE.format(
        title=escape(title),
        command=escape(command),
        facts="".join(f"<span>{escape(fact)}</span>" for fact in said),
        contents=contents,
        headline=headline,
        sections="\n".join(map(_section, sections)),
        style=_style(),
        script=_file("report.js"),
    )


def details(folds: Mapping[str, str]) -> Section:
    """The last section: collapsed parts by name, for details that most readers skip. Prints show all of them."""
    body = "".join(
        f'<details class="fold"><summary>{escape(name)}</summary>{html}</details>' for name, html in folds.items()
    )
    return Section("Details", "Details", body)


def _section(part: Section) -> str:
    lead = f'<p class="lead">{escape(part.lead)}</p>' if part.lead else ""
    return f'<section id="{_id(part)}"><h2>{escape(part.title)}</h2>{lead}\n{part.body}</section>'


def _id(part: Section) -> str:
    return "-".join(part.name.lower().split())


def _made_by() -> str:
    """The package and its version, which a Space, where a copy of it lies, does not know."""
    try:
        return f"openworld-metrics {version('openworld-metrics')}"
    except PackageNotFoundError:
        return "openworld-metrics"


@cache
def _style() -> str:
    """The style of a report, with the rules of wide tables on each page that may be too narrow for one."""
    rules = _file("records.css")
    return _file("report.css") + "".join(
        f"@media {media} {{\n{rules.replace('FORM', form)}}}\n" for form, media in MEDIA.items()
    )


def _file(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
