"""Check TIFF's LZW streams before they are decoded, since imagecodecs accepts codes that are not in the table."""

from __future__ import annotations

import numpy as np

_CLEAR, _END, _FIRST_FREE, _FULL = 256, 257, 258, 4096
# A run of codes begins after a code that clears the table. From the second code on, each adds an entry; the width grows
# one entry early. So the positions of codes within a run are always equal, until the table is cleared.
_ENTRIES = np.concatenate([[_FIRST_FREE], np.arange(_FIRST_FREE, _FULL)])  # before each code of a run
_WIDTHS = 9 + np.sum([end <= _ENTRIES for end in (511, 1023, 2047)], axis=0)
_STARTS = np.cumsum(_WIDTHS) - _WIDTHS
_HIGHEST = np.where(np.arange(len(_ENTRIES)) > 0, np.minimum(_ENTRIES, _FULL - 1), _CLEAR - 1)


def check_lzw(stream: bytes) -> None:
    """Raise ValueError for a code that is in no table yet, or for a stream that does not begin with a clear table.

    Source: TIFF 6.0, section 13.

    >>> check_lzw(bytes([0x80, 0x00, 0x60, 0x20]))  # clear, 1, end
    >>> check_lzw(bytes([0x80, 0x7F, 0x00]))  # clear, 508
    Traceback (most recent call last):
    ValueError: damaged: LZW code 508, of at most 255
    """
    if not stream:
        return
    padded = np.frombuffer(stream + bytes(4), np.uint8).astype(np.int64)
    bit, num_bits = 9, 8 * len(stream)
    if _codes(padded, np.asarray([0]), np.asarray([9]))[0] != _CLEAR:
        raise ValueError("damaged: LZW data that do not begin with a clear table")
    while bit < num_bits:
        complete = np.searchsorted(_STARTS + _WIDTHS, num_bits - bit, side="right")
        codes = _codes(padded, bit + _STARTS[:complete], _WIDTHS[:complete])
        ends = np.flatnonzero((codes == _CLEAR) | (codes == _END))
        size = int(ends[0]) if len(ends) else len(codes)
        wrong = np.flatnonzero(codes[:size] > _HIGHEST[:size])
        if len(wrong):
            raise ValueError(f"damaged: LZW code {codes[wrong[0]]}, of at most {_HIGHEST[wrong[0]]}")
        if not len(ends) and complete == len(_STARTS):
            raise ValueError("damaged: LZW data whose table is full")
        if not len(ends) or codes[size] == _END:
            return
        bit += int(_STARTS[size] + _WIDTHS[size])


def _codes(stream: np.ndarray, bits: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Numbers of variable widths in bits, highest bit first."""
    byte = bits >> 3
    three = (stream[byte] << 16) | (stream[byte + 1] << 8) | stream[byte + 2]
    return (three >> (24 - (bits & 7) - widths)) & ((1 << widths) - 1)
