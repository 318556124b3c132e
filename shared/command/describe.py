"""The commands that list the metrics and describe one, in lines of 80 characters; code and addresses stay whole."""

from __future__ import annotations

import textwrap

import click

from ..loading import METRICS, script
from ..reading.read import takes
from ..texts import texts
from .messages import show
from .options import MetricName

WIDTH = 80
_ENTRY = 4  # the indent of an entry in a docstring; its further lines have more


@click.command("list")
def list_metrics() -> None:
    """List the metrics, with a summary of each."""
    width = max(map(len, METRICS)) + 2
    for name in METRICS:
        show(textwrap.fill(f"{name:{width}}{texts(script(name)).summary}", WIDTH, subsequent_indent=" " * width))


@click.command()
@click.argument("name", type=MetricName(), metavar="NAME")
def describe(name: str) -> None:
    """Describe a metric: its columns, options, results, files and citation."""
    about = texts(script(name))
    inputs, examples, code = about.inputs.partition("\nExamples:")
    prose = [about.summary, about.description, inputs]
    show("\n\n".join([*map(_wrapped, prose), f"{examples}{code}".strip()]) + "\n")
    show("\n\n".join(map(_wrapped, [f"Files:\n\n{takes(name)}", about.citation, *about.urls])))


def _wrapped(text: str) -> str:
    r"""A docstring in lines of 80 characters: an entry is one paragraph, as is a paragraph of text.

    >>> print(_wrapped("Words:\n    groups: the group of each\n        sample."))
    Words:
        groups: the group of each sample.
    """
    paragraphs: list[str] = []
    for line in text.split("\n"):
        before, indent = (paragraphs or [""])[-1], len(line) - len(line.lstrip())
        is_text = not (before.startswith((" ", "@", "}")) or before.endswith(":") or line.startswith(("- ", "@", "}")))
        if before.strip() and line.strip() and (indent > _ENTRY or (indent == 0 and is_text)):
            paragraphs[-1] = f"{before} {line.strip()}"
        else:
            paragraphs.append(line)
    return "\n".join(
        textwrap.fill(
            paragraph,
            WIDTH,
            subsequent_indent=" "
            * (2 * _ENTRY if paragraph.startswith(" ") else 2 if paragraph.startswith("- ") else 0),
            break_long_words=False,
            break_on_hyphens=False,
        )
        for paragraph in paragraphs
    )
