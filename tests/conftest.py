from __future__ import annotations

import atexit
import importlib.util
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

# before evaluate is imported: copies of the scripts go to a folder of this run, which its workers share
if "HF_MODULES_CACHE" not in os.environ:
    _folder = tempfile.mkdtemp(prefix="openworld-tests-")
    atexit.register(shutil.rmtree, _folder, ignore_errors=True)
    os.environ["HF_MODULES_CACHE"] = os.path.join(_folder, "modules")
    os.environ["HF_METRICS_CACHE"] = os.path.join(_folder, "metrics")
os.environ["HF_HUB_OFFLINE"] = "1"
# threads of torch and of BLAS that have no work sleep: they would spin, on cores that the other workers need
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

import pytest
from hypothesis import HealthCheck, Phase, settings

# on a busy machine an example may take any time; before tests are imported, whose own settings begin from these
settings.register_profile("any time", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any time")
# for mutants.py: a failure need not become small
settings.register_profile("first failure", deadline=None, phases=(Phase.explicit, Phase.generate))

Run = Callable[..., tuple[int, str, str]]
POSITION = "are matched by position, since no column names them in both"
ROOT = Path(__file__).resolve().parent.parent
# with processes, servers and browsers: first, so that no worker is left alone with a long file at the end
LONG = ("faces/page", "spaces", "cluster", "docs", "package", "faces", "integrations", "command", "metric")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put rooms of long tests first; within a room the order stays."""

    def place(item: pytest.Item) -> int:
        path = item.path.relative_to(ROOT / "tests").as_posix()
        return next((i for i, room in enumerate(LONG) if path.startswith(f"{room}/")), len(LONG))

    items.sort(key=place)


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def space_script() -> Callable[[str], ModuleType]:
    """Import a script of spaces/ by its name; each call gives a module of its own."""

    def import_script(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, ROOT / "spaces" / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return import_script


@pytest.fixture(scope="session")
def load() -> Callable[..., Any]:
    """Load a metric of the checkout; the script is copied and imported once."""
    classes: dict[str, Any] = {}

    def load_metric(name: str, **options: Any) -> Any:
        import evaluate  # here, since it takes seconds and most tests need none

        if name not in classes:
            classes[name] = type(evaluate.load(str(ROOT / "metrics" / name), module_type="metric"))
        return classes[name](**options)

    return load_metric


def without_position(errors: str) -> str:
    """Standard error without the note that rows of several files are matched by position."""
    return "".join(line for line in errors.splitlines(keepends=True) if POSITION not in line)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Run the command in tmp_path, with its standard input, and return the exit code, output and errors."""
    from openworld_metrics.command import cli
    from openworld_metrics.reading.tables import files

    monkeypatch.chdir(tmp_path)

    def run_command(*arguments: object, stdin: str = "") -> tuple[int, str, str]:
        files._standard_input.cache_clear()
        monkeypatch.setattr(sys, "argv", ["openworld-metrics", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        with pytest.raises(SystemExit) as exit_:
            cli.main()
        output, errors = capfd.readouterr()
        return int(exit_.value.code or 0), output, errors

    return run_command
