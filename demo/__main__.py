"""Compute the eight metrics, print them as one table, and draw the curves behind them to demo/report.png."""

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
    path = Path(__file__).resolve().parent / "report.png"
    report.draw(results, path)
    print(f"\ncurves: {path}\nelapsed: {time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    main()
