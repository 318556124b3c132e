"""The README and the pages of docs/ as steps: what a reader would type, in order."""

from __future__ import annotations

import ast
import doctest
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PAGES = {str(page.relative_to(ROOT)): page for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]}
CARDS = {str(card.relative_to(ROOT)): card for card in sorted((ROOT / "metrics").glob("*/README.md"))}
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Step(NamedTuple):
    """A block of a page.

    kind: "examples", "script" or "commands"
    text: the block, and of scripts the blocks that go on without an import
    printed: of commands, what the page says that they print
    """

    kind: str
    text: str
    printed: str = ""


def steps(page: str) -> list[Step]:
    """The blocks of a page that run."""
    found: list[Step] = []
    for language, text in FENCE.findall(PAGES[page].read_text(encoding="utf-8")):
        if language == "python" and ">>>" in text:
            found.append(Step("examples", text))
        elif language == "python" and "import " not in text:
            found[-1] = found[-1]._replace(text=f"{found[-1].text}\n\n{text}")
        elif language == "python":
            found.append(Step("script", text))
        elif language in ("sh", ""):
            found.append(Step("commands", text))
        elif language == "text" and found and found[-1].kind == "commands":
            found[-1] = found[-1]._replace(printed=text)
        elif language not in ("text", "bibtex"):
            raise AssertionError(f"{page}: a block that no test runs: {language!r}, {text!r}")
    return found


def commands(text: str) -> Iterator[str]:
    """The commands of a block, one a line, without comments."""
    for line in text.replace("\\\n", " ").splitlines():
        if command := line.partition(" #")[0].strip():
            yield re.sub(r"\s+", " ", command)


def modules(step: Step) -> set[str]:
    """The packages that a block imports, but those of Python."""
    if step.kind == "commands":
        return set()
    text = step.text
    if step.kind == "examples":
        text = "\n".join(example.source for example in doctest.DocTestParser().get_examples(text))
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = [node.module or "" for node in imports if isinstance(node, ast.ImportFrom)]
    names += [alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names]
    return {name.partition(".")[0] for name in names} - sys.stdlib_module_names
