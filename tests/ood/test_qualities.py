"""Graded quality: answers with a quality in [0, 1] in place of a label, and their areas of risk over coverage."""

from __future__ import annotations

import itertools
import json
import pickle
from collections import Counter
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given

import openworld_metrics as om
from openworld_metrics.command.commands import cli
from openworld_metrics.integrations.combining import combine
from openworld_metrics.metric import metric as metric_module
from openworld_metrics.metric.prepared import MissingClassError
from openworld_metrics.metric.results import Draws, rates_of
from openworld_metrics.ranking.graded import graded_areas
from openworld_metrics.reading.rows.rows import rows_of
from tests import references
from tests.examples import seeds

AREAS = ["aurc", "auarc", "e_aurc", "prr"]
DRAWN: dict[str, Any] = dict(confidence_level=0.9, n_resamples=15, random_state=2)
BY_HAND: dict[str, Any] = dict(predictions=[0.1, 0.2, 0.3, 0.4, 0.5], qualities=[0.9, 0.2, 0.7, 0.4, 0.1])
Columns = dict[str, Any]


def bench(**options: Any) -> om.OODBench:
    return om.OODBench(metrics=AREAS, **options)


def drawn(seed: int, most: int = 60) -> dict[str, np.ndarray]:
    """Scores and qualities with ties, of which two at least differ."""
    rng = np.random.default_rng(seed)
    number, levels = int(rng.integers(2, most)), int(rng.choice([1, 2, 10, 1000]))
    qualities = rng.integers(0, levels + 1, number) / levels
    qualities[rng.permutation(number)[:2]] = 0.1, 0.9
    return dict(predictions=rng.integers(0, rng.integers(1, 40), number) / 8, qualities=qualities)


def lists(columns: Columns) -> Columns:
    return {name: column.tolist() for name, column in columns.items()}


def rows(columns: Columns, at: Any) -> Columns:
    return {name: np.asarray(column)[at] for name, column in columns.items()}


def test_by_hand() -> None:
    assert bench().compute(**BY_HAND) == {
        "aurc": 97 / 250,
        "auarc": 153 / 250,
        "e_aurc": float(references.graded(**BY_HAND, metrics=["e_aurc"])["e_aurc"]),
        "prr": 12 / 17,
    }
    # of two answers with one score the loss is the mean, 1/2: 1/2 after one, and after both
    assert bench().compute(predictions=[1, 1], qualities=[0, 1])["aurc"] == 0.5
    perfect = bench().compute(predictions=[1, 2, 3], qualities=[1, 0.5, 0.25])
    assert (perfect["e_aurc"], perfect["prr"]) == (0.0, 1.0)
    assert bench().compute(predictions=[5, 5, 5], qualities=[1, 0.5, 0.25])["prr"] == 0.0


@pytest.mark.parametrize("seed", range(400))
def test_tied_sets_equal_slow_references(seed: int) -> None:
    columns = drawn(seed)
    exact = references.ood_bench(**lists(columns), metrics=AREAS)
    assert bench().compute(**columns) == {name: float(value) for name, value in exact.items()}


@pytest.mark.parametrize("seed", range(12))
def test_many_answers_are_within_the_bound_of_the_card(seed: int) -> None:
    rng = np.random.default_rng(seed)
    number, levels = 300, int(rng.choice([5, 10**6]))
    qualities = rng.random(number) ** rng.choice([0.01, 1, 9, 200])
    qualities[:2] = 0.0, 1.0
    scores = rng.integers(0, levels, number) / 8
    exact = references.graded(scores.tolist(), qualities.tolist(), AREAS)
    results = bench().compute(predictions=scores, qualities=qualities)
    assert all(abs(results[name] - exact[name]) <= 1e-14 for name in AREAS)
    order = np.argsort(-qualities)
    perfect = bench().compute(predictions=np.arange(number), qualities=qualities[order])
    assert (perfect["e_aurc"], perfect["prr"]) == (0.0, 1.0)


@pytest.mark.parametrize("seed", range(20))
def test_large_counts_as_of_labels(seed: int) -> None:
    """Qualities of 0 and 1 by the way of other qualities have the areas of labels, to the bound of both."""
    rng = np.random.default_rng(seed)
    labels = np.asarray([0, 1, *rng.integers(0, 2, 10)])
    scores, counts = rng.integers(0, 6, 12) / 8, (2 ** rng.uniform(0, 36, 12)).astype(np.int64)
    expected = bench().compute(predictions=scores, references=labels, counts=counts)
    areas = graded_areas(scores, 1.0 - labels, counts, metrics=AREAS)
    assert all(abs(areas[name][0] - expected[name]) <= 2e-14 for name in AREAS)


@given(seed=seeds)
def test_laws(seed: int) -> None:
    columns = drawn(seed, 400)
    scores, qualities = columns.values()
    rng, expected = np.random.default_rng(seed), bench().compute(**columns)
    # each area alone, in any order of rows and areas, and of scores that rise with these
    assert {name: om.OODBench(metrics=name).compute(**columns)[name] for name in AREAS} == expected
    order = rng.permutation(len(scores))
    assert bench().compute(**rows(columns, order)) == expected
    assert bench().compute(predictions=np.exp(scores), qualities=qualities) == expected
    # counted rows are the rows repeated
    counts = rng.integers(1, 4, len(scores))
    repeated = bench().compute(**{name: np.repeat(column, counts) for name, column in columns.items()})
    assert bench().compute(**columns, counts=counts) == repeated
    # batches, merges, bytes, JSON and pickles, where equal rows are counted again and again
    merged, counting = bench(), bench()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metric_module, "ROWS", 2)
        for part in np.array_split(order, 3):
            one = bench()
            one.add_batch(**rows(columns, part))
            merged.merge(om.unpack(om.pack(one.state())))
            counting.merge(json.loads(json.dumps({key: array.tolist() for key, array in one.state().items()})))
    assert pickle.loads(pickle.dumps(merged)).compute() == expected
    assert merged.compute() == counting.compute() == expected
    # bounds
    assert expected["auarc"] == pytest.approx(1 - expected["aurc"], abs=1e-15)
    assert 0 <= expected["aurc"] <= 1
    assert expected["e_aurc"] >= 0
    assert expected["prr"] <= 1


@pytest.mark.parametrize("number", [8, 400])
def test_qualities_of_0_and_1_are_labels(number: int) -> None:
    rng = np.random.default_rng(number)
    labels = np.asarray([0, 1, 0, 1, *rng.integers(0, 2, number - 4)])
    scores = rng.integers(0, 99, number) / 64
    columns = {"groups": rng.permutation(np.arange(number) % 2), "clusters": np.arange(number) // 2}
    columns["groups"][:4] = 0, 0, 1, 1
    for options in ({}, DRAWN, {"significant_bits": 5}, {"in_value": 3, "out_value": "rest"}):
        for more in ({}, *({name: column} for name, column in columns.items())):
            metric, of_labels = bench(**options), bench(**{**options, "in_value": 0, "out_value": 1})
            expected = of_labels.compute(predictions=scores, references=labels, **more)
            assert metric.compute(predictions=scores, qualities=1 - labels, **more) == expected
    other = rng.random(number)
    tables = [
        om.compare(bench(), scores, other, n_resamples=40, **{name: column})
        for name, column in (("references", labels), ("qualities", 1.0 - labels))
    ]
    assert tables[0] == tables[1]


@given(seed=seeds)
def test_bits_bound_the_areas(seed: int) -> None:
    columns, rng = drawn(seed, 400), np.random.default_rng(seed)
    scores = rng.normal(size=len(columns["qualities"])).astype(rng.choice(["float32", "float64"]))
    columns["predictions"] = scores.round(int(rng.integers(0, 4))) if rng.random() < 0.5 else scores
    exact = bench().compute(**columns)
    for bits in (4, 8, 52):
        metric = bench(significant_bits=bits)
        for part in np.array_split(rng.permutation(len(scores)), 3):
            metric.add_batch(**rows(columns, part))
        results = metric.compute()
        assert all(abs(results[name] - exact[name]) <= results[f"{name}_error"] for name in AREAS)
    if scores.dtype == np.float32:
        assert all(results[f"{name}_error"] == 0 for name in AREAS)


# Resamples


def rounded(rates: Any) -> Hashable:
    return tuple(round(rate.value, 9) for rate in rates_of(rates).values())


@pytest.mark.parametrize("clusters", [None, [*"abba"], [*"abca"]], ids=["rows", "two clusters", "three clusters"])
def test_a_resample_is_any_draw_with_its_probability(clusters: list[str] | None) -> None:
    columns: Columns = dict(predictions=[0.1, 0.2, 0.3, 0.4], qualities=[0.9, 0.2, 0.7, 0.9])
    more = {} if clusters is None else {"clusters": clusters}
    own: list[Any] = [*range(4)] if clusters is None else clusters
    expected: Counter[Hashable] = Counter()
    for draw in itertools.product(dict.fromkeys(own), repeat=len({*own})):
        again = [row for cluster in draw for row in range(4) if own[row] == cluster]
        if len({columns["qualities"][row] for row in again}) > 1:  # else it is drawn again
            expected[rounded(bench().summary(**rows(columns, again)).results)] += 1
    (part,) = bench().prepared_parts(**columns, **more)
    prepared = part.prepared
    units = np.repeat(np.arange(len(prepared.counts)), prepared.counts)
    results: Counter[Hashable] = Counter()
    for draw in itertools.product(units.tolist(), repeat=len(units)):
        try:
            rates = prepared.rates(np.bincount(draw, minlength=len(prepared.counts)))
        except MissingClassError:
            continue
        results[rounded(rates)] += 1
    assert results == expected


def test_intervals_groups_clusters_and_comparisons() -> None:
    columns = drawn(7, 50)
    number = len(columns["qualities"])
    groups, clusters = np.arange(number) % 2, np.arange(number) // 4
    metric = bench(**DRAWN)
    results = metric.compute(**columns, groups=groups, clusters=clusters)
    assert all(results[f"{name}_low"] <= results[f"{name}_high"] for name in AREAS)
    for place in range(2):
        alone = bench().compute(**rows(columns, groups == place))
        assert {name: results["groups"][name][place] for name in AREAS} == alone
    summary = metric.summary(**columns, clusters=clusters)
    assert summary.drawn == Draws(clusters=len({*clusters.tolist()}), fewest=len({*clusters.tolist()}), redrawn=0)
    shuffled = rows({**columns, "clusters": clusters}, np.random.default_rng(0).permutation(number))
    assert metric.compute(**shuffled) == summary.as_dict()
    scores, shared = columns["predictions"], dict(qualities=columns["qualities"], clusters=clusters)

    def compared(first: np.ndarray, second: np.ndarray) -> dict[str, list[Any]]:
        return om.compare(bench(), first, second, n_resamples=60, **shared)

    assert [-x for x in compared(scores, scores[::-1])["low"]] == compared(scores[::-1], scores)["high"]
    assert compared(scores, scores * 2)["p_value"] == [1.0] * 4
    assert compared(scores, 1 - columns["qualities"])["better"] == ["second"] * 4


def test_a_group_without_different_qualities() -> None:
    columns = dict(predictions=[1, 2, 3, 4], qualities=[0.5, 0.5, 0.25, 1], groups=[*"aabb"])
    with pytest.raises(ValueError, match=r"group 'a': qualities: expected at least two different ones, got \[0.5\]"):
        bench().compute(**columns)
    results = bench(groups_without="skip").compute(**columns)
    assert results["groups_skipped"] == 1
    assert results["aurc"] == bench().compute(predictions=[3, 4], qualities=[0.25, 1])["aurc"]


# Doors


def test_types_of_columns() -> None:
    torch, pandas = pytest.importorskip("torch"), pytest.importorskip("pandas")
    columns = dict(predictions=np.asarray([0.25, 0.5, 0.5, 0.125]), qualities=np.asarray([0.5, 0.25, 1, 0.75]))
    expected = bench().compute(**columns)
    for to in (list, pandas.Series, torch.tensor, lambda column: torch.tensor(column, dtype=torch.bfloat16)):
        assert bench().compute(**{name: to(column) for name, column in columns.items()}) == expected
    assert bench().compute(**{name: column.astype(np.float16) for name, column in columns.items()}) == expected
    assert bench().compute(predictions=[1, 2], qualities=[True, False])["prr"] == 1.0
    one_by_one = bench()
    for score, quality in zip(*columns.values()):
        one_by_one.add(prediction=score, qualities=quality)
    assert one_by_one.compute() == expected


def test_evaluate_and_combined_metrics(load: Callable[..., Any]) -> None:
    expected = bench().compute(**BY_HAND)
    metric = load("ood_bench", metrics=AREAS)
    assert metric.compute(**BY_HAND) == expected
    metric.add_batch(**BY_HAND)
    assert metric.compute() == expected
    both = combine({"first": metric, "second": load("ood_bench", metrics="prr")})
    results = both.compute(**BY_HAND)
    assert results is not None
    assert (results["first_prr"], results["second_prr"]) == (12 / 17, 12 / 17)


def test_commands_and_files(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    lines = [f"{score},{1 - score},{quality},{i % 2}" for i, (score, quality) in enumerate(zip(*BY_HAND.values()))]
    path.write_text("\n".join(["entropy,margin,quality,label", *lines, ""]))
    chosen = ["ood_bench", str(path), "--qualities", "quality"]

    def output(*arguments: str) -> str:
        run = CliRunner().invoke(cli, [*arguments])
        assert run.exit_code == 0, run.output
        return run.stdout

    metrics = ["--metrics", ",".join(AREAS)]
    expected = bench().compute(**BY_HAND)
    assert json.loads(output("compute", *chosen, "--predictions", "entropy", *metrics)) == expected
    places = ["--predictions", f"{path}:entropy", "--qualities", f"{path}:quality"]
    assert json.loads(output("compute", "ood_bench", *places, *metrics)) == expected
    (tmp_path / "report").mkdir()
    output("compute", *chosen, "--predictions", "entropy", *metrics, "--report", str(tmp_path / "report"))
    assert "5 answers" in (tmp_path / "report" / "index.html").read_text()
    table = json.loads(
        output("compare", *chosen, "--first-predictions", "entropy", "--second-predictions", "margin", *metrics)
    )
    margins = [1 - score for score in BY_HAND["predictions"]]
    assert table == om.compare(bench(), BY_HAND["predictions"], margins, qualities=BY_HAND["qualities"])
    # as pages choose them: beside the columns that were there before, and none again
    wishes = {"predictions": ["entropy"], "references": ["label"]}
    (page,) = rows_of("ood_bench", path, wishes={**wishes, "qualities": ["quality"]}).reading().models.values()
    assert page.keys() == {"predictions", "qualities"}
    (page,) = rows_of("ood_bench", path, wishes={**wishes, "qualities": ["labels"]}).reading().models.values()
    assert page.keys() == {"predictions", "references"}
    # labels beside qualities stay what they are, where none are chosen
    assert "qualities" not in om.read("ood_bench", path, columns={"predictions": "entropy"}).columns
    for wrong, message in (
        (["--references", "label"], "references: expected none with qualities, which stand in their place; got both"),
        (["--metrics", "auroc"], "metrics: expected some of aurc, auarc, e_aurc, prr with qualities, got auroc"),
    ):
        with pytest.raises(ValueError, match=message):
            CliRunner().invoke(cli, ["compute", *chosen, "--predictions", "entropy", *wrong], catch_exceptions=False)
    with pytest.raises(TypeError, match="openauc has no argument 'qualities'"):
        CliRunner().invoke(cli, ["compute", "openauc", str(path), "--qualities", "quality"], catch_exceptions=False)


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"qualities": [0.9, 0.2, 0.7, 0.4, 1.1]}, ValueError, "expected numbers in [0, 1], got 1.1 at position 4"),
        ({"qualities": [0.9, -0.1, 0.7, 0.4, 0]}, ValueError, "expected numbers in [0, 1], got -0.1 at position 1"),
        ({"qualities": [0.9, float("nan"), 0, 0, 0]}, ValueError, "qualities: expected no NaN, got NaN at position 1"),
        ({"qualities": [0.9, 0.2]}, ValueError, "expected columns of one length, got 5 predictions, 2 qualities"),
        ({"qualities": ["a"] * 5}, TypeError, "qualities: expected numbers"),
        ({"qualities": [0.5] * 5}, ValueError, "qualities: expected at least two different ones, got [0.5]"),
        ({"references": [0] * 5}, TypeError, "references: expected none with qualities"),
        ({"predictions": ([1], [2])}, TypeError, "predictions: expected scores (N,) with qualities, got a tuple"),
        ({"metrics": ["aurc", "augrc"]}, ValueError, "metrics: expected some of aurc, auarc, e_aurc, prr"),
        ({"metrics": "auroc", "qualities": [0, 0, 1, 0, 1]}, ValueError, "with qualities, got auroc"),
        ({"per_sample": True}, ValueError, "per_sample: expected False with qualities"),
    ],
)  # fmt: skip
def test_errors(changed: Columns, error: type[Exception], message: str) -> None:
    metric = bench()
    with pytest.raises(error) as caught:
        metric.compute(**{**BY_HAND, **changed})
    assert message in str(caught.value)
    assert metric.compute(**BY_HAND)["prr"] == 12 / 17


def test_errors_of_batches_and_states() -> None:
    metric = bench()
    metric.add_batch(**BY_HAND)
    with pytest.raises(ValueError, match="expected a state of qualities, scores, got one of labels, scores"):
        metric.add_batch(predictions=[1, 2], references=[0, 1])
    state = metric.state()
    for wrong, message in (
        ({"qualities": state["qualities"] + 1}, r"state\['qualities'\]: expected numbers in \[0, 1\], got 1.9"),
        ({"qualities": state["qualities"][:2]}, "expected arrays of one length"),
        ({"labels": np.zeros(5)}, "state: expected the arrays scores, qualities, got"),
    ):
        with pytest.raises(ValueError, match=message):
            bench().merge({**state, **wrong})
    with pytest.raises(ValueError, match="qualities: expected the same of first and of second"):
        om.compare(bench(), BY_HAND, {**BY_HAND, "qualities": [0, 0, 0.5, 0, 1]})
    with pytest.raises(TypeError, match="openauc has no argument 'qualities'"):
        om.OpenAUC().compute(predictions=[0], references=[0], open_scores=[0], qualities=[1])
