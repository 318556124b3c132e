"""The pages: the endpoint, pasted cells with choices and options, and uploads of every format."""

from __future__ import annotations

import functools
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from openworld_metrics import METRICS
from openworld_metrics.answers.saved import as_json
from openworld_metrics.faces.html import comparison, decisions, headline, notes, numbers, tables, worst
from openworld_metrics.faces.moving import plotly_of
from openworld_metrics.faces.page.worker import PageError, Request, compute, look, results
from openworld_metrics.loading import metric_class
from openworld_metrics.metric.metric import OF_EVERY_METRIC
from openworld_metrics.reading.rows.metrics import LAYOUTS
from tests import cases
from tests.fuzz import maps
from tests.fuzz.boxes import damage_image, make_image
from tests.fuzz.contents import ENDINGS, columns, content, damaged_content
from tests.fuzz.damage import NUMERALS, WORDS, damaged_text
from tests.fuzz.engine import BrokenError, Case, Files, Refused, Target, check_files, write_files
from tests.fuzz.fingerprint import check_results
from tests.fuzz.values import NUMBERS, json_changed, plain

WORDS_AT_MOST = 3_000  # letters of a message
KINDS = tuple(ending for ending in ENDINGS if ending != "pt")


def options_of(name: str) -> dict[str, Any]:
    """The options of a page, with their defaults."""
    return {key: value for key, value in metric_class(name).options.items() if key not in OF_EVERY_METRIC}


def check_refusal(result: Any, folder: Path) -> None:
    """Raise unless what is said of an error is short, can be sent, and names no folder of the server."""
    if not isinstance(result, Refused):
        return
    text = str(result.error)
    json.dumps(text).encode()
    text.encode()
    if len(text) > WORDS_AT_MOST:
        raise BrokenError("a message is too long", len(text))
    if str(folder) in text:
        raise BrokenError("a message names a folder of the server", text)


def refusing(call: Callable[[], Any]) -> Callable[[], Any]:
    """A call of the page's worker, whose errors of the data are refusals; one of ours is not."""

    def attempt() -> Any:
        try:
            return call()
        except PageError as error:
            if "on our side" in str(error):
                raise BrokenError("an error of ours", str(error)) from error
            raise ValueError(str(error)) from error

    return attempt


class Call(NamedTuple):
    """What a program sends to the endpoint of a page."""

    name: str
    columns: Any
    options: Any


def make_call(rng: Random) -> Call:
    """A random case, as JSON has it."""
    name = rng.choice(METRICS)
    drawn, options = cases.draw(name, rng.randrange(1 << 30))
    on_page = {key: value for key, value in options.items() if key in options_of(name)}
    plain_options = {key: value.item() if isinstance(value, np.generic) else value for key, value in on_page.items()}
    return Call(name, {key: cases.as_lists(column) for key, column in drawn.items()}, plain_options)


def damage_call(rng: Random, value: Call) -> Call:
    """Something wrong with the columns or the options."""
    given, options = value.columns, value.options
    for _ in range(rng.choice((1, 1, 2))):
        way = rng.random()
        if way < 0.5:
            given = json_changed(rng, given)
        elif way < 0.7:
            options = json_changed(rng, options)
        elif isinstance(options, dict):
            key = rng.choice((*options_of(value.name), "num_process", "cache_dir", "config_name", "self"))
            options = {**options, key: plain(rng)}
    if rng.random() < 0.03:
        given = _large(rng, value.name)
    return value._replace(columns=given, options=options)


def _large(rng: Random, name: str) -> Any:
    """Columns of a small body, whose cost may be more than its size."""
    count = rng.choice((300, 1500, 3000))
    if name == "openset_detection":
        box = [0, 0, 10, 10]
        return {"predictions": [[[*box, 0.5, 0]] * count], "references": [[[*box, 0]] * count]}
    if name == "anomaly_suite":
        side = int(count**0.5)
        masks = [[[(i + j) % 2 for i in range(side)] for j in range(side)], [[0] * side] * side]
        return {"predictions": [[[i + j for i in range(side)] for j in range(side)]] * 2, "references": masks}
    scores = [i / count for i in range(count)]
    labels = [i % 2 for i in range(count)]
    return {"predictions": scores, "references": labels, "open_scores": scores, "open_labels": labels}


def run_call(case: Case) -> None:
    """Compute as the endpoint does."""
    value: Call = case.value
    before = json.dumps((value.columns, value.options))
    outcome = case.attempt(refusing(functools.partial(results, value.name, value.columns, value.options)))
    check_refusal(outcome, case.folder)
    if json.dumps((value.columns, value.options)) != before:
        raise BrokenError("an input has changed")
    if not isinstance(outcome, Refused):
        check_results(outcome, isinstance(value.options, dict) and bool(value.options.get("percent")))


class Filled(NamedTuple):
    """What a person fills in: cells that are pasted, what columns are made of, and options."""

    name: str
    pasted: list[str]
    made_of: dict[str, list[str]]
    read_as: str
    options: dict[str, Any]


def make_form(rng: Random) -> Filled:
    """Columns of a random case that are numbers, as cells."""
    name = rng.choice([name for name in METRICS if name not in ("openset_detection", "anomaly_suite")])
    drawn, options = cases.draw(name, rng.randrange(1 << 30))
    plain_columns = {key: np.asarray(column) for key, column in drawn.items() if np.ndim(column) in (1, 2)}
    cells: dict[str, np.ndarray] = {}
    for key, column in plain_columns.items():
        cells |= {key: column} if column.ndim == 1 else {f"{key}_{i}": part for i, part in enumerate(column.T)}
    text = pd.DataFrame({key: pd.Series(column) for key, column in cells.items()}).to_csv(index=False)
    return Filled(name, [text], {}, "automatic", {key: options.get(key, at) for key, at in options_of(name).items()})


def damage_form(rng: Random, value: Filled) -> Filled:
    """Something wrong with cells, a choice or an option."""
    for _ in range(rng.choice((1, 1, 2))):
        value = rng.choice((_cells, _cells, _choice, _option))(rng, value)
    return value


def _cells(rng: Random, value: Filled) -> Filled:
    lines = value.pasted[0].splitlines() or [""]
    if rng.random() < 0.3:
        return value._replace(pasted=[damaged_text(rng, value.pasted[0])])
    line = rng.randrange(len(lines))
    cells = lines[line].split(",")
    cells[rng.randrange(len(cells))] = str(rng.choice((*NUMBERS, *NUMERALS, *WORDS, "", "é")))
    lines[line] = ",".join(cells)
    return value._replace(pasted=["\n".join(lines)])


def _choice(rng: Random, value: Filled) -> Filled:
    names = (value.pasted[0].splitlines() or ["x"])[0].split(",")
    odd: tuple[list[str], ...] = (
        names,
        names[:1] * 2,
        [f"{names[0]}[:, 0]"],
        [f"-{names[-1]}"],
        [""],
        [rng.choice(WORDS)],
    )
    made_of = {**value.made_of, rng.choice(LAYOUTS[value.name].columns).name: rng.choice(odd)}
    return value._replace(made_of=made_of, read_as=rng.choice(("automatic", "scores", "class ids", "x")))


def _option(rng: Random, value: Filled) -> Filled:
    return value._replace(options={**value.options, rng.choice([*value.options]): plain(rng)})


def run_form(case: Case) -> None:
    """Look and compute as the page does, show what it shows, and compile its Python."""
    value: Filled = case.value
    request = Request(value.name, [{}], value.pasted, value.made_of, value.read_as, options=value.options)
    look(request)
    answers = case.attempt(refusing(functools.partial(compute, request)))
    check_refusal(answers, case.folder)
    if isinstance(answers, Refused):
        return
    for answer in answers.values():
        if answer.call:
            compile(answer.call, "call", "exec")
        parts = (comparison, headline, numbers, tables, worst, notes)
        said = "".join(part(answer) for part in parts) + (decisions(answer, 0) if answer.decisions else "")
        (said + as_json(answer)).encode()
        for figure in answer.figures:
            plotly_of(figure, answer.decisions, 0).to_json().encode()
        if str(case.folder) in said + answer.call:
            raise BrokenError("a result names a folder of the server", answer.call)


class Upload(NamedTuple):
    """Files for a page: those of each source, by the folder of its number."""

    name: str
    files: Files


def make_upload(rng: Random) -> Upload:
    """A table of any format, or maps or masks for the page that reads these; `boxes` has the files of boxes."""
    if rng.random() < 0.4:
        made = maps.make(rng.choice(maps.ENDINGS), rng).files
        files: Files = {}
        for source, side in enumerate(("maps/", "masks/")):
            planes = {Path(name).name: data for name, data in made.items() if name.startswith(side)}
            own = rng.choice((planes, {"planes.zip": packed(planes)}))
            files |= {f"{source}/{name}": data for name, data in own.items()}
        return Upload("anomaly_suite", files)
    ending = rng.choice(KINDS)
    return Upload(rng.choice(METRICS), {f"0/table.{ending}": content(rng, ending, columns(rng))})


def packed(files: Files) -> bytes:
    """A .zip of some files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def damage_upload(rng: Random, value: Upload) -> Upload:
    """Something wrong with a file, or one more."""
    file = rng.choice([*value.files])
    ending, data = file.rpartition(".")[2], value.files[file]
    if ending == "zip" and rng.random() < 0.8:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            inside = {f"cut/{name}": archive.read(name) for name in archive.namelist()}
        data = packed(damage_upload(rng, value._replace(files=inside)).files)
    elif ending in KINDS:
        data = damaged_content(rng, ending, data)
    else:
        data = next(iter(damage_image(rng, make_image(rng)._replace(files={file: data})).files.values()))
    files = {**value.files, file: data}
    if rng.random() < 0.2:
        other = rng.choice(KINDS)
        files[f"0/other.{other}"] = damaged_content(rng, other, content(rng, other, columns(rng)))
    return value._replace(files=files)


def run_upload(case: Case) -> None:
    """Read the files of each input; an error of theirs is words of the look."""
    value: Upload = case.value
    write_files(value.files, case.folder)
    count = 2 if value.name in ("anomaly_suite", "openset_detection") else 1
    inputs = [
        {"": [str(case.folder / file) for file in value.files if file.startswith(f"{place}/")]}
        for place in range(count)
    ]
    seen = look(Request(value.name, inputs))
    if str(case.folder) in repr(seen):
        raise BrokenError("a look names a folder of the server", repr(seen))
    if len(seen.error) > WORDS_AT_MOST:
        raise BrokenError("a message is too long", len(seen.error))
    check_files(value.files, case.folder)


TARGETS = [
    Target("page endpoint", make_call, damage_call, run_call),
    Target("page button", make_form, damage_form, run_form),
    Target("page uploads", make_upload, damage_upload, run_upload),
]
