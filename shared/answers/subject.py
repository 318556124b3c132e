"""The description of a metric for its answers: its leading numbers, their meanings, and its figures."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from ..loading import task_of
from ..metric.metric import Metric
from ..metric.results import Summary
from ..reading.reading import Reading
from .answer import Decisions, Figure, Group, Image, Table, Worst
from .credits import Origin

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Computed:
    """A computation of one model and its rivals, from which figures, decisions and tables are made.

    columns: the arguments of `compute`, without `groups`
    state: the metric's reduced state of all samples, with groups pooled
    by_group: its state by group, from which intervals and comparisons are drawn
    options: all options of the metric, by name
    summary: of all samples or, where there are groups, means over them and the results of each
    pooled: the summary of all groups together; None without groups
    reading: names of samples, images and classes, sizes, notes
    groups: the name of each sample's group, "" for none; empty without groups
    place: the index of the model in the order of the file; its role is f"d{place + 1}"
    rivals: the computations of the other models, by name
    points: how many points a curve, and how many thresholds the decisions have at most
    typed: the only threshold of the decisions; None for many
    photographs: paths of pictures to be put behind boxes and maps, matched by name
    group: the name of the group that it is of, if it is of one
    memo: the values of functions that are `once`
    """

    model: str
    columns: Mapping[str, Any]
    state: Mapping[str, Any]
    options: Mapping[str, Any]
    summary: Summary
    reading: Reading
    by_group: Mapping[str, Any] = field(default_factory=dict)
    pooled: Summary | None = None
    groups: Sequence[str] = ()
    place: int = 0
    rivals: Mapping[str, Computed] = field(default_factory=dict)
    points: int = 2_000
    typed: float | None = None
    photographs: Sequence[Path] = ()
    group: str = ""
    memo: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def role(self) -> str:
        """The role of the model."""
        return f"d{self.place + 1}"

    @property
    def results(self) -> Mapping[str, Any]:
        """The plain results of all samples, with groups pooled, for figures and decisions."""
        return (self.pooled or self.summary).as_dict()

    @property
    def all_models(self) -> Sequence[Computed]:
        """Itself and its rivals, in the order of the file."""
        return sorted([self, *self.rivals.values()], key=lambda one: one.place)


def once(function: Callable[Concatenate[Computed, P], T]) -> Callable[Concatenate[Computed, P], T]:
    """A function of a computation, and of arguments that can be hashed, whose values the computation keeps."""

    @wraps(function)
    def kept(computed: Computed, /, *args: P.args, **options: P.kwargs) -> T:
        key = (function.__module__, function.__name__, *args, *options.values())
        if key not in computed.memo:
            computed.memo[key] = function(computed, *args, **options)
        value: T = computed.memo[key]
        return value

    return kept


def in_words(table: Mapping[str, tuple[str, str]], key: str) -> tuple[str, str]:
    """The title and the meaning of a key, of the first pattern that matches all of it; ("", "") if none does.

    In both texts, {0}, {1} … are the groups of the pattern, followed by the same groups in capitals.

    >>> in_words({"(.pr)([0-9]+)": ("{2} at {1} %", "")}, "fpr95")
    ('FPR at 95 %', '')
    """
    for pattern, words in table.items():
        if match := re.fullmatch(pattern, key):
            groups = match.groups("")
            title, meaning = (text.format(*groups, *map(str.upper, groups)) for text in words)
            return title, meaning
    return "", ""


@dataclass(frozen=True)
class Drawing:
    """The work of a resample, in steps of some 25 ns, the time of a metric with one number for a sample.

    sample: for a sample, or an image; a fifth of it more for each number
    group: for each group, or all samples, before any is counted
    number: for each number of each group
    """

    sample: int = 1
    group: int = 2_000
    number: int = 1_000


@dataclass(frozen=True)
class Lighter:
    """A part of the numbers whose resamples cost little: they have intervals where all numbers take too long.

    of: in words, such as "rates of images"; options: of the metric, that leave the other numbers out
    columns: of the metric, from a state of samples without groups
    suits: whether the options of a category ask for the part
    """

    of: str
    options: Mapping[str, Any]
    columns: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    suits: Callable[[Mapping[str, Any]], bool]


@dataclass(frozen=True)
class Example:
    """Real data in the metric's folder examples/: a file for each input, options, and photographs behind the images.

    origin: the works of others that the data are made from
    """

    title: str
    files: Sequence[str]
    origin: Origin
    options: Mapping[str, Any] = field(default_factory=dict)
    photographs: str = ""


@dataclass(frozen=True)
class Form:
    """The form of a metric's page.

    needs: the data in words, for the front page
    have: what its visitors have, in words, and the query of a link that opens the page for it
    place: on the front page, where a lower one stands before a higher one
    open: the options that are not folded
    inputs: what each place for files is called; suffixes: of the files of each, beside tables and archives
    choices: of the reader, a label and a value of each, beside the options of the metric
    switch: between two metrics of one page, in words, and the words of this one; ("", "") for a page of one
    """

    needs: str
    open: Sequence[str]
    inputs: Sequence[str] = ("Data",)
    suffixes: Sequence[Sequence[str]] = ((),)
    choices: Mapping[str, tuple[str, Any]] = field(default_factory=dict)
    switch: tuple[str, str] = ("", "")
    have: Mapping[str, str] = field(default_factory=dict)
    place: int = 9


def _nothing(*_: Any) -> Any:
    return ()


@dataclass(frozen=True)
class Subject:
    """The parts of a metric's answer, beside its numbers.

    question: what the metric answers, in words
    leading: patterns of the keys that lead, in their order; the first three keys that match any are the headline
    example: the data that the page opens with; form, of the page
    data: what was evaluated, such as "709 OOD, 1,291 in-distribution"
    sections: patterns of the keys below each heading; keys that match none are "Others"
    beside: numbers that the metric does not have, and that stand beside its headline, by key; shares, higher is better
    words: the title and the meaning of a key, with the options of the metric; "" if there is nothing to say
    figures, decisions, worst, images, tables, notes: parts of the answer, groups pooled
    settle: leaves out of the computations of the models what could not be asked of them, and says why in a sentence
    more_costs: work beyond rows × options, in steps, by what it comes from: `costs.check_cost` bounds each
    more_numbers: how many numbers each resample computes that the results do not list, such as AP of each class
    lighter: the part of the numbers that has intervals where those of all take too long
    threshold: of a key, as the shortest decimal that makes the same decisions; "" for a key without a threshold
    noun, group: what a model and a group are called; below, a group with a slash in its name, if not the same
    method: how the numbers are computed with some options, as an end of a sentence for a paper
    cites: whether the numbers with some options are those of the papers that the metric names
    images_are_rows: whether a sample is an image, so that resamples draw images
    pools: whether numbers, figures and decisions of all groups together mean something; else each group has its own
    samples, thresholds: of a group, as of `Group`
    joined: the parts of an answer from those of its groups, where these are not pooled
    """

    metric: type[Metric]
    question: str
    leading: Sequence[str]
    example: Example
    form: Form
    data: Callable[[Computed], str]
    sections: Mapping[str, str] = field(default_factory=dict)
    words: Callable[[str, Mapping[str, Any]], tuple[str, str]] = lambda key, options: ("", "")
    beside: Callable[[Computed], Mapping[str, float]] = lambda computed: {}
    figures: Callable[[Computed], Sequence[Figure]] = _nothing
    decisions: Callable[[Computed], Decisions | None] = lambda computed: None
    worst: Callable[[Computed], Sequence[Worst]] = _nothing
    images: Callable[[Computed], Sequence[Image]] = _nothing
    tables: Callable[[Computed], Sequence[Table]] = _nothing
    notes: Callable[[Computed], Sequence[str]] = _nothing
    settle: Callable[[Mapping[str, Computed]], tuple[Mapping[str, Computed], str]] | None = None
    more_costs: Callable[[Mapping[str, Any], Mapping[str, Any]], Mapping[str, int]] = lambda state, options: {}
    more_numbers: Callable[[Mapping[str, Any], Mapping[str, Any]], int] = lambda state, options: 0
    drawing: Drawing = Drawing()
    lighter: Lighter | None = None
    threshold: Callable[[Computed, str], str] = lambda computed, key: ""
    noun: str = "model"
    group: str = "group"
    below: str = ""
    method: Callable[[Mapping[str, Any]], str] = lambda options: ""
    cites: Callable[[Mapping[str, Any]], bool] = lambda options: True
    images_are_rows: bool = False
    pools: bool = True
    samples: Callable[[Computed], Mapping[str, Sequence[Any]]] = lambda computed: {}
    thresholds: Callable[[Computed], Mapping[str, str]] = lambda computed: {}
    joined: Callable[[Computed, Sequence[Group]], Group] = lambda computed, groups: Group("")

    @property
    def name(self) -> str:
        """The name of the metric."""
        return self.metric.name


def subject_of(metric: str) -> Subject:
    """The `Subject` of a metric: that of its name among `SUBJECTS` of its task. Raises ValueError for another name.

    >>> subject_of("openauc").metric.__name__
    'OpenAUC'
    """
    task = task_of(metric)
    subjects: Mapping[str, Subject] = import_module(f".{task}", __package__).SUBJECTS
    if metric not in subjects:
        raise ValueError(f"{metric}: expected a Subject in answers/{task}.py, got none")
    return subjects[metric]
