"""The gradebook in batches: the same rows and files as nbgrader's own command, and a clear stop."""

from __future__ import annotations

import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook, get_alembic_version

from autograder.errors import DiskFullError
from autograder.nbgrader_bridge.standing import Standing, standing
from autograder.nbgrader_bridge.writing import GradebookStopped, GradebookWriter, ensure, write_grades
from autograder.results import Outcome

from .test_grade import FULL, edit, nbgrader_autograde
from .toy_course import ASSIGNMENT, NOTEBOOK, ToyGrader, submit

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
_DUE = "2026-01-01 00:00:00 UTC"


def rows(root: Path) -> dict[str, list[Any]]:
    """Every table of the gradebook, with names in the place of random ids."""
    with closing(sqlite3.connect(root / "gradebook.db")) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found: dict[str, list[Any]] = {}
        known: dict[str, str] = {}
        for table in sorted(tables):
            columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
            found[table] = [
                dict(zip(columns, row, strict=True)) for row in database.execute(f"SELECT * FROM {table}")
            ]
        for table in ("assignment", "notebook", "base_cell", "source_cell"):
            for row in found[table]:
                kind = row.get("type", "")
                known[row["id"]] = f"{table} {kind} {row['name']}"
        for row in found["submitted_assignment"]:
            known[row["id"]] = f"submission of {row['student_id']}"
        for row in found["submitted_notebook"]:
            known[row["id"]] = f"notebook, {known[row['assignment_id']]}"
        for table, lines in found.items():
            for row in lines:
                if table in ("grade", "comment"):
                    row.pop("id")
                row.update({key: known.get(value, value) for key, value in row.items() if value})
            lines.sort(key=repr)
    return found


def a_class(root: Path, grader: ToyGrader) -> None:
    grader.points = {"ann": FULL, "bob": {"add_checks": 2 / 3}, "eve": {"double_checks": 1.0}}
    grader.answers = {"bob": "Addition commutes."}
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        gradebook.update_or_create_assignment(ASSIGNMENT, duedate=_DUE)
    submit(root, "ann", {f"{NOTEBOOK}.ipynb": "", "notes.txt": "mine"})
    submit(root, "bob", {f"{NOTEBOOK}.ipynb": "", "timestamp.txt": "2026-01-02 00:00:00 UTC"})
    submit(root, "eve")


@pytest.mark.parametrize("settings", ["", "c.LateSubmissionPlugin.penalty_method = 'zero'\n"])
def test_every_row_and_every_byte_is_nbgraders(
    released: Path, grader: ToyGrader, tmp_path: Path, settings: str
) -> None:
    theirs = tmp_path / "theirs"
    config = released / "nbgrader_config.py"
    config.write_text(config.read_text() + settings)
    a_class(released, grader)
    subprocess.run(["cp", "-r", released, theirs], check=True)
    for again in (False, True):
        assert write_grades(released, ASSIGNMENT) == []
        nbgrader_autograde(theirs, "--force")
        assert rows(released) == rows(theirs)
        for path in sorted(theirs.glob("autograded/**/*.*")):
            ours = released / path.relative_to(theirs)
            assert ours.read_bytes() == path.read_bytes(), path
            assert ours.stat().st_mode == path.stat().st_mode
        if not again:  # once more, over marks that a person gave
            grader.points["ann"] = {"add_checks": 1.0}
            for root in (released, theirs):
                edit(root, "bob", "why_written", manual_score=1.0, needs_manual_grade=False)
                edit(root, "ann", "add_checks", manual_score=0.5, extra_credit=0.25, needs_manual_grade=False)


def test_a_failure_in_a_batch_is_nobody_elses(released: Path, grader: ToyGrader) -> None:
    a_class(released, grader)
    grader.outcome = {"bob": Outcome.ERROR}
    with GradebookWriter(released, ASSIGNMENT) as writer:
        ((student, words),) = writer.write(["ann", "bob", "eve", "zoe"][:3])
        assert (student, "our own error" in words) == ("bob", True)
        assert writer.write(["eve"]) == [], "the writer goes on"
    found = standing(released, ASSIGNMENT)
    assert found["ann"].scores["add_checks"] == 2
    assert found["bob"].scores["add_checks"] is None
    assert found["eve"].scores["double_checks"] == 1


def test_the_standing_is_nbgraders(released: Path, grader: ToyGrader) -> None:
    assert standing(released, ASSIGNMENT) == {}
    a_class(released, grader)
    assert write_grades(released, ASSIGNMENT) == []
    with Gradebook(f"sqlite:///{released / 'gradebook.db'}") as gradebook:
        gradebook.grant_extension(ASSIGNMENT, "bob", hours=1)
        wanted = {
            one.student.id: Standing(
                {grade.name: grade.auto_score for book in one.notebooks for grade in book.grades},
                float(one.total_seconds_late),
            )
            for one in gradebook.assignment_submissions(ASSIGNMENT)
        }
    assert wanted["bob"].late_seconds == 23 * 3600
    assert standing(released, ASSIGNMENT) == wanted
    assert standing(released, "ps9") == {}
    (released / "gradebook.db").unlink()
    assert standing(released, ASSIGNMENT) == {}
    assert not (released / "gradebook.db").exists(), "a look makes no gradebook"


@pytest.fixture
def locked(released: Path) -> Iterator[sqlite3.Connection]:
    """Another program in the middle of writing."""
    with closing(sqlite3.connect(released / "gradebook.db", check_same_thread=False)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield other


def test_a_lock_that_stays_is_a_clear_stop_and_a_clean_resume(
    released: Path, grader: ToyGrader, locked: sqlite3.Connection
) -> None:
    """The clock says that the other program has been at it for thirty seconds."""
    locked.rollback()
    a_class(released, grader)
    locked.execute("BEGIN EXCLUSIVE")
    ticks = iter(range(0, 10_000, 15))
    with (
        pytest.raises(GradebookStopped, match=r"gradebook\.db: another program has kept .* locked .* again"),
        GradebookWriter(released, ASSIGNMENT, lock_seconds=20, clock=lambda: float(next(ticks))) as writer,
    ):
        writer.write(["ann", "bob", "eve"])
    locked.rollback()
    assert standing(released, ASSIGNMENT) == {}
    assert write_grades(released, ASSIGNMENT) == []
    assert standing(released, ASSIGNMENT)["ann"].scores["add_checks"] == 2


def test_a_lock_that_ends_is_waited_for(
    released: Path, grader: ToyGrader, locked: sqlite3.Connection
) -> None:
    locked.rollback()
    a_class(released, grader)
    with GradebookWriter(released, ASSIGNMENT) as writer:
        assert writer.write(["ann"]) == []
        locked.execute("BEGIN EXCLUSIVE")
        release = threading.Timer(1.5, locked.rollback)
        release.start()
        assert writer.write(["bob"]) == []
        release.join()
    assert standing(released, ASSIGNMENT)["bob"].scores["add_checks"] == 2 / 3


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of six megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "none", place], check=False)
    if mounted.returncode:
        pytest.skip("mounting takes root")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def fill(path: Path) -> None:
    """Write until there is no room."""
    with path.open("wb", buffering=0) as filler, suppress(OSError):
        while True:
            filler.write(b"0" * 4096)


def test_a_full_disk_is_a_clear_stop_and_a_clean_resume(
    released: Path, grader: ToyGrader, small_disk: Path
) -> None:
    root = small_disk / "course"
    subprocess.run(["cp", "-r", released, root], check=True)
    a_class(root, grader)
    with GradebookWriter(root, ASSIGNMENT) as writer:
        assert writer.write(["ann"]) == []
        fill(small_disk / "filler")
        with pytest.raises(DiskFullError, match=r"the disk is full.*run the same command again"):
            writer.write(["bob", "eve"])
    assert standing(root, ASSIGNMENT).keys() == {"ann"}
    (small_disk / "filler").unlink()
    assert write_grades(root, ASSIGNMENT) == []
    assert standing(root, ASSIGNMENT)["bob"].scores["add_checks"] == 2 / 3


def test_a_gradebook_whose_making_is_interrupted_is_not_there(
    released: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (released / "gradebook.db").unlink()

    def interrupted() -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("autograder.nbgrader_bridge.gradebook._schema_version", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ensure(released, ASSIGNMENT)
    assert not (released / "gradebook.db").exists()
    ensure(released, ASSIGNMENT)
    assert rows(released)["alembic_version"] == [{"version_num": get_alembic_version()}], "nbgrader's own"
    assert [row["name"] for row in rows(released)["assignment"]] == [ASSIGNMENT]


def test_a_gradebook_out_of_reach_says_so_without_its_password(released: Path) -> None:
    config = released / "nbgrader_config.py"
    config.write_text(
        config.read_text() + "\nc.CourseDirectory.db_url = 'sqlite:////nowhere/at/all/gradebook.db'\n"
    )
    with pytest.raises(GradebookStopped, match=r"nowhere/at/all/gradebook\.db: the gradebook could not be"):
        write_grades(released, ASSIGNMENT, ["ann"])
