"""Cells of a .csv that a page writes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from openworld_metrics.pages.browser import layout


@pytest.mark.skipif(shutil.which("node") is None, reason="no node here to run the pages' JavaScript")
def test_cells_of_a_csv_are_no_formulas() -> None:
    """What begins like a formula is text in a spreadsheet, numbers stay numbers, and commas and quotes are quoted."""
    script = (Path(layout.__file__).parent / "page.js").read_text(encoding="utf-8")
    function = re.search(r"  const quoted = .*?\n  \};\n", script, re.DOTALL)
    assert function is not None
    cells = ["=1+1", "+cmd", "-cmd", "@x", "\tx", "-1.5", "+2", "1e-9", "-inf", "a,b", 'say "x"', "=a,b", None, "plain"]
    code = f"{function[0]} console.log(JSON.stringify({json.dumps(cells)}.map(quoted)))"
    done = subprocess.run(["node", "-e", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [
        *("'=1+1", "'+cmd", "'-cmd", "'@x", "'\tx", "-1.5", "+2", "1e-9", "'-inf"),
        *('"a,b"', '"say ""x"""', '"\'=a,b"', "", "plain"),
    ]
