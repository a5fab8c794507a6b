"""What is in the gradebook already: a mark for each student, written after their grades were."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from autograder.batch.atomic import write_text
from autograder.grading.secret import FOLDER


@dataclass(frozen=True)
class Mark:
    """Whose result (its key in the store) was written, handed in when, and the graded notebook on disk."""

    key: str
    timestamp: str | None
    size: int
    changed: int


class Written:
    """The marks of one assignment, one small file a student; without one, a student is written again."""

    def __init__(self, root: Path, assignment: str, notebook: str) -> None:
        self._folder = root / FOLDER / "written" / assignment
        self._autograded = root / "autograded"
        self._place = Path(assignment) / f"{notebook}.ipynb"

    def key(self, student: str) -> str | None:
        """The key of the result that was written last."""
        mark = self._read(student)
        return mark.key if mark else None

    def holds(self, student: str, key: str, timestamp: str | None) -> bool:
        """Whether this very result was written, and its graded notebook is still as it was."""
        mark = self._read(student)
        return mark is not None and mark == self._mark(student, key, timestamp)

    def note(self, student: str, key: str, timestamp: str | None) -> None:
        """Remember that a result is in the gradebook. Raises OSError."""
        mark = self._mark(student, key, timestamp)
        if mark is not None:
            write_text(self._folder / student, json.dumps(vars(mark)))

    def forget(self, student: str) -> None:
        """Before something else is written for a student."""
        (self._folder / student).unlink(missing_ok=True)

    def _mark(self, student: str, key: str, timestamp: str | None) -> Mark | None:
        try:
            found = os.stat(self._autograded / student / self._place)
        except OSError:
            return None
        return Mark(key, timestamp, found.st_size, found.st_mtime_ns)

    def _read(self, student: str) -> Mark | None:
        try:
            return Mark(**json.loads((self._folder / student).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None
