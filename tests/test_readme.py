"""The blocks of the README's section "In your training loop" run as they stand, each as a script of its own."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("distributed")
pytest.importorskip("torchmetrics")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")

ROOT = Path(__file__).resolve().parent.parent
SECTION = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## In your training loop\n")[2]
BLOCKS = re.findall(r"```python\n(.*?)```", SECTION.partition("\n## ")[0], flags=re.DOTALL)


def scripts() -> dict[str, str]:
    """The blocks by what they show; one that imports nothing continues the one before."""
    found: list[str] = []
    for block in BLOCKS:
        if "import " in block:
            found.append(block)
        else:
            found[-1] += "\n\n" + block
    return {re.findall(r"Trainer|as_torchmetrics|evaluator|dist\.|Accelerator|Client", text)[0]: text for text in found}


def test_the_section_shows_all() -> None:
    assert list(scripts()) == ["Trainer", "as_torchmetrics", "evaluator", "dist.", "Accelerator", "Client"]


@pytest.mark.parametrize("name", scripts())
def test_a_script(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "script.py"
    script.write_text(scripts()[name])
    if name == "dist.":
        torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
        subprocess.run([*torchrun, str(script)], check=True, timeout=300)
    else:
        runpy.run_path(str(script), run_name="__main__")
    printed = [line for line in capfd.readouterr().out.splitlines() if re.fullmatch(r"[\d.]+|\{'auroc.*\}", line)]
    assert len(printed) == (2 if name == "Trainer" else 1)
