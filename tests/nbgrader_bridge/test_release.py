from __future__ import annotations

import copy
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.errors import CourseError
from autograder.grading.release_cells import release_cells
from autograder.nbgrader_bridge.gradebook import ensure_assignment
from autograder.nbgrader_bridge.release import _alike, in_step, release_assignment

from .toy_course import ASSIGNMENT, MARK_SCHEME, MODEL_ANSWER, NOTEBOOK, cell, source_notebook


def _file(root: Path, step: str) -> Path:
    return root / step / ASSIGNMENT / f"{NOTEBOOK}.ipynb"


def test_release_cells_is_what_release_holds(released: Path) -> None:
    source = nbformat.read(_file(released, "source"), as_version=4)
    assert release_cells(source) == nbformat.read(_file(released, "release"), as_version=4)


def test_release_cells_leaves_the_source_alone() -> None:
    source = source_notebook()
    before = copy.deepcopy(source)
    release_cells(source)
    assert source == before


def test_release_holds_no_secret(released: Path) -> None:
    text = _file(released, "release").read_text()
    for secret in ("total_of_both", "math.prod", "check(", MODEL_ANSWER, MARK_SCHEME, "autograder", "BEGIN"):
        assert secret not in text
    assert "raise NotImplementedError()" in text
    assert "YOUR ANSWER HERE" in text


def test_the_gradebook_knows_the_cells(released: Path) -> None:
    with Gradebook(f"sqlite:///{released / 'gradebook.db'}") as gradebook:
        notebook = gradebook.find_notebook(NOTEBOOK, ASSIGNMENT)
        assert {one.name: one.max_score for one in notebook.grade_cells} == {
            "add_checks": 2,
            "double_checks": 3,
            "why_written": 1,
        }


def test_solutions_are_executed_and_settled(released: Path) -> None:
    solved = nbformat.read(_file(released, "solutions"), as_version=4)
    cells = {one.metadata.nbgrader.grade_id: one for one in solved.cells}
    assert "BEGIN SOLUTION" not in cells["add"].source
    assert "total_of_both" in cells["add"].source
    assert cells["environment"].outputs[0].text == "fit <object object at 0x...>\n"
    assert "image/png" in cells["double"].outputs[-1].data
    assert "check(" not in cells["add_checks"].source
    assert cells["why_written"].source == MODEL_ANSWER
    assert "execution" not in cells["add"].metadata


def test_a_second_release_gives_the_same_files(released: Path) -> None:
    before = {step: _file(released, step).read_bytes() for step in ("release", "solutions")}
    release_assignment(released, ASSIGNMENT)
    assert {step: _file(released, step).read_bytes() for step in before} == before
    assert in_step(released, ASSIGNMENT) == []


def test_an_edited_source_is_out_of_step(released: Path) -> None:
    path = _file(released, "source")
    path.write_text(path.read_text().replace('\\"fit\\"', '\\"ready\\"'))
    found = "\n".join(in_step(released, ASSIGNMENT))
    assert "the source of cell environment differs" in found
    assert "the outputs of cell environment differ" in found
    assert "the source of cell add differs" not in found


def test_a_stale_output_is_out_of_step(released: Path) -> None:
    path = _file(released, "solutions")
    path.write_text(path.read_text().replace("the visible checks pass.\\n", "the visible checks pass!\\n"))
    assert [line.rpartition(": ")[2] for line in in_step(released, ASSIGNMENT)] == [
        "the outputs of cell add_visible differ"
    ]


def test_missing_files_are_out_of_step(course: Path) -> None:
    assert len(in_step(course, ASSIGNMENT)) == 2


def test_a_solution_that_fails_is_found_before_anything_is_written(course: Path) -> None:
    path = _file(course, "source")
    path.write_text(path.read_text().replace("a + b\\n", "a - b\\n"))
    with pytest.raises(CourseError, match="AssertionError"):
        release_assignment(course, ASSIGNMENT)
    assert not (course / "release").exists()
    assert not (course / "gradebook.db").exists()


def test_a_marking_scheme_outside_an_answer_is_refused(course: Path) -> None:
    source = source_notebook()
    source.cells.append(cell("markdown", "leak", "### BEGIN MARK SCHEME\nx\n### END MARK SCHEME"))
    nbformat.write(source, _file(course, "source"))
    with pytest.raises(CourseError, match="Mark scheme"):
        release_assignment(course, ASSIGNMENT)


def test_an_unknown_assignment(course: Path) -> None:
    for name in ("ps9", "", "../source", "*"):
        with pytest.raises(CourseError, match="no source notebook"):
            release_assignment(course, name)


def test_ensure_assignment_leaves_release_alone(course: Path) -> None:
    ensure_assignment(course, ASSIGNMENT)
    assert not (course / "release").exists()
    stamp = (course / "gradebook.db").stat().st_mtime_ns
    ensure_assignment(course, ASSIGNMENT)
    assert (course / "gradebook.db").stat().st_mtime_ns == stamp
    path = _file(course, "source")
    path.write_text(path.read_text().replace('"points": 3', '"points": 4'))
    ensure_assignment(course, ASSIGNMENT)
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        assert gradebook.find_grade_cell("double_checks", NOTEBOOK, ASSIGNMENT).max_score == 4


def test_the_last_digits_of_another_processor_are_no_difference() -> None:
    assert _alike("ratio 2.358e+01  blocks 20", "ratio 2.359e+01  blocks 20", trained=False)
    assert not _alike("ratio 2.358e+01  blocks 20", "ratio 2.358e+01  blocks 21", trained=False)
    assert not _alike("ratio 2.358e+01", "ratio 2.458e+01", trained=False)
    assert not _alike("ratio 2.358e+01", "loss 2.358e+01", trained=False)
    assert _alike("accuracy [0.52, 0.71] at 8", "accuracy [0.31, 0.75] at 12", trained=True)
    assert not _alike("accuracy [0.52, 0.71]", "accuracy [0.52]", trained=True)
