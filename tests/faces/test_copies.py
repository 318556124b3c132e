"""What is copied for a paper, parsed back: each format has its own escapes, and cites what its numbers are of."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from openworld_metrics.answers.saved import saved_answers
from openworld_metrics.faces.numbers import paper, typed
from openworld_metrics.faces.page.view import COPIED, copied_text
from openworld_metrics.loading import METRICS, script

# signs that LaTeX and Markdown read as their own
ODD = "95 % & 1_2 #3 $4 {5} ~ ^ \\ <a> |"


def of_latex(text: str) -> str:
    """The text that is set, without comments."""
    text = re.sub(r"(?<!\\)%.*", "", text)
    words = {"textbar": "|", "textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^"}
    words |= {"textless": "<", "textgreater": ">"}
    text = re.sub(r"\\(text\w+)\{\}", lambda found: words[found[1]], text)
    return re.sub(r"\\([%&#$_{}])", r"\1", text)


def of_markdown(text: str) -> str:
    """The text that is shown; a backslash before another sign is left out."""
    return re.sub(r"\\([^\w\s])", r"\1", text)


@pytest.mark.parametrize("metric", METRICS)
def test_sentences_are_parsed_back(metric: str) -> None:
    for answer in saved_answers(script(metric).parent / "examples" / "answers.json").values():
        for one in (answer, replace(answer, sentence=f"{ODD}.")):
            plain = typed(one.sentence)
            *table, latex = paper(one, "latex").split("\n\n")
            assert table
            sentence, cited = re.fullmatch(r"(.*?)(?: \\cite\{(.*)\})?\.", latex).groups()  # type: ignore[union-attr]
            assert of_latex(sentence) == plain.removesuffix(".")
            assert [*filter(None, (cited or "").split(","))] == re.findall(r"@\w+\{([^,]+),", one.citation)
            *table, markdown = paper(one, "markdown").split("\n\n")
            assert table
            assert of_markdown(markdown) == plain
            assert "\\cite" not in markdown
        assert {form: bool(copied_text(answer, form)) for form in COPIED} == dict.fromkeys(COPIED, True) | {
            "BibTeX": bool(answer.citation)
        }


def test_papers_are_cited_by_the_protocol_that_is_theirs() -> None:
    """WI and A-OSE of OW-DLN are other numbers than those of papers."""
    from openworld_metrics.answers.answers import answers_of
    from openworld_metrics.answers.subject import subject_of
    from openworld_metrics.reading.read import read

    example, folder = subject_of("openset_detection").example, script("openset_detection").parent / "examples"
    reading = read("openset_detection", *(folder / name for name in example.files))
    for protocol in ("ow-dln", "owod"):
        options = {**example.options, "protocol": protocol, "recall_level": None}
        (answer,) = answers_of("openset_detection", reading, options, intervals=False).values()
        is_of_papers = protocol == "owod"
        assert ("joseph2021owod" in paper(answer, "latex")) == is_of_papers
        assert ("by OW-DLN's definitions" in answer.sentence) != is_of_papers
        titles = {number.key: number.title for number in answer.numbers[answer.model]}
        assert titles["A-OSE"] == ("A-OSE" if is_of_papers else "A-OSE (OW-DLN)")
