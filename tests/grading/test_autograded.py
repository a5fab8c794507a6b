from __future__ import annotations

from typing import Any

import nbformat
import pytest

from autograder.grading.autograded import MARKING, graded_notebook
from autograder.grading.cell_run import CellRun
from autograder.grading.submission import Submission, rebuild
from autograder.grading.template import Role
from autograder.results import CheckResult, ExerciseResult, GradeReport, Outcome
from autograder.sandbox.student import StudentCrashed

from .toy import ANSWERS, IDS, TEMPLATE, extra, notebook, raw

HOSTILE = [
    'x" onload="alert(1)',
    "<script>",
    "a" * 500,
    "",
    " ",
    "../..",
    "title",
    "add-checks",
    3,
    None,
    ["x"],
]


def submission(data: Any = None) -> Submission:
    return rebuild(raw(data or notebook(ANSWERS)), TEMPLATE)


def result(grade_id: str, points: float, most: float) -> ExerciseResult:
    check = CheckResult("only", Outcome.FAILED, points, most, "Not <yet>.", "pad_forgotten")
    return ExerciseResult(grade_id, points, most, Outcome.FAILED, (check,))


REPORT = GradeReport(
    "ada", "ps0-toy", "toy", 1.5, 6.0, 0.0, ("One repair.",), ("seccomp",), 0.1,
    (result("add_checks", 0.5, 2.0), result("pair_checks", 1.0, 3.0)),
)  # fmt: skip


def made(given: Submission | None = None, runs: list[CellRun] | None = None, budget: int = 10_000) -> Any:
    given = given or submission()
    runs = runs or [CellRun() for _ in given.cells]
    return nbformat.from_dict(graded_notebook(given, TEMPLATE, runs, REPORT, budget))


def cell(graded: Any, grade_id: str) -> Any:
    return next(one for one in graded.cells if one.metadata.get("nbgrader", {}).get("grade_id") == grade_id)


def test_it_is_a_valid_notebook_that_holds_the_report() -> None:
    graded = made()
    nbformat.validate(graded)
    assert (graded.nbformat, graded.nbformat_minor) == (4, 5)
    assert graded.metadata.kernelspec.name == "python3"
    assert GradeReport.from_json(graded.metadata.deepdrills.report) == REPORT


def test_the_course_cells_keep_their_metadata_and_answers_stand_in_them() -> None:
    graded = made()
    course = [one for one in graded.cells if "nbgrader" in one.metadata]
    assert [one.metadata.nbgrader.grade_id for one in course] == IDS
    for one, released in zip(course, TEMPLATE.cells, strict=True):
        assert one.metadata.nbgrader == released.node["metadata"]["nbgrader"]
        assert one.source == ANSWERS.get(released.grade_id, released.source)


def test_a_grade_cell_holds_its_checks_and_its_score() -> None:
    graded = made()
    for grade_id, score in (("add_checks", "0.5"), ("pair_checks", "1.0")):
        one = cell(graded, grade_id)
        results = [out for out in one.outputs if out.output_type == "execute_result"]
        assert [out.data["text/plain"] for out in results] == [score]
        exercise = one.metadata.deepdrills.exercise
        assert exercise.points == float(score)
        assert exercise.checks[0].misconception == "pad_forgotten"


def test_only_the_score_stands_in_a_grade_cell_whatever_the_student_printed() -> None:
    given = submission()
    printed = [{"output_type": "execute_result", "data": {"text/plain": "2"}, "metadata": {}}]
    graded = made(given, [CellRun(outputs=list(printed), ran=True) for _ in given.cells])
    results = [out for out in cell(graded, "add_checks").outputs if out.output_type == "execute_result"]
    assert [out.data["text/plain"] for out in results] == ["0.5"]


def test_outputs_are_made_safe_and_share_one_budget() -> None:
    given = submission()
    loud = [
        {"output_type": "display_data", "data": {"text/html": "<script>"}, "metadata": {}},
        {"output_type": "stream", "name": "stdout", "text": "x" * 900},
    ]
    graded = made(given, [CellRun(outputs=loud, ran=True) for _ in given.cells], budget=1_000)
    nbformat.validate(graded)
    student = [one for one in graded.cells if one.cell_type == "code" and not one.metadata.nbgrader.grade]
    assert sum(len(str(one.outputs)) for one in student) < 3_000
    assert "<script" not in str(graded)


def test_a_cell_that_was_stopped_says_so() -> None:
    given = submission()
    runs = [CellRun() for _ in given.cells]
    runs[3] = CellRun(failure=StudentCrashed("Your code ended the notebook's process."), ran=True)
    (output,) = cell(made(given, runs), "add").outputs
    assert output.output_type == "error"
    assert output.traceback == ["This cell was stopped. Your code ended the notebook's process."]


def test_a_cell_whose_error_is_shown_is_not_said_to_be_stopped() -> None:
    given = submission()
    runs = [CellRun() for _ in given.cells]
    error = {"output_type": "error", "ename": "E", "evalue": "", "traceback": []}
    runs[3] = CellRun(outputs=[error], failure=StudentCrashed("x"), ran=True)
    assert len(cell(made(given, runs), "add").outputs) == 1


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_ids_of_a_student_do_not_reach_the_notebook(number: int) -> None:
    data = notebook(ANSWERS)
    for one in data["cells"]:
        one["id"] = HOSTILE[number]
    for source, kind in (("x = 1", "code"), ("x = 1", "code"), ("note", "markdown"), ("raw", "raw")):
        data["cells"].insert(1, {**extra(source, kind), "id": HOSTILE[number]})
    graded = made(submission(data))
    nbformat.validate(graded)
    ids = [one.id for one in graded.cells]
    assert len(set(ids)) == len(ids)
    assert {one.id for one in graded.cells if "nbgrader" in one.metadata} == {
        released.node["id"] for released in TEMPLATE.cells
    }


def test_nothing_of_a_students_metadata_is_kept() -> None:
    data = notebook(ANSWERS)
    for one in data["cells"]:
        one["metadata"]["tags"] = ["skip-execution"]
        one["attachments"] = {"a.png": {"image/png": "x"}}
    data["cells"].append({**extra("![x](attachment:a.png)", "markdown"), "attachments": {"a": 1}})
    graded = made(submission(data))
    nbformat.validate(graded)
    assert "skip-execution" not in str(graded)
    assert all("attachments" not in one for one in graded.cells)


def test_an_extra_cell_is_marked_and_has_no_say() -> None:
    data = notebook(ANSWERS)
    data["cells"].append(extra("x = 1\x1b[2J\x07"))
    extras = [
        one
        for one in made(submission(data)).cells
        if one.metadata.get("deepdrills", {}).get("role") == "extra"
    ]
    assert [one.source for one in extras] == ["x = 1"]
    assert "nbgrader" not in extras[0].metadata


def test_the_marking_scheme_follows_its_answer_for_markers_only() -> None:
    graded = made()
    number = next(
        n for n, one in enumerate(graded.cells) if one.metadata.get("deepdrills", {}).get("role") == MARKING
    )
    assert graded.cells[number - 1].metadata.nbgrader.grade_id == "why_written"
    assert "One point for the word order." in graded.cells[number].source
    assert "markers only" in graded.cells[number].source
    assert sum(one.role is Role.WRITTEN for one in TEMPLATE.cells) == 1


def test_without_a_notebook_the_released_one_is_shown() -> None:
    graded = made(rebuild(None, TEMPLATE))
    nbformat.validate(graded)
    assert cell(graded, "add_checks").outputs
