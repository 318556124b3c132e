"""The command line, in this process: exit code 0, or 2 and one line that says what is wrong."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import traceback
import warnings
from random import Random
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from openworld_metrics import METRICS
from openworld_metrics.command import cli
from openworld_metrics.loading import metric_class
from openworld_metrics.reading.tables import files as readers
from tests import cases
from tests.detection import scenes
from tests.fuzz import boxes
from tests.fuzz.contents import ENDINGS, content, damaged_content
from tests.fuzz.damage import NUMERALS, WORDS, damaged, damaged_bytes_of, damaged_text
from tests.fuzz.engine import BrokenError, Case, Files, Target, calls, check_files, write_files

LINE = 500  # characters that an error may have
WRITTEN = ("saved", "plotted", "reported")  # what the arguments name to write to, and nothing else


class Call(NamedTuple):
    """Files, arguments and standard input of a command."""

    files: Files
    arguments: list[str]
    stdin: bytes


def make_compute(rng: Random) -> Call:
    """A metric of a random case, its columns in files of any format, one of them on standard input now and then."""
    name = rng.choice(METRICS)
    columns, options = cases.draw(name, rng.randrange(1 << 30))
    files: Files = {}
    arguments, stdin = ["compute", name], b""
    for key, column in columns.items():
        flat = isinstance(column, np.ndarray) and column.ndim < 3 and column.shape[-1] > 1
        ending = rng.choice(ENDINGS if flat else ("json", "parquet"))
        file = f"{key}.{ending}"
        place = file
        if not stdin and rng.random() < 0.1:
            place, stdin = "-", json.dumps(cases.as_lists(column)).encode()
        elif ending in ("json", "parquet"):
            files[file] = _lists(ending, key, column)
        else:
            files[file] = content(rng, ending, _flat(ending, key, column))
            place += "" if ending in ("npy",) or column.ndim == 1 else f":{','.join(_flat(ending, key, column))}"
        arguments += [f"--{key.replace('_', '-')}", place]
    for key, value in options.items():
        arguments += ["--option", f"{key}={option_text(value)}"]
    if rng.random() < 0.2:
        files["saved.json"] = b"what was there before"
        arguments += ["--save", "saved.json"]
    return Call(files, arguments, stdin)


def option_text(value: Any) -> str:
    return str(value if not isinstance(value, np.generic) else value.item())


def _flat(ending: str, key: str, column: np.ndarray) -> dict[str, np.ndarray]:
    """A column as a file has it: a matrix is a column each in .csv, and one array elsewhere."""
    if column.ndim == 1 or ending in ("npy", "npz", "pt"):
        return {key: column}
    return {f"class {i}": column[:, i] for i in range(column.shape[1])}


def _lists(ending: str, key: str, column: Any) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    lists = cases.as_lists(column)
    if ending == "json":
        return json.dumps({key: lists}).encode()
    buffer = io.BytesIO()
    pq.write_table(pa.table({key: pa.array(lists)}), buffer, row_group_size=7)
    return buffer.getvalue()


def damage_compute(rng: Random, value: Call) -> Call:
    """Something wrong with a file, an argument, or standard input."""
    way = rng.random()
    if way < 0.6 and value.files:
        file = rng.choice([*value.files])
        data = value.files[file]
        ending = file.rpartition(".")[2]
        return value._replace(files={**value.files, file: damaged_content(rng, ending, data) if data else b""})
    if way < 0.7:
        text = value.stdin or b"[1, 0]"
        odd = damaged_bytes_of(rng, text.decode()) if rng.random() < 0.7 else damaged(rng, text)
        return value._replace(stdin=odd, arguments=_with(rng, value.arguments, "-"))
    return value._replace(arguments=other_arguments(rng, value.arguments, _COMPUTE))


def _with(rng: Random, arguments: list[str], place: str) -> list[str]:
    """The arguments with one of the files replaced."""
    places = [i for i, word in enumerate(arguments) if "." in word and i > 2 and not word.startswith("saved")]
    return [place if places and i == places[0] else word for i, word in enumerate(arguments)]


_COMPUTE = (
    *(
        "--predictions",
        "--references",
        "--open-scores",
        "--open-labels",
        "--image-scores",
        "--image-labels",
        "--option",
    ),
    *(
        "--save",
        "--plot",
        "-h",
        "--help",
        "--version",
        "--",
        "-x",
        "--no-such",
        "list",
        "describe",
        "compute",
        "detect",
    ),
    *("saved.json", "saved.txt", "plotted.png", "plotted.svg", "predictions.npy", "-", "nowhere.csv", ".", "openauc"),
)
_OPTIONS = tuple(dict.fromkeys(key for name in METRICS for key in metric_class(name).options))
_VALUES = (
    "",
    "1",
    "0",
    "-1",
    "1,2",
    "(1,",
    "[]",
    "{}",
    "None",
    "true",
    "lambda: 0",
    "__import__('os')",
    "9" * 5000,
    "1e400",
)


def other_arguments(rng: Random, arguments: list[str], known: tuple[str, ...]) -> list[str]:
    """One or two words more, less, others or in other places."""
    words = [*arguments]
    for _ in range(rng.choice((1, 1, 2))):
        i, way = rng.randrange(len(words)) if words else 0, rng.random()
        if way < 0.3:
            key = rng.choice(_OPTIONS)
            words += ["--option", f"{key}={rng.choice((*_VALUES, *NUMERALS, *WORDS))}"]
        elif way < 0.5:
            words.insert(i, rng.choice(known))
        elif way < 0.6 and words:
            del words[i]
        elif way < 0.8 and words:
            words[i] = _harmless(damaged_text(rng, words[i]))
        elif way < 0.9:
            words += ["--save", rng.choice(("saved.json", "saved.txt", "saved/x.json", "saved", "nowhere/saved.json"))]
        else:
            words += ["--plot", rng.choice(("plotted.png", "plotted.svg", "plotted.x", "plotted/x.png"))]
    # an operating system takes no word with a NUL
    return [word.replace("\x00", "\x01") for word in words]


def _harmless(word: str) -> str:
    """No place beyond the folder: an argument may name a file to write to."""
    return word.replace("/", "|").replace("..", ":")


def make_detect(rng: Random) -> Call:
    """A data set and predictions, in any format."""
    found = boxes.data_set(rng.choice([*scenes.WRITERS]), rng.randrange(boxes.POOL))
    arguments = ["detect", "--predictions", found.predictions, "--references", found.references]
    arguments += ["--known-classes", "0", "1", "2", "--unknown-id", str(scenes.UNKNOWN_ID)]
    if "classes" in found.options:
        arguments += ["--names", *scenes.NAMES.values()]
    more: tuple[list[str], ...] = (
        *(
            [],
            [],
            ["--per-class"],
            ["--no-standard"],
            ["--protocol", "owod", "--option", "recall_level=None"],
            ["--matching", "confidence"],
        ),
        *(["--save", "saved.json", "--save", "saved.txt"], ["--conf", "0.5"], ["--report", "reported"]),
    )
    return Call(found.files, [*arguments, *rng.choice(more)], b"")


_DETECT = (
    *("--predictions", "--references", "--images", "--model", "--data", "--split", "--known-classes", "--unknown-id"),
    *("--names", "--conf", "--iou-threshold", "--iou", "--protocol", "--matching", "--previously-known", "--per-class"),
    *("--standard", "--no-standard", "--voc-from-zero", "--option", "--save", "--report", "-h", "--", "-1", "cat", "7"),
    *("saved.json", "reported", "images", "labels", "data.yaml", "nan", "-0.5", "2", "owod", "1e999", "9" * 30),
)


def damage_detect(rng: Random, value: Call) -> Call:
    """Something wrong with a file, or with an argument."""
    if rng.random() < 0.5:
        data = boxes.DataSet(value.files, "", "", {})
        return value._replace(files=boxes.damage("", rng, data).files)
    return value._replace(arguments=other_arguments(rng, value.arguments, _DETECT))


def run(case: Case) -> None:
    """Run the command in the folder of its files."""
    value: Call = case.value
    try:
        write_files(value.files, case.folder)
    except OSError:  # no file can have such a name
        return
    clear = getattr(getattr(readers, "_standard_input", None), "cache_clear", lambda: None)
    clear()
    code, output, errors = _in_folder(case, value)
    calls["refused" if code else "taken"] += 1
    lines = errors.splitlines()
    if code not in (0, 2):
        raise BrokenError(f"exit code {code}", errors)
    if code == 2 and case.whole:
        raise BrokenError("refused a valid input", errors)
    if code == 2 and (len(lines) != 1 or not errors.endswith("\n")):
        raise BrokenError("an error is not one line", errors)
    if any(not line.startswith("openworld-metrics: ") for line in lines):
        raise BrokenError("something else is on standard error", errors)
    if max(map(len, lines), default=0) > LINE:
        raise BrokenError(f"a line has more than {LINE} characters", errors)
    if not all(line.isprintable() for line in lines):
        raise BrokenError("a line has control characters", repr(errors))
    if code == 0 and output.startswith("{"):
        json.loads(output, parse_constant=_no_json)
    named = {
        word for option, word in zip(value.arguments, value.arguments[1:]) if option in ("--save", "--plot", "--report")
    }
    check_files(value.files, case.folder, (*WRITTEN, *(named - value.files.keys() - {""})))
    saved = case.folder / "saved.json"
    if saved.is_file() and (content := saved.read_bytes()) != value.files.get("saved.json"):
        json.loads(content.decode(), parse_constant=_no_json)


def _no_json(name: str) -> None:
    raise BrokenError(f"{name} among the results")


def _in_folder(case: Case, value: Call) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    output, errors = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace") for _ in range(2))
    stdin = io.TextIOWrapper(io.BytesIO(value.stdin), encoding="utf-8")
    here = os.getcwd()
    os.chdir(case.folder)
    with (
        mock.patch.object(sys, "argv", ["openworld-metrics", *value.arguments]),
        mock.patch.object(sys, "stdin", stdin),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(errors),
        warnings.catch_warnings(),
    ):
        warnings.resetwarnings()  # what a person sees
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        warnings.filterwarnings("ignore", category=PendingDeprecationWarning)
        try:
            cli.main()
            code = 0
        except SystemExit as exit_:
            code = exit_.code if isinstance(exit_.code, int) else 0 if exit_.code is None else 1
        except BaseException:
            raise BrokenError("a traceback", traceback.format_exc()) from None
        finally:
            os.chdir(here)
    texts = []
    for stream in (output, errors):
        stream.flush()
        stream.seek(0)
        texts.append(stream.read())
    return code, texts[0], texts[1]


TARGETS = [
    Target("command compute", make_compute, damage_compute, run),
    Target("command detect", make_detect, damage_detect, run),
]
