from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest

from autograder.errors import CourseError
from autograder.grading.answers import AnswerSheet, without_marks
from autograder.grading.submission import rebuild

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def sheet() -> AnswerSheet:
    return AnswerSheet(ROOT, "ps1-convolution")


def sources(data: bytes) -> dict[str, str]:
    return {cell["metadata"]["nbgrader"]["grade_id"]: cell["source"] for cell in json.loads(data)["cells"]}


def test_a_sheet_with_nothing_filled_in_is_the_release(sheet: AnswerSheet) -> None:
    data = sheet.bytes(fill=False)
    release = nbformat.read(ROOT / "release" / "ps1-convolution" / "convolution.ipynb", as_version=4)
    assert sources(data) == {cell.metadata.nbgrader.grade_id: cell.source for cell in release.cells}
    assert rebuild(data, sheet.template).repairs == ()


def test_a_filled_sheet_is_valid_and_attempts_everything(sheet: AnswerSheet) -> None:
    nbformat.validate(nbformat.from_dict(sheet.notebook()), version=4, version_minor=5)
    submission = rebuild(sheet.bytes(), sheet.template)
    assert submission.attempted == set(sheet.template.asks)
    assert submission.repairs == ()


def test_chosen_answers_replace_the_courses_own_and_none_leaves_the_cell(sheet: AnswerSheet) -> None:
    data = sources(sheet.bytes({"output_size": "output_size = 3", "conv2d": None}))
    assert data["output_size"] == "output_size = 3"
    assert data["conv2d"] == sources(sheet.bytes(fill=False))["conv2d"]
    assert data["max_pool"] == sheet.solutions["max_pool"]


def test_a_sheet_does_not_change_with_what_is_written_on_it(sheet: AnswerSheet) -> None:
    before = sheet.bytes()
    sheet.notebook({"output_size": "x"})["cells"][0]["source"] = "spoiled"
    assert sheet.bytes() == before


def test_an_unknown_exercise_is_refused_with_the_known_ones(sheet: AnswerSheet) -> None:
    with pytest.raises(CourseError, match=r"has no exercise 'output'.*output_size"):
        sheet.bytes({"output": "x"})
    with pytest.raises(CourseError, match="has no exercise 'title'"):
        sheet.bytes({"title": "mine"})


def test_the_sheet_of_one_exercise(sheet: AnswerSheet) -> None:
    only = sheet.only("output_size")
    data = sources(only.bytes())
    assert data["output_size"] == sheet.solutions["output_size"]
    assert "conv2d" not in data
    assert "conv2d" in sheet.solutions


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        ("def f():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION", "def f():\n    return 1"),
        ("### BEGIN MARK SCHEME\nOne point.\n### END MARK SCHEME\n\nBecause.", "Because."),
        ("x = 1\n### BEGIN HIDDEN TESTS\ncheck('f')\n### END HIDDEN TESTS", "x = 1"),
        ("\n\nplain\n", "plain"),
    ],
)
def test_marks_and_schemes_are_no_part_of_an_answer(source: str, answer: str) -> None:
    assert without_marks(source) == answer
