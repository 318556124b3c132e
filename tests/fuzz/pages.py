"""The pages: the endpoint, the button with tables and files, and uploads of every format."""

from __future__ import annotations

import functools
import importlib
import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from openworld_metrics import METRICS
from openworld_metrics.pages.data import read
from openworld_metrics.pages.form.controls import shown
from openworld_metrics.pages.form.form import Form, data_frame
from openworld_metrics.pages.page import Page
from openworld_metrics.pages.runner import Runner, explain
from openworld_metrics.reading.maps.maps import MapSizeError
from tests import cases
from tests.fuzz import maps
from tests.fuzz.boxes import damage_image, make_image
from tests.fuzz.contents import ENDINGS, columns, content, damaged_content, flat_parquet
from tests.fuzz.damage import NUMERALS, WORDS, damaged_bytes_of, damaged_text
from tests.fuzz.engine import BrokenError, Case, Files, Refused, Target, check_files, write_files
from tests.fuzz.fingerprint import check_results
from tests.fuzz.values import NUMBERS, json_changed, plain

FOLDERS = Path(__file__).resolve().parents[2] / "metrics"
WORDS_AT_MOST = 3_000  # letters of a message
KINDS = tuple(ending for ending in ENDINGS if ending != "pt")


@functools.cache
def runner_of(name: str) -> Runner:
    """The page of a metric."""
    page = importlib.import_module(f"openworld_metrics.pages.metrics.{name}").PAGE
    return Runner(page, FOLDERS / name)


def check_refusal(result: Any, folder: Path) -> None:
    """Raise unless what is said of an error is short, can be sent, and names no folder of the server."""
    if not isinstance(result, Refused):
        return
    text = explain(result.error)
    json.dumps(text).encode()
    text.encode()
    if len(text) > WORDS_AT_MOST:
        raise BrokenError("a message is too long", len(text))
    if str(folder) in text:
        raise BrokenError("a message names a folder of the server", text)


class Call(NamedTuple):
    """What a program sends to the endpoint of a page."""

    name: str
    columns: Any
    options: Any


def make_call(rng: Random) -> Call:
    """A random case, as JSON has it."""
    name = rng.choice(METRICS)
    drawn, options = cases.draw(name, rng.randrange(1 << 30))
    on_page = {key: value for key, value in options.items() if key in runner_of(name).defaults}
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
            key = rng.choice((*runner_of(value.name).defaults, "num_process", "cache_dir", "config_name", "self"))
            options = {**options, key: plain(rng)}
    if rng.random() < 0.03:
        given = _large(rng, value.name)
    return value._replace(columns=given, options=options)


def _large(rng: Random, name: str) -> Any:
    """Columns of a body that the guard lets through, whose cost may be more than its size."""
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
    results = case.attempt(functools.partial(runner_of(value.name).results, value.columns, value.options))
    check_refusal(results, case.folder)
    if json.dumps((value.columns, value.options)) != before:
        raise BrokenError("an input has changed")
    if not isinstance(results, Refused):
        check_results(results, isinstance(value.options, dict) and bool(value.options.get("percent")))


class Filled(NamedTuple):
    """What a person fills in: the cells of the tables, files of each source, and what the controls hold."""

    name: str
    files: Files
    tables: list[dict[str, list[Any]]]
    places: list[list[str]]
    made_of: dict[str, Any]
    read_as: Any
    held: dict[str, Any]
    image: Any
    photograph: str | None


def make_form(rng: Random) -> Filled:
    """An example of a page, in its tables or as files."""
    name = rng.choice(METRICS)
    page, defaults = runner_of(name).page, runner_of(name).defaults
    example = rng.choice(page.examples)
    values = {**defaults, **example.options}
    held = {option.name: shown(option, values[option.name]) for option in page.options}
    tables = [{key: list(cells) for key, cells in table.items()} for table in example.tables]
    files: Files = {}
    places: list[list[str]] = [[] for _ in tables]
    blank = any(isinstance(cell, str) for table in tables for cells in table.values() for cell in cells)
    if rng.random() < 0.6 and not blank:
        for i, table in enumerate(tables):
            ending = rng.choice(KINDS if len(table) < 2 else ("npz", "csv", "parquet", "json"))
            file = f"{i}/table.{ending}"
            arrays = _arrays(table)
            files[file] = flat_parquet(rng, arrays) if ending == "parquet" else content(rng, ending, arrays)
            places[i].append(file)
    photograph = None
    if page.images and rng.random() < 0.3:
        photograph = "photograph.png"
        files[photograph] = next(iter(make_image(_Png()).files.values()))
    return Filled(name, files, tables, places, {}, "automatic", held, 1, photograph)


class _Png(Random):
    """Chooses the first of everything: a PNG."""

    def choice(self, seq: Any) -> Any:
        return seq[0]


def _arrays(table: dict[str, list[Any]]) -> dict[str, np.ndarray]:
    """Columns of a table that are as long as the longest, which is how a file has them."""
    length = max(map(len, table.values()))
    padded = {key: cells + [cells[-1]] * (length - len(cells)) for key, cells in table.items()}
    return {key: np.asarray(cells) for key, cells in padded.items()}


def damage_form(rng: Random, value: Filled) -> Filled:
    """Something wrong with a cell, a header, a file, a choice or a control."""
    for _ in range(rng.choice((1, 1, 2))):
        value = rng.choice(_FORM_WAYS)(rng, value)
    return value


def _cells(rng: Random, value: Filled) -> Filled:
    tables = [{key: list(cells) for key, cells in table.items()} for table in value.tables]
    table = rng.choice(tables)
    key, way = rng.choice([*table]), rng.random()
    if way < 0.6 and table[key]:
        table[key][rng.randrange(len(table[key]))] = rng.choice((*NUMBERS, *NUMERALS, *WORDS, None, [], True))
    elif way < 0.7:
        table[key] = table[key][: rng.randrange(len(table[key]) + 1)]
    elif way < 0.9:
        table[rng.choice((*WORDS, *NUMERALS, "image", "class 0", "x1", "a[:, 1]"))] = table.pop(key)
    else:
        table[rng.choice(WORDS)] = [plain(rng, 0) for _ in table[key]]
    return value._replace(tables=tables)


def _file(rng: Random, value: Filled) -> Filled:
    if not value.files:
        return _cells(rng, value)
    file = rng.choice([*value.files])
    data, ending = value.files[file], file.rpartition(".")[2]
    changed = damaged_content(rng, ending, data) if ending in KINDS else damaged_bytes_of(rng, data.decode("latin-1"))
    return value._replace(files={**value.files, file: changed})


def _another_file(rng: Random, value: Filled) -> Filled:
    i = rng.randrange(len(value.places))
    ending = rng.choice((*KINDS, "png", "txt", "exe", "CSV", "pt"))
    file = f"{i}/{rng.choice(('other', 'table', 'é', '<b>', 'a b'))}.{ending}"
    data = content(rng, ending, columns(rng)) if ending in KINDS else rng.choice((b"", b"0 .5 .5 1 1 .5\n", b"\x89PNG"))
    places = [[*files, file] if j == i and file not in files else files for j, files in enumerate(value.places)]
    return value._replace(files={**value.files, file: data}, places=places)


def _choice(rng: Random, value: Filled) -> Filled:
    made_of = dict(value.made_of)
    names = [key for table in value.tables for key in table]
    odd = (
        rng.choice(names),
        [rng.choice(names)] * 2,
        names,
        [f"{names[0]}[:, 0]"],
        f"{names[0]} … {names[-1]}",
        [""],
        None,
    )
    made_of[rng.choice(runner_of(value.name).page.columns).name] = rng.choice((*odd, [rng.choice(WORDS)]))
    return value._replace(made_of=made_of, read_as=rng.choice(("automatic", "scores", "class ids", None, "x")))


def _control(rng: Random, value: Filled) -> Filled:
    held = dict(value.held)
    i = rng.choice([*held])
    text = damaged_text(rng, str(held[i]))
    held[i] = rng.choice((None, "", text, text, [text], rng.choice(NUMBERS), plain(rng), [], ["max", "max"], True))
    image = rng.choice((value.image, value.image, *NUMBERS[:8], None, float("nan"), 1e308))
    return value._replace(held=held, image=image)


_FORM_WAYS = (_cells, _cells, _file, _file, _another_file, _choice, _control, _control)


def run_form(case: Case) -> None:
    """Compute and draw as the button does, and compile the Python that is shown."""
    value: Filled = case.value
    write_files(value.files, case.folder)
    tables = [_frame(table) for table in value.tables]
    files = [[str(case.folder / file) for file in part] for part in value.places]
    photograph = str(case.folder / value.photograph) if value.photograph else None
    form = Form(
        tables=tables,
        files=files,
        made_of=value.made_of,
        read_as=value.read_as,
        options=value.held,
        leave_out=bool(value.files),
        image=value.image,
        photographs=photograph,
    )
    found = case.attempt(functools.partial(runner_of(value.name).show, form))
    check_refusal(found, case.folder)
    check_files(value.files, case.folder)
    if isinstance(found, Refused):
        return
    compile(found.call, "call", "exec")
    json.loads(found.json)
    said = "".join((found.numbers, found.threshold, found.strip, found.worst, found.report, found.cite, *found.tables))
    (said + found.call).encode()
    for figure in found.figures:
        figure.to_json().encode()
    if str(case.folder) in found.call + said + found.json:
        raise BrokenError("a result names a folder of the server", found.call)


def _frame(table: dict[str, list[Any]]) -> Any:
    """The cells as gradio hands them over."""
    try:
        return data_frame(table)
    except (ValueError, TypeError):
        return pd.DataFrame({key: pd.Series(cells, dtype=object) for key, cells in table.items()})


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


def _arguments(page: Page, inputs: Sequence[Sequence[Path]]) -> Any:
    """The arguments of an upload that has all columns, of maps that are as large as their masks."""
    try:
        data = read(page, [], inputs)
    except MapSizeError:  # which the page offers to resize
        return None
    return None if data.missing else data.arguments()


def run_upload(case: Case) -> None:
    """Read the files of a source."""
    value: Upload = case.value
    write_files(value.files, case.folder)
    page = runner_of(value.name).page
    inputs = [
        [case.folder / file for file in value.files if file.startswith(f"{source}/")]
        for source in range(len(page.sources))
    ]
    found = case.attempt(lambda: _arguments(page, inputs))
    check_refusal(found, case.folder)
    check_files(value.files, case.folder)


TARGETS = [
    Target("page endpoint", make_call, damage_call, run_call),
    Target("page button", make_form, damage_form, run_form),
    Target("page uploads", make_upload, damage_upload, run_upload),
]
