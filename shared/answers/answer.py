"""The types of an answer: numbers, verdicts, figures as data, worst samples and notes, of one model beside its rivals.

An answer is plain data: numbers, texts, lists and pictures as data URLs, so that it can be saved as JSON and compared.
A face decides how it is shown, never what. Roles name what a mark stands for, and a face gives each its colour:
"known" and "unknown" samples (or normal and anomalous ones), the models "d1", "d2", …, and the outcomes of boxes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, overload

SIDE = 1024  # pixels along the longer side of a picture, at most
NO_DIFFERENCE = "no clear difference"  # where a paired comparison does not say which model is better


@dataclass(frozen=True)
class Number:
    """A result: its key and value, interval, the better direction, and its meaning.

    title: the key in words, such as "FPR at 95 % TPR"
    meaning: a line on what it means
    note: what it is of, such as "mean of 3 groups (pooled 0.631)"
    share: whether it is a share in [0, 1], of which three decimals are shown
    threshold: of the decisions that it is taken at, as the shortest decimal that makes the same decisions; "" if none
    best: whether it is the best of all models, or not told apart from the best by a paired comparison
    """

    key: str
    value: float | int
    interval: tuple[float, float] | None = None
    higher: bool | None = None
    share: bool = False
    title: str = ""
    meaning: str = ""
    note: str = ""
    threshold: str = ""
    best: bool = False


@dataclass(frozen=True)
class Difference:
    """A row of a paired comparison: first − second of a key, of a group if `group` is not ""."""

    first: str
    second: str
    key: str
    values: tuple[float, float]
    difference: float
    low: float
    high: float
    p_value: float
    better: str  # the name of the better model; "" if there is no clear difference
    higher: bool | None = None
    group: str = ""


@dataclass(frozen=True)
class Table:
    """A table of results: columns of one length by name, the first of which names the rows.

    shares: the names of columns of shares; best: (row, column) of marked cells; first: how many of its rows are means
    intervals: by column, the interval of each cell or None; higher: by column, whether higher is better
    """

    title: str
    columns: Mapping[str, Sequence[Any]]
    shares: Sequence[str] = ()
    best: Sequence[tuple[int, str]] = ()
    first: int = 0
    intervals: Mapping[str, Sequence[tuple[float, float] | None]] = field(default_factory=dict)
    higher: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True)
class Series:
    """A curve, or the values of a histogram's bins: `said` is the text of each point; selected, the model shown.

    value: the number beside the name of a curve, such as its AUROC
    """

    name: str
    role: str
    x: Sequence[float]
    y: Sequence[float]
    said: Sequence[str] = ()
    selected: bool = True
    value: float | None = None


@dataclass(frozen=True)
class Histogram:
    """Shares of each side's samples by score: a series has the left ends of the bins, all of one `width`.

    unit: what the axis shows, such as "score, higher is more OOD"; follows: whether the threshold is a line here
    of_all: whether shares are of the samples of all series
    """

    title: str
    unit: str
    series: Sequence[Series]
    width: float
    follows: bool = True
    note: str = ""
    of_all: bool = False


@dataclass(frozen=True)
class Curves:
    """Curves over two axes, ordered by value; `follows` names the two numbers of the decisions of its moving point.

    axes: in words; shares: whether each axis is [0, 1]; diagonal: whether chance is drawn
    steps: whether the value of a point holds back to the point before it (plotly's "vh"), in the order of the points
    """

    title: str
    axes: tuple[str, str]
    series: Sequence[Series]
    follows: tuple[str, str] | None = None
    shares: tuple[bool, bool] = (True, True)
    diagonal: bool = False
    steps: bool = False
    note: str = ""


@dataclass(frozen=True)
class Bars:
    """Bars divided into parts: counts[row][part], with the role of each part."""

    title: str
    rows: Sequence[str]
    parts: Sequence[str]
    roles: Sequence[str]
    counts: Sequence[Sequence[int]]
    note: str = ""


@dataclass(frozen=True)
class Matrix:
    """Counts of each row by column, shaded by their share of the row; None for a cell that cannot be.

    shares: whether cells have the share of their row; without, they are shaded by the highest count
    roles: of each cell, by default "unknown"; right: the cells (row, column) that are right decisions
    notes: a text under the name of each row
    """

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    counts: Sequence[Sequence[int | None]]
    axes: tuple[str, str] = ("", "")
    note: str = ""
    shares: bool = True
    roles: Sequence[Sequence[str]] = ()
    right: Sequence[tuple[int, int]] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Box:
    """A box of a picture, xyxy in its pixels: its outcome in words, the role of that, and a short label."""

    corners: tuple[float, float, float, float]
    outcome: str
    role: str
    label: str
    predicted: bool


class Key(NamedTuple):
    """An entry of the legend of a picture: its words, its role, and how many boxes have it; 0 if none are counted."""

    words: str
    role: str
    number: int = 0

    @property
    def is_error(self) -> bool:
        """Whether it counts errors."""
        return self.number > 0 and self.role != "right"


@dataclass(frozen=True)
class Image:
    """An image with its boxes, or with its anomaly map and mask drawn into `picture`.

    picture: a data URL of the photograph or the map; "" for a plain ground
    size: width and height in the units of the boxes
    said: its errors in words
    thumbnail: a small data URL for a gallery
    keys: its legend, which counts all boxes, also those that are not drawn
    kind: what it is an example of, such as "missed"; group: its group, such as a category
    beside: further pictures of it, such as other models' maps
    """

    name: str
    size: tuple[float, float]
    picture: str = ""
    boxes: Sequence[Box] = ()
    said: str = ""
    thumbnail: str = ""
    alt: str = ""
    keys: Sequence[Key] = ()
    kind: str = ""
    group: str = ""
    beside: Sequence[Image] = ()


Figure = Histogram | Curves | Bars | Matrix


@dataclass(frozen=True)
class Worst:
    """Samples of a side, the worst first: columns by name, of which the first names the sample.

    note: how many of them are wrong; pictures: a data URL of each sample, if there are images
    rows: the index of each sample among all; role: of their side in the table of the decisions, "" if it has none
    """

    title: str
    columns: Mapping[str, Sequence[Any]]
    note: str = ""
    pictures: Sequence[str] = ()
    rows: Sequence[int] = ()
    role: str = ""


@dataclass(frozen=True)
class Decisions:
    """The counts and rates of the decisions `score > t` at each of T thresholds, in ascending order.

    thresholds: texts (T,), each the shortest decimal that makes its decisions; ends: the lowest score above each
    counts: (T,) by name; rates: the names of counts summed in the numerator and in the denominator, by name
    values: other numbers (T,) by name; shares: the names of those that are shares
    table: the name of a count for each row and column, by their names
    presets: indices of common thresholds by name; the first is the one that is shown
    promises: sentences on new data, of some presets, with {threshold}
    rule: the decision in words, such as "OOD if score >"
    roles: the role of each row of `table`
    possible: how many thresholds decide differently, where some are left out; 0 where none is
    """

    thresholds: Sequence[str]
    ends: Sequence[float]
    counts: Mapping[str, Sequence[int]]
    rates: Mapping[str, tuple[Sequence[str], Sequence[str]]]
    table: Mapping[str, Mapping[str, str]]
    presets: Mapping[str, int]
    rule: str
    values: Mapping[str, Sequence[float]] = field(default_factory=dict)
    shares: Sequence[str] = ()
    promises: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    possible: int = 0


class Pictures(Sequence[Image]):
    """Images that are drawn when they are looked at, each once.

    draws: a function for each, of the number of images that are shown together, and of the most pixels of a side
    kinds: what each is an example of
    """

    def __init__(
        self, draws: Sequence[Callable[[int, int], Image]], kinds: Sequence[str] = (), side: int = SIDE
    ) -> None:
        self._draws, self.kinds, self._side = draws, kinds, side
        self._drawn: dict[int, Image] = {}

    def at_most(self, side: int) -> Pictures:
        """The same images, drawn with at most `side` pixels along their longer sides."""
        return Pictures(self._draws, self.kinds, side)

    def __len__(self) -> int:
        return len(self._draws)

    @overload
    def __getitem__(self, place: int) -> Image: ...
    @overload
    def __getitem__(self, place: slice) -> Pictures: ...
    def __getitem__(self, place: int | slice) -> Image | Pictures:
        """An image, which is drawn, or some of the images, which are not."""
        if isinstance(place, slice):
            return Pictures(self._draws[place], self.kinds[place], self._side)
        at = range(len(self))[place]
        if at not in self._drawn:
            self._drawn[at] = self._draws[at](len(self), self._side)
        return self._drawn[at]

    @staticmethod
    def of(parts: Iterable[Sequence[Image]]) -> Pictures:
        """The images of several parts, drawn when they are looked at."""
        several = [part if isinstance(part, Pictures) else Pictures([*map(_drawn_as, part)]) for part in parts]
        draws = [draw for part in several for draw in part._draws]
        return Pictures(draws, [kind for part in several for kind in part.kinds])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr([*self])

    def __reduce__(self) -> Any:
        """Leave as a list: a process that has not read the files cannot draw them."""
        return list, ([*self],)


class Texts(Sequence[str]):
    """Texts of thresholds between scores, each written once, when it is looked at: a report shows few of them.

    write: the text of a threshold that lies between two neighbouring scores, the low and the high one
    """

    def __init__(self, write: Callable[[float, float], str], low: Sequence[float], high: Sequence[float]) -> None:
        self._write, self._low, self._high = write, low, high
        self._written: dict[int, str] = {}

    def at(self, places: Sequence[int]) -> Texts:
        """The texts at some places."""
        return Texts(self._write, *([ends[place] for place in places] for ends in (self._low, self._high)))

    def __len__(self) -> int:
        return len(self._low)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Texts: ...
    def __getitem__(self, place: int | slice) -> str | Texts:
        """A text, which is written, or some of the texts, which are not."""
        if isinstance(place, slice):
            return Texts(self._write, self._low[place], self._high[place])
        at = range(len(self))[place]
        if at not in self._written:
            self._written[at] = self._write(self._low[at], self._high[at])
        return self._written[at]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr([*self])

    def __reduce__(self) -> Any:
        """Leave as a list, which a page reads again and again."""
        return list, ([*self],)


def _drawn_as(image: Image) -> Callable[[int, int], Image]:
    return lambda number, side: image


@dataclass(frozen=True)
class Group:
    """One group of an answer, such as a category, which has a threshold of its own.

    data: what was evaluated; figures, worst and images: as of `Answer`
    samples: its samples by column: names, whether each is of the unknown side, and its decision
    thresholds: of each level, as the shortest decimal that makes the same decisions
    """

    name: str
    data: str = ""
    figures: Sequence[Figure] = ()
    worst: Sequence[Worst] = ()
    images: Sequence[Image] = ()
    samples: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    thresholds: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """A metric's answer about a model, beside its rivals, if any.

    question: what the metric answers, in words; data: what was evaluated, such as "709 OOD, 1,291 in-distribution"
    model: the name of the model shown; models: the names of all, in the order of the file
    leading: at most three keys of headline numbers; numbers: every number of each model, the leading ones first
    beside: keys of other headline numbers, which are not compared; why: why intervals are missing, "" if they are not
    verdicts: a sentence for each rival of the best, the best first; best: the name of the best model
    differences: the paired comparison, a row for each pair and key
    level: the confidence level of the intervals; caption: how differences were tested, such as "paired bootstrap, 95 %"
    noun: what a model is called, such as "detector"; over: what numbers are over, such as "mean of 3 sets"
    side_by_side: the models, or the groups of one model, as rows of one table; tables: all others
    figures: of the model shown; images: the worst first
    groups: what is shown of each group, where groups are not pooled
    results: all results as `compute` returns them, by model, with all digits
    sections: keys of numbers by heading, for what is not leading
    files, options: the names of the files, and the options that differ from their defaults, plain, as of the signature
    sentence, citation: for a paper; call: the Python that reproduces the numbers and the verdict
    """

    metric: str
    question: str
    data: str
    model: str
    models: Sequence[str]
    leading: Sequence[str]
    numbers: Mapping[str, Sequence[Number]]
    results: Mapping[str, Any]
    best: str = ""
    verdicts: Sequence[str] = ()
    differences: Sequence[Difference] = ()
    level: float | None = None
    caption: str = ""
    noun: str = "model"
    over: str = ""
    beside: Sequence[str] = ()
    why: str = ""
    side_by_side: Table | None = None
    tables: Sequence[Table] = ()
    sections: Mapping[str, Sequence[str]] = field(default_factory=dict)
    figures: Sequence[Figure] = ()
    images: Sequence[Image] = ()
    decisions: Decisions | None = None
    worst: Sequence[Worst] = ()
    groups: Sequence[Group] = ()
    notes: Sequence[str] = ()
    signature: str = ""
    files: Sequence[str] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    sentence: str = ""
    citation: str = ""
    call: str = ""
