"""spaces/amalgamate.py puts definitions of a package into one, word for word, and refuses what would change them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from amalgamate import WIDTH, amalgam
from closure import AmalgamationError, closure, read
from sync import ROOT, metric_folders

HEADER = "# generated"
COUNTS = '''"""Counts of runs.

    >>> 1 + 1
    2
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from .arrays import (
    BLOCK,
    widen,
)

# how many runs fit into a block: 2^20 / 16
RUNS = BLOCK // 16  # aligned


def runs( x: Sequence[int] ) -> Iterator[int]:   # formatted by hand
    """Runs of equal values,
    each once.

    >>> list(runs([1, 1, 2]))
    [1, 2]
    """
    import scipy  # slow to import

    yield from dict.fromkeys(np.asarray(widen(x)).tolist())
    math.inf, scipy
'''
EXAMPLE = "\n\n    >>> list(runs([1, 1, 2]))\n    [1, 2]\n    "
ARRAYS = '''"""Arrays."""

from __future__ import annotations

from collections.abc import Iterable

import array_api_compat
import numpy as np
from scipy import ndimage

BLOCK = 1 << 20


def widen(x: Iterable[int]) -> np.ndarray:
    return np.asarray(x, dtype=np.int64)


UNITS = [ndimage, array_api_compat]
'''
MODULE = f"""{HEADER}

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import array_api_compat
import numpy as np
from scipy import ndimage


{"# ---- core/arrays.py ".ljust(WIDTH, "-")}
# Arrays.

{ARRAYS[ARRAYS.index("BLOCK") :].strip()}


{"# ---- core/counts.py ".ljust(WIDTH, "-")}
# Counts of runs.

{COUNTS[COUNTS.index("# how many") :].replace(EXAMPLE, "")}"""


def write(package: Path, **files: str) -> Path:
    """Files of a package, by names as core_counts for core/counts.py."""
    for name, text in files.items():
        path = package / f"{name.replace('_', '/', 1)}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return package


def names_of(package: Path, *files: str) -> list[tuple[str, str]]:
    """All names that files define."""
    return [(file, name) for file in files for each in read(package, file).statements for name in sorted(each.binds)]


def joined(package: Path, *files: str) -> str:
    return amalgam(closure(package, names_of(package, *files)), HEADER)


def test_one_module(tmp_path: Path) -> None:
    """What it needs comes first; docstrings are cut, imports are merged, all else is as it was written."""
    package = write(tmp_path, core_counts=COUNTS, core_arrays=ARRAYS)
    text = joined(package, "core/counts.py", "core/arrays.py")
    assert text == MODULE
    names: dict[str, object] = {}
    exec(compile(text, "amalgam", "exec"), names)
    assert names["RUNS"] == 65536
    assert list(names["runs"]([3, 3, 1])) == [3, 1]  # type: ignore[operator]


def test_the_same_bytes_twice(tmp_path: Path) -> None:
    package = write(tmp_path, core_counts=COUNTS, core_arrays=ARRAYS)
    assert joined(package, "core/counts.py", "core/arrays.py") == joined(package, "core/arrays.py", "core/counts.py")


def test_each_file_once_and_after_what_it_imports(tmp_path: Path) -> None:
    package = write(
        tmp_path,
        core_a="A = 1\n",
        core_b="from .a import A\n\nB = A\n",
        core_c="from .a import A\nfrom ..ood.d import D\n\nC = A + D\n",
        ood_d="from ..core.b import B\n\nD = B\n",
    )
    order = [module.file for module in closure(package, names_of(package, "core/c.py", "core/b.py"))]
    assert order == ["core/a.py", "core/b.py", "ood/d.py", "core/c.py"]


def test_long_imports_are_folded(tmp_path: Path) -> None:
    names = [f"a_rather_long_name_{i}" for i in range(9)]
    source = f"from library import {', '.join(reversed(names))}\n\nALL = [{', '.join(names)}]\n"
    text = joined(write(tmp_path, core_a=source), "core/a.py")
    assert "from library import (\n    a_rather_long_name_0,\n    a_rather_long_name_1,\n" in text
    assert max(map(len, text[: text.index("ALL")].splitlines())) <= WIDTH
    ast.parse(text)


def test_blocks_for_type_checkers_stay(tmp_path: Path) -> None:
    block = "if TYPE_CHECKING:\n    from typing_extensions import Unpack\n"
    files = {name: f"from typing import TYPE_CHECKING\n\n{block}\n{name[-1].upper()} = 1\n" for name in ("x_a", "x_b")}
    text = joined(write(tmp_path, **files), "x/a.py", "x/b.py")
    assert text.count("from typing import TYPE_CHECKING\n") == 1
    assert text.count(block) == 2


def test_imports_within_the_package_for_type_checkers_are_dropped(tmp_path: Path) -> None:
    """So two files can name each other's classes."""
    head = "from __future__ import annotations\n\nfrom typing import TYPE_CHECKING\n\n"
    files = {
        "core_a": f"{head}if TYPE_CHECKING:\n    from .b import B\n\n\nclass A:\n    b: B\n",
        "core_b": "from .a import A\n\n\nclass B:\n    a = A\n",
        "core_c": f"{head}if TYPE_CHECKING:\n    from x import Y\n\n    from .b import B\n\nC = 1\n",
    }
    package = write(tmp_path, **files)
    text = joined(package, "core/a.py", "core/b.py")
    assert "TYPE_CHECKING" not in text
    assert [file.file for file in closure(package, [("core/a.py", "A")])] == ["core/a.py"]
    assert joined(package, "core/c.py").endswith("if TYPE_CHECKING:\n    from x import Y\n\n\nC = 1\n")


REFUSED: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "collision": (
        {"core_a": "from .b import B\n\n\ndef _size():\n    return B\n", "core_b": "B = 1\n_size = 2\n"},
        ("_size", "core/b.py:2", "core/a.py:4"),
    ),
    "collision in a block": (
        {"core_a": "from .b import B\n\nif B:\n    for _i in B:\n        pass\n", "core_b": "B = _i = ()\n"},
        ("_i", "core/b.py:1", "core/a.py:4"),
    ),
    "shadowed library": (
        {"core_a": "from .b import B\n\nnp = B\n", "core_b": "import numpy as np\n\nB = np.pi\n"},
        ("np", "core/b.py:1", "core/a.py:3"),
    ),
    "two libraries of one name": (
        {"core_a": "import pyarrow.compute as pc\n\nfrom .b import B\n", "core_b": "import polars as pc\n\nB = pc\n"},
        ("pc", "core/b.py:1", "core/a.py:1"),
    ),
    "shadowed builtin": ({"core_a": "def sorted(x):\n    return x\n"}, ("sorted", "Python itself", "core/a.py:1")),
    "imported from where it is not defined": (
        {"core_a": "from .b import C\nfrom .c import C\n", "core_b": "from .c import C\n", "core_c": "C = 1\n"},
        ("C means one thing in core/c.py:1", "another in core/a.py:1"),
    ),
    "circle": (
        {
            "core_a": "from .b import B\n",
            "core_b": "from ..ood.c import C\n\nB = 1\n",
            "ood_c": "from ..core.b import B\n",
        },
        ("import circle: core/b.py → ood/c.py → core/b.py",),
    ),
    "import of itself": ({"core_a": "from .a import A\n"}, ("import circle: core/a.py → core/a.py",)),
    "in a function": ({"core_a": "def f():\n    from .b import B\n    return B\n"}, ("core/a.py:2", "in no function")),
    "in a class": ({"core_a": "class A:\n    from .b import B\n"}, ("core/a.py:2", "in no function, class or block")),
    "in a block": (
        {"core_a": "import sys\n\nif sys.argv:\n    from .b import B\n"},
        ("core/a.py:4", "in no function, class or block"),
    ),
    "star": ({"core_a": "from .b import *\n"}, ("core/a.py:1", "`import *`")),
    "star of a library": ({"core_a": "from numpy import *\n"}, ("core/a.py:1", "`import *`")),
    "renamed": ({"core_a": "from .b import B as C\n"}, ("core/a.py:1", "cannot rename")),
    "module": ({"core_a": "from . import b\n"}, ("core/a.py:1", "brings a module")),
    "module of another room": ({"core_a": "from .. import core\n"}, ("core/a.py:1", "brings a module")),
    "package": (
        {"core_a": "from ..ood import C\n", "ood___init__": "C = 1\n"},
        ("core/a.py:1", "imports ood.py, which the package does not have"),
    ),
    "outside": ({"core_a": "from ....x import C\n"}, ("core/a.py:1", "leaves the package")),
    "late import": ({"core_a": "A = 1\nimport math\n"}, ("core/a.py:2", "then all imports, then the rest")),
    "comment between imports": ({"core_a": "import math\n# why\nimport re\n"}, ("core/a.py:2", "all imports")),
    "import and more on a line": ({"core_a": "import math; A = 1\n"}, ("core/a.py:1", "all imports")),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_the_places(case: str, tmp_path: Path) -> None:
    files, messages = REFUSED[case]
    files = {name: f"{text}\n\nLAST_{name} = 1\n" for name, text in {"core_b": "B = 1\n", **files}.items()}
    package = write(tmp_path, **files)
    with pytest.raises(AmalgamationError) as error:
        joined(package, "core/a.py")
    assert [message for message in messages if message not in str(error.value)] == [], error.value


SELECTION = {
    "core_a": """import math
import re

from .b import B, unused_b

LIMIT = 1
UNUSED = re.compile("x")
TABLE = [0, 0]
TABLE[0] = B


# why it is needed
def wanted():
    return helper(TABLE)


def unused():
    return unused_b


def helper(x):
    return math.inf if x else LIMIT
""",
    "core_b": """from .c import unused_c

B = 1


def unused_b():
    return unused_c
""",
    "core_c": "def unused_c():\n    return 0\n",
}


def test_only_what_a_name_needs(tmp_path: Path) -> None:
    """Definitions that it mentions, those that these mention, statements that change one, and their libraries."""
    modules = closure(write(tmp_path, **SELECTION), [("core/a.py", "wanted")])
    assert [module.file for module in modules] == ["core/b.py", "core/a.py"]
    text = amalgam(modules, HEADER)
    assert [line for line in text.splitlines() if "unused" in line.lower() or "import re" in line] == []
    kept = SELECTION["core_a"].replace('UNUSED = re.compile("x")\n', "").split("def unused():")
    assert text.endswith(kept[0][kept[0].index("LIMIT") :] + kept[1][kept[1].index("def helper") :])
    names: dict[str, object] = {}
    exec(compile(text, "amalgam", "exec"), names)
    assert names["TABLE"] == [1, 0]
    assert names["wanted"]() == float("inf")  # type: ignore[operator]


METHODS = """class Shape(dict):
    \"\"\"A shape.\"\"\"

    sides: int

    def __len__(self):
        return self.sides

    def area(self):  # why
        return self.width() * self.height

    def unused(self):
        return helper()

    @property
    def height(self):
        return 2

    def width(self):
        return 3

    def edges(self):
        return self.unused()


def helper():
    return 0
"""


def test_only_methods_that_are_mentioned(tmp_path: Path) -> None:
    """As attributes of anything, or as those that callers use; and those that Python calls."""
    package = write(tmp_path, core_a=METHODS)
    text = amalgam(closure(package, [("core/a.py", "Shape")], ["area"]), HEADER)
    first, _, rest = METHODS[: METHODS.index("    def edges")].partition(
        "    def unused(self):\n        return helper()\n\n"
    )
    assert text.endswith(f"{first}{rest}".rstrip() + "\n")


@pytest.mark.parametrize("folder", metric_folders(ROOT), ids=lambda folder: folder.name)
def test_a_kernel_holds_statements_of_its_sources(folder: Path) -> None:
    """As they are read, and in their order, below the docstring of their file."""
    kernel = (folder / "_kernel.py").read_text()
    head, *sections = kernel.split("\n\n\n# ---- ")
    assert head.startswith("# Generated by spaces/sync.py from openworld_metrics")
    assert sections
    for section in sections:
        comment, _, text = section.rstrip("\n").partition("\n\n")
        rule, *said = comment.split("\n")
        module = read(ROOT / "shared", rule.split()[0])
        assert "\n".join(line[2:] for line in said) == module.docstring
        for statement in module.statements:
            text = text.removeprefix(statement.text.lstrip("\n")).lstrip("\n")
        assert text == "", rule
