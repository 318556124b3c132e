"""The command of the tables that compare ours with peers; see the package."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module

from tests.benchmarks.measure import HEADER, Work, compare, write

# marker of a table on the page, which is the module of its works: its clock; in processor time, all threads count
TABLES = {
    "works": time.perf_counter,
    "measures": time.process_time,
    "maps": time.process_time,
    "components": time.process_time,
    "intervals": time.process_time,
    "files": time.perf_counter,
}


def main(words: list[str]) -> int:
    """Measure all works, or those whose names hold the words, and then leave the page alone. 1 if numbers differ."""
    wrong = 0
    for marker, clock in TABLES.items():
        works: Callable[[], Iterator[Callable[[], Work]]] = import_module(f"tests.benchmarks.{marker}").works
        lines, differing = compare(works(), words, clock)
        wrong += differing
        if not words:
            write(marker, [*HEADER, *lines])
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
