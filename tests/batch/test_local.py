"""Real worker processes with real sandboxes: the few tests of this folder that take seconds."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.batch.course import Course, Options
from autograder.batch.local import Crew, Done, grade_all
from autograder.batch.plan import Job, plan
from autograder.errors import DeepdrillsError, UsageError
from autograder.results import GradeReport, Outcome
from autograder.sandbox.limits import Limits

from .small_course import ASSIGNMENT, WRONG, hand_in
from .test_nursery import nurseries

OPTIONS = Options(limits=Limits(cell_seconds=60, call_seconds=20))


def of(done: list[Done], student: str) -> Done:
    (found,) = (one for one in done if one.student == student)
    return found


def report(done: Done) -> GradeReport:
    assert done.report is not None
    return done.report


def comparable(done: Done) -> tuple[GradeReport, str]:
    """Without what says how it was done."""
    return replace(report(done), seconds=0.0), done.key


def _class_of_five(course: Course) -> list[Job]:
    hand_in(course.root, "quick", None)
    hand_in(course.root, "slow", None, before="import time\ntime.sleep(50)")
    hand_in(course.root, "wrong", WRONG)
    hand_in(course.root, "crash", "import os\nos._exit(3)")
    (course.root / "submitted" / "nothing" / ASSIGNMENT).mkdir(parents=True)
    return plan(course.root / "submitted", ASSIGNMENT, ["quick", "slow", "wrong", "crash", "nothing"])


def _grade_and_kill(course: Course, jobs: list[Job]) -> list[Done]:
    """Grade with one worker, which dies with its nursery in the middle of the second submission."""
    crew = Crew(course, ASSIGNMENT, OPTIONS)
    crew.start()
    assert crew._nursery is not None
    nursery = crew._nursery.process.pid
    with closing(crew):
        going = grade_all(course, ASSIGNMENT, jobs, OPTIONS, workers=1, crew=crew)
        done = [next(going)]
        killer = threading.Timer(2.0, os.kill, (nursery, signal.SIGKILL))
        killer.start()
        done += going
        killer.join()
    return done


def test_a_killed_worker_costs_one_submission_and_the_number_of_workers_changes_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEPDRILLS_SECRET", "the tests' own")
    course = Course(root)
    jobs = _class_of_five(course)

    one = _grade_and_kill(course, jobs)
    assert sorted(done.student for done in one) == ["crash", "nothing", "quick", "slow", "wrong"]
    lost = of(one, "slow")
    assert lost == Done("slow", None, trouble=("a grading process ended with code -9",))
    assert not lost.ok
    assert all(done.ok for done in one if done is not lost)

    two = list(grade_all(course, ASSIGNMENT, jobs[:1] + jobs[2:], OPTIONS, workers=2, force=True))
    for student, outcome in (
        ("quick", Outcome.PASSED),
        ("wrong", Outcome.FAILED),
        ("crash", Outcome.CRASHED),
        ("nothing", Outcome.NOT_ATTEMPTED),
    ):
        assert report(of(two, student)).outcome is outcome
        assert comparable(of(one, student)) == comparable(of(two, student))
    assert report(of(two, "quick")).score == 2.0
    assert 0 < report(of(two, "wrong")).score < 2.0
    assert report(of(two, "crash")).score == report(of(two, "nothing")).score == 0
    checks = [check for exercise in report(of(two, "wrong")).exercises for check in exercise.checks]
    assert {check.misconception for check in checks if check.outcome is Outcome.FAILED} == {"pad_forgotten"}

    for done in two:
        kept = course.store.get(done.key)
        assert kept is not None
        assert kept.report.score == report(done).score
    assert not (root / ".deepdrills" / "secret").exists(), "the environment's secret is the workers' too"
    assert nurseries() == []


def test_nothing_to_do_starts_nothing(root: Path) -> None:
    assert list(grade_all(Course(root), ASSIGNMENT, [], OPTIONS, workers=2)) == []


def test_what_keeps_a_worker_from_starting_is_raised_as_what_it_is(root: Path) -> None:
    jobs = plan(root / "submitted", "ps9", ["quick"])
    with pytest.raises(UsageError, match=r"ps9.*has no notebook") as caught:
        list(grade_all(Course(root), "ps9", jobs, OPTIONS, workers=1))
    assert isinstance(caught.value, DeepdrillsError)
