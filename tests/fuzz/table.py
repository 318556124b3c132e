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


_ENDINGS = (
    ("npy", "npz", "csv", "parquet", "json", "pt")
    if util.find_spec("torch")
    else ("npy", "npz", "csv", "parquet", "json")
)
TARGETS: dict[str, Row] = {
    **{f"columns.{ending}": Row("readers", 100) for ending in _ENDINGS},
    **{f"boxes of {name}": Row("boxes", 40) for name in ("YOLO data.yaml", "YOLO folders", "COCO", "VOC", "dicts")},
    "images": Row("boxes", 200),
    "names": Row("boxes", 250),
    "command compute": Row("commands", 100),
    "command detect": Row("commands", 60),
    **{f"columns of {name}": Row("metrics", 60) for name in METRICS},
    **{f"options of {name}": Row("metrics", 80) for name in METRICS},
    **{f"states of {name}": Row("states", 50) for name in METRICS},
    "states in parts": Row("counted", 80),
    "intervals": Row("resamples", 60),
    "compare": Row("resamples", 30),
    "command compare": Row("resamples", 15),
    **{f"maps.{ending}": Row("maps", 30) for ending in ("tiff", "npy", "npz", "png")},
    "files of OOD scores": Row("ood_files", 60),
    "saved results": Row("saved", 100),
    **{f"thresholds of {name}": Row("thresholds", 40) for name in ("ood_bench", "open F", "maps", "functions")},
    "scores from logits": Row("logits", 300),
    "names of groups": Row("names", 60),
}


def target(name: str) -> Target:
    """The target of a name."""
    found = import_module(f"tests.fuzz.{TARGETS[name].module}").TARGETS
    return next(target for target in found if target.name == name)
