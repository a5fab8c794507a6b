"""nbgrader's gradebook, opened once for many submissions.

nbgrader's converter and preprocessors open the gradebook five times a submission, commit cell by cell
and look each grade up by a join of seven tables. Here the same code of theirs gets one open gradebook,
whose commits wait for the end of a batch and which remembers what it has looked up. What is written is
what nbgrader writes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import jsonschema  # type: ignore[import-untyped]
from nbgrader.api import (
    Assignment,
    Comment,
    Grade,
    Gradebook,
    MissingEntry,
    Notebook,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import text

_USERS = (
    "nbgrader.converters.autograde.Gradebook",
    "nbgrader.preprocessors.saveautogrades.Gradebook",
    "autograder.nbgrader_bridge.grade.Gradebook",
)
#: Reads the sum over the grades that were just given.
_READER = "nbgrader.preprocessors.latesubmissions.Gradebook"
#: jsonschema's own examines the schema anew for each cell, which takes most of the time of writing.
_VALIDATE = "jsonschema.validate"
#: How long the database itself waits for another program's lock; who asked can then do something else.
_BUSY_MILLISECONDS = 500


class BatchGradebook(Gradebook):  # type: ignore[misc]
    """A gradebook that nbgrader's own code opens and closes as often as it likes."""

    def __init__(self, db_url: str, course_id: str) -> None:
        super().__init__(db_url, course_id)
        self._courses = {course_id}
        self._save = self.db.commit
        self._found: dict[tuple[str, ...], Any] = {}
        if self.engine.dialect.name == "sqlite":
            self.db.execute(text(f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}"))
        elif self.engine.dialect.name == "postgresql":  # which waits for ever by default
            self.db.execute(text(f"SET lock_timeout = {_BUSY_MILLISECONDS}"))
            self._save()

    @contextmanager
    def lent(self, together: bool) -> Iterator[None]:
        """nbgrader's code gets this gradebook while the block lasts.

        `together`: its commits wait for `save`; otherwise each one is made.
        """
        self.db.commit = self._wait if together else self._save
        openers: list[Any] = [mock.patch(name, self._opened) for name in _USERS]
        openers.append(mock.patch(_READER, self._opened_anew))
        openers.append(mock.patch(_VALIDATE, _Validated()))
        for opener in openers:
            opener.start()
        try:
            yield
        finally:
            for opener in openers:
                opener.stop()
            self.db.commit = self._save
            self._found.clear()

    def save(self) -> None:
        """Commit what waits. Raises sqlalchemy's OperationalError on a lock or a full disk."""
        self._save()
        self.db.remove()

    def give_up(self) -> None:
        """Forget what waits."""
        self.db.rollback()
        self.db.remove()
        self._found.clear()

    def __exit__(self, *_exc: object) -> None:
        """nbgrader is done with it; `close` is its owner's."""

    def _opened(self, db_url: str, course_id: str = "default_course") -> BatchGradebook:
        if course_id not in self._courses:  # nbgrader makes the row of each course that it names
            self.check_course(course_id)
            self._courses.add(course_id)
        return self

    def _opened_anew(self, db_url: str, course_id: str = "default_course") -> BatchGradebook:
        """With the sums as they are now: the database makes them, so what was read before is out of date."""
        self.db.flush()
        for known in list(self.db().identity_map.values()):
            if isinstance(known, Grade | SubmittedNotebook | SubmittedAssignment):
                self.db.expire(known)
        return self._opened(db_url, course_id)

    def _wait(self) -> None:
        """In the place of a commit: the next question to the database sends what has changed."""

    def find_assignment(self, name: str) -> Assignment:
        return self._once(("assignment", name), lambda: super(BatchGradebook, self).find_assignment(name))

    def find_notebook(self, name: str, assignment: str) -> Notebook:
        find = super().find_notebook
        return self._once(("notebook", name, assignment), lambda: find(name, assignment))

    def find_submission(self, assignment: str, student: str) -> SubmittedAssignment:
        find = super().find_submission
        return self._of("submission", lambda: find(assignment, student), assignment, student)

    def find_submission_notebook(self, notebook: str, assignment: str, student: str) -> SubmittedNotebook:
        find = super().find_submission_notebook
        made = lambda: find(notebook, assignment, student)  # noqa: E731
        return self._of("submission notebook", made, notebook, assignment, student)

    def remove_submission(self, assignment: str, student: str) -> None:
        self._found.clear()
        super().remove_submission(assignment, student)

    def remove_submission_notebook(self, notebook: str, assignment: str, student: str) -> None:
        self._found.clear()
        super().remove_submission_notebook(notebook, assignment, student)

    def find_grade(self, grade_cell: str, notebook: str, assignment: str, student: str) -> Grade:
        known = self._cells("grades", notebook, assignment, student)
        if grade_cell not in known:
            raise MissingEntry(f"No such grade: {assignment}/{notebook}/{grade_cell} for {student}")
        return known[grade_cell]

    def find_comment(self, solution_cell: str, notebook: str, assignment: str, student: str) -> Comment:
        known = self._cells("comments", notebook, assignment, student)
        if solution_cell not in known:
            raise MissingEntry(f"No such comment: {assignment}/{notebook}/{solution_cell} for {student}")
        return known[solution_cell]

    def _cells(self, kind: str, notebook: str, assignment: str, student: str) -> dict[str, Any]:
        names = self._once(
            ("names", notebook, assignment),
            lambda: {cell.id: cell.name for cell in self.find_notebook(notebook, assignment)._base_cells},
        )

        def of_student() -> dict[str, Any]:
            submitted = self.find_submission_notebook(notebook, assignment, student)
            return {names[one.cell_id]: one for one in getattr(submitted, kind)}

        found: dict[str, Any] = self._of(kind, of_student, notebook, assignment, student)
        return found

    def _of(self, kind: str, find: Any, *names: str) -> Any:
        """What one student has, found once, and forgotten with the next student."""
        key = (kind, *names)
        if key not in self._found:
            made = find()
            for other in [other for other in self._found if other[0] == kind]:
                del self._found[other]
            self._found[key] = made
        return self._found[key]

    def _once(self, key: tuple[str, ...], find: Any) -> Any:
        if key not in self._found:
            self._found[key] = find()
        return self._found[key]


class _Validated:
    """jsonschema's `validate`, which has the same answer for the same metadata of a released cell."""

    def __init__(self) -> None:
        self._valid: set[tuple[str, str]] = set()
        self._schemas: dict[int, tuple[Any, str]] = {}
        self._validate = jsonschema.validate

    def __call__(self, instance: Any, schema: Any) -> None:
        if id(schema) not in self._schemas:  # kept, so that no other one gets its id
            self._schemas[id(schema)] = (schema, json.dumps(schema, sort_keys=True))
        valid = (repr(instance), self._schemas[id(schema)][1])
        if valid not in self._valid:
            self._validate(instance, schema)
            self._valid.add(valid)
