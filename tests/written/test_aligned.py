"""Columns of text on a terminal."""

from __future__ import annotations

from unicodedata import normalize

from openworld_metrics.faces.terminal import aligned, text_width


def test_wide_characters_take_two_columns() -> None:
    lines = aligned([["group", "auroc"], ["数据集", "0.5"], [normalize("NFD", "é"), "0.25"], ["ｋ🦊", "1"]]).split("\n")
    assert [text_width(line) for line in lines] == [len("数据集") * 2 + 2 + len("auroc")] * 4
    assert lines[0] == "group   auroc"
