"""A real cluster of worker processes, one of them killed: the results are those of a local run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder.batch.cluster import grade_on_cluster
from autograder.batch.course import Course, Grader, Options
from autograder.batch.folder import read_folder
from autograder.batch.local import Done
from autograder.batch.plan import Job, plan
from autograder.results import GradeReport
from autograder.sandbox.limits import Limits

from .a_cluster import LocalDask
from .small_course import ASSIGNMENT, NOTEBOOK, WRONG, copy_course, hand_in

pytest.importorskip("distributed")

OPTIONS = Options(limits=Limits(cell_seconds=60, call_seconds=20))
STUDENTS = ["quick", "wrong", "crash", "empty", "same"]


def _hand_in(root: Path) -> None:
    nap = "import time\ntime.sleep(1.5)"
    hand_in(root, "quick", None, before=nap)
    hand_in(root, "wrong", WRONG, before=nap)
    hand_in(root, "crash", "import os\nos._exit(3)", before=nap)
    hand_in(root, "same", None, before=nap)
    (root / "submitted" / "empty" / ASSIGNMENT).mkdir(parents=True)
    (root / "submitted" / "empty" / ASSIGNMENT / "notes.txt").write_text("no notebook")


def _comparable(course: Course, done: Done) -> tuple[GradeReport, str, tuple[str, ...], list[Any]]:
    """All that a run leaves of a submission, but its time."""
    assert done.report is not None, done.trouble
    kept = course.store.get(done.key)
    assert kept is not None
    assert replace(kept.report, student=done.student, seconds=0) == replace(done.report, seconds=0)
    return replace(done.report, seconds=0), done.key, done.trouble, kept.notebook["cells"]


def _grade(grader: Grader, job: Job) -> Done:
    """As a local worker does it."""
    handed = read_folder(Path(job.folder), NOTEBOOK)
    graded = grader.grade(handed, job.student)
    return Done(job.student, graded.report, grader.key(grader.submission(handed)), graded.trouble)


def _kill_one_that_works(dask: LocalDask) -> str:
    from distributed import Client

    with Client(dask.address, set_as_default=False) as client:
        names = {address: one["name"] for address, one in client.scheduler_info()["workers"].items()}
        working = [
            address for address, keys in client.processing().items() if any("grade" in str(k) for k in keys)
        ]
        victim = str(names[working[0]])
    dask.workers[victim].kill()
    return victim


def test_a_cluster_grades_as_this_machine_does_though_a_worker_is_killed(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEPDRILLS_SECRET", "the tests' own")
    _hand_in(root)
    away = Course(copy_course(root, tmp_path / "away"))
    jobs = plan(away.root / "submitted", ASSIGNMENT, STUDENTS)
    words: list[str] = []
    (tmp_path / "dask").mkdir()
    with LocalDask(tmp_path / "dask", hidden=away.root) as dask:
        for name in ("one", "two"):
            dask.worker(name)
        going = grade_on_cluster(away, ASSIGNMENT, jobs, OPTIONS, dask.address, say=words.append)
        done = [next(going)]
        victim = _kill_one_that_works(dask)
        done += going
        assert any("was lost; its" in one and "done again elsewhere" in one for one in words), words
        # Nothing is asked of any worker for what is known, not even whether there is one.
        again = list(grade_on_cluster(away, ASSIGNMENT, jobs, OPTIONS, "tcp://127.0.0.1:1"))
        survivor = dask.log("two" if victim == "one" else "one")
        assert "Traceback" not in survivor, survivor

    assert sorted(one.student for one in done) == sorted(STUDENTS)
    here = Course(root)
    with Grader(here, ASSIGNMENT, OPTIONS) as grader:
        local = [_grade(grader, job) for job in plan(root / "submitted", ASSIGNMENT, STUDENTS)]
    expected = {one.student: _comparable(here, one) for one in local}
    assert {one.student: _comparable(away, one) for one in done} == expected
    assert {one.student: _comparable(away, one) for one in again} == expected
