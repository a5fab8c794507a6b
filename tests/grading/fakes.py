"""A sandbox without a process: a course's own names answer, or whatever a test says happens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from autograder.sandbox.prefix import Shared
from autograder.sandbox.process import Sandbox
from autograder.sandbox.session import Session
from autograder.sandbox.student import StudentCrashed, StudentFailure, StudentMissing, StudentRaised

#: What a cell does: None runs it, a failure ends or marks it.
Cells = Callable[[str], StudentFailure | None]


@dataclass
class FakeSandbox:
    """Runs cells with `exec` and answers from their names; `cells` and `calls` may fail instead."""

    cells: Cells = lambda source: None
    calls: Callable[[str], Exception | None] = lambda name: None
    refused: list[tuple[str, str]] = field(default_factory=list)
    sessions: list[FakeSession] = field(default_factory=list)
    prefix: Shared | None = None
    #: Of each fork, whether it was of the interpreter in which the prefix has run.
    shared_forks: list[bool] = field(default_factory=list)

    def shared(self) -> Shared | None:
        return self.prefix

    def spawn(self, shared: bool = False) -> Session:
        self.shared_forks.append(shared)
        self.sessions.append(FakeSession(self))
        return cast(Session, self.sessions[-1])

    @property
    def ran(self) -> list[list[str]]:
        """The cells that each process was given."""
        return [session.ran for session in self.sessions]

    @property
    def asked(self) -> list[str]:
        return [name for session in self.sessions for name in session.asked]

    def as_sandbox(self) -> Sandbox:
        return cast(Sandbox, self)


class FakeSession:
    layers = ("fake layer",)

    def __init__(self, sandbox: FakeSandbox) -> None:
        self.alive = True
        self.ran: list[str] = []
        self.asked: list[str] = []
        self.files: dict[str, bytes] = {}
        self._sandbox = sandbox
        self._names: dict[str, Any] = {}
        self._snapshots: dict[str, dict[str, Any]] = {}

    def write_files(self, files: dict[str, bytes]) -> list[tuple[str, str]]:
        self.files = files
        return self._sandbox.refused

    def run_cell(
        self, source: str, seconds: float, snapshot: str | None = None, within: str | None = None
    ) -> dict[str, Any]:
        if not self.alive:
            raise StudentCrashed("The notebook's process had already ended.")
        if within is not None:
            kept = self._snapshots[within]
            self._names.clear()  # the same dict, which functions have for their globals
            self._names.update(kept)
        outputs: list[Any] = []
        failure: dict[str, Any] | None = None
        if source:
            self.ran.append(source)
            ends = self._sandbox.cells(source)
            if isinstance(ends, StudentRaised):
                failure = {"kinds": list(ends.kinds), "line": ends.line}
            elif ends is not None:
                self.alive = False
                raise ends
            else:
                failure = self._exec(source)
            outputs = [{"output_type": "stream", "name": "stdout", "text": f"ran {source.splitlines()[0]}"}]
        if snapshot is not None:
            self._snapshots[snapshot] = dict(self._names)
        return {"outputs": outputs, "failure": failure, "seconds": 0.0}

    def _exec(self, source: str) -> dict[str, Any] | None:
        try:
            exec(source, self._names)
        except Exception as error:
            return {"kinds": [kind.__name__ for kind in type(error).__mro__], "line": 1}
        return None

    def call(
        self, exercise: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], seconds: float
    ) -> Any:
        function = self._name(exercise, name)
        try:
            return function(*args, **kwargs)
        except Exception as error:
            kinds = tuple(one.__name__ for one in type(error).__mro__ if one is not object)
            raise StudentRaised(kinds, 1) from error

    def value(self, exercise: str, name: str, seconds: float) -> Any:
        return self._name(exercise, name)

    def _name(self, exercise: str, name: str) -> Any:
        self.asked.append(name)
        ends = self._sandbox.calls(name)
        if isinstance(ends, StudentCrashed):
            self.alive = False
        if ends is not None:
            raise ends
        if name not in self._snapshots.get(exercise, {}):
            raise StudentMissing(name)
        return self._snapshots[exercise][name]

    def close(self) -> None:
        self.alive = False
