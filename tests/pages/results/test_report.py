"""The report of a page: the frame of all reports, with the numbers, comparisons and marks of the page."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import openworld_metrics
from openworld_metrics.pages import intervals
from openworld_metrics.pages.form.form import Form
from openworld_metrics.pages.results.frame import number
from openworld_metrics.pages.results.pairs import marks
from openworld_metrics.pages.runner import Runner
from tests.pages.figures.test_figures import page as page_of


def runner(root: Path, name: str) -> Runner:
    return Runner(page_of(name), root / "metrics" / name)


def report_of(shown: Any) -> str:
    [content] = re.findall(r'data-page="(.*?)"', shown.report, re.DOTALL)
    return html.unescape(content)


def part(text: str, name: str) -> str:
    return text.partition(f'<section id="{name}">')[2].partition("</section>")[0]


def test_several_detectors(root: Path, three: tuple[Path, dict[str, np.ndarray]]) -> None:
    one = runner(root, "ood_bench")
    plain = one.run(Form(files=[[three[0]]]))
    assert 'class="ci"' not in report_of(one.view(plain, Form(detector="energy")))
    done = intervals.with_intervals(one.page, plain)
    text = report_of(one.view(done, Form(detector="energy")))
    assert "<h1>ood_bench: energy</h1>" in text
    assert "<span>data: scores.csv</span>" in text
    assert "made from" not in text
    results = done.detectors["energy"].summary.results
    head = text.partition('aria-label="Headline"')[2].partition("</section>")[0]
    for key in ("auroc", "fpr95tpr"):
        low, high = map(number, results[key].interval)
        assert f'{number(results[key].value)} <span class="ci">[{low}, {high}]</span>' in head
    assert head.count("Mean of 3 groups (pooled 0.") == 2
    detectors = part(text, "detectors")
    assert re.findall(r'<th scope="row">(\w+)<', detectors) == ["msp", "energy", "knn"]
    assert len(re.findall(r"(\w+) vs (\w+): auroc [+−]", detectors)) == 2
    marked = marks({name: each.summary for name, each in done.detectors.items()}, done.pairs)
    rows = re.findall(r'<th scope="row">(\w+)</th>(.*?)</tr>', detectors)
    for name, cells in rows:
        shown = ['class="best"' in cell for cell in re.findall("<td.*?>", cells)]
        assert shown == [(name, "mean", key) in marked for key in ("auroc", "fpr95tpr")]
    groups = re.findall(r'<th scope="row">(.*?)</th>', part(text, "groups"))
    assert groups == ["mean", *done.detectors["energy"].summary.groups]
    order = ["figures", "detectors", "groups", "ranked-worst", "details"]
    assert re.findall(r'<section id="(.*?)"', text) == order
    assert "<!--figures-->" in part(text, "figures")
    assert "<!--threshold-->" in part(text, "figures")


def test_two_detectors_stand_in_the_headline(root: Path, tmp_path: Path) -> None:
    labels = np.repeat([0, 1], 40)
    scores = np.random.default_rng(0).normal(labels)
    columns = {"good<b>": scores + 2 * labels, "bad": scores, "label": labels}
    pd.DataFrame(columns).to_csv(tmp_path / "s.csv", index=False)
    one = runner(root, "ood_bench")
    done = intervals.with_intervals(one.page, one.run(Form(files=[[tmp_path / "s.csv"]])))
    for chosen, rival in (("bad", "good&lt;b&gt;"), ("good<b>", "bad")):
        text = report_of(one.view(done, Form(detector=chosen)))
        said = f"<b>{html.escape(chosen)} vs {rival}:</b> auroc {'−' if chosen == 'bad' else '+'}0."
        assert said in text
        assert text.count("<b>good&lt;b&gt; is better</b>") == 1
        assert "good<b>" not in text


@pytest.mark.parametrize("name", openworld_metrics.METRICS)
def test_every_page_has_its_numbers_in_the_frame(name: str, root: Path) -> None:
    sample = page_of(name).samples[0]
    files = [[root / "metrics" / name / "examples" / file] for file in sample.files]
    typed = {key: ", ".join(map(str, x)) if isinstance(x, (tuple, list)) else x for key, x in sample.options.items()}
    text = report_of(runner(root, name).show(Form(files=files, options=typed)))
    assert f"<h1>{name}" in text
    assert all(html.escape(f"made from {work.plain}") in text for work in sample.origin.works)
    assert not re.search(r'<button|(src|href)="(?!data:|#)', text)
    assert text.count('<p class="big">') in (1, 2, 3)
    for tag in ("section", "div", "table", "figure", "details", "p"):
        assert len(re.findall(f"<{tag}[ >]", text)) == text.count(f"</{tag}>"), tag
