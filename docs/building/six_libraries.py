"""Compare six libraries on one set of scores, and keep their numbers in docs/six-libraries.md.

python -m docs.building.six_libraries    run the installed libraries, and write the table into the page

A test runs it again and compares. Needs `make bench`'s environment for all six.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

PAGE = Path(__file__).resolve().parent.parent / "six-libraries.md"
BEGIN, END = "<!-- six libraries -->\n", "<!-- end of six libraries -->"
COLUMNS = ("AUROC", "FPR@95TPR", "AUPR of the unknown", "OpenAUC")
Numbers = dict[str, float]


def scores() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores of 200 known and 100 unknown samples, and whether each known sample is classified correctly.

    Negative logits, float32: large, in steps of 20, so that many tie, and one of them far away.
    """
    rng = np.random.default_rng(0)
    known, unknown = (20 * np.round(rng.normal(mean, 40, size) / 20) for mean, size in ((300, 200), (360, 100)))
    known[0] = 100_000
    right = np.arange(200) % 10 != 0
    return known.astype(np.float32), unknown.astype(np.float32), right


def _joined() -> tuple[np.ndarray, np.ndarray]:
    known, unknown, _ = scores()
    return np.concatenate([known, unknown]), np.repeat([0, 1], [len(known), len(unknown)])


def ours() -> Numbers:
    """The numbers of this package."""
    from openworld_metrics import OODBench, OpenAUC

    both, labels = _joined()
    bench = OODBench(metrics=["auroc", "fpr95tpr", "aupr_out"]).compute(predictions=both, references=labels)
    right = np.concatenate([scores()[2], np.zeros(100, dtype=bool)])
    open_set = OpenAUC().compute(predictions=right.astype(int), references=np.where(labels, -1, 1), open_scores=both)
    return dict(zip(COLUMNS, (*bench.values(), open_set["openauc"])))


def scikit_learn() -> Numbers:
    """`roc_auc_score`, `roc_curve` and argmax, `average_precision_score`."""
    metrics = importlib.import_module("sklearn.metrics")
    both, labels = _joined()
    fpr, tpr, _ = metrics.roc_curve(labels, both)
    area, precision = metrics.roc_auc_score(labels, both), metrics.average_precision_score(labels, both)
    return dict(zip(COLUMNS, (area, fpr[np.argmax(tpr >= 0.95)], precision)))


def torchmetrics() -> Numbers:
    """`binary_auroc`, `binary_roc` and argmax, `binary_average_precision`."""
    torch = importlib.import_module("torch")
    metrics = importlib.import_module("torchmetrics.functional.classification")
    both, labels = map(torch.from_numpy, _joined())
    fpr, tpr, _ = metrics.binary_roc(both, labels)
    area, precision = metrics.binary_auroc(both, labels), metrics.binary_average_precision(both, labels)
    return dict(zip(COLUMNS, map(float, (area, fpr[int(np.argmax(tpr.numpy() >= 0.95))], precision))))


def oodeel() -> Numbers:
    """`bench_metrics`."""
    bench = importlib.import_module("oodeel.eval.metrics").bench_metrics(*_joined(), metrics=["auroc", "fpr95tpr"])
    return dict(zip(COLUMNS, map(float, bench.values())))


def xcurve() -> Numbers:
    """`OpenAUC`."""
    known, unknown, right = scores()
    labels = np.ones(len(known), dtype=int)
    area = importlib.import_module("XCurve.Metrics.OpenAUC").OpenAUC(known, unknown, right.astype(int), labels)
    return {"OpenAUC": float(area)}


def adeval() -> Numbers:
    """`auroc_aupr_aupro` of one map, whose pixels are the samples."""
    if not hasattr(np, "trapz"):  # adeval uses this name, which NumPy 2.4 removed
        vars(np)["trapz"] = np.trapezoid
    both, labels = _joined()
    area, precision, _ = importlib.import_module("adeval").auroc_aupr_aupro(
        [both[None]], [labels[None].astype(np.uint8)]
    )
    return {"AUROC": float(area), "AUPR of the unknown": float(precision)}


# the distribution of each library, and the function that runs it
LIBRARIES: dict[str, tuple[str, Callable[[], Numbers]]] = {
    "openworld-metrics": ("openworld-metrics", ours),
    "scikit-learn": ("scikit-learn", scikit_learn),
    "torchmetrics": ("torchmetrics", torchmetrics),
    "oodeel": ("oodeel", oodeel),
    "XCurve": ("XCurve", xcurve),
    "adeval": ("ADEval", adeval),
}


def measured() -> Iterator[dict[str, Any]]:
    """A row for each installed library."""
    for name, (distribution, run) in LIBRARIES.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                numbers = run()
        except ImportError:
            continue
        yield {"library": name, "version": importlib.metadata.version(distribution), **numbers}


def lines(rows: Iterable[dict[str, Any]]) -> list[str]:
    """The table in Markdown, line by line."""
    cells = ([f"{row['library']} {row['version']}", *map(_cell, map(row.get, COLUMNS))] for row in rows)
    return [f"| {' | '.join(line)} |" for line in [["library", *COLUMNS], ["---", *["---:"] * len(COLUMNS)], *cells]]


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


if __name__ == "__main__":
    head, begin, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    table = "\n".join(lines(measured())) + "\n"
    PAGE.write_text(head + begin + table + END + rest.partition(END)[2], encoding="utf-8")
    print(table)
