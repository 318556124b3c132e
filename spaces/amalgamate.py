"""Join the modules of `closure` into one, in their order.

The rest of each file is copied as a slice of its text, so comments, doctests and formatting survive. Its docstring
becomes a comment above it. Imports of libraries are merged on top; imports within the package are dropped, since the
names that they bind are defined above. All names then share one scope, so a name with two meanings is refused.
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
    """The text of one module with all of these, in their order, each after the modules that it imports."""
    check_names(modules)
    head = [header, *_merged(node for module in modules for node in module.libraries)]
    return "\n\n".join(head) + "".join(f"\n\n\n{_section(module)}" for module in modules) + "\n"


def check_names(modules: list[Module]) -> None:
    """Refuse a name to which two files give two meanings, or to which Python itself gives another."""
    meanings = {name: ("", "Python itself") for name in dir(builtins) if not name.startswith("_")}
    for module in modules:
        for name, meaning, line in module.bindings:
            place = f"{module.file}:{line}"
            first, where = meanings.setdefault(name, (meaning, place))
            if first != meaning:
                raise AmalgamationError(f"{name} means one thing in {where}, another in {place}: rename one of them")


def _merged(imports: Iterable[ast.Import | ast.ImportFrom]) -> list[str]:
    """Each import once, sorted, in three parts: of __future__, of the standard library, of others."""
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
    """The import of some names, folded where it is too long for a line."""
    line = f"from {module} import {', '.join(sorted(names))}"
    if len(line) > WIDTH:
        line = f"from {module} import (\n" + "".join(f"    {name},\n" for name in sorted(names)) + ")"
    return line


def _section(module: Module) -> str:
    """A rule that names the file, its docstring as a comment, and its text."""
    comment = "".join(f"# {line}".rstrip() + "\n" for line in ("", *module.docstring.splitlines()))
    return f"{f'# ---- {module.file} '.ljust(WIDTH, '-')}\n{comment}\n{module.rest}"
