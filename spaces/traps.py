"""Find lines of a metric script that evaluate's loader would misread, before users do.

The loader finds imports with regular expressions at column 0, one import a line, and treats them as required libraries
or files to copy. Where that differs from Python, a script fails only when it is loaded.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path


def traps(script: Path) -> Iterator[str]:
    """Yield the lines of a metric script that evaluate's loader would misread."""
    text = script.read_text(encoding="utf-8")
    tree = ast.parse(text)
    for message, line in [*_import_traps(script, tree, text.splitlines()), *_quote_traps(tree, text.splitlines())]:
        yield f"{script.name}:{line}: {message}"
    camel = "".join(word.capitalize() for word in script.stem.split("_"))
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    if camel not in classes:
        yield f"{script.name}: expected a class {camel}, since evaluate takes the metric's name from it; got {classes}"


def _import_traps(script: Path, tree: ast.Module, lines: list[str]) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        relative = isinstance(node, ast.ImportFrom) and node.level > 0
        if relative and isinstance(node, ast.ImportFrom):
            yield from _relative_traps(script, node)
        if node.col_offset:
            continue
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        if any("#" in line for line in lines[node.lineno - 1 : node.end_lineno]):
            yield "no comment on an import; the loader reads it as a '# From:' address", node.lineno
        if len(modules) > 1:
            yield "one import a line; the loader reads the comma into the name", node.lineno
        if not relative and any(module.split(".")[0] == "torch" for module in modules):
            yield "import torch in a function, not at column 0, where it becomes mandatory", node.lineno
        if isinstance(node, ast.ImportFrom) and not relative and modules[0].split(".")[0] == "evaluate":
            yield "write `import evaluate`; a class imported by name is taken for the metric", node.lineno


def _relative_traps(script: Path, node: ast.ImportFrom) -> Iterator[tuple[str, int]]:
    if node.col_offset:
        yield "relative imports at column 0 only; the loader does not copy this file", node.lineno
    if node.level > 1 or not node.module or "." in node.module:
        yield "write `from ._kernel import name`; the loader copies only flat files beside the script", node.lineno
    elif node.module == script.stem:
        yield "a kernel file must not have the script's name", node.lineno
    elif node.module != "_kernel":
        yield f"write `from ._kernel import name`; there is no {node.module}.py beside the script", node.lineno


def _quote_traps(tree: ast.Module, lines: list[str]) -> Iterator[tuple[str, int]]:
    """Yield imports that the loader misreads, since it toggles "in a docstring" on lines with one triple quote."""
    inside = False
    imports = {n.lineno for n in ast.walk(tree) if isinstance(n, (ast.Import, ast.ImportFrom))}
    for number, line in enumerate(lines, 1):
        if len(re.findall(r'"""', line)) == 1:
            inside = not inside
        if inside and number in imports:
            yield 'a line above has an odd count of """, so the loader does not see this import', number
        if not inside and number not in imports and re.match(r"(import|from)\s", line):
            yield "the loader takes this line of a string for an import", number
