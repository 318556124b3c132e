"""What pages show when they are opened: real data below 300 kB, by an address that says example and options."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pandas as pd
import pytest

from openworld_metrics import METRICS
from openworld_metrics.pages.events.inputs import Events
from openworld_metrics.pages.events.results import Answers
from openworld_metrics.pages.form.address import query_of
from openworld_metrics.pages.form.controls import shown
from openworld_metrics.pages.form.form import OWN, Form, titles, with_sample
from openworld_metrics.pages.runner import Runner
from tests.pages.steps import numbers

MAX_BYTES = 300_000


@pytest.fixture
def forms(root: Path) -> Any:
    def make(name: str) -> Events:
        page = importlib.import_module(f"openworld_metrics.pages.metrics.{name}").PAGE
        return Events(Runner(page, root / "metrics" / name))

    return make


def opened(events: Events, **query: str) -> Form:
    """The inputs after the page has been opened by an address."""
    changes = events.open(query)
    form = Form(changes["example"]["value"], files=[None] * len(events.page.sources), options=changes["options"])
    return with_sample(events.page, events.folder, form)


@pytest.mark.parametrize("name", METRICS)
def test_real_data(name: str, forms: Any, root: Path) -> None:
    """All files of a metric's samples are there and small, and give numbers and pictures."""
    here = forms(name)
    named = {file for sample in here.page.samples for file in (*sample.files, sample.photographs) if file}
    files = {path.name: path.stat().st_size for path in (root / "metrics" / name / "examples").iterdir()}
    assert set(files) == {"CREDITS.md", *named}
    assert sum(files.values()) < MAX_BYTES
    form = opened(here)
    assert form.example == here.page.samples[0].title
    found = here.runner.show(form)
    results = numbers(found.json)
    assert all(value is not None for value in results.values())
    assert all(value > 0.7 for key, value in results.items() if key.startswith(("accuracy@", "autkc@")))
    assert len(found.figures) == len(here.page.pictures)


def test_the_address_is_read_and_written(forms: Any) -> None:
    here = forms("openauc")
    title = titles(here.page)[-1]
    form = opened(here, example=title, tpr="0.9", fpr_list="0.1,0.2", nonsense="1")
    assert form.example == title
    empty = dict.fromkeys(("ood_cost", "unknown_share", "confidence_level"), "")
    assert form.options == {"tpr": 0.9, "fpr_list": "0.1,0.2", "risk_metrics": [], **empty}
    query = query_of(here.page, here.runner.defaults, form)
    assert query.startswith("?example=To+type+in")
    assert query.endswith("&tpr=0.9&fpr_list=0.1%2C0.2")
    assert "tpr" not in query_of(here.page, here.runner.defaults, opened(here, tpr="<b>"))


def test_own_data_have_the_options_of_the_metric(forms: Any, tmp_path: Path) -> None:
    """Those of the example go; those that follow of the data are set and said; what a person then sets stays."""
    here = forms("openset_detection")
    page = here.page
    columns = ["image", "x1", "y1", "x2", "y2", "confidence", "class"]
    rows = [("a", 0, 0, 9, 9, 0.9, 3), ("a", 0, 20, 9, 29, 0.8, 99), ("b", 0, 0, 9, 9, 0.7, 4)]
    predictions = pd.DataFrame(rows, columns=columns)
    true = predictions.drop(columns="confidence").replace({"class": {99: 7}})
    paths = [[str(tmp_path / "p.csv")], [str(tmp_path / "r.csv")]]
    predictions.to_csv(paths[0][0], index=False)
    true.to_csv(paths[1][0], index=False)
    values = {**here.runner.defaults, "iou_threshold": 0.7}
    example = {option.name: shown(option, values[option.name]) for option in page.options}
    changes = here.upload(Form(titles(page)[0], files=paths, options=example))
    assert changes["example"]["value"] == OWN
    held = changes["options"]
    assert (held["known_classes"], held["unknown_class_id"], held["iou_threshold"]) == ("3, 4", "99", 0.5)
    assert "Guessed: known classes 3–4 (predicted by the detector); unknown id 99" in changes["read"]["value"]


def test_no_sample_is_read_for_files_of_ones_own(forms: Any) -> None:
    here = forms("ood_bench")
    form = Form(titles(here.page)[0], files=[["mine.csv"]])
    assert with_sample(here.page, here.folder, form) is form
    assert with_sample(here.page, here.folder, form._replace(example="../../secret", files=[None])).files == [None]


def test_a_link_keeps_what_is_shown(forms: Any) -> None:
    """The detector and the threshold of a comparison; `threshold` itself is an option of the metric."""
    here = forms("ood_bench")
    query = query_of(here.page, here.runner.defaults, opened(here)._replace(detector="knn", place="at=-0.394", image=3))
    assert query.endswith("&detector=knn&at=-0.394"), "there are no images"
    asked = dict(parse_qsl(query.removeprefix("?")))
    place = here.open(asked)["place"]
    assert place == "detector=knn&at=-0.394"
    changes = Answers(here.runner).press(opened(here, **asked)._replace(place=place))
    assert changes["detector"]["value"] == "knn"
    assert changes["threshold"].startswith('<div data-at="-0.394" class="threshold"')
    assert "knn" in changes["call"] or changes["plots"][1].data[0].name.startswith("knn")
    assert changes["place"] == "", "the next results are shown from their beginning"
    usual = Answers(here.runner).press(opened(here)._replace(place="detector=nobody&at=x"))
    assert usual["detector"]["value"] != "knn"
    assert "data-at" not in usual["threshold"]


def test_a_link_keeps_the_image(forms: Any) -> None:
    here = forms("openset_detection")
    query = query_of(here.page, here.runner.defaults, opened(here)._replace(image=5))
    assert query.endswith("&image=5")
    form = opened(here)._replace(place=here.open(dict(parse_qsl(query.removeprefix("?"))))["place"])
    assert Answers(here.runner).press(form)["image"]["value"] == 5
