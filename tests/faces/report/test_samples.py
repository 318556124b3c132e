"""The page of samples whose scores are most misleading, and the command that writes it."""

from __future__ import annotations

import base64
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from openworld_metrics import METRICS, OODBench, OpenAUC
from openworld_metrics.faces.report import write_error_report
from openworld_metrics.faces.report.pictures import list_images
from openworld_metrics.loading import metric_class
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


def shown(text: str) -> list[tuple[int, str]]:
    """The samples of a page with images, in its order, each with its caption; the image is that of the sample."""
    found = []
    for source, caption in re.findall(
        r'<button [^>]*class="tile".*?<img .*?src="(.*?)".*?</span>(.*?)</button>', text, re.S
    ):
        assert source.startswith("data:image/jpeg;base64,")
        with Image.open(io.BytesIO(base64.b64decode(source.partition(",")[2]))) as picture:
            [sample] = [int(part) for part in re.findall(r"sample (\d)", caption)]
            assert max(picture.size) == 256
            assert np.abs(np.subtract(picture.getpixel((20, 20)), COLORS[sample])).max() < 6
        found.append((sample, caption))
    return found


def test_the_most_misleading_samples_come_first(tmp_path: Path) -> None:
    results = OODBench(per_sample=True, threshold=0.4, metrics=["auroc", "tpr"]).compute(
        predictions=SCORES, references=LABELS
    )
    text = write_error_report(results, tmp_path / "r", images=paths(tmp_path), about="<script>").read_text("utf-8")
    samples = shown(text)
    assert [sample for sample, _ in samples] == [1, 2, 0, 4, 5, 3]
    assert "<b>0&amp;.png</b>" in samples[2][1]
    assert "<small>known, called unknown</small><small>sample 1, score 0.7</small>" in samples[0][1]
    assert "<small>unknown, called known</small><small>sample 4, score 0.2</small>" in samples[3][1]
    assert text.count("<script>") == 1  # the frame's own
    assert "<span>&lt;script&gt;</span>" in text
    assert "://" not in text
    assert not re.search(r'(src|href)="(?!data:|#)', text)
    assert re.findall(r"<p class=.lead.>(\d of \d .*?)</p>", text) == [
        "1 of 3 are called unknown. Here are the 3 with the highest scores.",
        "1 of 3 are called known. Here are the 3 with the lowest scores.",
    ]
    assert re.findall(r"(\d+)<small>(\d+ %)</small>", text) == [
        ("1", "33 %"),
        ("2", "67 %"),
        ("2", "67 %"),
        ("1", "33 %"),
    ]
    assert "<h3>ROC, area 0.667</h3>" in text
    assert '<p class="lead">A sample is called unknown if score &gt; 0.3.</p>' in text  # 0.3 is not, 0.6 is
    rates = text.partition(">rate</th>")[2].partition("</table>")[0]
    assert re.findall(r'<th scope="row">(\w+)</th><td[^>]*>([\d.]+)<', rates) == [("FPR", "0.333"), ("TPR", "0.667")]
    few = write_error_report(results, tmp_path / "r", images=paths(tmp_path), count=1).read_text("utf-8")
    assert [sample for sample, _ in shown(few)] == [1, 4]


def test_samples_that_are_left_out_keep_their_images(tmp_path: Path) -> None:
    metric = OODBench(per_sample=True, ignore_value=7)
    results = metric.compute(predictions=SCORES, references=[7, 0, 0, 1, 7, 1])
    text = write_error_report(results, tmp_path / "r", images=paths(tmp_path)).read_text("utf-8")
    assert [sample for sample, _ in shown(text)] == [1, 2, 5, 3]


@pytest.mark.parametrize("name", ["openauc", "macro_open_f", "micro_open_f", "ood_bench"])
def test_without_images(name: str, tmp_path: Path) -> None:
    columns, options = cases.draw(name, 4)
    results = metric_class(name)(**options, per_sample=True).compute(**columns)
    text = write_error_report(results, tmp_path / "r").read_text("utf-8")
    assert text.count("<svg") == 2
    assert "<img" not in text
    assert ("true_<wbr>class</th>" in text) == name.endswith("_f")
    table = results["per_sample"]
    for side, sign in (("known", -1), ("unknown", 1)):
        own = [(sign * score, i) for i, (score, s) in enumerate(zip(table["score"], table["reference"])) if s == side]
        rows = [table["sample"][i] for _, i in sorted(own)[:24]]
        part = text.partition(f"<h2>{side.capitalize()} samples")[2].partition("<h2>")[0]
        assert [int(sample) for sample in re.findall(r"<tr><th scope=.row.>(\d+)</th>", part)] == rows


def test_infinite_scores_and_no_sample_that_is_called_unknown(tmp_path: Path) -> None:
    columns = {"predictions": [-np.inf, 0.5, np.inf, 0.5], "references": [0, 0, 1, 1]}
    results = OODBench(per_sample=True, threshold=np.inf).compute(**columns)
    text = write_error_report(results, tmp_path).read_text("utf-8")
    assert "score &gt; ∞. No sample is called unknown.</p>" in text
    assert ">−inf</td>" in text
    results = OODBench(per_sample=True, threshold=1).compute(**columns)
    assert "called unknown if score &gt; 1." in write_error_report(results, tmp_path).read_text("utf-8")
    results = OODBench(per_sample=True, threshold=-np.inf).compute(predictions=SCORES, references=LABELS)
    assert "called unknown if score &gt; −∞." in write_error_report(results, tmp_path).read_text("utf-8")


@pytest.mark.parametrize("name", ["openauc", "macro_open_f", "micro_open_f", "ood_bench"])
@pytest.mark.parametrize("seed", range(5))
def test_the_threshold_decides_as_the_table_does(name: str, seed: int, tmp_path: Path) -> None:
    columns, options = cases.draw(name, seed)
    results = metric_class(name)(**options, per_sample=True).compute(**columns)
    text = write_error_report(results, tmp_path / "r").read_text("utf-8")
    [said] = re.findall(r'<p class="lead">A sample is called unknown if score &gt; (.*?)\.(?: No .*)?</p>\n<div', text)
    shown = said.replace("−", "-").replace("∞", "inf")
    table = results["per_sample"]
    called = [score > float(shown) for score in table["score"]]
    assert called == [decision == "unknown" for decision in table["decision"]]
    cards = text.partition('aria-label="Headline"')[2].partition("</section>")[0]
    for key, at in re.findall(r"<h2>(\S+) [^§]*?score &gt; (.*?)</p>", cards.replace("<h2>", "§<h2>")):
        shown = at.replace("−", "-").replace("∞", "inf")
        scores = np.asarray(table["score"])
        assert ((scores > float(shown)) == (scores > results[f"{key}_threshold"])).all()


def test_cards_say_what_a_number_means(tmp_path: Path) -> None:
    metric = OODBench(per_sample=True, thresholds=True, metrics=["auroc", "fpr95tpr"])
    results = metric.compute(predictions=SCORES, references=LABELS)
    text = write_error_report(results, tmp_path, note="95 % intervals <").read_text("utf-8")
    assert re.findall('<p class="plain">(.*?)</p>', text) == [
        "chance that an unknown sample scores above a known one, ties counting half",
        "of the known samples are called unknown where 95 % of the unknown ones are; at score &gt; 0.1",
    ]
    assert '<p class="small quiet whole">95 % intervals &lt;</p>' in text


def test_results_without_the_table_are_refused(tmp_path: Path) -> None:
    results = OpenAUC().compute(predictions=[0, 1], references=[0, -1], open_scores=[0.1, 0.2])
    with pytest.raises(
        ValueError, match=r"^results: expected a table per_sample, got none; give .* per_sample=True, and no groups$"
    ):
        write_error_report(results, tmp_path / "r")
    assert not (tmp_path / "r").exists()


def test_images_of_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    expected = paths(Path())
    assert sorted(list_images("images", 6)) == sorted(expected)
    Path("list.txt").write_text("\n".join(map(str, expected)) + "\n")
    assert list_images("list.txt", 6) == expected
    Path("images/list.csv").write_text("n,path\n" + "\n".join(f"{i},{i}.png" for i in range(3)))
    assert list_images("images/list.csv:path", 3) == [Path("images") / f"{i}.png" for i in range(3)]
    with pytest.raises(ValueError, match=r"^list.txt: expected an image for each of 7 samples, got 6 images$"):
        list_images("list.txt", 7)
    with pytest.raises(ValueError, match=r"^images/list.csv:n: expected paths of images, got 0$"):
        list_images("images/list.csv:n", 3)
    with pytest.raises(ValueError, match=r"^none.txt: No such file or directory$"):
        list_images("none.txt", 3)


def test_the_command(run: Run, tmp_path: Path) -> None:
    code, output, errors = run(*OPENAUC, "--report", "r", "--images", "images", "--save", "saved.json")
    assert (code, errors) == (0, "")
    assert [sample for sample, _ in shown(Path("r/index.html").read_text("utf-8"))] == [1, 2, 0, 4, 5, 3]
    results = json.loads(output)
    assert "per_sample" not in results
    assert json.loads(Path("saved.json").read_text()).items() > results.items()
    plain = json.loads(run(*OPENAUC)[1])
    assert {key: results[key] for key in plain} == plain
    text = Path("r/index.html").read_text("utf-8")
    assert "<h1>Errors, openauc</h1>" in text
    head = text.partition('aria-label="Headline"')[2].partition("</section>")[0]
    assert 'class="ci"' not in head
    assert "no intervals, with fewer than 10 samples of a kind" in head
    for name in "pys":
        Path(f"{name}4.json").write_text(json.dumps(4 * json.loads(Path(f"{name}.json").read_text())))
    code, *_ = run(*(argument.replace(".json", "4.json") for argument in OPENAUC), "--report", "r4")
    head = Path("r4/index.html").read_text("utf-8").partition('aria-label="Headline"')[2].partition("</section>")[0]
    assert head.count('class="ci"') == head.count('class="big"') > 0  # intervals come by themselves
    assert "95 % intervals: 1,000 resamples" in head
    assert not any(key.endswith("_low") for key in results)
    assert "predictions: p.json, references: y.json, open_scores: s.json" in text
    code, output, _ = run(*OOD, "--report", "r", "--option", "per_sample=true")
    assert len(json.loads(output)["per_sample"]["sample"]) == 6
    assert "<img" not in Path("r/index.html").read_text("utf-8")


def test_what_the_command_refuses(run: Run, tmp_path: Path) -> None:
    Path("broken.txt").write_text("s.json\n" * 6)
    Path("few.txt").write_text("s.json\n")
    file: Any = "images/0&.png"
    for arguments, reason in (
        (
            [*OOD, "--report", "r", "--groups", "y.json"],
            "expected --report or --groups, got both: a page shows one group",
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
    assert (code, "s.json: " in errors, errors.count("\n")) == (2, True, 1)
    assert not Path("r/index.html").exists()


@pytest.mark.parametrize("name", METRICS)
def test_the_metric_says_whether_it_has_a_report(name: str, run: Run) -> None:
    code, _, errors = run("compute", name, "--predictions", "p.json", "--references", "y.json", "--report", "r")
    able = "macro_open_f, micro_open_f, openauc, ood_bench"
    expected = f"--report: expected a metric that judges single samples ({able}), got {name}"
    assert code == 2 or name == "ood_bench"
    assert (expected in errors) == (name not in able)
    own = {"anomaly_suite": "anomaly", "openset_detection": "detect"}
    named = re.findall(r"; openworld-metrics (\w+) --report writes one from files", errors)
    assert named == ([own[name]] if name in own else [])
