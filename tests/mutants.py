"""Change one operator, comparison or constant at a time, and see whether tests notice.

    python tests/mutants.py --number 300 --seed 58               of the kernel, the reader and the answers
    python tests/mutants.py ranking metric --number 20           of these rooms

Lines are drawn at random from all lines of the rooms that can be changed, so a room has mutants by its length. Each
mutant stands in a copy of the tree, in which the scripts import the package; the tests of its room run on it, then,
for a room of the kernel, those of all metrics, until one fails or time is up, which kills the mutant. Two copies work
at once. A table of the rooms is printed at the end; the exit code is the number of survivors.
"""

from __future__ import annotations

import argparse
import ast
import multiprocessing
import os
import queue
import random
import shutil
import signal
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
KERNEL = ("arrays", "ranking", "metric", "classification", "open_set", "ood", "anomaly", "detection")
ROOMS = (*KERNEL, "reading", "answers")
# tests of all metrics, those that find most first
OF_ALL_METRICS = (
    *("golden", "references", "literals", "laws", "errors", "verbs", "groups", "states", "counts", "counted_rows"),
    *("prepared", "per_sample", "thresholds"),
)
# as a wheel has it (setup.py), so that the scripts need no generated kernel
SCRIPTS_IMPORT = (
    "from openworld_metrics.metric.evaluate_adapter import Evaluated\nfrom openworld_metrics.public import *\n"
)
# libraries that tests import in seconds, and each run of tests has from the start
LIBRARIES = ["pytest", "hypothesis", "scipy.stats", "sklearn.metrics", "numba", "torch", "pyarrow", "evaluate", "click"]
FORKS = multiprocessing.get_context("forkserver")
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


class Mutant(NamedTuple):
    """A file of a room, relative to the root, what is changed in it, and its changed text."""

    room: str
    path: Path
    change: str
    text: str


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


def mutants(rooms: Sequence[str], number: int, seed: int) -> list[Mutant]:
    """Mutants at random lines of the rooms, one a line, each at a random place of its line."""
    lines: dict[tuple[str, Path, int], list[int]] = defaultdict(list)
    for room in rooms:
        for path in sorted((ROOT / "shared" / room).rglob("*.py")):
            nodes = [*code(ast.parse(path.read_text(encoding="utf-8")))]
            for place, node in enumerate(nodes):
                if mutated(node):
                    lines[room, path.relative_to(ROOT), getattr(node, "lineno", 0)].append(place)
    rng = random.Random(seed)
    drawn = rng.sample([*lines.items()], min(number, len(lines)))
    return [mutant(room, path, line, rng.choice(places)) for (room, path, line), places in drawn]


def mutant(room: str, path: Path, line: int, place: int) -> Mutant:
    """The mutant of a file whose node at a place is changed."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    node = [*code(tree)][place]
    before = ast.unparse(node)
    mutated(node)
    return Mutant(room, path, f"{path}:{line}: {before} → {ast.unparse(node)}", ast.unparse(tree))


def copy_of_the_tree(folder: Path) -> Path:
    """A copy in which `import openworld_metrics` and the scripts of the metrics reach the copied sources."""
    copy = folder / "tree"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "__pycache__"))
    for kernel in copy.glob("metrics/*/_kernel.py"):
        kernel.write_text(SCRIPTS_IMPORT, encoding="utf-8")
    (folder / "site").mkdir()
    for name, source in (("openworld_metrics", "shared"), ("metrics", "metrics")):
        (folder / "site" / name).symlink_to(copy / source, target_is_directory=True)
    return copy


def tests_of(room: str) -> list[list[str]]:
    """Paths of the tests of a room and, for one of the kernel, of those of all metrics and of compiled loops."""
    laws = ["tests/arrays/test_compiled.py", *(f"tests/metric/test_{name}.py" for name in OF_ALL_METRICS)]
    return [laws, ["tests/metric"]] if room == "metric" else [[f"tests/{room}"], *([laws] if room in KERNEL else [])]


def run_pytest(copy: Path, arguments: list[str], output: Path) -> None:
    """Run tests of a copy in a process of its own, which has imported nothing of the package."""
    os.setsid()
    os.chdir(copy)
    os.environ["PYTHONPATH"] = str(copy.parent / "site")
    sys.dont_write_bytecode = False  # of some containers, which would compile all sources in each run
    sys.path[:] = [str(copy.parent / "site"), *(path for path in sys.path if not path.startswith(str(ROOT / "tests")))]
    for stream in (sys.stdout, sys.stderr):
        os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream.fileno())
    import pytest

    code = int(pytest.main(arguments))
    sys.stdout.flush()
    os._exit(code)


def failure(copy: Path, tests: Sequence[str], seconds: int) -> str:
    """The first test that fails on a copy, "time", or "" if all pass."""
    arguments = ["-q", "-x", "-p", "no:cacheprovider", "-m", "not slow", "--tb", "no", "--hypothesis-seed", "0"]
    arguments += ["--hypothesis-profile", "first failure", "-W", "ignore::pytest.PytestAssertRewriteWarning", *tests]
    output = copy.parent / "output"
    run = FORKS.Process(target=run_pytest, args=(copy, arguments, output))
    run.start()
    run.join(seconds)
    if run.exitcode is None:
        os.killpg(run.pid or 0, signal.SIGKILL)
        return "time"
    text = output.read_text(encoding="utf-8", errors="replace")
    if run.exitcode not in (0, 1, 2):  # neither all passed, nor a test failed, nor a module could not be imported
        raise RuntimeError(f"exit code {run.exitcode}: {text}")
    failures = [line for line in text.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return "" if run.exitcode == 0 else (failures or [text[-2000:] or "an error"])[0]


def killed(one: Mutant, copy: Path, seconds: int) -> str:
    """The first test that fails with a mutant in place of its file, "time", or "" if all pass."""
    original = (copy / one.path).read_bytes()
    (copy / one.path).write_text(one.text, encoding="utf-8")
    try:
        return next((by for tests in tests_of(one.room) if (by := failure(copy, tests, seconds))), "")
    finally:
        (copy / one.path).write_bytes(original)


def main() -> int:
    """Run as a command; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="*", choices=[*ROOMS, []], metavar="room", help=f"of {', '.join(ROOMS)}")
    parser.add_argument("--number", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=600, help="after which a mutant counts as killed")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    outcomes: dict[str, list[bool]] = defaultdict(list)
    FORKS.set_forkserver_preload(LIBRARIES)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.processes) as pool:
        os.environ |= {"HF_MODULES_CACHE": f"{folder}/modules", "HF_METRICS_CACHE": f"{folder}/metrics"}
        os.environ["HF_HUB_OFFLINE"] = "1"
        copies: queue.Queue[Path] = queue.Queue()
        for number in range(options.processes):
            copies.put(copy_of_the_tree(Path(folder) / str(number)))

        def outcome(one: Mutant) -> None:
            copy = copies.get()
            by = killed(one, copy, options.seconds)
            copies.put(copy)
            outcomes[one.room].append(bool(by))
            print("killed  " if by else "SURVIVED", one.change, "" if not by else f"[{by}]", flush=True)

        rooms = options.rooms or ROOMS
        first = copies.queue[0]
        tests = dict.fromkeys(path for room in rooms for paths in tests_of(room) for path in paths)
        if broken := failure(first, ["--collect-only", *tests], options.seconds):
            raise SystemExit(f"expected tests that can be collected from a copy, got {broken}")
        list(pool.map(outcome, mutants(rooms, options.number, options.seed)))
    print(table(outcomes))
    return sum(not by for each in outcomes.values() for by in each)


def table(outcomes: dict[str, list[bool]]) -> str:
    """Killed and surviving mutants of each room, and of all."""
    rows = [(room, outcomes[room]) for room in ROOMS if room in outcomes]
    rows.append(("all", [by for _, each in rows for by in each]))
    lines = ["| room | mutants | killed | survived |", "|---|---|---|---|"]
    return "\n".join([*lines, *(f"| {room} | {len(by)} | {sum(by)} | {len(by) - sum(by)} |" for room, by in rows)])


if __name__ == "__main__":
    sys.exit(main())
