"""A class read back from autograded/ and the gradebook, and the commands that show it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.cli import app
from autograder.errors import CourseError
from autograder.nbgrader_bridge.class_record import class_record, student_code
from autograder.nbgrader_bridge.writing import write_grades

from .toy_course import ASSIGNMENT, NOTEBOOK, ToyGrader, submit

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")


@pytest.fixture
def graded(released: Path, grader: ToyGrader) -> Path:
    grader.points = {"ann": {"add_checks": 2.0, "double_checks": 3.0}, "bob": {"add_checks": 1.0}}
    grader.answers = {"ann": "Addition commutes.", "bob": "No idea."}
    for student in ("ann", "bob"):
        submit(released, student)
    assert write_grades(released, ASSIGNMENT, ["ann", "bob"]) == []
    with Gradebook(f"sqlite:///{released / 'gradebook.db'}") as gradebook:
        grade = gradebook.find_grade("why_written", NOTEBOOK, ASSIGNMENT, "ann")
        grade.manual_score, grade.needs_manual_grade = 0.75, False
        gradebook.find_submission_notebook(NOTEBOOK, ASSIGNMENT, "bob").late_submission_penalty = 0.25
        gradebook.update_or_create_student("cy")
        gradebook.db.commit()
    return released


def test_marks_of_people_and_of_the_checks_count(graded: Path) -> None:
    record = class_record(graded, ASSIGNMENT)
    ann, bob = record.students
    assert (ann.student, ann.score, ann.max_score) == ("ann", 5.75, 6)
    assert (bob.score, bob.penalty) == (0.75, 0.25)
    assert record.missing == ("cy",)
    assert record.exercises == ("add_checks", "double_checks", "why_written")
    assert [mark.grade_id for mark in bob.marks if mark.to_mark] == ["why_written"]
    assert ann.report is not None
    assert ann.report.repairs
    assert set(ann.code) == {"add", "double"}


def test_an_autograded_notebook_of_another_hand_has_no_report(graded: Path) -> None:
    path = graded / "autograded" / "ann" / ASSIGNMENT / f"{NOTEBOOK}.ipynb"
    for text in ("{", "[]", '{"metadata": {}}', '{"metadata": {"deepdrills": {"report": 3}}, "cells": []}'):
        path.write_text(text)
        assert class_record(graded, ASSIGNMENT).students[0].report is None


def test_nothing_graded_is_said(released: Path) -> None:
    with pytest.raises(CourseError, match="Run 'deepdrills grade ps0-toy' first"):
        class_record(released, ASSIGNMENT)


def test_code_of_own_cells_is_the_students() -> None:
    cells = [
        {"cell_type": "code", "metadata": {}, "source": ["a = 1\n", "b = 2"]},
        {
            "cell_type": "code",
            "metadata": {"nbgrader": {"solution": False, "grade_id": "x"}},
            "source": "given",
        },
        {"cell_type": "markdown", "metadata": {}, "source": "text"},
    ]
    assert student_code(cells) == {"extra-1": "a = 1\nb = 2"}


def test_the_report_command(graded: Path) -> None:
    data = graded / "report.json"
    command = ["report", ASSIGNMENT, "--course", str(graded), "--json", str(data)]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    text = (graded / "report" / f"{ASSIGNMENT}.html").read_text(encoding="utf-8")
    assert "5.75" in text
    assert "cy" in text
    assert [one["student"] for one in json.loads(data.read_text())["students"]] == ["ann", "bob"]
    hidden = CliRunner().invoke(app, [*command, "--pseudonyms"])
    assert hidden.exit_code == 0, hidden.output
    text = (graded / "report" / f"{ASSIGNMENT}.html").read_text(encoding="utf-8")
    assert "under pseudonyms" in text
    assert "student 03" in text
    assert ">ann<" not in text
    assert {one["student"] for one in json.loads(data.read_text())["students"]} < {
        f"student 0{n}" for n in "123"
    }


def test_the_export_command_lists_who_is_not_in_the_roster(graded: Path) -> None:
    roster, grades = graded / "roster.csv", graded / "grades.csv"
    roster.write_text("username\nANN\ndora\n")
    command = ["export", ASSIGNMENT, "--course", str(graded), "-f", "moodle", "-o", str(grades)]
    result = CliRunner().invoke(app, [*command, "--roster", str(roster)])
    assert result.exit_code == 1
    assert "not in the roster, left out: bob" in result.output
    assert "without a grade: dora" in result.output
    assert grades.read_text().splitlines()[1].startswith('"ANN","","",5.75,2.0,3.0,0.75')
    everybody = CliRunner().invoke(app, command)
    assert everybody.exit_code == 0
    assert grades.read_text().count("\n") == 3
