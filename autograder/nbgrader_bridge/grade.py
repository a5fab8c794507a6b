"""The preprocessor that puts our grading in the place of nbgrader's: it executes nothing here."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.batch.course import Options, grade_one
from autograder.errors import GradingError
from autograder.nbgrader_bridge.settings import limits_from, options_from
from autograder.results import GradeReport, Outcome


class GradeSubmission(NbGraderPreprocessor):  # type: ignore[misc]
    """Grades the submission's folder; the notebook that nbgrader passes is not looked at."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        options = Options(limits_from(self.config), options_from(self.config).allow_degraded)
        folder = Path(resources["metadata"]["path"])
        return checked_notebook(self._root(), resources["nbgrader"], folder, options), resources

    def _root(self) -> Path:
        converter = getattr(self.parent, "parent", None)
        course = getattr(converter, "coursedir", None)
        # nbgrader changes to the course's root before it converts.
        return Path(course.root if course is not None else os.getcwd())


def checked_notebook(root: Path, names: dict[str, str], folder: Path, options: Options) -> NotebookNode:
    """The graded notebook of a submission's folder, once it is sure what nbgrader will read from it.

    `names`: nbgrader's own of the student, the assignment and the notebook, and the gradebook's `db_url`.
    Raises `GradingError` when another score than the report's would be written.
    """
    student, assignment, notebook = names["student"], names["assignment"], names["notebook"]
    graded = grade_one(root, student, assignment, notebook, folder, options)
    report: GradeReport = graded.report
    if report.outcome is Outcome.ERROR:
        raise GradingError(_our_error(report))
    result: NotebookNode = nbformat.from_dict(graded.notebook)
    problems = score_problems(result, report)
    with Gradebook(names["db_url"]) as gradebook:
        problems += gradebook_problems(result, gradebook.find_notebook(notebook, assignment))
    if problems:
        raise GradingError(f"{assignment}, {student}: no score was written. {' '.join(problems)}")
    return result


def score_problems(notebook: NotebookNode, report: GradeReport) -> list[str]:
    """Where nbgrader would read another score from the notebook than the report gives.

    nbgrader gives full marks to a grade cell without a readable score, and raises half-way on one
    above the maximum, so this is settled before the first score is written.
    """
    wanted = {exercise.grade_id: exercise for exercise in report.exercises}
    problems: list[str] = []
    for cell in notebook.cells:
        if not utils.is_grade(cell) or utils.is_solution(cell):
            continue
        name = cell.metadata.nbgrader["grade_id"]
        exercise = wanted.pop(name, None)
        if exercise is None:
            problems.append(f"The grade cell {name} is missing in the report.")
            continue
        try:
            score, most = utils.determine_grade(cell)
        except (ValueError, KeyError) as error:
            problems.append(f"The grade cell {name} has no readable score ({error}).")
            continue
        if score is None or abs(score - exercise.points) > 1e-9 or abs(most - exercise.max_points) > 1e-9:
            problems.append(
                f"The grade cell {name} says {score} of {most}, but the report "
                f"{exercise.points} of {exercise.max_points}."
            )
    manual = {cell.metadata.nbgrader["grade_id"] for cell in notebook.cells if utils.is_grade(cell)}
    problems += [f"The report's exercise {name} has no grade cell." for name in wanted if name not in manual]
    return problems


def gradebook_problems(notebook: NotebookNode, known: Any) -> list[str]:
    """Where the notebook and the gradebook's cells (`nbgrader.api.Notebook`) do not belong together."""
    graded = {
        cell.metadata.nbgrader["grade_id"]: float(cell.metadata.nbgrader["points"])
        for cell in notebook.cells
        if utils.is_grade(cell)
    }
    solutions = {cell.metadata.nbgrader["grade_id"] for cell in notebook.cells if utils.is_solution(cell)}
    expected = {cell.name: float(cell.max_score) for cell in known.grade_cells}
    differing = {name for name in graded.keys() | expected.keys() if graded.get(name) != expected.get(name)}
    differing |= solutions ^ {cell.name for cell in known.solution_cells}
    if not differing:
        return []
    return [
        f"The gradebook knows other cells than source/: {', '.join(sorted(differing))}. "
        "Run 'deepdrills release' for this assignment, then grade again."
    ]


def _our_error(report: GradeReport) -> str:
    messages = [
        f"{exercise.grade_id}: {check.message}"
        for exercise in report.exercises
        for check in exercise.checks
        if check.outcome is Outcome.ERROR
    ]
    return f"{report.assignment}, {report.student}: our own error, so no score was written. " + " ".join(
        messages
    )
