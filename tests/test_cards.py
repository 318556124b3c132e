"""The metric cards: their front matter, their order, their examples, and that they leave nothing out."""

from __future__ import annotations

import doctest
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from openworld_metrics import METRICS

Load = Callable[..., Any]
COLORS = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}
REQUIRED = {
    "title": str,
    "emoji": str,
    "colorFrom": str,
    "colorTo": str,
    "sdk": str,
    "sdk_version": str,
    "python_version": str,
    "app_file": str,
    "pinned": bool,
    "license": str,
    "tags": list,
    "description": str,
    "short_description": str,
}
HEADINGS = (
    "# Metric Card for {name}",
    "## Metric Description",
    "## How to Use",
    "### Inputs",
    "### Output Values",
    "#### Values from Popular Papers",
    "### Examples",
    "## Limitations and Bias",
    "## Citation",
    "## Further References",
)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.parametrize("name", METRICS)


def split_card(root: Path, name: str) -> tuple[str, str]:
    """Front matter and text of a card."""
    before, front, text = (root / "metrics" / name / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    assert before == "", "the front matter has to come first"
    return front, text


def test_front_matter(name: str, root: Path) -> None:
    front = yaml.safe_load(split_card(root, name)[0])
    # a version that is not quoted is a float, and the Hub refuses it
    assert {key: type(front.get(key)) for key in REQUIRED} == REQUIRED
    assert front["title"] == name
    assert front["sdk"] == "gradio"
    assert front["app_file"] == "app.py"
    assert front["license"] == "apache-2.0"
    assert {front["colorFrom"], front["colorTo"]} <= COLORS
    assert {"evaluate", "metric"} <= set(front["tags"])
    assert 0 < len(front["short_description"]) <= 60
    assert front["emoji"].strip()
    assert front["description"].strip()


def test_headings(name: str, root: Path) -> None:
    text = FENCE.sub("", split_card(root, name)[1])
    assert re.findall(r"^#+ .*$", text, re.MULTILINE) == [heading.format(name=name) for heading in HEADINGS]


def test_examples(name: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    fences = [code for language, code in FENCE.findall(split_card(root, name)[1]) if language == "python"]
    examples = doctest.DocTestParser().get_doctest("\n".join(fences), {}, name, f"metrics/{name}/README.md", 0)
    report: list[str] = []
    results = doctest.DocTestRunner(verbose=False).run(examples, out=report.append)
    assert not results.failed, "".join(report)
    assert any(f'evaluate.load("metrics/{name}"' in example.source for example in examples.examples)
    assert all(">>> " in code for code in fences), "a fence that no test runs"


def test_nothing_left_out(name: str, root: Path, load: Load) -> None:
    metric = load(name)
    text = split_card(root, name)[1]
    names = {*metric.options, *metric.aliases, *inspect.signature(metric.reduce).parameters}
    assert not {name for name in names if f"`{name}`" not in text}
