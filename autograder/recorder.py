"""What is graded goes into the gradebook while the rest of a class is graded."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from autograder.batch.atomic import clear_when_full
from autograder.batch.course import Course
from autograder.batch.folder import timestamp_text
from autograder.batch.local import Done
from autograder.batch.staging import stage, staged_root, unstage
from autograder.batch.tree import WrongName
from autograder.batch.written import Written
from autograder.errors import no_room
from autograder.grading.secret import FOLDER
from autograder.nbgrader_bridge.standing import Standing, Unreadable, standing
from autograder.results import GradeReport

#: Submissions that are written to the gradebook together, and seconds after which fewer are.
_BATCH, _BATCH_SECONDS = 20, 3.0


@dataclass(frozen=True)
class End:
    """How one submission ended, small enough to keep for everybody; `report` of what is not in the store."""

    student: str
    key: str
    ok: bool
    trouble: tuple[str, ...]
    report: GradeReport | None


class Recorder:
    """Writes what is graded to the gradebook, in batches, and skips what is there already."""

    def __init__(self, course: Course, assignment: str, notebook: str) -> None:
        self.ends: list[End] = []
        self.failures: list[tuple[str, str]] = []
        self._course = course
        self._assignment = assignment
        self._notebook = notebook
        self._written = Written(course.root, assignment, notebook)
        self._standing = standing_of(course, assignment)
        self._waiting: list[tuple[str, str]] = []
        self._since = 0.0
        self._stack = ExitStack()
        self._writer: object = None

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, kind: object, *_exc: object) -> None:
        try:
            if kind is None:
                self._write()
        finally:
            self._stack.close()

    def prepare(self) -> None:
        """Import what the first writing needs, which takes seconds."""
        from autograder.nbgrader_bridge import writing  # noqa: F401

    def add(self, done: Done) -> None:
        report = None if done.ok else done.report
        self.ends.append(End(done.student, done.key, done.ok, done.trouble, report))
        if not done.ok or self._is_written(done):
            return
        if not self._waiting:
            self._since = time.monotonic()
        self._waiting.append((done.student, done.key))
        if len(self._waiting) >= _BATCH or time.monotonic() - self._since > _BATCH_SECONDS:
            self._write()

    def _is_written(self, done: Done) -> bool:
        assert done.report is not None
        known = self._standing.get(done.student)
        if known is None or not self._written.holds(done.student, done.key, self._timestamp(done.student)):
            return False
        return all(
            known.scores.get(exercise.grade_id) == exercise.points for exercise in done.report.exercises
        )

    def _timestamp(self, student: str) -> str | None:
        return timestamp_text(self._folder(student))

    def _folder(self, student: str) -> Path:
        return self._course.root / "submitted" / student / self._assignment

    def _write(self) -> None:
        if not self._waiting:
            return
        from autograder.nbgrader_bridge.writing import GradebookWriter, ensure

        root, batch = self._course.root, self._waiting
        if self._writer is None:
            with clear_when_full(root):
                ensure(root, self._assignment)
            writer = GradebookWriter(root, self._assignment, staged_root(root) / "submitted")
            self._writer = self._stack.enter_context(writer)
        assert isinstance(self._writer, GradebookWriter)
        with clear_when_full(root):
            failures = [found for student, key in batch if (found := self._staged(student, key))]
            unstaged = {student for student, _ in failures}
            failures += self._writer.write([student for student, _ in batch if student not in unstaged])
            failed = {student for student, _ in failures}
            for student, key in batch:
                if student not in failed and "*" not in failed:
                    self._written.note(student, key, self._timestamp(student))
                if student not in unstaged:
                    unstage(root, student, self._assignment)
        self.failures += failures
        self._waiting = []

    def _staged(self, student: str, key: str) -> tuple[str, str] | None:
        """Put one submission where nbgrader reads it; who it is and the reason when it can not be."""
        try:
            self._written.forget(student)
            stage(self._course.root, student, self._assignment, self._notebook, self._folder(student), key)
        except (OSError, WrongName) as error:
            if no_room(error):
                raise
            why = error.strerror if isinstance(error, OSError) else str(error)
            place = self._folder(student)
            return student, f"{place} could not be copied to {FOLDER}/ ({why}). Mend that, then grade again."
        return None


def standing_of(course: Course, assignment: str) -> dict[str, Standing]:
    """What the gradebook has; nothing where it can not be read."""
    try:
        return standing(course.root, assignment)
    except Unreadable:
        return {}  # whatever it is, writing will meet it too, and say so
