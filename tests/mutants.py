"""Change one operator, comparison or constant of a room at a time, and see whether the room's tests notice.

    python tests/mutants.py ranking --number 10 --seed 0

A mutant is killed if a test fails or takes too long. It is written in place of its file, which is restored afterwards,
so nothing else may use the checkout meanwhile. The exit code is the number of survivors.
"""

from __future__ import annotations

import argparse
import ast
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


def code(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes within functions, but not those of annotations, which are never run."""
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    waiting: list[ast.AST] = [statement for function in functions for statement in function.body]
    seen: set[int] = set()
    while waiting:
        node = waiting.pop(0)
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            for name, field in ast.iter_fields(node):
                fields = field if isinstance(field, list) else [field]
                waiting += [
                    each for each in fields if isinstance(each, ast.AST) and name not in ("annotation", "returns")
                ]


def mutated(node: ast.AST) -> bool:
    """Change a node, if it is one that can be changed."""
    if isinstance(node, (ast.BinOp, ast.AugAssign, ast.BoolOp)) and type(node.op) in OPERATORS:
        node.op = OPERATORS[type(node.op)]()  # type: ignore[assignment]
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in OPERATORS:
        node.ops[0] = OPERATORS[type(node.ops[0])]()  # type: ignore[call-overload]
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        node.value = not node.value
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        node.value += 1
    else:
        return False
    return True


def mutants(room: str, number: int, seed: int) -> Iterator[tuple[Path, str, str]]:
    """Random mutants of a room: the file, what is changed, and the text of the mutant."""
    places: list[tuple[Path, int]] = []
    for path in sorted((ROOT / "shared" / room).rglob("*.py")):
        nodes = [*code(ast.parse(path.read_text(encoding="utf-8")))]
        places += [(path, place) for place, node in enumerate(nodes) if mutated(node)]
    for path, place in random.Random(seed).sample(places, min(number, len(places))):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        node = [*code(tree)][place]
        before = ast.unparse(node)
        mutated(node)
        change = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}: {before} → {ast.unparse(node)}"
        yield path, change, ast.unparse(tree)


def killed(path: Path, text: str, room: str, seconds: int) -> bool:
    """Whether the tests of a room fail with this text in place of a file."""
    original = path.read_bytes()
    tests = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not slow", f"tests/{room}"]
    try:
        path.write_text(text, encoding="utf-8")
        return subprocess.run(tests, cwd=ROOT, capture_output=True, timeout=seconds, check=False).returncode != 0
    except subprocess.TimeoutExpired:
        return True
    finally:
        path.write_bytes(original)


def main() -> int:
    """Run as a command; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("room")
    parser.add_argument("--number", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=300, help="after which a mutant counts as killed")
    given = parser.parse_args()
    survivors = 0
    for path, change, text in mutants(given.room, given.number, given.seed):
        is_killed = killed(path, text, given.room, given.seconds)
        survivors += not is_killed
        print("killed  " if is_killed else "SURVIVED", change, flush=True)
    return survivors


if __name__ == "__main__":
    sys.exit(main())
