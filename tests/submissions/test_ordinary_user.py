"""What only a grader without root's rights meets: files and folders that may not be read or written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ..ordinary_user import UNAVAILABLE, run_as_ordinary_user
from .arena import ROOT

#: Grades as a person would, then says what is where.
_SCRIPT = """
import io, os, sqlite3, subprocess, sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
os.environ["DEEPDRILLS_SECRET"] = "an ordinary secret"
from rich.console import Console
from autograder.batch.course import Course, Options
from autograder.commands import write_feedback_pages
from autograder.grading_run import Watch, grade_assignment
from tests.batch import small_course
from tests.batch.small_course import ASSIGNMENT, NOTEBOOK

assert os.getuid() != 0
root = small_course.make_course(Path.home() / "course")
folders = {
    name: small_course.hand_in(root, name, None).parent
    for name in ("ada", "page", "data", "notebook", "folder", "above", "taken", "zoe")
}
(folders["page"] / f"{NOTEBOOK}.html").write_text("<script>alert(1)</script>")
(folders["page"] / f"{NOTEBOOK}.html").chmod(0o444)
(folders["data"] / "data.csv").write_text("1")
(folders["data"] / "data.csv").chmod(0)
(folders["data"] / "deep").mkdir(mode=0)
(folders["notebook"] / f"{NOTEBOOK}.ipynb").chmod(0)
folders["folder"].chmod(0)
folders["above"].parent.chmod(0)
(root / "autograded" / "taken").mkdir(parents=True)
(root / "autograded" / "taken").chmod(0)


def graded_in_the_gradebook():
    rows = sqlite3.connect(root / "gradebook.db").execute(
        "SELECT student_id FROM submitted_assignment AS one JOIN submitted_notebook AS book "
        "ON book.assignment_id = one.id JOIN grade ON grade.notebook_id = book.id WHERE auto_score IS NOT NULL"
    )
    return {student for (student,) in rows}


screen = io.StringIO()
console = Console(file=screen, width=300)
try:
    for again in (False, True):
        reports, code = grade_assignment(Course(root), ASSIGNMENT, [], Options(), 1, again, Watch(console))
        found = {report.student: report for report in reports}
        write_feedback_pages(Course(root), ASSIGNMENT, [], console)
        assert code == 1, code
        assert set(found) == {"ada", "page", "data", "taken", "zoe"}, found.keys()
        assert {report.score for report in found.values()} == {2}
        for name, path in (("notebook", f"/{NOTEBOOK}.ipynb"), ("folder", ""), ("above", "")):
            shut = f"{name}: {root}/submitted/{name}/{ASSIGNMENT}{path} may not be read by the user who grades."
            assert shut in screen.getvalue(), name
        assert "The file 'data.csv' could not be read" in " ".join(found["data"].repairs)
        assert "The folder 'deep/' could not be opened" in " ".join(found["data"].repairs)
        taken = f"taken: not in the gradebook: {root}/autograded/taken/{ASSIGNMENT}: it could not be read or written"
        assert f"{taken} (Permission denied). Mend that, then run this again." in screen.getvalue()
        assert graded_in_the_gradebook() == {"ada", "page", "data", "zoe"}, graded_in_the_gradebook()
        pages = {path.parts[-3] for path in root.glob("feedback/*/*/*.html")}
        assert pages == {"ada", "page", "data", "zoe"}, pages
        page = (root / "feedback" / "page" / ASSIGNMENT / f"{NOTEBOOK}.html").read_text()
        assert "<script" not in page
    (folders["data"] / "timestamp.txt").write_text("2026-01-01 00:00:00 UTC")
    (folders["data"] / "timestamp.txt").chmod(0)
    os.environ["PYTHONPATH"] = sys.argv[1]
    command = [sys.executable, "-m", "nbgrader", "autograde", ASSIGNMENT, "--force"]
    plain = subprocess.run(command, cwd=root, capture_output=True, text=True)
    screen.write(plain.stderr)
    assert plain.returncode == 1
    for name in ("folder", "above"):
        assert f"{name}/{ASSIGNMENT} may not be read by the user who grades." in plain.stderr, name
    assert f"{NOTEBOOK}.ipynb may not be read by the user who grades." in plain.stderr
    assert f"data/{ASSIGNMENT}/timestamp.txt cannot be read" in plain.stderr
    there = {path.parts[-3] for path in root.glob("autograded/*/*/*.ipynb")}
    assert there == {"ada", "page", "data", "zoe"}, there
except BaseException:
    print(screen.getvalue(), file=sys.stderr)
    raise
print("as it should be")
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_what_may_not_be_read_or_written_costs_its_own_student_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    done = run_as_ordinary_user(["-c", _SCRIPT, str(ROOT)], home, [ROOT], timeout=300)
    if done.returncode == UNAVAILABLE:
        pytest.skip(done.stderr)
    assert done.stdout.endswith("as it should be\n"), done.stderr
