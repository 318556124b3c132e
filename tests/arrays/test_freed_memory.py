"""Memory of freed arrays is kept for the next ones, where glibc decides."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

FAULTS = """
import resource
import numpy as np
from openworld_metrics.arrays.threads import keep_freed_memory

{first}
for _ in range(3):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    arrays = [np.ones(3 << 20, np.uint8) for _ in range(4)]  # below 4 MiB, from which NumPy asks for huge pages
    del arrays
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another allocator")
def test_arrays_take_the_memory_of_freed_ones() -> None:
    # Dask sets a threshold for its workers, and leaves it set
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MALLOC_", "GLIBC_"))}
    without, with_it = (
        int(subprocess.check_output([sys.executable, "-c", FAULTS.format(first=first)], env=environment))
        for first in ("", "keep_freed_memory()")
    )
    assert with_it < 100 < 1000 < without
