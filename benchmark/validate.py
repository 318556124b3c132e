"""Check a file of scores, compute its AUROC for each task, and write it for the model's repository on the Hub.

    python validate.py scores.csv
    python validate.py scores.csv --dataset ORG/open-digits --model path/to/a/clone/of/the/model

The file has the columns sample and score, and a row for each image of data/known, near and far.parquet, in any order.
Scores are higher for more unknown images. The second command writes `.eval_results/open-digits.yaml` into the clone.
"""

from __future__ import annotations

import argparse
import csv
import math
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import yaml

from openworld_metrics.suites import evaluate_ood
from openworld_metrics.written.hub import to_eval_results

HERE = Path(__file__).resolve().parent
FILE = "open-digits"
COLUMNS = ["sample", "score"]
KNOWN = "known"


def tasks() -> list[str]:
    """The ids of the tasks in eval.yaml; each is the name of a file of unknown images."""
    return [task["id"] for task in yaml.safe_load((HERE / "eval.yaml").read_text(encoding="utf-8"))["tasks"]]


def samples() -> dict[str, list[str]]:
    """The names of the images: {"known": […], task: […]}."""
    names = (KNOWN, *tasks())
    return {name: pq.read_table(HERE / "data" / f"{name}.parquet")["sample"].to_pylist() for name in names}


def read_scores(path: Path) -> dict[str, float]:
    """Scores by the names of the images. Raises ValueError, with file and line, unless each image has one score."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path}: expected comma-separated values in UTF-8, got other bytes") from None
    lines = csv.reader(text.splitlines())
    header = next(lines, [])
    if header != COLUMNS:
        raise ValueError(f"{path}, line 1: expected {','.join(COLUMNS)}, got {','.join(header) or 'nothing'}")
    expected = {name for names in samples().values() for name in names}
    scores: dict[str, float] = {}
    for row in filter(None, lines):
        place = f"{path}, line {lines.line_num}"
        if len(row) != len(COLUMNS):
            raise ValueError(f"{place}: expected a sample and a score, got {','.join(row)}")
        name, score = row
        if name not in expected:
            raise ValueError(f"{place}: expected a sample of known, {', '.join(tasks())}, got {name!r}")
        if name in scores:
            raise ValueError(f"{place}: expected each sample once, got {name} again")
        scores[name] = _number(score, f"{place}: expected a number for {name}, got {score!r}")
    missing = sorted(expected - scores.keys())
    if missing:
        raise ValueError(
            f"{path}: expected a score for each of {len(expected)} samples, got {len(scores)}; {missing[0]} has none"
        )
    return scores


def _number(text: str, message: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError(message) from None
    if math.isnan(value) or "_" in text:  # Python reads 1_000 as a number
        raise ValueError(message)
    return value


def evaluate(scores: Mapping[str, float]) -> dict[str, Any]:
    """AUROC and FPR at 95 % TPR of each task, with 95 % intervals, as `evaluate_ood` returns them."""
    sides = {side: [scores[name] for name in names] for side, names in samples().items()}
    return evaluate_ood(sides.pop(KNOWN), sides, metrics=("auroc", "fpr95tpr"), confidence_level=0.95)


def table(results: Mapping[str, Any]) -> str:
    """The numbers of each task as text, with a warning for scores that may be in the wrong direction."""
    groups = results["groups"]
    lines = []
    for i, task in enumerate(groups["group"]):
        low, area, high, rate = (groups[key][i] for key in ("auroc_low", "auroc", "auroc_high", "fpr95tpr"))
        lines.append(f"{task:5} AUROC {area:.4f} [{low:.4f}, {high:.4f}]   FPR@95TPR {rate:.4f}")
        if high < 0.5:
            lines.append(f"      Are the scores of {task} higher for what is more unknown? An AUROC below 0.5 says no.")
    return "\n".join(lines)


def write(results: Mapping[str, Any], model: Path, dataset: str, **details: str | None) -> Path:
    """Write `.eval_results/open-digits.yaml` into a clone of the model; notes become part of the file's name."""
    notes = re.sub(r"\W+", "_", details.get("notes") or "").strip("_").lower()
    path = model / ".eval_results" / f"{'_'.join(filter(None, (FILE, notes)))}.yaml"
    entries = to_eval_results(results, dataset=dataset, tasks={task: f"{task}/auroc" for task in tasks()}, **details)
    if not model.is_dir():
        raise ValueError(f"--model: expected the folder of the model's repository, got {model}")
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump(entries, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path


def main(arguments: list[str] | None = None) -> None:
    """Run the command; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scores", type=Path, help="a file of comma-separated values, sample,score")
    parser.add_argument("--model", type=Path, metavar="FOLDER", help="a clone of the model's repository")
    parser.add_argument("--dataset", metavar="ORG/NAME", help="the benchmark's name on the Hub; needed with --model")
    helps = {
        "revision": "the commit of the benchmark",
        "date": "when the scores were computed, such as 2026-11-22",
        "source-url": "address of the scores' source",
        "source-name": "text of that link",
        "source-user": "who computed them",
        "source-org": "or which organisation did",
        "notes": "how this variant differs from others of the model",
    }
    for name, text in helps.items():
        parser.add_argument(f"--{name}", metavar="TEXT", help=text)
    options = vars(parser.parse_args(arguments))
    scores, model, dataset = (options.pop(name) for name in ("scores", "model", "dataset"))
    if model and not dataset:
        parser.error("--dataset: expected the benchmark's name on the Hub beside --model, got none")
    try:
        results = evaluate(read_scores(scores))
        print(table(results))
        if model:
            print(f"written: {write(results, model, dataset, **options)}")
    except ValueError as error:
        sys.exit(f"error: {error}")
    except OSError as error:
        sys.exit(f"error: {error.filename}: {(error.strerror or 'cannot be read').lower()}")


if __name__ == "__main__":
    main()
