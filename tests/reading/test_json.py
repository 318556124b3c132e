"""JSON is parsed by orjson, with the results and the errors of Python's json; no object states a name twice."""

from __future__ import annotations

import codecs
import gc
import json
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest

from openworld_metrics import read
from openworld_metrics.reading import objects as reader
from openworld_metrics.reading.tables.files import read_table
from tests.conftest import Run

TEXTS = [
    *("[1, 2.5, -0, -0.0, 1e5, 1E+2, 5e-324, 1e-400, true, null]", "7", "NaN", "[NaN, Infinity, -Infinity]", "[1e999]"),
    *("[-1e400]", "123456789012345678901234", "-9223372036854775809", '{"a":12345678901234567890}', "[1]\x0b"),
    *("[0.12345678901234567890123]", "[12345678901234567890123.5]", "[-1e-00000000000000000007]"),
    *('["12345678901234567890123"]', "[0,\n\t-99999999999999999999]"),
    *('{"a": 1, "b": {"a": 3}}', '["\\u00e9é\\n"]', '["\\ud800"]', "", " ", "\ufeff[1]", "\ufeff\ufeff[1]"),
    *(f"[{sign}{2**bits + more}]" for sign in ("", "-") for bits in (53, 63, 64, 70) for more in (-1, 0, 1)),
    *("[01]", "[1.]", "[.5]", "[+1]", "[1,]", "[1 2]", "[1]]", '{"a"}', "nul", '["\t"]', '["a', "[1]\x00", "[1_0]"),
    *("[" * depth + "]" * depth for depth in (200, 5000)),
]
NO_UTF_8 = [b'["\xff"]', b'["\xed\xa0\x80"]', b'["\xc3"]', b"\xff", b'["\xf4\x90\x80\x80"]']


def outcome(read: Any, data: bytes) -> str:
    """What is read, with types and signs; or the error, with its place."""
    try:
        return repr(read(data))
    except RecursionError:
        return "too deep"
    except ValueError as error:
        return f"{type(error).__name__}: {error}"


def test_results_and_errors_are_those_of_json() -> None:
    encodings = ("utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-be")
    for data in [*NO_UTF_8, *(text.encode(encoding, "surrogatepass") for encoding in encodings for text in TEXTS)]:
        assert outcome(reader.loads, data) == outcome(json.loads, data), data


def test_damaged_text_and_numbers_of_any_length() -> None:
    rng = random.Random(0)
    box = {"id": 12 * 10**18, "bbox": [0.1, 2, -3e-7, 1e22], "name": "é\n"}
    valid = [json.dumps([box] * 3, ensure_ascii=ascii).encode() for ascii in (True, False)]
    for number in range(3000):
        data = bytearray(valid[number % 2])
        place = rng.randrange(len(data))
        damage = (b"", b"9" * 21, b"-", b"]", b",", b"NaN", bytes([rng.randrange(256)]))
        data[place : place + rng.randrange(3)] = rng.choice(damage)
        whole, fraction = rng.getrandbits(rng.randrange(1, 200)), rng.getrandbits(60)
        text = f"[{whole}.{fraction:0{rng.randrange(20)}}e{rng.randrange(-340, 250)}]".encode()
        for one in (bytes(data), text):
            assert outcome(reader.loads, one) == outcome(json.loads, one), one


def test_long_integers_wherever_they_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_BLOCK", 64)
    for spaces in range(130):
        for number in ("12345678901234567890", "-1234567890123456789"):
            data = f"[1,{' ' * spaces}{number}, 0.5]".encode()
            assert reader._has_long_integers(data), data
            assert not reader._has_long_integers(data.replace(b"9, 0", b", 0").replace(b"90, 0", b", 0"))


def test_orjson_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json, "loads", None)
    data = b'[{"image_id": 1234567890123456789, "score": 0.0001234567890123456789, "file": "12345678901234567890.jpg"}]'
    for mark in (b"", codecs.BOM_UTF8):
        assert reader.loads(mark + data) == orjson.loads(data)


@pytest.mark.parametrize("data", [b"[1]", b"[NaN]", b"[1"])
@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_collection_is_as_before(data: bytes, enabled: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        outcome(reader.loads, data)
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()


LINES = ['{"a": 1}', "  ", "[0.5, NaN]", "-Infinity", '"é"', "12345678901234567890123", "[]", '{"a": [1, {"b": null}]}']


def test_each_line_by_itself() -> None:
    rng = random.Random(0)
    for _ in range(100):
        lines = rng.choices(LINES, k=rng.randrange(6))
        text = rng.choice(("", "\ufeff")) + rng.choice(("\n", "\r\n")).join(lines)
        contents = reader.parse_json_lines(text.encode())
        assert repr(contents) == repr([json.loads(line) for line in lines if line.strip()])


@pytest.mark.parametrize("text", ["[1\n2]", "1 2", "\n\n{", '["a"\n]', "[" * 100_000, "\ud800"])
def test_lines_that_are_not_json(text: str) -> None:
    data = text.encode(errors="surrogatepass")
    line = 1 + len(text) - len(text.lstrip())
    with pytest.raises(ValueError, match=f"^expected JSON in each line, got other text in line {line}$"):
        reader.parse_json_lines(data)


def random_content(rng: random.Random, depth: int) -> Any:
    """A value of JSON with colons, quotes and escapes in its names and words, as text with names stated once."""
    if depth and rng.random() < 0.8:
        if rng.random() < 0.4:
            return [random_content(rng, depth - 1) for _ in range(rng.randrange(4))]
        names = rng.sample(["a", "b", ":", 'x": 1', "\u00e9", "", "\\", "a:b"], rng.randrange(5))
        return {name: random_content(rng, depth - 1) for name in names}
    return rng.choice([0, -1.5, None, True, "b:c", '"a": 3', "", 10**25, float("inf"), 0.1])


def with_a_name_again(rng: random.Random, content: Any, text: Callable[[Any], str]) -> str:
    """The text of a content in which an object states a name a second time, if there is one to do so."""
    if isinstance(content, list):
        at = rng.randrange(max(1, len(content)))
        return f"[{', '.join(with_a_name_again(rng, x, text) if i == at else text(x) for i, x in enumerate(content))}]"
    if not isinstance(content, dict) or not content:
        return text(content)
    name, members = rng.choice([*content]), [f"{text(key)}: {text(value)}" for key, value in content.items()]
    members.insert(rng.randrange(len(members) + 1), f"{text(name)}: {text(rng.choice([0, 'c:d', [], {':': 1}]))}")
    return "{" + ", ".join(members) + "}"


def test_a_name_stated_twice_is_an_error() -> None:
    """Wherever it is in the text, however its letters are written; and no other text is refused."""
    rng, refused = random.Random(70), 0
    for _ in range(2000):
        content, text = random_content(rng, 4), partial(json.dumps, ensure_ascii=rng.random() < 0.5)
        once, twice = text(content), with_a_name_again(rng, content, text)
        repeats = twice != once
        if rng.random() < 0.2:
            once, twice = (each.replace("b:c", "b\\u003ac").replace('"a"', '"\\u0061"', 1) for each in (once, twice))
        assert repr(reader.parse_json(once.encode())) == repr(json.loads(once))
        if repeats:
            refused += 1
            with pytest.raises(ValueError, match=r"^expected each name once in an object, got "):
                reader.parse_json(twice.encode())
            lines = [once, twice, "[NaN]"]
            rng.shuffle(lines)
            with pytest.raises(ValueError, match=f" in line {1 + lines.index(twice)}$"):
                reader.parse_json_lines("\n".join(lines).encode())
    assert refused > 500


def test_a_name_stated_twice_in_files_of_a_command(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows 29 and 62 of reports: in lines of JSON, in a table, in COCO's lists and results, and in a data.yaml."""
    monkeypatch.chdir(tmp_path)
    Path("dup.jsonl").write_text('{"score":0.25,"label":1}\n{"score":0.1,"label":0,"label":1}\n')
    Path("dup.json").write_text('{"score": [0.1, 0.25], "label": [0, 1], "label": [1, 0]}')
    box: dict[str, Any] = {"image_id": 1, "category_id": 1, "bbox": [10, 10, 20, 20]}
    true = {
        "images": [{"id": 1, "file_name": "a.jpg", "width": 99, "height": 99}],
        "categories": [{"id": 1, "name": "cat"}],
    }
    references = json.dumps({**true, "annotations": [{"id": 1, "area": 400, "iscrowd": 0, **box}]})
    predictions = json.dumps([{**box, "score": 0.9}])
    Path("references.json").write_text(references)
    Path("predictions.json").write_text(predictions)
    Path("twice.json").write_text(references[:-1] + ', "annotations": []}')
    Path("results.json").write_text(predictions.replace("0.9", '0.9, "score": 0.1'))
    Path("data.yaml").write_text("path: .\nval: images\nnames: [cat, dog]\nnames: [dog, cat]\n")
    detect = ("detect", "--known-classes", "cat", "--references")
    for command, message in (
        (
            ("compute", "ood_bench", "dup.jsonl"),
            "dup.jsonl: expected each name once in an object, got 'label' as 0 and 1 in line 2",
        ),
        (
            ("compute", "ood_bench", "dup.json"),
            "dup.json: expected each name once in an object, got 'label' as [0, 1] and [1, 0]",
        ),
        (
            (*detect, "twice.json", "--predictions", "predictions.json"),
            "twice.json: expected each name once in an object",
        ),
        ((*detect, "references.json", "--predictions", "results.json"), "got 'score' as 0.9 and 0.1"),
        (
            (*detect, "data.yaml", "--predictions", "predictions.json"),
            "data.yaml:4: expected YAML, got the name 'names' again",
        ),
    ):
        code, output, errors = run(*command)
        assert (code, output) == (2, "")
        assert message in errors
    assert run(*detect, "references.json", "--predictions", "predictions.json")[0] == 0


NESTED = {"name": "x", "predictions": {"real": [0.25, 0.5], "samples": [0.75, 0.5, 1.0]}, "metrics": {"auroc": 0.9}}


def test_paths_into_objects(tmp_path: Path, run: Run) -> None:
    """In each place of a column: of ood, of flags, beside a file and in Python; in a file, or in lines of objects."""
    path = tmp_path / "x.json"
    path.write_text(json.dumps(NESTED))
    known, unknown = f"{path}:predictions.real", f"{path}:predictions.samples"
    own = json.loads(run("ood", "--known", known, "--unknown", f"ai={unknown}", "--metrics", "auroc")[1])
    assert own["auroc"] == 5.5 / 6
    own = json.loads(run("ood", "--known", f"{path}:-predictions.real", "--unknown", f"{path}:-predictions.samples")[1])
    assert own["auroc"] == 0.5 / 6
    records = [{"id": i, "scores": {"msp": score}, "y": i % 2} for i, score in enumerate((0.1, 0.7, 0.3, 0.9))]
    for text in (
        json.dumps(records),
        "\n".join(map(json.dumps, records)),
        json.dumps({"results": records, "config": {"seed": 1, "list": [[1, 2]]}}),
    ):
        path.write_text(text)
        above = "results." if '"results"' in text else ""
        columns = {"predictions": f"{above}scores.msp", "references": f"{above}y"}
        assert read("ood_bench", path, columns=columns).columns["predictions"].tolist() == [0.1, 0.7, 0.3, 0.9]
        places = [part for name, column in columns.items() for part in (f"--{name}", f"{path}:{column}")]
        assert json.loads(run("compute", "ood_bench", *places, "--metrics", "auroc")[1]) == {"auroc": 1.0}
        names = [part for name, column in columns.items() for part in (f"--{name}", column)]
        assert json.loads(run("compute", "ood_bench", path, *names, "--metrics", "auroc")[1]) == {"auroc": 1.0}


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (
            "predictions",
            "predictions: expected a list, got an object; its lists are predictions.real, predictions.sampl",
        ),
        ("metrics.auroc", "metrics.auroc: expected a list, got 0.9; there are predictions.real, predictions.samples"),
        ("metrics", "metrics: expected a list, got an object; of pandas, to_json(orient='records') writes a list of"),
        ("predictions.fake", "expected a column predictions.fake, got predictions.real, predictions.samples; name"),
    ],
)
def test_a_path_that_leads_to_no_list(column: str, message: str, tmp_path: Path, run: Run) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(NESTED))
    code, _, errors = run("ood", "--known", f"{path}:{column}", "--unknown", f"{path}:predictions.samples")
    assert code == 2
    assert f"x.json: {message}" in errors


def test_a_path_that_is_there_twice(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"a": {"b": [0.5]}, "a.b": [0.25]}')
    with pytest.raises(ValueError, match=r"x\.json: expected one value at each path, got 2 at 'a\.b'"):
        read_table(tmp_path / "x.json")


def test_lists_of_different_lengths(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"a": {"p": [0.5, 0.25, 0.75], "y": [0, 1]}}))
    code, _, errors = run("compute", "ood_bench", path, "--predictions", "a.p", "--references", "a.y")
    assert code == 2
    assert errors.endswith(
        "x.json: expected columns of one length, got 3 for predictions (a.p) and 2 for references (a.y); if these are "
        "scores of known and of unknown samples, the command ood takes each as FILE:COLUMN\n"
    )
    path.write_text(json.dumps({"a": {"p": [0.5, 0.25, 0.75], "q": [0.5, 1.0]}}))
    errors = run("compute", "ood_bench", path)[2]
    assert "3 of a.p and 2 of a.q may be scores of known and of unknown samples: the command ood takes each" in errors
    assert run("ood", "--known", f"{path}:a.p", "--unknown", f"{path}:a.q")[0] == 0
