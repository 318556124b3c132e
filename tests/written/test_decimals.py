"""Decimal text: the exact binary fraction, rounded once, in every format that prints it."""

from __future__ import annotations

import csv
import math
import random
import re
from collections.abc import Iterator
from decimal import ROUND_HALF_EVEN, Context, Decimal

import pytest

from openworld_metrics.faces.tables import FORMS, make_table, render
from openworld_metrics.metric.results import Rate
from openworld_metrics.metric.rounding import decimal_text, number_text, signed_text

EXACT = Context(prec=2000, rounding=ROUND_HALF_EVEN)


def rounded(value: float, digits: int, percent: bool) -> str:
    """By the standard library's decimals: any float times 100 has fewer digits than these have."""
    exact = EXACT.multiply(Decimal(value), Decimal(100 if percent else 1))
    return f"{exact.quantize(Decimal(1).scaleb(-digits), context=EXACT):f}"


def shares(seed: int) -> Iterator[tuple[float, int]]:
    """Shares beside the ties of their decimals, where a product or a second rounding would go wrong."""
    rng = random.Random(seed)
    for _ in range(200):
        digits = rng.randint(0, 6)
        value = (rng.randrange(10 ** (digits + 2)) + 0.5) / 10 ** (digits + 2)
        for _ in range(rng.randint(0, 2)):
            value = math.nextafter(value, rng.choice([0.0, 1.0]))
        yield rng.choice([value, rng.random(), rng.randrange(256) / 256]), digits


@pytest.mark.parametrize("percent", [False, True])
def test_against_decimals(percent: bool) -> None:
    for value, digits in shares(0):
        for number in (value, -value, value * 10.0 ** random.Random(str(value)).randint(-30, 30)):
            if number:
                assert decimal_text(number, digits, percent=percent) == rounded(number, digits, percent)
    assert decimal_text(-0.0, 2) == "0.00"


@pytest.mark.parametrize("percent", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_tables(form: str, percent: bool) -> None:
    """Values and the ends of intervals, in each form."""
    for low, digits in shares(1):
        value = (low + 1) / 2
        results = {"a": {"auroc": value, "auroc_low": low, "auroc_high": 1.0}}
        text = render(make_table(results), form, percent=percent, digits=digits)
        expected = [rounded(number, digits, percent) for number in (value, low, 1.0)]
        cells = re.findall(r"\d+(?:\.\d+)?", text.replace("auroc", ""))
        assert cells == expected, text
        half = (EXACT.subtract(Decimal(1), Decimal(low))) / 2
        if form not in ("csv",):
            text = render(make_table(results), form, percent=percent, digits=digits, intervals="plusminus")
            exact = EXACT.multiply(half, Decimal(100 if percent else 1))
            assert f"{exact.quantize(Decimal(1).scaleb(-digits), context=EXACT):f}" in text


def test_csv_without_digits_has_all() -> None:
    for value, _ in shares(2):
        row = [*csv.reader(render(make_table({"a": {"auroc": value}}), "csv", percent=True).splitlines())][1]
        assert Decimal(row[1]) == 100 * Decimal(repr(value))
        assert render(make_table({"a": {"auroc": value}}), "csv").endswith(f"a,{value!r}")


def test_other_texts() -> None:
    for value, _ in shares(3):
        two = rounded(value, 2, True)
        assert number_text(value, percent=True) == Rate(value, True).text(percent=True) == two
        assert signed_text(value, percent=True) == (f"+{two}" if value else two)
        text = number_text(value, 1, percent=True)
        assert text == rounded(value, len(text.partition(".")[2]), True)
