"""Places that name each metric, and each measure of ood_bench: the name of the one that is missing, and where."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from openworld_metrics import precision_recall_curve
from openworld_metrics.answers import classification, subject
from openworld_metrics.answers.ood import words
from openworld_metrics.arrays.arrays import trapezoid_area
from openworld_metrics.command.messages import explain
from openworld_metrics.faces.page import worker
from openworld_metrics.faces.page.pairs import siblings
from openworld_metrics.loading import METRICS, metric_class, task_of
from openworld_metrics.ood.measures import MEASURES
from openworld_metrics.ood.ood_bench import OODBench
from openworld_metrics.ranking.operating_points import RATES
from openworld_metrics.reading.columns import metrics
from openworld_metrics.written.hub import to_eval_results
from openworld_metrics.written.results import direction
from tests import cases
from tests.package.places import PLACES, missing_places
from tests.package.rooms import MODULES, PACKAGE

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


def test_contributing_lists_the_places() -> None:
    """Each in the steps of "Adding a metric"."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Adding a metric\n")[2].partition("\n## ")[0]
    steps = text.replace("<name>", "NAME").replace("<task>", "TASK")
    assert [place for place in PLACES if place not in steps] == []


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


def test_no_table_lists_the_metrics() -> None:
    """Facts of a metric are fields of its Subject, or of its task."""
    of_results = {"answers/open_set.py"}  # keys of results, which have the names of their metrics
    layouts = "reading/columns/metrics.py"  # of tasks, and of metrics that have others than their task
    tables = {
        file.relative_to(PACKAGE).as_posix()
        for file in MODULES.values()
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Dict)
        and sum(isinstance(key, ast.Constant) and key.value in METRICS for key in node.keys) > 2
    }
    assert tables - {layouts} == of_results


def test_a_forgotten_subject_or_layout_is_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by a KeyError, whatever command or page comes upon it."""
    monkeypatch.setattr(classification, "SUBJECTS", {})
    with pytest.raises(ValueError, match=r"autkc: expected a Subject in answers/classification\.py, got none"):
        subject.subject_of("autkc")
    monkeypatch.setattr(metrics, "LAYOUTS", {})
    with pytest.raises(ValueError, match="autkc: expected a layout of its columns in files, or of classification, got"):
        metrics.layout_of("autkc")


def test_metrics_of_one_page_have_one_form() -> None:
    """But for the words of the switch, and each is on the page of the other."""
    pairs = {name: [*siblings(name)] for name in METRICS}
    of_f, of_k = ["macro_open_f", "micro_open_f"], ["accuracyk", "autkc"]
    assert {name: pair for name, pair in pairs.items() if len(pair) > 1} == {
        **dict.fromkeys(of_f, of_f),
        **dict.fromkeys(of_k, of_k),
    }
    for name, pair in pairs.items():
        assert name in pair
        forms = [subject.subject_of(each).form for each in pair]
        assert len({(each.needs, each.open, each.switch[0]) for each in forms}) == 1
        assert all(option in metric_class(name).options for option in forms[0].open)


@cache
def drawn() -> frozenset[str]:
    """The measures of ood_bench that `cases.draw` draws."""
    return frozenset(name for seed in range(60) for name in cases.draw("ood_bench", seed)[1]["metrics"])


@pytest.mark.parametrize("measure", MEASURES)
def test_each_measure_is_in_its_places(measure: str) -> None:
    missing = [] if any(words(measure, OODBench.options)) else ["words in shared/answers/ood.py"]
    higher, share = MEASURES[measure].higher, MEASURES[measure].share
    missing += [] if higher is not None or measure == "answered" else ["MEASURES, with a direction,"]
    missing += (
        [] if direction(measure) == (higher, share) or higher is None else ["_NAMES of shared/written/results.py"]
    )
    for place in ("metrics/ood_bench/README.md", "metrics/ood_bench/ood_bench.py"):
        missing += [] if measure in (ROOT / place).read_text("utf-8") else [place]
    if measure in TESTED:
        assert measure in (ROOT / TESTED[measure]).read_text("utf-8")
    else:
        missing += [] if measure in drawn() else ["what ood_bench or costs_and_shares of tests/cases.py draws"]
    assert not missing, f"{measure} is missing in {', '.join(missing)}"


@pytest.mark.parametrize(
    ("name", "here"),
    [
        ("AUPRC", "that is 'aupr_out', or"),
        ("ap", "that is 'aupr_out', or"),
        ("mcc", "that is 'matthews_corrcoef' at a threshold here"),
        ("F1", "that is 'f1_score' at a threshold here"),
        ("Sensitivity", "that is 'tpr' at a threshold, or 'tpr5fpr'"),
        ("specificity", "that is 'tnr' at a threshold"),
        ("FPR@95", "that is 'fpr95tpr' here"),
        ("AUROC", "that is 'auroc' here"),
        ("minDCF", "did you mean 'mindcf@p1'?"),
        ("ECE", "calibration is not measured, since scores only rank here"),
        ("AUTC", "there is none, since it depends on the scale of the scores"),
        ("froc", "there is none, since each challenge matches lesions in its own way"),
        ("recall@precision90", "'precision_recall_curve' of this package has every pair of them, with max_points=None"),
        ("R@P90", "'precision_recall_curve' of this package has every pair of them"),
        ("auroc_in", "that is 'auroc', which is the same of either side,"),
    ],
)
def test_names_of_elsewhere(name: str, here: str) -> None:
    with pytest.raises(ValueError, match=f"unknown metric '{name}'.*; {re.escape(here)}"):
        OODBench(metrics=name).compute(predictions=([0.1], [0.2]))


def test_the_guide_has_these_names() -> None:
    """Each name of its table leads to what the table says, or to no other quantity."""
    table = (ROOT / "docs" / "your-field.md").read_text("utf-8").partition("| elsewhere | here |")[2]
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", table, re.MULTILINE)
    assert len(rows) == 19
    for names, here in rows:
        for name in names.split(", "):
            with pytest.raises(ValueError, match="unknown metric") as raised:
                OODBench(metrics=name).compute(predictions=([0.1], [0.2]))
            hint = str(raised.value).rpartition("functools.partial of one")[2]
            assert re.findall(r"`(.+?)`", here) == re.findall(r"'(.+?)'", hint)
            assert hint


def test_recall_at_a_precision_is_read_from_the_curve() -> None:
    """As a message says: the highest recall of any threshold at which the precision is at least that, ties included."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        positives, negatives = rng.integers(4, 20, 30), rng.integers(0, 16, 40)
        curve = precision_recall_curve(positives=positives, negatives=negatives, max_points=None)
        for least in (0.5, 0.75, 0.9):
            read = max(recall for recall, precision in zip(curve["recall"], curve["precision"]) if precision >= least)
            counts = [((positives > t).sum(), (negatives > t).sum()) for t in range(-1, 21)]
            assert read == max(tp / 30 for tp, fp in counts if tp + fp == 0 or tp / (tp + fp) >= least)


@pytest.mark.parametrize("date", ["yesterday", "22.11.2026"])
def test_dates_of_results_are_iso(date: str) -> None:
    with pytest.raises(ValueError, match=f"date: expected one in ISO 8601, such as '2026-11-28', got '{date}'"):
        to_eval_results({"auroc": 0.75}, dataset="me/ood", tasks={"near": "auroc"}, date=date)


def bug(call: Callable[[], object]) -> Exception:
    with pytest.raises((KeyError, ValueError)) as caught:
        call()
    return caught.value


def test_a_bug_names_its_line() -> None:
    """A key that is not there, and a line of the package at which arrays do not fit; no error that says what it is."""
    key = bug(lambda: dict[str, int]()["wrong_share"])
    assert re.fullmatch(r"KeyError: .?wrong_share.? \(.*test_places\.py:\d+\)", explain(key))
    assert re.search(r" on our side \(KeyError at package/test_places\.py:\d+\)", worker.explain(key))
    shapes = bug(lambda: trapezoid_area(np.zeros(3), np.zeros(5)))
    assert re.fullmatch(r"ValueError: operands .*/arrays/arrays\.py:\d+\)", explain(shapes))
    assert re.search(r" on our side \(ValueError at arrays/arrays\.py:\d+\)", worker.explain(shapes))
    of_data = bug(lambda: OODBench(metrics="froc").compute(predictions=([0.1], [0.2])))
    assert worker.explain(of_data).startswith("metrics: unknown metric 'froc'")
    assert ".py" not in explain(of_data)
