"""Tasks that Dask runs: on a cluster, if a `distributed.Client` is in place; without, in processes of this machine."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

from ..extras import extra
from ..formats.reasons import named


class Cluster:
    """Tasks on a cluster of `distributed`, started when they are made."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.places: dict[Any, object] = {}

    def map(self, function: Callable[[Any], Any], arguments: Sequence[Any]) -> list[Any]:
        """A task for each argument."""
        futures: list[Any] = self.client.map(function, arguments, pure=False)
        self.places |= zip((task.key for task in futures), arguments)
        return futures

    def results(self, tasks: Sequence[Any]) -> Generator[Any]:
        """What they return, in order. Each result leaves its worker when it is ready.

        Raises what a task raises; ValueError for one whose workers died again and again, with its argument.
        """
        from distributed import KilledWorker, as_completed

        ready: dict[Any, Any] = {}
        given = 0
        try:
            for batch in as_completed(tasks).batches():
                ready |= zip([task.key for task in batch], self.client.gather(batch))
                for task in batch:
                    task.release()
                while given < len(tasks) and tasks[given].key in ready:
                    yield ready.pop(tasks[given].key)
                    given += 1
        except KilledWorker as error:
            with named(self.places.get(error.task, error.task)):
                raise
        finally:
            for task in tasks:
                task.release()


class Processes:
    """Tasks in processes of this machine, or as `dask.config` says, started when their results are asked for."""

    def map(self, function: Callable[[Any], Any], arguments: Sequence[Any]) -> list[Any]:
        """A task for each argument."""
        import dask

        delayed = dask.delayed(function, pure=False)
        return [delayed(argument) for argument in arguments]

    def results(self, tasks: Sequence[Any]) -> Generator[Any]:
        """What they return, in order. Raises what a task raises."""
        import dask
        import dask.multiprocessing

        computed = list(dask.compute(*tasks, scheduler=dask.base.get_scheduler() or dask.multiprocessing.get))[::-1]
        while computed:
            yield computed.pop()


def engine() -> Cluster | Processes:
    """What runs tasks: the cluster of the `distributed.Client` that is in place, or processes of this machine."""
    with extra("distributed"):
        import dask
    client = getattr(dask.base.get_scheduler(), "__self__", None)  # the scheduler is a method of it
    return Cluster(client) if hasattr(client, "scheduler_info") else Processes()
