"""Scores from logits: what is refused is an error with words, and what is taken gives a number for each sample."""

from __future__ import annotations

import functools
from random import Random
from typing import Any, NamedTuple

import numpy as np

from openworld_metrics.arrays.arrays import to_numpy
from openworld_metrics.scores import SCORES, score_function
from tests.fuzz.engine import BrokenError, Case, Refused, Target
from tests.fuzz.fingerprint import check_same, fingerprint
from tests.fuzz.values import anything, changed

_OPTIONS: dict[str, tuple[str, ...]] = {"energy": ("temperature",), "gen": ("gamma", "top")}


class Logits(NamedTuple):
    """The name of a score, logits, and options."""

    name: str
    logits: Any
    options: dict[str, Any]


def make(rng: Random) -> Logits:
    """Logits of any scale, some of them −inf."""
    numbers = np.random.default_rng(rng.getrandbits(64))
    logits = numbers.normal(size=(rng.choice((1, 2, 9)), rng.choice((2, 3, 7)))) * rng.choice((1e-3, 1.0, 1e3, 1e300))
    logits[:, 1:][numbers.random(logits[:, 1:].shape) < rng.choice((0, 0, 0.3))] = -np.inf
    name = rng.choice([*SCORES])
    options = {"energy": {"temperature": rng.choice((0.5, 2, 1e3))}, "gen": {"gamma": 0.5, "top": 2}}.get(name, {})
    whole = logits.astype(rng.choice(("f4", "f8"))) if np.abs(logits[np.isfinite(logits)]).max() < 1e30 else logits
    return Logits(name, whole if rng.random() < 0.7 else whole.tolist(), options if rng.random() < 0.5 else {})


def damage(rng: Random, value: Logits) -> Logits:
    """Something wrong with the logits, an option or the name."""
    way, options = rng.random(), _OPTIONS.get(value.name, ())
    if way < 0.3 and options:
        return value._replace(options={**value.options, rng.choice(options): anything(rng)})
    if way < 0.33:
        return value._replace(name=rng.choice(("", "softmax", "MSP")))
    return value._replace(logits=changed(rng, value.logits))


def run(case: Case) -> None:
    """The scores of the logits."""
    value: Logits = case.value
    given = fingerprint((value.logits, value.options))
    scores = case.attempt(functools.partial(_scores, value))
    check_same(given, fingerprint((value.logits, value.options)), "an input")
    if isinstance(scores, Refused):
        return
    found = to_numpy(scores)
    if (
        found.ndim != 1
        or (case.whole and len(found) != len(value.logits))
        or found.dtype not in (np.float32, np.float64)
    ):
        raise BrokenError("the scores are no numbers of the samples", found)
    if np.isnan(found).any():
        raise BrokenError(f"a score of {value.name} is NaN", found)


def _scores(value: Logits) -> Any:
    return score_function(value.name)(value.logits, **value.options)


TARGETS = [Target("scores from logits", make, damage, run)]
