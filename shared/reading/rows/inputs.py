"""The inputs of a metric as tables: files, folders, archives and data frames, or the places of columns.

A place is a file, a file and the name of a column or of several ("scores.csv:cat,dog"), or "-" for standard input. A
name may have a sign: "scores.csv:-conf" is the negated column, "scores.csv:+conf" the column as it stands.

OpenOOD saves an .npz for each set in one folder, `scores/cifar100.npz`, with `pred`, `conf` and `label` of its samples.
Its confidence is higher for known samples, and is therefore negated, in a file of any format.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...arrays.checks import as_labels, as_scores, check_lengths
from ...metric.groups import BAR, GROUPS
from ..limits import Limits
from ..places import Archives, files_below, unsigned
from ..reading import Reading, as_paths
from ..reasons import named, some
from ..sides import side_of_name
from ..tables.files import NAMED, STANDARD_INPUT, SUFFIXES, Lines, Streamed, Table, check_names, read_table, whole
from .cells import noun_of, num_dimensions, plain
from .from_names import Pattern, patterns_of, stand_below, with_columns
from .joins import Sheet, joined
from .kinds import Clusters, Column, Names, Scores as ScoresColumn
from .metrics import LAYOUTS, Layout, guessed_by_name, guessed_by_values, says_confidence
from .missing import cure_of_names
from .roles import check_role, check_sets, numbers_of

_SETS = "data_set"  # the column of the files that rows come from


class Opened(NamedTuple):
    """The table of each input, in which rows are joined.

    files: of all inputs
    sentences: what was recognised; notes, how rows were joined; question, what was not recognised
    file_of_rows: (N,) the name of each row's file in the first table, if it has the rows of several
    """

    tables: Sequence[Table]
    files: Sequence[Path] = ()
    sentences: Sequence[str] = ()
    notes: Sequence[str] = ()
    question: str = ""
    file_of_rows: np.ndarray | None = None


def tables_of_places(
    layout: Layout, places: Mapping[str, Any], limits: Limits, *, signed: bool, by_position: bool = False
) -> tuple[Opened, dict[str, list[str]]]:
    """The arrays of the files of places, each read once, and the names of the arrays of each column.

    Rows of several files are joined in the order of the file of the references, other than samples of several kinds.
    Parameters: places, by column; signed, whether scores have a sign by other means; by_position, whether rows are
    taken as they stand. Raises ValueError, with the place.
    """
    split = {name: split_place(os.fspath(place)) for name, place in places.items()}
    wanted: dict[Path, list[str]] = {}
    for path, picked in split.values():
        wanted.setdefault(path, []).extend(picked)
    read = {path: read_table(path, names, limits, streamed=True) for path, names in wanted.items()}
    scores, by_name = layout.scores(), {column.name: column for column in layout.columns}
    own: dict[str, list[str]] = {}
    taken: dict[Path, list[str]] = {path: [] for path in read}
    sentences = []
    for name, (path, picked) in split.items():
        table = read[path]
        with named(places[name]):
            column = by_name[name]
            own[name] = picked_names(column, table, picked)
            if scores is not None and scores.name in (column.name, column.part_of) and not signed:
                check_direction(own[name])
            sentences += [f"{name} is {own[name][0]}"] if is_guess(column, table, own[name], picked) else []
        if not column.part_of and not isinstance(column, Names):
            taken[path] += own[name]
    notes: list[str] = []
    of_samples = [path for path in read if any(split[name][0] == path and not by_name[name].part_of for name in split)]
    if not by_position and len(of_samples) > 1:
        sheets = [Sheet(title, read[path], taken[path]) for title, path in zip(_titles(of_samples), of_samples)]
        first = split["references"][0] if "references" in split else of_samples[0]
        tables, notes = joined(sheets, first=of_samples.index(first))
        read |= dict(zip(of_samples, tables))
    pooled, called = Table({}), dict[Path, dict[str, str]]()
    for path, table in read.items():
        both = pooled.joined(table, path.stem)
        called[path] = dict(zip(table.arrays, [*both.arrays][len(pooled.arrays) :]))
        pooled = both
    chosen = {}
    for name, names in own.items():
        new = called[split[name][0]]
        chosen[name] = [new[one] if one in new else one[0] + new[unsigned(one)] for one in names]
    return Opened([pooled], [*read], sentences, notes), chosen


def _titles(paths: Sequence[Path]) -> list[str]:
    """The names of files, or of the files and their folders where files have one name."""
    names = [path.name for path in paths]
    return [name if names.count(name) == 1 else f"{path.parent.name}/{name}" for path, name in zip(paths, names)]


def read_column(place: str, name: str) -> tuple[Any, Sheet]:
    """The cells of one column as they stand, from its place, FILE or FILE:COLUMN, and the sheet that it is of."""
    path, picked = split_place(place)
    table = read_table(path, picked)
    with named(place):
        names = picked_names(Names(name, required=False), table, picked)
        return whole(Column(name).part(names[0], table)), Sheet(path.name, table, names)


def file_of(place: str) -> Path | None:
    """The file that holds the column of a place; None for standard input."""
    path, _ = split_place(place)
    return None if path == STANDARD_INPUT else path


def split_place(place: str) -> tuple[Path, list[str]]:
    """The file of a place, and the names of its columns; none if it is a file alone.

    >>> split_place("./scores.csv:cat,dog"), split_place("-:score")
    ((PosixPath('scores.csv'), ['cat', 'dog']), (PosixPath('-'), ['score']))
    """
    name, colon, names = place.rpartition(":")
    # an existing file, or C:\… on Windows, has no column after its colon
    if not colon or os.path.exists(place) or not (Path(name).suffix or name == "-" or os.path.isfile(name)):
        return Path(place), []
    if not all(names.split(",")):
        raise ValueError(f"{place}: expected FILE:COLUMN,COLUMN, got a column without a name")
    return Path(name), names.split(",")


def picked_names(column: Column, table: Table, names: Sequence[str]) -> list[str]:
    """The requested arrays, each with its sign, or else the only one that there is, or that looks like it.

    It looks like the column by its name or, if it is the only one, by its values. Blanks around names do not matter.
    Raises ValueError for a name that is not there.
    """
    there = [*table.arrays]
    known = {name.strip(): name for name in reversed(there)} | {name: name for name in there}
    if not names:
        exact = [known[column.name]] if column.name in known else []
        by_name = there if len(there) == 1 else exact or column.guess(table, there)
        return [*by_name] or _by_values(column, table) or _none(column.name, there)
    if table.alone:
        raise ValueError(f"expected named columns, to take {', '.join(names)} from, got a single one")
    picked = []
    for name in names:
        trimmed = name.strip()
        spellings = ((name, ""), (trimmed, ""), (unsigned(trimmed).strip(), trimmed[:1]))
        signed = next((sign + known[each] for each, sign in spellings if each in known), None)
        picked += [signed] if signed is not None else _none(name, there)
    return picked


def is_guess(column: Column, table: Table, names: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether the names of a column's arrays were guessed from several, rather than wanted, or the column's own."""
    return not wanted and len(table.arrays) > 1 and [*map(plain, names)] != [plain(column.name)]


def _by_values(column: Column, table: Table) -> list[str]:
    """The only array that could be a required column by its values, or by its first batch; else none."""
    flat = {name: array for name, array in table.arrays.items() if num_dimensions(array) == 1}
    first = {name: next(iter(array), ()) if isinstance(array, Streamed) else array for name, array in flat.items()}
    looked_at = column.required and column.precedence and not column.part_of
    names = column.guess_by_values({name: np.asarray(array) for name, array in first.items()}) if looked_at else []
    return names if len(names) == 1 else []


def _none(name: str, there: Sequence[str]) -> list[str]:
    raise ValueError(
        f"expected a column {name}, got {', '.join(there) or 'none'}; name others as in FILE:COLUMN,COLUMN"
    )


def check_direction(names: Sequence[str]) -> None:
    """Raise ValueError for a confidence without a sign, where higher scores are to mean unknown samples."""
    for name in names:
        if name[:1] not in ("-", "+") and says_confidence(name):
            raise ValueError(
                f"expected scores that are higher for unknown samples, got {name}, whose name says confidence: write "
                f"FILE:-{name} to negate it, or FILE:+{name} to take it as it is; --flip negates all scores"
            )


def tables_of_inputs(
    layout: Layout,
    inputs: Sequence[Any],
    archives: Archives,
    limits: Limits,
    *,
    names: Sequence[str] = (),
    patterns: Sequence[Pattern] = (),
    by_position: bool = False,
) -> Opened:
    """The arrays of all files of each input: a file, a folder, an archive, several of these, or a data frame.

    Rows are joined in the order of the first file. Parameters: names, the columns that are wanted; patterns, of names,
    for which the rows of files of the same columns stand one below another; by_position, whether rows are taken as they
    stand.
    """
    read = [_sheets_of_input(layout, one, archives, limits, names, patterns) for one in inputs]
    sheets = [sheet for each in read for sheet in each.sheets]
    question = next((each.question for each in read if each.question), "")
    notes = [note for each in read for note in each.notes]
    if not by_position and not question:  # files of several lengths may be of several kinds of samples
        tables, said = joined(sheets)
        notes += said
        sheets = [sheet._replace(table=table) for sheet, table in zip(sheets, tables)]
    pooled, start = [], 0
    for each in read:
        table = Table({})
        for sheet, path in zip(sheets[start:], each.paths):
            table = table.joined(sheet.table, path.stem)
        pooled.append(table if each.paths else sheets[start].table)
        start += len(each.sheets)
    sentences = [sentence for each in read for sentence in each.sentences]
    file_of_rows = next((each.file_of_rows for each in read), None)
    return Opened(pooled, [path for each in read for path in each.files], sentences, notes, question, file_of_rows)


class _Input(NamedTuple):
    """The tables of an input, with their paths if they lie side by side; the others as of `Opened`."""

    sheets: Sequence[Sheet]
    paths: Sequence[Path] = ()
    files: Sequence[Path] = ()
    sentences: Sequence[str] = ()
    notes: Sequence[str] = ()
    question: str = ""
    file_of_rows: np.ndarray | None = None


def _sheets_of_input(
    layout: Layout, files: Any, archives: Archives, limits: Limits, names: Sequence[str], patterns: Sequence[Pattern]
) -> _Input:
    if isinstance(files, Table):
        return _Input([Sheet("the table", files)])
    if hasattr(files, "columns") and hasattr(files, "iloc"):
        names = [str(name).strip() for name in files.columns]
        with named("table"):
            check_names(names, limits)
        arrays = {name: np.asarray(files[column]) for name, column in zip(names, files.columns)}
        index = str(files.index.name or "").strip()
        words = {} if index in arrays or files.index.nlevels > 1 else {index: partial(np.asarray, files.index)}
        return _Input([Sheet("the data frame", Table(arrays, words))])
    paths: list[Path] = []
    for place in as_paths(files):
        path = archives.folder(place) if place.suffix.lower() == ".zip" else place
        paths += files_below(path, None) if path.is_dir() else [path]
    paths = [*dict.fromkeys(paths)]
    limits.check_files(paths)
    by_column = isinstance(layout.columns[0], ScoresColumn)
    by_path = {path: read_table(path, names, limits, are_of_several=True, by_column=by_column) for path in paths}
    titles = _titles(paths)
    below = stand_below(titles, [*by_path.values()], patterns)
    sides, question = ({}, "") if any(one.column == layout.label for one in patterns) else _sides(layout, by_path)
    if sides or below:
        table, sentences = _of_sides(layout, by_path, sides) if sides else (_stacked(by_path), [])
        of_rows = np.repeat(np.asarray(titles, dtype=object), [*map(_num_rows, by_path.values())])
        notes = [] if sides else [below]
        return _Input([Sheet(paths[0].name, table)], (), paths, sentences, notes, file_of_rows=of_rows)
    sheets = [Sheet(title, table) for title, table in zip(titles, by_path.values())]
    return _Input(sheets, paths=paths, files=paths, question=question)


def _sides(layout: Layout, by_path: Mapping[Path, Table]) -> tuple[dict[Path, bool], str]:
    """Whether each file holds unknown samples, where each holds one side: by their names, if they have one header.

    If these say nothing, the names of their folders do, unless the rows may be the same samples: empty for such files.
    With a question for files of one header and of different lengths whose names do not say which is which.
    """
    if not layout.label or len(by_path) < 2:
        return {}, ""
    tables = [*by_path.values()]
    alike = all(table.alone for table in tables) or len({frozenset(table.arrays) for table in tables}) == 1
    lengths = {len(array) for table in tables for array in table.arrays.values() if num_dimensions(array) < 3}
    guesses = (guessed_by_values(layout, [table], guessed_by_name(layout, [table], {})) for table in tables)
    labelled = any(each[layout.label] for each in guesses)
    if not alike or labelled:
        return {}, ""
    sides = {path: side_of_name(path.stem) for path in by_path}
    known = [path for path in by_path if _is_known_beside(path, [*by_path])]
    if len(known) == 1 and {*sides.values()} == {None}:
        return {path: path not in known for path in by_path}, ""
    if {*sides.values()} == {None} and len(lengths) > 1:
        sides = {path: side_of_name(path.parent.name) for path in by_path}
    said = {*sides.values()} - {None}
    if len(said) == 2 or (said and len(sides) == 2):
        rest = len(said) == 2 or False in said
        return {path: rest if side is None else side for path, side in sides.items()}, ""
    if len(lengths) < 2:
        return {}, ""
    parts = [column.name for column in layout.columns if column.part_of]
    return {}, (
        f"{', '.join(path.name for path in by_path)}: expected names that say which file holds known samples and "
        "which unknown ones, such as id.csv and ood.csv, since they are of different lengths; or choose "
        f"{' and '.join(parts or ['other columns'])}{cure_of_names(tables[0])}"
    )


def _is_known_beside(path: Path, paths: Sequence[Path]) -> bool:
    """Whether the other files are OOD sets of OpenOOD's benchmark of a file's set: svhn of cifar10."""
    unknown = {name for name, group in _BENCHMARKS.get(path.stem.lower(), {}).items() if group != KNOWN_GROUP}
    return {other.stem.lower() for other in paths if other != path} <= unknown


def _num_rows(table: Table) -> int:
    return max(map(len, table.arrays.values()), default=0)


def _stacked(by_path: Mapping[Path, Table]) -> Table:
    """The rows of files of the same columns, one below another."""
    titles = dict(zip(by_path, _titles([*by_path])))
    named_alike = [
        table._replace(arrays={"scores": next(iter(table.arrays.values()))}) if table.alone else table
        for table in by_path.values()
    ]
    starts = np.cumsum([0, *map(_num_rows, named_alike)]).tolist()

    arrays, words, lines = {}, {}, {}
    for name in named_alike[0].arrays:
        arrays[name] = np.concatenate([np.asarray(table.arrays[name]) for table in named_alike])
        if all(name in table.words for table in named_alike):
            words[name] = partial(_words_below, [table.words[name] for table in named_alike])
        own = [table.lines.get(name, Lines()) for table in named_alike]
        lines[name] = Lines(below=[*zip(starts, titles.values(), own)])
    return Table(arrays, words, lines)


def _words_below(reads: Sequence[Callable[[], Any]]) -> np.ndarray:
    return np.concatenate([np.asarray(whole(read())) for read in reads])


def _of_sides(layout: Layout, by_path: Mapping[Path, Table], sides: Mapping[Path, bool]) -> tuple[Table, list[str]]:
    """The rows of files of known and of unknown samples, one below another, with a label and the name of their set."""
    stems = [path.stem for path in sides]
    names = {path: path.stem if stems.count(path.stem) == 1 else f"{path.parent.name}/{path.stem}" for path in sides}
    unknown = [names[path] for path, side in sides.items() if side]
    own: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    label: list[int] = []
    sets: list[str | None] = []
    for path, side in sides.items():
        own[side][f"{names[path]}{path.suffix}"] = numbers_of(by_path[path])
        size = _num_rows(by_path[path])
        label += [int(side)] * size
        sets += [names[path] if side and len(unknown) > 1 else None] * size
    check_sets(*own)
    for path, side in sides.items():
        with named(path.name):
            check_role(by_path[path], [], side)
    table = _stacked(by_path)
    table.arrays[layout.label] = np.asarray(label)
    if len(unknown) > 1:
        table.arrays[_SETS] = np.asarray(sets, dtype=object)
    known = [f"{names[path]}{path.suffix}" for path, side in sides.items() if not side]
    return table, [f"{some(known)} holds known samples, {some(unknown)} unknown ones, by their names"]


CONF = "conf"  # OpenOOD's confidence

# sets of known classes under covariate shift, from OpenOOD
KNOWN_GROUP = "csid"


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
        own: dict[str, Any] = {"predictions": predictions, "references": references, "sets": sets}
        return self._replace(scores=scores, **own, clusters=clusters)

    def by_set(self) -> dict[str, Scores]:
        """The scores of each set, all under "" where rows name none. Raises ValueError for a row that names no set."""
        if not self.sets:
            return {"": self}
        if None in self.sets:
            raise ValueError(f"expected the name of a set in each row, got none in row {self.sets.index(None) + 1}")
        of_rows = [str(own).split(BAR) for own in self.sets]
        names = dict.fromkeys(chain.from_iterable(of_rows))
        return {name: self.of_rows(np.flatnonzero([name in own for own in of_rows])) for name in names}


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
        layout = LAYOUTS["ood_bench"]
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
        own = unsigned(names[0]).strip() if len(names) == 1 and not table.alone else column.name
        taken = column.take(names, table)
        scores = as_scores(taken, own)
        classes: dict[str, Any] = {}
        for kind in ("pred", "label") if {"pred", "label"} <= there else ():
            named_so = picked_names(Column(kind), table, [kind])
            classes[kind] = as_labels(Column(kind).take(named_so, table), kind)
        check_lengths(**{own: scores, **classes})
        guess = "" if openood or not is_guess(column, table, names, picked) else names[0]
        negated, kind = CONF if openood else "", str(np.asarray(taken).dtype)
        sets = with_names.arrays[chosen[GROUPS][0]].tolist() if GROUPS in chosen else ()
        depends = [clusters] if clusters is not None else chosen.get(of_clusters.name, [])
        by_row: Sequence[Any] = ()
        if depends:
            by_row = whole(of_clusters.take(picked_names(of_clusters, with_names, depends), with_names)).tolist()
            check_lengths(**{own: scores, depends[0]: by_row})
        else:
            notes = [*notes, *of_clusters.notes(table, {*map(unsigned, names)})]
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
    benchmark = _BENCHMARKS.get(known.stem.lower(), {})
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


def _benchmark(near: str, far: str, csid: str) -> Mapping[str, str]:
    groups = {"near": near, "far": far, KNOWN_GROUP: csid}
    return {name: group for group, names in groups.items() for name in names.split()}


# OpenOOD's sets, in the spellings of its configurations and of its evaluator
_IMAGENET = _benchmark(
    "ssb_hard ninco",
    "inaturalist textures openimageo openimage_o",
    "imagenetv2 imagenetc imagenetr imagenetes imagenet_v2 imagenet_c imagenet_r imagenet_es",
)
_BENCHMARKS: Mapping[str, Mapping[str, str]] = {
    "mnist": _benchmark("notmnist fashionmnist", "texture cifar10 tin places365", "svhn"),
    "cifar10": _benchmark("cifar100 tin", "mnist svhn texture places365 place365", "cinic10 cifar10c"),
    "cifar100": _benchmark("cifar10 tin", "mnist svhn texture places365 place365", "cifar100c"),
    "imagenet200": _IMAGENET,
    "imagenet": _IMAGENET,
}
