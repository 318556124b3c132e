"""Places that name each metric, and each measure of ood_bench: the name of the one that is missing, and where."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from openworld_metrics import precision_recall_curve
from openworld_metrics.answers import subject
from openworld_metrics.answers.ood import words
from openworld_metrics.command.messages import explain
from openworld_metrics.faces.page.pairs import siblings
from openworld_metrics.loading import METRICS, metric_class, task_of
from openworld_metrics.ood.measures import _MEASURES
from openworld_metrics.ood.ood_bench import OODBench
from openworld_metrics.ranking.operating_points import RATES
from openworld_metrics.written.hub import to_eval_results
from tests import cases
from tests.package.places import PLACES, missing_places

ROOT = Path(__file__).parents[2]
# measures that `cases.draw` leaves out, and their tests
TESTED = {
    **dict.fromkeys((*RATES, "aupr_out_trapezoid", "aupr_in_trapezoid"), "tests/ood/test_thresholds.py"),
    "accuracy_given_answered": "tests/ood/test_costs_and_shares.py",  # NaN where nothing is answered
}


@pytest.mark.parametrize("metric", METRICS)
def test_each_place_names_each_metric(metric: str) -> None:
    missing = missing_places(metric, metric_class(metric).__name__, task_of(metric), ROOT)
    assert not missing, f"{metric} is missing in {', '.join(missing)}"
    assert metric_class(metric).name == metric


def test_contributing_names_each_folder_and_what_is_generated() -> None:
    """In its first tree: the folders of the repository, those of tests that are no rooms, the files of a metric."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    tree = re.findall(
        r"^ {4}( *)([\w/<>]+/) ", text.partition("\n## Where things are")[2].partition("\nThe folders")[0], re.M
    )
    named = {name.partition("/")[0] for indent, name in tree if not indent}
    assert all((ROOT / name).is_dir() for name in named)
    assert {path.parent.name for path in ROOT.glob("[a-z]*/*.py")} <= named  # code at least; others may be untracked
    rooms = {path.parent.name for path in (ROOT / "shared").glob("*/__init__.py")}
    tests = {path.parent.name for path in (ROOT / "tests").glob("*/__init__.py")}
    assert {name.strip("/") for indent, name in tree if indent} == tests - rooms
    sync = (ROOT / "spaces" / "sync.py").read_text("utf-8")
    generated = ast.literal_eval(re.findall(r"^GENERATED = (\(.*\))$", sync, re.M)[0])
    assert all(f"{name}*" in text for name in (*generated, "thumbnail.jpg", "examples/"))
    hidden = (ROOT / ".gitattributes").read_text("utf-8")
    assert all(f"metrics/*/{name} text eol=lf linguist-generated" in hidden for name in generated)
