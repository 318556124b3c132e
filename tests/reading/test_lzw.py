"""TIFF's LZW: what encoders write is taken, and a damaged stream refused before a decoder reads outside its table."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from openworld_metrics.reading.maps.planes import check_lzw, read_map

imagecodecs = pytest.importorskip("imagecodecs")
Image = pytest.importorskip("PIL.Image")
tifffile = pytest.importorskip("tifffile")


@pytest.mark.parametrize("values", [1, 2, 40, 256])
def test_what_encoders_write(values: int) -> None:
    """Of every length up to where the width of the codes has grown twice, and beyond where the table is full."""
    rng = np.random.default_rng(values)
    for size in [*range(1, 1100), *range(3700, 4100, 3), 100_000]:
        content = rng.integers(0, values, size).astype(np.uint8).tobytes()
        stream = imagecodecs.lzw_encode(content)
        check_lzw(stream)
        assert imagecodecs.lzw_decode(stream, out=size) == content


def test_strips_of_libtiff() -> None:
    pixels = np.random.default_rng(0).integers(0, 9, (400, 300)).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "TIFF", compression="tiff_lzw")
    file.seek(0)
    with tifffile.TiffFile(file) as tiff:
        page = tiff.pages[0]
        streams = [stream for stream, _ in tiff.filehandle.read_segments(page.dataoffsets, page.databytecounts)]
        assert len(streams) > 1
        for stream in streams:
            check_lzw(stream)
        assert (page.asarray() == pixels).all()


def coded(*codes: int) -> bytes:
    bits = "".join(f"{code:09b}" for code in codes)
    return int(bits.ljust(-(-len(bits) // 8) * 8, "0"), 2).to_bytes(-(-len(bits) // 8), "big")


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ((256, 508, 4), "LZW code 508, of at most 255"),
        ((256, 258), "LZW code 258, of at most 255"),
        ((256, 1, 259), "LZW code 259, of at most 258"),
        ((256, 1, 258, 260, 257), "LZW code 260, of at most 259"),
        ((256, 1, 2, 256, 258), "LZW code 258, of at most 255"),
        ((1, 2, 257), "do not begin with a clear table"),
    ],
)
def test_a_code_in_no_table(codes: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_lzw(coded(*codes))


def test_the_next_entry_itself_is_a_code() -> None:
    stream = coded(256, 7, 258, 259, 257)
    check_lzw(stream)
    assert imagecodecs.lzw_decode(stream) == bytes([7] * 6)


def test_a_damaged_file_is_refused_each_time(tmp_path: Path) -> None:
    """imagecodecs reads memory that nobody wrote: other pixels, an error of memory, or the end of the process."""
    path = tmp_path / "a.tiff"
    tifffile.imwrite(path, np.arange(27, dtype=np.uint8).reshape(9, 3), compression="lzw")
    with tifffile.TiffFile(path) as tiff:
        (start,) = tiff.pages[0].dataoffsets
    content = bytearray(path.read_bytes())
    content[start : start + 3] = coded(256, 508)
    path.write_bytes(content)
    for _ in range(3):
        with pytest.raises(ValueError, match=r"a\.tiff: damaged: LZW code 508, of at most 255"):
            read_map(path)
