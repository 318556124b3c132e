"""The words of the code: how docstrings begin, and names that no variable has (see "Words" in CONTRIBUTING)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.package.rooms import PACKAGE

ROOT = Path(__file__).resolve().parents[2]
OTHERS = [file for folder in ("benchmark", "demo", "docs", "spaces") for file in (ROOT / folder).rglob("*.py")]
SCRIPTS = [file for file in (ROOT / "metrics").glob("*/*.py") if file.name != "_kernel.py"]  # a copy of the package
FILES = sorted([*PACKAGE.rglob("*.py"), *OTHERS, *SCRIPTS, ROOT / "setup.py"])
UNCLEAR = re.compile(r"(?<!`)\b(those|what|so many|as often)\b", re.IGNORECASE)  # `what` is a parameter
NAMES = {"found", "given", "told", "asked", "made"}


def docstrings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The docstrings of a module, its classes and its functions, each with its line."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            text = ast.get_docstring(node)
            if text:
                yield node.body[0].lineno, text


def bound_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The names that a module gives to variables, parameters and attributes, each with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr.lstrip("_")
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg


def complaints(text: str, place: object = "") -> list[str]:
    """The lines of a file that break the two rules, with the reason."""
    tree = ast.parse(text)
    begins = [
        f"{place}:{line}: expected a first line that names its subject, without {word[0]!r}, got {words[:60]!r}"
        for line, words in docstrings(tree)
        if (word := UNCLEAR.search(words.partition("\n\n")[0]))
    ]
    named = [
        f"{place}:{line}: expected a name that says what the variable holds, got {name!r}"
        for line, name in bound_names(tree)
        if name in NAMES
    ]
    return begins + named


def test_docstrings_and_variables() -> None:
    assert len(FILES) > 200
    wrong = [line for file in FILES for line in complaints(file.read_text(encoding="utf-8"), file)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "text",
    [
        '"""What a file holds."""',
        '"""The scores of a side, and those of the other."""',
        'class Rows:\n    """Rows of so many numbers."""',
        'def f():\n    """Those that remain."""',
        'class Kept:\n    """So many rows."""',
        "found = 1",
        "for given in []: pass",
        "def f(asked): pass",
        "f = lambda told: told",
        "class Kept:\n    made: int",
        "self._found = 1",
        "[x for found in []]",
    ],
)
def test_finds_each(text: str) -> None:
    assert len(complaints(text)) == 1


def test_leaves_the_rest_alone() -> None:
    docstring = '"""Whatever is found.\n\nThose of others are not; `what` is for errors."""'
    assert not complaints(f"{docstring}\nfound_rows = [row for row in rows]\nx = y.found")
