"""An answer as it is taken away, parsed back: each format has its own escapes, keeps names, digits and the decision."""

from __future__ import annotations

import ast
import csv
import io
import json
import math
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from html import escape
from pathlib import Path
from typing import Any

import pytest

from openworld_metrics.answers.answer import Answer
from openworld_metrics.answers.answers import answers_of
from openworld_metrics.answers.decisions import first_place, number_at
from openworld_metrics.answers.saved import saved_answers
from openworld_metrics.answers.subject import subject_of
from openworld_metrics.faces import html
from openworld_metrics.faces.copies import FORMS, paper, record_of, table_of
from openworld_metrics.faces.page.view import COPIED
from openworld_metrics.loading import METRICS, script
from openworld_metrics.reading.read import read

from .sample import sample

# signs that formats read as their own
ODD = "95 % & 1_2 #3 $4 {5} ~ ^ \\ <a> | \"q\" 'p' [x] *b* `c` =1+1, −3 – é\nimport os\r# \x85"


def answers(metric: str) -> list[Answer]:
    return [*saved_answers(script(metric).parent / "examples" / "answers.json").values()]


def odd(answer: Answer) -> Answer:
    """The answer of a model of an odd name, of an odd file."""
    name = f"{ODD} {answer.model}"
    side = answer.side_by_side
    if side is not None:
        (first, rows), *columns = side.columns.items()
        renamed = [name if row == answer.model else row for row in rows]
        side = replace(side, columns={first: renamed, **dict(columns)})
    return replace(
        answer,
        model=name,
        models=[name if one == answer.model else one for one in answer.models],
        numbers={name if one == answer.model else one: own for one, own in answer.numbers.items()},
        results={name if one == answer.model else one: own for one, own in answer.results.items()},
        side_by_side=side,
        files=[f"{ODD}.csv", "b.csv"],
        sentence=f"For {name}, we report 95 % of {ODD}.",
    )


EVERY = [one for metric in METRICS for answer in answers(metric) for one in (answer, odd(answer))] + [sample()]
every = pytest.mark.parametrize("answer", EVERY, ids=range(len(EVERY)))


def one_line(text: str) -> str:
    return " ".join(text.split())


def of_latex(text: str) -> str:
    """The text that is set, without comments."""
    text = re.sub(r"(?<!\\)%.*", "", text)
    words = {"textbar": "|", "textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^"}
    words |= {"textless": "<", "textgreater": ">", "textasciigrave": "`"}
    text = re.sub(r"\\(text\w+)\{\}", lambda found: words[found[1]], text)
    text = text.replace("{[}", "[").replace("$-$", "−").replace("--", "–")
    return re.sub(r"\\([%&#$_{}])", r"\1", text)


def tables_of_markdown(text: str) -> tuple[list[list[str]], str]:
    """The cells of the table, and the text below, as they are shown."""
    parser = pytest.importorskip("markdown_it").MarkdownIt().enable("table")

    def shown(token: Any) -> str:
        return "".join(one.content if one.type != "softbreak" else " " for one in token.children)

    rows: list[list[str]] = []
    below: list[str] = []
    in_table = False
    for token in parser.parse(text):
        in_table = (in_table or token.type == "table_open") and token.type != "table_close"
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            (rows[-1] if in_table else below).append(shown(token))
    return rows, "\n".join(below)


def cells_of(answer: Answer) -> Iterator[tuple[str, list[str]]]:
    """The name of each row, and its numbers as they are read."""
    for name, cells in table_of(answer, titled=True).rows:
        texts = []
        for cell in cells:
            number = "–" if cell is None else str(cell.value) if isinstance(cell.value, int) else f"{cell.value:.3f}"
            ends = "" if cell is None or cell.low is None else f" [{cell.low:.3f}, {cell.high:.3f}]"
            texts.append(f"{number}{ends}")
        yield one_line(name), texts


@every
def test_markdown(answer: Answer) -> None:
    (head, *rows), below = tables_of_markdown(paper(answer, "markdown"))
    assert head[1:] == [one_line(name) for name in table_of(answer, titled=True).columns]
    assert [(name, numbers) for name, *numbers in rows] == [*cells_of(answer)]
    assert below == one_line(answer.sentence)


@every
def test_latex(answer: Answer) -> None:
    table, _, latex = paper(answer, "latex").partition("\n\n")
    rows = [line.removesuffix(r" \\") for line in table.splitlines() if line.endswith(r" \\")]
    cells = [[*map(of_latex, re.split(r"(?<!\\) & |(?<!\\) &(?=$)", row))] for row in rows]
    bare = [[re.sub(r"\\textbf\{(.*?)\}", r"\1", cell) for cell in row] for row in cells]
    assert bare[0][1:] == [one_line(name) for name in table_of(answer, titled=True).columns]
    assert [(name, numbers) for name, *numbers in bare[1:]] == [*cells_of(answer)]
    sentence, cited = re.fullmatch(r"(.*?)(?: \\cite\{(.*)\})?\.", latex).groups()  # type: ignore[union-attr]
    assert of_latex(sentence) == one_line(answer.sentence).removesuffix(".")
    assert [*filter(None, (cited or "").split(","))] == re.findall(r"@\w+\{([^,]+),", answer.citation)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex: make test-latex gets one")
def test_latex_compiles(tmp_path: Path) -> None:
    body = [paper(one, "latex") for one in EVERY]
    document = "\n\n".join([r"\documentclass{article}", r"\begin{document}", *body, r"\end{document}"])
    (tmp_path / "paper.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout[-500:]


@every
def test_csv(answer: Answer) -> None:
    """Each number with all digits beside its ends; names as they are, but for an apostrophe before a formula."""
    head, *rows = csv.reader(io.StringIO(FORMS["CSV"](answer, None)))
    table = table_of(answer)
    assert len({*head}) == len(head)
    for (name, cells), row in zip(table.rows, rows, strict=True):
        of = dict(zip(head, row, strict=True))
        assert of["name"] == name
        for key, cell in zip(table.columns, cells):
            if cell is None:
                assert of[key] == ""
                continue
            assert float(of[key]) == cell.value or math.isnan(cell.value)
            if cell.low is not None:
                assert (float(of[f"{key} low"]), float(of[f"{key} high"])) == (cell.low, cell.high)
        assert (of["metric"], of["signature"], of["date"]) == (
            answer.metric,
            answer.signature,
            date.today().isoformat(),
        )
        assert of["files"] == ", ".join(answer.files)
        assert json.loads(of["options"] or "{}") == answer.options
        if answer.decisions is not None and (len(answer.models) == 1 or name == answer.model):
            place = first_place(answer.decisions)
            assert float(of["threshold"]) == float(answer.decisions.thresholds[place])
        else:
            assert of["threshold"] == ""


@every
def test_json(answer: Answer) -> None:
    def refused(word: str) -> None:
        raise AssertionError(word)

    saved = json.loads(FORMS["JSON"](answer, None), parse_constant=refused)
    record = record_of(answer)
    assert {name: saved[name] for name in record if name != "decision"} == {
        name: value for name, value in record.items() if name != "decision"
    }
    assert ("decision" in saved) == (answer.decisions is not None)
    assert [*saved["results"]] == [*answer.results]
    for model, results in answer.results.items():
        numbers = {key: value for key, value in results.items() if isinstance(value, float) and math.isfinite(value)}
        assert {key: saved["results"][model][key] for key in numbers} == numbers


@every
def test_a_rate_of_nothing_is_absent(answer: Answer) -> None:
    """At every threshold: a dash with a sentence beside the counts, and no number in JSON; others are as counted."""
    choices = answer.decisions
    for place in range(len(choices.thresholds) if choices else 0):
        assert choices is not None
        saved, page = json.loads(FORMS["JSON"](answer, place))["decision"]["rates"], html.decisions(answer, place)
        below = {name: sum(choices.counts[part][place] for part in parts) for name, (_, parts) in choices.rates.items()}
        shown = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page))
        assert {name for name in below if name not in saved} == {name for name, count in below.items() if not count}
        assert {name for name in below if shown[escape(name)] == "–"} == {name for name in below if not below[name]}
        assert ("a share of nothing" in page) == ("–" in shown.values())


@every
def test_python(answer: Answer) -> None:
    """It has the same statements as the answer, comments that stay comments, and the threshold."""
    code = FORMS["Python"](answer, None)
    number = len(ast.parse(answer.call).body)
    call, more = ast.parse(code).body[:number], ast.parse(code).body[number:]
    assert [*map(ast.dump, call)] == [*map(ast.dump, ast.parse(answer.call).body)]
    comments = one_line(" ".join(line[1:] for line in code.splitlines() if line.startswith("#")))
    for text in (*answer.files, answer.signature, date.today().isoformat()):
        shown = "".join(each if each.isprintable() else " " for each in text)
        assert one_line(shown).replace(" ", "") in comments.replace(" ", "")
    names: dict[str, Any] = {}
    exec(compile(ast.Module(more, []), "", "exec"), names)
    if answer.decisions is None:
        assert more == []
        return
    place = first_place(answer.decisions)
    assert names["threshold"] == number_at(answer.decisions, "threshold", place)
    assert answer.decisions.rule in comments


@pytest.mark.parametrize("form", ["JSON", "CSV", "Python"])
def test_a_threshold_with_a_guarantee_is_taken_along(form: str) -> None:
    (answer, *_) = (one for one in answers("openauc") if one.decisions is not None)
    assert answer.decisions is not None
    preset, promise = next(iter(answer.decisions.promises.items()))
    place = answer.decisions.presets[preset]
    threshold = answer.decisions.thresholds[place]
    text = FORMS[form](answer, place)
    assert text != FORMS[form](answer, None)
    shown = one_line(text.replace("\n# ", " "))
    assert promise.replace("{threshold}", threshold) in shown
    assert threshold in shown
    assert answer.decisions.rule in shown


def test_forms_of_the_page() -> None:
    assert [*COPIED] == ["Python", "Markdown", "LaTeX", "CSV", "BibTeX"]
    for answer in EVERY:
        assert {form: bool(FORMS[form](answer, None)) for form in COPIED} == dict.fromkeys(COPIED, True) | {
            "BibTeX": bool(answer.citation)
        }
    best = sample()
    assert "**0.820** [0.801, 0.839]" in paper(best, "markdown")
    assert r"\textbf{0.820} [0.801, 0.839]" in paper(best, "latex")


def test_papers_are_cited_by_the_protocol_that_is_theirs() -> None:
    """WI and A-OSE of OW-DLN are other numbers than those of papers."""
    example, folder = subject_of("openset_detection").example, script("openset_detection").parent / "examples"
    reading = read("openset_detection", *(folder / name for name in example.files))
    for protocol in ("ow-dln", "owod"):
        options = {**example.options, "protocol": protocol}
        (answer,) = answers_of("openset_detection", reading, options, intervals=False).values()
        is_of_papers = protocol == "owod"
        assert ("joseph2021owod" in paper(answer, "latex")) == is_of_papers
        assert ("by OW-DLN's definitions" in answer.sentence) != is_of_papers
        titles = {number.key: number.title for number in answer.numbers[answer.model]}
        named = "OWOD" if is_of_papers else "OW-DLN"
        assert titles["A-OSE"] == f"A-OSE ({named})"
        assert f"A-OSE ({named}) over the confidence threshold" in [figure.title for figure in answer.figures]


def test_the_page_offers_the_protocol_of_papers_beside_its_own() -> None:
    assert "protocol" in subject_of("openset_detection").form.open


def test_the_picture_of_the_readme_has_the_numbers_of_the_example() -> None:
    """Both are of the page's reading, as means over the same groups."""
    text = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    knn = next(one for one in answers("ood_bench") if one.model == "knn")
    assert knn.best == "knn"
    assert knn.over == "mean of 4 sets"
    auroc = next(one for one in knn.numbers["knn"] if one.key == "auroc")
    assert f"knn has the highest AUROC, {auroc.value:.3f} as the mean of four sets" in one_line(text)
