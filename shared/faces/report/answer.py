"""The report of an answer: numbers, which model is better, decisions, figures, images, tables, and all digits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from ...answers.answer import Answer, Decisions, Image, Number, Table, Worst
from ...answers.decisions import first_place, number_at
from ...reading.cures import Face, in_python, spelled
from ...reading.reasons import listed
from .. import html
from ..copies import paper
from ..images import filter_key, filters_of, kinds_of, legend_of
from ..typography import number, threshold_shown
from . import frame
from .frame import Block, Section, Tile
from .pictures import photograph

_SIDE = 256  # pixels of the picture of a sample
MAX_CALL = 20_000  # characters of the Python code; longer code spells out typed data


def report_html(
    answer: Answer,
    *,
    title: str = "",
    command: str = "openworld-metrics",
    lines: Sequence[str] = (),
    sections: Sequence[Section] | None = None,
    folds: Mapping[str, Sequence[Block]] = {},
    date: datetime | None = None,
    face: Face = in_python,
) -> str:
    """The report of an answer, as one HTML file that needs no other.

    title: by default the metric and its model, or how many there are
    command: what wrote it; lines, facts on the data, by default the question and the data of the answer
    sections: between the first screen and the details, by default those of all parts of the answer
    folds: more details, by name; date, by default now; face, how cures of notes are spelled
    """
    models = html.counted(len(answer.models), answer.noun).lower() if len(answer.models) > 1 else answer.model
    shown = title or ": ".join(filter(None, [answer.metric, models]))
    facts_shown = lines or [answer.question, answer.data]
    all_sections = [*(_sections(answer) if sections is None else sections), _details(answer, folds)]
    return frame.page_html(shown, command, facts_shown, _head(answer, face), all_sections, date=date)


def _head(answer: Answer, face: Face) -> list[Block]:
    compared = html.pair(answer) if len(answer.models) == 2 else html.comparison(answer, choice=False)
    notes = frame.text(*(spelled(note, face) for note in html.notes_of(answer)), kind="small quiet")
    return [html.headline(answer) if answer.leading else "", compared, notes]


def _sections(answer: Answer) -> list[Section]:
    titles = html.titles_of(answer)
    beside = answer.side_by_side if len(answer.models) == 2 else html.beside(answer)  # a pair has no intervals of each
    sections = [_decisions_section(answer), _figures_section(answer), images_section(answer.images, answer.models)]
    if beside is not None:
        lead = "Bold marks the best, and all not clearly worse." if beside.best else ""
        sections.insert(0, Section(beside.title, beside.title, [html.table(beside, titles)], lead))
    sections += map(_worst_section, answer.worst)
    return sections + [Section(each.title, each.title, [html.table(each, titles)]) for each in answer.tables]


def _decisions_section(answer: Answer) -> Section:
    """The counts at the first of the common thresholds, the rates at each of them, and promises on new data."""
    decisions = answer.decisions
    if decisions is None:
        return Section("Decisions", "Decisions", [])
    presets = dict(decisions.presets) or {"here": 0}
    place = next(iter(presets.values()))
    columns: dict[str, list[Any]] = {
        "threshold": list(presets),
        "score >": [threshold_shown(decisions.thresholds[at]) for at in presets.values()],
    }
    for name in (*decisions.rates, *decisions.values):
        columns[name] = [number_at(decisions, name, at) for at in presets.values()]
    rates = html.table(Table("Rates at common thresholds", columns))
    lead = capital(f"{decisions.rule} {threshold_shown(decisions.thresholds[place])}.")
    return Section("Decisions", "Decisions", [frame.card(html.decisions(answer, place)), rates], lead)


def capital(sentence: str) -> str:
    """A sentence that begins with a capital.

    >>> capital("there are no unknown objects.")
    'There are no unknown objects.'
    """
    return sentence[:1].upper() + sentence[1:]


def _figures_section(answer: Answer) -> Section:
    place = first_place(answer.decisions)
    cards = [frame.chart(figure, answer.decisions, place) for figure in answer.figures]
    return Section("Figures", "Figures", [frame.grid(*cards)] if cards else [])


def images_section(images: Sequence[Image], models: Sequence[str] = ("",), lead: str = "") -> Section:
    """The images, the worst first, with a legend, and filters of kinds of errors, of groups and of defects.

    models: of the maps beside the images; lead, by default how many images there are, and what is beside each
    """
    if not images:
        return Section("Images", "Images", [])
    title = "Images with the most errors"
    if any(image.kind for image in images):
        title, lead = "Images judged worst", lead or _on_maps(images, models)
    lead = lead or f"The worst {len(images):,} are here, most errors first."
    filters = filters_of(images)
    shown = [
        Tile(
            image.name,
            image.said.split("; ") if image.kind else [image.said] if image.said else [],
            _pictures_of(image),
            kinds_of(image, filters),
        )
        for image in images
    ]
    legend = legend_of(images)
    legend |= {"score, low to high": "scale"} if any(image.kind for image in images) else {}
    wide = any(image.beside for image in images)
    blocks = [*([frame.legend(legend)] if legend else []), frame.tiles(shown, filters, wide=wide)]
    return Section("Images", title, blocks, f"{lead} Press one to enlarge it.")


def _on_maps(images: Sequence[Image], models: Sequence[str]) -> str:
    maps = "its map" if len(models) == 1 else f"the maps of {listed(models)}"
    beside = "Beside each photograph" if any(not one.kind for one in images[0].beside) else "Of each image"
    return f"{beside} {maps}, on one scale for a category; the worst {len(images):,} are here."


def _pictures_of(image: Image) -> list[Image]:
    """The pictures of a tile: a photograph, or else the picture of the image, and the others small beside it."""
    photographs = [one for one in image.beside if not one.kind]
    others = [one for one in image.beside if one.kind]
    shown = [*photographs, image, *others]
    return [shown[0], *(replace(one, picture=one.thumbnail) for one in shown[1:])]


def with_outcomes(answer: Answer, images: Sequence[Path] = ()) -> Answer:
    """The answer with the outcome of each of the worst samples at the first of the common thresholds, and its picture.

    images: the file of each sample, in their order. Raises ValueError for a file that is not an image.
    """
    return replace(answer, worst=[_pictured(_judged(each, answer.decisions), images) for each in answer.worst])


def _judged(worst: Worst, decisions: Decisions | None) -> Worst:
    """Samples of a side with their decisions, and a note on how many of the side are wrong."""
    if decisions is None or not worst.role:
        return worst
    place = first_place(decisions)
    threshold, scores = number_at(decisions, "threshold", place), worst.columns["score"]
    is_unknown = worst.role == "unknown"
    rows = [cells for row, cells in decisions.table.items() if (decisions.roles.get(row) == "unknown") == is_unknown]
    above, below = rows[0]
    wrong, end = (below, "lowest") if is_unknown else (above, "highest")
    counts = {call: sum(decisions.counts[cells[call]][place] for cells in rows) for call in rows[0]}
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
        return Section(worst.title, worst.title, [html.table(Table(worst.title, worst.columns))], worst.note)
    names = next(iter(worst.columns.values()))
    outcomes = worst.columns.get("outcome", [""] * len(names))
    named = [name for name, column in worst.columns.items() if [*map(str, column)] == [*map(str, names)]]
    rest = {name: column for name, column in worst.columns.items() if name not in (*named, "outcome")}
    shown = []
    for place, (name, picture) in enumerate(zip(names, worst.pictures)):
        texts = {key: number(column[place]) for key, column in rest.items()}
        more = ", ".join(key.replace("…", text) if "…" in key else f"{key} {text}" for key, text in texts.items())
        lines = [line for line in (outcomes[place], more) if line]
        kinds = [filter_key(outcomes[place])] if outcomes[place] else []
        image = Image(str(name), (1, 1), picture, alt=f"{name}: {', '.join(lines)}")
        shown.append(Tile(str(name), lines, [image], kinds))
    filters = {filter_key(outcome): outcome[:1].upper() + outcome[1:] for outcome in dict.fromkeys(outcomes) if outcome}
    return Section(worst.title, worst.title, [frame.tiles(shown, filters)], worst.note)


def _details(answer: Answer, folds: Mapping[str, Sequence[Block]]) -> Section:
    """All numbers and differences, a paper's sentence and citation, the same in Python, and the signature."""
    call = answer.call
    if len(call) > MAX_CALL:
        call = f"{call[:MAX_CALL]}\n… and {len(call) - MAX_CALL:,} more characters"
    written = [frame.text(answer.sentence), frame.code(paper(answer, "latex"))] if answer.sentence else []
    written += [frame.code(answer.citation)] if answer.citation else []
    meanings = {each.key: each.meaning for each in answer.numbers.get(answer.model, ()) if each.meaning}
    return frame.details(
        {
            "All numbers, six digits": [_all_numbers(answer)],
            "Comparison, six digits": [html.pairs(answer, digits=6)] if answer.differences else [],
            **folds,
            "What the numbers mean": [frame.facts(meanings)],
            "In Python": [frame.code(call)] if call else [],
            "For a paper": written,
            "Signature": [frame.code(answer.signature)] if answer.signature else [],
        }
    )


def _all_numbers(answer: Answer) -> Block:
    """Every number of each model with its interval, and the threshold of the one shown."""
    by_key: dict[str, dict[str, Number]] = {}
    for model, numbers in answer.numbers.items():
        for each in numbers:
            by_key.setdefault(each.key, {})[model] = each
    columns: dict[str, list[Any]] = {"key": [*by_key]}
    intervals = {}
    for model in answer.numbers:
        name = "value" if not model else f"{model} (model)" if model in ("key", "score >") else model
        columns[name] = [by_model[model].value if model in by_model else None for by_model in by_key.values()]
        intervals[name] = [by_model[model].interval if model in by_model else None for by_model in by_key.values()]
    thresholds = [by_model[answer.model].threshold if answer.model in by_model else "" for by_model in by_key.values()]
    if any(thresholds):
        columns["score >"] = [threshold_shown(each) or None for each in thresholds]
    return html.table(Table("All numbers", columns, intervals=intervals), digits=6)
