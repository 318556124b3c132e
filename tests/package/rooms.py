"""The modules of the package, by room."""

from __future__ import annotations

from pathlib import Path

import openworld_metrics

PACKAGE = Path(openworld_metrics.__file__).parent
KERNEL = ("arrays", "ranking", "metric", "classification", "open_set", "ood", "anomaly", "detection")


def dotted(file: Path) -> str:
    """A module by its name below the package: arrays.columns, arrays, or nothing for the package itself."""
    return ".".join(file.relative_to(PACKAGE).with_suffix("").parts).removesuffix("__init__").rstrip(".")


def room(module: str) -> str:
    """The room of a module; a file at the top of the package is a room of its own."""
    return module.partition(".")[0] or "__init__"


MODULES = {dotted(file): file for file in sorted(PACKAGE.rglob("*.py"))}
