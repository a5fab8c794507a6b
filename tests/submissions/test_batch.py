"""A folder that holds everything, graded in one batch: nobody is lost, and each is told what was found."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from rich.console import Console

from autograder.batch.course import Course, Options
from autograder.commands import write_feedback_pages
from autograder.grading_run import Watch, grade_assignment
from autograder.nbgrader_bridge.gradebook import course_directory
from autograder.results import GradeReport

from ..batch import small_course
from ..batch.small_course import ASSIGNMENT, NOTEBOOK, WRONG

DUE = "2026-10-05 12:00:00 UTC"

#: Names of folders as collectors make them and as nobody should; all of them answer rightly.
NAMES = [
    "ada lovelace", "émile", "o.b.rien", "A", "a", "-rf", "名前", "{0}", "%s", "a+b", "[abc]", "a*b",
    "x'; DROP TABLE grade;--", "=cmd|'calc'!A0", "<script>alert(1)</script>".replace("/", "\u2215"),
    "a\x1b[31mred", "two\nlines", "\u202egnp.exe",
]  # fmt: skip


def _text(folder: Path, content: str) -> None:
    (folder / f"{NOTEBOOK}.ipynb").write_text(content, encoding="utf-8")


def _tree(folder: Path) -> dict[str, bytes]:
    """Every file with its content, links with what they say."""
    return {
        str(path): str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


def _time(folder: Path, said: str) -> None:
    (folder / "timestamp.txt").write_text(said, encoding="utf-8")


def _link(folder: Path) -> None:
    (folder / f"{NOTEBOOK}.ipynb").unlink()
    (folder / f"{NOTEBOOK}.ipynb").symlink_to(folder.parents[2] / "gradebook.db")


@dataclass(frozen=True)
class Member:
    """What is done to a right submission, the points that it is worth then, and what is said of it."""

    spoil: Callable[[Path], object]
    points: float
    said: str


OTHERS = {
    "late": Member(lambda folder: _time(folder, "2026-10-07 12:00:00 UTC"), 2.0, ""),
    "future": Member(lambda folder: _time(folder, "2099-01-01 00:00:00 UTC"), 2.0, "which is still to come"),
    "malformed": Member(lambda folder: _time(folder, "yesterday"), 2.0, "holds no time that can be read"),
    "empty": Member(lambda folder: _text(folder, ""), 0.0, "The submitted file is empty"),
    "conflict": Member(lambda folder: _text(folder, "<<<<<<< HEAD\n"), 0.0, "not a readable notebook"),
    "nothing": Member(
        lambda folder: (folder / f"{NOTEBOOK}.ipynb").unlink(), 0.0, "No notebook was submitted"
    ),
    "renamed": Member(
        lambda folder: (folder / f"{NOTEBOOK}.ipynb").rename(folder / "final.ipynb"),
        2.0,
        "was called 'final.ipynb'",
    ),
    "linked": Member(
        _link,
        0.0,
        "is a link; it was not followed",
    ),
}


@dataclass
class Batch:
    root: Path
    reports: dict[str, GradeReport]
    code: int
    screen: str
    handed_in: dict[str, bytes]


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> Batch:
    root = small_course.make_course(tmp_path_factory.mktemp("batch") / "course")
    for name in NAMES:
        small_course.hand_in(root, name, None)
    for name, member in OTHERS.items():
        member.spoil(small_course.hand_in(root, name, None).parent)
    small_course.hand_in(root, "wrong", WRONG)
    small_course.hand_in(root, "deadly", "import os\nos.kill(-1, 9)\nos._exit(1)\n")
    handed_in = _tree(root / "submitted")
    screen = io.StringIO()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("DEEPDRILLS_SECRET", "a batch")
        console = Console(file=screen, width=300)
        reports, code = grade_assignment(Course(root), ASSIGNMENT, [], Options(), 1, False, Watch(console))
        directory = course_directory(root, ASSIGNMENT)
        with Gradebook(directory.db_url, directory.course_id) as gradebook:
            gradebook.update_or_create_assignment(ASSIGNMENT, duedate=DUE)
        write_feedback_pages(Course(root), ASSIGNMENT, [], console)
    return Batch(root, {report.student: report for report in reports}, code, screen.getvalue(), handed_in)


def test_everybody_has_a_report(batch: Batch) -> None:
    assert set(batch.reports) == {*NAMES, *OTHERS, "wrong", "deadly"}
    assert {name for name in NAMES if batch.reports[name].score != 2.0} == set()
    for name, member in OTHERS.items():
        assert batch.reports[name].score == member.points, name
        assert member.said in " ".join((*batch.reports[name].repairs, *batch.reports[name].flags)), name
    assert 0 < batch.reports["wrong"].score < 2
    assert batch.reports["deadly"].score == 0


def test_everybody_is_in_the_gradebook_or_it_is_said(batch: Batch) -> None:
    with Gradebook(f"sqlite:///{batch.root / 'gradebook.db'}") as gradebook:
        known = {one.student.id: one.score for one in gradebook.assignment_submissions(ASSIGNMENT)}
    said = [line.partition(": not in the gradebook: ") for line in batch.screen.splitlines()]
    refused = {name: words for name, found, words in said if found}
    assert [name for name in refused if not name.startswith("two")] == ["[abc]", "a?(31mred", "a*b"]
    assert len(refused) == 4
    assert "Rename the student's folder" in refused["[abc]"]
    for name, report in batch.reports.items():
        if name not in ("[abc]", "a*b", "a\x1b[31mred", "two\nlines"):
            assert known[name] == pytest.approx(report.score), name
    assert batch.code == 1, "somebody is not in the gradebook"
    assert set(known) >= {*OTHERS, "wrong", "deadly", *NAMES[:8]}


def test_a_submission_is_left_as_it_was_handed_in(batch: Batch) -> None:
    assert _tree(batch.root / "submitted") == batch.handed_in


def test_nothing_of_a_name_reaches_the_terminal(batch: Batch) -> None:
    assert "\x1b[31mred" not in batch.screen
    assert "\u202e" not in batch.screen


def test_repairs_are_on_the_feedback_page(batch: Batch) -> None:
    for name in ("empty", "renamed", "linked"):
        (page,) = (batch.root / "feedback" / name / ASSIGNMENT).glob("*.html")
        assert OTHERS[name].said.replace("'", "&#39;") in page.read_text(encoding="utf-8")
    for page in batch.root.glob("feedback/*/*/*.html"):
        assert "<script" not in page.read_text(encoding="utf-8")
