"""Bars of progress go away when the work is done, and are not there where nobody reads."""

from __future__ import annotations

import io
import re

import pytest

from openworld_metrics.reading.progress import progress_bar


class Terminal(io.StringIO):
    """Standard error of a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
@pytest.mark.parametrize("shown", [True, False])
def test_a_bar_goes_when_it_is_done(stream: type[io.StringIO], shown: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    errors = stream()
    monkeypatch.setattr("sys.stderr", errors)
    assert [*progress_bar(range(3), unit=" images", shown=shown)] == [0, 1, 2]
    with progress_bar(unit=" maps", total=2, shown=shown) as bar:
        bar.update(2)
    written = errors.getvalue()
    assert bool(written) == (shown and stream is Terminal)
    assert "\n" not in written
    assert not re.sub(r"^.*\r", "", written, flags=re.DOTALL).strip("\x1b[A ")  # the line is empty at the end
