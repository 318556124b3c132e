"""Maps and masks on the page as .tiff, .npy and .npz: the kernel's numbers, and what is refused, not unpacked."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from PIL import Image

from openworld_metrics.pages.data import read
from openworld_metrics.pages.runner import Runner, explain
from openworld_metrics.reading.limits import PAGES
from openworld_metrics.reading.maps import planes
from openworld_metrics.reading.maps.maps import load, read_maps
from tests.pages.data.test_several import called, runner_of, show
from tests.pages.steps import numbers

RNG = np.random.default_rng(0)
NAMES = ("test/cut/0", "test/cut/1", "test/good/0", "test/good/1")  # sorted
MAPS = RNG.normal(size=(4, 5, 6))
MASKS = np.zeros((4, 5, 6), np.uint8)
MASKS[:2, 2:, 3:] = 255


def tiff(array: np.ndarray, **options: Any) -> bytes:
    buffer = io.BytesIO()
    tifffile.imwrite(buffer, array, **options)
    return buffer.getvalue()


def npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def npz(*arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, *arrays)
    return buffer.getvalue()


def png(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(array).save(buffer, "PNG")
    return buffer.getvalue()


def packed(path: Path, files: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


@pytest.fixture(scope="module")
def runner(root: Path) -> Runner:
    return runner_of("anomaly_suite", root)


KINDS: dict[str, tuple[str, str, Callable[[np.ndarray], bytes], str, Callable[[np.ndarray], bytes]]] = {
    "tiff": ("tiff", "f4", lambda one: tiff(one, compression="lzw", predictor=True), "png", png),
    "tif of 16 bits": ("TIF", "f2", lambda one: tiff(one, compression="zstd"), "tiff", tiff),
    "npy": ("npy", "f4", npy, "npy", lambda mask: npy(mask[None, :, :, None] > 0)),
    "npy with more axes": ("npy", ">f8", lambda one: npy(one[None, :, :, None]), "npz", npz),
    "npz": ("npz", "f8", npz, "tif", tiff),
    "png of 8 bits": ("png", "u1", png, "png", png),
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_archive_of_each_kind(
    kind: str, runner: Runner, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suffix, dtype, write, mask_suffix, write_mask = KINDS[kind]
    maps = (40 * (MAPS + 3)).astype(dtype)
    files = [
        [packed(tmp_path / "predictions.zip", {f"{name}.{suffix}": write(one) for name, one in zip(NAMES, maps)})],
        [
            packed(
                tmp_path / "references.zip",
                {f"cut/{i}_mask.{mask_suffix}": write_mask(MASKS[i]) for i in range(2)},
            )
        ],
    ]
    (given,) = read(runner.page, [None, None], files).arguments().values()
    assert "2 have no mask and count as normal: good/0, good/1." in given.note
    assert all(np.array_equal(found, one) for found, one in zip(given.columns["predictions"], maps))
    found = show(runner, files)
    expected = runner.results({"predictions": maps, "references": MASKS > 0}, {})
    assert numbers(found.json) == expected
    monkeypatch.chdir(tmp_path)
    assert called(found.call, root) == expected


def test_archives_of_two_detectors(runner: Runner, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One in .tiff, the other in .npy: files of the same names but for their endings."""
    columns: dict[str, np.ndarray] = {"one": MAPS.astype(np.float32), "two": -MAPS}
    archives = [
        packed(tmp_path / "one.zip", {f"{name}.tiff": tiff(one) for name, one in zip(NAMES, columns["one"])}),
        packed(tmp_path / "two.zip", {f"{name}.npy": npy(one) for name, one in zip(NAMES, columns["two"])}),
    ]
    masks = packed(tmp_path / "references.zip", {f"{name[5:]}.png": png(one) for name, one in zip(NAMES, MASKS)})
    found = show(runner, [archives, [masks]])
    expected = {
        name: runner.results({"predictions": maps, "references": MASKS > 0}, {}) for name, maps in columns.items()
    }
    assert numbers(found.json) == expected
    monkeypatch.chdir(tmp_path)
    assert called(found.call, root) == expected


def test_files_one_by_one(runner: Runner, tmp_path: Path) -> None:
    """Several planes are maps of an image each; stacks and vectors are arrays of the names of their files."""
    for i, one in enumerate(MAPS):
        (tmp_path / f"{i}.npy").write_bytes(npy(one))
        (tmp_path / f"{i}_mask.tiff").write_bytes(tiff(MASKS[i]))
    np.save(tmp_path / "predictions.npy", MAPS)
    np.savez(tmp_path / "references.npz", references=MASKS > 0)
    np.save(tmp_path / "image_scores.npy", [0.1, 0.9, 0.5, 0.4])
    alone = [tmp_path / f"{i}.npy" for i in range(4)]
    masks = [tmp_path / f"{i}_mask.tiff" for i in range(4)]
    stacks, scores = [tmp_path / "predictions.npy"], [tmp_path / "image_scores.npy"]
    columns = {"predictions": MAPS, "references": MASKS > 0}
    assert numbers(show(runner, [alone, masks]).json) == runner.results(columns, {})
    columns["image_scores"] = np.asarray([0.1, 0.9, 0.5, 0.4])
    arrays = [stacks + scores, [tmp_path / "references.npz"]]
    assert numbers(show(runner, arrays).json) == runner.results(columns, {})
    for files in ([stacks, masks], [[tmp_path / "0.tiff", *scores], masks]):
        (tmp_path / "0.tiff").write_bytes(tiff(MAPS[0]))
        with pytest.raises(ValueError, match="expected all maps and masks in files of one image, or all in arrays"):
            show(runner, files)
    single = [[alone[0]], [tmp_path / "single.npy"]]
    single[1][0].write_bytes(npy(MASKS[0] > 0))
    (given,) = read(runner.page, [None, None], single).arguments().values()
    assert np.shape(given.columns["predictions"]) == (1, 5, 6), "a plane alone is an array of its name, as ever"


def npy_of(shape: str, kind: str = "<f4") -> bytes:
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()


def npz_of(content: bytes, compression: int = zipfile.ZIP_DEFLATED, members: int = 1) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for i in range(members):
            archive.writestr(f"arr_{i}.npy", content)
    return buffer.getvalue()


def tiff_of(count: int = 1, **sides: int) -> bytes:
    """A small one that says that it is larger, in the tags of these numbers, of some count."""
    content = tiff(np.zeros((16, 16), np.float32), compression="zlib", tile=(16, 16))
    with tifffile.TiffFile(io.BytesIO(content)) as file:
        changed = bytearray(content)
        for name, side in sides.items():
            tag = file.pages[0].tags[name]
            changed[tag.offset + 2 : tag.offset + 12] = struct.pack("<HII", 4, count, side)
    return bytes(changed)


SHORT = tiff(MAPS[0], compression="zlib")[:-40]
REFUSED: dict[str, tuple[str, bytes, str]] = {
    "damaged": ("a.tiff", SHORT, "a.tiff: "),
    "part": ("a.tiff", tiff(MAPS[0])[:9], "not a TIFF file, or a part of one"),
    "no tiff": ("a.tiff", b"nonsense", "not a TIFF file"),
    "NaN": (
        "a.npy",
        npy(np.full((2, 3), np.nan)),
        "expected numbers, got NaN at row 0, column 0",
    ),
    "stack": ("a.npy", npy(MAPS), r"expected one map \(H, W\), got the shape \(4, 5, 6\)"),
    "pickle": ("a.npy", npy(np.array([[{}]], object)), "expected numbers as numpy.save writes them, got objects"),
    "two arrays": ("a.npz", npz(MAPS[0], MAPS[0]), "expected one array, got 2"),
    "colour": (
        "a.png",
        png(np.zeros((2, 2, 3), np.uint8)),
        "expected a map, which is a grey .png of one channel",
    ),
    "white is zero": (
        "a_mask.tiff",
        tiff(MASKS[0], photometric="miniswhite"),
        "got one in which 0 is white; save it in 8 bits",
    ),
}
STATED: dict[str, tuple[str, bytes, str]] = {
    "page": ("a.tiff", tiff_of(ImageWidth=100_000, ImageLength=100_000), "expected 1 to 89,478,485 pixels"),
    "page in bytes": ("a.tiff", tiff_of(ImageWidth=9_000, ImageLength=9_000), "at most 200,000,000 bytes unpacked"),
    "tile": ("a.tiff", tiff_of(TileWidth=100_000, TileLength=100_000), "expected 1 to 89,478,485 pixels"),
    "tile in bytes": ("a.tiff", tiff_of(TileWidth=8_992, TileLength=8_992), "at most 200,000,000 bytes unpacked"),
    "places": ("a.tiff", tiff_of(1_000_001, TileOffsets=8), "expected tags of at most 1,000,000 values, got more"),
    "pages": ("a.tiff", tiff(MAPS[:2], photometric="minisblack", metadata=None), "got a file of several pages"),
    "picture": ("a.tiff", tiff(np.zeros((16, 16), np.uint8), compression="jpeg"), "got another"),
    "npy": ("a.npy", npy_of("(100000, 100000)"), "no whole .npy file"),
    "npy in bytes": ("a.npy", npy_of("(9000, 9000)"), "no whole .npy file"),
    "npz": ("a.npz", npz_of(npy_of("(9000, 9000)")), "at most 200,000,000 bytes unpacked, not 648,000,000"),
    "npz of lzma": ("a.npz", npz_of(b"", zipfile.ZIP_LZMA), "expected an archive as numpy.savez writes it"),
    "npz of many": ("a.npz", npz_of(b"", members=PAGES.members + 1), "archives of at most 5,000 files"),
}


@pytest.mark.parametrize("case", [*REFUSED, *STATED])
def test_what_is_refused(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the name of the file; and what says that it is too large, before it is unpacked."""
    name, content, message = {**REFUSED, **STATED}[case]
    if case in STATED:
        for read in ("_unpacked", "_tiff", "_tiff_mask", "_mask_values"):
            monkeypatch.setattr(planes, read, lambda *_: pytest.fail("unpacked"))
    fine = {"cut/a.npy": npy(MAPS[0]), "cut/a.png": png(MASKS[0])}
    files = (
        [("cut/a.npy", "maps"), (f"cut/{name}", "masks")]
        if "mask" in name
        else [(f"cut/{name}", "maps"), ("cut/a.png", "masks")]
    )
    archives = [
        packed(tmp_path / f"{side}.zip", {file: fine.get(file, content) if file != f"cut/{name}" else content})
        for file, side in files
    ]
    with pytest.raises(ValueError, match=message) as raised:
        load(read_maps(*archives, limits=PAGES), PAGES)
    said = explain(raised.value)
    assert f"/{name}: " in said
    assert str(tmp_path) not in said
    assert "\n" not in said


def test_two_kinds_of_one_map(tmp_path: Path) -> None:
    maps = packed(tmp_path / "maps.zip", {"cut/0.png": png(MASKS[0]), "cut/0.tiff": tiff(MAPS[0])})
    masks = packed(tmp_path / "masks.zip", {"cut/0.png": png(MASKS[0])})
    with pytest.raises(ValueError, match=r"maps.zip/cut/0.tiff: expected one map of cut/0, got cut/0.png too"):
        read_maps([maps], [masks])
