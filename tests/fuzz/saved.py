"""Saved results: read, laid out as tables, and written in every form."""

from __future__ import annotations

import functools
import json
from random import Random
from typing import Any, NamedTuple

from openworld_metrics.faces.tables import FORMS, INTERVALS, make_table, render
from openworld_metrics.written.results import as_json, read_results
from tests.fuzz.contents import damaged_content
from tests.fuzz.damage import WORDS
from tests.fuzz.engine import BrokenError, Case, Files, Target, check_files, write_files
from tests.fuzz.fingerprint import check_same, fingerprint
from tests.fuzz.values import anything, json_changed

_KEYS = ("auroc", "auroc_low", "auroc_high", "fpr95tpr", "num_unknown", "f1_threshold", "accuracy@5", "a_error")
_SEEDS = ("-s[0-9]", "s", "[", "(", "(a+)+$", "", "x*", ".*", "$", "(?P<")


class Saved(NamedTuple):
    """Files of results, options of the table, and those of its text."""

    files: Files
    options: dict[str, Any]
    form: dict[str, Any]


def make(rng: Random) -> Saved:
    """Results of a few models or seeds, some of them with groups."""
    keys = ["auroc", *rng.sample(_KEYS[1:], rng.choice((0, 2, 5)))]
    groups = rng.choice(((), ("near", "near/a", "far/b")))
    files = {
        f"{name}.json": _results(rng, keys, groups)
        for name in ("a-s0", "a-s1", "b-s0", "b-s1")[: rng.choice((1, 2, 4))]
    }
    options = rng.choice(({}, {"keys": ["au*"]}, {"rows": "files"}, {"seeds": "-s[0-9]"}))
    forms = {"form": rng.choice(FORMS), "intervals": rng.choice(INTERVALS), "percent": rng.random() < 0.3}
    return Saved(files, dict(options), forms)


def _results(rng: Random, keys: list[str], groups: tuple[str, ...]) -> bytes:
    results: dict[str, Any] = {key: rng.choice((0.25, 0.5, 1.0)) for key in keys}
    results |= {"t_list": [0.1, 0.2], "word": "pixel", "num": 3, "x_threshold": float("inf")}
    if groups:
        results["groups"] = {"group": [*groups], **{key: [0.5] * len(groups) for key in keys}}
    return as_json(results, indent=rng.choice((None, 2))).encode()


def damage(rng: Random, value: Saved) -> Saved:
    """Something wrong with a file, or with an option."""
    way, file = rng.random(), rng.choice([*value.files])
    if way < 0.1:
        return value._replace(options={**value.options, rng.choice(("rows", "keys", "groups", "seeds")): anything(rng)})
    if way < 0.2:
        return value._replace(options={**value.options, "seeds": rng.choice(_SEEDS)})
    if way < 0.3:
        form = {rng.choice(("form", "percent", "digits", "intervals")): anything(rng)}
        return value._replace(form={**value.form, **form})
    if way < 0.6:
        data = json_changed(rng, json.loads(value.files[file]))
        if isinstance(data, dict) and rng.random() < 0.2:
            data[rng.choice(WORDS)] = 0.5
        return value._replace(files={**value.files, file: json.dumps(data).encode(errors="surrogatepass")})
    return value._replace(files={**value.files, file: damaged_content(rng, "json", value.files[file])})


def run(case: Case) -> None:
    """Read the files, make the table, write it."""
    value: Saved = case.value
    write_files(value.files, case.folder)
    given = fingerprint((value.options, value.form))
    case.attempt(functools.partial(_text, case, value))
    check_files(value.files, case.folder)
    check_same(given, fingerprint((value.options, value.form)), "an option")


def _text(case: Case, value: Saved) -> None:
    results = {name.removesuffix(".json"): read_results(case.folder / name) for name in value.files}
    before = fingerprint(results)
    table = make_table(results, **value.options)
    text = render(table, **value.form)
    check_same(before, fingerprint(results), "the results")
    lines = {"text": 1, "markdown": 2, "latex": 6}.get(value.form["form"])
    if lines is not None and len(text.split("\n")) != lines + len(table.rows):
        raise BrokenError("a table has not a line for each row", text)
    if any(len(cells) != len(table.columns) for _, cells in table.rows):
        raise BrokenError("a row has not a cell for each column", table)


TARGETS = [Target("saved results", make, damage, run)]
