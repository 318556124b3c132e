"""Format docstrings for the API pages: examples as code; parameters, returns and errors as paragraphs."""

from __future__ import annotations

import re
from typing import Any

import griffe

from docs.building.api import documented

WORDS = re.compile(r"^(Parameters|Columns|Options|Results):|^(Returns|Raises|Source:|Sources:)", re.MULTILINE)
EXAMPLE = re.compile(r"^>>> .*?(?=^\s*$|\Z)", re.MULTILINE | re.DOTALL)
ALIGNED, ALIGNED_GAP = re.compile(r"\S {2,}\S"), re.compile(r"(?<=\S) {2,}(?=\S)")
NAME = re.compile(r"`(\w+)`")
ENTRY = re.compile(r"^([a-z_]\w*(?:(?:, | to )[a-z_]\w*)*): (?=\S)")  # of a list of names and their meanings


def as_markdown(text: str) -> str:
    """The text of a docstring as Markdown."""
    parts = re.split(r"(\n\n)", text.strip())
    return "".join(_part(part) for part in parts)


def _part(part: str) -> str:
    if part.lstrip().startswith(">>> "):
        return f"```pycon\n{part}\n```"
    if part.startswith("    ") or part == "\n\n":
        return part
    if ENTRY.match(part):
        return "\n".join(_entry(line) for line in part.splitlines())
    if _is_aligned(part):
        return _as_list(part)
    if not WORDS.search(part) and _is_formula(part):
        return f"```text\n{part}\n```"
    text = WORDS.sub(lambda word: f"\n**{word[0].rstrip(':')}**" + (":" if ":" in word[0] else ""), part)
    return _linked(text.strip("\n"))


def _linked(text: str) -> str:
    """A text with links from names to their documentation."""
    paths = documented()
    return NAME.sub(lambda name: f"[{name[0]}][{paths[name[1]]}]" if name[1] in paths else name[0], text)


def _entry(line: str) -> str:
    """A line of a list as a Markdown item, or as the continuation of an item."""
    entry = ENTRY.match(line)
    return f"- `{entry[1]}`: {_linked(line[entry.end() :])}" if entry else f"    {_linked(line.strip())}"


def _is_aligned(part: str) -> bool:
    """Whether a paragraph is a table of columns aligned by spaces."""
    return sum(bool(ALIGNED.search(line)) for line in part.splitlines()) > 1


def _as_list(part: str) -> str:
    """An aligned table as a list of names and meanings, or as it is if it has formulas or more than two columns."""
    entries: list[list[str]] = []
    for line in part.splitlines():
        cells = [line.strip()] if line.startswith(" ") else ALIGNED_GAP.split(line)
        if len(cells) > 2 or " = " in cells[0]:
            return f"```text\n{part}\n```"
        if line.startswith(" "):
            entries[-1] += cells
        else:
            entries.append(cells)
    return "\n".join(f"- `{name.rstrip(':')}`: {_linked(' '.join(meaning))}" for name, *meaning in entries)


def _is_formula(part: str) -> bool:
    """Whether a paragraph is a formula between sentences."""
    first = part.splitlines()[0]
    return (
        not first.endswith((".", ",")) and re.search(r"\w(\([^)]*\))? += ", first) is not None and part[-1] not in ".:"
    )


class Docstrings(griffe.Extension):
    """Rewrites docstrings as they are collected."""

    def on_instance(self, *, obj: Any, **kwargs: Any) -> None:
        """Rewrite the docstring of an object."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)
