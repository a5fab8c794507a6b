"""How a feedback page calls its exercises, and which of its cells it sends a student back to."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nbformat import NotebookNode

from autograder.errors import CourseError
from autograder.exercises.catalogue import Exercise, load_exercises
from autograder.results import CheckResult, Stage

_HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)


@dataclass(frozen=True)
class Pointer:
    """A link to the cell of the page that helps with a check."""

    anchor: str
    text: str


class Guide:
    """The titles of an assignment's exercises and the places in one notebook."""

    def __init__(self, assignment: str, notebook: NotebookNode) -> None:
        self._exercises = _exercises(assignment)
        self._places = {
            str(cell.metadata.nbgrader.grade_id): str(cell.source)
            for cell in notebook.cells
            if cell.metadata.get("nbgrader", {}).get("grade_id")
        }

    def anchor(self, grade_id: str) -> str:
        """The id of a cell on the page; empty for a student's own cell."""
        return f"cell-{grade_id}" if grade_id in self._places else ""

    def pointer(self, check: CheckResult, exercise: str) -> Pointer | None:
        """Where to read again: what a named misconception points to, or the answer that raised."""
        if check.misconception:
            known = self._exercises.get(exercise)
            entries = known.misconceptions if known else ()
            see = next(
                (one.see for one in entries if one.name == check.misconception), f"{exercise}_statement"
            )
            if see in self._places:
                return Pointer(self.anchor(see), f"Read “{self._heading(see)}” again")
        if check.stage in (Stage.RAISES, Stage.MISSING) and exercise in self._places:
            return Pointer(self.anchor(exercise), "See your answer and what it printed")
        return None

    def title(self, grade_id: str) -> str:
        """A grade_id as people read it: the exercise's title, or the words of the name."""
        for ending, kind in (
            ("_checks", ""),
            ("_statement", ""),
            ("_written", " (written answer)"),
            ("_visible", " (visible checks)"),
        ):
            if grade_id.endswith(ending):
                return self._name(grade_id.removesuffix(ending)) + kind
        return self._name(grade_id)

    def _name(self, name: str) -> str:
        return self._exercises[name].title if name in self._exercises else _words(name)

    def _heading(self, grade_id: str) -> str:
        if grade_id.endswith("_statement"):
            return self.title(grade_id)
        found = _HEADING.search(self._places[grade_id])
        return re.sub(r"[*`$]", "", found[1]) if found else self.title(grade_id)


def _exercises(assignment: str) -> dict[str, Exercise]:
    try:
        return load_exercises(assignment)
    except CourseError:
        return {}


def _words(name: str) -> str:
    words = name.replace("_", " ").replace("-", " ").strip()
    return words[:1].upper() + words[1:]
