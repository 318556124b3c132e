"""Write a table into docs/benchmarks.md, between its markers, under a line that says where it was measured."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path

import numpy as np

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"


def write(marker: str, lines: Sequence[str], device: str = "") -> None:
    """Replace what stands between `<!-- marker -->` and `<!-- end of marker -->`; `device` names a GPU."""
    head, begin, rest = PAGE.read_text(encoding="utf-8").partition(f"<!-- {marker} -->\n")
    _, end, tail = rest.partition(f"<!-- end of {marker} -->")
    machine = device + " and " if device else ""
    machine += f"{os.cpu_count()} cores of {processor()}, Python {platform.python_version()}, NumPy {np.__version__}."
    body = f"Measured on {machine}\n\n" + "\n".join(lines) + "\n"
    PAGE.write_text(head + begin + body + end + tail, encoding="utf-8")


def processor() -> str:
    """The processor's name, as the system tells it."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    return names[0] if names else platform.machine()
