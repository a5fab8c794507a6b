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


def _folder_as_notebook(folder: Path) -> None:
    (folder / f"{NOTEBOOK}.ipynb").rename(folder / "other.ipynb")
    (folder / f"{NOTEBOOK}.ipynb").mkdir()
    (folder / f"{NOTEBOOK}.ipynb" / "data.csv").write_text("1")


def _time_as_folder(folder: Path) -> None:
    (folder / "timestamp.txt").mkdir()
    (folder / "timestamp.txt" / "x").write_text("1")


def _page(folder: Path) -> None:
    (folder / f"{NOTEBOOK}.html").write_text("<script>alert(1)</script>")
    (folder / f"{NOTEBOOK}.html").chmod(0o444)


def _in_the_way(root: Path) -> None:
    """Where something of one student's is to be written, lies something else."""
    for place in ("autograded/no-autograded", "feedback/no-feedback", ".deepdrills/staged/submitted/no-copy"):
        (root / place).parent.mkdir(parents=True)
        (root / place).write_text("a file")
    (root / "autograded" / "elsewhere").symlink_to(root / "source")
    (root / "submitted" / "a-link").symlink_to(root / "source")
    (root / "submitted" / "loose.ipynb").write_text("{}")


@dataclass(frozen=True)
class Member:
    """What is done to a right submission, the points that it is worth then, and what is said of it."""

    spoil: Callable[[Path], object]
    points: float
    said: str


#: Right submissions that cannot be put into the gradebook, and the words.
STUCK = {
    "no-autograded": "autograded/no-autograded is no folder",
    "elsewhere": "autograded/elsewhere is a link",
    "no-copy": "could not be copied to .deepdrills/ (Not a directory). Mend that, then grade again.",
    "latin-\udce9": "is not in UTF-8, which the gradebook needs. Rename the folder",
}

OTHERS = {
    "folder-as-notebook": Member(
        _folder_as_notebook, 2.0, f"'{NOTEBOOK}.ipynb' is a folder; what lies in it was left out"
    ),
    "time-as-folder": Member(_time_as_folder, 2.0, "holds no time that can be read"),
    "own-page": Member(_page, 2.0, ""),
    "no-feedback": Member(lambda folder: None, 2.0, ""),
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
    for name in STUCK:
        small_course.hand_in(root, name, None)
    _in_the_way(root)
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
    assert set(batch.reports) == {*NAMES, *OTHERS, *STUCK, "wrong", "deadly"}
    assert {name for name in (*NAMES, *STUCK) if batch.reports[name].score != 2.0} == set()
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
    stuck = {name.replace("\udce9", "?"): words for name, words in STUCK.items()}
    assert [name for name in refused if not name.startswith("two") and name not in stuck] == [
        "[abc]", "a?(31mred", "a*b",
    ]  # fmt: skip
    assert len(refused) == 4 + len(stuck)
    for name, words in stuck.items():
        assert words in refused[name]
        assert name not in known
    assert "Rename the student's folder" in refused["[abc]"]
    for name, report in batch.reports.items():
        if name not in STUCK and name not in ("[abc]", "a*b", "a\x1b[31mred", "two\nlines"):
            assert known[name] == pytest.approx(report.score), name
    assert batch.code == 1, "somebody is not in the gradebook"
    assert set(known) >= {*OTHERS, "wrong", "deadly", *NAMES[:8]}


def test_a_submission_is_left_as_it_was_handed_in(batch: Batch) -> None:
    assert _tree(batch.root / "submitted") == batch.handed_in


def test_what_is_nobodys_folder_is_said(batch: Batch) -> None:
    assert "submitted/a-link is a link; it was not followed." in batch.screen
    assert "submitted/loose.ipynb is no folder." in batch.screen


def test_nothing_is_written_through_a_link(batch: Batch) -> None:
    assert {path.name for path in (batch.root / "source").iterdir()} == {ASSIGNMENT}


def test_pages_are_the_courses_own_and_one_costs_no_other(batch: Batch) -> None:
    assert "no-feedback: no feedback: feedback/no-feedback is no folder" in batch.screen
    pages = {path.parts[-3] for path in batch.root.glob("feedback/*/*/*")}
    assert pages >= {*OTHERS, "wrong", "deadly"} - {"no-feedback"}
    assert {path.name for path in batch.root.glob("feedback/*/*/*")} == {f"{NOTEBOOK}.html", "timestamp.txt"}


def test_nothing_of_a_name_reaches_the_terminal(batch: Batch) -> None:
    assert "\x1b[31mred" not in batch.screen
    assert "\u202e" not in batch.screen


def test_repairs_are_on_the_feedback_page(batch: Batch) -> None:
    for name in ("empty", "renamed", "linked"):
        (page,) = (batch.root / "feedback" / name / ASSIGNMENT).glob("*.html")
        assert OTHERS[name].said.replace("'", "&#39;") in page.read_text(encoding="utf-8")
    for page in batch.root.glob("feedback/*/*/*.html"):
        assert "<script" not in page.read_text(encoding="utf-8")
