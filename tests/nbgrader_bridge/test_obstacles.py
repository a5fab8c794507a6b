"""Folders that nbgrader would misread or write through: each costs its own student, both ways."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from nbgrader.apps import AutogradeApp, GenerateFeedbackApp, NbGrader
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory

from autograder.nbgrader_bridge.gradebook import write_feedback
from autograder.nbgrader_bridge.obstacles import in_the_way, wrong_student
from autograder.nbgrader_bridge.settings import load_settings
from autograder.nbgrader_bridge.writing import write_grades

from .test_grade import FULL, grades
from .toy_course import ASSIGNMENT, NOTEBOOK, ToyGrader, submit

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")

#: Runs a command on the toy course; what is said meanwhile.
Run = Callable[[Path], str]


def command(app: type[NbGrader], root: Path, *options: str) -> int:
    """An `nbgrader` command as typed in the course's folder; its exit code."""
    before = os.getcwd()
    os.chdir(root)
    app.clear_instance()
    try:
        made = app.instance()
        made.initialize([ASSIGNMENT, *options])
        made.start()
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        app.clear_instance()
        os.chdir(before)
    return 0


@pytest.fixture(params=["nbgrader", "deepdrills"])
def autograde(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> Run:
    def nbgrader(root: Path) -> str:
        code = command(AutogradeApp, root, "--force")
        said = capsys.readouterr().err
        assert (code == 0) == ("| ERROR]" not in said)
        return said

    def deepdrills(root: Path) -> str:
        students = sorted(path.parent.name for path in root.glob(f"submitted/*/{ASSIGNMENT}"))
        return "\n".join(f"{name}: {words}" for name, words in write_grades(root, ASSIGNMENT, students))

    return nbgrader if request.param == "nbgrader" else deepdrills


@pytest.fixture(params=["nbgrader", "deepdrills"])
def feedback(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> Run:
    def nbgrader(root: Path) -> str:
        command(GenerateFeedbackApp, root, "--force")
        return capsys.readouterr().err

    def deepdrills(root: Path) -> str:
        return "\n".join(f"{name}: {words}" for name, words in write_feedback(root, ASSIGNMENT))

    return nbgrader if request.param == "nbgrader" else deepdrills


def notebook_of(root: Path, step: str, student: str, end: str = "ipynb") -> Path:
    return root / step / student / ASSIGNMENT / f"{NOTEBOOK}.{end}"


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


@pytest.mark.parametrize("kind", ["file", "link", "dangling link", "link of the assignment", "pipe"])
@pytest.mark.parametrize("step", ["autograded", "feedback"])
def test_what_lies_in_the_way_costs_that_student_alone(
    released: Path, grader: ToyGrader, autograde: Run, feedback: Run, tmp_path: Path, step: str, kind: str
) -> None:
    for student in ("ann", "bob", "eve"):
        submit(released, student, {f"{NOTEBOOK}.ipynb": "", "notes.txt": "mine"})
    if step == "feedback":
        assert write_grades(released, ASSIGNMENT) == []
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept.txt").write_text("not the student's")
    place = released / step / "bob"
    place.parent.mkdir(exist_ok=True)
    if kind == "file":
        place.write_text("a file")
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "link of the assignment":
        place.mkdir()
        (place / ASSIGNMENT).symlink_to(elsewhere)
    else:
        place.symlink_to(elsewhere if kind == "link" else tmp_path / "nowhere")
    said = (autograde if step == "autograded" else feedback)(released)
    named = f"{step}/bob/{ASSIGNMENT}" if kind == "link of the assignment" else f"{step}/bob"
    assert f"{named} is {'a link' if 'link' in kind else 'no folder'}" in said
    assert "Move it away, then run this again." in said
    end = "ipynb" if step == "autograded" else "html"
    assert [path.parts[-3] for path in sorted(released.glob(f"{step}/*/*/*.{end}"))] == ["ann", "eve"]
    assert os.listdir(elsewhere) == ["kept.txt"]
    assert not (tmp_path / "nowhere").exists()


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


@pytest.mark.parametrize("app", [AutogradeApp, GenerateFeedbackApp])
@pytest.mark.parametrize("name", ["ann\x1bc", "ann\u202egnp", "ann\x9b31m", "ann\r"])
def test_nothing_of_a_name_reaches_the_terminal_or_the_log(
    released: Path, grader: ToyGrader, capfd: pytest.CaptureFixture[str], app: type[NbGrader], name: str
) -> None:
    submit(released, name, {f"{NOTEBOOK}.ipynb": "", f"{name}.txt": "mine"})
    (released / "submitted" / name / ASSIGNMENT / f"link{name}").symlink_to("/etc/passwd")
    log = released / "nbgrader.log"
    options = ["--debug", f"--NbGrader.logfile={log}"]
    if app is GenerateFeedbackApp:
        assert command(AutogradeApp, released) == 0
        capfd.readouterr()
    assert command(app, released, *options) == 0
    for text in (capfd.readouterr().err, log.read_bytes().decode()):
        shown = (
            text.replace("\x1b[32m", "")
            .replace("\x1b[34m", "")
            .replace("\x1b[33m", "")
            .replace("\x1b[0m", "")
        )
        assert "ann" in shown
        assert not [line for line in shown.split("\n") if not line.replace("\t", "").isprintable()]


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
    assert in_the_way(base, str(tmp_path / "feedback" / "bob" / "ps1")).startswith(
        "feedback/bob is no folder"
    )
