"""Read the definitions of a package that some names need, as the input of an amalgamation.

A file is a docstring, then imports, then statements. A statement is needed if it binds a needed name; one that binds
none, such as a check or a change to a table, is needed if any other of its file is. A method of a needed class is
needed if its name is mentioned as an attribute of anything, or if Python calls it. A needed statement needs each name
that it mentions. In a joined file all names share one scope: a name with two meanings is refused, and so are imports
that can be neither merged nor dropped. Imports for type checkers alone are dropped.

Docstrings are cut to their first paragraph: the script and its card say the rest.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

Import = ast.Import | ast.ImportFrom
_OWN_SCOPE = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class AmalgamationError(ValueError):
    """Modules that cannot be joined into one file; the message names the places."""


class Binding(NamedTuple):
    """A name that a file binds at top level, and its origin: a name of a library, or a file of the package."""

    name: str
    meaning: str
    line: int


class Statement(NamedTuple):
    """A top-level statement, or a part of a class, with the comments above it.

    binds: the names that it binds, or that of its class
    mentions: all names in it, and all attributes, as ".text"
    method: ".text" of a method that is needed only if that is mentioned; else ""
    """

    binds: set[str]
    mentions: set[str]
    text: str
    method: str = ""


class Module(NamedTuple):
    """The parts of a file of the package, such as ranking/counts.py; `needs` are its imported names, by file."""

    file: str
    docstring: str
    libraries: list[Import]
    needs: dict[str, set[str]]
    bindings: list[Binding]
    statements: list[Statement]


def closure(package: Path, names: Iterable[tuple[str, str]], methods: Iterable[str] = ()) -> list[Module]:
    """Read the statements that names need, in their files, each file after the files that it imports.

    Parameters: package, its folder; names, each with the file that defines it; methods, those that others call.
    """
    wanted = [*names]
    modules = _imported(package, [file for file, _ in wanted])
    _check_names(modules)
    return _needed(modules, {*wanted, *(("", f".{method}") for method in methods)})


def _imported(package: Path, files: Iterable[str]) -> list[Module]:
    """Read files and the files that they import from their package, each once and after its imports."""
    modules: dict[str, Module] = {}

    def visit(file: str, importers: tuple[str, ...]) -> None:
        if file in importers:
            raise AmalgamationError(f"import circle: {' → '.join((*importers[importers.index(file) :], file))}")
        if file not in modules:
            module = read(package, file)
            for needed in module.needs:
                visit(needed, (*importers, file))
            modules[file] = module

    for file in files:
        visit(file, ())
    return list(modules.values())


def _check_names(modules: Iterable[Module]) -> None:
    """Refuse a name that has different meanings in two files, or a meaning in Python itself."""
    meanings = {name: ("", "Python itself") for name in dir(builtins) if not name.startswith("_")}
    for module in modules:
        for name, meaning, line in module.bindings:
            place = f"{module.file}:{line}"
            first, where = meanings.setdefault(name, (meaning, place))
            if first != meaning:
                raise AmalgamationError(f"{name} means one thing in {where}, another in {place}: rename one of them")


def _needed(modules: Sequence[Module], mentioned: set[tuple[str, str]]) -> list[Module]:
    """The modules with the statements that names need, each with its file; attributes have none."""
    origins = {
        module.file: {name: file for file, names in module.needs.items() for name in names} for module in modules
    }
    needed: dict[str, set[int]] = {module.file: set() for module in modules}  # places of statements
    grows = True
    while grows:
        grows = False
        for file, _, _, _, _, statements in modules:
            for place, (binds, mentions, _, method) in enumerate(statements):
                is_bound = any((file, name) in mentioned for name in binds) if binds else bool(needed[file])
                if place not in needed[file] and is_bound and (not method or ("", method) in mentioned):
                    needed[file].add(place)
                    mentioned |= {
                        ("" if name.startswith(".") else origins[file].get(name, file), name) for name in mentions
                    }
                    grows = True
    return [
        module._replace(statements=[module.statements[place] for place in sorted(needed[module.file])])
        for module in modules
        if needed[module.file]
    ]


def read(package: Path, file: str) -> Module:
    """Split a file into its parts. Refuses imports that can be neither merged nor dropped."""
    text = (package / file).read_text(encoding="utf-8")
    tree, imports = parsed(text)
    docstring, _, _ = (ast.get_docstring(tree, clean=False) or "").partition("\n\n")
    at_top = [node for node in tree.body if isinstance(node, Import)]
    needs: dict[str, set[str]] = {}
    for node in imports:
        if isinstance(node, ast.ImportFrom):
            _check_import(node, f"{file}:{node.lineno}", at_top=node in at_top)
        if isinstance(node, ast.ImportFrom) and node.level:
            needed = imported_file(node, file)
            if not (package / needed).is_file():
                raise AmalgamationError(f"{file}:{node.lineno}: imports {needed}, which the package does not have")
            needs.setdefault(needed, set()).update(alias.name for alias in node.names)
    libraries = [node for node in at_top if isinstance(node, ast.Import) or not node.level]
    bound = [binding for node in tree.body for binding in bindings(node, file)]
    statements = [*_statements(text, len(at_top) + bool(docstring), file)]
    return Module(file, docstring.strip(), libraries, needs, bound, statements)


def _unread(node: ast.AST) -> list[ast.stmt]:
    """The imports within the package that a statement holds for type checkers alone."""
    return [each for each in _for_type_checkers(node) if isinstance(each, ast.ImportFrom) and each.level]


def _for_type_checkers(node: ast.AST) -> list[ast.stmt]:
    return node.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" else []


@cache
def parsed(text: str) -> tuple[ast.Module, list[Import]]:
    """The tree of a text, and its imports except for type checkers; cached, since every metric reads the files."""
    tree = ast.parse(text)
    return tree, [*_imports(tree.body)]


def _imports(statements: Iterable[ast.AST]) -> Iterator[Import]:
    for node in statements:
        if isinstance(node, Import):
            yield node
        elif not _for_type_checkers(node):
            for block in ("body", "orelse", "finalbody", "handlers", "cases"):
                yield from _imports(getattr(node, block, ()))


def _check_import(node: ast.ImportFrom, place: str, at_top: bool) -> None:
    """Refuse an import that could not be dropped once its names are defined in the joined file."""
    if any(alias.name == "*" for alias in node.names):
        raise AmalgamationError(f"{place}: `import *` does not say what it brings")
    if node.level and not at_top:
        raise AmalgamationError(f"{place}: a relative import stands on top of its file, in no function, class or block")
    if node.level and not node.module:
        raise AmalgamationError(f"{place}: `from . import …` brings a module; write `from .module import name`")
    if node.level and any(alias.asname for alias in node.names):
        raise AmalgamationError(f"{place}: a relative import cannot rename: in one file there is only the first name")


def imported_file(node: ast.ImportFrom, file: str) -> str:
    """The file of the package from which a relative import takes names; it must not be a package."""
    rooms = PurePosixPath(file).parents
    if node.level > len(rooms):
        raise AmalgamationError(f"{file}:{node.lineno}: the import leaves the package")
    return f"{rooms[node.level - 1] / str(node.module).replace('.', '/')}.py"


@cache
def _statements(text: str, head: int, file: str) -> tuple[Statement, ...]:
    """The statements below the docstring and the imports. Anything that would be lost between these is refused."""
    lines, body = text.rstrip("\n").split("\n"), parsed(text)[0].body
    cut = {line for node in body[:head] for line in range(node.lineno, (node.end_lineno or 0) + 1)}
    end = max(cut, default=0)
    stray = [line for line in range(1, end) if line not in cut and lines[line - 1].strip()]
    statements = []
    for node in body[head:]:
        if node.lineno <= end or isinstance(node, (ast.Import, ast.ImportFrom)):
            stray.append(node.lineno)
        own = {binding.name for binding in bindings(node, file)}
        short = _with_short_docstrings(lines, node)
        for each in _unread(node):
            short[each.lineno - 1 : each.end_lineno] = [None] * ((each.end_lineno or 0) - each.lineno + 1)
        for part, last in _parts(node, len(lines) if node is body[-1] else node.end_lineno or 0):
            names = {each.id for nodes in part for each in ast.walk(nodes) if isinstance(each, ast.Name)}
            names |= {f".{each.attr}" for nodes in part for each in ast.walk(nodes) if isinstance(each, ast.Attribute)}
            start, end = end, last
            kept = "\n".join(line for line in short[start:end] if line is not None)
            if not (isinstance(node, ast.If) and {*node.body} == {*_unread(node)}):
                statements.append(Statement(own, names | own, kept, _method(part[0]) if part[0] is not node else ""))
    if stray:
        raise AmalgamationError(f"{file}:{min(stray)}: expected a docstring, then all imports, then the rest")
    return tuple(statements)


def _parts(node: ast.stmt, end: int) -> Iterator[tuple[list[ast.AST], int]]:
    """The parts of a class, its head and each method, or else the whole statement; each with its last line."""
    places = [i for i, each in enumerate(node.body) if _method(each)] if isinstance(node, ast.ClassDef) else []
    if not isinstance(node, ast.ClassDef) or not places:
        yield [node], end
        return
    last = node.body[places[0] - 1].end_lineno or 0
    yield [*node.decorator_list, *node.bases, *node.keywords, *node.body[: places[0]]], last
    for each in node.body[places[0] :]:
        yield [each], end if each is node.body[-1] else each.end_lineno or 0


def _method(node: ast.AST) -> str:
    """The attribute that a method is called by, as ".text"; "" for a method that Python calls, and for no method."""
    return f".{node.name}" if isinstance(node, ast.FunctionDef) and not node.name.startswith("__") else ""


def _with_short_docstrings(lines: Sequence[str], node: ast.stmt) -> list[str | None]:
    """The lines of a file, with short docstrings in a statement; None for a line that is left out."""
    short: list[str | None] = [*lines]
    for each in ast.walk(node):
        if isinstance(each, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(each):
            first, last = each.body[0].lineno, each.body[0].end_lineno or 0
            end = next((line for line in range(first, last) if not lines[line].strip()), last)
            if end < last:
                short[end - 1] = f'{lines[end - 1]}"""'
                short[end:last] = [None] * (last - end)
    return short


def bindings(node: ast.AST, file: str) -> Iterator[Binding]:
    """The names that a top-level statement binds, including in its blocks, but not in nested scopes."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            meaning = alias.name if alias.asname else alias.name.partition(".")[0]
            yield Binding(alias.asname or meaning, meaning, node.lineno)
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names if node.module != "__future__" else ():
            meaning = imported_file(node, file) if node.level else f"{node.module}.{alias.name}"
            yield Binding(alias.asname or alias.name, meaning, node.lineno)
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield Binding(node.name, file, node.lineno)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield Binding(node.id, file, node.lineno)
    elif not isinstance(node, _OWN_SCOPE):
        for child in ast.iter_child_nodes(node):
            yield from bindings(child, file)
