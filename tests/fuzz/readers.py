"""Columns from files, as the command opens them; folders of OOD scores; saved results, which tables are made of."""

from __future__ import annotations

import functools
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from openworld_metrics.faces.tables import make_table, render
from openworld_metrics.reading.rows.rows import rows_of
from openworld_metrics.reading.rows.score_files import read_scores, score_files
from openworld_metrics.suites import evaluate_ood
from openworld_metrics.written.results import as_json, read_results
from tests.fuzz.contents import ENDINGS, NAMES, columns, content, damaged_files
from tests.fuzz.damage import damaged_text
from tests.fuzz.engine import BrokenError, Case, Input, Target, check_results, check_same, fingerprint

_SETS = ("near/cifar100", "near/tin", "far/svhn", "mnist", "texture", "a b", "é")
_KEYS = ("auroc", "auroc_low", "auroc_high", "fpr95tpr", "num_unknown", "f1_threshold", "accuracy@5", "a_error")


def make(ending: str, rng: Random) -> Input:
    """A file whose columns are named, or which has the one that is asked for."""
    table = columns(rng)
    # a .npy has no names, and a file of several needs them, unless it has the column's
    names = [name for name in rng.sample([*table], rng.choice((1, len(table)))) if ":" not in name]
    if ending == "npy" or not names:
        table, names = {"predictions": next(iter(table.values()))}, []
    file = f"table.{ending}"
    place = f"{file}:{','.join(names)}" if names else file
    written = np.stack([table[name] for name in names or table], axis=1).astype(np.float64)
    return Input({file: content(rng, ending, table)}, {"column": "predictions", "place": place, "written": written})


def damage_columns(rng: Random, value: Input) -> Input:
    """Something wrong with the file, or with what is asked for."""
    if rng.random() < 0.9:
        return value._replace(files=damaged_files(rng, value.files))
    file, _, names = value.values["place"].partition(":")
    names = rng.choice((*NAMES, "", ",", "predictions,", damaged_text(rng, names)))
    return value.with_value(column=rng.choice(NAMES), place=f"{file}:{names}")


def run(case: Case) -> None:
    """Open the column, and read all of it: where the file is whole, what was written into it."""
    name, written = case.values["column"], case.values["written"]
    columns = {name: case.values["place"]}
    batches = case.attempt(lambda: [*rows_of("openauc", columns=columns).reading().batches()])
    if case.whole:
        read = np.concatenate([batch[name] for _, batch in batches]).reshape(len(written), -1)
        # a Parquet file may hold a number several times in a list, and as float16
        kind = np.float16 if ".parquet" in case.values["place"] else np.float64
        ours, theirs = ([[*dict.fromkeys(row)] for row in x.astype(kind).tolist()] for x in (read, written))
        if ours != theirs:
            raise BrokenError("what is read is not what was written", f"{read}\n{written}")


def make_scores(rng: Random) -> Input:
    """Scores of known samples, with their classes where they are OpenOOD's, and of a few sets."""
    names = [
        f"scores/{name}.{rng.choice((*ENDINGS, 'npz', 'npz'))}" for name in rng.sample(_SETS, rng.choice((1, 2, 4)))
    ]
    known = f"scores/cifar10.{rng.choice((*ENDINGS, 'npz', 'npz'))}"
    files = {name: _scores(rng, name.rpartition(".")[2]) for name in (known, *names)}
    return Input(files, {"known": known, "threshold": rng.choice((None, None, 0.5, -1e9))})


def _scores(rng: Random, ending: str) -> bytes:
    numbers, size = np.random.default_rng(rng.getrandbits(64)), rng.choice((1, 2, 9))
    scores = (8 * numbers.random(size)).astype(rng.choice(("f8", "f4", "i8")))
    if ending == "npz" and rng.random() < 0.8:
        classes = {name: numbers.integers(0, 2, size) for name in ("pred", "label")}
        return content(rng, ending, {rng.choice(("conf", "scores")): scores, **classes})
    return content(rng, ending, {"scores": scores.tolist() if ending == "parquet" else scores})


def run_scores(case: Case) -> None:
    """List the folder, read all files, and compute."""
    known, threshold = case.values["known"], case.values["threshold"]

    def compute() -> dict[str, Any]:
        unknown = {name: read_scores(path) for name, path in score_files("scores", known).items()}
        return evaluate_ood(read_scores(known), unknown, metrics=["auroc", "fpr95tpr", "aupr_in"], threshold=threshold)

    results = case.attempt(compute)
    if isinstance(results, dict):
        check_results({key: item for key, item in results.items() if key != "groups"})


def make_saved(rng: Random) -> Input:
    """Results of a few models or seeds, some of them with groups."""
    groups = rng.choice(((), ("near", "near/a", "far/b")))
    files = {}
    for name in ("a-s0", "a-s1", "b-s0", "b-s1")[: rng.choice((1, 2, 4))]:
        results: dict[str, Any] = {key: rng.choice((0.25, 0.5, 1.0)) for key in _KEYS}
        results |= {"t_list": [0.1, 0.2], "word": "pixel", "num": 3, "x_threshold": float("inf")}
        if groups:
            results["groups"] = {"group": [*groups], **{key: [0.5] * len(groups) for key in _KEYS}}
        files[f"{name}.json"] = as_json(results, indent=rng.choice((None, 2))).encode()
    return Input(files, {"options": rng.choice(({}, {"keys": ["au*"]}, {"rows": "files"}, {"seeds": "-s[0-9]"}))})


def run_saved(case: Case) -> None:
    """Read the files, make the table, write it."""

    def write() -> None:
        results = {path.stem: read_results(path) for path in sorted(Path().glob("*.json"))}
        before = fingerprint(results)
        table = make_table(results, **case.values["options"])
        text = render(table, form="markdown")
        check_same(before, fingerprint(results), "the results")
        if len(text.split("\n")) != 2 + len(table.rows):
            raise BrokenError("a table has not a line for each row", text)

    case.attempt(write)


TARGETS = {
    **{f"columns.{ending}": Target(functools.partial(make, ending), run, damage_columns) for ending in ENDINGS},
    "files of OOD scores": Target(make_scores, run_scores),
    "saved results": Target(make_saved, run_saved),
}
