"""Files of OOD scores in a folder, those of OpenOOD among them, and the results of all of them."""

from __future__ import annotations

import functools
from random import Random
from typing import Any, NamedTuple

import numpy as np

from openworld_metrics.reading.rows.inputs import read_scores, score_files
from openworld_metrics.suites.ood import evaluate_ood
from tests.fuzz.contents import ENDINGS, content, damaged_content, flat_parquet
from tests.fuzz.damage import damaged_text
from tests.fuzz.engine import Case, Files, Target, check_files, write_files
from tests.fuzz.fingerprint import check_results
from tests.fuzz.values import NUMBERS, kind_of_array

_NAMES = ("near/cifar100", "near/tin", "far/svhn", "mnist", "texture", "a b", "é")


class ScoreFiles(NamedTuple):
    """Files of scores, that of the known samples, what stands after its name, and a threshold."""

    files: Files
    known: str
    column: str
    threshold: Any


def make(rng: Random) -> ScoreFiles:
    """Scores of known samples, with their classes where they are OpenOOD's, and of a few sets."""
    known = f"scores/cifar10.{rng.choice((*ENDINGS, 'npz', 'npz'))}"
    names = [f"scores/{name}.{rng.choice((*ENDINGS, 'npz'))}" for name in rng.sample(_NAMES, rng.choice((1, 2, 4)))]
    files = {name: _content(rng, name) for name in (known, *names)}
    return ScoreFiles(files, known, "", rng.choice((None, None, 0.5, -1e9)))


def _content(rng: Random, name: str) -> bytes:
    numbers, size = np.random.default_rng(rng.getrandbits(64)), rng.choice((1, 2, 9))
    scores = (8 * numbers.random(size)).astype(rng.choice(("f8", "f4", "i8")))
    table = {"scores": scores}
    if name.endswith("npz") and rng.random() < 0.8:
        label = numbers.integers(0, 2, size)
        table = {
            "conf" if rng.random() < 0.7 else "scores": scores,
            "pred": numbers.integers(0, 2, size),
            "label": label,
        }
    return flat_parquet(rng, table) if name.endswith("parquet") else content(rng, name.rpartition(".")[2], table)


def damage(rng: Random, value: ScoreFiles) -> ScoreFiles:
    """Something wrong with a file, with what it holds, or with what is asked for."""
    files, way = dict(value.files), rng.random()
    file = value.known if rng.random() < 0.5 else rng.choice([*files])
    ending = file.rpartition(".")[2]
    if way < 0.1:
        column = rng.choice((":conf", ":scores", ":pred", ":", ":x,y", ".", damaged_text(rng, ":conf")))
        return value._replace(column=column.replace("\x00", "").replace("/", "|"))
    if way < 0.15:
        return value._replace(threshold=rng.choice((*NUMBERS, "0.5", [0.5], None)))
    if way < 0.25:
        files[rng.choice(("scores/near.npy", "scores/near/cifar100.csv", "scores/x.txt", "scores/b.npz"))] = files[file]
    elif way < 0.3:
        del files[file]
    elif way < 0.6 and ending == "npz":
        size = rng.choice((0, 1, 2, 9))
        table = {
            key: np.asarray(_column(rng, size))
            for key in rng.sample(("conf", "scores", "pred", "label", "x"), rng.choice((1, 3)))
        }
        files[file] = content(rng, ending, table)
    else:
        files[file] = damaged_content(rng, ending, files[file])
    return value._replace(files=files)


def _column(rng: Random, size: int) -> np.ndarray:
    column = np.asarray(
        [rng.choice((0, 1, 2, 255))] * size, rng.choice(("i8", "f8", "?", "u1", "f2", "c16", "U1", "O"))
    )
    if rng.random() < 0.3 and column.dtype == np.float64 and size:
        column[0] = rng.choice((np.nan, np.inf, -np.inf, 1e300))
    column = column[:, None] if rng.random() < 0.1 else column
    odd = kind_of_array(rng, column) if rng.random() < 0.1 and column.dtype != object else column
    return odd if isinstance(odd, np.ndarray) else column


def run(case: Case) -> None:
    """List the folder, read all files, and compute."""
    value: ScoreFiles = case.value
    write_files(value.files, case.folder)
    results = case.attempt(functools.partial(_results, case, value))
    if isinstance(results, dict):
        check_results({key: item for key, item in results.items() if key != "groups"})
    check_files(value.files, case.folder)


def _results(case: Case, value: ScoreFiles) -> dict[str, Any]:
    known = case.folder / value.known
    files = score_files(case.folder / "scores", known)
    metrics = ["auroc", "fpr95tpr", "aupr_in", *(["f1"] if value.threshold is not None else [])]
    unknown = {name: read_scores(path) for name, path in files.items()}
    return evaluate_ood(read_scores(f"{known}{value.column}"), unknown, metrics=metrics[:3], threshold=None) | (
        {} if value.threshold is None else _at_threshold(unknown, value.threshold)
    )


def _at_threshold(unknown: dict[str, Any], threshold: Any) -> dict[str, Any]:
    first = next(iter(unknown.values()))
    evaluate_ood(first, unknown, metrics=["auroc"], threshold=threshold)
    return {}


TARGETS = [Target("files of OOD scores", make, damage, run)]
