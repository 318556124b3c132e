"""The pages that fit files, as the readers tell."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from ...answers.subject import subject_of
from ...loading import METRICS
from ...reading.cures import choices_of
from ...reading.places import PICTURES
from ...reading.read import holds, reads_images
from ...reading.tables.files import TEXTS
from .pairs import siblings
from .session import Models
from .worker import Request, look

Inputs = Sequence[Models]


def pages() -> list[list[str]]:
    """The metrics of each page, of which the first opens, in the order of the front page.

    >>> pages()[0], pages()[-1]
    (['ood_bench'], ['accuracyk', 'autkc'])
    """
    several = [[*siblings(metric)] for metric in METRICS]
    once = [each for place, each in enumerate(several) if each not in several[:place]]
    return sorted(once, key=lambda names: subject_of(names[0]).form.place)


def fitting(paths: Sequence[str]) -> list[tuple[str, Inputs]]:
    """The metrics that can be computed of files, and the files of each input.

    One of the two inputs of boxes or maps fits, too; files that need consent, such as to leave out rows, do where none
    fits without it. Archives of text that a reader of boxes takes are no tables.
    """
    fits, others = [], []
    for metric, *_ in pages():
        arrangements = [*arranged(metric, [*map(Path, paths)])]
        read = [(inputs, _read(metric, inputs)) for inputs in arrangements]
        fits += [(metric, inputs) for inputs, (is_read, _) in read if is_read][:1]
        others += [(metric, inputs) for inputs, (_, has_cure) in read if has_cure][:1]
    suffixes = {suffix for path in paths for suffix in _suffixes(Path(path)) if suffix not in PICTURES}
    of_images = [one for one in fits if reads_images(one[0])] if suffixes <= {*TEXTS} else []
    return of_images or fits or others


def arranged(metric: str, paths: Sequence[Path]) -> Iterator[Inputs]:
    """The ways to give files to the inputs of a metric: two files one each, in either order; one to either."""
    number = len(subject_of(metric).form.inputs)
    models = [{path.stem: [str(path)]} for path in paths]
    if number == 1:
        yield [{paths[0].stem: [*map(str, paths)]}]
    elif len(models) == 2:
        yield models
        yield models[::-1]
    elif len(models) == 1:
        yield [*models, {}]
        yield [{}, *models]


def _read(metric: str, inputs: Inputs) -> tuple[bool, bool]:
    """Whether files can be read as the inputs of a metric, and whether they can with a visitor's consent."""
    if not all(inputs):  # whether the reader of boxes or maps takes it for its own
        places = [[Path(path) for paths in models.values() for path in paths] for models in inputs]
        try:
            return holds(metric, places) and _suits(metric, places), False
        except ValueError:
            return False, False
    seen = look(Request(metric, inputs))
    return not seen.error, bool(seen.out or choices_of(seen.error) - {"columns"})


def _suits(metric: str, places: Sequence[Sequence[Path]]) -> bool:
    """Whether most of the files in each archive, beside photographs, have the suffixes of their input."""
    for own, paths in zip(subject_of(metric).form.suffixes, places):
        for path in paths:
            suffixes = [suffix for suffix in _suffixes(path) if suffix in own or suffix not in PICTURES]
            if not 4 * sum(suffix in own for suffix in suffixes) >= 3 * len(suffixes) > 0:
                return False
    return True


def _suffixes(path: Path) -> list[str]:
    """The suffixes of the files in an archive, none of a damaged one; that of any other file."""
    if path.suffix.lower() != ".zip":
        return [path.suffix.lower()]
    try:
        with zipfile.ZipFile(path) as archive:
            names = [PurePosixPath(info.filename) for info in archive.infolist() if not info.is_dir()]
    except (OSError, zipfile.BadZipFile):
        return []
    return [name.suffix.lower() for name in names if not any(part.startswith((".", "__MACOSX")) for part in name.parts)]
