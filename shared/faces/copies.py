"""An answer as it is taken away: one table, one record of how its numbers came about, and a writer for each format.

answer, place of a threshold ─ table_of, record_of ─→ Python · Markdown · LaTeX · CSV · BibTeX · JSON
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Mapping
from datetime import date
from types import MappingProxyType
from typing import Any

from ..answers.answer import Answer, Table
from ..answers.decisions import THRESHOLD, first_place, number_at
from ..answers.python import as_python
from ..written.results import Direction, as_json
from . import html
from .tables import Cell, ResultTable, escaped, render

DIGITS = 3  # of a table for a paper
_WIDTH = 98  # characters of a comment


def table_of(answer: Answer, *, titled: bool = False) -> ResultTable:
    """The models or the groups of an answer side by side, or the only model in a row.

    The first column names the rows, other text is left out. With `titled`, as for a paper, columns are named in words,
    and an only model has its leading numbers.
    """
    table = answer.side_by_side or _only(answer, titled)
    (_, rows), *columns = table.columns.items()
    columns = [(name, cells) for name, cells in columns if not any(isinstance(value, str) for value in cells)]
    best = {*table.best}

    def cell(row: int, name: str, value: Any) -> Cell | None:
        if value is None:
            return None
        low, high = (table.intervals[name][row] if name in table.intervals else None) or (None, None)
        way = Direction(table.higher[name], name in table.shares) if name in table.higher else None
        return Cell(name, value, None, low, high, (row, name) in best, way, share=name in table.shares)

    titles = html.titles_of(answer) if titled else {}
    return ResultTable(
        [titles.get(name, name) for name, _ in columns],
        [(str(row), [cell(i, name, cells[i]) for name, cells in columns]) for i, row in enumerate(rows)],
    )


def _only(answer: Answer, titled: bool) -> Table:
    """The numbers of the model shown as a table of one row."""
    numbers = answer.numbers[answer.model][: len(answer.leading) if titled else None]
    numbers = [one for one in numbers if isinstance(one.value, (int, float))]
    return Table(
        "",
        {answer.noun: [answer.model], **{one.key: [one.value] for one in numbers}},
        [one.key for one in numbers if one.share],
        intervals={one.key: [one.interval] for one in numbers if one.interval is not None},
        higher={one.key: one.higher for one in numbers if one.higher is not None},
    )


def record_of(answer: Answer, place: int | None = None) -> dict[str, Any]:
    """How the numbers of an answer came about: metric, model, files, date, options, signature, and its decision.

    Parameters: place, the index of a threshold among the decisions, by default of the one that is shown first.
    """
    return {
        "metric": answer.metric,
        "model": answer.model,
        "files": [*answer.files],
        "date": date.today().isoformat(),
        "options": dict(answer.options),
        "signature": answer.signature,
        **({} if (decision := decision_of(answer, place)) is None else {"decision": decision}),
    }


def decision_of(answer: Answer, place: int | None = None) -> dict[str, Any] | None:
    """The decision at a threshold of the model shown: rule, threshold, counts and rates; None without decisions.

    chosen: the names of the thresholds there, such as "95 % TPR"; guarantee, on new data, of those that have one, or
    ""; rates: without those of nothing
    """
    choices = answer.decisions
    if choices is None or not choices.thresholds:
        return None
    at = first_place(choices) if place is None else place
    names = [name for name, preset in choices.presets.items() if preset == at]
    promises = [choices.promises[name] for name in names if name in choices.promises]
    rates = {name: number_at(choices, name, at) for name in (*choices.rates, *choices.values)}
    return {
        "rule": choices.rule,
        "threshold": number_at(choices, THRESHOLD, at),
        "chosen": names,
        "guarantee": " ".join(text.replace("{threshold}", choices.thresholds[at]) for text in promises),
        "counts": {name: column[at] for name, column in choices.counts.items()},
        "rates": {name: rate for name, rate in rates.items() if not math.isnan(rate)},
    }


def paper(answer: Answer, form: str) -> str:
    """The table and the sentence of an answer for a paper, in "markdown" or "latex", with citations."""
    sentence = escaped(answer.sentence, form)
    cited = ",".join(re.findall(r"@\w+\{([^,]+),", answer.citation))
    if cited and form == "latex":
        sentence = f"{sentence.removesuffix('.')} \\cite{{{cited}}}."
    return f"{render(table_of(answer, titled=True), form, digits=DIGITS)}\n\n{sentence}".strip()


def csv_of(answer: Answer, place: int | None = None) -> str:
    """All digits of the table as CSV, with the record in columns beside them.

    The threshold is that of the model shown, and of its groups.
    """
    table, record = table_of(answer), record_of(answer, place)
    decision = record.get("decision") or dict.fromkeys(("rule", "threshold", "guarantee"))
    of_model = [len(answer.models) == 1 or name == answer.model for name, _ in table.rows]
    beside: dict[str, list[Any]] = {
        "decision": [decision["rule"] if is_shown else None for is_shown in of_model],
        "threshold": [decision["threshold"] if is_shown else None for is_shown in of_model],
        "guarantee": [decision["guarantee"] or None if is_shown else None for is_shown in of_model],
        **{
            name: [_in_a_cell(record[name])] * len(of_model)
            for name in ("metric", "files", "date", "options", "signature")
        },
    }
    return render(table._replace(beside=beside), "csv") + "\n"


def _in_a_cell(value: Any) -> str:
    """A list as its names, and options as JSON."""
    if isinstance(value, Mapping):
        return as_json(value) if value else ""
    return ", ".join(value) if isinstance(value, list) else str(value)


def json_of(answer: Answer, place: int | None = None) -> str:
    """All results of all models, with all digits, and the record."""
    return as_json({**record_of(answer, place), "results": dict(answer.results)}, indent=2)


def python_of(answer: Answer, place: int | None = None) -> str:
    """The Python that reproduces the numbers, with the record in comments, and the threshold."""
    record = record_of(answer, place)
    facts = [", ".join(filter(None, [*record["files"], record["date"], record["signature"]]))]
    lines = [*map(_comment, facts), answer.call.rstrip("\n")]
    if decision := record.get("decision"):
        model = f"{answer.model}: " if len(answer.models) > 1 else ""
        chosen = f" ({', '.join(decision['chosen'])})" if decision["chosen"] else ""
        lines += ["", _comment(f"{model}{decision['rule']} threshold{chosen}")]
        lines += [_comment(decision["guarantee"])] if decision["guarantee"] else []
        lines += [f"threshold = {as_python(decision['threshold'])}"]
    return "\n".join(lines) + "\n"


def _comment(text: str) -> str:
    r"""A text as comments of Python, in lines that end where Python's do.

    >>> _comment("a.csv\rimport os")
    '# a.csv import os'
    """
    plain = "".join(each if each.isprintable() else " " for each in text)
    return "\n".join(f"# {line}" for line in textwrap.wrap(plain, _WIDTH, break_on_hyphens=False))


Writer = Callable[[Answer, "int | None"], str]
FORMS: Mapping[str, Writer] = MappingProxyType(
    {
        "Python": python_of,
        "Markdown": lambda answer, place: paper(answer, "markdown"),
        "LaTeX": lambda answer, place: paper(answer, "latex"),
        "CSV": csv_of,
        "BibTeX": lambda answer, place: answer.citation,
        "JSON": json_of,
    }
)
