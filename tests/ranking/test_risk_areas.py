"""Areas of selective risk against exact fractions, and decimals of 60 digits where samples are many."""

from __future__ import annotations

import os
import subprocess
import sys
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import openworld_metrics as om
from tests.examples import seeds

AREAS = ["aurc", "e_aurc", "auarc", "prr"]
EULER = Decimal("0.577215664901532860606512090082402431042159335939923598805767")
BERNOULLI = ((1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6))
Exact = Fraction | Decimal


@cache
def harmonic(number: int, exactly: bool) -> Exact:
    """Σ 1/k of k ≤ number; the series of Euler and Maclaurin, from 1,000 on to 40 digits."""
    if exactly:
        return sum((Fraction(1, k) for k in range(1, number + 1)), Fraction())
    if number < 1000:
        return sum((1 / Decimal(k) for k in range(1, number + 1)), Decimal())
    n = Decimal(number)
    rest = sum(Decimal(b) / c / (2 * k * n ** (2 * k)) for k, (b, c) in enumerate(BERNOULLI, 1))
    return EULER + n.ln() + 1 / (2 * n) - rest


def areas(right: list[int], errors: list[int]) -> dict[str, Exact]:
    """The areas of groups of equal scores, ascending, by the definition: a sum of risks over all coverages."""
    total, wrong = sum(right) + sum(errors), sum(errors)
    exactly = total <= 2000
    number = Fraction if exactly else Decimal

    def h(upto: int) -> Any:
        return harmonic(upto, exactly)

    risks: Any = number(0)
    before, so_far = 0, 0
    for r, e in zip(right, errors):
        # Σ of (so_far + (k − before)·e/m)/k over before < k ≤ before + m
        m = r + e
        risks += (so_far - number(before) * e / m) * (h(before + m) - h(before)) + e
        before, so_far = before + m, so_far + e
    best: Any = wrong - (total - wrong) * (h(total) - h(total - wrong))
    return {
        "aurc": risks / total,
        "e_aurc": (risks - best) / total,
        "auarc": 1 - risks / total,
        "prr": (wrong - risks) / (wrong - best),
    }


def computed(right: list[int], errors: list[int], **options: Any) -> dict[str, float]:
    scores = np.arange(len(right)) / 8
    columns = dict(predictions=[*scores, *scores], references=[0] * len(right) + [1] * len(errors))
    return om.OODBench(metrics=AREAS, **options).compute(**columns, counts=[*right, *errors])


def drawn(rng: np.random.Generator, samples: float) -> tuple[list[int], list[int]]:
    """Groups with some 2^samples samples, both classes in any proportion; some have one class alone."""
    number = int(rng.integers(2, 12))
    right, errors = (np.floor(2 ** rng.uniform(0, samples, (2, number)))).astype(int)
    if rng.random() < 0.6:  # nearly all of one kind
        few = right if rng.random() < 0.5 else errors
        few[rng.random(number) < 0.8] = 0
        few[int(rng.integers(number))] = rng.integers(1, 4)
    right[rng.random(number) < 0.2] = 0
    alone = (right == 0) & (errors == 0)
    right[alone] = 1
    if not errors.any():
        errors[int(rng.integers(number))] = 1
    if not right.any():
        right[int(rng.integers(number))] = 1
    return right.tolist(), errors.tolist()


@given(seed=seeds)
def test_few_samples_have_the_nearest_doubles(seed: int) -> None:
    right, errors = drawn(np.random.default_rng(seed), 4)
    if sum(right) + sum(errors) <= 256:
        assert computed(right, errors) == {name: float(exact) for name, exact in areas(right, errors).items()}


@given(seed=seeds)
def test_many_samples_are_within_the_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    right, errors = drawn(rng, rng.uniform(8, 35))
    with localcontext() as context:
        context.prec = 60
        exact = areas(right, errors)
        off = {name: abs(Decimal(value) - _decimal(exact[name])) for name, value in computed(right, errors).items()}
    assert max(off.values()) < 1e-14, (right, errors, off)


def _decimal(value: Exact) -> Decimal:
    return Decimal(value.numerator) / value.denominator if isinstance(value, Fraction) else value


@pytest.mark.parametrize(
    ("right", "errors"),
    [
        ([0, 1], [1000, 0]),
        ([0, 1], [5000, 0]),
        ([0, 1], [20000, 0]),
        ([1, 0], [2**38, 2**38]),
        ([1, 0, 2**39], [0, 1, 0]),
        ([2**39, 0], [0, 1]),
        ([0, 2**39], [1, 0]),
        ([1, 0, 1], [2**38, 2**38, 1]),
    ],
)
def test_nearly_all_wrong_or_right(right: list[int], errors: list[int]) -> None:
    with localcontext() as context:
        context.prec = 60
        exact = areas(right, errors)
        for name, value in computed(right, errors).items():
            assert abs(Decimal(value) - _decimal(exact[name])) < 1e-14, name


@given(seed=seeds)
def test_a_detector_of_no_use_has_0(seed: int) -> None:
    """Each score is as frequent among errors as among the others, so that the risk is the same at all coverages."""
    rng = np.random.default_rng(seed)
    sizes, (r, e) = rng.integers(1, 2 ** int(rng.integers(1, 30)), 5), rng.integers(1, 60, 2)
    assert computed((sizes * r).tolist(), (sizes * e).tolist())["prr"] == 0


@given(seed=seeds)
def test_the_error_of_cut_scores_bounds_it(seed: int) -> None:
    """By the exact value, too: up to the bound that many samples have without cut scores."""
    rng = np.random.default_rng(seed)
    scores, labels = rng.normal(0, 1, 40), rng.random(40) < rng.choice([0.05, 0.5, 0.95])
    labels[:2] = False, True
    counts = rng.integers(1, 2 ** int(rng.integers(1, 20)), 40)
    columns = dict(predictions=scores, references=labels.astype(int), counts=counts)
    cut = om.OODBench(metrics=AREAS, significant_bits=4).compute(**columns)
    whole = om.OODBench(metrics=AREAS).compute(**columns)
    order = np.argsort(scores)
    by_kind = [np.where(labels[order] == kind, counts[order], 0).tolist() for kind in (False, True)]
    with localcontext() as context:
        context.prec = 60
        exact = areas(*by_kind)
        for name in AREAS:
            assert abs(cut[name] - whole[name]) <= cut[f"{name}_error"]
            bound = Decimal(cut[f"{name}_error"]) + Decimal("1e-14")
            assert abs(Decimal(cut[name]) - _decimal(exact[name])) <= bound


def test_any_processor_gives_the_same_numbers(tmp_path: Path) -> None:
    """NumPy chooses loops by the instructions that a processor has; without the newer ones, all bits stay."""
    code = """
import numpy as np
import openworld_metrics as om
rng = np.random.default_rng(0)
names = ["aurc", "e_aurc", "auarc", "prr", "augrc"]
for number in [*rng.integers(2, 300, 40), *rng.integers(300, 3000, 40)]:
    scores, labels = rng.integers(0, rng.integers(2, 4000), number), rng.integers(0, 2, number)
    labels[:2] = 0, 1
    counts = rng.integers(1, 2 ** int(rng.integers(1, 20)), number)
    found = om.OODBench(metrics=names).compute(predictions=scores, references=labels, counts=counts)
    print([value.hex() for value in found.values()])
"""
    features = pytest.importorskip("numpy._core._multiarray_umath").__cpu_dispatch__
    printed = []
    for without in ({}, {"NPY_DISABLE_CPU_FEATURES": " ".join(features)}):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code],
            cwd=tmp_path, env={**os.environ, **without}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
    assert printed[0] == printed[1]
    assert printed[0].count("\n") == 80
