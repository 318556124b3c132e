"""spaces/sync.py keeps the copies true and refuses what evaluate's loader would misread."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import evaluate.loading
import pytest

import openworld_metrics


@pytest.fixture(scope="module")
def sync(space_script: Callable[[str], ModuleType]) -> ModuleType:
    return space_script("sync")


@pytest.fixture
def project(root: Path, tmp_path: Path) -> Path:
    """A copy of the project's sources that a test may break."""
    for folder in ("shared", "metrics"):
        shutil.copytree(root / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(root / "setup.cfg", tmp_path)
    return tmp_path


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text() + text)


def problems(sync: ModuleType, project: Path, name: str = "openauc") -> list[str]:
    return list(sync.sync(project / "metrics" / name, project, check=True))


@pytest.mark.parametrize("name", openworld_metrics.METRICS)
def test_the_checkout_is_in_sync(name: str, sync: ModuleType, root: Path) -> None:
    assert problems(sync, root, name) == []


@pytest.mark.parametrize("name", openworld_metrics.METRICS)
def test_the_loader_sees_the_whole_closure(name: str, sync: ModuleType, root: Path) -> None:
    folder = root / "metrics" / name
    seen = {found for kind, found, *_ in evaluate.loading.get_imports(str(folder / f"{name}.py")) if kind == "internal"}
    # what only app.py imports, the loader need not see
    assert seen == {path.stem for path in folder.glob("_*.py") if not path.stem.startswith("_ui")}
    assert seen == sync.kernel_closure(root / "shared", list(seen))


def test_drift_is_found_and_mended(sync: ModuleType, project: Path) -> None:
    folder = project / "metrics" / "openauc"
    append(project / "shared" / "_curves.py", "\n# changed\n")
    (folder / "requirements.txt").write_text("numpy\n")
    (folder / "_left.py").write_text("")
    (folder / "_open_set.py").unlink()
    found = problems(sync, project)
    assert [problem.split(":")[0] for problem in found] == [
        "openauc/_left.py",
        "openauc/_curves.py",
        "openauc/_open_set.py",
        "openauc/requirements.txt",
    ]
    assert list(sync.sync(folder, project, check=False)) == []
    assert problems(sync, project) == []
    assert not (folder / "_left.py").exists()
    assert "scikit-learn>=1.5" not in (folder / "requirements.txt").read_text()
    assert "scikit-learn>=1.5" in (project / "metrics" / "ood_bench" / "requirements.txt").read_text()


FIRST_IMPORT = "from ._accumulate import Accumulate\n"
TRAPS = {
    "trailing-comment": (
        FIRST_IMPORT,
        "from ._accumulate import Accumulate  # noqa: F401\n",
        "no comment on an import",
    ),
    "two-imports-a-line": ("import datasets\nimport evaluate\n", "import datasets, evaluate\n", "one import a line"),
    "from-dot": (FIRST_IMPORT, "from . import _accumulate\n" + FIRST_IMPORT, "loader copies only flat files"),
    "from-parent": (FIRST_IMPORT, "from .. import x\n" + FIRST_IMPORT, "loader copies only flat files"),
    "package": (FIRST_IMPORT, "from .kernel.curves import x\n" + FIRST_IMPORT, "loader copies only flat files"),
    "indented": (
        FIRST_IMPORT,
        "try:\n    from ._accumulate import Accumulate\nexcept ImportError:\n    pass\n",
        "column 0 only",
    ),
    "evaluate-class": ("import evaluate\n", "import evaluate\nfrom evaluate import Metric\n", "taken for the metric"),
    "torch": ("import datasets\n", "import datasets\nimport torch\n", "mandatory"),
    "from-torch": ("import datasets\n", "import datasets\nfrom torch import nn\n", "mandatory"),
    "odd-quotes": ("import datasets\n", '# three """ here\nimport datasets\n', "does not see this import"),
    "import-in-string": (
        "import datasets\n",
        "X = '''\nimport something\n'''\nimport datasets\n",
        "takes this line of a string",
    ),
    "class-name": ("class Openauc(", "class OpenAUC(", "expected a class Openauc"),
    "missing-import": (
        "from ._open_set import reduce_openauc\n",
        "from ._maps import reduce_maps\n",
        "add `from ._open_set",
    ),
    "no-such-file": (FIRST_IMPORT, "from ._nowhere import x\n" + FIRST_IMPORT, "which shared/ does not have"),
}


@pytest.mark.parametrize("trap", TRAPS)
def test_each_trap_is_refused(trap: str, sync: ModuleType, project: Path) -> None:
    before, after, message = TRAPS[trap]
    script = project / "metrics" / "openauc" / "openauc.py"
    text = script.read_text()
    assert before in text
    if trap == "missing-import":
        append(project / "shared" / "_maps.py", "\nfrom ._open_set import reduce_openauc\n")
    script.write_text(text.replace(before, after, 1))
    found = problems(sync, project)
    assert any(message in problem for problem in found), found


def test_a_kernel_file_named_like_the_script(sync: ModuleType, project: Path) -> None:
    script = project / "metrics" / "openauc" / "openauc.py"
    script.write_text(script.read_text().replace(FIRST_IMPORT, "from .openauc import x\n" + FIRST_IMPORT))
    assert any("must not have the script's name" in problem for problem in problems(sync, project))


def test_check_changes_nothing_and_exits_1(
    sync: ModuleType, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = project / "metrics" / "openauc" / "_curves.py"
    copy.write_text("changed")
    monkeypatch.setattr(sync, "ROOT", project)
    monkeypatch.setattr("sys.argv", ["sync.py", "--check"])
    assert sync.main() == 1
    assert "openauc/_curves.py: differs from its source; run spaces/sync.py" in capsys.readouterr().err
    assert copy.read_text() == "changed"
    monkeypatch.setattr("sys.argv", ["sync.py"])
    assert sync.main() == 0
    assert copy.read_text() != "changed"
