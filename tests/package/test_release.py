"""What a release says of itself is said once, and what its workflow runs is there."""

from __future__ import annotations

import configparser
import json
import re
import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

from openworld_metrics.metric.signature import VERSION
from tests.package.rooms import MODULES

ROOT = Path(__file__).resolve().parents[2]


def config() -> configparser.ConfigParser:
    found = configparser.ConfigParser()
    found.read(ROOT / "setup.cfg", encoding="utf-8")
    return found


def test_the_version() -> None:
    stated = config()["metadata"]["version"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == stated == version("openworld-metrics") == VERSION
    archive = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
    assert archive["version"] == stated
    assert citation["license"] == archive["license"] == config()["metadata"]["license"]
    assert archive["keywords"] == citation["keywords"]
    newest = re.findall(r"^## \[(\d.*)\] - (.*)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE)[0]
    assert newest == (stated, str(citation["date-released"]))


def test_no_test_runs_for_ever(pytestconfig: pytest.Config) -> None:
    assert pytestconfig.pluginmanager.hasplugin("timeout")
    assert 0 < float(pytestconfig.getini("timeout")) <= 300


def test_the_changelog() -> None:
    """Keep a Changelog 1.1.0: the newest first, the unreleased before all, six kinds of change."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
    assert versions[0] == "[Unreleased]"
    dated = [re.fullmatch(r"\[(\d+)\.(\d+)\.(\d+)\] - \d{4}-\d{2}-\d{2}", line) for line in versions[1:]]
    assert None not in dated
    numbers = [tuple(map(int, found.groups())) for found in dated if found]
    assert numbers == sorted(numbers, reverse=True)
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.*)$", text, flags=re.MULTILINE)) <= kinds


def test_the_workflow_calls_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, flags=re.MULTILINE))
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    matrix = {entry["target"] for entry in workflow["jobs"]["test"]["strategy"]["matrix"]["include"]}
    runs = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    called = {word for run in runs if run.startswith("make ") for word in re.findall(r" ([a-z][a-z-]*)(?= |$)", run)}
    assert called | matrix == {
        *("lint", "lint-workflows", "docs", "check-dist"),
        *("test", "test-core", "test-integrations", "test-lowest", "test-without-torch"),
    }
    assert (called | matrix) - {"docs"} <= targets


def test_actions_are_pinned_by_commit() -> None:
    """A tag may be moved to other code; the version is said beside the commit."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / ".github" / "workflows").glob("*.yml")]
    used = [name for text in texts for name in re.findall(r"uses: ([^.].*)", text)]
    assert len(used) > 5
    assert [line for line in used if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line)] == []


def test_the_tests_of_the_core_are_there() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    names = re.search(r"^CORE := \$\(addprefix tests/,(.*)\)$", makefile, flags=re.MULTILINE)
    assert names is not None
    assert [name for name in names[1].split() if not (ROOT / "tests" / name).exists()] == []


def test_a_python_that_is_supported_is_tested() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    tested = {entry["python"] for entry in workflow["jobs"]["test"]["strategy"]["matrix"]["include"]}
    named = set(re.findall(r":: (3\.\d+)$", config()["metadata"]["classifiers"], flags=re.MULTILINE))
    assert tested == named
    assert config()["options"]["python_requires"] == f">={min(named, key=lambda text: int(text[2:]))}"


def test_what_needs_evaluate() -> None:
    """docs/get-started.md: two modules import evaluate, and `load` does when it is called."""
    wanted = re.compile(r"^( *)(?:import|from) (?:evaluate|datasets)\b", flags=re.MULTILINE)
    found = {name: wanted.findall(file.read_text(encoding="utf-8")) for name, file in MODULES.items()}
    assert {name: indents for name, indents in found.items() if indents} == {
        "integrations.combining": ["    "],
        "integrations.evaluators": ["    "],
        "loading": ["        "],
    }


def test_nobody_is_told_to_install_a_package_that_is_not_there() -> None:
    """openworld-metrics is not on PyPI, where another project may take the name; extras.py names it if it is there."""
    git = ["git", "grep", "-nEI", "pip install (-[^ ]+ )*[\"']?openworld", "--", ":!tests"]
    assert subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=False).stdout == ""


def test_the_recipe_for_conda() -> None:
    text = (ROOT / "packaging" / "recipe.yaml").read_text(encoding="utf-8")
    recipe, stated = yaml.safe_load(text), config()
    lowest = recipe["context"]["python_min"]
    assert recipe["context"]["version"] == stated["metadata"]["version"]
    assert f">={lowest}" == stated["options"]["python_requires"]
    python, *run = recipe["requirements"]["run"]
    assert python == "python >=${{ python_min }}"
    assert [line.replace(" ", "") for line in run] == stated["options"]["install_requires"].split()
    assert recipe["build"]["python"]["entry_points"][0] in stated["options.entry_points"]["console_scripts"]
    assert recipe["about"]["license"] == stated["metadata"]["license"]
