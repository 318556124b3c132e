"""The blocks of docs/guides/training.md run as they stand, each section a script of its own, where its library is."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "training.md"
SECTIONS = {
    section.partition("\n")[0]: re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    for section in GUIDE.read_text(encoding="utf-8").split("\n## ")[1:]
}
NEEDS = {
    "transformers.Trainer": ["torch", "transformers", "accelerate"],
    "Lightning": ["torchmetrics", "pytorch_lightning"],
    "Keras": ["keras"],
    "JAX": ["jax"],
}


def test_the_guide_shows_all() -> None:
    assert list(SECTIONS) == list(NEEDS)
    assert all(blocks and "import " in blocks[0] for blocks in SECTIONS.values())


@pytest.mark.parametrize("section", NEEDS)
def test_a_section(
    section: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A block without imports continues the one before; each prints the last openauc, or NaN where it says so."""
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    for library in NEEDS[section]:
        pytest.importorskip(library)
    blocks = SECTIONS[section]
    script = tmp_path / "script.py"
    script.write_text("\n\n".join(blocks), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name="__main__")
    lines = capfd.readouterr().out.splitlines()
    printed = [float(line) for line in lines if re.fullmatch(r"[01]\.\d+", line)]
    missing = sum("# nan" in block for block in blocks)
    assert lines.count("nan") == missing
    assert len(printed) == len(blocks) - missing
    assert all(0 <= value <= 1 for value in printed)
