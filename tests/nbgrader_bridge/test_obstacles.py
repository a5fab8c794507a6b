"""Folders that nbgrader would misread or write through: each costs its own student, both ways."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from nbgrader.apps import AutogradeApp
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory

from autograder.nbgrader_bridge.obstacles import in_the_way, wrong_student
from autograder.nbgrader_bridge.settings import load_settings
from autograder.nbgrader_bridge.writing import write_grades

from .commands import Run, command, notebook_of
from .test_grade import FULL, grades
from .toy_course import ASSIGNMENT, NOTEBOOK, ToyGrader, submit

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")


@pytest.mark.parametrize(
    "name", ["hx-[a-z]*", "*", "?x-bob", "hx-[b]ob", "[abc]", "two\nlines", "\n", "\udce9"]
)
def test_a_name_that_is_a_pattern_takes_nobodys_notebook(
    released: Path, grader: ToyGrader, autograde: Run, name: str
) -> None:
    grader.points = {"hx-bob": FULL, name: {"add_checks": 1.0}, "zoe": FULL}
    for student in (name, "hx-bob", "zoe"):
        submit(released, student)
    said = autograde(released)
    assert "Rename" in said
    assert {call[1] for call in grader.calls} == {"hx-bob", "zoe"}
    for student in ("hx-bob", "zoe"):
        assert grades(released, student)["add_checks"][0] == 2
        assert notebook_of(released, "autograded", student).exists()
    assert sorted(path.name for path in (released / "autograded").iterdir()) == ["hx-bob", "zoe"]


@pytest.mark.parametrize("name", ["hx-[a-z]*", "two\nlines"])
def test_feedback_is_nobody_elses(released: Path, grader: ToyGrader, feedback: Run, name: str) -> None:
    submit(released, "hx-bob")
    assert write_grades(released, ASSIGNMENT) == []
    folder = released / "autograded" / name / ASSIGNMENT
    folder.mkdir(parents=True)
    notebook_of(released, "autograded", name).write_bytes(
        notebook_of(released, "autograded", "hx-bob").read_bytes()
    )
    assert "Rename" in feedback(released)
    assert [path.parts[-3] for path in released.glob("feedback/*/*/*.html")] == ["hx-bob"]


def test_the_formgrader_grades_no_neighbour_of_a_student_whose_name_is_a_pattern(
    released: Path, grader: ToyGrader
) -> None:
    submit(released, "hx-[a-z]*")
    submit(released, "hx-bob")
    config = load_settings(released)
    config.CourseDirectory.root = str(released)
    api = NbGraderAPI(CourseDirectory(config=config), config=config)
    result = api.autograde(ASSIGNMENT, "hx-[a-z]*")
    assert not result["success"]
    assert "Rename the student's folder" in result["log"]
    assert grader.calls == []
    assert api.autograde(ASSIGNMENT, "hx-bob")["success"]
    assert api.generate_feedback(ASSIGNMENT, "hx-bob")["success"]
    assert api.coursedir.ignore == config.CourseDirectory.ignore, "a long-lived formgrader goes on as before"


def test_a_pattern_that_a_person_asks_for_is_one(released: Path, grader: ToyGrader) -> None:
    for student in ("hx-ann", "hx-bob", "zoe"):
        submit(released, student)
    assert command(AutogradeApp, released, "--student", "hx-[a-z]*") == 0
    assert [call[1] for call in grader.calls] == ["hx-ann", "hx-bob"]


IN_THE_WAY = ["file", "link", "dangling link", "link of the assignment", "pipe"]


@pytest.mark.parametrize("kind", IN_THE_WAY)
def test_what_lies_in_the_way_of_a_graded_notebook_costs_that_student_alone(
    released: Path, grader: ToyGrader, autograde: Run, tmp_path: Path, kind: str
) -> None:
    for student in ("ann", "bob", "eve"):
        submit(released, student, {f"{NOTEBOOK}.ipynb": "", "notes.txt": "mine"})
    only_bob_is_left_out(released, "autograded", kind, tmp_path, autograde)


@pytest.mark.parametrize("kind", IN_THE_WAY)
def test_what_lies_in_the_way_of_a_page_costs_that_student_alone(
    released: Path, grader: ToyGrader, feedback: Run, tmp_path: Path, kind: str
) -> None:
    for student in ("ann", "bob", "eve"):
        submit(released, student)
    assert write_grades(released, ASSIGNMENT) == []
    only_bob_is_left_out(released, "feedback", kind, tmp_path, feedback)


def only_bob_is_left_out(root: Path, step: str, kind: str, outside: Path, run: Run) -> None:
    """Put something where bob's folder should be, run, and look what was written and said."""
    elsewhere = outside / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept.txt").write_text("not the student's")
    place = root / step / "bob"
    place.parent.mkdir(exist_ok=True)
    if kind == "file":
        place.write_text("a file")
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "link of the assignment":
        place.mkdir()
        (place / ASSIGNMENT).symlink_to(elsewhere)
    else:
        place.symlink_to(elsewhere if kind == "link" else outside / "nowhere")
    said = run(root)
    named = f"{step}/bob/{ASSIGNMENT}" if kind == "link of the assignment" else f"{step}/bob"
    assert f"{named} is {'a link' if 'link' in kind else 'no folder'}" in said
    assert "Move it away, then run this again." in said
    end = "ipynb" if step == "autograded" else "html"
    assert [path.parts[-3] for path in sorted(root.glob(f"{step}/*/*/*.{end}"))] == ["ann", "eve"]
    assert os.listdir(elsewhere) == ["kept.txt"]
    assert not (outside / "nowhere").exists()


def test_the_step_itself_may_be_a_link_to_a_larger_disk(
    released: Path, grader: ToyGrader, autograde: Run, tmp_path: Path
) -> None:
    (tmp_path / "disk").mkdir()
    (released / "autograded").symlink_to(tmp_path / "disk")
    submit(released, "ann")
    assert "Move it away" not in autograde(released)
    assert notebook_of(released, "autograded", "ann").exists()


def test_a_folder_that_cannot_be_removed_costs_that_student_alone(
    released: Path, grader: ToyGrader, autograde: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for student in ("ann", "bob", "eve"):
        submit(released, student)
    assert write_grades(released, ASSIGNMENT) == []
    grader.points = dict.fromkeys(("ann", "bob", "eve"), FULL)

    from nbgrader.converters import base

    real = base.rmtree

    def refuse(path: str) -> None:
        if "bob" in path:
            raise PermissionError(13, "Permission denied", path)
        real(path)

    monkeypatch.setattr(base, "rmtree", refuse)
    said = autograde(released)
    assert "bob" in said
    assert "Permission denied" in said
    assert {student: grades(released, student)["add_checks"][0] for student in ("ann", "bob", "eve")} == {
        "ann": 2, "bob": 0, "eve": 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    "name", ["ann", "émile", "名前", "-rf", "a+b", "{0}", "%s", "o.b.rien", "a\x1bc", ".."]
)
def test_a_name_that_is_only_odd_is_not_wrong(name: str) -> None:
    assert wrong_student(name) == ""


def test_what_is_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "feedback" / "ann" / "ps1").mkdir(parents=True)
    (tmp_path / "feedback" / "bob").write_text("")
    base = str(tmp_path / "feedback" / "." / ".")
    assert in_the_way(base, str(tmp_path / "feedback" / "ann" / "ps1")) == ""
    assert in_the_way(base, str(tmp_path / "feedback" / "zoe" / "ps1")) == ""
    assert in_the_way(base, str(tmp_path / "feedback" / "bob" / "ps1")) == "feedback/bob is no folder"


@pytest.mark.parametrize("kind", ["folder", "pipe", "link", "dangling", "endless", "huge", "words", "bytes"])
def test_a_time_that_is_none_costs_that_student_alone(
    released: Path, grader: ToyGrader, autograde: Run, kind: str
) -> None:
    for student in ("ann", "bob"):
        submit(released, student)
    path = released / "submitted" / "ann" / ASSIGNMENT / "timestamp.txt"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind in ("words", "bytes"):
        path.write_bytes(b"yesterday" if kind == "words" else b"\xff\xfe\0")
    elif kind == "huge":
        path.write_bytes(b"2026-01-02 00:00:00 UTC" + b" " * 300)
    else:
        path.symlink_to({"link": f"{NOTEBOOK}.ipynb", "dangling": "nowhere", "endless": "/dev/zero"}[kind])
    said = autograde(released)
    assert f"ann/{ASSIGNMENT}/timestamp.txt " in said
    assert "Traceback" not in said
    assert "Put a time into it or move it away, then run this again." in said
    assert [call[1] for call in grader.calls] == ["bob"]
    assert not (released / "autograded" / "ann").exists()


@pytest.mark.parametrize("level", ["student", "assignment"])
def test_a_folder_that_is_a_link_is_nobodys_work(
    released: Path, grader: ToyGrader, autograde: Run, level: str
) -> None:
    submit(released, "bob", {f"{NOTEBOOK}.ipynb": "", "notes.txt": "bob's"})
    place = released / "submitted" / "eve"
    if level == "student":
        place.symlink_to("bob")
    else:
        place.mkdir()
        (place / ASSIGNMENT).symlink_to(released / "submitted" / "bob" / ASSIGNMENT)
    said = autograde(released)
    assert "submitted/eve" in said
    assert "is a link. Put the student's own folder there, then run this again." in said
    assert [call[1] for call in grader.calls] == ["bob"]
    assert not (released / "autograded" / "eve").exists()


def test_blanks_at_an_end_of_a_name_make_nobody_another(
    released: Path, grader: ToyGrader, autograde: Run
) -> None:
    for student in ("ann", "ann ", " ann", "\u3000ann"):
        submit(released, student)
    assert autograde(released).count("nbgrader takes blanks off both ends of a name") == 3
    assert [call[1] for call in grader.calls] == ["ann"]
