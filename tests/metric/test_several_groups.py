"""Samples of several groups, and harmonic means over groups: a group has the samples that name it, however they do."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from openworld_metrics import METRICS, OODBench, compare
from openworld_metrics.loading import metric_class
from openworld_metrics.metric.results import harmonic_mean
from openworld_metrics.metric.signature import VERSION
from tests import cases
from tests.splitting import rows

every_metric = pytest.mark.parametrize("name", METRICS)
DRAWN: dict[str, Any] = dict(confidence_level=0.8, n_resamples=20)
# an acoustic anomaly detector: the anomalies belong to both domains
DOMAINS: dict[str, Any] = dict(
    predictions=[0.1, 0.3, 0.5, 0.7, 0.4, 0.8, 0.9],
    references=[0, 0, 0, 0, 1, 1, 1],
    groups=["source", "source", "target", "target", *["source|target"] * 3],
)


def of_several(name: str, seed: int) -> tuple[cases.Columns, cases.Options]:
    """The samples of three groups, some of which are of two: as lists, or names with a bar between."""
    columns, options = cases.draw(name, seed)
    columns = cases.with_groups(columns, seed)
    rng = np.random.default_rng(seed)
    more = [(group, str(rng.choice(["near/a", "far"]))) for group in columns["groups"]]
    several = [
        ([group, other, group] if i % 2 else f"{other}|{group}") if group and rng.random() < 0.4 else group
        for i, (group, other) in enumerate(more)
    ]
    if "samples" in columns:  # the images of a sample lie in one set of groups
        columns["samples"] = [f"{sample} of {group}" for sample, group in zip(columns["samples"], several)]
    return {**columns, "groups": several}, options


def names_of(groups: Any) -> list[set[str]]:
    return [{*(group if isinstance(group, list) else group.split("|"))} for group in groups]


@every_metric
@pytest.mark.parametrize("seed", range(4))
def test_a_group_has_the_samples_that_name_it(name: str, seed: int) -> None:
    columns, options = of_several(name, seed)
    table = metric_class(name)(**options).compute(**columns)["groups"]
    assert table["group"] == ["far", "near", "near/a", "near/b"]
    names = names_of(columns["groups"])
    for group in ("far", "near/a", "near/b"):
        here = [i for i, each in enumerate(names) if {group, ""} & each]
        own = {key: column for key, column in rows(columns, here).items() if key != "groups"}
        expected = metric_class(name)(**options).compute(**own)
        at = table["group"].index(group)
        assert {key: table[key][at] for key in expected} == expected


@every_metric
def test_batches_order_merges_and_the_order_of_names_change_no_bit(name: str) -> None:
    columns, options = of_several(name, 5)
    expected = metric_class(name)(**options, **DRAWN).compute(**columns)
    order = np.random.default_rng(0).permutation(len(columns["groups"]))
    metric, other = (metric_class(name)(**options, **DRAWN) for _ in range(2))
    for part in np.array_split(order, 3):
        batch = rows(columns, part.tolist())
        batch["groups"] = [sorted(each, reverse=True) if "" not in each else "" for each in names_of(batch["groups"])]
        metric.add_batch(**batch)
    other.merge(metric.state())
    assert metric.compute() == other.compute() == expected


@every_metric
def test_two_groups_that_share_samples_draw_them_together(name: str) -> None:
    """As those that belong to every group."""
    columns, options = cases.draw(name, 8)
    columns = cases.with_groups(columns, 8)
    columns["groups"] = ["near/a" if group == "near/b" else group for group in columns["groups"]]
    every = metric_class(name)(**options, **DRAWN).compute(**columns)
    if "samples" in columns:
        columns["samples"] = [*map(str, columns["samples"])]
    columns["groups"] = [group or "far|near/a" for group in columns["groups"]]
    assert metric_class(name)(**options, **DRAWN).compute(**columns) == every


@every_metric
def test_a_group_that_shares_no_samples_has_the_interval_that_it_has_alone(name: str) -> None:
    columns, options = cases.draw(name, 11)
    columns = cases.with_groups(columns, 11)
    columns["groups"] = [group or "near/a|near/b" for group in columns["groups"]]
    options |= DRAWN
    table = metric_class(name)(**options).compute(**columns)["groups"]
    far = [i for i, group in enumerate(columns["groups"]) if group == "far"]
    own = {key: column for key, column in rows(columns, far).items() if key != "groups"}
    expected = metric_class(name)(**options).compute(**own)
    assert {key: table[key][0] for key in expected} == expected
    near = [i for i, group in enumerate(columns["groups"]) if group != "far"]
    without = metric_class(name)(**options).compute(**rows(columns, near))["groups"]
    assert {key: column[1:] for key, column in table.items()} == without


@every_metric
def test_comparisons(name: str) -> None:
    columns, options = of_several(name, 31)
    own = "open_scores" if "open_scores" in columns else "predictions"
    first = {own: columns.pop(own)}
    second = {own: first[own][::-1]}
    there = compare(name, first, second, **columns, **options, n_resamples=15)
    back = compare(name, second, first, **columns, **options, n_resamples=15)
    assert there["difference"] == [-value for value in back["difference"]]
    assert there["p_value"] == back["p_value"]
    same = compare(name, first, first, **columns, **options, n_resamples=15)
    assert {*same["difference"]} == {0.0}
    assert {*same["p_value"]} == {1.0}


def test_the_domains_of_dcase() -> None:
    metrics = ["auroc", "pauroc@fpr10_mcclish"]
    both = OODBench(metrics=metrics).compute(**DOMAINS)
    assert both["groups"]["group"] == ["source", "target"]
    assert both["groups"]["auroc"] == [1.0, 2 / 3]
    assert both["auroc"] == (1.0 + 2 / 3) / 2  # 5/6, of rates that are rounded
    harmonic = OODBench(metrics=metrics, groups_mean="harmonic").compute(**DOMAINS)
    assert harmonic["auroc"] == 4 / 5
    assert harmonic["groups"] == both["groups"]
    every = OODBench(metrics=metrics).compute(predictions=DOMAINS["predictions"], references=DOMAINS["references"])
    assert every["pauroc@fpr10_mcclish"] == 47 / 57
    # of the rounded 2/3 and 47/57
    official = harmonic_mean([*both["groups"]["auroc"], every["pauroc@fpr10_mcclish"]])
    assert official == pytest.approx(282 / 349, rel=2.3e-16)
    as_lists = {**DOMAINS, "groups": [group.split("|")[::-1] for group in DOMAINS["groups"]]}
    assert OODBench(metrics=metrics).compute(**as_lists) == both


def test_signatures() -> None:
    metric = OODBench(metrics="auroc", groups_mean="harmonic")
    assert metric.signature == f"ood_bench|groups_mean:harmonic|v{VERSION}"
    assert metric.summary(**DOMAINS).signature == f"ood_bench|groups_mean:harmonic|groups:overlapping|v{VERSION}"
    assert metric.summary(**DOMAINS).mean_name == "harmonic mean"
    apart = {**DOMAINS, "groups": [*DOMAINS["groups"][:4], "", "", ""]}
    assert OODBench().summary(**apart).signature == f"ood_bench|v{VERSION}"
    assert OODBench().summary(**apart).mean_name == "mean"


def test_harmonic_means_of_parts_of_names_and_of_resamples() -> None:
    rng = np.random.default_rng(1)
    number = 60
    columns: dict[str, Any] = dict(
        predictions=rng.normal(size=number).round(1),
        references=np.arange(number) % 2,
        groups=np.asarray(["near/a", "near/b", "far"])[np.arange(number) // 2 % 3],
    )
    metric = OODBench(metrics=["auroc", "fpr95tpr"], groups_mean="harmonic", confidence_level=0.9, n_resamples=30)
    found, plain = metric.compute(**columns), metric.compute(**columns, groups_mean="arithmetic")
    for key in ("auroc", "fpr95tpr"):
        by_group = dict(zip(found["groups"]["group"], found["groups"][key]))
        exact = [Fraction(by_group[group]) for group in ("far", "near/a", "near/b")]
        for at, values in ((found[key], exact), (by_group["near"], exact[1:])):
            expected = len(values) / sum(1 / value for value in values) if all(values) else 0
            assert at == pytest.approx(float(expected), rel=1e-15)
        assert found[key] <= plain[key]
        assert found[f"{key}_low"] <= found[f"{key}_high"]
        assert found[f"{key}_low"] <= plain[f"{key}_low"]
    table = compare(metric, columns["predictions"], -columns["predictions"], references=columns["references"],
                    groups=columns["groups"], n_resamples=20)  # fmt: skip
    means = dict(zip(zip(table["group"], table["key"]), table["first"]))
    assert [means[None, key] for key in metric.metrics] == [found[key] for key in metric.metrics]


def test_a_rate_of_0_makes_a_harmonic_mean_0_and_a_negative_one_an_error() -> None:
    columns = dict(predictions=[0.1, 0.9, 0.9, 0.1], references=[0, 1, 0, 1], groups=["a", "a", "b", "b"])
    metric = OODBench(metrics=["auroc", "fpr95tpr"], groups_mean="harmonic")
    assert {**metric.compute(**columns), "groups": 0} == {"auroc": 0.0, "fpr95tpr": 0.0, "groups": 0}
    with pytest.raises(ValueError, match=r"groups_mean: expected rates of at least 0 .* got -1\.0 of prr"):
        OODBench(metrics="prr", groups_mean="harmonic").compute(**columns)
    # or one below 0 in a resample alone, which has no harmonic mean either
    columns = dict(predictions=[0.1, 0.4, 0.5, 0.9] * 2, references=[0, 1, 0, 1] * 2, groups=[*"aaaabbbb"])
    drawn = OODBench(metrics="prr", groups_mean="harmonic", confidence_level=0.9, n_resamples=50)
    assert drawn.compute(**columns, confidence_level=None)["prr"] > 0
    with pytest.raises(ValueError, match=r"groups_mean: expected rates of at least 0 .* of prr in a resample$"):
        drawn.compute(**columns)
    with pytest.raises(ValueError, match=r"groups_mean: expected rates of at least 0 .* of prr in a resample$"):
        compare(OODBench(metrics="prr", groups_mean="harmonic"), columns["predictions"], columns["predictions"],
                references=columns["references"], groups=columns["groups"], n_resamples=50)  # fmt: skip
    with pytest.raises(ValueError, match="groups_mean: expected one of 'arithmetic', 'harmonic', got 'geometric'"):
        OODBench(groups_mean="geometric")


@pytest.mark.parametrize("bits", [4, 6, 12])
def test_errors_of_harmonic_means(bits: int) -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        number = int(rng.integers(4, 80))
        groups = [*itertools.islice(itertools.cycle("aabb"), number)]
        columns = dict(predictions=rng.normal(size=number), references=np.arange(number) % 2, groups=groups)
        metric = OODBench(metrics=["auroc", "aupr_out", "fpr95tpr"], groups_mean="harmonic")
        exact, cut = metric.compute(**columns), metric.compute(**columns, significant_bits=bits)
        for key in metric.metrics:
            assert abs(Fraction(cut[key]) - Fraction(exact[key])) <= Fraction(cut[f"{key}_error"])
