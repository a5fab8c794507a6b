"""The gradebook in a real PostgreSQL, started for these tests: what SQLite gets, and the same clear stops."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook
from sqlalchemy import create_engine, text

from autograder.errors import UsageError
from autograder.nbgrader_bridge.standing import standing
from autograder.nbgrader_bridge.writing import GradebookStopped, GradebookWriter, ensure, write_grades

from .test_writing import a_class
from .toy_course import ASSIGNMENT, ToyGrader

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")


_NAMED = 'c.CourseDirectory.course_id = "toys"\n'


def _programs() -> Path | None:
    """The folder of initdb and postgres, which distributions keep off the PATH."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    return next((path.parent for path in sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))), None)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of an empty database, reached by a socket in a private folder and by nothing else."""
    programs = _programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed")
    user: dict[str, Any] = {}
    if os.geteuid() == 0:  # it refuses to be run by root, and by somebody without a name
        name = next(one.pw_name for one in pwd.getpwall() if one.pw_name in ("postgres", "nobody"))
        user = {"user": name, "group": pwd.getpwnam(name).pw_gid, "extra_groups": []}
    with tempfile.TemporaryDirectory(prefix="pg-", dir="/tmp") as folder:  # a socket's path is short
        if user:
            shutil.chown(folder, user["user"])
        data = f"{folder}/data"

        def run(name: str, *arguments: str) -> None:
            with open(f"{folder}/log", "a") as log:  # not a pipe: the server would keep it open
                command = [str(programs / name), "-D", data, *arguments]
                subprocess.run(command, check=True, stdout=log, stderr=log, cwd=folder, **user)

        run("initdb", "-A", "trust", "-U", "teacher", "-E", "UTF8", "--no-sync")
        run("pg_ctl", "start", "-w", "-o", f"-c listen_addresses='' -k {folder} -c fsync=off")
        try:
            yield f"postgresql+psycopg://teacher@/postgres?host={folder}"
        finally:
            run("pg_ctl", "stop", "-m", "immediate")


@pytest.fixture
def course(released: Path, server: str) -> Iterator[Path]:
    """The toy course with its gradebook in the server."""
    config = released / "nbgrader_config.py"
    config.write_text(f"{config.read_text()}\nc.CourseDirectory.db_url = {server!r}\n" + _NAMED)
    (released / "gradebook.db").unlink()
    yield released
    engine = create_engine(server)
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()


def grades(url: str) -> dict[tuple[str, str], tuple[Any, ...]]:
    with Gradebook(url, "toys" if "postgresql" in url else "") as gradebook:
        return {
            (submission.student.id, grade.name): (
                grade.auto_score, grade.manual_score, grade.needs_manual_grade, submission.total_seconds_late
            )
            for submission in gradebook.assignment_submissions(ASSIGNMENT)
            for notebook in submission.notebooks
            for grade in notebook.grades
        }  # fmt: skip


def test_it_holds_what_sqlite_holds(
    released: Path, grader: ToyGrader, tmp_path: Path, server: str, request: pytest.FixtureRequest
) -> None:
    plain = tmp_path / "plain"
    shutil.copytree(released, plain)
    course = request.getfixturevalue("course")
    for root in (plain, course):
        ensure(root, ASSIGNMENT)
        a_class(root, grader)
    with Gradebook(server, "toys") as gradebook:
        gradebook.update_or_create_assignment(ASSIGNMENT, duedate="2026-01-01 00:00:00 UTC")
    for root in (plain, course):
        assert write_grades(root, ASSIGNMENT) == []
        assert write_grades(root, ASSIGNMENT) == [], "again, over what is there"
    assert grades(server) == grades(f"sqlite:///{plain / 'gradebook.db'}")
    assert len(grades(server)) == 9
    assert standing(course, ASSIGNMENT) == standing(plain, ASSIGNMENT)


def test_a_lock_that_stays_is_a_clear_stop_and_a_clean_resume(
    course: Path, grader: ToyGrader, server: str
) -> None:
    ensure(course, ASSIGNMENT)
    a_class(course, grader)
    other = create_engine(server)
    with other.connect() as connection:
        connection.execute(text("LOCK TABLE grade IN ACCESS EXCLUSIVE MODE"))
        with (
            pytest.raises(GradebookStopped, match=r"another program has kept .* locked .* again"),
            GradebookWriter(course, ASSIGNMENT, lock_seconds=2) as writer,
        ):
            writer.write(["ann", "bob"])
    other.dispose()
    assert standing(course, ASSIGNMENT) == {}, "nothing by halves"
    assert write_grades(course, ASSIGNMENT) == []
    assert standing(course, ASSIGNMENT)["ann"].scores["add_checks"] == 2


def test_a_server_out_of_reach_is_said_without_its_password(course: Path) -> None:
    config = course / "nbgrader_config.py"
    address = "postgresql+psycopg://teacher:secret@127.0.0.1:1/grades?connect_timeout=2"
    config.write_text(f"{config.read_text()}\nc.CourseDirectory.db_url = {address!r}\n")
    with pytest.raises(GradebookStopped, match=r"127\.0\.0\.1:1/grades.*could not be written") as stopped:
        ensure(course, ASSIGNMENT)
    assert "secret" not in str(stopped.value)


def test_a_course_without_a_name_is_told_what_to_write(course: Path) -> None:
    config = course / "nbgrader_config.py"
    config.write_text(config.read_text().replace(_NAMED, ""))
    with pytest.raises(UsageError, match=r"nbgrader_config\.py: .*c\.CourseDirectory\.course_id"):
        ensure(course, ASSIGNMENT)
