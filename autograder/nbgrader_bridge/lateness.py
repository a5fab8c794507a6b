"""How late each submission of an assignment is, as nbgrader's gradebook has it."""

from __future__ import annotations

from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry

from autograder.nbgrader_bridge.gradebook import course_directory


def late_seconds(root: Path, assignment: str) -> dict[str, float]:
    """Seconds after the due date by student; empty for an assignment that the gradebook lacks."""
    course = course_directory(root, assignment)
    with Gradebook(course.db_url, course.course_id) as gradebook:
        try:
            submissions = gradebook.assignment_submissions(assignment)
        except MissingEntry:
            return {}
        return {one.student.id: max(0.0, float(one.total_seconds_late)) for one in submissions}
