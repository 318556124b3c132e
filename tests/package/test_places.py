"""Places that name each metric, and each measure of ood_bench: the name of the one that is missing, and where."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

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


def test_contributing_lists_the_places() -> None:
    """Each in the steps of "Adding a metric"."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Adding a metric\n")[2].partition("\n## ")[0]
    steps = text.replace("<name>", "NAME").replace("<task>", "TASK")
    assert [place for place in PLACES if place not in steps] == []


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


@pytest.mark.parametrize("measure", _MEASURES)
def test_each_measure_is_in_its_places(measure: str) -> None:
    missing = [] if any(words(measure, OODBench.options)) else ["words in shared/answers/ood.py"]
    missing += (
        [] if _MEASURES[measure].higher is not None or measure == "answered" else ["_MEASURES, with a direction,"]
    )
    for place in ("metrics/ood_bench/README.md", "metrics/ood_bench/ood_bench.py"):
        missing += [] if measure in (ROOT / place).read_text("utf-8") else [place]
    if measure in TESTED:
        assert measure in (ROOT / TESTED[measure]).read_text("utf-8")
    else:
        missing += [] if measure in drawn() else ["draw_ood_bench in tests/cases.py"]
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
    ],
)
def test_names_of_elsewhere(name: str, here: str) -> None:
    with pytest.raises(ValueError, match=f"unknown metric '{name}'.*; {re.escape(here)}"):
        OODBench(metrics=name).compute(predictions=([0.1], [0.2]))


def test_the_guide_has_these_names() -> None:
    """Each name of its table leads to what the table says, or to no other quantity."""
    table = (ROOT / "docs" / "your-field.md").read_text("utf-8").partition("| elsewhere | here |")[2]
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", table, re.MULTILINE)
    assert len(rows) == 10
    for names, here in rows:
        for name in names.split(", "):
            with pytest.raises(ValueError, match="unknown metric") as raised:
                OODBench(metrics=name).compute(predictions=([0.1], [0.2]))
            hint = str(raised.value).rpartition("functools.partial of one")[2]
            assert re.findall(r"`(.+?)`", here) == re.findall(r"'(.+?)'", hint)


@pytest.mark.parametrize("name", ["ece", "froc", "recall@precision"])
def test_no_other_quantity_is_offered(name: str) -> None:
    with pytest.raises(ValueError, match=r"functools\.partial of one$"):
        OODBench(metrics=name).compute(predictions=([0.1], [0.2]))


@pytest.mark.parametrize("date", ["yesterday", "22.11.2026"])
def test_dates_of_results_are_iso(date: str) -> None:
    with pytest.raises(ValueError, match=f"date: expected one in ISO 8601, such as '2026-11-28', got '{date}'"):
        to_eval_results({"auroc": 0.75}, dataset="me/ood", tasks={"near": "auroc"}, date=date)


def test_a_bug_names_its_line() -> None:
    with pytest.raises(KeyError) as caught:
        dict[str, int]()["wrong_share"]
    assert re.fullmatch(r"KeyError: .?wrong_share.? \(.*test_places\.py:\d+\)", explain(caught.value))
