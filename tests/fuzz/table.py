"""All targets by name: the module that each is in, imported as it is needed."""

from __future__ import annotations

from importlib import import_module, util

from openworld_metrics import METRICS
from tests.fuzz.engine import Target

ENDINGS = ("npy", "npz", "csv", "parquet", "json", *(("pt",) if util.find_spec("torch") else ()))
TARGETS: dict[str, str] = {
    **{f"columns.{ending}": "readers" for ending in ENDINGS},
    "files of OOD scores": "readers",
    "saved results": "readers",
    **{f"boxes of {name}": "boxes" for name in ("YOLO data.yaml", "YOLO folders", "COCO", "VOC", "dicts")},
    **{f"maps.{ending}": "maps" for ending in ("tiff", "npy", "npz", "png")},
    **{f"columns of {name}": "metrics" for name in METRICS},
    **{f"options of {name}": "metrics" for name in METRICS},
    **{f"states of {name}": "states" for name in METRICS},
    "states in parts": "states",
}


def find_target(name: str) -> Target:
    """The target of a name."""
    target: Target = import_module(f"tests.fuzz.{TARGETS[name]}").TARGETS[name]
    return target
