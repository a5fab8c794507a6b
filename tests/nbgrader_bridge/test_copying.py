"""Which files of a student's nbgrader copies, by its own commands and by ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.nbgrader_bridge.writing import write_grades

from .commands import Run, notebook_of
from .test_grade import FULL, grades
from .toy_course import ASSIGNMENT, NOTEBOOK, ToyGrader, submit

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")


def test_no_file_of_a_students_is_copied_into_feedback(
    released: Path, grader: ToyGrader, feedback: Run
) -> None:
    folder = submit(released, "ann", {
        f"{NOTEBOOK}.ipynb": "", f"{NOTEBOOK}.html": "<script>alert(1)</script>",
        "index.html": "", ".hidden": "",
        "timestamp.txt": "2026-01-02 00:00:00 UTC", "submission_secret.txt": "for the exchange",
    })  # fmt: skip
    (folder / "data" / "deep").mkdir(parents=True)
    for name in ("data/x.html", "data/timestamp.txt", "data/deep/a.csv"):
        (folder / name).write_text("mine")
    (folder / f"{NOTEBOOK}.html").chmod(0o444)
    assert write_grades(released, ASSIGNMENT) == []
    assert notebook_of(released, "autograded", "ann", "html").exists()
    feedback(released)
    there = released / "feedback" / "ann" / ASSIGNMENT
    assert sorted(str(path.relative_to(there)) for path in there.rglob("*")) == [
        "submission_secret.txt", "timestamp.txt", f"{NOTEBOOK}.html",
    ]  # fmt: skip
    assert "<script>alert" not in notebook_of(released, "feedback", "ann", "html").read_text()


def test_a_students_folder_in_the_way_of_the_courses_file(
    released: Path, grader: ToyGrader, autograde: Run
) -> None:
    for name in ("data.csv", "more/points.csv"):
        path = released / "source" / ASSIGNMENT / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("the course's")
    folder = submit(released, "ann", {f"{NOTEBOOK}.ipynb": "", "more": "a file"})
    (folder / "data.csv").mkdir()
    (folder / "data.csv" / "x").write_text("mine")
    grader.points = {"ann": FULL}
    autograde(released)
    assert grades(released, "ann")["add_checks"][0] == 2
    assert notebook_of(released, "autograded", "ann").exists()
