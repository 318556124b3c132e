"""The table of docs/six-libraries.md holds what the libraries say that are installed."""

from __future__ import annotations

import pytest

from docs.building import six_libraries


@pytest.mark.filterwarnings("ignore")
def test_the_table_is_what_they_say() -> None:
    page = six_libraries.PAGE.read_text(encoding="utf-8")
    table = page.partition(six_libraries.BEGIN)[2].partition(six_libraries.END)[0].splitlines()
    stored = {line.split()[1]: line.split("|")[2:] for line in table}
    head, rule, *rows = six_libraries.lines(six_libraries.measured())
    assert table[:2] == [head, rule]
    assert len(table) == 2 + len(six_libraries.LIBRARIES)
    assert len(rows) >= 2  # ours, and scikit-learn's
    for row in rows:
        assert stored[row.split()[1]] == row.split("|")[2:]  # whatever the version
