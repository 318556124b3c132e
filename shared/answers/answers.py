"""From a reading of files to answers: numbers with intervals, a verdict, figures and worst samples.

Reading ── Metric ──→ state, summary ──→ Computed ── Subject ──→ figures, decisions, worst, tables
prepared states of all models ──→ paired differences ──→ marks, verdicts                            ──→ Answer
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..loading import script
from ..metric.results import Key, Rate, Summary, kind_of, rates_of
from ..metric.rounding import number_text
from ..metric.signature import plain_option
from ..reading.cures import reworded
from ..reading.reading import Reading
from ..reading.reasons import listed
from ..texts import texts
from .answer import Answer, Curves, Decisions, Figure, Group, Number, Table
from .charts import joined
from .computing import Computation, compute_models, note_of
from .models import (
    best_of,
    differences_of,
    group_models_table,
    group_table,
    leading_keys,
    marked,
    mean_over,
    models_table,
    plain,
    plural,
    result_tables,
    scalars,
    verdicts_of,
)
from .python import Source, python_call
from .subject import Computed, Subject, subject_of

_SHOWN = "shown"  # in the memo of a computation


def answers_of(
    name: str,
    reading: Reading,
    options: Mapping[str, Any],
    *,
    intervals: bool | None = None,
    source: Source | None = None,
    photographs: Sequence[Path] = (),
    points: int = 2_000,
    bounded: bool = True,
    progress: bool = False,
    numbers: Callable[[dict[str, Answer]], object] | None = None,
) -> dict[str, Answer]:
    """The answer of each model of a reading, beside its rivals, by the name of the model.

    Parameters: the name of the metric; options that differ from its defaults, and from those that the reading implies;
    intervals, whether rates get intervals and models are compared: None, where that takes some seconds, and there
    are enough samples; at the option confidence_level, or else 95 %; source, of the Python that reproduces the answer;
    photographs, pictures for the images; points, of curves and decisions; bounded, whether the cost is; progress,
    whether to show a bar on a terminal; numbers, a function of the answers without intervals, called before any are
    drawn.

    Raises the metric's errors, with the name of the model where there are several; RefusedError for a computation, and
    IntervalsError for intervals, that cost too much.
    """
    subject, reading = subject_of(name), reading.whole()
    chosen = _checked(subject, reading, options)
    done = compute_models(
        subject,
        reading,
        chosen,
        intervals=intervals,
        shown=shown_of(subject),
        numbers=None if numbers is None else lambda done: numbers(answers_from(subject, done, chosen, source)),
        bounded=bounded,
        progress=progress,
        photographs=photographs,
        points=points,
    )
    return answers_from(subject, done, chosen, source)


def decisions_at(name: str, reading: Reading, options: Mapping[str, Any], model: str, threshold: float) -> Decisions:
    """The decisions at one threshold of a model whose answer has decisions, for `with_more`.

    Parameters and errors: as of `answers_of`.
    """
    subject, reading = subject_of(name), replace(reading, models={model: reading.models[model]}).whole()
    chosen = {**_checked(subject, reading, options), "confidence_level": None}
    done = compute_models(subject, reading, chosen, intervals=False, shown=shown_of(subject), typed=threshold)
    with np.errstate(all="ignore"):
        decisions = subject.decisions(done.models[model])
    assert decisions is not None
    return decisions


def _checked(subject: Subject, reading: Reading, options: Mapping[str, Any]) -> dict[str, Any]:
    """All options of a metric, which fit the reading."""
    chosen = {**subject.metric.options, **reading.options, **options}
    if not reading.models or not all(reading.models.values()):
        raise ValueError("reading: expected the columns of a model, got none")
    reading.check(chosen)
    return chosen


def answers_from(
    subject: Subject,
    done: Computation,
    chosen: Mapping[str, Any],
    source: Source | None = None,
    beside: Mapping[str, Mapping[str, float]] | None = None,
) -> dict[str, Answer]:
    """The answer of each model of a computation; see `answers_of`.

    beside: the numbers of each model that the metric does not have, by default those of the subject
    """
    name, level = subject.name, done.level
    models = done.models
    notes = [*done.reading.notes, *filter(None, [done.unasked, done.why])]
    summaries = {model: one.summary for model, one in models.items()}
    first = next(iter(models.values()))
    if beside is None:
        beside = {model: subject.beside(one) for model, one in models.items()}
    leading = leading_keys(subject, first.summary)
    best = (best_of(summaries, leading[0]) if leading else "") or next(iter(models))
    differences = differences_of(summaries, done, best)
    notes += filter(None, [done.uncompared])
    changed = {key: value for key, value in first.options.items() if _differs(value, subject.metric.options[key])}
    marks = marked(summaries, differences)
    citation = texts(script(name)).citation if subject.cites(first.options) else ""
    drawn = f", {done.drawn_clusters}" if level is not None and done.drawn_clusters else ""
    notes += [f"{note_of(done, chosen)}."] if drawn else []
    caption = f"paired bootstrap, {100 * (level or 0):g} %, {chosen['n_resamples']:,} resamples{drawn}"
    compared = next((key for key in leading if any(row.key == key for row in differences)), None)
    titles = {key: _title(subject, key, first.options) for key in leading}
    tables = [models_table(subject, summaries, marks)] if len(models) > 1 else []
    by_group = [group_models_table(subject, summaries, marks, *titled) for titled in titles.items() if tables]
    answers = {}
    with np.errstate(all="ignore"):
        common: dict[str, Any] = {
            "metric": name,
            "question": subject.question,
            "models": [*models],
            "leading": leading,
            "numbers": {
                model: [*_numbers(subject, one, leading, marks), *_numbers_beside(subject, beside.get(model, {}))]
                for model, one in models.items()
            },
            "beside": [*dict.fromkeys(key for more in beside.values() for key in more)][:1],
            "results": {model: summary.as_dict() for model, summary in summaries.items()},
            "best": best,
            "verdicts": verdicts_of(differences, best, compared, titles[compared]) if compared else [],
            "differences": differences,
            "level": level,
            "caption": caption if differences else "",
            "noun": subject.noun,
            "why": sentence(done.why) if level is None and done.why else "",
            "citation": citation,
            "files": [] if source is None else source.files,
            "options": {key: plain_option(value) for key, value in changed.items()},
            "call": python_call(name, source, len(models) > 1, changed, best if differences else ""),
        }
        for model, one in models.items():
            computed = replace(one, rivals={name: other for name, other in models.items() if name != model})
            side = [*tables, group_table(subject, computed), *by_group] if one.summary.groups else tables
            groups = [*done.shown.get(model, {}).values()]
            answers[model] = _answer(subject, computed, side, notes, common, groups)
    return answers


def unnamed(answer: Answer) -> Answer:
    """The answer of an only model without its name, which tells nothing apart."""
    (model,) = answer.models
    return replace(
        answer,
        model="",
        models=[""],
        best="",
        numbers={"": answer.numbers[model]},
        results={"": answer.results[model]},
        figures=[_unnamed(figure, model) for figure in answer.figures],
    )


def _unnamed(figure: Figure, model: str) -> Figure:
    if not isinstance(figure, Curves):
        return figure
    return replace(
        figure, series=[replace(each, name="" if each.name == model else each.name) for each in figure.series]
    )


def shown_of(subject: Subject) -> Callable[[Computed], Group]:
    """The function that makes the figures of a group, for `compute_models`."""
    return partial(_group, subject)


def results_of(name: str, columns: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The results of `compute`, if the cost is within the bound. Raises the metric's errors, and RefusedError."""
    subject = subject_of(name)
    reading = Reading(name, {name: {key: column for key, column in columns.items() if column is not None}})
    chosen = {**subject.metric.options, **options}
    done = compute_models(subject, reading, chosen, intervals=False, keeps_samples=True)
    return done.models[name].summary.as_dict()


def _group(subject: Subject, computed: Computed) -> Group:
    """The shown part of a group, or of all samples; only its pictures are left to be drawn."""
    with np.errstate(all="ignore"):
        return Group(
            "",
            subject.data(computed),
            [*subject.figures(computed)],
            [*subject.worst(computed)],
            subject.images(computed),
            subject.samples(computed),
            subject.thresholds(computed),
        )


def _answer(
    subject: Subject,
    computed: Computed,
    tables: Sequence[Table],
    notes: Sequence[str],
    common: Mapping[str, Any],
    groups: Sequence[Group],
) -> Answer:
    """The answer of a model, with the parts that all models share; the first table stands side by side."""
    summary, leading = computed.summary, common["leading"]
    numbers = common["numbers"][computed.model][: len(leading)]
    pooled = f"all {plural(subject.group)} pooled" if computed.pooled is not None else ""
    if groups:
        decisions, shown = None, subject.joined(computed, groups)
    else:
        if _SHOWN not in computed.memo:  # also of the answer without intervals
            group = _group(subject, computed) if computed.state else Group("")
            computed.memo[_SHOWN] = subject.decisions(computed), group
        decisions, shown = computed.memo[_SHOWN]
    return Answer(
        **common,
        model=computed.model,
        data=shown.data,
        over=mean_over(subject, summary),
        side_by_side=tables[0] if tables else None,
        tables=[*tables[1:], *(subject.tables(computed) or result_tables(summary))],
        sections=_sections(subject, summary, leading),
        figures=[replace(figure, note=joined(pooled, figure.note)) for figure in shown.figures],
        images=shown.images,
        decisions=decisions and replace(decisions, note=joined(pooled, decisions.note)),
        worst=shown.worst,
        groups=groups,
        notes=[sentence(note) for note in dict.fromkeys([*notes, *subject.notes(computed)])],
        signature=summary.signature,
        sentence=_for_paper(subject, numbers, computed, common["level"]),
    )


def sentence(note: str) -> str:
    """A note that begins with a capital and ends with a full stop."""
    return reworded(note, lambda text: f"{text[:1].upper()}{text[1:].removesuffix('.')}.")


def _title(subject: Subject, key: str, options: Mapping[str, Any]) -> str:
    """A key in words, or the key itself."""
    if title := subject.words(key, options)[0]:
        return title
    of = subject.words(key.removesuffix("_threshold"), options)[0]
    return f"Threshold of {of}" if of else key


def _numbers(
    subject: Subject, computed: Computed, leading: Sequence[str], marks: Mapping[Key, Sequence[str]]
) -> list[Number]:
    """Every number of a model, the leading ones first."""
    results = scalars(computed.summary.results)
    pooled = {} if computed.pooled is None else rates_of(computed.pooled.results)
    over, numbers = mean_over(subject, computed.summary), []
    for key in dict.fromkeys([*leading, *results]):
        if key not in results:
            continue
        rate = results[key] if isinstance(results[key], Rate) else None
        whole = f" (pooled {number_text(pooled[key].value)})" if key in pooled else ""
        error = f"± {number_text(rate.error)}" if rate is not None and rate.error is not None else ""
        numbers.append(
            Number(
                key,
                plain(results[key]),
                rate.interval if rate else None,
                kind_of(results[key]).get("higher"),
                rate is not None and rate.share,
                _title(subject, key, computed.options),
                subject.words(key, computed.options)[1],
                joined(over + whole if rate else "", error),
                subject.threshold(computed, key) if rate else "",
                computed.model in marks.get(key, ()),
            )
        )
    return numbers


def _numbers_beside(subject: Subject, numbers: Mapping[str, float]) -> list[Number]:
    """Shares that the metric does not have, higher is better, without intervals."""
    words = {key: subject.words(key, subject.metric.options) for key in numbers}
    return [
        Number(key, value, higher=True, share=True, title=words[key][0] or key, meaning=words[key][1])
        for key, value in numbers.items()
    ]


def _sections(subject: Subject, summary: Summary, leading: Sequence[str]) -> dict[str, list[str]]:
    """The keys that do not lead, by heading; keys that match no pattern come last."""
    rest = [key for key in scalars(summary.results) if key not in leading]
    sections: dict[str, list[str]] = {}
    for title, pattern in {**subject.sections, "Others": ".*"}.items():
        matching = [key for key in rest if re.fullmatch(pattern, key)]
        rest = [key for key in rest if key not in matching]
        if matching:
            sections[title] = matching
    return sections


def _for_paper(subject: Subject, numbers: Sequence[Number], computed: Computed, level: float | None) -> str:
    """The leading numbers of a model as a sentence, in plain text."""
    phrases = []
    for number in numbers:
        text = f"{number.title} = {number_text(number.value)}"
        if number.interval is not None and level is not None:
            low, high = map(number_text, number.interval)
            text += f" ({100 * level:g} % interval {low} to {high})"
        phrases.append(text)
    over = f" ({numbers[0].note.partition(' (')[0]})" if numbers and numbers[0].note else ""
    which = f"For {computed.model}, we" if computed.rivals else "We"
    method = f"computed with {subject.name} of openworld-metrics{subject.method(computed.options)}"
    return f"{which} report {listed(phrases)}{over}, {method}."


def _differs(value: Any, default: Any) -> bool:
    return value is not default and repr(value) != repr(default)
