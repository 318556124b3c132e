"""The threads of gloo, which must have ended before Python does."""

from __future__ import annotations

from pathlib import Path


def check_no_thread_of_gloo_is_left() -> None:
    """After `destroy_process_group`.

    A thread that still held a tensor when Python ends would call `std::terminate`, now and then: the process aborts
    after its results. Threads outlive their group where torch.distributed.nn was imported after
    `init_process_group`, since default arguments of its functions hold the group; evaluate imports it.
    """
    names = [thread.read_text().strip() for thread in Path("/proc/self/task").glob("*/comm")]
    assert "pt_gloo_runloop" not in names, names
