"""The preprocessor of `nbgrader generate_feedback`: what the gradebook says of each cell."""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import GetGrades


class GetMarks(GetGrades):  # type: ignore[misc]
    """nbgrader's grades, and beside them whether a person has marked, and who wrote the comment."""

    def _get_score(self, cell: NotebookNode, resources: Any) -> None:
        super()._get_score(cell, resources)
        grade = self.gradebook.find_grade(
            cell.metadata.nbgrader["grade_id"], self.notebook_id, self.assignment_id, self.student_id
        )
        cell.metadata.nbgrader["marked_by_hand"] = grade.manual_score is not None
        cell.metadata.nbgrader["unmarked"] = grade.manual_score is None and grade.auto_score is None
        cell.metadata.nbgrader["to_review"] = bool(grade.needs_manual_grade)
        cell.metadata.nbgrader["extra_credit"] = grade.extra_credit or 0.0

    def _get_comment(self, cell: NotebookNode, resources: Any) -> None:
        super()._get_comment(cell, resources)
        comment = self.gradebook.find_comment(
            cell.metadata.nbgrader["grade_id"], self.notebook_id, self.assignment_id, self.student_id
        )
        # nbgrader's own comment, 'No response.', is not a teacher's.
        cell.metadata.nbgrader["comment"] = comment.manual_comment
