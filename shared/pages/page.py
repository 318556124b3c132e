"""The description of a metric's page, from which `build` makes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..metric.metric import Metric
from ..reading.rows.kinds import Column
from ..reading.rows.metrics import LAYOUTS
from .credits import Origin
from .figures.computed import Computed
from .figures.ranked import Listed, Ranked
from .figures.threshold import Sweep
from .figures.thumbnails import Thumbnail
from .serving.costs import Cost, Drawing

Table = Mapping[str, Sequence[Any]]  # header → cells
Classes = Mapping[int, str]  # class names by id


class Option(NamedTuple):
    """An option of the metric, and its control, a key of `form.controls.CONTROLS`."""

    name: str
    control: str
    choices: tuple[str, ...] = ()


CONFIDENCE = Option("confidence_level", "number or none")


class Source(NamedTuple):
    """An input of the page: an editable table, or files; `kinds` are suffixes that only this input takes."""

    label: str
    kinds: Sequence[str] = ()


class Example(NamedTuple):
    """A table for each source, and options for them."""

    title: str
    tables: tuple[Table, ...]
    options: Mapping[str, Any] = {}


class Sample(NamedTuple):
    """Real data in the metric's folder examples/: a file for each source, their origin, options, and photographs."""

    title: str
    files: tuple[str, ...]
    origin: Origin
    options: Mapping[str, Any] = {}
    photographs: str = ""

    def places(self, name: str) -> list[str]:
        """The files' paths in the repository, from the name of the metric."""
        return [f"metrics/{name}/examples/{file}" for file in self.files]


class Derived(NamedTuple):
    """Options that follow from the data, a sentence that gives the reason, and notes that hold for any options."""

    options: Mapping[str, Any]
    reason: str
    notes: Sequence[str] = ()


class Page(NamedTuple):
    """The description of a metric's page.

    pictures: the headings of the figures
    draw: makes the figures of a computation, one for each of `pictures`
    images: whether figures show one image of several, which the user chooses, with a photograph behind it if given
    samples: real data, the first of which is computed when the page opens
    examples: tables to type in, which come after the real data
    derive: infers options from the columns and the class names, where known, with a sentence that gives the reason
    derived: the names of these options
    choices: what may be asked of the reader of files that are no tables, by column, of which the first is usual
    reader_choices: those of `reading.read`, from what is asked for each column
    answerable: leaves out of the results of the detectors what could not be asked of them, and says why in a sentence
    costs: costs of a computation beyond the size of the data and the length of an option, from the metric's reduced
        state and its options, which have not been checked
    drawing: the cost of a resample
    draw_image: makes the first figure alone, on pages with images
    ranked: the samples by their scores; None if they are not known, or no picture is made of single samples
    listed: lists the samples, or the images with the names given, of a bar or a cell; by default those of `ranked`
    thumbnails: the images with the most errors, up to a number
    sweep: the decisions at any threshold, for the slider; None if there is no slider
    widths: the quarters of the page's width that each figure takes, two by default
    slider_below, strip_below: the slider, and the strip of thumbnails, stand below the row of this figure
    method: how the numbers are computed, as a sentence for a paper
    headline, sections: patterns of the keys that are shown large, and of the keys below each heading
    meaning: explains the result of a key, or returns ""
    named: the results, with names in place of ids in their tables, where known
    """

    metric: type[Metric]
    question: str
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
    ranked: Callable[[Computed], Ranked | None] = lambda computed: None
    listed: Callable[[Computed, Mapping[str, Any], Sequence[str]], Listed] | None = None
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
    choices: Mapping[str, tuple[str, ...]] = {}
    reader_choices: Callable[[Mapping[str, Sequence[str]]], Mapping[str, Any]] = lambda chosen: {}
    derived: tuple[str, ...] = ()
    answerable: Callable[[Mapping[str, Computed]], tuple[Mapping[str, Computed], str]] = lambda detectors: (
        detectors,
        "",
    )

    @property
    def name(self) -> str:
        """The name of the metric."""
        return self.metric.name

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the metric."""
        return LAYOUTS[self.name].columns


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
    """The first sentence, followed by the sentence with the default if that is another one.

    >>> one_line("Ks to report. More is said here. Defaults to (1,).")
    'Ks to report. Defaults to (1,).'
    """
    first, *others = re.split(r"(?<=\.)\s+(?=[A-Z])", text)
    if "efault" in first:
        others = []
    first = first[:1].upper() + first[1:]
    return " ".join([first, *(other for other in others if "efault" in other)])
