"""Serve the page of ood_bench whose computations take SECONDS, and of scores that are all 0 for ever.

The guard waits half a second for the next part of a body.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from openworld_metrics.pages.build import build
from openworld_metrics.pages.metrics.ood_bench import PAGE
from openworld_metrics.pages.runner import Runner
from openworld_metrics.pages.serving.launch import launch

compute = Runner.compute


def slowly(runner: Runner, columns: Any, options: Any, times: int = 1) -> Any:
    """As the page computes, after a while."""
    until = time.monotonic() + float(os.environ["SECONDS"])
    while not any(columns["predictions"]) or time.monotonic() < until:
        time.sleep(0.01)
    return compute(runner, columns, options, times)


if __name__ == "__main__":
    Runner.compute = slowly
    launch(build(PAGE, Path(os.environ["FOLDER"])), silence=0.5)
