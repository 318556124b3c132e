"""Answers as JSON, and the answers of the examples, which pages open with."""

from __future__ import annotations

import base64
import io
import json
import math
import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from ..loading import METRICS, script
from ..reading.read import read
from .answer import Answer, Image, Worst
from .answers import answers_of
from .python import Source
from .subject import subject_of

FILE = "answers.json"  # in the folder examples/ of a metric
POINTS, WORST = 150, 10  # of the curves, and samples of a side, in a saved answer
PICTURES = 220_000  # characters of all pictures of a saved answer
_KIND, _FLOAT = "kind", "float"  # the keys of a value's class, and of a number that JSON lacks


def as_json(answers: Mapping[str, Answer]) -> str:
    """Answers by name as JSON without NaN and infinity, which are texts."""
    return json.dumps(_plain(answers), ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def from_json(text: str) -> dict[str, Answer]:
    """The answers of a text of `as_json`. Raises ValueError for other text, KeyError and TypeError for other JSON."""
    loaded = json.loads(text, object_hook=lambda one: float(one[_FLOAT]) if [*one] == [_FLOAT] else one)
    return {name: _built(Answer, content) for name, content in loaded.items()}


def saved_answers(path: Path) -> dict[str, Answer]:
    """The answers of a file that `save_examples` has written, by the name of the model."""
    return from_json(path.read_text(encoding="utf-8"))


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
        model: replace(answer, worst=[*map(_shortened, answer.worst)], images=_lighter(answer.images))
        for model, answer in answers.items()
    }


def save_examples(names: Sequence[str] = METRICS) -> None:
    """Write the answers of the examples of some metrics into their folders."""
    for name in names:
        path = script(name).parent / "examples" / FILE
        path.write_text(as_json(example_answers(name)) + "\n", encoding="utf-8")


def _shortened(worst: Worst) -> Worst:
    """The first samples of a side, without what only a report takes."""
    return replace(worst, columns={name: column[:WORST] for name, column in worst.columns.items()}, rows=(), role="")


def _lighter(images: Sequence[Image]) -> Sequence[Image]:
    """Images whose pictures have at most `PICTURES` characters together, three quarters of them for the large ones."""
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


def _plain(value: Any) -> Any:
    """A value of dataclasses, mappings, sequences, texts and numbers for JSON."""
    if is_dataclass(value) and not isinstance(value, type):
        default = type(value).__dataclass_fields__
        own = {field.name: getattr(value, field.name) for field in fields(value)}
        own = {name: one for name, one in own.items() if one is None or one != default[name].default}
        return {_KIND: type(value).__name__, **{name: _plain(one) for name, one in own.items()}}
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [*map(_plain, value)]
    if isinstance(value, float) and not math.isfinite(value):
        return {_FLOAT: str(value)}
    return _plain(value.tolist()) if hasattr(value, "tolist") else value


@cache
def _hints(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)


def _built(hint: Any, value: Any) -> Any:
    """A value of JSON as the type that a field says."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        if not isinstance(value, (Mapping, list)):
            return value
        kinds = {getattr(kind, "__name__", ""): kind for kind in arguments}
        return _built(kinds.get(value[_KIND]) if isinstance(value, Mapping) else arguments[0], value)
    if is_dataclass(hint) and isinstance(hint, type):
        return hint(**{name: _built(_hints(hint)[name], one) for name, one in value.items() if name != _KIND})
    if origin is tuple:
        inner = arguments if arguments[-1] is not Ellipsis else arguments[:1] * len(value)
        return tuple(_built(kind, one) for kind, one in zip(inner, value, strict=True))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {name: _built(arguments[1], one) for name, one in value.items()}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return [_built(arguments[0], one) for one in value]
    return value
