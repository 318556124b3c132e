"""Compute the eight metrics, print them as one table, and draw their figures into demo/report."""

from __future__ import annotations

import time
from pathlib import Path


def main() -> None:
    """Run the demo; see the module's docstring."""
    started = time.perf_counter()
    # imported here so that the elapsed time includes imports
    from demo import compute, report, table

    results = compute.compute()
    print(table.describe(results))
    print()
    print(table.table(results.metrics))
    folder = Path(__file__).resolve().parent / "report"
    report.draw(results, folder)
    print(f"\npictures: {folder}\nelapsed: {time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    main()
