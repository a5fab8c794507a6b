"""What a suite asks a submission: in the exercise's snapshot, within its time, and remembered.

A question is hidden or not. Of a hidden one only that something was raised is told: the class of an exception
and its line could carry the input out.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from autograder.grading.cell_run import bulk
from autograder.grading.execution import Execution
from autograder.grading.experiments import Claim
from autograder.grading.naming import Probe
from autograder.sandbox.limits import Limits
from autograder.sandbox.session import Session
from autograder.sandbox.student import (
    NotRecorded,
    StudentCrashed,
    StudentFailure,
    StudentOutOfMemory,
    StudentRaised,
    StudentTimeout,
)

#: After this many calls that ran out of time, an exercise's other checks are not called any more.
_PATIENCE = 2
#: After this many of a whole submission, one call is enough.
_PATIENCE_IN_ALL = 6
#: Bytes that the answers to one exercise may hold here, all together: they are compared with wrong answers.
_ROOM = 128 << 20


class Questions:
    """The channel of one exercise: asks in the exercise's snapshot, remembers, and loses patience."""

    def __init__(
        self, exercise: str, execution: Execution, limits: Limits, flags: list[str], hidden: bool = True
    ) -> None:
        self.heard = False
        self._hidden = hidden
        self._room = _ROOM
        self.probes: list[Probe] = []
        self._exercise = exercise
        self._execution = execution
        self._limits = limits
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
            over = self._execution.ended or StudentTimeout(
                "The submission's time was over before this check."
            )
            raise over.with_traceback(None)
        seconds = max(0.1, min(most or self._limits.call_seconds, self._execution.remaining()))
        self.heard = True
        began = time.monotonic()
        try:
            value = question(session, seconds)
        except StudentRaised as raised:
            self.probes.append(replace(probe, raised=raised.kinds))
            line = raised.line if self._is_a_line(raised.line) else None
            raise StudentRaised(raised.kinds, line, self._hidden) from None
        except StudentFailure as failed:
            self.probes.append(
                replace(probe, raised=(f"({type(failed).__name__})",))
            )  # equal to no wrong answer
            self._execution.heed(failed)
            if isinstance(failed, StudentTimeout):
                self._late += 1
                self._execution.late += 1
            patience = _PATIENCE if self._execution.late <= _PATIENCE_IN_ALL else 1
            if not session.alive or self._late >= patience or isinstance(failed, StudentCrashed):
                self._dead = failed
            raise
        self._room -= bulk(value)
        if self._room < 0:
            self._dead = StudentOutOfMemory("Your answers to this exercise hold more than is allowed.")
            self.probes.clear()
            raise self._dead
        self.probes.append(replace(probe, value=value, seconds=time.monotonic() - began))
        return value

    def _is_a_line(self, number: int | None) -> bool:
        """Whether a line of that number with something in it stands in a cell of the student's."""
        if number is None:
            return False
        for cell in self._execution.submission.cells:
            lines = cell.source.split("\n", number) if cell.is_students else []
            if len(lines) >= number and lines[number - 1].strip():
                return True
        return False
