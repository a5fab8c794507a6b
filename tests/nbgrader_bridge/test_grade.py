"""Scores in the gradebook, through nbgrader's own `autograde` command and through `write_grades`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import AutogradeApp

from autograder.batch.course import Options
from autograder.nbgrader_bridge.writing import write_grades
from autograder.results import Outcome

from . import toy_course
from .toy_course import ASSIGNMENT, NOTEBOOK, ToyGrader, submit

#: nbgrader's own queries warn; its models are not ours.
pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")

FULL = {"add_checks": 2.0, "double_checks": 3.0}


def nbgrader_autograde(root: Path, *arguments: str, assignment: str = ASSIGNMENT) -> None:
    """`nbgrader autograde` as typed in the course's folder."""
    before = os.getcwd()
    os.chdir(root)
    AutogradeApp.clear_instance()
    try:
        app = AutogradeApp.instance()
        app.initialize([assignment, *arguments])
        app.start()
    finally:
        AutogradeApp.clear_instance()
        os.chdir(before)


def grades(root: Path, student: str) -> dict[str, Any]:
    """auto_score, manual_score and needs_manual_grade of each grade cell."""
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        submission = gradebook.find_submission_notebook(NOTEBOOK, ASSIGNMENT, student)
        return {
            one.name: (one.auto_score, one.manual_score, bool(one.needs_manual_grade))
            for one in submission.grades
        }


def edit(root: Path, student: str, name: str, **values: Any) -> None:
    """What the formgrader does when a teacher marks."""
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        grade = gradebook.find_grade(name, NOTEBOOK, ASSIGNMENT, student)
        for key, value in values.items():
            setattr(grade, key, value)
        gradebook.db.commit()


@pytest.fixture(params=["nbgrader autograde", "write_grades"])
def autograde(request: pytest.FixtureRequest) -> Any:
    if request.param == "write_grades":
        return lambda root: write_grades(root, ASSIGNMENT)
    return lambda root: nbgrader_autograde(root, "--force")


def test_scores_are_the_reports(released: Path, grader: ToyGrader, autograde: Any) -> None:
    grader.points = {"ann": FULL, "bob": {"add_checks": 2 / 3}}
    for student in ("ann", "bob", "eve"):
        submit(released, student)
    autograde(released)
    assert {name: row[0] for name, row in grades(released, "ann").items()} == {**FULL, "why_written": 0}
    assert grades(released, "bob")["add_checks"][0] == 2 / 3
    assert grades(released, "eve")["add_checks"][0] == 0
    assert [call[1:4] for call in grader.calls] == [
        (student, ASSIGNMENT, NOTEBOOK) for student in ("ann", "bob", "eve")
    ]
    root, *_, folder, options = grader.calls[0]
    assert options == Options()
    assert root == released
    assert folder == released / "submitted" / "ann" / ASSIGNMENT
    assert "NBGRADER_EXECUTION" not in os.environ


def test_nothing_is_executed(released: Path, grader: ToyGrader, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("a kernel was started")

    monkeypatch.setattr("nbgrader.preprocessors.Execute.preprocess", never)
    monkeypatch.setattr("jupyter_client.manager.KernelManager.start_kernel", never)
    monkeypatch.setattr("subprocess.Popen.__init__", never)
    submit(released, "ann")
    assert write_grades(released, ASSIGNMENT) == []


def test_scores_of_an_earlier_submission_do_not_survive(
    released: Path, grader: ToyGrader, autograde: Any
) -> None:
    grader.points = {"ann": FULL}
    submit(released, "ann")
    autograde(released)
    grader.points = {"ann": {"double_checks": 1.0}}
    autograde(released)
    assert {name: row[0] for name, row in grades(released, "ann").items()} == {
        "add_checks": 0,
        "double_checks": 1,
        "why_written": 0,
    }


def test_manual_marks_survive_a_regrade(released: Path, grader: ToyGrader, autograde: Any) -> None:
    grader.answers = {"ann": "Addition commutes."}
    submit(released, "ann")
    autograde(released)
    assert grades(released, "ann")["why_written"] == (None, None, True)
    edit(released, "ann", "why_written", manual_score=1.0, needs_manual_grade=False)
    edit(released, "ann", "add_checks", manual_score=1.5, needs_manual_grade=False)
    with Gradebook(f"sqlite:///{released / 'gradebook.db'}") as gradebook:
        gradebook.find_comment("why_written", NOTEBOOK, ASSIGNMENT, "ann").manual_comment = "Well put."
        gradebook.db.commit()
    autograde(released)
    assert grades(released, "ann")["why_written"] == (None, 1.0, True)
    assert grades(released, "ann")["add_checks"] == (0.0, 1.5, True)
    with Gradebook(f"sqlite:///{released / 'gradebook.db'}") as gradebook:
        assert gradebook.find_comment("why_written", NOTEBOOK, ASSIGNMENT, "ann").comment == "Well put."


def test_our_own_error_keeps_the_old_scores(released: Path, grader: ToyGrader) -> None:
    grader.points = {"ann": FULL, "bob": FULL}
    submit(released, "ann")
    submit(released, "bob")
    assert write_grades(released, ASSIGNMENT) == []
    grader.points, grader.outcome = {"bob": {"add_checks": 1.0}}, {"ann": Outcome.ERROR}
    ((student, text),) = write_grades(released, ASSIGNMENT)
    assert student == "ann"
    assert "our own error" in text
    assert "NBGRADER_EXECUTION" not in os.environ
    assert grades(released, "ann")["add_checks"][0] == 2
    assert grades(released, "bob")["add_checks"][0] == 1
    with pytest.raises(SystemExit):
        nbgrader_autograde(released, "--force")
    assert grades(released, "ann")["add_checks"][0] == 2


@pytest.mark.parametrize("spoil", ["no output", "other score", "unreadable", "above the maximum", "no cell"])
def test_a_notebook_without_the_reports_score_is_refused(
    released: Path, grader: ToyGrader, monkeypatch: pytest.MonkeyPatch, spoil: str
) -> None:
    """Each of these would earn full marks, or leave the scores half written."""

    def spoilt(*arguments: Any) -> Any:
        graded = grader(*arguments)
        notebook: Any = graded.notebook
        (place,) = (n for n, one in enumerate(notebook.cells) if one.id == "double-checks")
        outputs = notebook.cells[place].outputs
        texts = {"other score": "2.5", "unreadable": "full marks", "above the maximum": "4.0"}
        if spoil == "no output":
            outputs.clear()
        elif spoil == "no cell":
            del notebook.cells[place]
        else:
            outputs[-1].data["text/plain"] = texts[spoil]
        return graded

    monkeypatch.setattr("autograder.nbgrader_bridge.grade.grade_one", spoilt)
    submit(released, "ann")
    ((student, text),) = write_grades(released, ASSIGNMENT)
    assert (student, "double_checks" in text) == ("ann", True)
    # The submission is known, and not one of its cells has a score.
    assert {row[0] for row in grades(released, "ann").values()} == {None}


def test_a_gradebook_of_another_source_is_refused(released: Path, grader: ToyGrader) -> None:
    with Gradebook(f"sqlite:///{released / 'gradebook.db'}") as gradebook:
        gradebook.update_or_create_grade_cell(
            "add_checks", NOTEBOOK, ASSIGNMENT, max_score=9, cell_type="code"
        )
    submit(released, "ann")
    ((_, text),) = write_grades(released, ASSIGNMENT)
    assert "add_checks" in text
    assert "deepdrills release" in text


@pytest.mark.parametrize("kind", ["text", "empty", "bytes", "old", "cells", "link", "folder"])
def test_whatever_is_on_disk_reaches_the_grader(released: Path, grader: ToyGrader, kind: str) -> None:
    folder = submit(released, "ann")
    path = folder / f"{NOTEBOOK}.ipynb"
    if kind == "bytes":
        path.write_bytes(b"\xff\xfe\x00")
    elif kind in ("link", "folder"):
        path.unlink()
        path.symlink_to("nowhere") if kind == "link" else path.mkdir()
    else:
        texts = {"old": '{"nbformat": 2, "worksheets": 1}', "cells": '{"cells": [[]], "nbformat": 4}'}
        path.write_text(texts.get(kind, kind if kind == "text" else ""))
    grader.points = {"ann": FULL}
    assert write_grades(released, ASSIGNMENT) == []
    assert grades(released, "ann")["add_checks"][0] == 2


def test_links_and_devices_are_not_copied(released: Path, grader: ToyGrader, autograde: Any) -> None:
    folder = submit(released, "ann", {f"{NOTEBOOK}.ipynb": "", "notes.txt": "mine"})
    (folder / "gradebook.txt").symlink_to(released / "gradebook.db")
    (folder / "endless.txt").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe")
    (folder / "s[1]").mkdir()
    (folder / "s[1]" / "gradebook.txt").symlink_to(released / "gradebook.db")
    submit(released, "bob", {f"{NOTEBOOK}.ipynb": "", "gradebook.txt": "a plain file"})
    autograde(released)
    copied = released / "autograded" / "ann" / ASSIGNMENT
    assert sorted(path.name for path in copied.rglob("*")) == ["notes.txt", f"{NOTEBOOK}.ipynb"]
    assert (released / "autograded" / "bob" / ASSIGNMENT / "gradebook.txt").exists()


def test_a_late_submission_pays_what_the_course_says(released: Path, grader: ToyGrader) -> None:
    config = released / "nbgrader_config.py"
    config.write_text(config.read_text() + "\nc.LateSubmissionPlugin.penalty_method = 'zero'\n")
    with Gradebook(f"sqlite:///{released / 'gradebook.db'}") as gradebook:
        gradebook.update_or_create_assignment(ASSIGNMENT, duedate="2026-01-01 00:00:00 UTC")
    grader.points = {"ann": FULL}
    submit(released, "ann", {f"{NOTEBOOK}.ipynb": "", "timestamp.txt": "2026-01-02 00:00:00 UTC"})
    assert write_grades(released, ASSIGNMENT) == []
    with Gradebook(f"sqlite:///{released / 'gradebook.db'}") as gradebook:
        submission = gradebook.find_submission_notebook(NOTEBOOK, ASSIGNMENT, "ann")
        assert submission.late_submission_penalty == 5


def test_a_date_that_is_none_stops_that_student_alone(released: Path, grader: ToyGrader) -> None:
    submit(released, "ann", {f"{NOTEBOOK}.ipynb": "", "timestamp.txt": "yesterday evening"})
    submit(released, "bob")
    assert [student for student, _ in write_grades(released, ASSIGNMENT)] == ["ann"]
    assert "add_checks" in grades(released, "bob")


def test_only_the_students_asked_for(released: Path, grader: ToyGrader) -> None:
    for student in ("ann", "bob", "b"):
        submit(released, student)
    failures = write_grades(released, ASSIGNMENT, ["b", "zoe"])
    assert [call[1] for call in grader.calls] == ["b"]
    assert [student for student, _ in failures] == ["zoe"]


def test_submissions_from_another_folder(released: Path, grader: ToyGrader, tmp_path: Path) -> None:
    submit(released, "ann")
    clean = tmp_path / "clean.tree"
    (released / "submitted").rename(clean)
    assert write_grades(released, ASSIGNMENT, ["ann"], clean) == []
    assert grader.calls[0][4] == clean / "ann" / ASSIGNMENT
    inside = released / ".deepdrills" / "submitted"
    inside.parent.mkdir()
    clean.rename(inside)
    assert write_grades(released, ASSIGNMENT, ["ann"], inside) == []
    assert grader.calls[1][4] == inside / "ann" / ASSIGNMENT


def test_the_settings_of_the_course_reach_the_grader(
    released: Path, grader: ToyGrader, autograde: Any
) -> None:
    config = released / "nbgrader_config.py"
    config.write_text(
        config.read_text() + "\nc.SandboxLimits.call_seconds = 11\nc.GradingOptions.allow_degraded = True\n"
    )
    submit(released, "ann")
    autograde(released)
    options = grader.calls[0][5]
    assert (options.limits.call_seconds, options.allow_degraded) == (11, True)


def test_nobody_submitted(released: Path, grader: ToyGrader) -> None:
    ((student, text),) = write_grades(released, ASSIGNMENT)
    assert student == "*"
    assert "No notebooks" in text


def test_the_autograded_notebook_is_ours(released: Path, grader: ToyGrader) -> None:
    submit(released, "ann")
    write_grades(released, ASSIGNMENT)
    path = released / "autograded" / "ann" / ASSIGNMENT / f"{NOTEBOOK}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert json.loads(path.read_text())["metadata"]["deepdrills"]["report"]["student"] == "ann"
    source = toy_course.source_notebook()
    kept = {one.metadata.nbgrader.grade_id for one in notebook.cells if "nbgrader" in one.metadata}
    assert kept == {one.metadata.nbgrader.grade_id for one in source.cells if "nbgrader" in one.metadata}
