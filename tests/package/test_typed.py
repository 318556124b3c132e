"""A type checker refuses a misspelt option and a wrong type, and knows the fields of results."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.package.rooms import PACKAGE

CODE = """
from openworld_metrics import OODBench, OpenAUC

OpenAUC(tpr=0.9, fpr_list=[0.1], confidence_level=0.95)
OODBench(metrics=["auroc"], in_value="rest", out_value=1)
OpenAUC(tpt=0.9)
OpenAUC(tpr="high")
OODBench(in_value="res")
reveal_type(OpenAUC().tpr)
"""


@pytest.mark.slow
def test_mypy_checks_options(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "openworld_metrics").symlink_to(PACKAGE.resolve(), target_is_directory=True)
    (tmp_path / "user.py").write_text(CODE)
    options = ["--strict", "--config-file=", "--follow-imports=silent", "--ignore-missing-imports"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "--cache-dir", str(tmp_path / "cache"), "user.py"],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("user.py")]
    assert [int(line.split(":")[1]) for line in lines if ": error:" in line] == [6, 7, 8], done.stdout + done.stderr
    assert 'Unexpected keyword argument "tpt" for "OpenAUC"' in lines[0]
    assert 'float"' in lines[-1]
