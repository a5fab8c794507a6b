"""Run a rebuilt submission in the sandbox, cell by cell, through crashes and endless loops.

What comes back is data to show; no verdict is drawn from an output.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.grading.experiments import AS_SUBMITTED, Claim, claims, stand_in
from autograder.grading.figures import is_read_elsewhere
from autograder.grading.submission import PlannedCell, Submission
from autograder.grading.template import Role, joined
from autograder.results import Outcome
from autograder.sandbox.limits import Limits
from autograder.sandbox.prefix import Shared
from autograder.sandbox.process import Sandbox
from autograder.sandbox.session import Session, failure
from autograder.sandbox.student import (
    StudentCrashed,
    StudentFailure,
    StudentOutOfMemory,
    StudentTimeout,
)


@dataclass
class CellRun:
    """What one cell did: its outputs as received, and how it failed if it did."""

    outputs: list[Any] = field(default_factory=list)
    failure: StudentFailure | None = None
    ran: bool = False


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
    ) -> None:
        """`drawn`: outputs of the course's pictures, by grade_id, as the solutions have them.

        `uses`: the exercises whose answers such a picture shows; those wait for `draw`.
        `rerun`: run experiments too, instead of keeping what they were submitted with.
        `shared`: course cells that the sandbox has run already, for submissions that begin with them.
        """
        self.submission = submission
        self.runs = [CellRun() for _ in submission.cells]
        self._given: set[int] = set()
        self._waiting: dict[int, frozenset[str]] = {}
        theirs = [cell.source for cell in submission.cells if is_students(cell) and cell.cell_type == "code"]
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
        self._before = self._begins_with(shared) if shared is not None else {}
        for index, outputs in self._before.items():
            self.runs[index] = CellRun(copy.deepcopy(outputs), ran=True)
        self._rerun = rerun
        #: What experiments recorded, by name: as submitted, and as run again.
        self.claims: dict[str, Claim] = {}
        for index, cell in enumerate(submission.cells):
            if cell.outputs is not None:
                self.claims.update(claims(cell.outputs))
                self.runs[index].outputs = _shown(cell.outputs)
        self.layers: tuple[str, ...] = ()
        self.notes: list[str] = []
        self._sandbox = sandbox
        self._limits = limits
        self._deadline = time.monotonic() + limits.submission_seconds
        self._session: Session | None = None
        self._deadly: set[int] = set()
        self._forks = 0

    def _begins_with(self, shared: Shared) -> dict[int, list[Any]]:
        """The outputs of the shared cells by their place; empty where a student's own comes between."""
        if self.submission.files != shared.prefix.files:
            return {}  # a course's cell might read a student's file
        found: dict[int, list[Any]] = {}
        for index, cell in enumerate(self.submission.cells):
            if len(found) == len(shared.prefix.cells):
                return found
            if not _runs(cell) or index in self._given or not cell.source.strip():
                continue
            wanted, outputs = shared.prefix.cells[len(found)], shared.outputs[len(found)]
            if cell.template is None or cell.source != wanted or cell.snapshots or cell.outputs is not None:
                return {}
            found[index] = outputs
        return found if len(found) == len(shared.prefix.cells) else {}

    def run(self) -> None:
        """Run every cell once, keeping outputs. Raises `SandboxError` when nothing could be started."""
        self._advance(first_time=True)

    def draw(self, passed: set[str]) -> None:
        """Draw the pictures that wait, from the student's own answers, unless all these have passed."""
        for index, shown in self._waiting.items():
            if shown <= passed:
                continue
            run = self.runs[index] = CellRun(ran=True)
            cell = self.submission.cells[index]
            session = self.session()
            if session is None or self.remaining() <= 0:
                run.failure = StudentTimeout("The submission's time was over before this cell.")
                continue
            seconds = max(0.1, min(self._limits.cell_seconds, self.remaining()))
            try:
                _keep(run, session.run_cell(cell.source, seconds, within=_place(index)))
            except StudentFailure as failed:
                run.failure = failed

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
        if self._session is not None:
            self._session.close()
            self._session = None

    def _may_fork(self) -> bool:
        return self._forks <= self._limits.restarts and self.remaining() > 0

    def _advance(self, first_time: bool) -> None:
        while True:
            self._start()
            dead = self._pass(keep=first_time)
            if dead is None:
                return
            self._deadly.add(dead)
            if not self._may_fork():
                self.notes.append(
                    "The submission used up its time or its restarts; later cells were not run."
                )
                return

    def _start(self) -> None:
        self.close()
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
            source = cell.source if _runs(cell) and not skip else ""
            snapshots = (*cell.snapshots, *([_place(index)] if index in self._waiting else []))
            if not source and not snapshots:
                continue
            if self.remaining() <= 0 and source:
                if not run.ran and run.failure is None:
                    run.failure = StudentTimeout("The submission's time was over before this cell.")
                source = ""
            try:
                if cell.outputs is not None and source and not self._rerun:
                    self._cell(index, stand_in(source, self.claims), False, snapshots)
                else:
                    self._cell(index, source, keep and not run.ran, snapshots)
            except StudentFailure as failed:
                if index in self._deadly:
                    return None  # the process ends even without this cell: give up
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
        _keep(self.runs[index], answer)


def _keep(run: CellRun, answer: dict[str, Any]) -> None:
    """What a cell has put out. Raises its failure when the process holds too much to go on."""
    run.ran = True
    outputs = answer.get("outputs")
    run.outputs = [one for one in outputs if isinstance(one, dict)] if isinstance(outputs, list) else []
    for one in run.outputs:  # an array's comparison with a word is no bool
        if not isinstance(one.get("output_type"), str):
            one["output_type"] = ""
    if answer.get("failure") is not None:
        run.failure = failure(answer["failure"])
        if isinstance(answer["failure"], dict) and answer["failure"].get("held") is True:
            raise run.failure  # what it still holds would starve every later cell


def _place(index: int) -> str:
    """The name of the snapshot at a picture's place: no exercise's, as those are identifiers."""
    return f"cell {index}"


def is_students(cell: PlannedCell) -> bool:
    """Whether the cell's text is the student's own."""
    return cell.template is None or cell.template.role is Role.SOLUTION


def _shown(outputs: tuple[Any, ...]) -> list[Any]:
    """Submitted outputs under a line that says what they are, texts whole where files keep lists of lines."""
    note = {"output_type": "stream", "name": "stdout", "text": AS_SUBMITTED}
    kept = [one for one in outputs if isinstance(one, dict) and isinstance(one.get("output_type"), str)]
    return [note, *(joined(one) for one in kept)]


def _runs(cell: PlannedCell) -> bool:
    return cell.run and cell.cell_type == "code"
