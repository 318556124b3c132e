"""Every number that is shown with fewer digits than it has can be copied whole."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import openworld_metrics
from openworld_metrics.pages import intervals
from openworld_metrics.pages.form.form import Form
from openworld_metrics.pages.results.number import difference_html, number_html
from openworld_metrics.pages.runner import Runner
from tests.pages.data.test_reading import controls
from tests.pages.figures.test_figures import page as page_of

NUMBER = re.compile(r"[-+−]?(?:\d+\.\d{3,}|\d\.\d\de[-+]\d+)")


class Shown(HTMLParser):
    """The numbers of a page: what is read of each, its whole value, and whether a press copies it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.numbers: list[tuple[str, str | None, bool]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("input", "br", "img", "wbr"):
            self.open.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("input", "br", "img", "wbr"):
            self.open.pop()

    def handle_data(self, data: str) -> None:
        full = self.open[-1][1].get("data-full") if self.open else None
        pressed = any(tag == "button" and attrs.get("data-do") == "whole" for tag, attrs in self.open)
        self.numbers += [(text, full, pressed) for text in NUMBER.findall(data)]


@pytest.mark.parametrize("name", openworld_metrics.METRICS)
def test_every_rounded_number_is_copied_whole(root: Path, name: str) -> None:
    """With its intervals, groups, worst samples and all tables."""
    one = Runner(page_of(name), root / "metrics" / name)
    numbers = []
    for example in one.page.examples:
        done = one.run(
            Form(tables=[pd.DataFrame(table) for table in example.tables], options=controls(one, **example.options))
        )
        if intervals.are_automatic(one.page, done):
            done = intervals.with_intervals(one.page, done)
        view = one.view(done, Form())
        parts = (view.compared, view.numbers, view.more, view.threshold, view.worst)
        numbers += Shown("".join(parts)).numbers
    assert numbers
    for text, full, pressed in numbers:
        assert full is not None, f"{text} has no whole value"
        shown, whole = float(text.replace("−", "-")), float(full)
        assert shown == pytest.approx(whole, rel=5e-3, abs=5e-4)
        assert shown == whole or pressed, f"{text} of {full} cannot be copied"


def test_several_detectors_groups_and_differences(root: Path, three: tuple[Path, dict[str, np.ndarray]]) -> None:
    path, _ = three
    one = Runner(page_of("ood_bench"), root / "metrics" / "ood_bench")
    view = one.view(intervals.with_intervals(one.page, one.run(Form(files=[[path]]))), Form())
    numbers = Shown(view.compared + view.numbers + view.more).numbers
    assert len(numbers) > 100
    assert all(
        full is not None and (pressed or float(text.replace("−", "-")) == float(full))
        for text, full, pressed in numbers
    )


def test_a_number_is_a_button_only_where_it_is_rounded() -> None:
    assert "<button" not in number_html(0.25) + number_html(3) + number_html(True) + number_html(float("inf"))
    assert 'data-do="whole"' in number_html(2 / 3, share=True)
    assert number_html(np.float64(1) / 3).count(repr(1 / 3)) == 2
    assert 'class="rate difference points"' in difference_html(-1 / 3, share=True, unit=True)
    assert ">−0.333<" in difference_html(-1 / 3)
