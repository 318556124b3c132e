"""Intervals and paired comparisons: their laws, and whether they are true."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from openworld_metrics import compare
from openworld_metrics.comparison import Comparison, better, ends_of_differences, not_rejected, p_value
from openworld_metrics.loading import metric_class
from openworld_metrics.metric import metric as metric_module
from openworld_metrics.metric.bootstrap import BLOCK, MANY_ROWS, draw, percentiles, resampled
from openworld_metrics.metric.results import Rate, Summary, as_dict, rates_of
from openworld_metrics.ranking import strata as rows_module
from openworld_metrics.ranking.counts import as_side
from openworld_metrics.ranking.strata import rows_of_sides
from tests import cases
from tests.examples import many, seeds
from tests.splitting import length, rows

RESAMPLED = cases.METRICS
SETS = 300  # simulated
SETS_OF_PIXELS = 100  # fewer, since intervals that resample pixels hold the true value 4 times in 10


def asked(options: cases.Options) -> cases.Options:
    return {**options, "confidence_level": 0.9, "n_resamples": 7, "random_state": 3}


def of_rates(results: dict[str, Any]) -> dict[str, float]:
    return {key: value for key, value in results.items() if key.endswith(("_low", "_high"))}


@pytest.mark.parametrize("name", RESAMPLED)
@many
@given(seed=seeds)
def test_rows_give_the_results_and_no_order_changes_a_bit(name: str, seed: int) -> None:
    columns, options = cases.draw(name, seed)
    metric = metric_class(name)(**options)
    (part,) = metric.prepared_parts(**columns)
    results = as_dict(part.results[""])
    of_rows = rates_of(part.prepared.rates(part.prepared.counts))
    point = {key: rate.value for key, rate in of_rows.items() if rate.value == rate.value}  # NaN of no objects
    # shares of regions are rounded to multiples of 2^-30
    assert point == pytest.approx(
        {key: results[key] for key in point}, abs=1e-8 if name == "anomaly_suite" else 0, rel=0
    )
    once = metric_class(name)(**asked(options)).compute(**columns)
    assert {key: once[key] for key in results} == results
    assert all(once[f"{key}_low"] <= once[f"{key}_high"] for key in point if f"{key}_low" in once)
    order = np.random.default_rng(seed).permutation(length(columns))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metric_module, "ROWS", 2)
        other = metric_class(name)(**asked(options))
        for part in np.array_split(order, 3):
            other.add_batch(**rows(columns, part))
        assert of_rates(other.compute()) == of_rates(once)


def simulated(seed: int, num: int = 300) -> dict[str, Any]:
    """Open-set scores of known and unknown samples, normal with means 0 and 1.2; predictions right 8 in 10 times."""
    rng = np.random.default_rng(seed)
    references = np.repeat([0, -1], num)
    predictions = (rng.random(2 * num) < 0.2).astype(int)
    return dict(predictions=predictions, references=references, open_scores=rng.normal(size=2 * num) - 1.2 * references)


def test_a_perfect_score_has_an_interval_of_one() -> None:
    columns = dict(predictions=[0.1, 0.2, 0.8, 0.9], references=[0, 0, 1, 1])
    results = metric_class("ood_bench")(confidence_level=0.95).compute(**columns)
    assert results == {
        "auroc": 1.0,
        "auroc_low": 1.0,
        "auroc_high": 1.0,
        "fpr95tpr": 0.0,
        "fpr95tpr_low": 0.0,
        "fpr95tpr_high": 0.0,
    }


def test_a_resample_without_the_largest_class_id_has_as_many_classes() -> None:
    """A class that few samples have is missing from one resample in three; the number of classes is that of all."""
    references = [*range(5), 0, 1, 2, 3, -1, -1]
    columns = dict(predictions=[max(0, c) for c in references], references=references, open_scores=[0.5] * 11)
    metric = metric_class("macro_open_f")
    options = dict(confidence_level=0.9, n_resamples=50)
    assert metric(**options).compute(**columns) == metric(**options, num_classes=5).compute(**columns)
    scores = np.eye(5)[columns["predictions"]]
    assert metric(**options).compute(**columns) == metric(**options).compute(**{**columns, "predictions": scores})


def test_draws_keep_the_total() -> None:
    rng = np.random.default_rng(0)
    for counts in np.ones(9, np.int64), np.asarray([3, 1, 5]), np.asarray([10**6, 10**12]), np.zeros(0, np.int64):
        assert draw(rng, counts).sum() == counts.sum()
    assert percentiles(np.arange(101.0), 0.5) == (25.0, 75.0)


def test_blocks_of_resamples_have_streams_of_their_own() -> None:
    def number(rng: np.random.Generator) -> list[float]:
        return [float(rng.random())]

    many, few = (resampled(number, n, 5, MANY_ROWS)[0][:, 0] for n in (2 * BLOCK + 30, BLOCK + 7))
    assert len(many) == 2 * BLOCK + 30
    assert many[: len(few)].tolist() == few.tolist()  # more resamples begin as fewer do
    one_stream = resampled(number, 2 * BLOCK + 30, 5, MANY_ROWS - 1)[0][:, 0].tolist()
    assert one_stream == np.random.default_rng(5).random(2 * BLOCK + 30).tolist()
    assert many[:BLOCK].tolist() == one_stream[:BLOCK]
    assert len({*many.tolist()}) == len(many)


def test_merged_rows_move_the_interval_by_less_than_2_percent_of_its_width() -> None:
    rng = np.random.default_rng(5)
    references = (rng.random(60_000) < 0.4).astype(int)
    columns = dict(predictions=rng.normal(size=60_000) + 1.1 * references, references=references)
    options: dict[str, Any] = dict(metrics=["auroc", "fpr95tpr", "aupr_in", "aupr_out", "detect_acc"])
    found = []
    for most in 1 << 14, 1 << 17:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rows_module, "MAX_ROWS", most)
            patch.setattr("openworld_metrics.metric.bootstrap._DRAWS_PER_ROW", 10**9)
            metric = metric_class("ood_bench")(confidence_level=0.95, n_resamples=60, **options)
            found.append(metric.compute(**columns))
    merged, exact = found
    for key in options["metrics"]:
        assert merged[key] == exact[key]
        width = exact[f"{key}_high"] - exact[f"{key}_low"]
        assert abs(merged[f"{key}_low"] - exact[f"{key}_low"]) < 0.02 * width
        assert abs(merged[f"{key}_high"] - exact[f"{key}_high"]) < 0.02 * width


def test_rows_of_sides_are_the_scores_or_their_quantiles(monkeypatch: pytest.MonkeyPatch) -> None:
    sides = [as_side(np.asarray([0.0, -0.0, 2.0, 1.0])), as_side(np.asarray([1.5]))]
    first, second = rows_of_sides(*sides)
    assert (first.scores.tolist(), first.counts.tolist()) == ([0.0, 1.0, 2.0], [2, 1, 1])
    assert (second.scores.tolist(), second.counts.tolist()) == ([1.5], [1])
    monkeypatch.setattr(rows_module, "MAX_ROWS", 2)
    first, second = rows_of_sides(*sides)
    assert first.scores.tolist() == second.scores.tolist() == [0.0, 1.5, 2.0]
    assert (first.counts.tolist(), second.counts.tolist()) == ([2, 1, 1], [0, 1, 0])


@pytest.fixture(scope="module")
def covered() -> dict[str, float]:
    """How often 95 % intervals hold the true value."""
    normal = NormalDist()
    fpr = 1 - normal.cdf(1.2 + normal.inv_cdf(0.05))
    auroc = normal.cdf(1.2 / 2**0.5)
    true = {"open_set_auroc": auroc, "fpr95tpr": fpr, "openauc": 0.8 * auroc, "closed_set_accuracy": 0.8}
    hits = dict.fromkeys(true, 0)
    drawn: dict[str, Any] = dict(confidence_level=0.95, n_resamples=80)
    for seed in range(SETS):
        columns = simulated(seed)
        labels = (columns["references"] < 0).astype(int)
        scores = columns["open_scores"]
        found = metric_class("ood_bench")(metrics="fpr95tpr", **drawn).compute(predictions=scores, references=labels)
        found |= metric_class("openauc")(**drawn).compute(**columns)
        for key, value in true.items():
            hits[key] += found[f"{key}_low"] <= value <= found[f"{key}_high"]
    return {key: count / SETS for key, count in hits.items()}


@pytest.mark.slow
@pytest.mark.parametrize("key", ["open_set_auroc", "fpr95tpr", "openauc", "closed_set_accuracy"])
def test_intervals_hold_the_true_value(key: str, covered: dict[str, float]) -> None:
    assert 0.90 <= covered[key] <= 0.99


def images_of_their_own(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Maps of 50 normal and 50 anomalous images, whose pixels have nearly all in common; of few scores, to be fast."""
    rng = np.random.default_rng(20_000 + seed)
    masks = np.repeat([0, 1], 50)[:, None, None] * np.ones((1, 3, 3), int)
    maps = rng.normal(size=(100, 1, 1)) + 0.3 * rng.normal(size=(100, 3, 3)) + 1.5 * masks
    return np.round(maps, 1), masks


@pytest.mark.slow
def test_pixels_of_an_image_are_resampled_together() -> None:
    true = NormalDist().cdf(1.5 / (2 * 1.09) ** 0.5)
    by_image, by_pixel = 0, 0
    drawn: dict[str, Any] = dict(confidence_level=0.95, n_resamples=60)
    for seed in range(SETS):
        maps, masks = images_of_their_own(seed)
        metric = metric_class("anomaly_suite")(levels="pixel", integration_limits=[0.3], **drawn)
        found = metric.compute(predictions=maps, references=masks)
        by_image += found["pixel_auroc_low"] <= true <= found["pixel_auroc_high"]
        if seed < SETS_OF_PIXELS:
            pixels = metric_class("ood_bench")(metrics="auroc", **drawn)
            found = pixels.compute(predictions=maps.reshape(-1), references=masks.reshape(-1))
            by_pixel += found["auroc_low"] <= true <= found["auroc_high"]
    assert 0.90 <= by_image / SETS <= 0.99
    assert by_pixel / SETS_OF_PIXELS < 0.6


def null_models() -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Two models that are equally good, with errors in common."""
    for seed in range(SETS):
        rng = np.random.default_rng(10_000 + seed)
        references = np.repeat([0, 1], 100)
        common = rng.normal(size=200) + references
        yield common + rng.normal(size=200), common + rng.normal(size=200), references


@pytest.mark.slow
def test_the_paired_test_rejects_as_often_as_it_says() -> None:
    rejected = 0
    for first, second, references in null_models():
        # 39 are the fewest for a p-value of 2/40, so 1 in 20 is rejected exactly
        table = compare("ood_bench", first, second, references=references, metrics="auroc", n_resamples=39)
        rejected += table["p_value"][0] <= 0.05
    assert 0.02 <= rejected / SETS <= 0.09


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("number", [1, 2, 9, 19, 39, 50, 99, 199, 1000])
def test_a_better_model_has_a_p_value_and_an_interval_that_say_so(number: int, level: float) -> None:
    for below in range(min(number, 40)):
        differences = np.linspace(0.1, 1.0, number)
        differences[:below] = -1e-9
        one, other = (Summary({"auroc": Rate(value, higher=True)}) for value in (0.75, 0.25))
        (row,) = Comparison(one, other, {"auroc": differences}, level).rows().values()
        assert row["p_value"] == pytest.approx(min(1, 2 * (min(below, number - below) + 1) / (number + 1)))
        certain = Fraction(2 * (min(below, number - below) + 1), number + 1) <= 1 - Fraction(str(level))
        assert row["better"] == (("first" if row["low"] > 0 else "second") if certain else None)
        assert not certain or row["low"] > 0 or row["high"] < 0


def test_no_model_is_better_at_a_difference_of_0() -> None:
    """Few resamples may all be on one side of it."""
    one = Summary({"auroc": Rate(0.5, higher=True)})
    (row,) = Comparison(one, one, {"auroc": np.asarray([0.1, 0.2, 0.3])}, 0.5).rows().values()
    assert (row["difference"], row["p_value"], row["better"]) == (0.0, 0.5, None)
    assert row["low"] > 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        models = rng.integers(0, 4, (2, 12)) / 4
        table = compare(
            "ood_bench", *models, references=[0, 1] * 6, confidence_level=0.5, n_resamples=3, random_state=seed
        )
        for difference, verdict in zip(table["difference"], table["better"]):
            assert difference or verdict is None


@pytest.mark.parametrize("name", RESAMPLED)
def test_equal_models_do_not_differ(name: str) -> None:
    columns, options = cases.draw(name, 9)
    own = {key: columns[key] for key in columns if key not in ("references", "open_labels", "image_labels")}
    shared = {key: columns[key] for key in columns if key not in own}
    table = compare(name, own, own, n_resamples=20, **shared, **options)
    assert table["first"] == table["second"]
    assert set(table["difference"]) <= {0.0}
    assert set(table["p_value"]) <= {1.0}
    assert table["key"]


def test_a_comparison_does_not_depend_on_the_order_of_the_samples() -> None:
    one, two = simulated(1), simulated(2)
    keys = ("predictions", "open_scores")
    first, second = ({key: columns[key] for key in keys} for columns in (one, two))
    table = compare("openauc", first, second, references=one["references"], n_resamples=50, tpr=0.9)
    order = np.random.default_rng(0).permutation(600)
    shuffled = [{key: column[order] for key, column in model.items()} for model in (first, second)]
    assert compare("openauc", *shuffled, references=one["references"][order], n_resamples=50, tpr=0.9) == table
    assert table["key"][3] == "open_set_accuracy@tpr90"
    turned = compare("openauc", second, first, references=one["references"], n_resamples=50, tpr=0.9)
    assert turned["difference"] == [-difference for difference in table["difference"]]
    loaded = metric_class("openauc")(tpr=0.9)
    assert compare(loaded, first, second, references=one["references"], n_resamples=50) == table
    assert len(loaded) == 0


def test_images_that_one_model_cannot_tell_apart_do_not_depend_on_their_order() -> None:
    first = np.asarray([[[0, 0]], [[1, 0]], [[0, 1]], [[1, 1]], [[1, 0]]], float)
    second = np.asarray([[[0, 1]], [[0, 0]], [[0, 0]], [[0, 1]], [[0, 1]]], float)
    masks = np.asarray([[[1, 0]], [[1, 0]], [[0, 0]], [[0, 0]], [[0, 0]]])
    tables = [
        compare("anomaly_suite", first[order], second[order], references=masks[order], n_resamples=50)
        for order in ([0, 1, 2, 3, 4], [2, 4, 0, 3, 1], [4, 3, 2, 1, 0])
    ]
    assert tables[0] == tables[1] == tables[2]


def test_models_that_differ_only_in_resamples_without_a_class_are_mirrored() -> None:
    """One is right about class 0 and wrong about 2, the other the other way round: their macro means are alike."""
    first, second, references = np.asarray([1, 1, 0, 0, 2]), np.asarray([2, 0, 2, 2, 1]), [2, 1, 0, 0, 1]
    models = [each[:, None] for each in (first, second)]
    there, back = (
        compare("accuracyk", *pair, references=references, average="macro", n_resamples=300, confidence_level=0.9)
        for pair in (models, models[::-1])
    )
    assert there["low"] == [-high for high in back["high"]]
    assert there["high"] == [-low for low in back["low"]]
    assert there["low"] != [-high for high in there["high"]]


@pytest.mark.parametrize("level", [0.95, 0.9, 0.99, 0.68, 0.5])
def test_an_interval_excludes_0_exactly_where_the_p_value_says_so(level: float) -> None:
    """Of any number of resampled differences, also tied ones and ones of exactly 0; both are mirrored."""
    rng, alpha, verdicts = np.random.default_rng(0), 1 - Fraction(str(level)), Counter[bool]()
    for number in [*range(1, 130), 999, 1000]:
        for shift in (0.0, 0.5, 2.5, 4.0):
            differences = np.round(rng.normal(shift, size=number), int(rng.integers(0, 4)))
            low, high = ends_of_differences(differences, level)
            rarer = min(int(np.sum(differences <= 0)), int(np.sum(differences >= 0)))
            excludes = low > 0 or high < 0
            assert excludes == (Fraction(2 * (rarer + 1), number + 1) <= alpha)
            assert ends_of_differences(-differences, level) == (-high + 0.0, -low + 0.0)
            assert (better(True, low, high) is not None) == excludes
            assert not_rejected({"rival": p_value(differences)}, level)["rival"] != excludes
            assert (low == -np.inf) == ((number + 1) * alpha < 2)
            verdicts[excludes] += 1
    assert len(verdicts) == 2


@pytest.mark.parametrize("wrong_in_b", [(1, 7), (2, 2)], ids=["one symmetric", "both symmetric"])
def test_means_over_groups_in_which_models_err_equally_often_are_mirrored(wrong_in_b: tuple[int, int]) -> None:
    """There a difference is as likely as its mirror image, beside another group's difference in each case."""
    first, second = np.zeros((2, 72, 1), int)
    first[0], second[1] = 1, 1
    first[36 : 36 + wrong_in_b[0]], second[46 : 46 + wrong_in_b[1]] = 1, 1
    shared = dict(references=np.zeros(72, int), groups=["a"] * 36 + ["b"] * 36, n_resamples=200)
    there, back = (compare("accuracyk", *pair, **shared) for pair in ((first, second), (second, first)))
    assert there["group"] == back["group"] == [None, "a", "b"]
    assert there["low"] == [-high for high in back["high"]]
    assert there["high"] == [-low for low in back["low"]]
    assert there["p_value"] == back["p_value"]
    assert back["better"] == [{"first": "second", "second": "first"}.get(each) for each in there["better"]]


@pytest.mark.parametrize(
    ("column", "one", "other"),
    [
        ("references", [0, 0, 1, 1], [0, 1, 0, 1]),
        ("labels", [0, 0, 1, 1], [0, 1, 0, 1]),
        ("groups", ["a", "b", "b", "a"], ["a", "b", "a", "b"]),
        ("groups", [1.0, 2.0, 1.0, float("nan")], [1.0, 2.0, float("nan"), 1.0]),
    ],
)
def test_what_belongs_to_both_models_is_the_same(column: str, one: list[Any], other: list[Any]) -> None:
    scores, columns = [0.1, 0.2, 0.3, 0.4], {"groups": [None] * 4, column: one}
    if column == "groups":
        columns["references"] = [0, 0, 1, 1]

    def models(second: Any) -> list[dict[str, Any]]:
        return [{"predictions": scores, **columns}, {"predictions": scores, **columns, column: second}]

    name = "references" if column == "labels" else column
    with pytest.raises(ValueError, match=f"{name}: expected the same of first and of second, got others"):
        compare("ood_bench", *models(other), metrics="auroc", n_resamples=2)
    same = [str(int(x)) if x == x else "" for x in one] if isinstance(one[0], float) else np.asarray(one)
    table = compare("ood_bench", *models(same), metrics="auroc", n_resamples=2, groups_without="skip")
    assert set(table["p_value"]) == {1.0}


def test_a_class_is_no_metric() -> None:
    with pytest.raises(TypeError, match=r"metric: expected a name or a metric such as OpenAUC\(\), got type"):
        compare(metric_class("ood_bench"), [0.1, 0.2], [0.1, 0.2], references=[0, 1])


ERRORS: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "other samples": (dict(second=[0.1, 0.2]), ValueError, "expected columns of one length, got 2 predictions"),
    "no level": (
        dict(confidence_level=1.0),
        ValueError,
        "confidence_level: expected a number between 0 and 1, both excluded, got 1",
    ),
    "no resamples": (
        dict(n_resamples=0),
        ValueError,
        "n_resamples: expected an int of at least 1 and at most 1000000, got 0",
    ),
    "too many": (dict(n_resamples=10**9), ValueError, "at least 1 and at most 1000000, got 1000000000"),
    "a seed": (dict(random_state=-1), ValueError, "random_state: expected an int of at least 0, got -1"),
    "twice": (
        dict(first={"predictions": [0.1, 0.2, 0.3], "references": [0, 1, 1]}),
        TypeError,
        "references: expected it of first or of both models, got both",
    ),
    "no such option": (dict(metric_names="auroc"), TypeError, "ood_bench has no argument 'metric_names'"),
    "no such metric": (dict(metric="auroc"), ValueError, "auroc"),
}


@pytest.mark.parametrize("label", ERRORS)
def test_wrong_arguments_are_errors(label: str) -> None:
    changed, error, message = ERRORS[label]
    given: dict[str, Any] = dict(
        metric="ood_bench", first=[0.1, 0.2, 0.3], second=[0.3, 0.2, 0.1], references=[0, 1, 1]
    )
    with pytest.raises(error, match=message):
        compare(**{**given, **changed})


def test_models_of_other_samples_are_an_error() -> None:
    known, unknown = dict(predictions=[0, 1], references=[0, 1]), dict(predictions=[0, 1], references=[0, -1])
    with pytest.raises(ValueError, match="references: expected the same of first and of second, got others"):
        compare("macro_open_f", known, unknown, open_scores=[0.1, 0.2])
    with pytest.raises(ValueError, match="first, second: expected the same samples, got 3 and 3, or of other kinds"):
        compare("ood_bench", ([0.1, 0.2], [0.3]), ([0.1], [0.2, 0.3]))


@pytest.mark.parametrize("wrong", [dict(confidence_level=2), dict(n_resamples=10**9), dict(random_state=-1)])
def test_a_refused_interval_leaves_pixels_with_their_images(wrong: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    masks = np.zeros((6, 4, 4), bool)
    masks[::2, 0] = True
    columns = dict(predictions=rng.random((6, 4, 4)), references=masks)
    metric = metric_class("anomaly_suite")(confidence_level=0.9, n_resamples=5)
    metric.add_batch(**columns)
    before = metric.state()
    with pytest.raises(ValueError, match=next(iter(wrong))):
        metric.compute(**wrong)
    assert all((array == before[name]).all() for name, array in metric.state().items())
    metric = pickle.loads(pickle.dumps(metric))
    assert metric.compute() == metric_class("anomaly_suite")(confidence_level=0.9, n_resamples=5).compute(**columns)


def test_images_that_are_labelled_otherwise_than_their_masks() -> None:
    rng = np.random.default_rng(0)
    masks = np.zeros((8, 4, 4), bool)
    masks[0, :2] = True  # of four images that are labelled anomalous
    masks[7] = True  # of four that are labelled normal
    model = dict(predictions=rng.random((8, 4, 4)), image_scores=rng.random(8))
    both = dict(references=masks, image_labels=np.repeat([1, 0], 4))
    drawn: dict[str, Any] = dict(confidence_level=0.9, n_resamples=50)
    results = metric_class("anomaly_suite")(**drawn).compute(**model, **both)
    assert 0 <= results["pixel_auroc_low"] <= results["pixel_auroc"] <= results["pixel_auroc_high"] <= 1
    assert set(compare("anomaly_suite", model, model, **both, **drawn)["p_value"]) == {1.0}


def test_an_error_names_the_model() -> None:
    good, bad = {"predictions": [0.1, 0.2]}, {"predictions": [[0.1], [0.2]]}
    for models, name in (((bad, good), "first"), ((good, bad), "second")):
        with pytest.raises(ValueError, match=rf"^{name}_predictions: expected scores of shape"):
            compare("ood_bench", *models, references=[0, 1])
    with pytest.raises(ValueError, match=r"^references: expected 0"):
        compare("ood_bench", good, good, references=[0, 7])
    with pytest.raises(TypeError, match="labels: expected it of first or of both models, got both"):
        compare("ood_bench", {**good, "labels": [0, 1]}, good, references=[0, 1])
    once = [{"predictions": [0.1, 0.2, 0.3], "references": (i % 2 for i in range(3))} for _ in range(2)]
    assert compare("ood_bench", *once, metrics="auroc", n_resamples=2)["first"] == [0.5]


def test_rows_without_samples_are_never_drawn() -> None:
    """Where there are as many rows as samples, some rows may have none, and others several."""
    for counts in ([0, 2, 1, 1], [3, 0, 0], [1, 1, 1]):
        rng = np.random.default_rng(0)
        drawn = np.mean([draw(rng, np.asarray(counts)) for _ in range(4000)], axis=0)
        assert np.abs(drawn - counts).max() < 0.1
        assert not drawn[np.asarray(counts) == 0].any()


def test_an_interval_holds_the_value_where_merged_rows_are_as_many_as_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_module, "MAX_ROWS", 32)
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.normal(size=64), rng.normal(2, 1, 64)])  # 32 quantiles of either side: 64 rows
    metric = metric_class("ood_bench")(metrics=["auroc"], confidence_level=0.9, n_resamples=50)
    results = metric.compute(predictions=scores, references=np.repeat([0, 1], 64))
    assert results["auroc_low"] < results["auroc"] < results["auroc_high"]


def test_intervals_of_perfect_maps_are_points() -> None:
    """Shares of a region's pixels add up to one, whatever its size."""
    masks = np.zeros((4, 60, 60), np.uint8)
    masks[1:].reshape(3, -1)[:, :1003] = 1
    options: dict[str, Any] = dict(levels="pixel", confidence_level=0.9, n_resamples=20)
    results = metric_class("anomaly_suite")(**options).compute(predictions=masks.astype(np.float32), references=masks)
    assert (results["aupro@0.3_low"], results["aupro@0.3"], results["aupro@0.3_high"]) == (1.0, 1.0, 1.0)
