"""The worst samples and images, and the report."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from openworld_metrics.pages.figures.ranked import worst_samples
from openworld_metrics.pages.form.form import Form
from tests import cases
from tests.pages.figures.test_figures import computed, page as page_of
from tests.pages.results.test_comparison import runner

Load = Any


def test_the_worst_samples(root: Path, three: tuple[Path, dict[str, np.ndarray]], load: Load) -> None:
    _, columns = three
    scores, labels = columns["msp"], columns["label"]
    found = computed("ood_bench", load, {"predictions": scores, "references": labels}, {})
    known, unknown = worst_samples(page_of("ood_bench").ranked(found))
    rows = np.asarray(known.columns["row"]) - 1
    assert (labels[rows] == 0).all()
    assert known.columns["score"] == sorted(scores[labels == 0], reverse=True)[: len(rows)]
    assert unknown.columns["score"] == sorted(scores[labels == 1])[: len(rows)]


def test_the_worst_images_and_a_report(root: Path) -> None:
    """Small pictures in the order of errors; another image is the one of a whole drawing; a report of one file."""
    for name in ("openset_detection", "anomaly_suite"):
        one = runner(root, name)
        columns, options = cases.draw(name, 2)
        done = one.compute(columns, options)
        small = page_of(name).thumbnails(done, 3)
        assert 0 < len(small) <= 3
        assert all(each.picture.startswith(b"\x89PNG") for each in small)
        other = done._replace(image=1)
        assert one.page.draw_image(other).to_json() == one.page.draw(other)[0].to_json()
    one = runner(root, "ood_bench")
    table = pd.DataFrame({"scores": [0.1, 0.6, 0.4, 0.9], "labels": [0, 0, 1, 1]})
    shown = one.show(Form(tables=[table]))
    assert r"\cite{hendrycks2017baseline,liang2018odin}" in shown.cite
    assert "auroc = 0.750 and fpr95tpr = 0.500" in shown.cite
    whole = html.unescape(re.findall(r'data-page="(.*?)"', shown.report, re.DOTALL)[0])
    assert "<!--figures-->" in whole
    assert "<!--threshold-->" in whole
    assert not re.search(r"<button|(src|href)=.http", whole)
