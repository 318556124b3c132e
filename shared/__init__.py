"""Metrics for open-world recognition: exact, on NumPy arrays and torch tensors, in any batches.

    columns of a batch ─ reduce ─→ state ┐
    columns of a batch ─ reduce ─→ state ┤ joined ─ prepare ─→ Prepared ─ rates(counts) ─→ results
    a state of another process ──────────┘

Each metric consists of these functions and a check of states from elsewhere; merging, streaming, intervals and groups
follow (see metric/metric.py). Nearly everything rests on three primitives: the rank of the true class
(classification/ranks.py), exceedance counts (ranking/counts.py) and confusion counts by threshold (open_set/sweep.py).
Detection adds a fourth, one-to-one matching (detection/matching.py).

Rules of the kernel, which every function follows:

- Scores rank. Open-set, OOD and anomaly scores are higher for what is unknown, OOD or anomalous. NaN is an error,
  ±inf is a score like any other, and −0.0 equals 0.0.
- Counts are int64 and divided once; fractions are summed as integers or exactly. So results do not depend on the
  order of the samples, on their batches, or on the number of processes.
- There are no epsilons: ties get half credit in rank statistics, 0/0 is 0.0 in F-scores and detection ratios, and a
  quantity that needs two classes raises ValueError when one is missing.
- Exact by default: every distinct score is a threshold. Sampled curves are named options.
- NumPy arrays and torch tensors run the same lines, on the caller's device; torch is never imported here. Columns and
  batches on different devices are moved to the first one's.

The eight classes, such as AccuracyK, need neither evaluate nor datasets nor torch; `load(name)` returns the same metric
as an `evaluate.Metric`. The public functions check what they take, from lists to tensors; two sides of scores, such as
unknown and known samples, come by keyword. Other functions are imported from their rooms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .public import *  # noqa: F403

    __version__: str
else:

    def __getattr__(name: str) -> Any:
        """A public name, or a module: imported now, so that a command can be stopped quietly before NumPy is there."""
        from importlib import import_module

        if name == "__version__":
            return import_module(".metric.signature", __name__).VERSION
        if name == "__all__" or not name.startswith("_"):
            public = import_module(".public", __name__)
            if hasattr(public, name):
                globals()[name] = value = getattr(public, name)
                return value
            try:
                return import_module(f".{name}", __name__)
            except ModuleNotFoundError as error:
                if error.name != f"{__name__}.{name}":
                    raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        from importlib import import_module

        return sorted({*globals(), "__version__", *import_module(".public", __name__).__all__})
