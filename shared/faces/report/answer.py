"""The report of an answer: numbers, which model is better, decisions, figures, images, tables, and all digits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from ...answers.answer import Answer, Bars, Decisions, Difference, Figure, Image, Matrix, Number, Table, Worst
from ...answers.decisions import number_at
from ...metric.numbers import with_arrow
from ..numbers import number, threshold_shown, typographic
from . import frame
from .frame import Block, Picture, Section, Tile
from .pictures import photograph, picture_of

_NARROW = 3  # columns of a matrix that three cards side by side have room for
_SENTENCES = 5  # on rivals; more are in the table
_LEGEND = (  # of boxes: a role, and its meaning
    ("unknown", "unknown, called known"),
    ("rejected", "known, called unknown"),
    ("wrong", "known, wrong class"),
    ("misplaced", "badly placed; its object dotted"),
    ("missed", "missed"),
    ("right", "right"),
    ("nothing", "nothing there"),
)
_SIDE = 256  # pixels of the picture of a sample
MAX_CALL = 20_000  # characters of the Python code; longer code spells out typed data


def report_html(
    answer: Answer,
    *,
    title: str = "",
    command: str = "openworld-metrics",
    lines: Sequence[str] = (),
    date: datetime | None = None,
) -> str:
    """The report of an answer, as one HTML file that needs no other.

    title: by default the metric and the model shown
    command: what wrote it; lines, facts on the data, by default the question and the data of the answer
    date: by default now
    """
    shown = title or ": ".join(filter(None, [answer.metric, answer.model]))
    sections = [
        *_side_by_side(answer),
        _decisions_section(answer.decisions),
        _figures_section(answer),
        images_section(answer.images),
        *map(_worst_section, answer.worst),
        *(Section(each.title, each.title, [table_of(each, _titles(answer))]) for each in answer.tables),
        _details(answer),
    ]
    facts_shown = lines or [answer.question, answer.data]
    return frame.page_html(shown, command, facts_shown, _headline(answer), sections, date=date)


def _headline(answer: Answer) -> Block:
    """The leading numbers of the model shown; of two models, each of their differences; of more, a sentence each."""
    own = {number.key: number for number in answer.numbers.get(answer.model, ())}
    leading = [own[key] for key in answer.leading if key in own][:3]
    pairs = {(row.first, row.second) for row in answer.differences}
    names = next(iter(pairs)) if len(pairs) == 1 and len(answer.models) == 2 else ()
    return frame.headline(
        leading,
        names,
        answer.differences if names else (),
        titles=_titles(answer),
        note=answer.over,
        hint=" ".join(answer.notes),
        verdicts=() if names else answer.verdicts[:_SENTENCES],
    )


def _side_by_side(answer: Answer) -> list[Section]:
    """The models or the groups of a model as rows of one table, of which the best are marked."""
    own = answer.side_by_side
    if own is None:
        return []
    lead = f"Bold marks the best, and every {answer.noun} not clearly worse than it." if own.best else ""
    return [Section(own.title or "Side by side", own.title or "Side by side", [table_of(own, _titles(answer))], lead)]


def _titles(answer: Answer) -> dict[str, str]:
    """The keys of the numbers in words."""
    return {number.key: number.title for number in answer.numbers.get(answer.model, ()) if number.title}


def table_of(own: Table, titles: Mapping[str, str]) -> Block:
    """A table of an answer, with intervals beside their numbers, and arrows where a direction is better."""
    names = {name: with_arrow(titles.get(name, name), own.higher.get(name)) for name in own.columns}
    columns = {names[name]: _with_intervals(own, name) for name in own.columns}
    best = [(row, names[name]) for row, name in own.best]
    return frame.table(columns, own.title, best=best, first=own.first)


def _with_intervals(own: Table, name: str) -> list[Any]:
    column = own.columns[name]
    if name not in own.intervals:
        return [typographic(value) if isinstance(value, str) and _is_number(value) else value for value in column]
    return [value if ends is None else (value, *ends) for value, ends in zip(column, own.intervals[name])]


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _decisions_section(decisions: Decisions | None) -> Section:
    """The counts at the first of the common thresholds, the rates at each of them, and promises on new data."""
    if decisions is None:
        return Section("Decisions", "Decisions", [])
    place = next(iter(decisions.presets.values()), 0)
    columns = list(dict.fromkeys(name for cells in decisions.table.values() for name in cells))
    counts = [
        [decisions.counts[cells[name]][place] if name in cells else None for name in columns]
        for cells in decisions.table.values()
    ]
    roles = [[decisions.roles.get(row, "unknown")] * len(columns) for row in decisions.table]
    notes = [f"{sum(count or 0 for count in row):,}" for row in counts]
    counted = frame.matrix(Matrix("Decisions", list(decisions.table), columns, counts, roles=roles, notes=notes))
    promises = [
        words.replace("{threshold}", threshold_shown(decisions.thresholds[decisions.presets[name]]))
        for name, words in decisions.promises.items()
        if name in decisions.presets
    ]
    rule = f"{decisions.rule} {threshold_shown(decisions.thresholds[place])}."
    lead = " ".join(capital(part) for part in (rule, decisions.note) if part)
    blocks = [frame.grid(frame.card(counted), columns=1), _rates(decisions, place)]
    return Section("Decisions", "Decisions", [*blocks, frame.text(*promises, kind="small quiet promise")], lead)


def capital(sentence: str) -> str:
    """A sentence that begins with a capital.

    >>> capital("there are no unknown objects.")
    'There are no unknown objects.'
    """
    return sentence[:1].upper() + sentence[1:]


def _rates(decisions: Decisions, place: int) -> Block:
    """The rates and other numbers of the decisions at each of the common thresholds, or at one."""
    presets = dict(decisions.presets) or {"here": place}
    columns: dict[str, list[Any]] = {
        "threshold": list(presets),
        "score >": [threshold_shown(decisions.thresholds[at]) for at in presets.values()],
    }
    for name in (*decisions.rates, *decisions.values):
        columns[name] = [number_at(decisions, name, at) for at in presets.values()]
    if len(presets) > 1:
        return frame.table(columns, "Rates at common thresholds")
    only = {"rate": list(columns)[2:], "value": [column[0] for column in list(columns.values())[2:]]}
    return frame.table(only, "Rates at the threshold")


def _figures_section(answer: Answer) -> Section:
    """The figures of the model shown, at the first of the common thresholds."""
    place = next(iter(answer.decisions.presets.values()), 0) if answer.decisions is not None else 0
    cards = [frame.card(_drawn(figure, answer.decisions, place), title=figure.title) for figure in answer.figures]
    wide = any(isinstance(figure, Matrix) and len(figure.columns) > _NARROW for figure in answer.figures)
    return Section(
        "Figures", "Figures", [frame.grid(*cards, columns=2 if wide or len(cards) < 3 else 3)] if cards else []
    )


def _drawn(figure: Figure, decisions: Decisions | None, place: int) -> Block:
    if isinstance(figure, Bars):
        return frame.bars(figure)
    return frame.matrix(figure) if isinstance(figure, Matrix) else frame.chart(figure, decisions, place)


def images_section(images: Sequence[Image], lead: str = "Press one to enlarge it.") -> Section:
    """The images, the worst first, with a legend of the boxes that occur, and a filter for each kind of error."""
    if not images:
        return Section("Images", "Images", [])
    roles = {box.role for image in images for box in image.boxes}
    legend = [(role, words, "") for role, words in _LEGEND if role in roles]
    filters = {role: capital(words.partition(";")[0]) for role, words, _ in legend if role != "right"}
    shown = []
    for image in images:
        kinds = {box.role for box in image.boxes} & {*filters}
        shown.append(Tile(image.name, [image.said] if image.said else [], [picture_of(image)], sorted(kinds)))
    outlines = dict.fromkeys(key for image in images for key in image.keys)
    legend += [(role, words, "") for words, role in outlines]
    blocks = [*([frame.keys(legend, "line")] if legend else []), frame.tiles(shown, filters)]
    return Section("Images", "Images with the most errors", blocks, lead)


def with_outcomes(answer: Answer, images: Sequence[Path] = ()) -> Answer:
    """The answer with the outcome of each of the worst samples at the first of the common thresholds, and its picture.

    images: the file of each sample, in their order. Raises ValueError for a file that is not an image.
    """
    return replace(answer, worst=[_pictured(_judged(each, answer.decisions), images) for each in answer.worst])


def _judged(worst: Worst, decisions: Decisions | None) -> Worst:
    """Samples of a side with their decisions, and a note on how many of the side are wrong."""
    if decisions is None or not worst.role:
        return worst
    place = next(iter(decisions.presets.values()), 0)
    threshold, scores = number_at(decisions, "threshold", place), worst.columns["score"]
    is_unknown = worst.role == "unknown"
    own = [cells for row, cells in decisions.table.items() if (decisions.roles.get(row) == "unknown") == is_unknown]
    above, below = own[0]
    wrong, end = (below, "lowest") if is_unknown else (above, "highest")
    counts = {call: sum(decisions.counts[cells[call]][place] for cells in own) for call in own[0]}
    these = f"are the {len(scores)} with the {end} scores" if len(scores) > 1 else f"is the one with the {end} score"
    outcomes = [above if score > threshold else below for score in scores]
    note = f"{counts[wrong]:,} of {sum(counts.values()):,} are {wrong}. Here {these}."
    return replace(worst, columns={**worst.columns, "outcome": outcomes}, note=note)


def _pictured(worst: Worst, images: Sequence[Path]) -> Worst:
    if not images:
        return worst
    paths = [images[row] for row in worst.rows]
    columns = {"image": [path.name for path in paths], **worst.columns}
    return replace(worst, columns=columns, pictures=[photograph(path, _SIDE) for path in paths])


def _worst_section(worst: Worst) -> Section:
    """Samples of a side: a table or, with pictures, tiles with a filter for each outcome."""
    if not worst.pictures:
        return Section(worst.title, worst.title, [frame.table(worst.columns, worst.title)], worst.note)
    names = next(iter(worst.columns.values()))
    outcomes = worst.columns.get("outcome", [""] * len(names))
    rest = {
        name: column for name, column in worst.columns.items() if name not in (next(iter(worst.columns)), "outcome")
    }
    shown = []
    for place, (name, picture) in enumerate(zip(names, worst.pictures)):
        texts = {key: number(column[place]) for key, column in rest.items()}
        more = ", ".join(key.replace("…", text) if "…" in key else f"{key} {text}" for key, text in texts.items())
        lines = [line for line in (outcomes[place], more) if line]
        kinds = [frame.filter_key(outcomes[place])] if outcomes[place] else []
        shown.append(Tile(str(name), lines, [Picture(picture, f"{name}: {', '.join(lines)}", (1, 1))], kinds))
    filters = {
        frame.filter_key(outcome): outcome[:1].upper() + outcome[1:] for outcome in dict.fromkeys(outcomes) if outcome
    }
    return Section(worst.title, worst.title, [frame.tiles(shown, filters)], worst.note)


def _details(answer: Answer) -> Section:
    """All numbers and differences, what a paper needs, the Python that gives the same, and the signature."""
    call = answer.call
    if len(call) > MAX_CALL:
        call = f"{call[:MAX_CALL]}\n… and {len(call) - MAX_CALL:,} more characters"
    paper = [frame.text(answer.sentence)] if answer.sentence else []
    paper += [frame.code(answer.citation)] if answer.citation else []
    titles = {"Comparison, six digits": [_differences(answer.differences)] if answer.differences else []}
    return frame.details(
        {
            "All numbers, six digits": [_all_numbers(answer)],
            **titles,
            "What the numbers mean": _meanings(answer.numbers.get(answer.model, ())),
            "In Python": [frame.code(call)] if call else [],
            "For a paper": paper,
            "Signature": [frame.code(answer.signature)] if answer.signature else [],
        }
    )


def _all_numbers(answer: Answer) -> Block:
    """Every number of each model with its interval, and the threshold of the one shown."""
    by_key: dict[str, dict[str, Number]] = {}
    for model, numbers in answer.numbers.items():
        for each in numbers:
            by_key.setdefault(each.key, {})[model] = each
    columns: dict[str, list[Any]] = {"key": list(by_key)}
    for model in answer.numbers:
        name = "value" if not model else f"{model} (model)" if model in ("key", "score >") else model
        columns[name] = [_value(own.get(model)) for own in by_key.values()]
    thresholds = [own[answer.model].threshold if answer.model in own else "" for own in by_key.values()]
    if any(thresholds):
        columns["score >"] = [threshold_shown(each) or None for each in thresholds]
    return frame.table(columns, "All numbers", digits=6)


def _value(number: Number | None) -> Any:
    if number is None or number.interval is None:
        return None if number is None else number.value
    return (number.value, *number.interval)


def _differences(rows: Sequence[Difference]) -> Block:
    """Every row of the comparison, with its interval, p-value and verdict."""
    several = len({(row.first, row.second) for row in rows}) > 1
    columns: dict[str, list[Any]] = {"key": [row.key for row in rows]}
    if any(row.group for row in rows):
        columns["group"] = [row.group or "mean" for row in rows]
    if several:
        columns["models"] = [f"{row.first} vs {row.second}" for row in rows]
    columns["difference"] = [(row.difference, row.low, row.high) for row in rows]
    columns["p"] = [row.p_value for row in rows]
    columns["verdict"] = [frame.verdict(row) for row in rows]
    return frame.table(columns, "Comparison", digits=6)


def _meanings(numbers: Sequence[Number]) -> list[Block]:
    """The keys with their meanings, where they have one."""
    own: Mapping[str, str] = {number.key: number.meaning for number in numbers if number.meaning}
    return [frame.facts(own)] if own else []
