"""All targets by name: the module that each is in, imported as it is needed, and its executions in the tests."""

from __future__ import annotations

from importlib import import_module, util
from typing import NamedTuple

from openworld_metrics import METRICS
from tests.fuzz.engine import Target


class Row(NamedTuple):
    """A module of this folder, and how many inputs the tests take: what half a second is enough for."""

    module: str
    tested: int


ENDINGS = ("npy", "npz", "csv", "parquet", "json", *(("pt",) if util.find_spec("torch") else ()))
TARGETS: dict[str, Row] = {
    **{f"columns.{ending}": Row("readers", 100) for ending in ENDINGS},
    "files of OOD scores": Row("readers", 60),
    "saved results": Row("readers", 100),
    **{f"boxes of {name}": Row("boxes", 40) for name in ("YOLO data.yaml", "YOLO folders", "COCO", "VOC", "dicts")},
    "images": Row("boxes", 200),
    "names": Row("boxes", 250),
    **{f"maps.{ending}": Row("maps", 30) for ending in ("tiff", "npy", "npz", "png")},
    "command compute": Row("commands", 100),
    "command detect": Row("commands", 60),
    **{f"columns of {name}": Row("metrics", 40) for name in METRICS},
    **{f"options of {name}": Row("metrics", 50) for name in METRICS},
    **{f"states of {name}": Row("states", 50) for name in METRICS},
    "states in parts": Row("states", 80),
}


def find_target(name: str) -> Target:
    """The target of a name."""
    target: Target = import_module(f"tests.fuzz.{TARGETS[name].module}").TARGETS[name]
    return target
