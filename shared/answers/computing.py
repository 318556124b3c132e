"""The computation of models from a reading: category by category, each of which is freed before the next.

category ── Metric ──→ parts ──→ results of its groups · replicates · paired differences · what is shown of each group
all categories ──→ a summary of each model, with intervals; comparisons of every two
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from ..comparison import SHARED, Comparison, Differences, compared, differences_of_parts
from ..metric.bootstrap import ByGroup, Part, assembled, named, replicates
from ..metric.groups import ALL, GROUPS, as_parts, group_key, groups_of
from ..metric.metric import Metric
from ..metric.results import Draws, Results, Summary, all_draws, rates_of
from ..metric.signature import signed
from ..metric.states import joined
from ..reading.cures import cures_of, sentence_of
from ..reading.progress import progress_bar
from ..reading.reading import Category, Reading
from ..reading.reasons import rows_from
from .answer import Group
from .costs import check_cost, work_of_options, work_of_state
from .intervals import (
    FEW,
    SLOW,
    fewer_intervals,
    have_enough,
    is_slow_by_images,
    level_of,
    lighter_of,
    lighter_parts,
)
from .subject import Computed, Subject

_POINTS = 400  # of a curve of one of several groups
Drawn = dict[tuple[str, str], list[Differences]]
Shown = Callable[[Computed], Group]
Beside = Callable[[Category, str, str, Results], Results]
Numbers = Callable[["Computation"], object]


@dataclass
class Computation:
    """The computations of models, by name.

    level: the confidence level of their intervals, None without; why: a sentence on why there are none, or fewer, or ""
    of: the numbers that have intervals where not all do, such as "rates of images"
    rows: by model, the results of each group; drawn: their replicates; clusters: of each part, that were drawn
    shown: by model, what is shown of each group, where groups are not pooled
    comparisons: of every two models, in the order of the reading; uncompared: why there are none, or ""
    unasked: a sentence on results that are left out, since nothing could be asked of the models, or ""
    metrics: by model, the metric with the batches of the last category; num_samples, of all categories, of each model
    reading: what was computed
    """

    reading: Reading

    models: dict[str, Computed] = field(default_factory=dict)
    level: float | None = None
    why: str = ""
    of: str = ""
    rows: dict[str, dict[str, Results]] = field(default_factory=dict)
    drawn: dict[str, ByGroup] = field(default_factory=dict)
    clusters: dict[str, list[Draws | None]] = field(default_factory=dict)
    noun_of_clusters: str = "cluster"
    shown: dict[str, dict[str, Group]] = field(default_factory=dict)
    comparisons: dict[tuple[str, str], Comparison] = field(default_factory=dict)
    uncompared: str = ""
    unasked: str = ""
    metrics: dict[str, Metric] = field(default_factory=dict)
    num_samples: int = 0

    @property
    def draws(self) -> Draws | None:
        """The clusters that intervals were drawn from; None where rows were drawn."""
        of_pairs = (comparison.drawn for comparison in self.comparisons.values())
        return next(filter(None, [*map(all_draws, self.clusters.values()), *of_pairs]), None)

    @property
    def drawn_clusters(self) -> str:
        """The clusters that intervals were drawn from, in words; "" where rows were drawn."""
        return "" if self.draws is None else self.draws.text(self.noun_of_clusters)

    def compared(self, first: str, second: str) -> Comparison:
        """The comparison of two models, in either order: that of the other order is its mirror image."""
        if (first, second) in self.comparisons:
            return self.comparisons[first, second]
        opposite = self.comparisons[second, first]
        return Comparison(
            opposite.second,
            opposite.first,
            {key: -values for key, values in opposite.differences.items()},
            opposite.level,
            opposite.drawn,
        )


def note_of(done: Computation, options: Mapping[str, Any]) -> str:
    """A note on the intervals of a computation, or on why there are none."""
    if done.level is None:
        return done.why
    drawn = f", {done.drawn_clusters}" if done.drawn_clusters else ""
    of = f" of {done.of}" if done.of else ""
    return f"{100 * done.level:.12g} % intervals{of}: {options['n_resamples']:,} resamples{drawn}"


def options_of(options: Mapping[str, Any], category: str) -> dict[str, Any]:
    """The options of one category: mappings give its value. Raises ValueError for a mapping without the category.

    >>> options_of({"pixel_threshold": {"can": 0.3, "vial": 0.4}, "levels": "pixel"}, "vial")
    {'pixel_threshold': 0.4, 'levels': 'pixel'}
    """
    for name, value in options.items():
        if isinstance(value, Mapping) and category not in value:
            raise ValueError(f"{name}: expected a value for category {category!r}, got values for {', '.join(value)}")
    return {name: value[category] if isinstance(value, Mapping) else value for name, value in options.items()}


def compute_models(
    subject: Subject,
    reading: Reading,
    options: Mapping[str, Any],
    *,
    intervals: bool | None = None,
    shown: Shown | None = None,
    beside: Beside | None = None,
    numbers: Numbers | None = None,
    alone: bool = True,
    keeps_samples: bool = False,
    bounded: bool = True,
    progress: bool = False,
    photographs: Sequence[Path] = (),
    points: int = 2_000,
    typed: float | None = None,
) -> Computation:
    """Compute the models of a reading, with intervals and paired comparisons.

    Parameters: the subject of a metric; a reading; all options of the metric, each a value or a dict of values by
    category; intervals, whether rates get intervals and models are compared: None, where that takes some seconds and
    there are enough samples, False for none but those of the option confidence_level; where those of all numbers take
    longer, those of the subject's `lighter` part are drawn; shown, a function of the computation of each group, called
    while its samples are in memory, or None if only numbers are wanted; beside, a function of a category, a model, a
    group and its results, which returns them with what else is known of the group, such as its number of images;
    numbers, a function of the computation without intervals, called before any are drawn, until which the samples of
    all categories are held: where the cost is bounded; alone, whether each model has intervals of its own: else only
    differences have some, and an error is raised where they cannot be drawn; keeps_samples, whether equal rows stay
    apart, as for samples that are saved; bounded, whether the cost is; progress, whether to show a bar on a terminal;
    photographs, points and typed, as of `Computed`.

    Raises the errors of the metric, with the name of the model where there are several, unless an option or a column
    that all share is wrong; RefusedError for a computation, and IntervalsError for intervals, that cost too much.
    """
    done, several = Computation(reading, noun_of_clusters=reading.noun_of_clusters), len(reading.models) > 1
    chosen = options["confidence_level"]
    may_draw, automatic = chosen is not None or intervals is not False, chosen is None and intervals is None
    of_categories = [options_of(options, category) for category in reading.category_names]
    lighter = lighter_of(subject, of_categories) if automatic else None
    decided = automatic and is_slow_by_images(subject, reading, of_categories[0])
    if decided:
        may_draw, done.level, done.why, done.of = False, *fewer_intervals(lighter)
    drawn: Drawn = {}
    drawing: list[Callable[[], None]] = []
    keep = keeps_samples or shown is not None or (several and may_draw)
    common: dict[str, Any] = {"photographs": photographs, "points": points, "typed": typed}
    with progress_bar(
        total=reading.length, unit=" images" if subject.images_are_rows else " rows", shown=progress
    ) as bar:
        for category in reading.categories():
            settings = options_of(options, category.name)
            parts: dict[str, list[Part]] = {}
            here: dict[str, Computed] = {}
            for place, (model, columns) in enumerate(category.models.items()):
                try:
                    looks = keep or bounded or may_draw or bool(done.of) or subject.settle is not None
                    metric, state = _added(
                        subject, category, model, settings, keep, may_draw, looks, bounded, several, bar.update
                    )
                    done.metrics[model] = metric
                    done.num_samples += len(metric) if place == 0 else 0
                    parts[model] = [*metric.prepared_parts(category.group)] if may_draw else _plain(metric, category)
                except (ValueError, TypeError) as error:
                    text = sentence_of(error)
                    is_of_one = several and text.partition(":")[0] not in (*SHARED, *options)
                    raise type(error)(f"{model}: {text}" if is_of_one else text, *cures_of(error)) from error
                here[model] = Computed(model, columns, state, settings, Summary({}), reading, place=place, **common)
                rows = dict.fromkeys(metric.group_names or [category.group], Results()) | _rows_of(parts[model])
                if beside is not None:
                    rows = {group: beside(category, model, group, row) for group, row in rows.items()}
                done.rows.setdefault(model, {}).update(rows)
            if not decided:
                decided = True
                results = {model: _rows_of(model_parts) for model, model_parts in parts.items()}
                done.level, done.why = level_of(subject, here, results, reading, settings, intervals, bounded)
                if done.why == SLOW:
                    may_draw, done.level, done.why, done.of = False, *fewer_intervals(lighter)
            if done.level is not None and done.of:
                parts = {model: lighter_parts(lighter, subject, category, one) for model, one in here.items()}
            if done.level is not None and automatic and not have_enough(parts):
                done.level, done.why, done.of = None, FEW, ""
            if done.level is not None:
                drawing.append(partial(_draw, done, parts, settings, drawn, automatic, alone))
                if numbers is None:
                    drawing.pop()()
            if shown is not None and not subject.pools and (category.group or category.rows.keys() - {ALL}):
                _show(done, category, here, shown)
            done.models |= here
    _pool(subject, done, reading, options, shown is not None)
    if drawing and numbers is not None:
        plain = replace(done, models=dict(done.models), level=None, why="", of="")
        _finish(subject, plain, reading, options, {})
        numbers(plain)
    for draw in drawing:
        draw()
    _finish(subject, done, reading, options, drawn)
    return done


def _added(
    subject: Subject,
    category: Category,
    model: str,
    options: Mapping[str, Any],
    keep: bool,
    may_draw: bool,
    looks: bool,
    bounded: bool,
    several: bool,
    update: Callable[[int], object],
) -> tuple[Metric, dict[str, Any]]:
    """A metric with the samples of a category, and its state where that is looked at."""
    columns = category.models[model]
    if bounded:
        check_cost(work_of_options(subject, columns, options))
    metric = subject.metric(**{**options, "confidence_level": None})
    metric.keeps_samples = keep or (may_draw and subject.images_are_rows)
    for first, batch in category.batches(model):
        with rows_from(first):
            metric.add_batch(**batch)
        update(max(map(len, batch.values()), default=0))
    state = metric.state() if looks else {}
    if bounded and state:
        times = (1 + several) * (2 if GROUPS in columns and subject.pools else 1)
        check_cost(work_of_state(subject, state, options, times))
    return metric, state


def _plain(metric: Metric, category: Category) -> list[Part]:
    """The results of a category's groups, as parts that are not resampled."""
    results, _ = metric.results_by_group(category.group)
    nothing: Any = None
    return [Part(group, nothing, {group: row}) for group, row in results.items()]


def _rows_of(parts: Sequence[Part]) -> dict[str, Results]:
    """The results of each group of some parts."""
    return {group: row for part in parts for group, row in part.results.items()}


def _draw(
    done: Computation,
    parts: Mapping[str, Sequence[Part]],
    options: Mapping[str, Any],
    drawn: Drawn,
    automatic: bool,
    alone: bool,
) -> None:
    """Draw the replicates of a category's parts, unless differences alone are, and the differences of every two models.

    Intervals that no one asked for are left out where they, or those of a category before, cannot be drawn.
    """
    if done.level is None:
        return
    number, seed = options["n_resamples"], options["random_state"]
    try:
        for model, model_parts in parts.items() if alone else ():
            for part in model_parts:
                with named(part.name):
                    values, again = replicates(part.prepared, part.rates(), number, seed)
                done.clusters.setdefault(model, []).append(part.draws(again))
                done.drawn.setdefault(model, {}).update(part.by_group(values, seed))
    except ValueError as error:  # of a resample that lacks what a result needs
        if not automatic:
            raise
        done.level, done.why, done.of = None, f"No intervals: {error}", ""
        return
    nothing: Any = None  # samples that are freed
    for pair in combinations(parts, 2) if not done.uncompared else ():
        try:
            pairs = differences_of_parts(*(parts[model] for model in pair), n_resamples=number, random_state=seed)
            drawn.setdefault(pair, []).extend(
                each._replace(
                    first=each.first._replace(prepared=nothing), second=each.second._replace(prepared=nothing)
                )
                for each in pairs
            )
        except ValueError as error:
            if not alone:
                raise
            done.uncompared = f"The models were not compared: {error}."
            return


def _show(
    done: Computation,
    category: Category,
    here: Mapping[str, Computed],
    shown: Shown,
) -> None:
    """Compute each group of a category, beside the same group of the other models, and show it."""
    by_group: dict[str, dict[str, Computed]] = {}
    for model, one in here.items():
        states = as_parts({name: array for name, array in one.state.items() if name != "metric"})
        shared, rows = states.pop(ALL, None), category.rows
        for group in groups_of(rows) or [category.group]:
            if not rates_of(done.rows[model][group]):  # it was left out
                continue
            state = joined([*([states[group]] if group in states else []), *([shared] if shared else [])])
            at = [*rows.get(group, ()), *rows.get(ALL, ())]
            part = category.part(at) if rows.keys() - {ALL} else category
            by_group.setdefault(group, {})[model] = replace(
                one,
                columns=part.models[model],
                state=state,
                summary=Summary(done.rows[model][group]),
                reading=replace(one.reading, images=part.images, models={}),
                group=group,
                points=min(one.points, _POINTS),
                memo={},
            )
    for group, models in by_group.items():
        for model, one in models.items():
            rivals = {name: other for name, other in models.items() if name != model}
            done.shown.setdefault(model, {})[group] = replace(shown(replace(one, rivals=rivals)), name=group)


def _pool(subject: Subject, done: Computation, reading: Reading, options: Mapping[str, Any], is_shown: bool) -> None:
    """Keep the samples of all categories together, or none, and compute the summary of all groups where these pool."""
    first = options_of(options, reading.category_names[0])
    for model, one in done.models.items():
        columns, pooled, groups = reading.models[model], None, list[str]()
        is_divided = len(reading.category_names) > 1 or (GROUPS in columns and not subject.pools)
        state = {} if is_divided else one.state
        if GROUPS in columns and is_shown:
            names = np.asarray(columns[GROUPS], dtype=object).tolist()
            groups = [*map(group_key, names)]
            if subject.pools:
                pooled, state = _pooled(subject, reading, model, first)
        rest = {key: column for key, column in columns.items() if key != GROUPS}
        done.models[model] = replace(one, columns=rest, state=state, pooled=pooled, groups=groups)


def _finish(subject: Subject, done: Computation, reading: Reading, options: Mapping[str, Any], drawn: Drawn) -> None:
    """Put the summaries of the models together, and their comparisons."""
    first = options_of(options, reading.category_names[0])
    settings = {**options, "confidence_level": done.level}
    of_categories = {name: dict(value) for name, value in options.items() if isinstance(value, Mapping)}
    for model, one in done.models.items():
        metric = subject.metric(**{**first, "confidence_level": done.level})
        values = done.drawn.get(model, {}) if done.level is not None else {}
        signature = signed(metric, {**metric.loaded_options, **of_categories, **reading.settings})
        clusters = all_draws(done.clusters.get(model, []))
        summary = assembled(metric, done.rows[model], values, clusters)._replace(**signature)
        done.models[model] = replace(one, options=settings, summary=summary)
    if subject.settle is not None:
        models, done.unasked = subject.settle(done.models)
        done.models = {**models}
    if done.level is None or done.uncompared:
        return
    means = subject.metric(**first).means
    for pair, parts in drawn.items():
        comparison, rates = compared(parts, done.level, **means), [done.models[model].summary.rates() for model in pair]
        there = {key: values for key, values in comparison.differences.items() if any(key in each for each in rates)}
        done.comparisons[pair] = comparison._replace(differences=there)


def _pooled(
    subject: Subject, reading: Reading, model: str, options: Mapping[str, Any]
) -> tuple[Summary, dict[str, Any]]:
    """The summary of all groups together, and their state."""
    metric = subject.metric(**{**options, "confidence_level": None})
    metric.keeps_samples = True  # a row for each, so that the worst can be named
    for category in reading.categories():
        for _, batch in category.batches(model):
            metric.add_batch(**{key: column for key, column in batch.items() if key != GROUPS})
    state = metric.state()
    return metric.summary(), state
