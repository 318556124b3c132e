"""The rooms of the package: which may import which, and what an import of the kernel may load."""

from __future__ import annotations

import ast
import configparser
import functools
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tests import cases
from tests.package.rooms import KERNEL, MODULES, PACKAGE, dotted, room

# an import goes to a lower floor or stays in its room; a file at the top of the package is a room of its own.
FLOORS = (
    ("extras", "texts"),
    ("arrays",),
    ("metric",),
    ("ranking",),
    ("classification", "open_set", "ood", "anomaly", "detection", "scores"),
    ("loading",),
    ("comparison",),
    ("reading",),
    ("written",),
    ("answers",),
    ("suites", "leaderboard"),
    ("faces",),
    ("integrations", "cluster"),
    ("command",),
    ("public", "dropin"),
    ("__init__", "__main__"),
)
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
NOT_IN_THE_KERNEL = {"click", "datasets", "evaluate", "gradio", "pyarrow", "torch"}
NOT_BY_AN_IMPORT = {*NOT_IN_THE_KERNEL, "numba", "scipy"}


class Import(NamedTuple):
    """An import of a file: the modules of this package by their dotted names, or a library's name."""

    file: Path
    line: int
    target: str
    own: bool
    for_types: bool = False  # by a type checker alone

    def __str__(self) -> str:
        return f"{self.file.relative_to(PACKAGE)}:{self.line} imports {self.target or 'the package itself'}"


def imports(file: Path) -> Iterator[Import]:
    """Every import of a file, in functions and for type checkers too."""
    package = dotted(file).split(".") if file.name == "__init__.py" else dotted(file).split(".")[:-1]
    tree = ast.parse(file.read_text(encoding="utf-8"))
    blocks = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    unread = [each for node in blocks for each in node.body]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = [] if not node.level else ["openworld_metrics", *package[: len(package) - node.level + 1]]
            module = ".".join([*filter(None, above), *filter(None, [node.module])])
            # a name may be a module of the package, or something in it
            inside = {alias.name: f"{module}.{alias.name}".removeprefix("openworld_metrics.") for alias in node.names}
            names = [f"openworld_metrics.{name}" if name in MODULES else module for name in inside.values()]
        else:
            continue
        for name in dict.fromkeys(names):
            library, _, rest = name.partition(".")
            own = library == "openworld_metrics"
            yield Import(file, node.lineno, rest if own else library, own, node in unread)


@functools.cache
def all_imports() -> list[Import]:
    return [each for file in MODULES.values() for each in imports(file)]


def test_imports_are_found() -> None:
    assert {"loading", "detection.matching", "metric.metric"} <= {x.target for x in imports(PACKAGE / "public.py")}
    assert Import(PACKAGE / "loading.py", 0, "evaluate", False) in {x._replace(line=0) for x in all_imports()}
    assert {x.target for x in all_imports() if x.own} <= set(MODULES)


def test_every_room_is_on_a_floor() -> None:
    assert {room(module) for module in MODULES} == set(FLOOR)


def test_arrows_point_downwards() -> None:
    arrows = [(x, room(dotted(x.file)), room(x.target)) for x in all_imports() if x.own]
    assert [str(x) for x, start, end in arrows if start != end and FLOOR[start] <= FLOOR[end]] == []


def test_nothing_imports_the_calls_of_other_libraries() -> None:
    assert {room(dotted(x.file)) for x in all_imports() if x.own and room(x.target) == "dropin"} == {"dropin"}


def test_no_circle_of_files_or_of_rooms() -> None:
    files: dict[str, set[str]] = {module: set() for module in MODULES}
    rooms: dict[str, set[str]] = {room(module): set() for module in MODULES}
    for x in all_imports():
        if x.own and not x.for_types:
            files[dotted(x.file)].add(x.target)
            rooms[room(dotted(x.file))].add(room(x.target))
    TopologicalSorter(files).prepare()  # CycleError names the circle
    TopologicalSorter({start: ends - {start} for start, ends in rooms.items()}).prepare()


def test_faces_do_not_import_the_page() -> None:
    """Which needs gradio and a server; it is the last of the faces."""
    within = [x for x in all_imports() if x.own and x.target.startswith("faces.page")]
    assert {room(dotted(x.file)) for x in within if not dotted(x.file).startswith("faces.page")} <= {"command"}


def test_the_kernel_imports_no_tool() -> None:
    kernel = [x for x in all_imports() if room(dotted(x.file)) in KERNEL and not x.own]
    assert {"numpy", "array_api_compat"} <= {x.target for x in kernel}
    assert [str(x) for x in kernel if x.target in NOT_IN_THE_KERNEL] == []


def test_few_files_lie_beside_the_rooms() -> None:
    named_by_python = {"__init__.py", "__main__.py", "py.typed"}
    beside = {path.name for path in PACKAGE.iterdir() if path.is_file()} - named_by_python
    doors = {"public.py", "suites.py"}  # what people import
    assert beside == doors | {"comparison.py", "extras.py", "loading.py", "scores.py", "texts.py"}


ROOMS = sorted({file.parent for file in MODULES.values()})


def test_a_room_says_in_a_line_what_lives_there() -> None:
    for folder in ROOMS:
        said = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
        line, _, more = said.partition("\n")
        assert line.endswith("."), folder
        assert not more or more.startswith("\n"), folder


# files of the same subject in several rooms: a task, a format, or what one room makes and another shows
IN_SEVERAL_ROOMS = {
    *("anomaly", "detection", "ood"),
    "coco",
    *("answer", "curves", "files", "maps", "masks", "pictures", "reading", "results"),
}


def test_a_name_of_a_file_stands_for_one_subject() -> None:
    stems = Counter(file.stem for file in MODULES.values())
    assert {stem for stem, number in stems.items() if number > 1} <= {"__init__", *IN_SEVERAL_ROOMS}


def test_every_room_is_installed(root: Path) -> None:
    config = configparser.ConfigParser()
    config.read(root / "setup.cfg", encoding="utf-8")
    installed = config["options"]["packages"].split()
    rooms = {".".join(["openworld_metrics", *folder.relative_to(PACKAGE).parts]) for folder in ROOMS}
    assert rooms == {name for name in installed if not name.startswith("openworld_metrics.metrics")}


def loaded_by(code: str, folder: Path) -> set[str]:
    """The libraries that a new process has loaded after some code."""
    end = "import sys, json; print(); print(json.dumps(sorted(name for name in sys.modules if '.' not in name)))"
    command = [sys.executable, "-c", f"{code}\n{end}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_the_package_loads_no_tool_and_neither_does_a_metric_of_arrays(tmp_path: Path) -> None:
    code = """
from openworld_metrics import OODBench
from openworld_metrics.dropin import accuracyk, oodeel, ow_dln, pyadmetric, xcurve
OODBench().compute(predictions=[0.1, 0.6, 0.4, 0.9], references=[0, 0, 1, 1])
"""
    loaded = loaded_by(code, tmp_path)
    assert "openworld_metrics" in loaded
    assert not NOT_BY_AN_IMPORT & loaded


def test_the_command_loads_no_evaluate(tmp_path: Path) -> None:
    """Three commands in one process."""
    columns, _ = cases.draw("openauc", 0)
    for name, column in columns.items():
        np.save(tmp_path / f"{name}.npy", column)
    files = [part for name in columns for part in (f"--{name.replace('_', '-')}", f"{name}.npy")]
    code = f"""
import sys
from openworld_metrics.command import cli
for arguments in (["list"], ["describe", "openauc"], ["compute", "openauc", *{files!r}]):
    sys.argv = ["openworld-metrics", *arguments]
    try:
        cli.main()
    except SystemExit as exit_:
        assert not exit_.code, exit_.code
"""
    loaded = loaded_by(code, tmp_path)
    assert "click" in loaded
    assert not {"evaluate", "datasets", "torch", "gradio"} & loaded
