"""Join the definitions of `closure` into one file, in order.

Each is copied as it is written, with its comments, and the docstring of its file becomes a comment above them. Imports
of libraries that they mention are merged at the top; imports within the package are dropped, since their names are
defined above.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterable, Set
from itertools import groupby

from closure import Module

WIDTH = 120


def amalgam(modules: list[Module], header: str) -> str:
    """The text of one module that joins `modules`, each after the modules that it imports."""
    mentioned = {name for module in modules for statement in module.statements for name in statement.mentions}
    head = [header, *_merged((node for module in modules for node in module.libraries), mentioned)]
    return "\n\n".join(head) + "".join(f"\n\n\n{_section(module)}" for module in modules) + "\n"


def _merged(imports: Iterable[ast.Import | ast.ImportFrom], mentioned: Set[str]) -> list[str]:
    """The imports of mentioned names, once each, sorted in three parts: __future__, the standard library, others."""
    lines: set[str] = set()
    members: dict[str, set[str]] = defaultdict(set)
    for node in imports:
        of_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        names = {
            f"{alias.name} as {alias.asname}" if alias.asname else alias.name
            for alias in node.names
            if of_future or (alias.asname or alias.name.partition(".")[0]) in mentioned
        }
        if isinstance(node, ast.Import):
            lines |= {f"import {name}" for name in names}
        else:
            members[str(node.module)] |= names
    lines |= {_from_import(module, names) for module, names in members.items() if names}

    def order(line: str) -> tuple[int, bool, str]:
        library = line.split()[1].partition(".")[0]
        part = 0 if library == "__future__" else 1 if library in sys.stdlib_module_names else 2
        return part, line.startswith("from"), line

    parts = groupby(sorted(lines, key=order), lambda line: order(line)[0])
    return ["\n".join(part) for _, part in parts]


def _from_import(module: str, names: set[str]) -> str:
    """The import of names, wrapped if it is too long for a line."""
    line = f"from {module} import {', '.join(sorted(names))}"
    if len(line) > WIDTH:
        line = f"from {module} import (\n" + "".join(f"    {name},\n" for name in sorted(names)) + ")"
    return line


def _section(module: Module) -> str:
    """A rule with the name of the file, its docstring as a comment, and its needed statements."""
    body = "\n".join(statement.text for statement in module.statements).strip("\n")
    comment = "".join(f"# {line}\n" for line in module.docstring.splitlines())
    return f"{f'# ---- {module.file} '.ljust(WIDTH, '-')}\n{comment}\n{body}"
