"""The commands that list the metrics and describe one."""

from __future__ import annotations

import click

from ..loading import METRICS, script
from ..reading.read import takes
from ..texts import texts
from .messages import show


@click.command("list")
def list_metrics() -> None:
    """List the metrics, with a summary of each."""
    width = max(map(len, METRICS))
    show("\n".join(f"{name:{width}}  {texts(script(name)).summary}" for name in METRICS))


@click.command()
@click.argument("name", type=click.Choice(METRICS), metavar="NAME")
def describe(name: str) -> None:
    """Describe a metric: its columns, options, results, what its files may hold, and citation."""
    about = texts(script(name))
    parts = (about.summary, about.description, about.inputs, f"Files:\n\n{takes(name)}", about.citation, *about.urls)
    show("\n\n".join(parts))
