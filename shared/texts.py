"""The texts of a metric's script, read without importing it, and so without evaluate."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple


class Texts(NamedTuple):
    """The texts of a metric's script: a line, a paragraph, its columns and options, its citation and references."""

    summary: str
    description: str
    inputs: str
    citation: str
    urls: list[str]


def texts(path: Path) -> Texts:
    """Read the texts of a metric's script, which are literals."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = {
        target.id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    keywords = (node for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "reference_urls")
    urls = [url for keyword in keywords for url in ast.literal_eval(keyword.value)]
    description, inputs, citation = (
        constants[name].strip() for name in ("_DESCRIPTION", "_KWARGS_DESCRIPTION", "_CITATION")
    )
    return Texts(str(ast.get_docstring(tree)).splitlines()[0], description, inputs, citation, urls)
