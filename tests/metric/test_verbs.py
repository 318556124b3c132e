"""The classes of the core: the bits of evaluate's metrics, verb by verb, and options that are typed and documented."""

from __future__ import annotations

import ast
import copy
import inspect
import pickle
import re
from collections.abc import Callable, Iterator
from typing import Any, get_type_hints

import numpy as np
import pytest

import openworld_metrics
from openworld_metrics import Metric
from openworld_metrics.loading import metric_class, script
from openworld_metrics.metric.metric import SHOWN, SIBLING_COLUMNS
from openworld_metrics.texts import texts
from tests import cases
from tests.splitting import batches, length

Load = Callable[..., Any]
every_metric = pytest.mark.parametrize("name", cases.METRICS)
seeds = range(400, 415)


def drawn(name: str, load: Load) -> Iterator[tuple[cases.Columns, cases.Options, Any]]:
    """Random cases, and what evaluate's metric gives for each."""
    for seed in seeds:
        columns, options = cases.draw(name, seed)
        yield columns, options, load(name).compute(**columns, **options)


def fill(metric: Any, columns: cases.Columns, seed: int = 0) -> Any:
    """A metric with the batches of a case added."""
    for batch in batches(columns, np.random.default_rng(seed)):
        metric.add_batch(**batch)
    return metric


@every_metric
def test_a_class_goes_by_its_name(name: str, load: Load) -> None:
    core = metric_class(name)
    assert getattr(openworld_metrics, core.__name__) is core
    assert issubclass(core, Metric)
    assert core.name == name == core().name
    bound = type(load(name))
    for fact in ("columns", "required", "options", "fixed_options", "aliases"):
        assert getattr(bound, fact) == getattr(core, fact)


def test_a_name_that_is_none() -> None:
    with pytest.raises(ValueError, match=r"name: expected one of accuracyk, .* got 'auroc'"):
        metric_class("auroc")


@every_metric
def test_compute(name: str, load: Load) -> None:
    core = metric_class(name)
    for columns, options, expected in drawn(name, load):
        assert core().compute(**columns, **options) == expected
        assert core(**options).compute(**columns) == expected


@every_metric
def test_reset(name: str, load: Load) -> None:
    columns, options, expected = next(drawn(name, load))
    metric = fill(metric_class(name)(**options), columns)
    metric.reset()
    assert len(metric) == 0
    assert metric.state() == {}
    with pytest.raises(ValueError, match="expected at least one sample, got none"):
        metric.compute()
    assert fill(metric, columns).compute() == expected


@every_metric
@pytest.mark.parametrize("form", ["class", "evaluate"])
def test_update_is_add_batch_and_a_call_computes_one_batch(name: str, form: str, load: Load) -> None:
    """A call neither uses nor drops the batches added before, nor adds its own."""
    columns, options = cases.draw(name, 401)
    expected = metric_class(name)(**options).compute(**columns)
    added = metric_class(name)(**options)
    for _ in range(2):
        added.add_batch(**columns)
    metric = metric_class(name)(**options) if form == "class" else load(name, **options)
    assert metric(**columns) == expected
    for _ in range(2):
        metric.update(**columns)
    number = len(metric)
    assert metric(**columns) == metric(**columns, **options) == expected
    with pytest.raises((TypeError, ValueError)):
        metric(references=None)
    assert number == len(metric) == len(added) > 0
    assert metric.compute() == added.compute()


@every_metric
def test_columns_by_position_are_refused_by_name(name: str, load: Load) -> None:
    for metric in (metric_class(name)(), load(name)):
        for verb in (metric, metric.compute, metric.add_batch, metric.update, metric.add):
            called = "" if verb is metric else f".{verb.__name__}"
            first = "prediction" if called == ".add" else "predictions"
            message = rf"^expected columns by keyword, as in {name}{called}\({first}=\.\.\., .*\), got 2 by position$"
            with pytest.raises(TypeError, match=message):
                verb([0.5], [1])
        assert len(metric) == 0


@every_metric
def test_what_completion_offers(name: str, load: Load) -> None:
    """The verbs, the options, and of evaluate's metrics what evaluate documents; each exists and has a docstring."""
    core, bound = metric_class(name)(), load(name)
    shown = {each for each in dir(core) if not each.startswith("_")}
    assert shown == {*SHOWN, *core.options}
    more = {each for each in dir(bound) if not each.startswith("_")} - shown  # a folder's kernel has no summary
    assert more == {"citation", "description", "features", "homepage", "info", "inputs_description", "license"}
    assert [each for each in (shown - {"summary"}) | more if not hasattr(bound, each)] == []
    assert all(callable(getattr(core, verb)) and getattr(core, verb).__doc__ for verb in ("compute", "update", "add"))
    assert "__call__" in dir(core)


@every_metric
def test_results_by_group_leave_the_batches_as_they_are(name: str) -> None:
    """Also after a compute, which may overwrite its own."""
    columns, options = cases.draw(name, 400)
    metric = metric_class(name)(**options)
    metric.compute(**columns)
    metric.add_batch(**columns)
    before = metric.state()
    metric.results_by_group("all")
    after = metric.state()
    assert {key: array.tolist() for key, array in after.items()} == {
        key: array.tolist() for key, array in before.items()
    }


@every_metric
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda metric: pickle.loads(pickle.dumps(metric))])
def test_copies(name: str, duplicate: Callable[[Metric], Metric], load: Load) -> None:
    columns, options, expected = next(drawn(name, load))
    metric = fill(metric_class(name)(**options), columns)
    other = duplicate(metric)
    assert type(other) is type(metric)
    assert other.loaded_options == metric.loaded_options
    states = [{key: array.tolist() for key, array in each.state().items()} for each in (metric, other)]
    assert states[0] == states[1]
    assert metric.compute() == expected
    assert len(other) == length(columns)
    assert other.compute() == expected


@every_metric
def test_options_are_typed(name: str) -> None:
    core = metric_class(name)
    assert set(inspect.signature(core).parameters) == set(core.options) <= set(get_type_hints(core))
    assert core.fixed_options <= core.options.keys()


def documented(name: str) -> dict[str, str]:
    """What a metric's script says of each argument."""
    section = texts(script(name)).inputs.partition("Args:\n")[2].partition("\n\n")[0]
    entries = re.findall(r"^    (\S.*?): (.*(?:\n {8}.*)*)", section, flags=re.MULTILINE)
    return {key: " ".join(text.split()) for keys, text in entries for key in keys.split(", ")}


LITERAL = r'(?:True|False|None|-?[\d.]*\d|\([^)]*\)|"[^"]*")'


def defaults(name: str) -> Iterator[Any]:
    """The defaults that a metric's script states as values, rather than in words."""
    said, options = documented(name), metric_class(name).options
    for option in options:
        text = said[option]
        found = re.search(rf"Defaults? to ({LITERAL}(?:(?:, | and ){LITERAL})*)", text) or re.search(
            r'("[^"]*") \(default', text
        )
        if found:
            values = [ast.literal_eval(value) for value in re.findall(LITERAL, found[1])]
            # one sentence for several options, with a value for each or one for all: in_value, out_value
            together = [key for key in options if said[key] == text]
            values = values * len(together) if len(values) == 1 else values
            yield pytest.param(name, option, values[together.index(option)], id=f"{name}-{option}")


STATED = [stated for name in cases.METRICS for stated in defaults(name)]


@pytest.mark.parametrize(("name", "option", "value"), STATED)
def test_defaults_are_those_that_the_card_states(name: str, option: str, value: Any) -> None:
    assert metric_class(name).options[option] == value
    assert type(metric_class(name).options[option]) is type(value)


def test_most_defaults_are_stated() -> None:
    assert len(STATED) >= 24


def test_the_columns_of_siblings_are_those_that_a_metric_here_takes() -> None:
    """The kernel of one metric does not know the others, so their columns stand in it as names.

    One that says how often rows occur is not ignored: the numbers would be those of other samples. Nor are qualities:
    an area of risk would be that of labels.
    """
    columns = {name for metric in openworld_metrics.METRICS for name in metric_class(metric).columns}
    of_xcurve = {"open_set_pred_known", "open_set_pred_unknown", "close_set_pred_class", "close_set_labels"}
    assert columns - of_xcurve - {"predictions", "references", "counts", "groups", "clusters", "qualities"} == (
        SIBLING_COLUMNS
    )


@pytest.mark.parametrize(
    ("name", "option", "values"),
    [
        ("accuracyk", "k_list", (1, 2)),
        ("ood_bench", "metrics", ("auroc", "fpr95tpr")),
        ("macro_open_f", "t_list", (0.1, 0.2)),
    ],
)
def test_lists_that_can_be_read_once(name: str, option: str, values: tuple[Any, ...]) -> None:
    columns, options = cases.draw(name, 0)
    options.pop("threshold", None)  # which macro_open_f does not take with a t_list
    expected = metric_class(name)(**{**options, option: list(values)}).compute(**columns)
    assert metric_class(name)(**{**options, option: iter(values)}).compute(**columns) == expected
    assert metric_class(name)(**options).compute(**columns, **{option: iter(values)}) == expected


@every_metric
def test_an_option_that_is_assigned_is_applied(name: str) -> None:
    columns, options = cases.draw(name, 3)
    metric = metric_class(name)(**options)
    metric.confidence_level, metric.n_resamples = 0.9, 3
    assert metric.compute(**columns) == metric_class(name)(**options, confidence_level=0.9, n_resamples=3).compute(
        **columns
    )
