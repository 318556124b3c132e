"""Answers as JSON, and the answers of the examples, which pages open with."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..extras import extra
from ..loading import METRICS, script
from ..reading.cures import sentence_of
from ..reading.read import read
from .answer import Answer, Curves, Figure, Image, Worst
from .answers import answers_of
from .python import Source
from .subject import subject_of

with extra("spaces"):
    from pydantic import ConfigDict, TypeAdapter

FILE = "answers.json"  # in the folder examples/ of a metric
POINTS, WORST = 150, 10  # of the curves, and samples of a side, in a saved answer
PICTURES = 220_000  # characters of all pictures of a saved answer
_ANSWERS = TypeAdapter(dict[str, Answer], config=ConfigDict(ser_json_inf_nan="constants"))


def as_json(answers: Mapping[str, Answer]) -> bytes:
    """Answers by name as JSON, with NaN and Infinity as Python writes them."""
    return _ANSWERS.dump_json({name: whole(answer) for name, answer in answers.items()}, exclude_defaults=True)


def whole(answer: Answer) -> Answer:
    """An answer with every picture drawn and every text written, in its groups too."""
    groups = [
        replace(group, images=[*map(_drawn, group.images)], figures=[*map(_written, group.figures)])
        for group in answer.groups
    ]
    decisions = answer.decisions and replace(answer.decisions, thresholds=[*answer.decisions.thresholds])
    images, figures = [*map(_drawn, answer.images)], [*map(_written, answer.figures)]
    return replace(answer, images=images, figures=figures or (), decisions=decisions, groups=groups or ())


def _drawn(image: Image) -> Image:
    return replace(image, beside=[*image.beside] or ())


def _written(figure: Figure) -> Figure:
    if not isinstance(figure, Curves):
        return figure
    return replace(figure, series=[replace(one, said=[*one.said] or ()) for one in figure.series])


def from_json(text: bytes) -> dict[str, Answer]:
    """The answers of a text of `as_json`. Raises ValueError for other text."""
    return _ANSWERS.validate_json(text)


def saved_answers(path: Path) -> dict[str, Answer]:
    """The answers of a file that `save_examples` has written, by the name of the model."""
    return from_json(path.read_bytes())


def example_answers(name: str) -> dict[str, Answer]:
    """The answers of a metric's first example, with intervals, and with curves and decisions of few points."""
    example, folder = subject_of(name).example, script(name).parent / "examples"
    reading = read(name, *(folder / file for file in example.files))
    photographs = [folder / example.photographs] if example.photographs else []
    answers = answers_of(
        name,
        reading,
        example.options,
        intervals=None if subject_of(name).images_are_rows else True,
        source=Source(example.files),
        photographs=photographs,
        points=POINTS,
    )
    return {
        model: replace(
            answer,
            worst=[*map(_shortened, answer.worst)],
            images=_lighter(answer.images),
            groups=(),
            notes=[*map(sentence_of, answer.notes)],
        )
        for model, answer in answers.items()
    }


def save_examples(names: Sequence[str] = METRICS) -> None:
    """Write the answers of the examples of some metrics into their folders."""
    for name in names:
        path = script(name).parent / "examples" / FILE
        path.write_bytes(as_json(example_answers(name)) + b"\n")


def _shortened(worst: Worst) -> Worst:
    """The first samples of a side, without parts that only a report has."""
    return replace(worst, columns={name: column[:WORST] for name, column in worst.columns.items()}, rows=(), role="")


def _lighter(images: Sequence[Image]) -> Sequence[Image]:
    """Images whose pictures have at most `PICTURES` characters together, three quarters of them for the large ones."""
    images = [replace(one, beside=()) for one in images]
    if sum(len(one.picture) + len(one.thumbnail) for one in images) <= PICTURES:
        return images
    most = PICTURES // (4 * len(images))
    return [
        replace(one, picture=_smaller(one.picture, 3 * most), thumbnail=_smaller(one.thumbnail, most)) for one in images
    ]


def _smaller(url: str, most: int) -> str:
    """A picture as WebP, made smaller until it fits or has 96 pixels."""
    from PIL import Image as Pixels

    if len(url) <= most:
        return url
    picture = Pixels.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))
    while len(url) > most and max(picture.size) > 96:
        file = io.BytesIO()
        picture.save(file, "WEBP", quality=75)
        url = "data:image/webp;base64," + base64.b64encode(file.getvalue()).decode()
        side = 7 * max(picture.size) // 8
        picture.thumbnail((side, side))
    return url
