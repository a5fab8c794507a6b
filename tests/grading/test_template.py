from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder.errors import CourseError
from autograder.grading.template import Role, Template, load_template, trimmed

from .toy import TEMPLATE

ROOT = Path(__file__).parents[2]
ASSIGNMENT = "ps1-convolution"


@pytest.fixture(scope="module")
def template() -> Template:
    return load_template(ROOT, ASSIGNMENT)


def course(tmp_path: Path, cells: list[Any], name: str = "toy.ipynb") -> Path:
    folder = tmp_path / "source" / "ps0-toy"
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / name)
    return tmp_path


def cell(kind: str, grade_id: str, source: str, **about: Any) -> Any:
    made = nbformat.v4.new_code_cell(source) if kind == "code" else nbformat.v4.new_markdown_cell(source)
    made.id = grade_id.replace("_", "-")
    made.metadata.nbgrader = {
        "schema_version": 3, "grade": False, "grade_id": grade_id, "locked": True, "solution": False,
        "task": False, **about,
    }  # fmt: skip
    return made


CELLS = [
    cell("code", "environment", "import math"),
    cell("code", "add", "def add(a, b):\n    ### BEGIN SOLUTION\n    return a + b\n    ### END SOLUTION",
         solution=True, locked=False),
    cell("code", "add_checks", "# add\n### BEGIN HIDDEN TESTS\ncheck('add')\n### END HIDDEN TESTS",
         grade=True, points=2),
    cell("markdown", "why_written",
         "### BEGIN MARK SCHEME\nOne point.\n### END MARK SCHEME\nThe model answer.",
         grade=True, solution=True, locked=False, points=1),
]  # fmt: skip


def test_the_template_is_what_students_get_and_what_markers_need(tmp_path: Path) -> None:
    template = load_template(course(tmp_path, CELLS), "ps0-toy")
    assert (template.assignment, template.notebook) == ("ps0-toy", "toy")
    assert [(one.grade_id, one.role, one.points) for one in template.cells] == [
        ("environment", Role.LOCKED, 0),
        ("add", Role.SOLUTION, 0),
        ("add_checks", Role.CHECKS, 2),
        ("why_written", Role.WRITTEN, 1),
    ]
    assert [one.exercise for one in template.cells] == [None, "add", "add", None]
    assert "return a + b" not in template.cells[1].source
    assert "check" not in template.cells[2].source
    assert template.cells[3].source == "YOUR ANSWER HERE"
    assert template.cells[3].marking == "One point."


def test_the_released_cells_hold_no_solution(template: Template) -> None:
    text = json.dumps([one.node for one in template.cells])
    for hidden in ("BEGIN SOLUTION", "HIDDEN TESTS", "MARK SCHEME", 'check(\\"', "autograder"):
        assert hidden not in text


def test_the_course_has_twenty_points_and_at_most_four_for_written_answers(template: Template) -> None:
    written = sum(one.points for one in template.cells if one.role is Role.WRITTEN)
    assert sum(one.points for one in template.cells) == 20
    assert written <= 4


def test_every_exercise_has_its_cells_in_order(template: Template) -> None:
    order = [one.grade_id for one in template.cells]
    for name in template.asks:
        numbers = [order.index(f"{name}{part}") for part in ("_statement", "", "_visible", "_checks")]
        assert numbers == sorted(numbers)


def test_pictures_that_depend_on_no_answer_are_taken_from_the_solutions(template: Template) -> None:
    for grade_id, outputs in template.drawn.items():
        (one,) = (one for one in template.cells if one.grade_id == grade_id)
        assert one.illustration
        assert one.role is Role.LOCKED
        for output in outputs:
            assert isinstance(output.get("text", ""), str)
            assert all(isinstance(data, str) for data in output.get("data", {}).values())


def test_without_solutions_every_picture_is_drawn_anew(tmp_path: Path) -> None:
    assert load_template(course(tmp_path, CELLS), "ps0-toy").drawn == {}


@pytest.mark.parametrize(
    "change",
    [{"source": "x"}, {"points": 3.0}, {"grade_id": "other"}, {"cell_type": "markdown"}],
)
def test_the_digest_changes_with_a_cell(change: dict[str, Any]) -> None:
    cells = list(TEMPLATE.cells)
    cells[5] = replace(cells[5], **change)
    assert replace(TEMPLATE, cells=tuple(cells)).digest != TEMPLATE.digest
    assert replace(TEMPLATE, cells=tuple(TEMPLATE.cells[::-1])).digest != TEMPLATE.digest
    assert replace(TEMPLATE).digest == TEMPLATE.digest


def test_an_unknown_assignment_is_named_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"ps9.*has no notebook.*assignments here: ps0-toy"):
        load_template(course(tmp_path, CELLS), "ps9")


def test_two_notebooks_are_refused(tmp_path: Path) -> None:
    course(tmp_path, CELLS)
    with pytest.raises(CourseError, match="has 2 notebooks"):
        load_template(course(tmp_path, CELLS, "other.ipynb"), "ps0-toy")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}"])
def test_a_spoiled_source_is_named(tmp_path: Path, text: str) -> None:
    path = course(tmp_path, CELLS) / "source" / "ps0-toy" / "toy.ipynb"
    path.write_text(text)
    with pytest.raises(CourseError, match=r"toy\.ipynb"):
        load_template(tmp_path, "ps0-toy")


def test_a_trimmed_template_holds_one_exercise(template: Template) -> None:
    for name in template.asks:
        kept = trimmed(template, name)
        assert {one.exercise for one in kept.cells if one.exercise} == {name}
        assert not any(one.illustration for one in kept.cells)
        order = [one.grade_id for one in template.cells]
        assert [order.index(one.grade_id) for one in kept.cells] == sorted(
            order.index(one.grade_id) for one in kept.cells
        )
    with pytest.raises(CourseError, match="has no exercise 'output'"):
        trimmed(template, "output")
