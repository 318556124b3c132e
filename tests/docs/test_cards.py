"""The metric cards: their order, their examples, and that they leave nothing out (test_publish: their front matter)."""

from __future__ import annotations

import doctest
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from openworld_metrics import METRICS

Load = Callable[..., Any]
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


def card_text(root: Path, name: str) -> str:
    """The text of a card, after its front matter."""
    return (root / "metrics" / name / "README.md").read_text(encoding="utf-8").split("---\n", 2)[2]


def test_headings(name: str, root: Path) -> None:
    text = FENCE.sub("", card_text(root, name))
    assert re.findall(r"^#+ .*$", text, re.MULTILINE) == [heading.format(name=name) for heading in HEADINGS]


def test_examples(name: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    fences = [code for language, code in FENCE.findall(card_text(root, name)) if language == "python"]
    examples = doctest.DocTestParser().get_doctest("\n".join(fences), {}, name, f"metrics/{name}/README.md", 0)
    report: list[str] = []
    results = doctest.DocTestRunner(verbose=False).run(examples, out=report.append)
    assert not results.failed, "".join(report)
    assert any(f'evaluate.load("metrics/{name}"' in example.source for example in examples.examples)
    assert all(">>> " in code for code in fences), "a fence that no test runs"


def test_nothing_left_out(name: str, root: Path, load: Load) -> None:
    metric = load(name)
    text = card_text(root, name)
    names = {*metric.options, *metric.aliases, *metric.columns}
    assert not {name for name in names if f"`{name}`" not in text}
