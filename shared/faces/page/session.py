"""The files of a session: uploads of each model, and downloads."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

LIFETIME = 3600  # seconds that a file may be taken away
MAX_DEPOSITS = 1_000
Models = Mapping[str, Sequence[str]]  # paths by the name of a model
_deposits: dict[str, tuple[float, Held]] = {}


class Held(NamedTuple):
    """The files of each input, its pasted cells, photographs behind images, and a table of the images' clusters."""

    files: Sequence[Models]
    pasted: Sequence[str] = ()
    photographs: Sequence[str] = ()
    clusters: str = ""


def added(models: Models, paths: Sequence[str]) -> dict[str, list[str]]:
    """The files of one more model, named by the first of them.

    >>> added({"knn": ["/a/knn.csv"]}, ["/b/knn.csv"])
    {'knn': ['/a/knn.csv'], 'knn 2': ['/b/knn.csv']}
    """
    models_with = {name: [*files] for name, files in models.items()}
    if not paths:
        return models_with
    stem, number = Path(paths[0]).stem, 2
    name = stem
    while name in models_with:
        name, number = f"{stem} {number}", number + 1
    return {**models_with, name: [*paths]}


def deposit(held: Held) -> str:
    """Keep the files of a page for an hour, and return the secret by which another page of the visitor takes them."""
    now = time.monotonic()
    for secret, (until, _) in [*_deposits.items()]:
        if until < now or len(_deposits) >= MAX_DEPOSITS:
            del _deposits[secret]
    secret = secrets.token_urlsafe(16)
    _deposits[secret] = now + LIFETIME, held
    return secret


def deposited(secret: str) -> Held | None:
    """The files of a secret of `deposit`; None for another one, or where they are no longer there."""
    until, held = _deposits.get(secret, (0.0, None))
    if held is None or until < time.monotonic():
        return None
    paths = [Path(path) for models in held.files for model_files in models.values() for path in model_files]
    return held if all(path.exists() for path in paths) else None


def named(files: Sequence[Models], pasted: Sequence[str] = ()) -> str:
    """The names of the files of all inputs, the first few of them.

    >>> named([{"knn": ["/a/knn.csv"]}, {}], ["", "1,2"])
    'knn.csv, pasted cells'
    """
    names = [Path(path).name for models in files for paths in models.values() for path in paths]
    names += ["pasted cells"] if any(pasted) else []
    return ", ".join(names) if len(names) <= 3 else f"{', '.join(names[:2])} and {len(names) - 2:,} more"


def download(name: str, text: str) -> str:
    """The path of a file of this text, which is there for an hour."""
    folder = Path(_folder().name)
    for old in folder.iterdir():
        if time.time() - old.stat().st_mtime > LIFETIME:
            old.joinpath(next(old.iterdir())).unlink()
            old.rmdir()
    place = folder / secrets.token_urlsafe(16)
    place.mkdir()
    path = place / name
    path.write_text(text, encoding="utf-8")
    return str(path)


@cache
def _folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="openworld-metrics-")
