"""The command line: every kind of file, streams, terminals and pipes."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import openworld_metrics
from openworld_metrics import OpenAUC, written
from openworld_metrics.answers.answer import Answer
from openworld_metrics.faces.page import worker
from openworld_metrics.loading import script
from openworld_metrics.metric.signature import VERSION
from openworld_metrics.reading.tables import files as readers
from openworld_metrics.texts import texts
from tests import cases
from tests.command.terminal import on_terminal
from tests.conftest import Run, without_position
from tests.reading.maps.trees import write_tree

Load = Callable[..., Any]


def columns() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {
        "predictions": rng.integers(-64, 64, (50, 3)) / 64,
        "references": rng.integers(-1, 3, 50),
        "open_scores": rng.integers(0, 64, 50) / 64,
    }


def compute_openauc(run: Run, places: dict[str, str], *more: str, stdin: str = "") -> dict[str, Any]:
    options = [part for name, place in places.items() for part in (f"--{name.replace('_', '-')}", place)]
    code, output, errors = run("compute", "openauc", *options, *more, stdin=stdin)
    assert (code, without_position(errors)) == (0, "")
    return json.loads(output)


def save_npy(data: dict[str, Any]) -> dict[str, str]:
    for name, column in data.items():
        np.save(f"{name}.npy", column)
    return {name: f"{name}.npy" for name in data}


def test_batches_of_columns_of_two_files(run: Run, load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of which one has several columns side by side, and row groups that are no batches."""
    monkeypatch.setattr(readers, "BATCH", 8)
    data = columns()
    wide = {f"p{i}": data["predictions"][:, i] for i in range(3)}
    pq.write_table(pa.table({**wide, "y": data["references"]}), "wide.parquet", row_group_size=11)
    np.save("open_scores.npy", data["open_scores"])
    places = {"predictions": "wide.parquet:p0,p1,p2", "references": "wide.parquet:y", "open_scores": "open_scores.npy"}
    np.savetxt("bare.csv", data["predictions"], delimiter=",")  # without names
    for predictions in (places["predictions"], "bare.csv"):
        results = compute_openauc(run, {**places, "predictions": predictions}, "--option", "tpr=0.9")
        assert results == load("openauc", tpr=0.9).compute(**data)


@pytest.mark.parametrize("name", cases.METRICS)
@pytest.mark.parametrize("ending", [".json", ".parquet"])
def test_every_metric(name: str, ending: str, run: Run, load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "BATCH", 3)
    data, options = cases.draw(name, 7)
    lists = {key: cases.as_lists(column) for key, column in data.items()}
    if ending == ".json":
        Path("all.json").write_text(json.dumps(lists))
    else:
        pq.write_table(pa.table(lists), "all.parquet")
    arguments = [part for key in data for part in (f"--{key.replace('_', '-')}", f"all{ending}")]
    for key, value in options.items():
        arguments += ["--option", f"{key}={list(value) if isinstance(value, (list, tuple)) else value}"]
    code, output, errors = run("compute", name, *arguments)
    assert (code, errors) == (0, "")
    Path("out.json").write_text(output)  # read_results makes ±inf of the words that JSON has for them
    assert written.read_results("out.json") == load(name).compute(**data, **options)


@pytest.mark.parametrize("form", ["json", "lines", "a list over lines", "csv", "tsv with an index"])
def test_standard_input(form: str, run: Run, load: Load) -> None:
    data = {**columns(), "predictions": np.arange(50) % 3}
    text = json.dumps({name: column.tolist() for name, column in data.items()})
    rows = [*zip(*(column.tolist() for column in data.values()))]
    if form == "csv":
        text = "\n".join([",".join(data), *(",".join(map(str, row)) for row in rows)])
    elif form == "tsv with an index":
        text = "\n".join(["\t".join(["", *data]), *("\t".join(map(str, [i, *row])) for i, row in enumerate(rows))])
    elif form != "json":
        records = [json.dumps(dict(zip(data, row))) for row in rows]
        text = "\n".join(records) if form == "lines" else "[" + ",\n".join(records) + "]"
    results = compute_openauc(run, dict.fromkeys(data, "-"), stdin=text)
    assert results == load("openauc").compute(**data)


CSV = {
    "plain": b"0.1\n0.2\n0.8\n0.9",
    "byte order mark": b"\xef\xbb\xbf0.1\n0.2\n0.8\n0.9\n",
    "blank lines first": b"\n \n0.1\n0.2\n0.8\n0.9\n",
    "lines end in CR": b"0.1\r0.2\r0.8\r0.9\r",
    "lines end in CR and LF": b"0.1\r\n0.2\r\n0.8\r\n0.9\r\n",
    "quotes": b'"0.1"\n"0.2"\n"0.8"\n"0.9"\n',
    "a header": b"scores\n0.1\n0.2\n0.8\n0.9\n",
    "a header and a mark": b"\xef\xbb\xbfpredictions,x\r\n0.1,a\r\n0.2,b\r\n0.8,c\r\n0.9,d\r\n",
    "true and false": b"false\nfalse\ntrue\ntrue\n",
    "infinite": b"-inf\n0\n1\ninf\n",
}


@pytest.mark.parametrize("form", CSV)
@pytest.mark.parametrize("place", ["scores.CSV", "-"])
def test_no_row_of_a_csv_is_lost(form: str, place: str, run: Run, tmp_path: Path) -> None:
    np.save(tmp_path / "labels.npy", [0, 0, 1, 1])
    (tmp_path / "scores.CSV").write_bytes(CSV[form])
    arguments = ["compute", "ood_bench", "--predictions", place, "--references", "labels.npy"]
    code, output, errors = run(*arguments, stdin=CSV[form].decode())
    assert (code, without_position(errors)) == (0, "")
    assert json.loads(output)["auroc"] == 1.0


def test_columns_by_place(run: Run, tmp_path: Path) -> None:
    (tmp_path / "headless.csv").write_text("0.1,0.5,0\n0.6,0.5,0\n0.4,0.5,1\n0.9,0.5,1\n")
    (tmp_path / "years.csv").write_text("2024,2025\n0.1,0\n0.4,1\n")
    (tmp_path / "ones.csv").write_text("1,1\n0,0\n")  # values of the first line are also positions
    (tmp_path / "halves.csv").write_text("0.5,0\n0.6,1\n")
    (tmp_path / "zero.csv").write_text("0\n1\n1\n0\n")
    (tmp_path / "seven.csv").write_text("7,1\n6,0\n")  # 1 is a position and a value, but 0 only a position
    (tmp_path / "blanks.csv").write_text("score, label\n0.1, 0\n0.4, 1\n")
    (tmp_path / "tabs.tsv").write_text("score\tlabel\n0,1\t0\n0,4\t1\n")
    (tmp_path / "index.tsv").write_text("\n\tscore\tlabel\n0\t0.1\t0\n1\t0.4\t1\n")  # as pandas writes one
    (tmp_path / "lines.jsonl").write_text('{"score": 0.1, "label": 0}\n\n{"score": 0.4, "label": 1}\n')
    (tmp_path / "signs.csv").write_text("-score,label\n0.1,0\n0.4,1\n")
    np.save(tmp_path / "labels.npy", [0, 0, 1, 1])
    for arguments, expected in [
        (["--predictions", "headless.csv:1", "--references", "labels.npy"], 0.5),
        (["--predictions", "headless.csv:0", "--references", "zero.csv:0"], 0.5),  # as without a position
        (["--predictions", "years.csv:2024", "--references", "years.csv:2025"], 1.0),
        (["--predictions", "ones.csv:0", "--references", "ones.csv:1"], 1.0),
        (["--predictions", "halves.csv:0", "--references", "halves.csv:1"], 1.0),
        (["--predictions", "seven.csv:0", "--references", "seven.csv:1"], 1.0),
        (["--predictions", "blanks.csv:score", "--references", "blanks.csv:label"], 1.0),
        (["--predictions", "tabs.tsv:score", "--references", "tabs.tsv: label"], 1.0),
        (["--predictions", "index.tsv:score", "--references", "index.tsv:label"], 1.0),
        (["--predictions", "lines.jsonl:score", "--references", "lines.jsonl:label"], 1.0),
        (["--predictions", "lines.jsonl:-score", "--references", "lines.jsonl:+label"], 0.0),
        (["--predictions", "headless.csv:-0", "--references", "headless.csv:2"], 0.25),
        (["--predictions", "tabs.tsv:- score", "--references", "tabs.tsv:label"], 0.0),
        (["--predictions", "signs.csv:-score", "--references", "signs.csv:label"], 1.0),  # the column of that name
        (["--predictions", "signs.csv:--score", "--references", "signs.csv:label"], 0.0),
    ]:
        code, output, errors = run("compute", "ood_bench", *arguments)
        assert (code, without_position(errors)) == (0, "")
        assert json.loads(output)["auroc"] == expected


def test_a_confidence_needs_a_sign(run: Run, tmp_path: Path) -> None:
    """Where scores are higher for unknown samples; predictions of known classes have no direction."""
    label, conf = [0, 0, 0, 1, 1], np.asarray([250, 3, 200, 1, 0], np.uint8)  # whose negatives would wrap
    table: dict[str, Any] = {"conf": conf, "label": label, "class": [0, 0, -1, -1, -1], "scores": 1 / (1 + conf)}
    arrays: dict[str, Any] = {key: np.asarray(column) for key, column in table.items()}
    np.savez(tmp_path / "a.npz", **arrays)
    pq.write_table(pa.table(table), tmp_path / "a.parquet", row_group_size=2)
    pd.DataFrame(table).to_csv(tmp_path / "a.csv", index=False)
    calls = (
        "compute ood_bench --references {0}:label --predictions {0}:{1}conf",
        "compute openauc --predictions {0}:scores,conf --references {0}:class --open-scores {0}:{1}conf",
        "compare ood_bench --references {0}:label --first-predictions {0}:scores --second-predictions {0}:{1}conf",
        "threshold --tpr 0.5 --references {0}:label --predictions {0}:{1}conf",
        "compute ood_bench {0} --references=label --predictions={1}conf",
        "compare ood_bench {0} --references=label --first-predictions=scores --second-predictions={1}conf",
    )
    for call in calls:
        printed = set()
        for file in ("a.npz", "a.parquet", "a.csv"):
            code, output, errors = run(*call.format(file, "").split())
            assert (code, output) == (2, "")
            assert "expected scores that are higher for unknown samples, got conf, whose name" in errors
            for sign in "-+":
                code, output, errors = run(*call.format(file, sign).split())
                assert code == 0
                notes = [
                    line for line in errors.splitlines() if not re.search("references is label|Not used|rows of", line)
                ]
                ends = ("use --flip", "write FILE:-COLUMN", "name it -conf")
                assert not notes or (
                    sign == "+" and re.search(f"AUROC 0.000 is below 0.5; .*({'|'.join(ends)})", notes[0])
                )
                is_streamed = file == "a.parquet" and not call.startswith("compare")
                if not (is_streamed or call.startswith("threshold")):
                    assert len(notes) == (sign == "+") * ("openauc" not in call)
                without_type = re.sub('"scores": ".*?"', "", output)  # of which the file is
                printed.add((sign, without_type.replace(file, "")))
        assert len({sign for sign, _ in printed}) == len(printed) == 2
    assert json.loads(run(*calls[0].format("a.csv", "-").split())[1]) == {"auroc": 1.0, "fpr95tpr": 0.0}


@pytest.mark.parametrize(
    "names",
    [
        ["20231125123456789012", "20231125123456789013"],
        ["1231125123456789012", "1231125123456789013"],
        ["2023-11-25", "2023-11-26"],
        ["12:30", "12:31"],
        ["true", "false"],
        ["NA", "nan"],
        ["1", "null"],
        ["2023-11-25 10:00:00.5", "2023-11-25 10:00:00.25"],
    ],
)
def test_groups_that_look_like_numbers_or_times(names: list[str], run: Run, tmp_path: Path) -> None:
    """No two of them become one, and each keeps its name, also beside a blank."""
    first, second = names
    rows = f"0.1,0,{first}\n0.7,1,{first}\n0.3,0,{second}\n0.2,1,{second}\n0.5,0,"
    (tmp_path / "head.csv").write_text(f"score,label,g\n{rows}\n")
    (tmp_path / "headless.csv").write_text(f"0.1,0,0\n0.7,1,0\n{rows}\n")
    for file, columns in [("head.csv", ("score", "label", "g")), ("headless.csv", "012")]:
        places = (f"{file}:{column}" for column in columns)
        options = zip(("--predictions", "--references", "--groups"), places)
        code, output, errors = run("compute", "ood_bench", *[word for pair in options for word in pair])
        assert (code, errors) == (0, "")
        table = json.loads(output)["groups"]
        rates = dict(zip(table["group"], table["auroc"]))
        assert (rates.pop("0", 1.0), rates) == (1.0, {first: 1.0, second: 0.0})


def test_long_integers_beside_gaps_in_parquet(run: Run, tmp_path: Path) -> None:
    groups = [2**60, 2**60, 2**60 + 1, 2**60 + 1, None]
    pq.write_table(
        pa.table({"x": [0.1, 0.7, 0.3, 0.2, 0.5], "y": [0, 1, 0, 1, 0], "g": groups}), tmp_path / "x.parquet"
    )
    places = ["--predictions", "x.parquet:x", "--references", "x.parquet:y", "--groups", "x.parquet:g"]
    table = json.loads(run("compute", "ood_bench", *places)[1])["groups"]
    assert dict(zip(table["group"], table["auroc"])) == {str(2**60): 1.0, str(2**60 + 1): 0.0}


def test_npy_needs_no_arrow(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(3))
    python = """import sys
from pathlib import Path
from openworld_metrics.reading.tables.files import read_table
read_table(Path("x.npy"))
sys.exit("pyarrow" in sys.modules)"""
    assert subprocess.run([sys.executable, "-c", python], cwd=tmp_path, check=False).returncode == 0


def test_infinite_thresholds_are_words_in_json(run: Run, load: Load, tmp_path: Path) -> None:
    data = {"predictions": [0, 1, 1], "references": [-1, 1, 1], "open_scores": [0.5, 0.5, 0.5]}
    (tmp_path / "all.json").write_text(json.dumps(data))
    arguments = [part for name in data for part in (f"--{name.replace('_', '-')}", "all.json")]
    for given, word in (("inf", "Infinity"), ("inf,-inf", "Infinity"), ("-inf,-1", "-Infinity")):
        _, output, _ = run("compute", "micro_open_f", *arguments, "--option", f"t_list={given}", "--save", "out.json")
        results = json.loads(output, parse_constant=pytest.fail)
        saved = json.loads((tmp_path / "out.json").read_text(), parse_constant=pytest.fail)
        assert saved.pop("kinds")["micro_open_f"] == {"kind": "rate", "higher": True, "share": True}
        numbers = str([float(t) for t in given.split(",")])[1:-1].replace(" ", "")
        assert saved.pop("signature") == f"micro_open_f|t_list:{numbers.replace('.0', '')}|v{VERSION}"
        assert saved.pop("options").keys() == {"t_list"}
        assert saved == results
        assert results["micro_open_f_threshold"] == word
        t_list = [float(t) for t in given.split(",")]
        assert load("micro_open_f").compute(**data, t_list=t_list)["micro_open_f_threshold"] == float(word)


def test_saved_and_drawn(run: Run, load: Load, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    results = compute_openauc(run, save_npy(columns()), "--save", "out.json", "--plot", "out.png")
    saved = json.loads((tmp_path / "out.json").read_text())
    assert saved.pop("kinds").keys() == results.keys()
    assert (saved.pop("signature"), saved.pop("options")) == (f"openauc|v{VERSION}", {})
    assert saved == results == load("openauc").compute(**columns())
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")


def test_a_plot_has_intervals_in_a_pipe(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Answer] = []
    draws = importlib.import_module("openworld_metrics.command.compute")
    monkeypatch.setattr(draws, "draw_answer", lambda answer, path: drawn.append(answer))
    results = compute_openauc(run, save_npy(columns()), "--plot", "out.svg")
    [shown] = drawn
    certain = OpenAUC(confidence_level=0.95).compute(**columns())
    assert {key: shown.results[""][key] for key in certain} == certain
    assert [number.interval for number in shown.numbers[""] if number.key == "openauc"] == [
        (certain["openauc_low"], certain["openauc_high"])
    ]
    assert not [key for key in results if key.endswith("_low")]


def test_a_plot_of_groups_is_of_all_pooled(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    figures: list[Any] = []
    monkeypatch.setattr("openworld_metrics.faces.plot.save_figure", lambda figure, path: figures.append(figure))
    rng = np.random.default_rng(0)
    data = {"predictions": rng.random(60), "references": np.arange(60) % 2, "groups": np.arange(60) // 2 % 2}
    arguments = [part for name, place in save_npy(data).items() for part in (f"--{name}", place)]
    code, output, errors = run("compute", "ood_bench", *arguments, "--plot", "out.png")
    assert (code, errors, json.loads(output)["groups"]["group"]) == (0, "", ["0", "1"])
    *drawn, rates = figures[0].axes
    assert all("all sets pooled" in axes.get_title(loc="left").replace("\n", " ") for axes in drawn)
    assert rates.get_title(loc="left") == "mean of 2 sets"


def test_list_and_describe(run: Run) -> None:
    for arguments in ([], ["--help"]):
        assert run(*arguments)[:2] == run()[:2]
        assert re.search("compute +Compute a metric from files", run(*arguments)[1])
    code, output, _ = run("list")
    assert code == 0
    lines = output.splitlines()
    assert [line.split()[0] for line in lines if line[0] != " "] == list(openworld_metrics.METRICS)
    assert max(map(len, lines)) <= 80
    for name in openworld_metrics.METRICS:
        code, output, _ = run("describe", name)
        assert code == 0
        assert all(part in output for part in ("Args:", "Returns:", "Raises:", "Examples:", "Files:", "@"))
        prose, code_and_rest = output.split("\nExamples:\n")
        rest = code_and_rest[code_and_rest.index("\nFiles:") :]
        wide = [line for line in (prose + rest).splitlines() if len(line) > 80]
        assert [line for line in wide if not line.startswith("https://")] == []
        about = texts(script(name))
        whole = f"{about.summary}{about.description}{about.inputs.partition('Examples:')[0]}"
        assert "".join(prose.split()) == "".join(whole.split())


def test_a_near_name_is_suggested(run: Run) -> None:
    for command in ("compute", "compare", "describe"):
        code, output, errors = run(command, "oodbench")
        assert (code, output, errors.count("\n")) == (2, "", 1)
        assert errors.endswith("got 'oodbench'; did you mean 'ood_bench'?\n")
        assert "did you mean" not in run(command, "yak")[2]


@pytest.mark.parametrize("name", openworld_metrics.METRICS)
def test_without_a_file_there_is_an_example(name: str, run: Run) -> None:
    code, output, errors = run("compute", name)
    assert (code, output, errors.count("\n")) == (2, "", 1)
    assert f"openworld-metrics compute {name} --predictions predictions.npy --references" in errors
    assert ("table.csv" in errors) == (name not in ("anomaly_suite", "openset_detection"))


def test_a_saved_file_says_what_was_left_out(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("score,label\n0.1,0\n,1\n0.9,1\n0.4,0\nNaN,0\n")
    command = ("compute", "ood_bench", "a.csv", "--save", "a.json")
    assert run(*command)[0] == 2
    assert not (tmp_path / "a.json").exists()
    assert run(*command, "--leave-out")[0] == 0
    saved = json.loads((tmp_path / "a.json").read_text())
    left_out = saved["census"]["left_out"]
    assert saved["census"]["used"] == {"rows": 3, "files": 1, "columns": 2}
    assert [(each["kind"], each["number"], each["names"]) for each in left_out] == [("rows", 2, ["line 3", "line 6"])]
    (tmp_path / "a.csv").write_text("score,label\n0.1,0\n0.9,1\n")
    assert run(*command, "--leave-out")[0] == 0
    assert "census" not in json.loads((tmp_path / "a.json").read_text())


def test_means_over_groups_are_called_so(run: Run) -> None:
    """Where two models stand beside each other, and no group has a row."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.normal(size=90).round(3) for name in ("knn", "energy")})
    frame.assign(is_ood=[0, 1] * 45, ood_set=["", "a", "", "b", "", "c"] * 15).to_csv("x.csv", index=False)
    _, several, _ = run("compute", "ood_bench", "x.csv", "--format", "text")
    assert several.startswith("ood_bench  90 samples, mean of 3 sets\n")
    _, compared, notes = run("compare", "ood_bench", "x.csv", "--n-resamples", "20", "--format", "text")
    assert compared.splitlines()[-1] == "mean of 3 sets; 20 paired resamples"
    assert "note: predictions is knn and energy; references is is_ood; groups is ood_set" in notes


def test_a_table_and_a_progress_bar_on_a_terminal(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = {"predictions": rng.random(20000), "references": rng.integers(0, 2, 20000)}
    pq.write_table(pa.table(table), tmp_path / "large.parquet")
    arguments = ["compute", "ood_bench", "--predictions", "large.parquet", "--references", "large.parquet"]
    printed = on_terminal(arguments, tmp_path)
    assert re.search(r"0%.*\r +\r", printed, re.DOTALL)  # the bar went when it was done
    assert "0.00/20.0k" in printed
    assert "20.0k/20.0k" in printed
    assert "100%" in printed
    results = openworld_metrics.load("ood_bench").compute(**table)
    lines = [line.split() for line in re.sub(r"\x1b\[\d*m", "", printed).splitlines()]
    assert [line[:2] for line in lines if line[:1] in (["auroc"], ["fpr95tpr"])] == [
        [key, f"{value:.3f}"] for key, value in results.items()
    ]
    code, output, errors = run(*arguments)
    assert (code, json.loads(output), errors) == (0, results, "")


def test_resamples_without_a_level_are_idle(run: Run, tmp_path: Path) -> None:
    np.save("scores.npy", [0.1, 0.4, 0.3, 0.9])
    np.save("labels.npy", [0, 0, 1, 1])
    columns = ["compute", "ood_bench", "--predictions", "scores.npy", "--references", "labels.npy"]
    flags = ["--random-state", "5", "--n-resamples", "30"]
    said = "".join(f"openworld-metrics: warning: {name} changes none of the results\n" for name in sorted(flags[::2]))
    assert run(*columns, *flags)[2] == said
    assert run(*columns, *flags, "--confidence-level", "0.9")[2] == ""
    assert "warning" not in on_terminal([*columns, *flags], tmp_path)


MEANT: dict[str, tuple[Any, Any, Any, dict[str, Any]]] = {  # labels of known, unknown and ignored samples, and options
    "numbers": (1, 0, 255, {"in_value": 1, "out_value": 0}),
    "known alone": (7, 3, 255, {"in_value": 7, "out_value": "rest"}),
    "unknown alone": (4, -1, 255, {"in_value": "rest", "out_value": -1}),
    "words": ("bonafide", "spoof", "unsure", {"in_value": "bonafide", "out_value": "spoof"}),
    "words that say the opposite": ("ood", "id", "unsure", {"in_value": "ood", "out_value": "id"}),
    "a word alone": ("up", "down", "unsure", {"in_value": "rest", "out_value": "down"}),
}


@pytest.mark.parametrize("known_set", ["", "train"])
@pytest.mark.parametrize("meant", MEANT)
def test_labels_of_another_meaning_beside_groups(
    meant: str, known_set: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Give what labels of 0 and 1 give, by the command, its report and a page: known samples are of every group."""
    monkeypatch.chdir(tmp_path)
    known, unknown, ignored, options = MEANT[meant]
    rng = np.random.default_rng(0)
    sides = rng.permutation(np.arange(60) % 3)
    sets = np.where(sides == 0, known_set, np.where(rng.random(60) < 0.5, "a", "b"))
    table = pd.DataFrame({"score": rng.random(60).round(2), "label": sides, "group": sets})
    other = table.assign(label=[(known, unknown, ignored)[side] for side in sides])
    results, pages = [], []
    for name, frame, chosen in (
        ("usual", table, {"ignore_value": 2}),
        ("other", other, {**options, "ignore_value": ignored}),
    ):
        path = tmp_path / f"{name}.csv"
        frame.to_csv(path, index=False)
        flags = [part for key, value in chosen.items() for part in ("--option", f"{key}={value}")]
        command = ["compute", "ood_bench", path, "--groups", "group", *flags]
        code, output, errors = run(*command, "--report", tmp_path / name, "--n-resamples", "20")
        assert code == 0, errors
        results.append(json.loads(output))
        assert ("samples of train are known, and belong to every group" in errors) == bool(known_set)
        request = worker.Request("ood_bench", [{"": [str(path)]}], wishes={"groups": ["group"]}, options=chosen)
        (answer,) = worker.compute(request, False).values()
        pages.append((answer.numbers, answer.side_by_side, answer.decisions, answer.figures))
        python: dict[str, Any] = {}
        exec(answer.call, python)
        assert python["results"] == answer.results[answer.model]
    assert results[0] == results[1]
    assert {*results[0]["groups"]["group"]} == {"a", "b"}
    assert pages[0] == pages[1]


def test_samples_of_all_categories_are_counted(run: Run, tmp_path: Path) -> None:
    write_tree("mvtec-ad", tmp_path)
    files = [str(tmp_path / "maps"), str(tmp_path / "data")]
    _, output, _ = run("compute", "anomaly_suite", *files, "--levels", "image", "--format", "text")
    assert output.startswith("anomaly_suite  18 samples\n")
