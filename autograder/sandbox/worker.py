"""The student's process: runs cells and answers calls. Depends on nothing of the package but its
siblings in `sandbox/`: a forked child can read whatever its parent imported.

Nothing that is computed here is a verdict. What a student's code does to this file's objects, it
does to its own answers.
"""

from __future__ import annotations

import builtins
import contextlib
import errno
import gc
import os
import signal
import socket
import time
from typing import Any

import numpy as np
import torch

from autograder.sandbox import protocol
from autograder.sandbox.plain import plain
from autograder.sandbox.shell import Shell, cell_line, redirect


class OverTime(KeyboardInterrupt):
    """A cell or a call has used its time. Not an `Exception`, so that a student's handler lets it pass."""


_BUILT_IN = {
    kind: kind.__name__
    for kind in vars(builtins).values()
    if isinstance(kind, type) and issubclass(kind, BaseException)
}
_TOO_LARGE = {
    "output_type": "stream",
    "name": "stderr",
    "text": "[The outputs of this cell were left out: together they are too large.]\n",
}
#: Kept here, as a student's code may put others in their place.
_getpid, _exit = os.getpid, os._exit
_MEMORY_WORDS = ("can't allocate memory", "not enough memory", "Cannot allocate memory", "bad allocation")


class Snapshot:
    """The names of a submission as they stood after one exercise's cells."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = dict(names)
        self.dtype = torch.get_default_dtype()
        self.numpy_errors = np.geterr()

    def restore(self, names: dict[str, Any]) -> None:
        names.clear()
        names.update(self.names)
        torch.set_default_dtype(self.dtype)
        np.seterr(**self.numpy_errors)


class Worker:
    """Serves one submission over one socket until it is closed."""

    def __init__(self, channel: socket.socket | None, shell: Shell, limits: dict[str, Any]) -> None:
        self._channel = channel
        self._shell = shell
        self._limits = limits
        self._snapshots: dict[str, Snapshot] = {}
        self._current: str | None = None
        self._files: dict[str, str] = {}

    def redirect(self) -> None:
        """Let cells put out to the shell, and give them no input."""
        redirect(self._shell)

    def serve(self) -> None:
        assert self._channel is not None
        self.redirect()
        own = _getpid()
        answers = {
            "files": self._write,
            "cell": self.cell,
            "call": self._call,
            "value": self._value,
            "drive": self._drive,
        }
        while True:
            try:
                question = protocol.receive(self._channel, None, 1 << 30)
            except protocol.ProtocolError:
                return
            question["began"] = time.monotonic()
            answer = answers[question["op"]](question)
            if _getpid() != own:
                _exit(0)  # a fork that the student's code has made and that came back here
            protocol.send_frame(self._channel, answer.get("frame") or self._frame(answer, question))

    def _frame(self, answer: dict[str, Any], question: dict[str, Any]) -> bytes:
        """A reply that the other side takes, without what makes it too large."""
        answer["nonce"] = question["nonce"]
        try:
            return protocol.pack(answer, self._limits["reply_size"])
        except protocol.Unencodable:
            pass
        answer = {"opaque": "more than an answer may hold", **answer, "outputs": [_TOO_LARGE]}
        kept = {
            name: answer[name]
            for name in ("opaque", "outputs", "failure", "seconds", "nonce")
            if name in answer
        }
        return protocol.pack(kept, self._limits["reply_size"])

    def _write(self, question: dict[str, Any]) -> dict[str, Any]:
        refused = []
        for name, data in question["files"].items():
            try:
                if os.path.dirname(name):
                    os.makedirs(os.path.dirname(name), exist_ok=True)
                with open(name, "wb") as file:
                    file.write(data)
            except OSError as error:
                refused.append([name, error.strerror or "cannot be written"])
        return {"refused": refused}

    def cell(self, question: dict[str, Any]) -> dict[str, Any]:
        """Run `source` within `seconds`; take a `snapshot` of the names afterwards when asked to.

        `within`: the snapshot whose names it runs among, instead of those that stand now.
        """
        if question.get("within"):
            self._enter(question["within"])
        shell = self._shell
        shell.outputs.limit = self._limits["output_size"]
        shell.outputs.start()
        shell.outputs.open = True
        error: BaseException | None = None
        started = time.perf_counter()
        if question["source"].strip():
            try:
                with _Deadline(question["seconds"]):
                    result = shell.run_cell(question["source"], store_history=True)
                error = result.error_before_exec or result.error_in_exec
            except BaseException as escaped:  # student code may have replaced any part of the shell
                error = escaped
        shell.outputs.open = False
        with contextlib.suppress(Exception):  # student code may have replaced it too
            shell.outputs.flush()
        if question.get("snapshot"):
            self._snapshots[question["snapshot"]] = Snapshot(shell.user_ns)
        return {
            "outputs": shell.outputs.items,
            "failure": None if error is None else self._failure(error),
            "seconds": time.perf_counter() - started,
        }

    def _call(self, question: dict[str, Any]) -> dict[str, Any]:
        names = self._enter(question["exercise"])
        if question["name"] not in names:
            return {"missing": True}
        try:
            with _Deadline(_left(question)):
                value = names[question["name"]](*question["args"], **question["kwargs"])
        except BaseException as error:
            return {"failure": self._failure(error)}
        return self._convert(value, question)

    def _value(self, question: dict[str, Any]) -> dict[str, Any]:
        names = self._enter(question["exercise"])
        if question["name"] not in names:
            return {"missing": True}
        return self._convert(names[question["name"]], question)

    def _drive(self, question: dict[str, Any]) -> dict[str, Any]:
        """Run a suite's own lines among the student's names; they leave what to send in `answer`."""
        names = dict(self._enter(question["exercise"]))
        missing = [name for name in question["needs"] if name not in names]
        if missing:
            return {"missing": True}
        names.update(question["inputs"])
        try:
            with _Deadline(_left(question)):
                exec(compile(question["code"], "<the course's check>", "exec"), names)
        except BaseException as error:
            return {"failure": self._failure(error)}
        return self._convert(names.get("answer"), question)

    def _enter(self, exercise: str) -> dict[str, Any]:
        names: dict[str, Any] = self._shell.user_ns
        if self._current != exercise:
            snapshot = self._snapshots.get(exercise)
            if snapshot is None:
                return {}
            snapshot.restore(names)
            self._current = exercise
        return names

    def _convert(self, value: Any, question: dict[str, Any]) -> dict[str, Any]:
        """Judged apart from the call, in what is left of its time: an exception in here is no answer."""
        try:
            with _Deadline(_left(question)):
                answer = {"value": plain(value), "nonce": question["nonce"]}
                return {"frame": protocol.pack(answer, self._limits["reply_size"])}
        except OverTime:
            return {"failure": {"kinds": [], "line": None, "over_time": True, "memory": False}}
        except BaseException:
            return {"opaque": type(value).__name__[:80]}

    def _failure(self, error: BaseException) -> dict[str, Any]:
        kinds = [_BUILT_IN[kind] for kind in type(error).__mro__ if kind in _BUILT_IN]
        memory = isinstance(error, MemoryError)
        if isinstance(error, OSError):
            memory = error.errno == errno.ENOMEM
        if isinstance(error, RuntimeError):
            memory = any(word in str(error.args)[:500] for word in _MEMORY_WORDS)
        return {
            "kinds": kinds,
            "line": cell_line(error, self._shell.compiled),
            "over_time": isinstance(error, OverTime),
            "memory": memory,
            "held": memory and _memory_held() > self._limits["memory"] // 2,
        }


def _left(question: dict[str, Any]) -> float:
    """Seconds that a question has left; a little where there are none, as 0 would stop the timer."""
    seconds: float = question["seconds"]
    began: float = question["began"]
    return max(1e-3, seconds - (time.monotonic() - began))


class _Deadline:
    """Raise `OverTime` in this process after `seconds`, and again while it is ignored."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        signal.signal(signal.SIGALRM, _over_time)
        signal.setitimer(signal.ITIMER_REAL, self._seconds, 0.5)

    def __exit__(self, *_exc: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _memory_held() -> int:
    """Bytes of private memory that this process still holds once garbage is gone."""
    gc.collect()
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def _over_time(_signal: int, _frame: object) -> None:
    raise OverTime("The time for this cell is over.")
