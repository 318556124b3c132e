"""The command line, in this process: exit code 0, or 2 and one line that says what is wrong."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import sys
import traceback
import warnings
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import numpy as np

from openworld_metrics import METRICS
from openworld_metrics.command import cli
from openworld_metrics.loading import metric_class
from openworld_metrics.reading.tables import files as readers
from tests import cases
from tests.detection import scenes
from tests.fuzz import boxes
from tests.fuzz.contents import ENDINGS, Files, content
from tests.fuzz.damage import NUMERALS, WORDS, damaged_bytes_of, damaged_text
from tests.fuzz.engine import BrokenError, Case, Input, Target, calls

LINE = 500  # characters that an error may have
BEFORE = "what was there before"
WRITTEN = ("saved", "plotted", "reported", "index.html")  # what the arguments name to write to, and nothing else
_PLACES = (
    *("saved.json", "saved.txt", "saved/x.json", "saved", "nowhere/saved.json", "plotted.png", "plotted.svg"),
    *("plotted.x", "plotted/x.png", "reported", "predictions.npy", "-", "nowhere.csv", ".", "data.yaml", "images"),
)
_OPTIONS = tuple(dict.fromkeys(key for name in METRICS for key in metric_class(name).options))
_VALUES = ("", "1", "0", "-1", "1,2", "(1,", "[]", "{}", "None", "true", "lambda: 0", "__import__('os')", "1e400")
_KNOWN = (
    *("--predictions", "--references", "--open-scores", "--open-labels", "--image-scores", "--image-labels"),
    *("--option", "--save", "--plot", "-h", "--help", "--version", "--", "-x", "--no-such", "list", "describe"),
    *("compute", "detect", "compare", "openauc", "--images", "--model", "--data", "--split", "--known-classes"),
    *("--unknown-id", "--names", "--conf", "--iou-threshold", "--iou", "--protocol", "--matching", "--per-class"),
    *("--previously-known", "--standard", "--no-standard", "--voc-from-zero", "--report", "-1", "cat", "7", "owod"),
    *("--confidence-level", "--random-state", "nan", "-0.5", "1e999"),
)


def make_compute(rng: Random) -> Input:
    """A metric of a random case, its columns in files of any format, one of them on standard input now and then."""
    name = rng.choice(METRICS)
    columns, options = cases.draw(name, rng.randrange(1 << 30))
    files: Files = {}
    arguments, stdin = ["compute", name], b""
    for key, column in columns.items():
        flat = isinstance(column, np.ndarray) and column.ndim < 3 and column.shape[-1] > 1
        ending = rng.choice(ENDINGS if flat else ("json", "parquet"))
        place = f"{key}.{ending}"
        table = {key: column if ending not in ("json", "parquet") else cases.as_lists(column)}
        if ending == "csv" and column.ndim > 1:  # a column each
            table = {f"class {i}": column[:, i] for i in range(column.shape[1])}
        if not stdin and rng.random() < 0.1:
            place, stdin = "-", json.dumps(cases.as_lists(column)).encode()
        else:
            files[place] = json.dumps(table).encode() if ending == "json" else content(rng, ending, table)
            place += f":{','.join(table)}" if ending not in ("npy", "json", "parquet") and column.ndim > 1 else ""
        arguments += [f"--{key.replace('_', '-')}", place]
    for key, value in options.items():
        arguments += ["--option", f"{key}={_text(value)}"]
    if rng.random() < 0.2:
        files["saved.json"] = BEFORE.encode()
        arguments += ["--save", "saved.json"]
    return Input(files, {"arguments": arguments, "stdin": stdin})


def _text(value: Any) -> str:
    return str(value.item() if isinstance(value, np.generic) else value)


def make_detect(rng: Random) -> Input:
    """A data set and predictions, in any format."""
    drawn = boxes.data_set(rng.choice([*scenes.WRITERS]), rng.randrange(boxes.POOL))
    arguments = ["detect", "--predictions", drawn.values["predictions"], "--references", drawn.values["references"]]
    arguments += ["--known-classes", "0", "1", "2", "--unknown-id", str(scenes.UNKNOWN_ID)]
    if "classes" in drawn.values["options"]:
        arguments += ["--names", *scenes.NAMES.values()]
    more: tuple[list[str], ...] = (
        *([], [], ["--per-class"], ["--no-standard"], ["--protocol", "owod", "--option", "recall_level=None"]),
        *(["--save", "saved.json", "--save", "saved.txt"], ["--conf", "0.5"], ["--report", "reported"]),
        ["--matching", "confidence"],
    )
    return Input(drawn.files, {"arguments": [*arguments, *rng.choice(more)], "stdin": b""})


def damage(rng: Random, value: Input) -> Input:
    """Something wrong with a file, an argument, or standard input."""
    arguments, stdin, way = value.values["arguments"], value.values["stdin"], rng.random()
    if way < 0.55 and value.files:
        return value._replace(files=boxes.damaged_texts(rng, value.files))
    if way < 0.6:
        stdin = damaged_bytes_of(rng, (stdin or b"[1, 0]").decode())
        return value.with_value(stdin=stdin, arguments=[*arguments[:3], "-", *arguments[4:]])
    words = [*arguments]
    for _ in range(rng.choice((1, 1, 2))):
        i, way = rng.randrange(len(words)), rng.random()
        if way < 0.3:
            words += ["--option", f"{rng.choice(_OPTIONS)}={rng.choice((*_VALUES, *NUMERALS, *WORDS))}"]
        elif way < 0.55:
            words.insert(i, rng.choice((*_KNOWN, *_PLACES)))
        elif way < 0.6 and len(words) > 1:
            del words[i]
        elif way < 0.8:  # no place beyond the folder: an argument may name a file to write to
            words[i] = damaged_text(rng, words[i]).replace("/", "|").replace("..", ":")
        else:
            words += [rng.choice(("--save", "--plot", "--report")), rng.choice(_PLACES)]
    # an operating system takes no word with a NUL
    return value.with_value(arguments=[word.replace("\x00", "\x01") for word in words])


def run(case: Case) -> tuple[str, ...]:
    """Run the command in the folder of its files."""
    arguments, stdin = case.values["arguments"], case.values["stdin"]
    getattr(getattr(readers, "_standard_input", None), "cache_clear", lambda: None)()
    there = {path.as_posix() for path in Path().rglob("*")}
    code, output, errors = _run(arguments, stdin)
    calls["refused" if code else "taken"] += 1
    lines = errors.splitlines()
    refusals = [line for line in lines if not line.startswith("openworld-metrics: note: ")]
    if code not in (0, 2):
        raise BrokenError(f"exit code {code}", errors)
    if code == 2 and case.whole:
        raise BrokenError("refused a valid input", errors)
    if code == 2 and (len(refusals) != 1 or not errors.endswith("\n")):
        raise BrokenError("an error is not one line", errors)
    if any(not line.startswith("openworld-metrics: ") for line in lines):
        raise BrokenError("something else is on standard error", errors)
    if max(map(len, lines), default=0) > LINE:
        raise BrokenError(f"a line has more than {LINE} characters", errors)
    if not all(line.isprintable() for line in lines):
        raise BrokenError("a line has control characters", repr(errors))
    if code == 0 and output.startswith("{"):
        json.loads(output, parse_constant=_no_json)
    saved = Path("saved.json")
    if saved.is_file() and (text := saved.read_text(encoding="utf-8")) != BEFORE:
        json.loads(text, parse_constant=_no_json)
    places = {word for option, word in itertools.pairwise(arguments) if option in ("--save", "--plot", "--report")}
    return (*WRITTEN, *(places - there - {""}))


def _no_json(name: str) -> None:
    raise BrokenError(f"{name} among the results")


def _run(arguments: list[str], stdin: bytes) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    output, errors = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace") for _ in range(2))
    with (
        mock.patch.object(sys, "argv", ["openworld-metrics", *arguments]),
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")),
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
    texts = []
    for stream in (output, errors):
        stream.seek(0)  # which flushes
        texts.append(stream.read())
    return code, texts[0], texts[1]


TARGETS = {
    "command compute": Target(make_compute, run, damage),
    "command detect": Target(make_detect, run, damage),
}
