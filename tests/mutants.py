"""Change one operator, comparison or constant at a time, and see whether tests notice.

    python tests/mutants.py --number 300 --seed 58               of the kernel, the reader and the answers
    python tests/mutants.py ranking metric --number 20           of these rooms

Lines are drawn at random from all lines of the rooms that can be changed, so a room has mutants by its length. The
tests are collected once. A fork for each file of them notes by coverage which tests reach each line. Then a fork for
each mutant changes the code of its functions in memory, and runs the tests that reach it, the quickest file first,
until one fails or takes too long, which kills the mutant. Scripts that tests load import the package; processes that
they start do not have the mutant. A table of the rooms is printed at the end; the exit code is the number of survivors.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import gc
import importlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import numba
import pytest
from coverage import Coverage, CoverageData

ROOT = Path(__file__).resolve().parent.parent
KERNEL = ("arrays", "ranking", "metric", "classification", "open_set", "ood", "anomaly", "detection")
ROOMS = (*KERNEL, "reading", "answers")
OPTIONS = ["-q", "-s", "-p", "no:cacheprovider", "-m", "not slow", "--hypothesis-profile", "first failure"]
OPTIONS += ["--hypothesis-seed", "0"]
PATIENCE = 90  # seconds, for a process that compiles loops on a busy machine
SWAPPED: dict[type[ast.AST], type[ast.AST]] = {ast.Is: ast.IsNot, ast.And: ast.Or, ast.Eq: ast.NotEq, ast.Add: ast.Sub}
SWAPPED |= {ast.BitAnd: ast.BitOr, ast.Lt: ast.LtE, ast.Gt: ast.GtE}
SWAPPED |= {after: before for before, after in SWAPPED.items()}
OPERATORS = SWAPPED | {ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult}


# as a wheel has it (setup.py)
KERNEL_OF_SCRIPTS = (
    "from openworld_metrics.metric.evaluate_adapter import Evaluated\nfrom openworld_metrics.public import *\n"
)


class Mutant(NamedTuple):
    """A file of a room, relative to the root, lines of its statement, what is changed in it, and its changed code."""

    room: str
    path: Path
    lines: range
    change: str
    code: CodeType


def code(tree: ast.Module) -> list[ast.AST]:
    """The nodes within functions, but not those of annotations, which are never run."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    hints = [getattr(node, name, None) for node in ast.walk(tree) for name in ("annotation", "returns")]
    never_run = {node for hint in hints if hint for node in ast.walk(hint)}
    within = dict.fromkeys(node for each in functions for statement in each.body for node in ast.walk(statement))
    return [node for node in within if node not in never_run]


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
            for place, node in enumerate(code(ast.parse(path.read_text(encoding="utf-8")))):
                if mutated(node):
                    lines[room, path.relative_to(ROOT), getattr(node, "lineno", 0)].append(place)
    rng = random.Random(seed)
    drawn = rng.sample([*lines.items()], min(number, len(lines)))
    return [mutant(room, path, line, rng.choice(places)) for (room, path, line), places in drawn]


def mutant(room: str, path: Path, line: int, place: int) -> Mutant:
    """The mutant of a file whose node at a place is changed."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    node = code(tree)[place]
    before = ast.unparse(node)
    mutated(node)
    statements = [
        range(each.lineno, (each.end_lineno or 0) + 1) for each in ast.walk(tree) if isinstance(each, ast.stmt)
    ]
    lines = min((each for each in statements if line in each), key=len)
    return Mutant(
        room,
        path,
        lines,
        f"{path}:{line}: {before} → {ast.unparse(node)}",
        compile(tree, path, "exec", dont_inherit=True),
    )


def apply(one: Mutant) -> None:
    """Give the functions of the file their changed code."""
    name = ".".join(["openworld_metrics", *one.path.with_suffix("").parts[1:]]).removesuffix(".__init__")
    importlib.import_module(name)  # not all modules are, before the first test
    codes, waiting = dict[tuple[str, int], CodeType](), [one.code]
    while waiting:
        code = waiting.pop()
        codes[code.co_name, code.co_firstlineno] = code
        waiting += [each for each in code.co_consts if isinstance(each, CodeType)]
    if "compiled" in (ROOT / one.path).read_text(encoding="utf-8"):  # loops, which numba would take from its cache
        numba.config.CACHE_DIR = tempfile.mkdtemp(dir=os.environ["TMPDIR"])
    for each in gc.get_objects():
        if type(each) is FunctionType and each.__module__ == name:
            each.__code__ = codes.get((each.__code__.co_name, each.__code__.co_firstlineno), each.__code__)


def load_from_the_package(folder: Path) -> None:
    """Let evaluate load copies of the scripts that import the package, in place of their generated kernels."""
    import evaluate  # after pytest, which rewrites plugins that it imports

    load, scripts = evaluate.load, shutil.copytree(ROOT / "metrics", folder / "metrics")
    for kernel in scripts.glob("*/_kernel.py"):
        kernel.write_text(KERNEL_OF_SCRIPTS, encoding="utf-8")
    evaluate.load = lambda path, *words, **options: load(str(scripts / Path(path).name), *words, **options)


def in_forks(function: Callable[[Any], str], arguments: Iterable[Any], number: int) -> Iterator[tuple[Any, str]]:
    """What a function returns for each argument, in a fork of its own, or the signal that ends it; some at a time."""
    waiting, running = iter(arguments), dict[int, Any]()
    with tempfile.TemporaryDirectory() as folder:
        while True:
            for one in islice(waiting, number - len(running)):
                if not (pid := os.fork()):
                    os.setsid()
                    for stream in (1, 2):
                        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
                    try:
                        text = function(one)
                    except BaseException as error:
                        text = repr(error)
                    Path(folder, str(os.getpid())).write_text(text, encoding="utf-8")
                    os._exit(0)
                running[pid] = one
            if not running:
                return
            pid, status = os.wait()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)  # what the tests have left running
            ended = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else ""
            yield running.pop(pid), ended or Path(folder, str(pid)).read_text(encoding="utf-8")


class Session:
    """A plugin of pytest that runs the tests it has collected with each mutant, in place of once."""

    def __init__(self, drawn: Sequence[Mutant], processes: int, folder: Path) -> None:
        self.drawn, self.processes, self.folder = drawn, processes, folder
        self.failed, self.seconds = set[str](), dict[str, float]()
        self.files: dict[str, list[pytest.Item]] = defaultdict(list)
        self.outcomes: list[tuple[str, str]] = []
        self.kills: Counter[str] = Counter()  # how many mutants tests of each file have killed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if not report.passed:
            self.failed.add(report.nodeid)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        load_from_the_package(self.folder)
        for item in session.items:
            self.files[item.nodeid.partition("::")[0]].append(item)
        data = CoverageData(str(self.folder / "all"))
        for file, seconds in in_forks(self.reach, self.files, self.processes):
            self.seconds |= json.loads(seconds)
            part = CoverageData(str(self.folder / file.replace("/", " ")))
            part.read()
            data.update(part)
        jobs = ((one, self.tests_of(one, data)) for one in self.drawn)
        for (one, _), by in in_forks(self.killed, jobs, self.processes):
            self.kills[by.partition("::")[0]] += 1
            self.outcomes.append((one.room, by))
            print(f"killed   {one.change} [{by}]" if by else f"SURVIVED {one.change}", flush=True)
        return True

    def reach(self, file: str) -> str:
        """Note which lines the tests of a file reach; return the seconds of each that passes."""
        data = self.folder / file.replace("/", " ")
        coverage = Coverage(data_file=str(data), config_file=False, source=["shared"])
        coverage.set_option("run:relative_files", True)
        coverage.set_option("run:disable_warnings", ["no-data-collected"])  # of a file that runs the kernels alone
        coverage.start()
        for item, after in zip(self.files[file], [*self.files[file][1:], None]):
            coverage.switch_context(item.nodeid)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        coverage.stop()
        coverage.save()
        return json.dumps({test: each for test, each in self.seconds.items() if test not in self.failed})

    def tests_of(self, one: Mutant, data: CoverageData) -> list[pytest.Item]:
        """Tests that reach the statement of a mutant or, if it is in a compiled loop, its file; quick files first."""
        lines = data.contexts_by_lineno(str(one.path))
        reaching = {test for line in one.lines for test in lines.get(line, [])} or {*chain(*lines.values())}
        chosen = {
            file: [item for item in items if item.nodeid in reaching and item.nodeid in self.seconds]
            for file, items in self.files.items()
        }
        times = {file: sum(self.seconds[item.nodeid] for item in items) for file, items in chosen.items()}
        return [
            *chain(*(chosen[file] for file in sorted(times, key=lambda file: times[file] / (1 + self.kills[file]))))
        ]

    def killed(self, job: tuple[Mutant, list[pytest.Item]]) -> str:
        """The first test that fails with a mutant, or "" if all pass."""
        one, items = job
        apply(one)
        self.failed.clear()
        for item, after in zip(items, [*items[1:], None]):
            signal.alarm(PATIENCE + int(20 * self.seconds[item.nodeid]))
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            if self.failed:
                return item.nodeid
        return ""


def main() -> int:
    """Run as a command; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="*", choices=[*ROOMS, []], metavar="room", help=f"of {', '.join(ROOMS)}")
    parser.add_argument("--number", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    rooms = options.rooms or ROOMS
    os.chdir(ROOT)
    places = dict.fromkeys(["metric", *rooms, "reading/maps", "answers", "docs/test_doctests.py"])
    tests = [f"tests/{each}" for each in places]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TMPDIR"] = folder
        session = Session(mutants(rooms, options.number, options.seed), options.processes, Path(folder))
        pytest.main([*OPTIONS, *tests], [session])
    lines = ["| room | mutants | killed | survived |", "|---|---|---|---|"]
    for name in [*rooms, "all"]:
        by = [each for room, each in session.outcomes if name in (room, "all")]
        lines.append(f"| {name} | {len(by)} | {sum(map(bool, by))} | {by.count('')} |")
    print("\n".join(lines))
    return sum(not by for _, by in session.outcomes)


if __name__ == "__main__":
    sys.exit(main())
