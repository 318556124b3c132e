"""Draw the figure of docs/get-started.md, docs/assets/first.png, with that page's own code: `make screenshots`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
_FIGURE = "scores.png"  # in the code


def main() -> None:
    """Run the blocks up to the one that draws the figure, as a reader does, and keep the figure."""
    page = (DOCS / "get-started.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(python|sh)\n(.*?)```", page, re.DOTALL)
    first = next(i for i, (_, code) in enumerate(blocks) if "import csv" in code)
    last = next(i for i, (_, code) in enumerate(blocks) if _FIGURE in code)
    path = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory() as folder:
        for kind, code in blocks[first : last + 1]:
            command = [sys.executable, "-c", code] if kind == "python" else ["sh", "-ec", code]
            subprocess.run(command, check=True, cwd=folder, env={**os.environ, **path})
        shutil.copyfile(Path(folder, _FIGURE), DOCS / "assets" / "first.png")


if __name__ == "__main__":
    main()
