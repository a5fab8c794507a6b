"""What a suite asks a submission: in the exercise's snapshot, within its time, and remembered."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from autograder.grading.execution import Execution, is_students
from autograder.grading.experiments import Claim
from autograder.grading.naming import Probe
from autograder.sandbox.limits import Limits
from autograder.sandbox.session import Session
from autograder.sandbox.student import (
    NotRecorded,
    StudentCrashed,
    StudentFailure,
    StudentRaised,
    StudentTimeout,
)

#: After this many calls that ran out of time, an exercise's other checks are not called any more.
_PATIENCE = 2


class Questions:
    """The channel of one exercise: asks in the exercise's snapshot, remembers, and loses patience."""

    def __init__(self, exercise: str, execution: Execution, limits: Limits, flags: list[str]) -> None:
        self.heard = False
        self.probes: list[Probe] = []
        self._exercise = exercise
        self._execution = execution
        self._limits = limits
        #: The longest of the student's own cells: no line of theirs lies beyond it.
        self._lines = max(
            (cell.source.count("\n") + 1 for cell in execution.submission.cells if is_students(cell)),
            default=0,
        )
        self._late = 0
        self._flags = flags
        self._dead: StudentFailure | None = None

    def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        question = lambda session, seconds: session.call(self._exercise, name, args, kwargs, seconds)  # noqa: E731
        return self._ask(Probe(name, args, kwargs), question)

    def value(self, name: str) -> Any:
        question = lambda session, seconds: session.value(self._exercise, name, seconds)  # noqa: E731
        return self._ask(Probe(name, None, {}), question)

    def drive(self, needs: tuple[str, ...], code: str, inputs: dict[str, Any]) -> Any:
        question = lambda session, seconds: session.drive(self._exercise, needs, code, inputs, seconds)  # noqa: E731
        return self._ask(Probe("", (code,), inputs), question)

    def claim(self, name: str) -> Claim:
        self.heard = True
        known = self._execution.claims.get(name, self._execution.again.get(name))
        if known is None:
            raise NotRecorded(name)
        return copy.deepcopy(known)

    def again(self, name: str) -> Claim | None:
        return copy.deepcopy(self._execution.again.get(name))

    def rerun(self, needs: tuple[str, ...], code: str, inputs: dict[str, Any]) -> Any:
        question = lambda session, seconds: session.drive(self._exercise, needs, code, inputs, seconds)  # noqa: E731
        return self._ask(Probe("", (code,), inputs), question, self._limits.rerun_seconds)

    def flag(self, text: str) -> None:
        self._flags.append(f"{self._exercise}: {text}")

    def _ask(self, probe: Probe, question: Callable[[Session, float], Any], most: float | None = None) -> Any:
        """`most`: seconds instead of a call's usual ones."""
        if self._dead is not None:
            raise self._dead.with_traceback(None)  # else it would grow with every check
        session = self._execution.session()
        if session is None:
            self.heard = True
            raise StudentTimeout("The submission's time was over before this check.")
        seconds = max(0.1, min(most or self._limits.call_seconds, self._execution.remaining()))
        self.heard = True
        began = time.monotonic()
        try:
            value = question(session, seconds)
        except StudentRaised as raised:
            self.probes.append(replace(probe, raised=raised.kinds))
            if raised.line is not None and raised.line > self._lines:
                raise StudentRaised(raised.kinds, None) from None  # a made-up line could carry an input out
            raise
        except StudentFailure as failed:
            self.probes.append(
                replace(probe, raised=(f"({type(failed).__name__})",))
            )  # equal to no wrong answer
            self._late += isinstance(failed, StudentTimeout)
            if not session.alive or self._late >= _PATIENCE or isinstance(failed, StudentCrashed):
                self._dead = failed
            raise
        self.probes.append(replace(probe, value=value, seconds=time.monotonic() - began))
        return value
