"""What is known of a whole class in one assignment: our reports and nbgrader's marks, read only.

The reports come from the metadata of the autograded notebooks, the marks from the gradebook, so a
mark that a person gave counts as it does in `nbgrader export`.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry

from autograder.errors import CourseError
from autograder.grading.template import Role, load_template
from autograder.nbgrader_bridge.gradebook import course_directory
from autograder.results import GradeReport

_FILE_LIMIT = 128 << 20


@dataclass(frozen=True)
class Mark:
    """One grade cell of one student, as the gradebook has it."""

    grade_id: str
    score: float
    max_score: float
    #: A person has still to look: a written answer without points, or work that changed since.
    to_mark: bool = False
    written: bool = False


@dataclass(frozen=True)
class StudentRecord:
    """One student. `report` is None for a submission that was not graded, or not by us."""

    student: str
    marks: tuple[Mark, ...]
    late_seconds: float = 0.0
    penalty: float = 0.0
    report: GradeReport | None = None
    #: The student's own code by grade_id; cells of the student's own under `extra-1`, ...
    code: dict[str, str] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """The total as nbgrader exports it: the marks without the penalty, never below zero."""
        return max(0.0, sum(mark.score for mark in self.marks) - self.penalty)

    @property
    def max_score(self) -> float:
        return sum(mark.max_score for mark in self.marks)


@dataclass(frozen=True)
class ClassRecord:
    """One assignment: the students who handed in, and those whom the gradebook knows besides."""

    course: str
    assignment: str
    exercises: tuple[str, ...]
    students: tuple[StudentRecord, ...]
    missing: tuple[str, ...] = ()
    #: The released code by grade_id: what everybody was given.
    released: dict[str, str] = field(default_factory=dict)


def class_record(root: Path, assignment: str) -> ClassRecord:
    """Read the gradebook and autograded/. Raises `CourseError` when nothing was graded."""
    template = load_template(root, assignment)
    course = course_directory(root, assignment)
    nothing = CourseError(
        root / "gradebook.db",
        f"it knows no submission of {assignment}",
        f"Run 'deepdrills grade {assignment}' first.",
    )
    with Gradebook(course.db_url, course.course_id) as gradebook:
        try:
            known = gradebook.find_assignment(assignment)
        except MissingEntry:
            raise nothing from None
        exercises = {str(cell.name) for notebook in known.notebooks for cell in notebook.grade_cells}
        students = tuple(
            _student(
                submission,
                Path(course.format_path(course.autograded_directory, submission.student.id, assignment)),
            )
            for submission in sorted(known.submissions, key=lambda one: str(one.student.id))
        )
        everyone = {str(student.id) for student in gradebook.students}
    if not students:
        raise nothing
    return ClassRecord(
        course=str(course.course_id or ""),
        assignment=assignment,
        exercises=tuple(cell.grade_id for cell in template.cells if cell.grade_id in exercises),
        students=students,
        missing=tuple(sorted(everyone - {one.student for one in students})),
        released={
            cell.grade_id: cell.source
            for cell in template.cells
            if cell.role in (Role.SOLUTION, Role.LOCKED) and cell.cell_type == "code"
        },
    )


def _student(submission: Any, folder: Path) -> StudentRecord:
    marks = tuple(
        Mark(
            grade_id=str(grade.name),
            score=float(grade.score),
            max_score=float(grade.max_score),
            to_mark=bool(grade.needs_manual_grade),
            written=grade.cell.cell_type == "markdown",
        )
        for notebook in submission.notebooks
        for grade in notebook.grades
    )
    report, code = _autograded(folder)
    return StudentRecord(
        student=str(submission.student.id),
        marks=marks,
        late_seconds=max(0.0, float(submission.total_seconds_late)),
        penalty=sum(float(notebook.late_submission_penalty or 0.0) for notebook in submission.notebooks),
        report=report,
        code=code,
    )


def _autograded(folder: Path) -> tuple[GradeReport | None, dict[str, str]]:
    """The report and the student's code of an autograded notebook, which is our own writing."""
    for path in sorted(folder.glob("*.ipynb")) if os.path.isdir(folder) else []:
        try:
            if path.stat().st_size > _FILE_LIMIT:
                continue
            data = json.loads(path.read_text(encoding="utf-8"))
            report = GradeReport.from_json(data["metadata"]["deepdrills"]["report"])
            return report, student_code(data["cells"])
        except (OSError, ValueError, KeyError, TypeError):
            continue  # written by an nbgrader without our preprocessors: there is no report in it
    return None, {}


def student_code(cells: list[dict[str, Any]]) -> dict[str, str]:
    """The code that a student wrote, by grade_id, in the notebook's order."""
    found: dict[str, str] = {}
    own = 0
    for cell in cells:
        about = cell.get("metadata", {}).get("nbgrader")
        if cell.get("cell_type") != "code" or (about and not about.get("solution")):
            continue
        own += not about
        source = cell.get("source", "")
        name = about["grade_id"] if about else f"extra-{own}"
        found[name] = "".join(source) if isinstance(source, list) else source
    return found
