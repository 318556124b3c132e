"""The page of a metric as data, from which `build` makes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..metric.metric import Metric
from .columns.column import Column
from .columns.samples import Counts, Detectors, Groups
from .figures.computed import Computed
from .figures.threshold import Sweep
from .figures.thumbnails import Thumbnail
from .figures.worst import Worst
from .reading.data import DETECTOR, Data
from .reading.uploads import Reader
from .serving.costs import Cost, Drawing

Table = Mapping[str, Sequence[Any]]  # header → cells
Classes = Mapping[int, str]  # names by ids


class Option(NamedTuple):
    """An option of the metric, and the control that suits it, a key of `form.controls.CONTROLS`."""

    name: str
    control: str
    choices: tuple[str, ...] = ()


COUNTS = Counts("counts", ("count",), required=False)
DATA_SETS = Groups("groups", ("group", "dataset", "data_set", "ood_set"), required=False)
DETECTORS = Detectors(DETECTOR, ("model", "method"), required=False)
CONFIDENCE = Option("confidence_level", "number or none")


class Source(NamedTuple):
    """An input of the page: an editable table and a file.

    readers: those for suffixes of this input only, each of which takes all files of its suffix together
    """

    label: str
    readers: Mapping[str, Reader] = {}


class Example(NamedTuple):
    """A table for each source, and the options that go with them."""

    title: str
    tables: tuple[Table, ...]
    options: Mapping[str, Any] = {}


class Sample(NamedTuple):
    """Real data in the metric's folder examples/: a file for each source, photographs, options, and what they are."""

    title: str
    files: tuple[str, ...]
    options: Mapping[str, Any] = {}
    photographs: str = ""
    note: str = ""


class Derived(NamedTuple):
    """Options that follow from the data, and why, in words."""

    options: Mapping[str, Any]
    reason: str


class Page(NamedTuple):
    """A metric's page.

    draw: from what was computed to the figures, one for each of `pictures`, which are their headings
    images: whether the pictures show one image of several, so that the page lets a person choose, and behind which a
        photograph can be put
    samples: real data, of which the first is computed when the page opens; examples, in tables, come after them
    derive: from columns that were uploaded, and names of classes where they are known, to options that only they can
        say, with the reason in words
    joined: from what was read of each input to what is known of it beside the others
    outside: from the columns to which samples should score high, (N,) booleans, for the sign of the scores
    costs: what a computation takes that neither the size of the data nor the length of an option says, from the
        metric's reduced state and its options, which are not checked yet
    drawing: what a resample takes
    draw_image: the first of the pictures alone, of pages with images
    worst: the samples that are ranked worst
    thumbnails: the images with the most errors, at most so many
    sweep: from what was computed to what a threshold decides, wherever it is moved; None where there is none
    widths: quarters of the page that each of the pictures takes, by default two
    slider_below, strip_below: the picture below whose row the slider, and the strip of small pictures, stand
    method: how the numbers are taken, for a sentence in a paper
    headline, sections: patterns of the keys that are shown large, and of those below a heading
    meaning: from a key to what the result says, or ""
    named: the results, with the names of what their tables go over, where they are known
    """

    metric: type[Metric]
    question: str
    columns: tuple[Column, ...]
    options: tuple[Option, ...]
    examples: tuple[Example, ...]
    pictures: tuple[str, ...]
    draw: Callable[[Computed], Sequence[Any]]
    sources: tuple[Source, ...] = (Source("Data"),)
    images: bool = False
    costs: Callable[[Mapping[str, Any], Mapping[str, Any]], Iterable[Cost]] = lambda state, options: ()
    drawing: Drawing = Drawing()
    sweep: Callable[[Computed], Sweep | None] = lambda computed: None
    draw_image: Callable[[Computed], Any] = lambda computed: None
    worst: Callable[[Computed], Sequence[Worst]] = lambda computed: ()
    thumbnails: Callable[[Computed, int], Sequence[Thumbnail]] | None = None
    widths: tuple[int, ...] = ()
    slider_below: int = 1
    strip_below: int = 1
    method: str = ""
    headline: str = ""
    sections: Mapping[str, str] = {}
    meaning: Callable[[str], str] = lambda key: ""
    named: Callable[[Computed], Mapping[str, Any]] = lambda computed: computed.results
    samples: tuple[Sample, ...] = ()
    derive: Callable[[Mapping[str, Any], Classes], Derived] = lambda columns, classes: Derived({}, "")
    joined: Callable[[Sequence[Data]], list[Data]] = list
    outside: Callable[[Mapping[str, Any]], Any] | None = None

    @property
    def name(self) -> str:
        """The name of the metric."""
        return self.metric.name


def rows(text: str) -> Table:
    r"""A table from its header and rows, written with commas.

    >>> rows("a, b\n1, 0.5\n2, 1")
    {'a': [1, 2], 'b': [0.5, 1]}
    """
    header, *lines = (line.split(",") for line in text.strip().splitlines())
    columns = zip(*([int(cell) if cell.strip("- ").isdigit() else float(cell) for cell in line] for line in lines))
    return {name.strip(): list(column) for name, column in zip(header, columns)}


def argument_help(inputs_description: str) -> dict[str, str]:
    r"""The help of each argument, from the Args section of a metric's docstring.

    >>> argument_help("Args:\n    a, b: what\n        they are.\n    c: other.\n\nReturns:\n    d: no.\n")
    {'a': 'what they are.', 'b': 'what they are.', 'c': 'other.'}
    """
    section = inputs_description.partition("Args:\n")[2].partition("\n\n")[0]
    entries = re.findall(r"^    (\w[\w, ]*): ((?:.*)(?:\n {8,}.*)*)", section, flags=re.MULTILINE)
    return {name: " ".join(text.split()) for names, text in entries for name in names.split(", ")}


def one_line(text: str) -> str:
    """The first sentence, and the one that gives the default if there is another.

    >>> one_line("Ks to report. More is said here. Defaults to (1,).")
    'Ks to report. Defaults to (1,).'
    """
    first, *others = re.split(r"(?<=\.)\s+(?=[A-Z])", text)
    if "efault" in first:
        others = []
    first = first[:1].upper() + first[1:]
    return " ".join([first, *(other for other in others if "efault" in other)])
