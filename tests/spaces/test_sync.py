"""spaces/sync.py keeps what it generates true and refuses what evaluate's loader would misread."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import evaluate.loading
import pytest

import openworld_metrics
import requirements
import sync


@pytest.fixture
def project(root: Path, tmp_path: Path) -> Path:
    """A copy of the sources that two metrics need, which a test may break."""
    for folder in ("shared", "metrics/openauc", "metrics/ood_bench"):
        shutil.copytree(root / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.cfg", "constraints.txt"):
        shutil.copy(root / name, tmp_path)
    return tmp_path


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text() + text)


def problems(project: Path, name: str = "openauc") -> list[str]:
    return list(sync.sync(project / "metrics" / name, project, check=True))


@pytest.mark.parametrize("name", openworld_metrics.METRICS)
def test_the_checkout_is_in_sync(name: str, root: Path) -> None:
    assert problems(root, name) == []


@pytest.mark.parametrize("name", openworld_metrics.METRICS)
def test_the_loader_sees_the_kernel(name: str, root: Path) -> None:
    """And no more is there to see: the kernel imports libraries only."""
    folder = root / "metrics" / name
    seen = {found for kind, found, *_ in evaluate.loading.get_imports(str(folder / f"{name}.py")) if kind == "internal"}
    assert seen == {"_kernel"}
    assert {path.name for path in folder.glob("_*.py")} == {"_kernel.py"}
    assert "\nfrom ." not in (folder / "_kernel.py").read_text()


def test_a_kernel_runs_without_the_package(root: Path, tmp_path: Path) -> None:
    """Neither the package nor torch nor what draws a page is imported by any of them."""
    names = [f"{name}_kernel" for name in openworld_metrics.METRICS]
    for name in openworld_metrics.METRICS:
        shutil.copy(root / "metrics" / name / "_kernel.py", tmp_path / f"{name}_kernel.py")
    code = f"import sys, {', '.join(names)}\n"
    code += "print({'openworld_metrics', 'torch', 'gradio', 'click'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize("name", openworld_metrics.METRICS)
def test_a_kernel_holds_what_its_script_needs(name: str, root: Path) -> None:
    """No page, and of metrics that rank nothing but classes no sort."""
    text = (root / "metrics" / name / "_kernel.py").read_text()
    files = {line.split()[2] for line in text.splitlines() if line.startswith("# ---- ")}
    assert {file.split("/")[0] for file in files} <= {*sync.KERNEL, "extras.py"}
    if name in {"accuracyk", "autkc"}:
        sorts = {"arrays/sorting.py", *(f"ranking/{x}.py" for x in ("quantities", "auroc", "curves"))}
        assert sorts.isdisjoint(files)


def test_an_app_serves_only_when_it_is_run(root: Path) -> None:
    app = runpy.run_path(str(root / "metrics" / "openauc" / "app.py"))
    assert "launch" not in app


def test_drift_is_found_and_mended(project: Path) -> None:
    folder = project / "metrics" / "openauc"
    auroc = project / "shared" / "ranking" / "auroc.py"
    auroc.write_text(auroc.read_text().replace("\ndef twice_wins(", "\n# changed\ndef twice_wins("))
    (folder / "requirements.txt").write_text("numpy\n")
    (folder / "_left.py").write_text("")
    (folder / "app.py").unlink()
    found = problems(project)
    assert [problem.split(":")[0] for problem in found] == [
        "openauc/_left.py",
        "openauc/_kernel.py",
        "openauc/app.py",
        "openauc/requirements.txt",
    ]
    assert list(sync.sync(folder, project, check=False)) == []
    assert problems(project) == []
    assert not (folder / "_left.py").exists()
    assert "\n# changed\n" in (folder / "_kernel.py").read_text()
    assert "scikit-learn>=1.5" not in (folder / "requirements.txt").read_text()
    assert "scikit-learn>=1.5" in (project / "metrics" / "ood_bench" / "requirements.txt").read_text()


FIRST = "from ._kernel import "
TRAPS = {
    "trailing-comment": ("import datasets\n", "import datasets  # noqa: F401\n", "no comment on an import"),
    "comment-in-names": (FIRST, f"{FIRST}(  # noqa: F401\n    AUROC,\n)\n{FIRST}", "no comment on an import"),
    "two-imports-a-line": ("import datasets\nimport evaluate\n", "import datasets, evaluate\n", "one import a line"),
    "from-dot": (FIRST, f"from . import _kernel\n{FIRST}", "loader copies only flat files"),
    "from-parent": (FIRST, f"from .. import x\n{FIRST}", "loader copies only flat files"),
    "package": (FIRST, f"from .kernel.curves import x\n{FIRST}", "loader copies only flat files"),
    "indented": (FIRST, f"if True:\n    from ._kernel import AUROC\n{FIRST}", "column 0 only"),
    "evaluate-class": ("import evaluate\n", "import evaluate\nfrom evaluate import Metric\n", "taken for the metric"),
    "torch": ("import datasets\n", "import datasets\nimport torch\n", "mandatory"),
    "from-torch": ("import datasets\n", "import datasets\nfrom torch import nn\n", "mandatory"),
    "odd-quotes": ("import datasets\n", '# three """ here\nimport datasets\n', "does not see this import"),
    "import-in-string": (
        *("import datasets\n", "X = '''\nimport something\n'''\nimport datasets\n"),
        "takes this line of a string",
    ),
    "class-name": ("class Openauc(", "class OpenAUC(", "expected a class Openauc"),
    "script-name": (FIRST, f"from .openauc import x\n{FIRST}", "must not have the script's name"),
    "no-such-file": (FIRST, f"from ._nowhere import x\n{FIRST}", "there is no _nowhere.py beside the script"),
    "no-such-name": (FIRST, f"from ._kernel import nothing\n{FIRST}", "that defines nothing, got none"),
    "unused-name": (FIRST, f"from ._kernel import AUPR\n{FIRST}", "openauc.py: AUPR is imported and not used"),
    "library": ("import datasets\n", "import datasets\nimport polars\n", "polars is imported, but setup.cfg does not"),
}


@pytest.mark.parametrize("trap", TRAPS)
def test_each_trap_is_refused(trap: str, project: Path) -> None:
    before, after, message = TRAPS[trap]
    script = project / "metrics" / "openauc" / "openauc.py"
    text = script.read_text()
    assert before in text
    script.write_text(text.replace(before, after, 1))
    found = problems(project)
    assert any(message in problem for problem in found), found


def edit(file: str, text: str) -> Callable[[Path], None]:
    return lambda project: append(project / file, text)


IMPOSSIBLE: dict[str, tuple[Callable[[Path], None], str]] = {
    "no-script": (lambda project: (project / "metrics/openauc/openauc.py").unlink(), "expected a script openauc.py"),
    "two-files-define-it": (
        edit("shared/arrays/checks.py", "\n\nclass Evaluated:\n    pass\n"),
        "that defines Evaluated, got arrays/checks.py and metric/evaluate_adapter.py",
    ),
    "collision": (edit("shared/arrays/checks.py", "\n\nState = 1\n"), "State means one thing in arrays/arrays.py:"),
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_what_cannot_be_written_is_left_as_it_is(case: str, project: Path) -> None:
    spoil, message = IMPOSSIBLE[case]
    spoil(project)
    folder = project / "metrics" / "openauc"
    before = {path.name: path.read_bytes() for path in folder.glob("*.*")}
    (found,) = sync.sync(folder, project, check=False)
    assert message in found
    assert {path.name: path.read_bytes() for path in folder.glob("*.*")} == before


def test_libraries_that_a_type_checker_alone_needs_are_not_required(project: Path) -> None:
    head = "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import polars\n"
    text = f"{head}\n\ndef f() -> polars.Series:\n    import numba\n"
    (project / "shared" / "arrays" / "more.py").write_text(f'"""More."""\n\n{text}')
    options = project / "shared" / "arrays" / "checks.py"
    text = options.read_text().replace("import numpy as np\n", "import numpy as np\nfrom .more import f\n")
    options.write_text(text.replace("def as_bool(", "f()\n\n\ndef as_bool("))
    before = (project / "metrics" / "openauc" / "requirements.txt").read_text()
    assert list(sync.sync(project / "metrics" / "openauc", project, check=False)) == []
    assert "import polars" in (project / "metrics" / "openauc" / "_kernel.py").read_text()
    assert (project / "metrics" / "openauc" / "requirements.txt").read_text() == before


def test_libraries_of_what_a_page_imports_are_required(project: Path) -> None:
    """Of modules in rooms, by whatever kind of import, in functions too."""
    (project / "shared" / "room").mkdir()
    for name, text in {"__init__": "import click", "a": "from . import b", "b": "def f():\n    import PIL\n"}.items():
        (project / "shared" / "room" / f"{name}.py").write_text(text)
    text = "from openworld_metrics.room.a import b\nimport json, sklearn.metrics\nfrom ._kernel import x\n"
    found = requirements.libraries([text], project / "shared")
    assert found == {"PIL", "click", "json", "sklearn"}


def test_check_changes_nothing_and_exits_1(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = project / "metrics" / "openauc" / "_kernel.py"
    kernel.write_text("changed")
    monkeypatch.setattr(sync, "ROOT", project)
    monkeypatch.setattr("sys.argv", ["sync.py", "--check"])
    assert sync.main() == 1
    assert "openauc/_kernel.py: differs from its source; run spaces/sync.py" in capsys.readouterr().err
    assert kernel.read_text() == "changed"
    monkeypatch.setattr("sys.argv", ["sync.py"])
    assert sync.main() == 0
    assert kernel.read_text() != "changed"


def test_a_space_gets_no_release_that_was_not_tested(root: Path) -> None:
    assert [requirements.next_release(version) for version in ("6.31.0", "0.4.6", "12.3")] == ["7", "0.5", "13"]
    for text in (root / "metrics").glob("*/requirements.txt"):
        lines = text.read_text().splitlines()[1:]
        assert lines
        assert all(re.fullmatch(r"[\w-]+>=[\d.]+,<[\d.]+", line) for line in lines)
