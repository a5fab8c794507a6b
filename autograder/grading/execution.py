"""Run a rebuilt submission in the sandbox, cell by cell, through crashes and endless loops.

What comes back is data to show; no verdict is drawn from an output. Outputs are taken from processes that
no hidden question has reached: before the first one, or from another process, which runs the cells anew.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping
from typing import Any

from autograder.grading.cell_run import CellRun, Keeper, as_submitted
from autograder.grading.experiments import Claim, claims, stand_in
from autograder.grading.figures import is_read_elsewhere
from autograder.grading.prefix import shared_cells
from autograder.grading.submission import Submission
from autograder.results import Outcome
from autograder.sandbox.limits import Limits
from autograder.sandbox.prefix import Shared
from autograder.sandbox.process import Sandbox
from autograder.sandbox.session import Session
from autograder.sandbox.student import (
    StudentCrashed,
    StudentFailure,
    StudentOutOfMemory,
    StudentTampered,
    StudentTimeout,
)

_NO_TIME = "The submission's time was over before this cell."
_SPENT = "The submission used up its time or its restarts; later cells were not run."
_STRUCK = (
    "More than once your code did not stop when its time was over; nothing more of the notebook was run. "
    "Look for a loop that does not end, or for an 'except' that catches everything."
)
#: So many times a submission's process is ended because it did not stop when its time was over.
_STRIKES = 3
#: The first of the moments, each twice as late as the one before, at which a process apart may start.
_FIRST_MOMENT = 0.125


def outcome_of(failed: StudentFailure) -> Outcome:
    """The outcome that a student's failure gives to a check."""
    if isinstance(failed, StudentTimeout):
        return Outcome.TIMEOUT
    if isinstance(failed, StudentOutOfMemory):
        return Outcome.OUT_OF_MEMORY
    return Outcome.CRASHED if isinstance(failed, StudentCrashed) else Outcome.FAILED


class Execution:
    """One submission in one sandbox. After a crash a new fork replays the cells, without the deadly one."""

    def __init__(
        self,
        submission: Submission,
        sandbox: Sandbox,
        limits: Limits,
        drawn: Mapping[str, list[Any]] | None = None,
        uses: Mapping[str, frozenset[str]] | None = None,
        rerun: bool = False,
        shared: Shared | None = None,
        seconds: float | None = None,
    ) -> None:
        """`drawn`: outputs of the course's pictures, by grade_id, as the solutions have them.

        `uses`: the exercises whose answers such a picture shows; those wait for `expect` or `draw`.
        `rerun`: run experiments too, instead of keeping what they were submitted with.
        `shared`: course cells that the sandbox has run already, for submissions that begin with them.
        `seconds`: for everything, by default a submission's.
        """
        self.submission = submission
        self.runs = [CellRun() for _ in submission.cells]
        self._given: set[int] = set()
        self._waiting: dict[int, frozenset[str]] = {}
        theirs = [cell.source for cell in submission.cells if cell.is_students and cell.cell_type == "code"]
        for index, cell in enumerate(submission.cells):
            name = cell.template.grade_id if cell.template is not None else ""
            if name not in (drawn or {}):
                continue
            shown = (uses or {}).get(name, frozenset())
            if shown and is_read_elsewhere(cell.source, theirs):
                continue  # run it in its place, as the student's notebook does
            if shown:
                self._waiting[index] = shown
            self._given.add(index)
            self.runs[index].outputs = list((drawn or {})[name])
        self._before = shared_cells(submission, shared, self._given)
        for index, outputs in self._before.items():
            self.runs[index] = CellRun(copy.deepcopy(outputs), ran=True)
        self._rerun = rerun
        self._about = (drawn, uses, False, shared)
        #: What experiments recorded, by name: as submitted, and as run again.
        self.claims: dict[str, Claim] = {}
        for index, cell in enumerate(submission.cells):
            if cell.outputs is not None:
                self.claims.update(claims(cell.outputs))
                self.runs[index].outputs = as_submitted(cell.outputs)
        self.layers: tuple[str, ...] = ()
        self.notes: list[str] = []
        self._sandbox = sandbox
        self._limits = limits
        self._began = time.monotonic()
        self._deadline = self._began + (limits.submission_seconds if seconds is None else seconds)
        self._session: Session | None = None
        self._deadly: set[int] = set()
        #: Those that were found before the first hidden question; what is found later may tell of one.
        self._known_deadly: frozenset[int] = frozenset()
        self._forks = 0
        #: Why nothing more is run or asked of this submission, once that is so.
        self.ended: StudentFailure | None = None
        #: Answers that came too late, of all exercises.
        self.late = 0
        self._strikes = 0
        self._apart: Execution | None = None
        #: Seconds of the process apart; `expect` says how many.
        self._kept = limits.cell_seconds
        self._keeper = Keeper(2 * limits.notebook_output_size)

    def run(self) -> None:
        """Run every cell once, keeping outputs. Raises `SandboxError` when nothing could be started."""
        self._advance(first_time=True)

    def expect(self, failed: set[str]) -> None:
        """Before the first hidden question: draw the pictures of exercises known to have failed, and keep
        a part of the time, as long for every course of the questions, for the process apart.
        """
        for index in [index for index, shown in self._waiting.items() if shown & failed]:
            del self._waiting[index]
            self._draw(index, self)
        self._known_deadly = frozenset(self._deadly)
        now = time.monotonic()
        self._kept = max(0.0, min(self.remaining() / 3, now - self._began + self._limits.cell_seconds))
        self._deadline -= self._kept
        self._began = now

    def draw(self, passed: set[str]) -> None:
        """Draw the other pictures that wait, from the student's own answers, unless all these have passed."""
        for index, shown in self._waiting.items():
            if not shown <= passed:
                self._draw(index, self.apart())

    def apart(self) -> Execution:
        """The same cells in a process that has not heard and cannot learn what was asked of this one.

        Its clock would tell it how long the questions took, so it starts at one of a few moments only.
        """
        if self._apart is None:
            self._apart = Execution(
                self.submission, self._sandbox, self._limits, *self._about, seconds=self._kept
            )
            self._apart.ended = self.ended
            self._apart._deadly |= self._known_deadly
            if self.ended is None:
                moment = _FIRST_MOMENT
                while self._began + moment < time.monotonic():
                    moment *= 2
                time.sleep(max(0.0, min(self._began + moment, self._deadline) - time.monotonic()))
                self._apart._deadline = time.monotonic() + self._kept
                self._apart.run()
        return self._apart

    def _draw(self, index: int, of: Execution) -> None:
        run = self.runs[index] = CellRun(ran=True)
        session = of.session()
        if session is None:
            run.failure = of.ended or StudentTimeout(_NO_TIME)
            return
        seconds = max(0.1, min(self._limits.cell_seconds, of.remaining()))
        try:
            self._keeper.keep(
                run, session.run_cell(self.submission.cells[index].source, seconds, within=_place(index))
            )
        except StudentFailure as failed:
            of.heed(failed)
            run.failure = failed

    def heed(self, failed: StudentFailure) -> None:
        """End the whole at a proof of tampering, or when the process had to be ended too often."""
        if isinstance(failed, StudentTampered):
            self.ended = failed
        elif isinstance(failed, StudentTimeout) and self._session is not None and not self._session.alive:
            self._strikes += 1
            if self._strikes == _STRIKES:
                self.ended = StudentTimeout(_STRUCK)

    @property
    def again(self) -> dict[str, Claim]:
        """What experiments recorded when they were run again; empty when they were not."""
        found: dict[str, Claim] = {}
        for cell, run in zip(self.submission.cells, self.runs, strict=True):
            if cell.outputs is not None and self._rerun:
                found.update(claims(run.outputs))
        return found

    def session(self) -> Session | None:
        """A live process in which every cell has run, or None when the submission's budget is spent."""
        if self.ended is not None or self.remaining() <= 0:
            self._end()
            return None
        if self._session is not None and self._session.alive:
            return self._session
        if self._forks and not self._may_fork():
            return None
        self._advance(first_time=False)
        return self._session if self._session is not None and self._session.alive else None

    def remaining(self) -> float:
        """Seconds left of the submission's own time."""
        return self._deadline - time.monotonic()

    def close(self) -> None:
        """End every process of the submission."""
        self._end()
        if self._apart is not None:
            self._apart.close()

    def _end(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

    def _may_fork(self) -> bool:
        return self.ended is None and self._forks <= self._limits.restarts and self.remaining() > 0

    def _advance(self, first_time: bool) -> None:
        while True:
            self._start()
            dead = self._pass(keep=first_time)
            if dead is None:
                return
            self._deadly.add(dead)
            if not self._may_fork():
                if first_time:
                    self.notes.append(_SPENT if self.ended is None else str(self.ended))
                return

    def _start(self) -> None:
        self._end()
        self._forks += 1
        self._session = self._sandbox.spawn(shared=True) if self._before else self._sandbox.spawn()
        self.layers = self._session.layers
        if self.submission.files:
            try:
                refused = self._session.write_files(self.submission.files)
            except StudentFailure:
                refused = []
            if self._forks == 1:
                self.notes.extend(
                    f"The file '{name}' was not given to the notebook: {why}." for name, why in refused
                )

    def _pass(self, keep: bool) -> int | None:
        """One pass over the cells; returns the index of a cell that ended the process."""
        for index, cell in enumerate(self.submission.cells):
            run = self.runs[index]
            skip = index in self._deadly or index in self._given or index in self._before
            source = cell.source if cell.is_run and not skip else ""
            snapshots = (*cell.snapshots, *([_place(index)] if index in self._waiting else []))
            if not source and not snapshots:
                continue
            if self.remaining() <= 0 and source:
                if keep and not run.ran and run.failure is None:
                    run.failure = StudentTimeout(_NO_TIME)
                source = ""
            try:
                if cell.outputs is not None and source and not self._rerun:
                    self._cell(index, stand_in(source, self.claims), False, snapshots)
                else:
                    self._cell(index, source, keep and not run.ran, snapshots)
            except StudentFailure as failed:
                self.heed(failed)
                if index in self._deadly:
                    return None  # the process ends even without this cell: give up
                if keep:  # what a later process does has been preceded by hidden questions
                    run.failure, run.ran = failed, True
                return index
        return None

    def _cell(self, index: int, source: str, keep: bool, snapshots: tuple[str, ...]) -> None:
        assert self._session is not None
        experiment = self.submission.cells[index].outputs is not None
        most = self._limits.experiment_seconds if experiment else self._limits.cell_seconds
        seconds = max(0.1, min(most, self.remaining()))
        answer = self._session.run_cell(source, seconds, snapshots[0] if snapshots else None)
        for more in snapshots[1:]:
            self._session.run_cell("", 1.0, more)
        if not keep or not source:
            return
        self._keeper.keep(self.runs[index], answer)


def _place(index: int) -> str:
    """The name of the snapshot at a picture's place: no exercise's, as those are identifiers."""
    return f"cell {index}"
