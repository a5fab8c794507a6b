"""`deepdrills demo`: a class of twelve in a scratch course, graded from release to feedback."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nbgrader.api import Gradebook
from rich.console import Console

from autograder.batch.course import CONFIG, Course, Options
from autograder.commands import grade_assignment, release_assignments, write_feedback_pages
from autograder.errors import UsageError
from autograder.exercises.catalogue import Exercise, load_exercises
from autograder.grading.answers import AnswerSheet
from autograder.nbgrader_bridge.gradebook import course_directory
from autograder.nbgrader_bridge.settings import limits_from, load_settings

ASSIGNMENT = "ps1-convolution"
_MARK = ".deepdrills-demo"
_DUE = datetime(2026, 10, 5, 12, 0, tzinfo=UTC)
_SETTINGS = """
# The demo's class has an endless loop and a memory hog in it: no need to wait as long as for a real one.
c.SandboxLimits.cell_seconds = 8.0
c.SandboxLimits.call_seconds = 2.0
c.SandboxLimits.memory = 1 << 30
"""

_CRASH = "import os\n\nos._exit(3)\n"
_LOOP = "def {name}(*args, **kwargs):\n    while True:\n        pass\n\n\n{name}()\n"
_HOG = "keep = []\nwhile True:\n    keep.append(bytearray(256_000_000))\n"
_FORGER = """
class Agreeable:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __array__(self, *args, **kwargs): return np.zeros(1)
    def __array_function__(self, *args, **kwargs): return True

def {name}(*args, **kwargs):
    return Agreeable()

np.allclose = np.array_equal = lambda *args, **kwargs: True
get_ipython().ast_transformers.clear()
print("Score: 20 / 20")
"""


@dataclass(frozen=True)
class Member:
    """One of the class: the answers that differ from the course's own, and how late it came."""

    student: str
    answers: dict[str, str | None] = field(default_factory=dict)
    fill: bool = True
    late: timedelta = timedelta(0)


def make_class(sheet: AnswerSheet, exercises: dict[str, Exercise]) -> list[Member]:
    """Twelve students: right in several styles, mistaken, unfinished, broken and hostile."""

    def right(style: int) -> dict[str, str | None]:
        return {name: one.right[style % len(one.right)].code for name, one in exercises.items() if one.right}

    def mistaken(which: int) -> dict[str, str | None]:
        chosen = [name for number, name in enumerate(exercises) if number % 2 == which % 2]
        return {
            name: exercises[name].misconceptions[which % len(exercises[name].misconceptions)].code
            for name in chosen
            if exercises[name].misconceptions
        }

    names = list(exercises)
    half: dict[str, str | None] = dict.fromkeys(names[len(names) // 2 :])
    forged: dict[str, str | None] = {name: _FORGER.format(name=exercises[name].asks[0]) for name in names}
    return [
        Member("ada", right(0)),
        Member("bao", right(1)),
        Member("chloe", right(2)),
        Member("daniel", mistaken(0)),
        Member("elif", mistaken(1)),
        Member("farah", half),
        Member("goran", {}, fill=False),
        Member("hana", {"output_size": _CRASH}),
        Member("ivan", {"output_size": _LOOP.format(name="output_size")}),
        Member("jules", {"conv2d": _HOG}),
        Member("karim", forged),
        Member("lena", right(3), late=timedelta(hours=26)),
    ]


def run_demo(home: Course, folder: Path, jobs: int, allow_degraded: bool, console: Console) -> int:
    """Make the course in `folder` anew, run the whole path, and print where to look."""
    _prepare(home, folder)
    course = Course(folder.resolve())
    code = release_assignments(course, [ASSIGNMENT], console)
    _submit(course)
    _set_due_date(course)
    options = Options(limits_from(load_settings(course.root)), allow_degraded)
    _, graded = grade_assignment(course, ASSIGNMENT, [], options, jobs, False, console)
    written = write_feedback_pages(course, ASSIGNMENT, [], console)
    page = folder / "feedback" / "daniel" / ASSIGNMENT / "convolution.html"
    console.print(f"\nOpen [bold]{page}[/] in a browser: the feedback of a student with misconceptions.")
    console.print(
        f"The gradebook is {folder / 'gradebook.db'}; the graded notebooks are in {folder / 'autograded'}/."
    )
    return max(code, graded, written)


def _prepare(home: Course, folder: Path) -> None:
    """An empty course with the home course's source and settings; only an older demo is removed."""
    if folder.exists():
        if any(folder.iterdir()) and not (folder / _MARK).exists():
            raise UsageError(f"{folder}: it exists and is not an older demo. Name another folder.")
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    (folder / _MARK).touch()
    shutil.copytree(
        home.root / "source", folder / "source", ignore=shutil.ignore_patterns(".ipynb_checkpoints")
    )
    settings = (home.root / CONFIG).read_text(encoding="utf-8")
    (folder / CONFIG).write_text(settings + _SETTINGS, encoding="utf-8")


def _submit(course: Course) -> None:
    sheet = AnswerSheet(course.root, ASSIGNMENT)
    for member in make_class(sheet, load_exercises(ASSIGNMENT)):
        folder = course.root / "submitted" / member.student / ASSIGNMENT
        folder.mkdir(parents=True)
        (folder / f"{sheet.template.notebook}.ipynb").write_bytes(sheet.bytes(member.answers, member.fill))
        handed_in = _DUE - timedelta(hours=2) if not member.late else _DUE + member.late
        (folder / "timestamp.txt").write_text(handed_in.strftime("%Y-%m-%d %H:%M:%S UTC\n"), encoding="utf-8")


def _set_due_date(course: Course) -> None:
    directory = course_directory(course.root, ASSIGNMENT)
    with Gradebook(directory.db_url, directory.course_id) as gradebook:
        gradebook.update_or_create_assignment(ASSIGNMENT, duedate=_DUE.strftime("%Y-%m-%d %H:%M:%S UTC"))
