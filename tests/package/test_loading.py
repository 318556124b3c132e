"""The metrics load as people load them: from the checkout, through evaluate, from a wheel, without torch."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import evaluate
import numpy as np
import pytest

import openworld_metrics
from openworld_metrics import loading
from openworld_metrics.loading import metric_class
from tests import cases

every_metric = pytest.mark.parametrize("name", openworld_metrics.METRICS)


def run(code: str, cwd: Path, python: str = sys.executable, **environment: str) -> str:
    """Run code in a fresh interpreter and return what it prints.

    Without transformers, which evaluate imports where it is installed, and which imports torch, in seconds.
    """
    done = subprocess.run(
        [python, "-c", f"import sys; sys.modules['transformers'] = None\n{code}"],
        cwd=cwd,
        env={**os.environ, "HF_HUB_OFFLINE": "1", **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_collection_is_the_folders(root: Path) -> None:
    folders = {path.name for path in (root / "metrics").iterdir() if (path / f"{path.name}.py").exists()}
    assert folders == set(openworld_metrics.METRICS) == set(cases.METRICS)


@every_metric
def test_evaluate_loads_a_folder_under_its_name(name: str, root: Path) -> None:
    metric = evaluate.load(str(root / "metrics" / name))
    assert metric.name == name
    assert metric.module_type == "metric"
    for text in ("description", "citation", "inputs_description"):
        assert getattr(metric, text), f"metrics/{name}/{name}.py: expected a text as {text} of its MetricInfo, got none"
    assert repr(metric)
    assert metric.compute.__doc__
    assert {"predictions", "references"} <= set(metric._feature_names())


@every_metric
@pytest.mark.parametrize(
    "config", [None, "", "default", "ow-dln", "owod", "OWOD", "protocol", "auroc", 5, ["owod"]], ids=repr
)
def test_a_configuration_is_a_protocol_or_refused(name: str, config: Any, root: Path) -> None:
    folder, protocols = str(root / "metrics" / name), ["ow-dln", "owod"] * (name == "openset_detection")
    if config in (None, "", "default"):
        assert evaluate.load(folder, config).loaded_options == metric_class(name)().loaded_options
    elif config in protocols:
        assert evaluate.load(folder, config).loaded_options["protocol"] == config
        assert evaluate.load(folder, config, protocol=config).loaded_options["protocol"] == config
        (other,) = {*protocols} - {config}
        with pytest.raises(
            ValueError, match=f"protocol: expected '{config}', as the config_name '{config}' says, got '{other}'"
        ):
            evaluate.load(folder, config, protocol=other)
    else:
        expected = "one of 'ow-dln', 'owod'" if protocols else "none"
        with pytest.raises(
            ValueError, match=re.escape(f"config_name: expected {expected}, got {config!r}; options of {name} are")
        ):
            evaluate.load(folder, config)


@every_metric
def test_the_docstring_names_every_argument(name: str, root: Path) -> None:
    metric = evaluate.load(str(root / "metrics" / name))
    for argument in (*metric.columns, *metric.options):
        assert f"{argument}" in metric.inputs_description, argument


def as_code(calls: dict[str, str]) -> str:
    """Code that makes these expressions, and prints what they gave by name."""
    found = ", ".join(f"{name!r}: {call}" for name, call in calls.items())
    return f"print({{{found}}})"


def lists_of(name: str) -> str:
    """Keyword arguments of a case, as code."""
    columns, options = cases.draw(name, 0)
    return f"**{ {key: cases.as_lists(column) for key, column in columns.items()}!r}, **{options!r}"


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    """What each metric gives for its case."""
    found = {}
    for name in openworld_metrics.METRICS:
        columns, options = cases.draw(name, 0)
        found[name] = openworld_metrics.load(name).compute(**columns, **options)
    return found


@pytest.fixture(scope="module")
def copies(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What copies of the folders give, each loaded by its relative path, in one fresh interpreter."""
    folder = tmp_path_factory.mktemp("copies")
    for name in openworld_metrics.METRICS:
        shutil.copytree(root / "metrics" / name, folder / "metrics" / name)
    calls = {name: f"evaluate.load('metrics/{name}').compute({lists_of(name)})" for name in openworld_metrics.METRICS}
    readme = "assert 'name: \"openauc\"' in repr(evaluate.load('metrics/openauc', tpr=0.9))"
    printed = run(f"import evaluate; {readme}; {as_code(calls)}", folder, HF_MODULES_CACHE=str(folder / "modules"))
    return dict(ast.literal_eval(printed.replace("inf", "1e999")))


@every_metric
def test_a_copy_of_a_folder_is_complete(name: str, copies: dict[str, Any], expected: dict[str, Any]) -> None:
    assert copies[name] == expected[name]


def test_torch_is_never_imported_for_a_numpy_caller(root: Path, expected: dict[str, Any]) -> None:
    code = (
        "from tests import cases\n"
        "import openworld_metrics\n"
        "import evaluate\n"
        "assert 'torch' not in sys.modules, 'evaluate itself imports it'\n"
        "found = {}\n"
        "for name in openworld_metrics.METRICS:\n"
        "    columns, options = cases.draw(name, 0)\n"
        "    found[name] = openworld_metrics.load(name).compute(**columns, **options)\n"
        "    assert 'torch' not in sys.modules, name\n"
        "print(found)\n"
    )
    assert ast.literal_eval(run(code, root).replace("inf", "1e999")) == expected


@every_metric
def test_results_are_json_and_survive_evaluate_save(name: str, load: Callable[..., Any], tmp_path: Path) -> None:
    columns, options = cases.draw(name, 1)
    results = load(name).compute(**columns, **options)
    assert json.loads(json.dumps(results)) == results
    saved = evaluate.save(tmp_path, **results)
    assert {key: json.loads(saved.read_text())[key] for key in results} == results


def test_an_unknown_metric() -> None:
    with pytest.raises(ValueError, match=r"name: expected one of accuracyk, .*, got 'acuracyk'"):
        openworld_metrics.load("acuracyk")


def test_threads_load_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """evaluate clears importlib's caches, and CPython raises KeyError in one of two threads that clear them at once."""

    def load(*_: object, **options: object) -> object:
        assert loading._one_at_a_time.locked()
        return options

    monkeypatch.setattr(evaluate, "load", load)
    assert openworld_metrics.load("openauc", tpr=0.6)["tpr"] == 0.6
    assert not loading._one_at_a_time.locked()


@pytest.fixture(scope="module")
def installed(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of a new virtual environment with the wheel, and with the dependencies of this one."""
    folder = tmp_path_factory.mktemp("wheel")
    source, environment = folder / "source", folder / "venv"
    others = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "__pycache__", "docs", "tests", "demo")
    shutil.copytree(root, source, ignore=others)
    pip = [sys.executable, "-m", "pip", "--quiet"]
    # an environment of Python 3.11 begins with a setuptools that is older than pyproject.toml wants
    is_enough = find_spec("setuptools") is not None and int(version("setuptools").partition(".")[0]) >= 77
    isolation = ["--no-build-isolation"] if is_enough else []
    wheel = [*pip, "wheel", "--no-deps", *isolation, "--wheel-dir", str(folder), str(source)]
    subprocess.run(wheel, check=True, timeout=300)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True, timeout=300)
    into = ["--python", str(environment), "install", "--no-compile", "--no-deps", "--no-index"]
    into += map(str, folder.glob("*.whl"))
    subprocess.run([*pip, *into], check=True, timeout=300)
    shutil.rmtree(source)
    (site,) = environment.glob("lib/python*/site-packages")
    # a plain path: the files that make this project importable from its checkout are not read there
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return environment / "bin"


def test_a_wheel_loads_all_metrics_offline_and_holds_the_checkout(
    installed: Path, root: Path, tmp_path: Path, expected: dict[str, Any]
) -> None:
    loads = f"[openworld_metrics.load(name).name for name in {list(openworld_metrics.METRICS)!r}]"
    computed = f"openworld_metrics.load('ood_bench').compute({lists_of('ood_bench')})"
    code = f"import openworld_metrics; print(openworld_metrics.__file__); print({loads}); print({computed})"
    modules = {"HF_MODULES_CACHE": str(tmp_path / "modules"), "HF_EVALUATE_OFFLINE": "1"}
    path, names, results = run(code, tmp_path, str(installed / "python"), **modules).splitlines()
    assert ast.literal_eval(names) == list(openworld_metrics.METRICS)
    assert ast.literal_eval(results.replace("inf", "1e999")) == expected["ood_bench"]
    package = Path(path).parent
    assert package.is_relative_to(installed.parent)
    files = [path for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    size, bound = sum(path.stat().st_size for path in files), 2_380_000 + 215_000 * len(openworld_metrics.METRICS)
    assert size < bound, f"a wheel has {size} bytes: 2.38 MB of code, and 215 kB a metric, most of which its examples"
    held = [(file, package / file.relative_to(root / "shared")) for kind in ("py", "js", "css", "html", "typed")
            for file in (root / "shared").rglob(f"*.{kind}")]  # fmt: skip
    for name in openworld_metrics.METRICS:
        ours, theirs = root / "metrics" / name, package / "metrics" / name
        assert (theirs / "_kernel.py").stat().st_size < 1000  # no kernel twice
        held += [
            (file, theirs / file.relative_to(ours)) for file in (ours / "README.md", *(ours / "examples").iterdir())
        ]
    assert [str(ours) for ours, theirs in held if not theirs.exists() or theirs.read_bytes() != ours.read_bytes()] == []


def test_the_command_of_an_installed_wheel(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text("score,label\n0.1,0\n0.9,1\n")
    command = [str(installed / "openworld-metrics"), "compute", "ood_bench"]
    command += ["--predictions", "scores.csv:score", "--references", "scores.csv:label"]
    environment = {**os.environ, "HF_MODULES_CACHE": str(tmp_path / "modules")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {"auroc": 1.0, "fpr95tpr": 0.0}


@every_metric
def test_a_script_holds_no_arithmetic(name: str, root: Path) -> None:
    tree = ast.parse((root / "metrics" / name / f"{name}.py").read_text())
    arithmetic = [node.lineno for node in ast.walk(tree) if isinstance(node, (ast.BinOp, ast.AugAssign))]
    unions = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr)]
    assert sorted(set(arithmetic) - set(unions)) == []


def test_state_is_small_for_score_matrices(load: Callable[..., Any]) -> None:
    rng = np.random.default_rng(0)
    n, classes = 100, 2000
    columns = dict(predictions=rng.random((n, classes)), references=rng.integers(0, classes, n))
    for name, extra in [("accuracyk", {}), ("autkc", {}), ("openauc", {"open_scores": rng.random(n)})]:
        metric = load(name)
        metric.add_batch(**columns, **extra)
        assert sum(array.nbytes for array in metric.state().values()) <= 32 * n
