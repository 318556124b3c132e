"""Run tasks with Dask: on a cluster if there is a `distributed.Client`, otherwise on this machine."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

from ..extras import extra
from ..reading.reasons import named

FEW_BYTES = 1 << 26  # unpacked; one process reads them in a second, in which others would not have started


class Cluster:
    """Runs tasks on a cluster of `distributed`, from when they are created."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.places: dict[Any, object] = {}

    def map(self, function: Callable[[Any], Any], arguments: Sequence[Any]) -> list[Any]:
        """A task for each argument."""
        futures: list[Any] = self.client.map(function, arguments, pure=False)
        self.places |= zip((task.key for task in futures), arguments)
        return futures

    def results(self, tasks: Sequence[Any]) -> Generator[Any]:
        """Yield the results of the tasks, in order. Each result leaves its worker when it is ready.

        Raises the error of a task; ValueError, with its argument, for a task that kept killing its workers.
        """
        from distributed import KilledWorker, as_completed

        ready: dict[Any, Any] = {}
        position = 0
        try:
            for batch in as_completed(tasks).batches():
                ready |= zip([task.key for task in batch], self.client.gather(batch))
                for task in batch:
                    task.release()
                while position < len(tasks) and tasks[position].key in ready:
                    yield ready.pop(tasks[position].key)
                    position += 1
        except KilledWorker as error:
            with named(self.places.get(error.task, error.task)):
                raise
        finally:
            for task in tasks:
                task.release()


class ThisMachine:
    """Tasks in processes of this machine, in this one if there are few bytes to read, or as `dask.config` says.

    They start when their results are requested.
    """

    def __init__(self, num_bytes: int) -> None:
        self.num_bytes = num_bytes

    def map(self, function: Callable[[Any], Any], arguments: Sequence[Any]) -> list[Any]:
        """A task for each argument."""
        import dask

        delayed = dask.delayed(function, pure=False)
        return [delayed(argument) for argument in arguments]

    def results(self, tasks: Sequence[Any]) -> Generator[Any]:
        """Yield the results of the tasks, in order. Raises the error of a task."""
        import dask
        import dask.multiprocessing

        own = dask.local.get_sync if self.num_bytes <= FEW_BYTES else dask.multiprocessing.get
        computed = list(dask.compute(*tasks, scheduler=dask.base.get_scheduler() or own))[::-1]
        while computed:
            yield computed.pop()


def engine(num_bytes: int) -> Cluster | ThisMachine:
    """Choose where tasks that read so many bytes run: on the cluster of a current `distributed.Client`, or here."""
    with extra("distributed"):
        import dask
    client = getattr(dask.base.get_scheduler(), "__self__", None)  # the scheduler is a method of it
    return Cluster(client) if hasattr(client, "scheduler_info") else ThisMachine(num_bytes)
