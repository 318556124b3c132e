"""Every file of maps, masks and images is used, left out for a reason, or an error, by command and page alike."""

from __future__ import annotations

import re
import shutil
import unicodedata
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple
from urllib.parse import quote

import numpy as np
import pytest

from openworld_metrics import read as read_files
from openworld_metrics.reading.cures import CurableError
from openworld_metrics.reading.maps.files import file_problems, map_reader, rules_of
from openworld_metrics.reading.maps.pairing import AnomalyMaps
from openworld_metrics.reading.maps.sources import list_anomaly_maps
from openworld_metrics.reading.reading import Census
from openworld_metrics.suites import evaluate_anomaly_folder
from tests.reading.maps.trees import SHAPE, of_python, write_image, write_map, write_mask

NAMES = ("alpha", "Beta", "kapp\u00e9", "pi o", "077", "v1.5", "x_1", "Part0")


FOLDERS = (("", ""), ("bad/", "bad/"), ("run/", ""), ("nut/test/bad/", "nut/ground_truth/bad/"))


class Made(NamedTuple):
    """An image: its map, its mask and its photograph, if it has them."""

    score_map: Path
    mask: Path | None
    photograph: Path | None = None


def flat(rng: Random, names: list[str]) -> list[Made]:
    """A folder of maps and one of masks, with endings or none, in folders of their own or none."""
    (maps, masks), ending = rng.choice(FOLDERS), rng.choice(["", "_mask", "_GT", "_labels"])
    made = []
    for i, name in enumerate(names):
        mask = Path(f"data/{masks}{name}{ending}.png") if i % 2 or not i else None
        made.append(Made(Path(f"maps/{maps}{name}{rng.choice(['.npy', '.tiff', '.png.npy', '.NPY'])}"), mask))
    return made


def mvtec(rng: Random, names: list[str]) -> list[Made]:
    """Two folders of a category, and images of its training, which are left out."""
    write_image(Path("data/nut/train/good/000.png"))
    made = []
    for i, name in enumerate(names):
        kind = "crack" if i % 2 or not i else "good"
        mask = Path(f"data/nut/ground_truth/crack/{name}_mask.png") if kind == "crack" else None
        made.append(Made(Path(f"maps/nut/test/{kind}/{name}.npy"), mask, Path(f"data/nut/test/{kind}/{name}.png")))
    return made


def both(rng: Random, names: list[str]) -> list[Made]:
    """Images and masks in one folder, told apart by the endings of masks, as in KolektorSDD."""
    ending, suffix = rng.choice([("_label", ".bmp"), ("_GT", ".png"), ("_mask", ".png")])
    place = "data/kos01/{}"
    return [
        Made(
            Path(f"maps/kos01/{name}.npy"),
            Path(place.format(f"{name}{ending}{suffix}")) if i % 2 or not i else None,
            Path(place.format(f"{name}.jpg")),
        )
        for i, name in enumerate(names)
    ]


def write(made: list[Made], rng: np.random.Generator) -> None:
    for one in made:
        mask = np.zeros(SHAPE, bool)
        mask[2:6, 3:7] = one.mask is not None
        scores = rng.random(SHAPE).astype(np.float32) + mask
        write_map(one.score_map if one.score_map.suffix == ".tiff" else one.score_map.with_suffix(".npy"), scores)
        if one.score_map.suffix == ".NPY":
            one.score_map.with_suffix(".npy").rename(one.score_map)
        if one.mask is not None:
            write_mask(one.mask, mask)
        if one.photograph is not None:
            write_image(one.photograph)


def renamed(path: Path, name: str) -> list[Path]:
    """Rename a file; it, by either name, is what may be lost."""
    new = path.with_name(name)
    if new.exists():
        return []
    path.rename(new)
    return [path, new]


def deleted(path: Path) -> list[Path]:
    path.unlink()
    return [path]


def emptied(path: Path) -> list[Path]:
    path.write_bytes(b"")
    return [path]


def copied(path: Path, name: str) -> list[Path]:
    if path.with_name(name).exists():
        return []
    shutil.copy(path, path.with_name(name))
    return [path, path.with_name(name)]


# what is done to a file of an image → what may be lost by it
DAMAGES: dict[str, Callable[[Path], list[Path]]] = {
    "another case": lambda path: renamed(path, path.name.swapcase()[: -len(path.suffix)] + path.suffix),
    "percent-encoded": lambda path: renamed(path, quote(path.stem + "%") + path.suffix),
    "an unknown suffix": lambda path: renamed(path, f"{path.name}.xyz"),
    "no suffix": lambda path: renamed(path, path.stem),
    "a mask's kind that is not read": lambda path: renamed(path, f"{path.stem}.gif"),
    "missing": deleted,
    "empty": emptied,
    "twice": lambda path: copied(path, f"{path.stem}.npy" if path.suffix != ".npy" else f"{path.stem}.tiff"),
    "one too many": lambda path: copied(path, f"zz{path.name}"),
    "backup": lambda path: copied(path, f"{path.name}.bak"),
}


def harmless(rng: Random, made: list[Made]) -> None:
    """Files that hold no map, mask or image, hidden ones, and the other form of Unicode."""
    for place in ("maps/readme.txt", "data/readme.md", "maps/.DS_Store", "data/.hidden/x.png"):
        if rng.random() < 0.5:
            Path(place).parent.mkdir(exist_ok=True, parents=True)
            Path(place).write_bytes(b"")
    for one in made:
        if rng.random() < 0.5:
            one.score_map.rename(one.score_map.with_name(unicodedata.normalize("NFD", one.score_map.name)))


def on_disk(folder: str) -> int:
    """A plain count of the files that are not hidden."""
    files = [path for path in Path(folder).rglob("*") if path.is_file()]
    return sum(not any(part.startswith(".") for part in path.parts) for path in files)


def total(census: Census) -> int:
    return sum(map(census.there, {*census.used, *(kind for kind, _ in census.left_out)}))


def of_command(listed: AnomalyMaps) -> list[tuple[bytes, bytes]]:
    """The contents of all pairs, or the error."""
    if problems := file_problems(listed):
        raise ValueError(problems[0])
    read = map_reader(listed, rules_of(listed))
    contents = [read(pair) for pair in listed.pairs]
    return sorted((score_map.tobytes(), masks.mask.tobytes()) for score_map, masks in contents)


def of_page() -> list[tuple[bytes, bytes]]:
    """The same from archives of the two folders, as a page reads them."""
    archives = ["upload_maps.zip", "upload_data.zip"]
    columns = read_files("anomaly_suite", *archives).columns
    pairs = zip(columns["predictions"], columns["references"])
    return sorted((one.astype(np.float32).tobytes(), np.asarray(mask, bool).tobytes()) for one, mask in pairs)


def outcome(call: Callable[[], list[tuple[bytes, bytes]]]) -> tuple[list[tuple[bytes, bytes]] | None, str | None]:
    try:
        return call(), None
    except ValueError as error:
        return None, str(error)


def core(text: str, of_file: bool = True) -> str:
    """A text in small letters and one form of Unicode; of a file's name, what its image and map share."""
    text = unicodedata.normalize("NFC", text).casefold()
    return re.sub("_(mask|gt|labels?)$", "", text.partition(".")[0]) if of_file else text


@pytest.mark.parametrize("seed", range(120))
def test_nothing_is_lost(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = Random(seed)
    make = rng.choice([flat, mvtec, both])
    made = make(rng, rng.sample(NAMES, rng.randint(4, 7)))
    write(made, np.random.default_rng(seed))
    harmless(rng, made)
    suspects: list[Path] = []
    if seed % 3:
        for _ in range(rng.randint(1, 2)):
            files = [path for one in made for path in one if path is not None and path.is_file()]
            suspects += DAMAGES[rng.choice([*DAMAGES])](rng.choice(files))
    for name in ("maps", "data"):
        shutil.make_archive(f"upload_{name}", "zip", name)
    listed = list_anomaly_maps("maps", "data")
    if not listed.problems:
        assert total(listed.census) == on_disk("maps") + on_disk("data")
    for maps, data in (("maps", "data"), ("upload_maps.zip", "upload_data.zip")):
        try:
            left = list_anomaly_maps(maps, data, leave_out=True)
        except CurableError:
            assert listed.problems
            continue
        assert total(left.census) == on_disk("maps") + on_disk("data")
        assert left.census.used == listed.census.used or listed.problems
    (found, error), (shown, refused) = outcome(lambda: of_command(listed)), outcome(of_page)
    assert (found, error is None) == (shown, refused is None)
    for words in filter(None, (error, refused)):
        assert any(core(path.name) in core(words, of_file=False) for path in suspects), (words, suspects)
    if error is not None:
        return
    kept = [one for one in made if not {*one} & {*suspects}]
    pairs = {
        (path.name.partition(".")[0], None if not image.masks else image.masks[0].name) for image, path in listed.pairs
    }
    for one in kept:
        stem = {unicodedata.normalize(form, one.score_map.name).partition(".")[0] for form in ("NFC", "NFD")}
        assert {(name, None if one.mask is None else one.mask.name) for name in stem} & pairs


def test_masks_of_other_names_are_an_error_on_pages_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mask whose map has another case or is missing, of loose files and in archives."""
    monkeypatch.chdir(tmp_path)
    made = [Made(Path(f"maps/{name}.npy"), Path(f"data/{mask}.png")) for name, mask in (("a", "a"), ("b", "B"))]
    write(made, np.random.default_rng(0))
    said = r"B.png: expected its map B.tiff.*, got none"
    for call in (
        evaluate_anomaly_folder,
        of_python,
    ):
        with pytest.raises(ValueError, match=said):
            call("maps", "data")
    for name in ("maps", "data"):
        shutil.make_archive(f"upload_{name}", "zip", name)
    with pytest.raises(ValueError, match=said):
        of_page()


def test_maps_and_masks_in_one_folder(tmp_path: Path) -> None:
    write_map(tmp_path / "a.npy", np.zeros(SHAPE))
    with pytest.raises(ValueError, match="expected maps in another folder than their masks, got one folder for both"):
        evaluate_anomaly_folder(tmp_path, tmp_path)
