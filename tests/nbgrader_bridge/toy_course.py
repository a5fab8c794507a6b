"""A course small enough to read: two exercises, a written answer, and a stand-in for the grader."""

from __future__ import annotations

import copy
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode, v4

from autograder.batch.course import Options
from autograder.grading.graded import Graded
from autograder.grading.outputs import grade_cell_outputs
from autograder.grading.release_cells import release_cells
from autograder.results import CheckResult, ExerciseResult, GradeReport, Outcome, gravest

ASSIGNMENT = "ps0-toy"
NOTEBOOK = "toy"
REPOSITORY = Path(__file__).parents[2]

SOLUTION = "    total_of_both = a + b\n    return total_of_both"
HIDDEN = 'check("add")'
MODEL_ANSWER = "Because the sum does not depend on the order of its terms."
MARK_SCHEME = "One point for naming commutativity in any words."


def cell(kind: str, grade_id: str, source: str, **about: Any) -> NotebookNode:
    """A cell with nbgrader's metadata; locked unless said otherwise."""
    made: NotebookNode = v4.new_code_cell(source) if kind == "code" else v4.new_markdown_cell(source)
    made.id = grade_id.replace("_", "-")
    made.metadata.nbgrader = {
        "schema_version": 3,
        "grade": False,
        "grade_id": grade_id,
        "locked": True,
        "solution": False,
        "task": False,
        **about,
    }
    return made


def checks(name: str, points: float) -> NotebookNode:
    source = (
        f"# {name}: {points} points, from the course's own checks on other inputs.\n"
        f'### BEGIN HIDDEN TESTS\ncheck("{name}")\n### END HIDDEN TESTS'
    )
    return cell("code", f"{name}_checks", source, grade=True, points=points)


def source_notebook() -> NotebookNode:
    author = v4.new_code_cell("from autograder.author import check", metadata={"tags": ["author-only"]})
    author.id = "author"
    cells = [
        author,
        cell("markdown", "title", "# Toy\n\nAdd and double, with $a + b$ and $$\\frac{a}{2}$$"),
        cell("code", "environment", 'import math\nimport matplotlib.pyplot as plt\nprint("fit", object())'),
        cell("markdown", "add_statement", "## Add\n\nReturn `a + b`."),
        cell(
            "code",
            "add",
            f'def add(a, b):\n    """The sum."""\n    ### BEGIN SOLUTION\n{SOLUTION}\n    ### END SOLUTION',
            solution=True,
            locked=False,
        ),
        cell("code", "add_visible", 'assert add(1, 2) == 3\nprint("add: the visible checks pass.")'),
        checks("add", 2),
        cell("markdown", "double_statement", "## Double\n\nLet `doubled` be twice 21."),
        cell(
            "code",
            "double",
            "### BEGIN SOLUTION\ndoubled = math.prod([2, 21])\n### END SOLUTION\nplt.plot([0, doubled]);",
            solution=True,
            locked=False,
        ),
        checks("double", 3),
        cell("markdown", "why_question", "Why may you swap `a` and `b`?"),
        cell(
            "markdown",
            "why_written",
            f"### BEGIN MARK SCHEME\n{MARK_SCHEME}\n### END MARK SCHEME\n{MODEL_ANSWER}",
            grade=True,
            solution=True,
            locked=False,
            points=1,
        ),
    ]
    kernelspec = {"display_name": "Python 3", "language": "python", "name": "python3"}
    made: NotebookNode = v4.new_notebook(cells=cells, metadata={"kernelspec": kernelspec})
    return made


def make_course(root: Path) -> Path:
    """The course's folder: a source notebook and the repository's nbgrader_config.py."""
    folder = root / "source" / ASSIGNMENT
    folder.mkdir(parents=True)
    nbformat.write(source_notebook(), folder / f"{NOTEBOOK}.ipynb")
    shutil.copy(REPOSITORY / "nbgrader_config.py", root)
    return root


def submit(root: Path, student: str, files: dict[str, str] | None = None) -> Path:
    """A submission's folder; by default one with a file that is no notebook at all."""
    folder = root / "submitted" / student / ASSIGNMENT
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (files or {f"{NOTEBOOK}.ipynb": "{ spoiled"}).items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@dataclass
class ToyGrader:
    """Stands in for the grading engine: what each student earns is written down beforehand."""

    points: dict[str, dict[str, float]] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    extra: dict[str, list[NotebookNode]] = field(default_factory=dict)
    outcome: dict[str, Outcome] = field(default_factory=dict)
    calls: list[tuple[Path, str, str, str, Path, Options]] = field(default_factory=list)

    def __call__(
        self, root: Path, student: str, assignment: str, notebook: str, folder: Path, options: Options
    ) -> Graded:
        self.calls.append((root, student, assignment, notebook, folder, options))
        result = release_cells(source_notebook())
        exercises = []
        for one in result.cells:
            about = one.metadata.nbgrader
            if one.id == "why-written":
                one.source = self.answers.get(student, one.source)
            if about.grade and not about.solution:
                exercise = self._exercise(student, about.grade_id, float(about.points))
                exercises.append(exercise)
                one.outputs = [nbformat.from_dict(output) for output in grade_cell_outputs(exercise)]
                one.metadata.deepdrills = {"exercise": _as_json(exercise)}
        scheme = v4.new_markdown_cell(MARK_SCHEME, metadata={"deepdrills": {"role": "marking-scheme"}})
        scheme.id = "scheme"
        result.cells.append(scheme)
        result.cells[4:4] = copy.deepcopy(self.extra.get(student, []))
        report = GradeReport(
            student=student,
            assignment=assignment,
            notebook=notebook,
            score=sum(exercise.points for exercise in exercises),
            max_score=6.0,
            late_seconds=0.0,
            repairs=("The cell add_checks was missing; it was put back.",),
            sandbox=("seccomp",),
            seconds=0.1,
            exercises=tuple(exercises),
        )
        result.metadata.deepdrills = {"report": report.to_json()}
        return Graded(report, result)

    def _exercise(self, student: str, grade_id: str, most: float) -> ExerciseResult:
        points = self.points.get(student, {}).get(grade_id, 0.0)
        outcome = Outcome.PASSED if points == most else Outcome.FAILED
        outcome = self.outcome.get(student, outcome)
        first = outcome if outcome is Outcome.NOT_ATTEMPTED else Outcome.PASSED
        made = (
            CheckResult("first", first, points, points, "Sums of <b>small</b> numbers are right."),
            CheckResult("second", outcome, 0.0, most - points, "Sums of large numbers are right."),
        )
        return ExerciseResult(grade_id, points, most, gravest([one.outcome for one in made]), made)


def _as_json(exercise: ExerciseResult) -> dict[str, Any]:
    report = GradeReport("", "", "", 0, 0, 0, (), (), 0, (exercise,))
    return dict(report.to_json()["exercises"][0])
