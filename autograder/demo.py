"""`deepdrills demo`: two small classes in a scratch course, graded from release to feedback."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nbgrader.api import Gradebook
from rich.console import Console

from autograder.batch.course import CONFIG, Course, Options
from autograder.commands import release_assignments, write_feedback_pages
from autograder.demo_class import arithmetic_class, depth_class
from autograder.errors import UsageError
from autograder.exercises.catalogue import load_exercises
from autograder.grading.answers import AnswerSheet
from autograder.grading_run import Watch, grade_assignment
from autograder.nbgrader_bridge.gradebook import course_directory
from autograder.nbgrader_bridge.settings import limits_from, load_settings
from autograder.reporting import write_report

PS1, PS3 = "ps1-convolution", "ps3-depth"
_MARK = ".deepdrills-demo"
_DUE = datetime(2026, 10, 5, 12, 0, tzinfo=UTC)
_SETTINGS = """
# The demo's class has an endless loop and a memory hog in it: no need to wait as long as for a real one.
c.SandboxLimits.cell_seconds = 20.0
c.SandboxLimits.call_seconds = 4.0
c.SandboxLimits.memory = 1 << 30
"""


def run_demo(home: Course, folder: Path, jobs: int, allow_degraded: bool, console: Console) -> int:
    """Make the course in `folder` anew, run the whole path, and print where to look."""
    prepare(home, folder)
    course = Course(folder.resolve())
    codes = [release_assignments(course, [PS1], console)]
    options = Options(limits_from(load_settings(course.root)), allow_degraded)
    for assignment in (PS1, PS3):
        submit(course, assignment)
        set_due_date(course, assignment)
        _, graded = grade_assignment(course, assignment, [], options, jobs, False, Watch(console))
        codes += [
            graded,
            write_feedback_pages(course, assignment, [], console),
            write_report(course, assignment, False, None, None, console),
        ]
    page = folder / "feedback" / "daniel" / PS1 / "convolution.html"
    console.print("\nOpen in a browser:")
    console.print(f"  {page}: the feedback of a student with misconceptions", highlight=False)
    console.print(f"  {folder / 'report' / (PS1 + '.html')}: where the class stands", highlight=False)
    console.print(
        f"The gradebook is {folder / 'gradebook.db'}; the graded notebooks are in {folder / 'autograded'}/."
    )
    return max(codes)


def prepare(home: Course, folder: Path) -> None:
    """An empty course with the home course's source and settings; only an older demo is removed."""
    if folder.exists():
        if any(folder.iterdir()) and not (folder / _MARK).exists():
            raise UsageError(f"{folder}: it exists and is not an older demo. Name another folder.")
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    (folder / _MARK).touch()
    ignored = shutil.ignore_patterns(".ipynb_checkpoints", PS1)
    shutil.copytree(
        home.root / "source", folder / "source", ignore=shutil.ignore_patterns(".ipynb_checkpoints")
    )
    for made in ("release", "solutions"):  # those of ps1 are made by the demo itself
        if (home.root / made).is_dir():
            shutil.copytree(home.root / made, folder / made, ignore=ignored)
    settings = (home.root / CONFIG).read_text(encoding="utf-8")
    (folder / CONFIG).write_text(settings + _SETTINGS, encoding="utf-8")


def submit(course: Course, assignment: str) -> None:
    """Hand in the class's notebooks, each with its timestamp."""
    sheet = AnswerSheet(course.root, assignment)
    members = {PS1: arithmetic_class, PS3: depth_class}[assignment](load_exercises(assignment))
    for member in members:
        folder = course.root / "submitted" / member.student / assignment
        folder.mkdir(parents=True)
        (folder / f"{sheet.template.notebook}.ipynb").write_bytes(
            sheet.bytes(member.answers, member.fill, member.claims)
        )
        handed_in = _DUE - timedelta(hours=2) if not member.late else _DUE + member.late
        (folder / "timestamp.txt").write_text(handed_in.strftime("%Y-%m-%d %H:%M:%S UTC\n"), encoding="utf-8")


def set_due_date(course: Course, assignment: str) -> None:
    directory = course_directory(course.root, assignment)
    with Gradebook(directory.db_url, directory.course_id) as gradebook:
        gradebook.update_or_create_assignment(assignment, duedate=_DUE.strftime("%Y-%m-%d %H:%M:%S UTC"))
