"""From a reading of files to answers: numbers with intervals, a verdict, and what a metric has to show.

Reading ── Metric ──→ state, summary ──→ Computed ── Subject ──→ figures, decisions, worst, tables
prepared states of all models ──→ paired differences ──→ marks, verdicts                            ──→ Answer
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..loading import script
from ..metric.bootstrap import FEWEST, Part, are_enough
from ..metric.groups import GROUPS, group_name
from ..metric.metric import Metric
from ..metric.numbers import number_text
from ..metric.results import Key, Rate, Summary, kind_of, rates_of
from ..reading.reading import Reading
from ..reading.tables.files import whole
from ..texts import texts
from .answer import Answer, Difference, Number
from .costs import (
    MAX_AUTOMATIC,
    IntervalsError,
    check_cost,
    work_of_options,
    work_of_resamples,
    work_of_state,
)
from .python import Source, python_call
from .subject import Computed, Subject, subject_of
from .tables import group_models_table, group_table, mean_over, models_table, plain, result_tables, scalars
from .verdicts import best_of, differences_of, marked, verdicts_of

LEVEL = 0.95  # confidence level of intervals for which none is chosen
MAX_LEADING = 3


class _Model(NamedTuple):
    """A computation, and the metric's state by group, which intervals and comparisons are drawn from."""

    computed: Computed
    state: Mapping[str, Any]


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
) -> dict[str, Answer]:
    """The answer of each model of a reading, beside its rivals, by the name of the model.

    Parameters: the name of the metric; options that differ from its defaults, and from those that the reading implies;
    intervals, whether rates get intervals and models are compared: None, where that takes some seconds, and there
    are enough samples; at the option confidence_level, or else 95 %; source, of the Python that reproduces the answer;
    photographs, pictures for the images; points, of curves and decisions; bounded, whether the cost is.

    Raises the metric's errors, with the name of the model where there are several; RefusedError for a computation, and
    IntervalsError for intervals, that cost too much.
    """
    subject = subject_of(name)
    derived, _ = subject.derive(reading)
    chosen = {**subject.metric.options, **reading.options, **derived, **options}
    columns = columns_of(reading)
    if not columns:
        raise ValueError("reading: expected the columns of a model, got none")
    reading.check(chosen)
    models: dict[str, _Model] = {}
    for place, (model, own) in enumerate(columns.items()):
        try:
            one = _model(subject, model, own, chosen, reading, times=len(columns), bounded=bounded)
        except (ValueError, TypeError) as error:
            raise type(error)(f"{model}: {error}" if len(columns) > 1 else str(error)) from error
        computed = replace(one.computed, place=place, photographs=photographs, points=points)
        models[model] = one._replace(computed=computed)
    settled, why = subject.settle({model: one.computed for model, one in models.items()})
    notes = [*reading.notes, *filter(None, [why])]
    level, parts, said = _level(subject, models, chosen, intervals, bounded)
    notes += said
    if level is not None:
        settled = {model: _with_intervals(subject, one, models[model].state, level) for model, one in settled.items()}
    summaries = {model: one.summary for model, one in settled.items()}
    first = next(iter(settled.values()))
    leading = leading_keys(subject, first.summary)
    best = (best_of(summaries, leading[0]) if leading else "") or next(iter(summaries))
    differences: list[Difference] = []
    if level is not None and len(settled) > 1:
        drawn = {"n_resamples": chosen["n_resamples"], "random_state": chosen["random_state"]}
        skipping = chosen["groups_without"] == "skip"
        try:
            differences = differences_of(summaries, parts, best, level, **drawn, skipping=skipping)
        except ValueError as error:
            notes.append(f"The models were not compared: {error}.")
    shown_options = {key: value for key, value in first.options.items() if _differs(value, subject.metric.options[key])}
    call = python_call(name, source, columns, shown_options, best if differences else "")
    marks = marked(summaries, differences)
    common = _Common(subject, summaries, settled, leading, best, differences, marks, level, notes, call)
    with np.errstate(all="ignore"):
        return {model: _answer(common, model) for model in settled}


def columns_of(reading: Reading) -> dict[str, dict[str, Any]]:
    """The columns of each model of a reading, read whole where they would come in batches."""
    if not reading.is_streamed:
        return dict(reading.models)
    return {
        model: reading.change({name: whole(column) for name, column in columns.items()})
        for model, columns in reading.models.items()
    }


def results_of(name: str, columns: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The results of `compute`, if the cost is within the bound. Raises the metric's errors, and RefusedError."""
    subject = subject_of(name)
    chosen, columns = {**subject.metric.options, **options}, {k: v for k, v in columns.items() if v is not None}
    model = _model(subject, name, columns, chosen, Reading(name, {}), times=1, bounded=True)
    level = chosen["confidence_level"]
    if level is None:
        return model.computed.summary.as_dict()
    check_cost(_work_of_resamples(subject, model, chosen["n_resamples"]), IntervalsError)
    return _with_intervals(subject, model.computed, model.state, level).summary.as_dict()


def _model(
    subject: Subject,
    model: str,
    columns: Mapping[str, Any],
    options: Mapping[str, Any],
    reading: Reading,
    *,
    times: int,
    bounded: bool,
) -> _Model:
    """Compute a model without intervals: of all samples or by group, and then with groups pooled too."""
    subject.check(columns, options)
    if bounded:
        check_cost(work_of_options(subject, columns, options))
    rest = {key: column for key, column in columns.items() if key != GROUPS}
    every = [columns] if GROUPS not in columns else [columns, rest]
    states, summaries = [], []
    for each in every:
        metric = subject.metric(**{**options, "confidence_level": None})
        metric.keeps_samples = True  # a row for each, so that the worst can be named
        metric.add_batch(**each)
        state = metric.state()
        if bounded and state:
            check_cost(work_of_state(subject, state, options, times * len(every)))
        states.append(state)
        summaries.append(metric.summary())
    groups = [*map(group_name, np.asarray(columns[GROUPS], dtype=object).tolist())] if GROUPS in columns else []
    pooled = summaries[-1] if len(every) > 1 else None
    return _Model(Computed(model, rest, states[-1], options, summaries[0], reading, pooled, groups), states[0])


def _level(
    subject: Subject, models: Mapping[str, _Model], options: Mapping[str, Any], wanted: bool | None, bounded: bool
) -> tuple[float | None, dict[str, Sequence[Part]], list[str]]:
    """The confidence level, or None for no intervals; the prepared parts of each model; and why there are none.

    A resample passes once over the samples of each model, and twice for each pair.
    """
    level = options["confidence_level"]
    automatic = not wanted and level is None
    if automatic and wanted is False:
        return None, {}, []
    number = len(models)
    passes = options["n_resamples"] * (number + number * (number - 1))
    work: dict[str, int] = {}
    for one in models.values():
        work |= _work_of_resamples(subject, one, passes)
    if not automatic and bounded:
        check_cost(work, IntervalsError)
    if automatic and max(work.values()) > MAX_AUTOMATIC:
        return None, {}, ["Intervals take longer here, and were left out."]
    parts: dict[str, Sequence[Part]] = {}
    if automatic or number > 1:
        for model, one in models.items():
            parts[model] = [*_metric(subject, one.computed.options, one.state).prepared()]
    if automatic and not all(are_enough(part.prepared) for own in parts.values() for part in own):
        return None, {}, [f"No intervals: there are fewer than {FEWEST} samples of a kind."]
    return level or LEVEL, parts, []


def _work_of_resamples(subject: Subject, model: _Model, times: int) -> dict[str, int]:
    computed = model.computed
    return work_of_resamples(subject, computed.summary.as_dict(), model.state, computed.columns, times)


def _metric(subject: Subject, options: Mapping[str, Any], state: Mapping[str, Any]) -> Metric:
    metric = subject.metric(**options)
    metric.keeps_samples = True
    metric.merge(state)
    return metric


def _with_intervals(subject: Subject, computed: Computed, state: Mapping[str, Any], level: float) -> Computed:
    """The computation with an interval of each of its rates."""
    options = {**computed.options, "confidence_level": level}
    summary = _metric(subject, options, state).summary()
    of_all = {key: rate.interval for key, rate in summary.rates().items() if rate.interval is not None}
    summary = computed.summary.with_intervals(of_all)._replace(options=summary.options)
    return replace(computed, summary=summary, options=options)


class _Common(NamedTuple):
    """The parts that the answers of all models share."""

    subject: Subject
    summaries: Mapping[str, Summary]
    models: Mapping[str, Computed]
    leading: Sequence[str]
    best: str
    differences: Sequence[Difference]
    marks: Mapping[Key, Sequence[str]]
    level: float | None
    notes: Sequence[str]
    call: str


def leading_keys(subject: Subject, summary: Summary) -> list[str]:
    """At most three keys that lead: the first that match the subject's patterns, or else the first results."""
    keys = scalars(summary.results)
    chosen = dict.fromkeys(key for pattern in subject.leading for key in keys if re.fullmatch(pattern, key))
    return [*(chosen or keys)][:MAX_LEADING]


def _answer(common: _Common, model: str) -> Answer:
    subject, one = common.subject, common.models[model]
    rivals = {name: other for name, other in common.models.items() if name != model}
    computed, words = replace(one, rivals=rivals), texts(script(subject.name))
    numbers = {name: _numbers(common, other) for name, other in common.models.items()}
    leading = {number.key: number for number in numbers[model] if number.key in common.leading}
    level, title = common.level, leading[common.leading[0]].title if common.leading else ""
    resamples = f"{one.options['n_resamples']:,} resamples"
    tables = [group_table(subject, one)] if one.summary.groups else []
    if len(common.models) > 1:
        tables = [models_table(subject, common.summaries, common.marks), *tables]
        if one.summary.groups:
            tables += [group_models_table(subject, common.summaries, common.marks, key) for key in common.leading]
    return Answer(
        metric=subject.name,
        question=subject.question,
        data=subject.data(computed),
        model=model,
        models=[*common.models],
        leading=common.leading,
        numbers=numbers,
        results={name: summary.as_dict() for name, summary in common.summaries.items()},
        best=common.best,
        verdicts=verdicts_of(common.differences, common.best, common.leading[0], title) if common.leading else (),
        differences=common.differences,
        level=level,
        caption=f"paired bootstrap, {100 * level:g} %, {resamples}" if common.differences and level else "",
        noun=subject.noun,
        over=mean_over(subject, one.summary),
        side_by_side=tables[0] if tables else None,
        tables=[*tables[1:], *(subject.tables(computed) or result_tables(one.summary))],
        sections=_sections(subject, one.summary, common.leading),
        figures=[*subject.figures(computed)],
        images=[*subject.images(computed)],
        decisions=subject.decisions(computed),
        worst=[*subject.worst(computed)],
        notes=[_sentence(note) for note in dict.fromkeys([*common.notes, *subject.notes(computed)])],
        signature=one.summary.signature,
        sentence=_for_paper(subject, [*leading.values()], words.citation, level),
        citation=words.citation,
        call=common.call,
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].removesuffix('.')}."


def _title(subject: Subject, key: str) -> str:
    """A key in words, or the key itself."""
    of = key.removesuffix("_threshold")
    return subject.title(key) or (f"Threshold of {subject.title(of)}" if of != key and subject.title(of) else key)


def _numbers(common: _Common, computed: Computed) -> list[Number]:
    """Every number of a model, the leading ones first."""
    subject, results = common.subject, scalars(computed.summary.results)
    pooled = {} if computed.pooled is None else rates_of(computed.pooled.results)
    over, numbers = mean_over(subject, computed.summary), []
    for key in dict.fromkeys([*common.leading, *results]):
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
                _title(subject, key),
                subject.meaning(key, computed.options),
                "; ".join(filter(None, [over + whole if rate else "", error])),
                subject.threshold(computed, key) if rate else "",
                computed.model in common.marks.get(key, ()),
            )
        )
    return numbers


def _sections(subject: Subject, summary: Summary, leading: Sequence[str]) -> dict[str, list[str]]:
    """The keys that do not lead, by heading; those that match no pattern come last."""
    rest = [key for key in scalars(summary.results) if key not in leading]
    sections: dict[str, list[str]] = {}
    for title, pattern in {**subject.sections, "Others": ".*"}.items():
        own = [key for key in rest if re.fullmatch(pattern, key)]
        rest = [key for key in rest if key not in own]
        if own:
            sections[title] = own
    return sections


def _for_paper(subject: Subject, numbers: Sequence[Number], citation: str, level: float | None) -> str:
    """The leading numbers as a sentence, with a citation."""
    said = []
    for number in numbers:
        text = f"{number.title} = {number_text(number.value)}"
        if number.interval is not None and level is not None:
            low, high = map(number_text, number.interval)
            text += f" ({100 * level:g} % interval {low} to {high})"
        said.append(text)
    listed = " and ".join([", ".join(said[:-1]), said[-1]] if len(said) > 1 else said)
    over = f" ({numbers[0].note.partition(' (')[0]})" if numbers and numbers[0].note else ""
    cited = ",".join(re.findall(r"@\w+\{([^,]+),", citation))
    computed = f"computed with {subject.name} of openworld-metrics{subject.method}"
    return f"We report {listed}{over}, {computed} \\cite{{{cited}}}."


def _differs(value: Any, default: Any) -> bool:
    return value is not default and repr(value) != repr(default)
