"""The column `clusters`: rows that depend on each other are drawn together."""

from __future__ import annotations

import itertools
import json
import math
import pickle
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from openworld_metrics import METRICS, AccuracyK, AnomalySuite, OODBench, compare, pack, unpack
from openworld_metrics.cluster import reduce_batches
from openworld_metrics.integrations.combining import combine
from openworld_metrics.loading import metric_class, task_of
from openworld_metrics.metric import metric as metric_module
from openworld_metrics.metric.results import Draws, rates_of
from tests import cases
from tests.splitting import batches, length, rows

Load = Callable[..., Any]
every_metric = pytest.mark.parametrize("name", METRICS)
DRAWN: dict[str, Any] = dict(confidence_level=0.9, n_resamples=15, random_state=2)
# three subjects with known and with unknown samples: FRONTIER's example, worked out by hand
SUBJECTS: dict[str, Any] = dict(
    predictions=[0.1, 0.2, 0.6, 0.5, 0.4, 0.9, 0.3, 0.7],
    references=[0, 0, 1, 0, 1, 1, 0, 1],
    clusters=[*"aaabbbcc"],
)


def clustered(name: str, seed: int) -> tuple[cases.Columns, dict[str, Any]]:
    columns, options = cases.draw(name, seed)
    return cases.with_clusters(columns, seed), options


def without_clusters(columns: cases.Columns) -> cases.Columns:
    return {name: column for name, column in columns.items() if name != "clusters"}


@pytest.mark.parametrize(("level", "low"), [(0.95, 1 / 2), (0.9, 11 / 15)])
def test_the_intervals_of_three_subjects(level: float, low: float) -> None:
    metric = OODBench(metrics="auroc", confidence_level=level, n_resamples=5000)
    summary = metric.summary(**SUBJECTS)
    assert summary.as_dict() == {"auroc": 15 / 16, "auroc_low": low, "auroc_high": 1.0}
    assert summary.drawn == Draws(clusters=3, fewest=3, redrawn=0)
    assert metric.signature == OODBench(metrics="auroc").signature
    assert "clusters" not in summary.signature


# Every draw of tiny data, from which the distribution of a rate follows


def maps(*highest: float) -> list[list[list[float]]]:
    return [[[0.125, 0.25], [each, 0.0]] for each in highest]


def masks(*anomalous: int) -> list[list[list[int]]]:
    return [[[0, 0], [each, 0]] for each in anomalous]


def box(left: float, confidence: float, label: int) -> list[float]:
    return [left, 0, left + 10, 10, confidence, label]


OPEN: dict[str, Any] = dict(
    predictions=[0, 1, 1, 0, 1, 0, 0, 1],
    references=[0, 1, 0, -1, 1, -1, -1, 1],
    open_scores=[0.1, 0.3, 0.2, 0.6, 0.5, 0.4, 0.9, 0.3],
)
MIXED = [reference < 0 for reference in OPEN["references"]]
TINY: dict[str, tuple[dict[str, Any], list[bool]]] = {
    # by metric or else by task: columns, and whether each sample is unknown; top-k and detection know one kind
    "accuracyk": (dict(predictions=[[0], [1], [1], [0], [2], [0]], references=[0, 1, 0, 1, 2, 0]), [False] * 6),
    "classification": (
        dict(predictions=[[0.5, 0.25], [0.5, 0.75], [0.25, 0.5], [1.0, 0.0], [0.0, 1.0]], references=[0, 0, 1, 1, 1]),
        [False] * 5,
    ),
    "open_set": (OPEN, MIXED),
    "ood": (dict(predictions=SUBJECTS["predictions"], references=[int(unknown) for unknown in MIXED]), MIXED),
    "detection": (
        dict(
            predictions=[[box(0, 0.9, 0)], [box(0, 0.5, 9), box(20, 0.7, 0)], [box(0, 0.8, 0)], [], [box(0, 0.3, 9)]],
            references=[[[0, 0, 10, 10, 0]], [[0, 0, 10, 10, 5]], [[20, 0, 30, 10, 0]], [[0, 0, 10, 10, 5]], []],
        ),
        [False] * 5,
    ),
    "anomaly": (
        dict(predictions=maps(0.5, 0.75, 0.25, 1.0, 0.125, 0.5), references=masks(0, 1, 0, 1, 0, 1)),
        [False, True, False, True, False, True],
    ),
}
TINY_OPTIONS: dict[str, dict[str, Any]] = {  # that are not the defaults
    "autkc": dict(k_list=2, average="macro"),
    "macro_open_f": dict(num_classes=2),
    "openauc": dict(risk_metrics=["aurc"]),
    "ood_bench": dict(metrics=["auroc", "fpr95tpr", "aurc", "aupr_out"]),
    "openset_detection": dict(known_classes=[0], unknown_class_id=9, count_background=True),
    "anomaly_suite": dict(integration_limits=1.0),
}
CLUSTERS = {5: [*"abbac"], 6: [*"abbacc"], 8: [*"abbacbcc"]}


def tiny(name: str) -> tuple[dict[str, Any], dict[str, Any], list[bool]]:
    """Columns and options of a metric, and whether each sample is unknown."""
    columns, unknown = TINY.get(name) or TINY[task_of(name)]
    return columns, TINY_OPTIONS.get(name, {}), unknown


def every_draw(name: str, clusters: Sequence[str]) -> Counter[Hashable]:
    """The rates of every draw of clusters, each of the same probability, from repeated rows."""
    columns, options, unknown = tiny(name)
    members = {cluster: [i for i, own in enumerate(clusters) if own == cluster] for cluster in clusters}
    kinds: dict[frozenset[bool], list[str]] = {}
    for cluster, own in members.items():
        kinds.setdefault(frozenset(unknown[i] for i in own), []).append(cluster)
    results: Counter[Hashable] = Counter()
    for drawn in itertools.product(*(itertools.product(own, repeat=len(own)) for own in kinds.values())):
        again = [i for cluster in itertools.chain(*drawn) for i in members[cluster]]
        again_columns = {key: [column[i] for i in again] for key, column in columns.items()}
        results[rounded(metric_class(name)(**options).summary(**again_columns).results)] += 1
    return results


def rounded(rates: Mapping[str, Any]) -> Hashable:
    """The rates that there are, without those over no objects; shares of regions are rounded."""
    values = {key: rate.value for key, rate in rates_of(rates).items()}
    return tuple((key, round(value, 8)) for key, value in values.items() if not math.isnan(value))


@every_metric
@pytest.mark.parametrize("apart", ["", "ab", "abc"], ids=["both kinds", "three kinds", "one kind each"])
def test_a_resample_is_any_draw_with_its_probability(name: str, apart: str) -> None:
    columns, options, unknown = tiny(name)
    clusters = [
        f"{cluster}{int(side)}" if cluster in apart else cluster
        for cluster, side in zip(CLUSTERS[len(unknown)], unknown)
    ]
    (part,) = metric_class(name)(**options).prepared_parts(**columns, clusters=clusters)
    prepared = part.prepared
    units = [
        [row for row in np.flatnonzero(prepared.strata == kind).tolist() for _ in range(int(prepared.counts[row]))]
        for kind in np.unique(prepared.strata)
    ]
    drawn: Counter[Hashable] = Counter()
    for draws in itertools.product(*(itertools.product(own, repeat=len(own)) for own in units)):
        counts = np.bincount([*itertools.chain(*draws)], minlength=len(prepared.counts))
        drawn[rounded(prepared.rates(counts))] += 1
    assert drawn == every_draw(name, clusters)


# Laws


@every_metric
@pytest.mark.parametrize("seed", range(4))
def test_neither_order_nor_names_nor_batches_nor_merges_change_a_bit(name: str, seed: int) -> None:
    columns, options = clustered(name, seed)
    expected = metric_class(name)(**options, **DRAWN).compute(**columns)
    plain = metric_class(name)(**options).compute(**without_clusters(columns))
    assert metric_class(name)(**options).compute(**columns) == plain
    assert {key: expected[key] for key in plain} == plain
    assert any(key.endswith("_low") for key in expected)
    rng = np.random.default_rng(seed)
    numbers = {cluster: i for i, cluster in enumerate(rng.permutation(np.unique(columns["clusters"])).tolist())}
    renamed = {**columns, "clusters": [numbers[cluster] for cluster in columns["clusters"].tolist()]}
    shuffled = rows(renamed, rng.permutation(length(columns)).tolist())
    merged, counting = (metric_class(name)(**options, **DRAWN) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metric_module, "ROWS", 2)  # so that equal rows are counted again and again
        for batch in batches(shuffled, rng):
            part = metric_class(name)(**options, **DRAWN)
            part.add_batch(**batch)
            merged.merge(unpack(pack(part.state())))
            counting.merge(json.loads(json.dumps({key: array.tolist() for key, array in part.state().items()})))
    assert len(merged) == length(columns)
    assert pickle.loads(pickle.dumps(merged)).compute() == expected
    assert merged.compute() == counting.compute() == expected


@every_metric
@pytest.mark.parametrize("seed", range(4))
def test_one_cluster_a_row_is_as_without_clusters(name: str, seed: int) -> None:
    columns = without_clusters(clustered(name, seed)[0])
    options = cases.draw(name, seed)[1]
    clusters = columns.get("samples", range(length(columns)))
    expected = metric_class(name)(**options, **DRAWN).compute(**columns)
    assert metric_class(name)(**options, **DRAWN).compute(**columns, clusters=[*clusters]) == expected


@every_metric
def test_rows_with_counts_are_the_rows_repeated(name: str) -> None:
    if "counts" not in metric_class(name).columns:
        pytest.skip("images have no counts")
    columns, options = clustered(name, 9)
    counts = np.random.default_rng(0).integers(0, 3, length(columns))
    counts[0] = 2
    repeated = rows(columns, np.repeat(np.arange(len(counts)), counts))
    metric = metric_class(name)(**options, **DRAWN)
    assert metric.compute(**columns, counts=counts) == metric.compute(**repeated)


@pytest.mark.parametrize("name", ["ood_bench", "openauc"])
def test_scores_that_were_cut(name: str) -> None:
    columns, options = clustered(name, 3)
    columns = rows(columns, np.tile(np.arange(length(columns)), 2))
    options = {key: value for key, value in options.items() if key != "risk_metrics"} | {"significant_bits": 8}
    expected = metric_class(name)(**options, **DRAWN).compute(**columns)
    metric = metric_class(name)(**options, **DRAWN)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metric_module, "ROWS", 2)
        for batch in batches(columns, np.random.default_rng(0)):
            metric.add_batch(**batch)
    (state,) = metric.states()
    assert len(state["counts"]) < length(columns)
    assert metric.compute() == expected


def test_clusters_cross_to_a_device_and_back() -> None:
    torch = pytest.importorskip("torch")
    columns = {**SUBJECTS, "predictions": torch.tensor(SUBJECTS["predictions"], dtype=torch.float64)}
    metric = OODBench(**DRAWN)
    for part in (slice(0, 5), slice(5, 8)):
        metric.add_batch(**{name: column[part] for name, column in columns.items()})
    assert metric.compute() == OODBench(**DRAWN).compute(**SUBJECTS)


def test_engines_processes_and_combined_metrics_take_the_column(load: Load) -> None:
    large = [2**60 + ord(cluster) for cluster in SUBJECTS["clusters"]]
    columns = {**SUBJECTS, "clusters": large}
    expected = OODBench(**DRAWN).compute(**SUBJECTS)
    metric = OODBench(**DRAWN)
    for part in (slice(0, 3), slice(3, 8)):
        metric.merge(reduce_batches("ood_bench", [{name: column[part] for name, column in columns.items()}]))
    assert metric.compute() == expected
    both = combine({"first": load("ood_bench", **DRAWN), "second": load("ood_bench", **DRAWN)})
    results = both.compute(**columns)
    assert results is not None
    assert results["first_auroc_low"] == results["second_auroc_low"] == expected["auroc_low"]


# Groups


def test_groups_without_a_common_cluster_have_the_intervals_that_they_have_alone() -> None:
    rng = np.random.default_rng(0)
    columns, _ = clustered("ood_bench", 1)
    near = {**columns, "predictions": rng.random(length(columns))}
    both = {name: [*columns[name], *near[name]] for name in ("predictions", "references")}
    groups = ["far"] * length(columns) + ["near"] * length(columns)
    clusters = [*columns["clusters"], *(f"near {cluster}" for cluster in near["clusters"])]
    metric = OODBench(in_value=0, out_value=1, **DRAWN)
    table = metric.compute(**both, groups=groups, clusters=clusters)["groups"]
    for place, one in enumerate((columns, near)):
        alone = metric.compute(**one)
        assert {key: column[place] for key, column in table.items() if key in alone} == alone


def test_a_cluster_of_two_groups_is_drawn_with_its_rows_in_both() -> None:
    """In two groups with the same samples and the same clusters, all resamples are alike, and so is their mean."""
    columns = {name: [*column, *column] for name, column in SUBJECTS.items()}
    groups = ["a"] * 8 + ["b"] * 8
    metric = OODBench(metrics="auroc", **DRAWN | {"n_resamples": 200})
    alone = metric.compute(**SUBJECTS)
    results = metric.compute(**columns, groups=groups)
    assert results["groups"]["auroc_low"] == [alone["auroc_low"]] * 2
    assert results["auroc_low"] == alone["auroc_low"]
    # clusters of one group each are drawn apart from those of the other
    others = [*SUBJECTS["clusters"], *(f"{cluster}'" for cluster in SUBJECTS["clusters"])]
    apart = metric.compute(**{**columns, "clusters": others}, groups=groups)
    assert apart["groups"]["auroc_low"] == [alone["auroc_low"]] * 2
    assert apart["auroc_low"] != alone["auroc_low"]


def test_samples_of_all_groups_are_drawn_by_their_clusters() -> None:
    """Known samples of two scenes that both sets share: one is drawn twice, or each once."""
    columns = dict(predictions=[0.1, 0.5, 0.3, 0.7, 0.4, 0.6], references=[0, 0, 1, 1, 1, 1])
    groups, clusters = ["", "", "far", "far", "near", "near"], ["s", "t", "f1", "f2", "n1", "n2"]
    metric = OODBench(metrics="auroc", **DRAWN | {"n_resamples": 100})
    (part,) = metric.prepared_parts(**columns, groups=groups, clusters=clusters)
    assert part.prepared.counts.tolist() == [1, 1, 0, 0, 1, 1, 0, 0, 1, 1]
    results = metric.compute(**columns, groups=groups, clusters=clusters)
    assert results == metric.compute(**columns, groups=groups)


def test_subjects_with_samples_of_all_groups_and_of_one() -> None:
    """Where each of two groups has all subjects, each has the resamples that it has alone."""
    known: dict[str, Any] = dict(predictions=[0.1, 0.5, 0.4], references=[0, 0, 0], clusters=[*"abc"])
    unknown = {"far": [0.9, 0.3, 0.6], "near": [0.2, 0.45, 0.7]}
    metric = OODBench(metrics="auroc", **DRAWN | {"n_resamples": 100})
    columns: dict[str, list[Any]] = {name: [*column] for name, column in known.items()} | {"groups": [None] * 3}
    for group, scores in unknown.items():
        columns["predictions"] += scores
        columns["references"] += [1] * 3
        columns["clusters"] += [*"abc"]
        columns["groups"] += [group] * 3
    table = metric.compute(**columns)["groups"]
    assert table["group"] == ["far", "near"]
    for group, scores in unknown.items():
        place = table["group"].index(group)
        alone = metric.compute(
            predictions=[*known["predictions"], *scores], references=[0, 0, 0, 1, 1, 1], clusters=[*"abcabc"]
        )
        assert {key: table[key][place] for key in alone} == alone


def test_resamples_that_lack_a_class_are_drawn_again_and_counted() -> None:
    """Three subjects of both sets, each with unknown samples in two of three groups."""
    predictions, references, groups, clusters = [], [], [], []
    rng = np.random.default_rng(0)
    for subject, near in enumerate(("a", "b", "c")):
        for group in ("a", "b", "c"):
            for label in (0, 1) if group != near else (0,):
                predictions.append(float(rng.random()))
                references.append(label)
                groups.append(group)
                clusters.append(subject)
    columns = dict(predictions=predictions, references=references, groups=groups, clusters=clusters)
    metric = OODBench(metrics="auroc", **DRAWN | {"n_resamples": 300})
    drawn = metric.summary(**columns).drawn
    assert drawn is not None
    # in 3 of 27 draws one subject comes three times, and its group without unknown samples lacks them
    assert drawn == Draws(clusters=3, fewest=2, redrawn=drawn.redrawn)
    assert 15 <= drawn.redrawn <= 60
    assert metric.summary(**columns).drawn == drawn


# Comparisons


def test_both_models_have_the_same_clusters_in_a_resample() -> None:
    rng = np.random.default_rng(0)
    columns, _ = clustered("ood_bench", 4)
    first = {**columns, "predictions": rng.random(length(columns))}
    shared = {name: first[name] for name in ("references", "clusters")}
    options: dict[str, Any] = dict(n_resamples=40, metrics="auroc")
    equal = compare(OODBench(**options), first["predictions"], first["predictions"] / 2, **shared)
    assert (equal["difference"], equal["low"], equal["high"], equal["p_value"]) == ([0.0], [0.0], [0.0], [1.0])
    other = rng.random(length(columns))
    table = compare("ood_bench", first["predictions"], other, **shared)
    mirrored = compare("ood_bench", other, first["predictions"], **shared)
    assert [-x for x in table["low"]] == mirrored["high"]
    assert table["p_value"] == mirrored["p_value"]
    with pytest.raises(ValueError, match="clusters: expected the same of first and of second"):
        compare("ood_bench", first, {**first, "clusters": [*first["clusters"]][::-1]})


# Whether intervals are true


def dependent(rng: np.random.Generator, subjects: int = 20, each: int = 50) -> dict[str, Any]:
    """Scores with a third of their variance between subjects, whose true AUROC is Φ(1/√2) = 0.7602."""
    references = np.repeat([0, 1], subjects * each)
    clusters = np.repeat(np.arange(2 * subjects), each)
    scores = rng.normal(size=len(references), scale=0.7**0.5) + rng.normal(size=2 * subjects, scale=0.3**0.5)[clusters]
    return dict(predictions=scores + references, references=references, clusters=clusters)


def test_intervals_of_clusters_hold_the_truth_where_those_of_rows_do_not() -> None:
    metric = OODBench(metrics="auroc", confidence_level=0.95, n_resamples=99)
    held = {"clusters": 0, "rows": 0}
    rng, repetitions = np.random.default_rng(73), 40
    for _ in range(repetitions):
        columns = dependent(rng)
        for name, own in (("clusters", columns), ("rows", without_clusters(columns))):
            results = metric.compute(**own)
            held[name] += results["auroc_low"] <= 0.7602499 <= results["auroc_high"]
    assert held["clusters"] >= 0.85 * repetitions
    assert held["rows"] <= 0.4 * repetitions


def test_equally_good_models_get_no_winner_more_often_than_the_level_says() -> None:
    rng, repetitions = np.random.default_rng(60), 40
    winners = {"clusters": 0, "rows": 0}
    for _ in range(repetitions):
        first, second = dependent(rng, 10, 40), dependent(rng, 10, 40)
        for name, own in (("clusters", first), ("rows", without_clusters(first))):
            shared = {key: column for key, column in own.items() if key != "predictions"}
            options: dict[str, Any] = dict(n_resamples=99)
            table = compare(OODBench(metrics="auroc"), first["predictions"], second["predictions"], **shared, **options)
            winners[name] += table["better"] != [None]
    assert winners["clusters"] <= 0.12 * repetitions  # 5 %, and two standard errors
    assert winners["rows"] >= 0.3 * repetitions


# Errors


@pytest.mark.parametrize(
    ("clusters", "error", "message"),
    [
        ([*"aaabbbc"], ValueError, "clusters: expected one for each of 8 samples, got 7"),
        ([*"aaabbb", None, "c"], ValueError, "clusters: expected the cluster of each sample, got None at position 6"),
        ([0, 0, 1, 1, 1, float("nan"), 2, 2], ValueError, "got nan at position 5"),
        ([0.5] * 8, TypeError, "clusters: expected strings or integers, got 0.5"),
        ("aaabbbcc", TypeError, "clusters: expected a column of strings or integers, got str"),
        (["a"] * 8, ValueError, "clusters: expected at least 2 with unknown samples, got 1"),
        ([*"kkukuuku"], ValueError, "clusters: expected at least 2 with unknown samples, got 1"),
        ([*"kloooooo"], ValueError, "clusters: expected at least 2 with unknown samples, got 1"),
        ([*"klububkb"], ValueError, "clusters: expected at least 2 of one kind with unknown samples, got 1"),
    ],
)
def test_errors(clusters: Any, error: type[Exception], message: str) -> None:
    metric = OODBench(confidence_level=0.9)
    columns = without_clusters(SUBJECTS)
    if message.endswith("got 1"):  # which matters where an interval is wanted
        OODBench().compute(**columns, clusters=clusters)
    with pytest.raises(error) as caught:
        metric.compute(**columns, clusters=clusters)
    assert message in str(caught.value)
    assert metric.compute(**SUBJECTS)["auroc"] == 15 / 16


def test_errors_of_batches_groups_and_states() -> None:
    metric = OODBench()
    metric.add_batch(**SUBJECTS)
    with pytest.raises(ValueError, match="expected a state of cluster_names, clusters, labels, scores, got one of"):
        metric.add_batch(**without_clusters(SUBJECTS))
    state = metric.state()
    for wrong, message in (
        ({"clusters": state["clusters"][:3]}, "a cluster for each of 8 rows, got 3"),
        ({"clusters": state["clusters"] + 1}, "integers in"),
        ({"cluster_names": np.asarray(["a", "b", "b"])}, "different strings"),
        ({"cluster_names": np.asarray([1, 2, 3])}, "different strings"),
    ):
        with pytest.raises(ValueError, match=message):
            OODBench().merge({**state, **wrong})
    with pytest.raises(ValueError, match="clusters with cluster_names"):
        OODBench().merge({name: array for name, array in state.items() if name != "cluster_names"})
    groups = ["a"] * 4 + ["b"] * 4
    with pytest.raises(ValueError, match="group 'a': clusters: expected at least 2 with unknown samples, got 1"):
        OODBench(confidence_level=0.9).compute(**{**SUBJECTS, "references": [0, 1, 1, 0, 0, 1, 0, 1]}, groups=groups)
    images = dict(predictions=maps(0.5, 0.25), references=masks(0, 1))
    with pytest.raises(ValueError, match="all images of a sample in one cluster"):
        AnomalySuite().compute(**images, samples=["s", "s"], clusters=["a", "b"])
    with pytest.raises(ValueError, match="at least 2 with known samples, got 1"):
        AccuracyK(confidence_level=0.9).compute(predictions=[[0.9, 0.1]], references=[0], clusters=["a"])
