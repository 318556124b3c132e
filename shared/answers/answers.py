"""From a reading of files to answers: numbers with intervals, a verdict, and what a metric has to show.

Reading ── Metric ──→ state, summary ──→ Computed ── Subject ──→ figures, decisions, worst, tables
prepared states of all models ──→ paired differences ──→ marks, verdicts                            ──→ Answer
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..loading import script
from ..metric.bootstrap import FEWEST, Part, are_enough
from ..metric.groups import GROUPS, group_key
from ..metric.metric import Metric
from ..metric.numbers import number_text
from ..metric.results import Key, Rate, Summary, kind_of, rates_of
from ..reading.reading import Reading
from ..reading.tables.files import whole
from ..texts import texts
from .answer import Answer, Difference, Number, Table
from .charts import joined
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
from .tables import (
    best_of,
    differences_of,
    group_models_table,
    group_table,
    marked,
    mean_over,
    models_table,
    plain,
    plural,
    result_tables,
    scalars,
    verdicts_of,
)

LEVEL = 0.95  # confidence level of intervals for which none is chosen
MAX_LEADING = 3


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
    models: dict[str, Computed] = {}
    for place, (model, own) in enumerate(columns.items()):
        try:
            one = _computed(subject, model, own, chosen, reading, times=len(columns), bounded=bounded)
        except (ValueError, TypeError) as error:
            raise type(error)(f"{model}: {error}" if len(columns) > 1 else str(error)) from error
        models[model] = replace(one, place=place, photographs=photographs, points=points)
    level, parts, why_none = _level(subject, models, chosen, intervals, bounded)
    settled, why_less = subject.settle(models)
    notes = [*reading.notes, *filter(None, [why_less, why_none])]
    if level is not None:
        settled = {model: _with_intervals(subject, one, level) for model, one in settled.items()}
    summaries = {model: one.summary for model, one in settled.items()}
    first = next(iter(settled.values()))
    leading = leading_keys(subject, first.summary)
    best = (best_of(summaries, leading[0]) if leading else "") or next(iter(settled))
    differences: list[Difference] = []
    if level is not None and len(settled) > 1:
        drawn = {"n_resamples": chosen["n_resamples"], "random_state": chosen["random_state"]}
        means = _metric(subject, first, chosen).means
        try:
            differences = differences_of(summaries, parts, best, level, **drawn, means=means)
        except ValueError as error:
            notes.append(f"The models were not compared: {error}.")
    changed = {key: value for key, value in first.options.items() if _differs(value, subject.metric.options[key])}
    marks, citation = marked(summaries, differences), texts(script(name)).citation
    caption = f"paired bootstrap, {100 * (level or 0):g} %, {chosen['n_resamples']:,} resamples"
    titles = {key: _title(subject, key, first.options) for key in leading}
    tables = [models_table(subject, summaries, marks)] if len(settled) > 1 else []
    by_group = [group_models_table(subject, summaries, marks, *titled) for titled in titles.items() if tables]
    answers = {}
    with np.errstate(all="ignore"):
        common: dict[str, Any] = {
            "metric": name,
            "question": subject.question,
            "models": [*settled],
            "leading": leading,
            "numbers": {model: _numbers(subject, one, leading, marks) for model, one in settled.items()},
            "results": {model: summary.as_dict() for model, summary in summaries.items()},
            "best": best,
            "verdicts": verdicts_of(differences, best, leading[0], titles[leading[0]]) if leading else (),
            "differences": differences,
            "level": level,
            "caption": caption if differences else "",
            "noun": subject.noun,
            "citation": citation,
            "call": python_call(name, source, len(columns) > 1, changed, best if differences else ""),
        }
        for model, one in settled.items():
            computed = replace(one, rivals={name: other for name, other in settled.items() if name != model})
            side = [*tables, group_table(subject, one), *by_group] if one.summary.groups else tables
            answers[model] = _answer(subject, computed, side, notes, common)
    return answers


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
    computed = _computed(subject, name, columns, chosen, Reading(name, {}), times=1, bounded=True)
    if chosen["confidence_level"] is not None:
        check_cost(_work_of_resamples(subject, computed, chosen["n_resamples"]), IntervalsError)
        computed = _with_intervals(subject, computed, chosen["confidence_level"])
    return computed.summary.as_dict()


def _computed(
    subject: Subject,
    model: str,
    columns: Mapping[str, Any],
    options: Mapping[str, Any],
    reading: Reading,
    *,
    times: int,
    bounded: bool,
) -> Computed:
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
    groups = [*map(group_key, np.asarray(columns[GROUPS], dtype=object).tolist())] if GROUPS in columns else []
    pooled = summaries[-1] if len(every) > 1 else None
    return Computed(model, rest, states[-1], options, summaries[0], reading, states[0], pooled, groups)


def _level(
    subject: Subject, models: Mapping[str, Computed], options: Mapping[str, Any], wanted: bool | None, bounded: bool
) -> tuple[float | None, dict[str, Sequence[Part]], str]:
    """The confidence level, or None for no intervals; the prepared parts of each model; and why there are none.

    A resample passes once over the samples of each model, and twice for each pair.
    """
    level = options["confidence_level"]
    automatic = not wanted and level is None
    if automatic and wanted is False:
        return None, {}, ""
    passes = options["n_resamples"] * len(models) ** 2
    work: dict[str, int] = {}
    for one in models.values():
        work |= _work_of_resamples(subject, one, passes)
    if not automatic and bounded:
        check_cost(work, IntervalsError)
    if automatic and max(work.values()) > MAX_AUTOMATIC:
        return None, {}, "Intervals take longer here, and were left out."
    parts: dict[str, Sequence[Part]] = {}
    if automatic or len(models) > 1:
        parts = {model: [*_metric(subject, one, options).prepared_parts()] for model, one in models.items()}
    if automatic and not all(are_enough(part.prepared) for own in parts.values() for part in own):
        return None, {}, f"No intervals: there are fewer than {FEWEST} samples of a kind."
    return level or LEVEL, parts, ""


def _work_of_resamples(subject: Subject, one: Computed, times: int) -> dict[str, int]:
    return work_of_resamples(subject, one.summary.as_dict(), one.by_group, one.columns, times)


def _metric(subject: Subject, one: Computed, options: Mapping[str, Any]) -> Metric:
    metric = subject.metric(**options)
    metric.keeps_samples = True
    metric.merge(one.by_group)
    return metric


def _with_intervals(subject: Subject, computed: Computed, level: float) -> Computed:
    """The computation with an interval of each of its rates."""
    options = {**computed.options, "confidence_level": level}
    summary = _metric(subject, computed, options).summary()
    of_all = {key: rate.interval for key, rate in summary.rates().items() if rate.interval is not None}
    summary = computed.summary.with_intervals(of_all)._replace(options=summary.options)
    return replace(computed, summary=summary, options=options)


def leading_keys(subject: Subject, summary: Summary) -> list[str]:
    """At most three keys that lead: the first that match the subject's patterns, or else the first results."""
    keys = scalars(summary.results)
    chosen = dict.fromkeys(key for pattern in subject.leading for key in keys if re.fullmatch(pattern, key))
    return [*(chosen or keys)][:MAX_LEADING]


def _answer(
    subject: Subject, computed: Computed, tables: Sequence[Table], notes: Sequence[str], common: Mapping[str, Any]
) -> Answer:
    """The answer of a model: what it shares with the others, and its own; the first table stands side by side."""
    summary, leading = computed.summary, common["leading"]
    numbers = common["numbers"][computed.model][: len(leading)]
    decisions = subject.decisions(computed)
    pooled = f"all {plural(subject.group)} pooled" if computed.pooled is not None else ""
    return Answer(
        **common,
        model=computed.model,
        data=subject.data(computed),
        over=mean_over(subject, summary),
        side_by_side=tables[0] if tables else None,
        tables=[*tables[1:], *(subject.tables(computed) or result_tables(summary))],
        sections=_sections(subject, summary, leading),
        figures=[replace(figure, note=joined(pooled, figure.note)) for figure in subject.figures(computed)],
        images=[*subject.images(computed)],
        decisions=decisions and replace(decisions, note=joined(pooled, decisions.note)),
        worst=[*subject.worst(computed)],
        notes=[_sentence(note) for note in dict.fromkeys([*notes, *subject.notes(computed)])],
        signature=summary.signature,
        sentence=_for_paper(subject, numbers, common["citation"], common["level"]),
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].removesuffix('.')}."


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
