"""Adapt a metric to Hugging Face evaluate: its constructor's arguments, and its gathering of processes.

Rows never pass through evaluate's Arrow files: that costs seconds and gigabytes for a score matrix, and casts
silently. With `num_process > 1` process 0 gathers the reduced states through files in evaluate's folder.

evaluate's own gathering is not used: two of its processes that look whether a third holds a lock take each other for
it, a process that dies leaves its file, and an error in process 0 leaves the others without their batches.

    process 0                                    the others
    writes a token to KEY.round          →       write their state to KEY.TOKEN.RANK
    reads all of them, and renames each  →       see KEY.TOKEN.RANK.taken, remove it, and are done
    to KEY.TOKEN.RANK.taken

A token is random, so what a killed run left is never taken for an answer: a process that has answered an old token
answers again when the token changes. Once its state is taken, the batches are process 0's, which keeps them if it
fails.
"""

from __future__ import annotations

import glob
import hashlib
import inspect
import math
import os
import platform
import re
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..arrays.arrays import State
from ..arrays.checks import as_real
from .groups import Parts, as_one_state
from .metric import Metric
from .signature import differ
from .states import check_agreement, joined_parts, pack, unpack

Checked = TypeVar("Checked")

_POLL = 0.01  # seconds
# launchers set these to one value in all processes of a run, and to another in any other run at that time
_OF_A_RUN = ("TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT", "SLURM_JOB_ID", "SLURM_STEP_ID", "PMIX_NAMESPACE")
DEFAULT_ID = "default_experiment"  # evaluate's, which any two runs share


def run_key(experiment_id: str, num_process: int) -> str:
    """A name that the processes of one run share, different from the name of any other run that uses the folder.

    Raises ValueError where neither a launcher nor the caller distinguishes the runs.
    """
    launcher = [f"{name}={os.environ[name]}" for name in _OF_A_RUN if os.environ.get(name)]
    if re.fullmatch(r"localhost|127\..+|::1", os.environ.get("MASTER_ADDR", "")):
        # then accelerate, and torchrun without an id, set equal values in any run on any machine
        launcher += [platform.node(), str(Path(os.environ.get("TORCHELASTIC_ERROR_FILE", "")).parent.parent)]
    if experiment_id == DEFAULT_ID and not launcher:
        raise ValueError(
            f"experiment_id: expected a name that all {num_process} processes of this run share and no other run has, "
            "since none of torchrun, Slurm and PMIx has started them; got none"
        )
    if Path(experiment_id).name != experiment_id:
        raise ValueError(f"experiment_id: expected a name, got the path {experiment_id!r}")
    return f"{experiment_id}-{num_process}-{hashlib.sha256(' '.join(launcher).encode()).hexdigest()[:12]}"


def receive(
    folder: Path, key: str, num_process: int, timeout: float, checked: list[Checked], check: Callable[[State], Checked]
) -> None:
    """As process 0, receive the states of the others, and append `check(state)` of each to `checked`.

    Raises TimeoutError if one does not come within `timeout` seconds, ValueError if there is another process 0 and for
    a file that holds no state, which is removed, and any error of `check`.
    """
    token, meeting = uuid.uuid4().hex, folder / f"{key}.round"
    answers = {rank: folder / f"{key}.{token}.{rank}" for rank in range(1, num_process)}
    came: set[int] = set()
    deadline = time.monotonic() + timeout
    if not _write(meeting, token.encode()) and not folder.is_dir():
        raise FileNotFoundError(f"expected a folder in which the processes meet, got none: {folder}")
    try:
        for path in folder.glob(f"{glob.escape(key)}.*.*"):  # of other rounds: live processes answer again
            if not path.name.startswith(f"{key}.{token}.") and path.suffix != ".taken":  # which its process removes
                path.unlink(missing_ok=True)
        while missing := [rank for rank, answer in answers.items() if not answer.exists()]:
            if _read(meeting) != token:
                raise ValueError(f"expected one process 0, another one uses {meeting}; give each run an experiment_id")
            came |= answers.keys() - missing
            names = ", ".join(map(str, [rank for rank in missing if rank not in came] or missing))
            _check_time(deadline, 0, timeout, f"process {names} of {num_process}", meeting)
            time.sleep(_POLL)
        for rank, answer in answers.items():
            try:
                state = check(_read_state(answer, rank))
                answer.replace(f"{answer}.taken")
            except FileNotFoundError:  # the process has just stopped waiting
                _check_time(0.0, 0, timeout, f"process {rank} of {num_process}", meeting)
            checked.append(state)
    finally:
        if _read(meeting) == token:
            meeting.unlink()


def send(state: State, folder: Path, key: str, rank: int, timeout: float) -> None:
    """As a process other than 0, hand over a state. Raises TimeoutError if it is not taken within `timeout` seconds."""
    content, meeting, answer = pack(state), folder / f"{key}.round", None
    deadline = time.monotonic() + timeout
    for stale in folder.glob(f"{glob.escape(key)}.*.{rank}.taken"):  # of a process that died before it saw that
        stale.unlink()
    while True:
        if answer is not None and not answer.exists():
            if _remove(Path(f"{answer}.taken")):
                return
            answer = None  # swept away, since process 0 opened another round
        token = _read(meeting)
        wanted = folder / f"{key}.{token}.{rank}"
        if token and wanted != answer and not wanted.exists():
            if answer is not None and not _remove(answer):
                continue  # taken in this moment
            answer = wanted if _write(wanted, content) else None
        if time.monotonic() > deadline and (answer is None or _remove(answer)):
            _check_time(deadline, rank, timeout, "process 0", meeting)
        time.sleep(_POLL)


def _check_time(deadline: float, rank: int, timeout: float, others: str, meeting: Path) -> None:
    if time.monotonic() > deadline:
        raise TimeoutError(
            f"process {rank} waited {timeout:g} s (timeout=) for {others} to call compute(). All need the same "
            f"cache_dir, experiment_id and launcher, which here give {meeting}"
        )


def _write(path: Path, content: bytes) -> bool:
    """Write a file that others see whole or not at all; return whether it survived until it was whole."""
    draft = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    except FileNotFoundError:
        return False
    finally:
        draft.unlink(missing_ok=True)
    return True


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except FileNotFoundError:
        return ""


def _remove(path: Path) -> bool:
    """Remove a file, and return whether it existed."""
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True


def _read_state(answer: Path, rank: int) -> State:
    """The state that a process handed over. Raises ValueError for a broken file, and removes it."""
    data = answer.read_bytes()
    try:
        return unpack(data)
    except ValueError as error:
        answer.unlink(missing_ok=True)
        raise ValueError(
            f"process {rank}: expected a state in {answer}, got a file that cannot be read: {error}"
        ) from None


# names that completion offers
_OF_EVALUATE = ("citation", "description", "features", "homepage", "info", "inputs_description", "license")


class Evaluated(Metric):
    """Mixin that binds a metric to evaluate: `class Openauc(Evaluated, OpenAUC, evaluate.Metric)`."""

    num_process: int  # these are evaluate's
    process_id: int
    experiment_id: str
    data_dir: str
    timeout: float

    if not TYPE_CHECKING:  # as of Metric

        def __new__(cls, *args: Any, **options: Any) -> Evaluated:
            """Leave arguments to the constructor: some are evaluate's."""
            return object.__new__(cls)

    def __dir__(self) -> list[str]:
        """The names of the metric, and evaluate's attributes of one."""
        return [*super().__dir__(), *_OF_EVALUATE]

    def __init__(self, config_name: str | None = None, **kwargs: Any) -> None:
        """Take evaluate's own arguments, and the metric's options as keywords; any other name is a TypeError.

        `config_name` stands for the options that `Metric.configs` says; "default" is evaluate's word for none. Raises
        ValueError for another name, and for an option that contradicts it.
        """
        evaluate_metric: Any = super(Metric, self)  # the next in line
        of_evaluate = inspect.signature(evaluate_metric.__init__).parameters
        options = {name: value for name, value in kwargs.items() if name not in of_evaluate}
        metric = self._core(**self._configured(config_name or "default", options))
        evaluate_metric.__init__(config_name, **{name: value for name, value in kwargs.items() if name in of_evaluate})
        if self.num_process > 1:
            run_key(self.experiment_id, self.num_process)
            if not 0 < as_real(self.timeout, "timeout") < math.inf:
                raise ValueError(f"timeout: expected seconds, more than 0, got {self.timeout!r}")
        vars(self).update(vars(metric))

    @classmethod
    def _configured(cls, config: Any, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options, with the options that a configuration stands for."""
        if config == "default":
            return {**options}
        if not isinstance(config, str) or config not in cls.configs:
            names = f"one of {', '.join(map(repr, cls.configs))}" if cls.configs else "none"
            raise ValueError(f"config_name: expected {names}, got {config!r}; options of {cls.name} are given by name")
        for name, value in cls.configs[config].items():
            came = options.get(name, value)
            if differ(came, value):
                raise ValueError(f"{name}: expected {value!r}, as the config_name {config!r} says, got {came!r}")
        return {**cls.configs[config], **options}

    @property
    def _core(self) -> type[Metric]:
        """The metric without evaluate."""
        return next(base for base in type(self).__mro__ if issubclass(base, Metric) and not issubclass(base, Evaluated))

    def _summary(self, batches: Sequence[Parts], metric: Metric) -> Any:
        """The results of all processes in process 0, None in the others."""
        if self.num_process == 1:
            return super()._summary(batches, metric)
        folder, key = Path(self.data_dir), run_key(self.experiment_id, self.num_process)
        if self.process_id:
            state = {**as_one_state(joined_parts(batches)), "metric": np.asarray(self.name)}
            send(state, folder, key, self.process_id, self.timeout)
            return None
        # what the others hand over is this process's from now on, even if it fails
        first, agreed = len(self._batches), dict[str, Any]()
        for batch in batches:
            check_agreement(batch, agreed)

        def check(state: State) -> Parts:
            parts = self._checked_parts(state)
            check_agreement(parts, agreed)
            return parts

        receive(folder, key, self.num_process, self.timeout, self._batches, check)
        return super()._summary([*batches, *self._batches[first:]], metric)
