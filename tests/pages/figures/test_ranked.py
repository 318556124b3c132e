"""The samples behind a bar of a histogram or a cell of the confusion are those that the picture counts there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from openworld_metrics.pages.events.results import Answers
from openworld_metrics.pages.figures.ranked import MAX_LISTED, Ranked, asked_samples, images_by_count, question_of
from openworld_metrics.pages.form.form import Form
from openworld_metrics.pages.results.samples import listed_html
from tests import cases
from tests.pages.figures.test_figures import Load, computed, page
from tests.pages.results.test_comparison import runner

NAMES = ("ood_bench", "openauc", "macro_open_f", "micro_open_f")


def asked(ranked: Ranked, **question: Any) -> list[int]:
    return list(asked_samples(ranked, question).columns["row"])


@pytest.mark.parametrize("name", NAMES)
def test_each_bar_and_each_cell_has_its_samples(name: str, load: Load) -> None:
    columns, options = cases.draw(name, 5)
    merged = ("thresholds", "t_list", "counts")  # rows that are lost have no samples
    columns, options = ({key: part[key] for key in part if key not in merged} for part in (columns, options))
    done = computed(name, load, columns, options)
    ranked, sweep, figures = page(name).ranked(done), page(name).sweep(done), page(name).draw(done)
    assert set(ranked.kinds) == set(sweep.table)
    bars = [trace for trace in figures[0].data if trace.type == "bar"]
    assert {trace.meta["kind"] for trace in bars} == set(ranked.kinds)
    for trace in bars:
        kind, total = trace.meta["kind"], max(1, np.count_nonzero(ranked.kinds[trace.meta["kind"]]))
        last = trace.customdata[-1][1]
        for (low, high), share in zip(trace.customdata, trace.y):
            question = {"kind": kind, "at": [low, high], "last": high == last}
            assert len(asked(ranked, **question)) == pytest.approx(share * total)
    for place in range(len(sweep.thresholds)):
        for kind, cells in sweep.table.items():
            for column, count in cells.items():
                rows = asked(ranked, kind=kind, above=column == sweep.flagged, at=float(sweep.text(place)))
                assert len(rows) == sweep.counts[count][place]
                assert ranked.kinds[kind][np.asarray(rows, int) - 1].all()


def test_the_farthest_come_first_and_many_are_cut() -> None:
    scores = np.arange(1000.0)
    ranked = Ranked(
        scores, {"a": scores < 500, "b": scores >= 500}, "b", ("a", "b"), names=[f"s{i}" for i in range(1000)]
    )
    listed = asked_samples(ranked, {"kind": "b", "above": False, "at": 502.5})
    assert listed.columns == {"row": [501, 502, 503], "name": ["s500", "s501", "s502"], "score": [500.0, 501.0, 502.0]}
    assert listed.title == "3 samples: b, score ≤ 502.5"
    every = asked_samples(ranked, {"kind": "a", "above": True, "at": None})
    assert (len(every.columns["row"]), every.title) == (MAX_LISTED, "500 samples: a, score > -inf; the first 200")
    bar = asked_samples(ranked, {"kind": "a", "at": [10, 12], "last": False})
    assert bar.columns["row"] == [12, 11]


OTHERS = (
    *("", "{", "7", "null", "[]", "[" * 400, '{"kind": "x"}', '{"kind": ["a"]}', '{"kind": "a"}'),
    *('{"kind": "a", "above": 1}', '{"kind": "a", "above": true, "at": "x"}'),
    '{"kind": "a", "at": [1, null], "last": 1}',
)


@pytest.mark.parametrize("question", OTHERS)
def test_other_questions(question: str) -> None:
    ranked = Ranked(np.zeros(1), {"a": np.ones(1, bool)}, "a", ("a", "b"))
    with pytest.raises(ValueError, match="expected a bar or a cell of this page"):
        asked_samples(ranked, question_of(question))
    with pytest.raises(ValueError, match="Equal samples were merged into counts"):
        asked_samples(None, {})


def test_samples_are_named_by_a_column_of_text(root: Path) -> None:
    """By its name, or since its words are distinct; groups share one order of rows."""
    scores = [0.1, 0.6, 0.4, 0.9]
    plain = {"scores": scores, "labels": [0, 0, 1, 1]}
    named = ["d.png", "c.png", "b.png", "a.png"]
    sets = ["x", "y", "x", "x"]
    for more, expected in (
        ({"file": named}, named),
        ({"note": ["same"] * 4, "whatever": named}, named),
        ({"file": ["one"] * 4, "whatever": named}, ["one"] * 4),
        ({"file": named, "dataset": sets}, named),
        ({"note": ["same", "same", "other", "other"]}, None),
        ({}, None),
    ):
        done = Answers(runner(root, "ood_bench"))
        form = Form(tables=[pd.DataFrame({**plain, **more})], selection='{"kind": "OOD", "above": true, "at": 0.0}')
        listed = done.list(form)["listed"]
        assert "2 samples: OOD, score &gt; 0.0" in listed
        if expected == named:
            assert listed.index(named[3]) < listed.index(named[2]), "the farthest from the threshold comes first"
        assert (">name</th>" in listed) is (expected is not None)


def test_a_question_of_another_page_is_an_error_above_the_results(root: Path) -> None:
    table = pd.DataFrame({"scores": [0.1, 0.6], "labels": [0, 1]})
    changes = Answers(runner(root, "ood_bench")).list(Form(tables=[table], selection='{"kind": "<b>"}'))
    assert "expected a bar or a cell of this page" in str(changes["message"])
    assert "listed" not in changes


@pytest.mark.parametrize("name", ["accuracyk", "autkc"])
def test_a_bar_over_k_has_the_samples_that_it_misses(name: str, load: Load) -> None:
    rng = np.random.default_rng(0)
    columns = {"predictions": rng.integers(0, 6, (30, 5)) / 6, "references": rng.integers(0, 5, 30)}
    done = computed(name, load, columns, {"k_list": [1, 3]})
    (figure,) = page(name).draw(done)
    bars = [trace for trace in figure.data if trace.type == "bar"]
    own = columns["predictions"][np.arange(30), columns["references"]][:, None]
    for trace in bars:
        for (k,) in trace.customdata:
            listed = page(name).listed(done, {"kind": trace.meta["kind"], "at": [k]}, ())
            missed = np.flatnonzero(np.sum(columns["predictions"] >= own, axis=1) > k)
            assert sorted(listed.columns["row"]) == (missed + 1).tolist()
            assert listed.columns["higher scores"] == sorted(listed.columns["higher scores"], reverse=True)
    with pytest.raises(ValueError, match="expected a bar or a cell of this page"):
        page(name).listed(done, {"kind": "x", "at": "y"}, ())


def test_a_bar_and_a_cell_of_detection_have_their_images(load: Load) -> None:
    columns, options = cases.draw("openset_detection", 3)
    done = computed("openset_detection", load, columns, options)
    names = [f"image {i}" for i in range(len(done.state["num_references"]))]
    find = page("openset_detection").listed
    _, confusion, fates, _ = page("openset_detection").draw(done)
    (cells,) = confusion.data
    for bar in fates.data:
        for fate, side, count in bar.customdata:
            listed = page("openset_detection").listed(
                done, {"kind": bar.meta["kind"], "at": [fate, side, count]}, names
            )
            assert sum(listed.columns["count"]) == count
            assert listed.title.startswith(f"{count:,} {side} objects, {fate}, in {len(listed.images)} ")
    for row, line in enumerate(cells.customdata):
        for column, at in enumerate(line):
            listed = find(done, {"kind": cells.meta["kind"], "at": at}, names)
            assert sum(listed.columns["count"]) == cells.text[row][column]
            assert [names[image] for image in listed.images] == listed.columns["image"]
    for at in (None, [], ["found"], ["x", "known"], [9, 9], 7):
        for kind in ("fate", "called"):
            with pytest.raises(ValueError, match="expected a bar or a cell of this page"):
                find(done, {"kind": kind, "at": at}, names)


def test_few_of_many_images_are_listed() -> None:
    listed = images_by_count([1] * 300, [f"image {i}" for i in range(300)], "objects, missed")
    assert (len(listed.images), listed.title) == (200, "300 objects, missed, in 300 images; the first 200")
    shown = listed_html("openset_detection", listed)
    assert shown.count('<button type="button" class="see" data-do="image"') == 200
