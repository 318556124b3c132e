"""Change one operator, comparison or constant at a time, and see whether tests notice.

    python tests/mutants.py --number 300 --seed 58               of the kernel, the reader and the answers
    python tests/mutants.py ranking metric --number 20           of these rooms

Lines are drawn at random from all lines of the rooms that can be changed, so a room has mutants by its length. The
tests of the rooms run once, to note by coverage which of them reach each line. Then each mutant stands in a copy of the
tree, in which the scripts import the package, and the tests that reach it run, file by file, the quickest file first,
until one fails or takes too long, which kills the mutant. Two copies work at once. A table of the rooms is printed at
the end; the exit code is the number of survivors.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import math
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest
from coverage import Coverage, CoverageData

ROOT = Path(__file__).resolve().parent.parent
KERNEL = ("arrays", "ranking", "metric", "classification", "open_set", "ood", "anomaly", "detection")
ROOMS = (*KERNEL, "reading", "answers")
# as a wheel has it (setup.py), so that the scripts need no generated kernel
SCRIPTS_IMPORT = (
    "from openworld_metrics.metric.evaluate_adapter import Evaluated\nfrom openworld_metrics.public import *\n"
)
# libraries that tests import in seconds, and each run of tests has from the start
LIBRARIES = ["pytest", "hypothesis", "scipy.stats", "sklearn.metrics", "numba", "torch", "pyarrow", "evaluate", "click"]
OPTIONS = ["-q", "-p", "no:cacheprovider", "--tb", "no", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
OPTIONS += ["--hypothesis-seed", "0", "--hypothesis-profile", "first failure"]
PATIENCE = 90  # seconds, for a process that compiles loops on a busy machine
FORKS = multiprocessing.get_context("forkserver")
SWAPPED: dict[type[ast.AST], type[ast.AST]] = {ast.Is: ast.IsNot, ast.And: ast.Or, ast.Eq: ast.NotEq, ast.Add: ast.Sub}
SWAPPED |= {ast.BitAnd: ast.BitOr, ast.Lt: ast.LtE, ast.Gt: ast.GtE}
SWAPPED |= {after: before for before, after in SWAPPED.items()}
OPERATORS = SWAPPED | {ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult}


class Mutant(NamedTuple):
    """A file of a room, relative to the root, lines of its statement, what is changed in it, and its changed text."""

    room: str
    path: Path
    lines: range
    change: str
    text: str


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
    return Mutant(room, path, lines, f"{path}:{line}: {before} → {ast.unparse(node)}", ast.unparse(tree))


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


class Reach:
    """A plugin of pytest that notes how long each test takes and, by coverage, which lines it reaches."""

    def __init__(self, notes: Path) -> None:
        self.coverage = Coverage(data_file=str(notes), config_file=False, source=["shared"])
        self.coverage.set_option("run:relative_files", True)
        self.coverage.start()
        self.notes, self.seconds = notes, dict[str, float]()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.coverage.switch_context(nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        duration = report.duration if report.passed else math.inf
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + duration

    def pytest_sessionfinish(self) -> None:
        self.coverage.stop()
        self.coverage.save()
        self.notes.with_suffix(".json").write_text(json.dumps(self.seconds), encoding="utf-8")


class Choice:
    """A plugin of pytest that runs some of the tests, and kills a test that takes far longer than on the original."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds = seconds

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self.seconds]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        signal.alarm(PATIENCE + int(20 * self.seconds[nodeid]))


def run_pytest(copy: Path, runs: Sequence[list[str]], plugin: type, argument: object) -> None:
    """Run pytest on a copy with each list of arguments, until one fails, in a process that has imported no mutant."""
    os.setsid()
    os.chdir(copy)
    os.environ["PYTHONPATH"] = str(copy.parent / "site")
    sys.dont_write_bytecode = False  # of some containers, which would compile all sources in each run
    sys.path[:] = [str(copy.parent / "site"), *(path for path in sys.path if not path.startswith(str(ROOT / "tests")))]
    for stream in (sys.stdout, sys.stderr):
        os.dup2(os.open(copy.parent / "output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream.fileno())
    chosen = plugin(argument)
    code = next((code for each in runs if (code := int(pytest.main([*OPTIONS, *each], [chosen])))), 0)
    sys.stdout.flush()
    os._exit(code)


def failure(copy: Path, runs: Sequence[list[str]], plugin: type, argument: object) -> str:
    """The first test that fails on a copy, the signal that ends it, or "" if all pass."""
    run = FORKS.Process(target=run_pytest, args=(copy, runs, plugin, argument))
    run.start()
    run.join()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(run.pid or 0, signal.SIGKILL)  # what the tests have left running
    text = (copy.parent / "output").read_text(encoding="utf-8", errors="replace")
    failures = [line for line in text.splitlines() if line.startswith(("FAILED", "ERROR"))]
    code = run.exitcode or 0
    return signal.Signals(-code).name if code < 0 else (failures or [text[-2000:]])[0] if code else ""


def reached(tests: str, copy: Path) -> tuple[CoverageData, dict[str, float]]:
    """The lines that tests of a room or file reach on a copy, and how long each of those that pass takes."""
    notes = copy.parent.parent / Path(tests).stem
    failure(copy, [["-m", "not slow", f"tests/{tests}"]], Reach, notes)
    data = CoverageData(str(notes))
    data.read()
    seconds: dict[str, float] = json.loads(notes.with_suffix(".json").read_text(encoding="utf-8"))
    return data, {test: each for test, each in seconds.items() if each < math.inf}


def tests_of(one: Mutant, notes: Sequence[tuple[CoverageData, dict[str, float]]]) -> dict[str, float]:
    """Tests that reach the statement of a mutant or, if it is in a compiled loop, its file."""
    reaching = [
        (line, test, seconds[test])
        for data, seconds in notes
        for line, tests in data.contexts_by_lineno(str(one.path)).items()
        for test in tests
        if test in seconds
    ]
    of_statement = {test: seconds for line, test, seconds in reaching if line in one.lines}
    return of_statement or {test: seconds for _, test, seconds in reaching}


def killed(one: Mutant, copy: Path, tests: dict[str, float]) -> str:
    """The first test that fails with a mutant in place of its file, the signal that ends it, or "" if all pass."""
    files: dict[str, float] = defaultdict(float)
    for test, seconds in tests.items():
        files[test.partition("::")[0]] += seconds
    original = (copy / one.path).read_bytes()
    (copy / one.path).write_text(one.text, encoding="utf-8")
    by = failure(copy, [["-x", file] for file in sorted(files, key=files.__getitem__)], Choice, tests)
    (copy / one.path).write_bytes(original)
    print(f"killed   {one.change} [{by}]" if by else f"SURVIVED {one.change}", flush=True)
    return by


def main() -> int:
    """Run as a command; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="*", choices=[*ROOMS, []], metavar="room", help=f"of {', '.join(ROOMS)}")
    parser.add_argument("--number", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    rooms = options.rooms or ROOMS
    drawn = iter(mutants(rooms, options.number, options.seed))
    tests = iter(dict.fromkeys([*(["metric"] if {*rooms} & {*KERNEL} else []), *rooms, "docs/test_doctests.py"]))
    FORKS.set_forkserver_preload(LIBRARIES)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.processes) as pool:
        os.environ |= {"HF_MODULES_CACHE": f"{folder}/modules", "HF_METRICS_CACHE": f"{folder}/metrics"}
        os.environ["HF_HUB_OFFLINE"] = "1"
        copies = [copy_of_the_tree(Path(folder) / f"copy {number}") for number in range(options.processes)]
        # each copy takes the next when it is free
        parts = [*pool.map(lambda copy: [reached(each, copy) for each in tests], copies)]
        notes = [note for part in parts for note in part]
        runs = [*pool.map(lambda copy: [(one.room, killed(one, copy, tests_of(one, notes))) for one in drawn], copies)]
    outcomes = [outcome for part in runs for outcome in part]
    lines = ["| room | mutants | killed | survived |", "|---|---|---|---|"]
    for name in [*rooms, "all"]:
        by = [each for room, each in outcomes if name in (room, "all")]
        lines.append(f"| {name} | {len(by)} | {sum(map(bool, by))} | {by.count('')} |")
    print("\n".join(lines))
    return sum(not by for _, by in outcomes)


if __name__ == "__main__":
    sys.exit(main())
