"""The scripts and style sheets of the pages are whole, and every event that Python names is one of events.js."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import openworld_metrics
from openworld_metrics.pages.browser import layout

PAGES = Path(openworld_metrics.__file__).parent / "pages"
SCRIPTS = sorted((PAGES / "browser").glob("*.js"))
STYLES = sorted((PAGES / "browser").glob("*.css"))
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
RULE = re.compile(r"\s*[^{};]+\{((?:\s*[\w-]+\s*:[^{};]+;)*)\s*\}")  # of a style sheet: a selector and declarations


def test_all_files_are_served() -> None:
    assert [path.name for path in SCRIPTS] == sorted(layout.SCRIPTS)
    assert [path.name for path in STYLES] == sorted([*layout.STYLES, *layout.ABOVE])
    assert all(path.read_text(encoding="utf-8") in layout.HEAD for path in SCRIPTS)
    assert layout.HEAD.count("</script>") == 1


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_can_be_parsed(path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    command = [node, "--check", "--input-type=commonjs", "-"]
    script = f'"use strict";\n{path.read_text(encoding="utf-8")}'
    done = subprocess.run(command, input=script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", STYLES, ids=lambda path: path.name)
def test_a_style_sheet_is_rules_and_nothing_else(path: Path) -> None:
    text = COMMENT.sub("", path.read_text(encoding="utf-8"))
    text = RULE.sub("", text)  # what is left are @media and @keyframes, whose rules are gone
    text = re.sub(r"@(media|keyframes)[^{};]+\{\s*\}", "", text)
    assert not text.strip()


def test_every_event_is_one_of_the_script() -> None:
    defined = set(re.findall(r"^    (\w+)(?:: \(name|,$)", (PAGES / "browser" / "events.js").read_text(), re.MULTILINE))
    wiring = (PAGES / "events" / "wiring.py").read_text()
    named = set(re.findall(r'(?:_script|_compares|in_browser)\("(\w+)"', wiring))
    assert named == defined - {"looks"}  # which tests wait for
