"""Intervals of results and comparisons of two models: options, columns, and the numbers that come of them."""

from __future__ import annotations

import functools
import io
import math
from random import Random
from typing import Any, NamedTuple

import numpy as np

from openworld_metrics import METRICS, compare
from openworld_metrics.command.compare import SHARED
from openworld_metrics.comparison import TABLE
from openworld_metrics.loading import metric_class
from openworld_metrics.metric.bootstrap import MAX_RESAMPLES
from openworld_metrics.metric.metric import OF_EVERY_METRIC
from tests import cases
from tests.fuzz import commands
from tests.fuzz.commands import Call
from tests.fuzz.contents import damaged_content
from tests.fuzz.engine import BrokenError, Case, Refused, Target
from tests.fuzz.fingerprint import UNBOUNDED, batches_of, check_same, fingerprint
from tests.fuzz.values import NUMBERS, anything, changed

FEW = 20  # resamples: what more of them cost is what a caller wants


class Resampled(NamedTuple):
    """A metric's name, columns of one model and those of another, and options."""

    name: str
    columns: dict[str, Any]
    second: dict[str, Any]
    options: dict[str, Any]


def make(rng: Random) -> Resampled:
    """A random case, and for a second model the same samples with other scores."""
    name = rng.choice([name for name in METRICS if name != "openset_detection"])
    columns, options = cases.draw(name, rng.randrange(1 << 30))
    if rng.random() < 0.2:
        columns = cases.with_groups(columns, rng.getrandbits(32))
    numbers = np.random.default_rng(rng.getrandbits(64))
    own = "predictions" if name in ("ood_bench", "anomaly_suite") else "open_scores"
    second = dict(columns)
    if own in columns:
        second[own] = numbers.permutation(columns[own].reshape(-1)).reshape(columns[own].shape)
    drawn = {"confidence_level": rng.choice((0.5, 0.95)), "n_resamples": rng.choice((1, 2, FEW)), "random_state": 3}
    return Resampled(name, columns, second, {**options, **drawn})


def damage(rng: Random, value: Resampled) -> Resampled:
    """Something wrong with an option of resampling, another one, or a column of either model."""
    way = rng.random()
    if way < 0.5:
        key = rng.choice((*OF_EVERY_METRIC, *value.options))
        here = rng.choice(NUMBERS) if rng.random() < 0.5 else anything(rng)
        if key == "n_resamples" and isinstance(here, (int, float)) and FEW < here <= MAX_RESAMPLES:
            here = FEW
        return value._replace(options={**value.options, key: here})
    which = rng.choice(("columns", "second"))
    columns = dict(getattr(value, which))
    key = rng.choice([*columns])
    columns[key] = changed(rng, columns[key])
    return value._replace(columns=columns) if which == "columns" else value._replace(second=columns)


def run_intervals(case: Case) -> None:
    """Add one model's batch, compute with intervals."""
    value: Resampled = case.value
    given = fingerprint(value)
    metric = case.attempt(functools.partial(metric_class(value.name), **value.options))
    if isinstance(metric, Refused):
        return
    case.attempt(functools.partial(metric.add_batch, **value.columns))
    before = batches_of(metric)
    results = case.attempt(metric.compute)
    check_same(given, fingerprint(value), "an input")
    if isinstance(results, Refused):
        check_same(before, batches_of(metric), "the metric after a compute that it refused")
        return
    for key in [key for key in results if f"{key}_low" in results]:
        low, high = results[f"{key}_low"], results[f"{key}_high"]
        if not low <= high or (results[key] <= 1 and not low >= 0 and not any(word in key for word in UNBOUNDED)):
            raise BrokenError("an interval is none", results)


def run_compare(case: Case) -> None:
    """Compare the two models, and the other way round."""
    value: Resampled = case.value
    given = fingerprint(value)
    models = [dict(value.columns), dict(value.second)]
    shared = {key: models[0].pop(key) for key in SHARED if key in models[0]}
    for key in shared:
        models[1].pop(key, None)
    found = case.attempt(lambda: compare(value.name, *models, **shared, **value.options))
    check_same(given, fingerprint(value), "an input")
    if isinstance(found, Refused):
        return
    if tuple(found) not in (TABLE, ("group", *TABLE)) or len({len(column) for column in found.values()}) != 1:
        raise BrokenError("the comparison is no table", found)
    for first, second, difference, low, high, p_value in zip(*(found[name] for name in TABLE[1:7])):
        if difference != first - second or not low <= high or not 0 < p_value <= 1 or math.isnan(difference):
            raise BrokenError("a comparison is none", found)
    turned = case.attempt(lambda: compare(value.name, *models[::-1], **shared, **value.options))
    if isinstance(turned, Refused):  # of an iterator, which is at its end
        return
    mirrored = {"low": "high", "high": "low", "difference": "difference"}
    opposite = all(turned[name] == [-number for number in found[other]] for name, other in mirrored.items())
    if not opposite or turned["p_value"] != found["p_value"]:
        raise BrokenError("the second against the first is not the opposite", (found, turned))


def make_command(rng: Random) -> Call:
    """The command that compares, with columns in .npy."""
    value = make(rng)
    files, arguments = {}, ["compare", value.name]
    for key in value.columns:
        for which in ("",) if key in SHARED else ("first_", "second_"):
            array = (value.second if which == "second_" else value.columns)[key]
            buffer = io.BytesIO()
            np.save(buffer, np.asarray(array))
            files[f"{which}{key}.npy"] = buffer.getvalue()
            arguments += [f"--{which}{key}".replace("_", "-"), f"{which}{key}.npy"]
    for key, option in value.options.items():
        if key in OF_EVERY_METRIC:
            arguments += [f"--{key.replace('_', '-')}", str(option)]
        elif not isinstance(option, np.ndarray):
            arguments += ["--option", f"{key}={commands.option_text(option)}"]
    return Call(files, arguments, b"")


_WORDS = (
    *("--n-resamples", "--confidence-level", "--random-state", "--references", "--first-predictions", "--save"),
    *("--second-open-scores", "saved.json", "nan", "0", "1", "-1", "1e999", "9" * 30, "1000000000", "first.npy"),
)


def damage_command(rng: Random, value: Call) -> Call:
    """Something wrong with a file, or with an argument."""
    if rng.random() < 0.5:
        file = rng.choice([*value.files])
        return value._replace(files={**value.files, file: damaged_content(rng, "npy", value.files[file])})
    words = commands.other_arguments(rng, value.arguments, _WORDS)
    words = ["2" if word.isdecimal() and FEW < int(word[:9]) <= MAX_RESAMPLES else word for word in words]
    if "--n-resamples" not in words:
        words += ["--n-resamples", "2"]
    return value._replace(arguments=words)


TARGETS = [
    Target("intervals", make, damage, run_intervals),
    Target("compare", make, damage, run_compare),
    Target("command compare", make_command, damage_command, commands.run),
]
