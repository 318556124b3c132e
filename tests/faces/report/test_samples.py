"""The page of samples whose scores are most misleading, and the command that writes it."""

from __future__ import annotations

import base64
import html
import io
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from openworld_metrics import METRICS
from openworld_metrics.answers.answer import Answer
from openworld_metrics.answers.answers import answers_of
from openworld_metrics.answers.subject import subject_of
from openworld_metrics.faces.report.answer import report_html, with_outcomes
from openworld_metrics.faces.report.pictures import list_images
from openworld_metrics.loading import metric_class, task_of
from openworld_metrics.metric.groups import GROUPS
from openworld_metrics.reading.reading import Reading
from openworld_metrics.reading.tables.files import Table
from openworld_metrics.written.results import read_results
from tests import cases
from tests.conftest import Run

COLORS = [(16 * i, 255 - 16 * i, 128) for i in range(6)]
SCORES, LABELS = [0.1, 0.7, 0.3, 0.9, 0.2, 0.6], [0, 0, 0, 1, 1, 1]
OPENAUC = ["compute", "openauc", "--predictions", "p.json", "--references", "y.json", "--open-scores", "s.json"]
OOD = ["compute", "ood_bench", "--predictions", "s.json", "--references", "labels.json"]


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    (tmp_path / "images" / "<b>").mkdir(parents=True)
    for i, color in enumerate(COLORS):
        name = f"<b>/{i}.png" if i else "0&.png"
        Image.new("RGB", (400, 100 + i), color).save(tmp_path / "images" / name)
    columns = {"s": SCORES, "labels": LABELS, "p": [0, 1, 1, 0, 0, 0], "y": [0, 0, 1, -1, -1, -1]}
    for name, column in columns.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(column))


def paths(folder: Path) -> list[Path]:
    return [folder / "images" / (f"<b>/{i}.png" if i else "0&.png") for i in range(6)]


def answer_of(name: str, columns: dict[str, Any], **options: Any) -> Answer:
    return answers_of(name, Reading(name, {"": columns}), options, intervals=False)[""]


def page_of(answer: Answer, images: Sequence[Path] = ()) -> str:
    return report_html(with_outcomes(answer, images))


def shown(text: str) -> list[tuple[int, str]]:
    """The samples of a page with images, in its order, each with its caption; the image is that of the sample."""
    found = []
    for source, caption in re.findall(
        r'<button [^>]*class="tile".*?<img .*?src="(.*?)".*?</span></span>(.*?)</button>', text, re.S
    ):
        assert source.startswith("data:image/jpeg;base64,")
        with Image.open(io.BytesIO(base64.b64decode(source.partition(",")[2]))) as picture:
            [sample] = [int(part) - 1 for part in re.findall(r"row (\d)", caption)]
            assert max(picture.size) == 256
            assert np.abs(np.subtract(picture.getpixel((20, 20)), COLORS[sample])).max() < 6
        found.append((sample, caption))
    return found


def test_the_most_misleading_samples_come_first(tmp_path: Path) -> None:
    answer = answer_of("ood_bench", {"predictions": SCORES, "references": LABELS}, threshold=0.4)
    answer = replace(answer, data="<script>")
    text = page_of(answer, paths(tmp_path))
    samples = shown(text)
    assert [sample for sample, _ in samples] == [1, 2, 0, 4, 5, 3]
    assert "<b>0&amp;.png</b>" in samples[2][1]
    assert "<small>called OOD</small><small>row 2, score 0.700, higher than 0.667 of OOD</small>" in samples[0][1]
    assert "<small>called in-distribution</small><small>row 5, score 0.200, lower than" in samples[3][1]
    assert text.count("<script>") == 1  # the frame's own
    assert "<span>&lt;script&gt;</span>" in text
    assert "://" not in text
    assert not re.search(r'(src|href)="(?!data:|#)', text)
    assert re.findall(r"<p class=.lead.>(\d of \d .*?)</p>", text) == [
        "1 of 3 are called OOD. Here are the 3 with the highest scores.",
        "1 of 3 are called in-distribution. Here are the 3 with the lowest scores.",
    ]
    decided = re.findall(r"<span>(called \S+) (\d+)</span>", text)
    assert decided == [(f"called {side}", count) for side, count in zip(2 * ("OOD", "in-distribution"), "2112")]
    assert '<p class="lead">OOD if score &gt; 0.4.</p>' in text
    rates = re.search(r'<th scope="row">chosen threshold</th>(.*?)</tr>', text)
    assert rates is not None
    assert re.findall(r">([\d.]+)<", rates[1])[:3] == ["0.4", "0.667", "0.333"]


def test_samples_that_are_left_out_keep_their_images(tmp_path: Path) -> None:
    columns = {"predictions": SCORES, "references": [7, 0, 0, 1, 7, 1]}
    text = page_of(answer_of("ood_bench", columns, ignore_value=7), paths(tmp_path))
    assert [sample for sample, _ in shown(text)] == [1, 2, 5, 3]


@pytest.mark.parametrize("name", ["openauc", "macro_open_f", "micro_open_f", "ood_bench"])
@pytest.mark.parametrize("seed", range(5))
def test_the_outcomes_are_those_of_the_metric(name: str, seed: int) -> None:
    """At a common threshold; the worst samples are those of its table, in the order of the scores."""
    columns, options = cases.draw(name, seed)
    columns.pop(GROUPS, None)
    answer = answer_of(name, columns, **options)
    judged, decisions = with_outcomes(answer).worst, answer.decisions
    results = metric_class(name)(**options, per_sample=True).compute(**columns)
    table = results["per_sample"]
    assert decisions is not None
    at = float(decisions.thresholds[next(iter(decisions.presets.values()))])
    for worst, sign in zip(judged, (-1, 1)):
        side = worst.role
        assert (side, sign) in (("known", -1), ("unknown", 1))
        own = [(sign * score, i) for i, (score, s) in enumerate(zip(table["score"], table["reference"])) if s == side]
        assert list(worst.rows) == [table["sample"][i] for _, i in sorted(own)[:20]]
        assert worst.columns["row"] == [row + 1 for row in worst.rows]
        assert worst.columns["score"] == [sign * score for score, _ in sorted(own)[:20]]
        calls = list(next(iter(decisions.table.values())))
        assert worst.columns["outcome"] == [calls[sign * score <= at] for score, _ in sorted(own)[:20]]
        wrong = sum((sign * score > at) == (side == "known") for score, _ in own)
        assert worst.note.startswith(f"{wrong:,} of {len(own):,} are {calls[side == 'unknown']}. Here ")


@pytest.mark.parametrize("name", ["openauc", "macro_open_f", "micro_open_f", "ood_bench"])
def test_without_images(name: str) -> None:
    columns, options = cases.draw(name, 4)
    answer = answer_of(name, columns, **options)
    text = page_of(answer)
    assert text.count("<svg") == len(answer.figures) > 1
    assert "<img" not in text
    assert ("predicted </th>" in text) == name.endswith("_f")
    for worst in answer.worst:
        part = text.partition(f"<h2>{worst.title}")[2].partition("<h2>")[0]
        rows = re.findall(r"<tr><th scope=.row.>([\d,]+)</th>", part)
        assert [int(row.replace(",", "")) - 1 for row in rows] == list(worst.rows)


def test_infinite_scores_and_no_sample_that_is_called_unknown() -> None:
    columns = {"predictions": [-np.inf, 0.5, np.inf, 0.5], "references": [0, 0, 1, 1]}
    text = page_of(answer_of("ood_bench", columns, threshold=np.inf))
    assert "OOD if score &gt; ∞.</p>" in text
    assert "0 of 2 are called OOD." in text
    assert ">−∞</td>" in text
    assert "OOD if score &gt; 1.0." in page_of(answer_of("ood_bench", columns, threshold=1.0))
    columns = {"predictions": SCORES, "references": LABELS}
    assert "OOD if score &gt; −∞." in page_of(answer_of("ood_bench", columns, threshold=-np.inf))


def test_cards_say_what_a_number_means() -> None:
    columns = {"predictions": SCORES, "references": LABELS}
    answer = replace(answer_of("ood_bench", columns, metrics=["auroc", "fpr95tpr"]), notes=["95 % intervals <"])
    text = page_of(answer)
    said = re.findall('<dd class="quiet small note">(.*?)</dd>', text)
    assert [re.sub("<.*?>|(?<= ) ", "", words).strip() for words in said] == [
        "chance that an OOD sample scores above an in-distribution one, ties counting half",
        "of the in-distribution samples are called OOD where 95 % of the OOD ones are (score &gt; 0.11)",
    ]
    assert '<p class="small quiet">95 % intervals &lt;</p>' in text


def test_images_of_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    expected = paths(Path())
    assert sorted(list_images("images", 6)[0]) == sorted(expected)
    Path("list.txt").write_text("\n".join(map(str, expected)) + "\n")
    note = "images of list.txt are matched with rows in the order of the list, since no column names them"
    assert list_images("list.txt", 6) == (expected, note)
    Path("images/list.csv").write_text("n,path\n" + "\n".join(f"{i},{i}.png" for i in range(3)))
    assert list_images("images/list.csv:path", 3)[0] == [Path("images") / f"{i}.png" for i in range(3)]
    with pytest.raises(ValueError, match=r"^list.txt: expected an image for each of 7 samples, got 6 images$"):
        list_images("list.txt", 7)
    with pytest.raises(ValueError, match=r"^images/list.csv:n: expected paths of images, got 0$"):
        list_images("images/list.csv:n", 3)
    with pytest.raises(ValueError, match=r"^none.txt: No such file or directory$"):
        list_images("none.txt", 3)


def test_images_by_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The image that a row names, in any order of the files, or its path in a table that a key joins."""
    monkeypatch.chdir(tmp_path)
    names = ["<b>/5.png", "3", "images/<b>/1.jpg", "0&.png", "3.png", "4"]
    expected = [Path("images") / (f"<b>/{i}.png" if i else "0&.png") for i in (5, 3, 1, 0, 3, 4)]
    rows = Table({"score": np.arange(6) / 8, "image": np.asarray(names)})
    assert list_images("images", 6, rows) == (expected, "images are found by image")
    assert list_images("images", 6)[0] == [*sorted(Path("images").rglob("*.png"))]
    Path("list.txt").write_text("\n".join(f"images/<b>/{i}.png" for i in (4, 1, 5, 3)) + "\nimages/0&.png\n")
    assert list_images("list.txt", 6, rows) == (expected, "images are found by image")
    ids = np.asarray([30, 10, 20])
    Path("images.csv").write_text("id,path\n10,a.png\n20,b.png\n30,c.png\n")
    by_id = [Path("c.png"), Path("a.png"), Path("b.png")]
    assert list_images("images.csv:path", 3, Table({"id": ids})) == (by_id, "rows joined by id, to find their images")
    assert list_images("images.csv:path", 3, Table({"score": ids / 8}))[0] == [Path(f"{name}.png") for name in "abc"]
    for table, message in (
        (
            Table({"id": ids + 1}),
            r"images.csv: expected in id the 3 names of id in the rows, got no 31",
        ),
        (
            Table({"name": np.asarray(["a", "b", "x"])}),
            r"an image for each name in name, got none of 'x' \(2 of 3 rows",
        ),
        (
            Table({"name": np.asarray(["u", "v", "x"])}),
            r"got none of 'u' \(0 of 3 rows have one\); .* by_position=True",
        ),
        (Table({"word": np.asarray(["a", "b", "x"])}), r"got none of 'x'"),
    ):
        with pytest.raises(ValueError, match=message):
            list_images("images.csv:path", 3, table)
    other = Table({"word": np.asarray(["u", "v", "w"])})
    assert "order of the list, since no column names them" in list_images("images.csv:path", 3, other)[1]


def test_the_command(run: Run, tmp_path: Path) -> None:
    code, output, errors = run(*OPENAUC, "--report", "r", "--images", "images", "--save", "saved.json")
    note = "images of images are matched with rows in the order of their names, since no column names them"
    assert (code, errors) == (0, f"openworld-metrics: note: {note}\n")
    assert [sample for sample, _ in shown(Path("r/index.html").read_text("utf-8"))] == [1, 2, 0, 4, 5, 3]
    assert run(*OPENAUC, "--save", "plain.json")[1] == output  # a report changes no result
    assert Path("plain.json").read_bytes() == Path("saved.json").read_bytes()
    results = json.loads(output)
    assert json.loads(Path("saved.json").read_text()).items() > results.items()
    text = Path("r/index.html").read_text("utf-8")
    assert "<h1>openauc</h1>" in text
    head = text.partition('aria-label="Headline numbers"')[2].partition("<section id=")[0]
    assert 'class="ends"' not in head
    assert "No intervals: there are fewer than 10 samples of a kind." in head
    for name in "pys":
        Path(f"{name}4.json").write_text(json.dumps(4 * json.loads(Path(f"{name}.json").read_text())))
    code, *_ = run(*(argument.replace(".json", "4.json") for argument in OPENAUC), "--report", "r4")
    sure = Path("r4/index.html").read_text("utf-8")
    head = sure.partition('aria-label="Headline numbers"')[2].partition("<section id=")[0]
    assert head.count('class="ends"') == head.count('class="large"') > 0  # intervals come by themselves
    assert "95 % intervals: 1,000 resamples" in head
    assert not any(key.endswith("_low") for key in results)
    assert "predictions: p.json, references: y.json, open_scores: s.json" in text
    code, output, _ = run(*OOD, "--report", "r", "--option", "per_sample=true")
    assert len(json.loads(output)["per_sample"]["sample"]) == 6
    assert "<img" not in Path("r/index.html").read_text("utf-8")


@pytest.mark.parametrize("name", METRICS)
def test_the_report_has_the_numbers_that_are_printed(name: str, run: Run) -> None:
    """Of every metric, with its options, from JSON and from Parquet files, which are read in batches."""
    data, options = cases.draw(name, 7)
    lists = {key: cases.as_lists(column) for key, column in data.items()}
    Path("all.json").write_text(json.dumps(lists))
    pq.write_table(pa.table(lists), "all.parquet")
    numbers = answer_of(name, data, **options).numbers[""]
    for file in ("all.json", "all.parquet"):
        arguments = [part for key in data for part in (f"--{key.replace('_', '-')}", file)]
        for key, value in options.items():
            arguments += ["--option", f"{key}={list(value) if isinstance(value, (list, tuple)) else value}"]
        code, output, errors = run("compute", name, *arguments, "--report", "r")
        assert (code, errors) == (0, "")
        Path("out.json").write_text(output)
        results, text = read_results("out.json"), Path("r/index.html").read_text("utf-8")
        part = html.unescape(text).partition("All numbers, six digits")[2].replace("<wbr>", "")
        for each in numbers:
            assert results.get(each.key, each.value) == pytest.approx(each.value, nan_ok=True)
            assert f"{each.key}</th>" in part


def test_the_report_of_groups(run: Run, tmp_path: Path) -> None:
    rows = [
        f"{score},{label},{group}" for score, label, group in zip(SCORES, LABELS, ["", "", "", "near", "far", "far"])
    ]
    Path("g.csv").write_text("\n".join(["score,label,group", *rows]))
    code, output, _ = run("compute", "ood_bench", "g.csv", "--report", "r", "--images", "images")
    assert code == 0
    results, text = json.loads(output), Path("r/index.html").read_text("utf-8")
    assert results["groups"]["group"] == ["far", "near"]
    assert "mean of 2 sets" in text
    assert "All sets pooled." in text or "all sets pooled" in text
    assert [sample for sample, _ in shown(text)] == [1, 2, 0, 4, 5, 3]


def test_scores_of_logits(run: Run, tmp_path: Path) -> None:
    logits = [[2.0, 0.1], [0.3, 0.2], [1.0, 3.0], [0.2, 0.1], [1.0, 0.5], [4.0, 1.0]]
    Path("p.json").write_text(json.dumps(logits))
    code, output, _ = run(*OPENAUC[:-1], "msp", "--report", "r")
    assert code == 0
    text = Path("r/index.html").read_text("utf-8")
    shown = re.findall(r'class="large"[^>]*>([\d.]+)<?', text)
    assert shown == [f"{value:.3f}" for value in json.loads(output).values()][:3]


def test_what_the_command_refuses(run: Run, tmp_path: Path) -> None:
    Path("broken.txt").write_text("s.json\n" * 6)
    Path("few.txt").write_text("s.json\n")
    file: Any = "images/0&.png"
    for arguments, reason in (
        (
            [*OOD, "--report", "r", "--images", "images", "--counts", "y.json"],
            "expected --images or --counts, got both: an image is of one sample",
        ),
        ([*OOD, "--images", "images"], "expected --report with --images, got none"),
        (
            [*OOD, "--report", "images/r", "--images", "images"],
            "expected a report outside of images, which is an input",
        ),
        (
            [*OOD, "--report", "r", "--images", "few.txt"],
            "few.txt: expected an image for each of 6 samples, got 1 images",
        ),
        ([*OOD, "--report", f"{file}/r"], "Not a directory"),
    ):
        code, output, errors = run(*arguments)
        assert (code, output, errors.count("\n")) == (2, "", 1)
        assert reason in errors
    code, _, errors = run(*OOD, "--report", "r", "--images", "broken.txt")
    assert (code, "openworld-metrics: s.json: " in errors, errors.count("\n")) == (2, True, 2)
    assert "note: images of broken.txt are matched with rows in the order of the list" in errors
    assert not Path("r/index.html").exists()


@pytest.mark.parametrize("name", METRICS)
def test_images_are_of_samples(name: str, run: Run) -> None:
    arguments = ("--predictions", "p.json", "--references", "y.json", "--report", "r", "--images", "images")
    code, _, errors = run("compute", name, *arguments)
    able = [metric for metric in METRICS if task_of(metric) not in ("anomaly", "detection")]  # whose rows are images
    expected = f"--images: expected a metric that judges single samples ({', '.join(able)}), got {name}"
    assert code == 2 or task_of(name) in ("classification", "ood")  # which need no other columns
    assert (expected in errors) == subject_of(name).images_are_rows == (name not in able), f"{name}: {errors}"
