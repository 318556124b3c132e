"""Join the modules of `closure` into one file, in order.

The body of each file is copied verbatim, so comments, doctests and formatting survive, and its docstring becomes a
comment above it. Imports of libraries are merged at the top; imports within the package are dropped, since their names
are defined above. All names then share one scope, so a name with two meanings is refused.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections import defaultdict
from collections.abc import Iterable
from itertools import groupby

from closure import AmalgamationError, Module

WIDTH = 120


def amalgam(modules: list[Module], header: str) -> str:
    """The text of one module that joins `modules`, each after the modules that it imports."""
    check_names(modules)
    head = [header, *_merged(node for module in modules for node in module.libraries)]
    return "\n\n".join(head) + "".join(f"\n\n\n{_section(module)}" for module in modules) + "\n"


def check_names(modules: list[Module]) -> None:
    """Refuse a name that has different meanings in two files, or a meaning in Python itself."""
    meanings = {name: ("", "Python itself") for name in dir(builtins) if not name.startswith("_")}
    for module in modules:
        for name, meaning, line in module.bindings:
            place = f"{module.file}:{line}"
            first, where = meanings.setdefault(name, (meaning, place))
            if first != meaning:
                raise AmalgamationError(f"{name} means one thing in {where}, another in {place}: rename one of them")


def _merged(imports: Iterable[ast.Import | ast.ImportFrom]) -> list[str]:
    """The imports without duplicates, sorted in three parts: __future__, the standard library, others."""
    lines: set[str] = set()
    members: dict[str, set[str]] = defaultdict(set)
    for node in imports:
        names = {f"{alias.name} as {alias.asname}" if alias.asname else alias.name for alias in node.names}
        if isinstance(node, ast.Import):
            lines |= {f"import {name}" for name in names}
        else:
            members[str(node.module)] |= names
    lines |= {_from_import(module, names) for module, names in members.items()}

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
    """A rule with the name of the file, its docstring as a comment, and its body."""
    comment = "".join(f"# {line}".rstrip() + "\n" for line in ("", *module.docstring.splitlines()))
    return f"{f'# ---- {module.file} '.ljust(WIDTH, '-')}\n{comment}\n{module.rest}"
