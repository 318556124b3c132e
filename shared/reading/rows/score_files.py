"""Scores of data sets, known or unknown samples, each of a file or a column of one, as OpenOOD saves them.

OpenOOD saves an .npz for each set in one folder, `scores/cifar100.npz`, with `pred`, `conf` and `label` of its samples.
Its confidence is higher for known samples, and is therefore negated, in a file of any format.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...arrays.checks import as_labels, as_scores, check_lengths
from ...metric.groups import BAR, GROUPS
from ..columns.cells import noun_of
from ..columns.guesses import check_direction, is_guess, picked_names
from ..columns.kinds import Clusters, Column
from ..columns.metrics import layout_of
from ..places import unsigned
from ..reading import Reading
from ..reasons import named
from ..tables.files import NAMED, SUFFIXES, read_table, whole
from .from_names import patterns_of, with_columns
from .inputs import split_place
from .roles import BENCHMARKS, check_role

CONF = "conf"  # OpenOOD's confidence


class Scores(NamedTuple):
    """Scores of a data set.

    scores: (N,) higher is more unknown
    predictions, references: (N,) predicted and true classes of known samples; None if the file has none
    negated: the name of the column, if the scores are negated because of it; else ""
    guess: the name of the column, if another could have been meant; else ""
    type: of the scores in the file, such as "float16"
    sets: (N,) the names of their sets, by the names of rows; empty without a pattern for them
    clusters: (N,) what rows depend on, where a column or a pattern says it; empty without
    noun_of_clusters: a cluster in words, such as "speaker"
    notes: on columns that patterns make of names, and on columns of what rows may depend on
    """

    scores: Any
    predictions: Any = None
    references: Any = None
    negated: str = ""
    guess: str = ""
    type: str = ""
    sets: Sequence[str | None] = ()
    clusters: Sequence[Any] = ()
    noun_of_clusters: str = Reading.noun_of_clusters
    notes: Sequence[str] = ()

    def of_rows(self, rows: np.ndarray) -> Scores:
        """The scores of some rows."""
        scores, predictions, references = (each if each is None else each[rows] for each in self[:3])
        sets, clusters = ([each[row] for row in rows] if len(each) else () for each in (self.sets, self.clusters))
        columns: dict[str, Any] = {"predictions": predictions, "references": references, "sets": sets}
        return self._replace(scores=scores, **columns, clusters=clusters)

    def by_set(self) -> dict[str, Scores]:
        """The scores of each set, all under "" where rows name none. Raises ValueError for a row that names no set."""
        if not self.sets:
            return {"": self}
        if None in self.sets:
            raise ValueError(f"expected the name of a set in each row, got none in row {self.sets.index(None) + 1}")
        of_rows = [str(cell).split(BAR) for cell in self.sets]
        names = dict.fromkeys(chain.from_iterable(of_rows))
        return {name: self.of_rows(np.flatnonzero([name in listed for listed in of_rows])) for name in names}


def read_scores(
    place: str | Path,
    *,
    flip: bool = False,
    is_unknown: bool | None = None,
    from_names: Mapping[str, str | None] | None = None,
    clusters: str | None = None,
) -> Scores:
    """Read the scores of a data set.

    Parameters: place, a file with one column of scores, by its name, such as OpenOOD's `conf`, or by its values, or
    with the name of a column after a colon, or "-" for standard input; flip, whether to negate a column to which the
    place gives no sign; is_unknown, the side of the samples; None for either; from_names, regular expressions by
    option, see `from_names`, of which label_from_name takes the samples of the side from a file of both, and
    groups_from_name names their sets; clusters, the column of what rows depend on. Without flip or a sign, `conf` is
    negated, since it is higher for known samples, and another name that says confidence is refused. Columns `pred` and
    `label` are the predicted and true classes.
    Returns `Scores`. Raises ValueError, with the place, for an unreadable file, NaN, other shapes than (N,), and a
    column of labels or sets that names the other side.
    """
    path, picked = split_place(str(place))
    table = read_table(path, [*picked, clusters] if picked and clusters is not None else picked)
    with named(path):
        layout = layout_of("ood_bench")
        of_clusters = next(column for column in layout.columns if isinstance(column, Clusters))
        there, column = {name.strip() for name in table.arrays}, replace(layout.columns[0], name="scores")
        by_name = not picked and column.name not in there and CONF in there
        names = picked_names(column, table, [CONF] if by_name else picked)
        openood = not flip and [name.strip() for name in names] == [CONF]
        if flip or openood:
            names = [name if name[:1] in ("-", "+") and name not in table.arrays else f"-{name}" for name in names]
        check_direction([name for name in names if not (table.alone and not picked)])
        patterns = patterns_of(layout, from_names or {})
        chosen = {one.column: [one.made] for one in patterns}
        with_names, notes = with_columns(table, patterns, None)
        if is_unknown is not None and layout.label not in chosen:
            check_role(table, names, is_unknown)
        title = unsigned(names[0]).strip() if len(names) == 1 and not table.alone else column.name
        taken = column.take(names, table)
        scores = as_scores(taken, title)
        classes: dict[str, Any] = {}
        for kind in ("pred", "label") if {"pred", "label"} <= there else ():
            named_so = picked_names(Column(kind), table, [kind])
            classes[kind] = as_labels(Column(kind).take(named_so, table), kind)
        check_lengths(**{title: scores, **classes})
        guess = "" if openood or not is_guess(column, table, names, picked) else names[0]
        negated, kind = CONF if openood else "", str(np.asarray(taken).dtype)
        sets = with_names.arrays[chosen[GROUPS][0]].tolist() if GROUPS in chosen else ()
        depends = [clusters] if clusters is not None else chosen.get(of_clusters.name, [])
        by_row: Sequence[Any] = ()
        if depends:
            by_row = whole(of_clusters.take(picked_names(of_clusters, with_names, depends), with_names)).tolist()
            check_lengths(**{title: scores, depends[0]: by_row})
        else:
            notes = [*notes, *of_clusters.notes(of_clusters.likely(table, {*map(unsigned, names)}))]
        side = Scores(
            scores,
            classes.get("pred"),
            classes.get("label"),
            negated,
            guess,
            kind,
            sets,
            by_row,
            (noun_of(depends) if clusters is not None else "") or Reading.noun_of_clusters,
            notes,
        )
        if is_unknown is None or layout.label not in chosen:
            return side
        label = next(each for each in layout.columns if each.name == layout.label)
        rows = np.flatnonzero(np.asarray(label.take(chosen[layout.label], with_names)) == int(is_unknown))
        if not len(rows):
            raise ValueError(f"expected {'unknown' if is_unknown else 'known'} samples by their names, got none")
        return side.of_rows(rows)


def score_files(folder: str | Path, known: str | Path) -> dict[str, Path]:
    """The files of scores in a folder by the names of their sets; OpenOOD's sets are prefixed with near/ or far/.

    A set has the name of its file without the suffix, after its subfolder, if any: near/cifar100. In a folder without
    subfolders, beside known samples of cifar10, cifar100, mnist, imagenet200 or imagenet, OpenOOD's sets are near/… and
    far/… as in its benchmarks, and its covariate-shifted sets of known classes csid/….

    Parameters: folder; known, the file of the known samples, which is left out.
    Returns {name: path}, sorted. Raises ValueError for a folder without other files of scores, and for duplicate names.
    """
    folder, known = Path(folder), Path(known)
    paths = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in SUFFIXES[:-1] and path.is_file()]
    # a .txt beside arrays says what they are
    paths = [path for path in paths if path.suffix.lower() in NAMED] or paths
    others = [path for path in paths if not (known.exists() and path.samefile(known))]
    benchmark = BENCHMARKS.get(known.stem.lower(), {})
    files: dict[str, Path] = {}
    for path in others:
        name = path.relative_to(folder).with_suffix("").as_posix()
        name = f"{benchmark[name]}/{name}" if name in benchmark else name
        if name in files:
            raise ValueError(f"{folder}: expected one file of {name}, got {files[name].name} and {path.name}")
        files[name] = path
    if not files:
        raise ValueError(f"{folder}: expected files of scores ({', '.join(SUFFIXES[:-1])}), got none")
    return dict(sorted(files.items()))
