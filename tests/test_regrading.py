from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from autograder import regrading
from autograder.batch.course import Course, Options
from autograder.batch.local import Done
from autograder.batch.written import Written
from autograder.grading.graded import Graded
from autograder.grading_run import Watch
from autograder.nbgrader_bridge.standing import Standing
from autograder.regrading import Change, compare, regrade_assignment
from autograder.results import CheckResult, ExerciseResult, GradeReport, Outcome

from .batch.small_course import ASSIGNMENT, NOTEBOOK, hand_in, make_course

OLD, NEW = "content-old", "content-new"
PASSED, FAILED = Outcome.PASSED, Outcome.FAILED


def graded(digest: str, **checks: Outcome) -> Graded:
    """One exercise of two points; each check that passed has its share."""
    share = 2.0 / len(checks)
    made = tuple(
        CheckResult(name, outcome, share if outcome is PASSED else 0.0, share, "")
        for name, outcome in checks.items()
    )
    exercise = ExerciseResult("add_checks", sum(one.points for one in made), 2.0, PASSED, made)
    report = GradeReport("ann", ASSIGNMENT, NOTEBOOK, exercise.points, 2.0, 0.0, (), (), 0.1, (exercise,))
    return Graded(report, {}, digests={"add": digest})


def changes(
    before: Graded | None, now: Graded, score: float | None, old_key: str | None = OLD
) -> list[Change]:
    known = None if score is None else Standing({"add_checks": score})
    return compare(Done("ann", now.report, NEW), before, now, known, old_key)


def test_equal_points_are_no_change() -> None:
    assert changes(graded("a", big=PASSED, small=FAILED), graded("b", big=FAILED, small=PASSED), 1.0) == []


def test_a_suite_that_changed_says_which_check() -> None:
    before, now = graded("a", big=PASSED, small=PASSED), graded("b", big=PASSED, small=FAILED)
    why = "its suite has changed; small: passed, now failed"
    assert changes(before, now, 2.0) == [Change("ann", "add", 2.0, 1.0, why)]


def test_checks_that_come_go_or_count_more_are_named() -> None:
    before = graded("a", big=PASSED, gone=PASSED)
    now = graded("b", big=PASSED, new=FAILED, other=FAILED)
    (change,) = changes(before, now, 2.0)
    for words in ("big counts 1, now 0.666667", "new is new: failed", "gone is gone"):
        assert words in change.why


def test_a_submission_that_changed_says_so() -> None:
    before, now = graded("a", big=FAILED), graded("a", big=PASSED)
    (change,) = changes(before, now, 0.0, old_key="othercontent-old")
    assert change.why == "the submission, the notebook or a setting has changed; big: failed, now passed"


def test_what_is_not_written_yet_has_no_points_before() -> None:
    (change,) = changes(None, graded("a", big=PASSED), None, old_key=None)
    assert (change.before, change.after, change.why) == (None, 2.0, "it is not in the gradebook yet")
    (change,) = changes(None, graded("a", big=PASSED), 1.0)
    assert change.why == "its older result is no longer kept"


def test_a_score_that_was_changed_in_the_gradebook_is_seen() -> None:
    same = graded("a", big=PASSED)
    (change,) = changes(same, same, 1.5)
    assert change.why == "the gradebook has another score than was written"


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """Ann and bob were written under the old suite; under the new one bob loses a point."""
    course = Course(make_course(tmp_path / "course"))
    written = Written(course.root, ASSIGNMENT, NOTEBOOK)
    before, worse = graded("a", big=PASSED, small=PASSED), graded("b", big=PASSED, small=FAILED)
    for student, now in (("ann", replace(before, digests={"add": "b"})), ("bob", worse)):
        hand_in(course.root, student, None)
        path = course.root / "autograded" / student / ASSIGNMENT / f"{NOTEBOOK}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text("")
        course.store.put(f"{student}-old", before)
        course.store.put(f"{student}-new", now)
        written.note(student, f"{student}-old", None)

    def results(*given: object, force: bool) -> Iterator[tuple[Done, bool]]:
        for student in ("bob", "ann"):
            kept = course.store.head(f"{student}-new")
            assert kept is not None
            yield Done(student, replace(kept.report, student=student), f"{student}-new"), False
        yield Done("eve", None, trouble=("a grading process ended with code -9",)), False

    known = {student: Standing({"add_checks": 2.0}) for student in ("ann", "bob")}
    monkeypatch.setattr(regrading, "results", results)
    monkeypatch.setattr(regrading, "standing_of", lambda *given: known)
    return course


def test_a_diff_shows_who_and_why_and_writes_nothing(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regrading, "grade_assignment", lambda *given: pytest.fail("it was written"))
    out = io.StringIO()
    watch = Watch(Console(file=out, width=200))
    found, code = regrade_assignment(course, ASSIGNMENT, [], Options(), 1, True, watch)
    assert [(one.student, one.before, one.after) for one in found] == [("bob", 2.0, 1.0)]
    assert code == 1, "eve could not be graded"
    for words in (
        "small: passed, now failed",
        "1 students' points change: 0 get more, 1 get less",
        "eve: a gr",
    ):
        assert words in out.getvalue()
    assert "Nothing was written" in out.getvalue()
    assert not (course.root / "gradebook.db").exists()


def test_without_diff_it_is_written(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    wrote: list[str] = []

    def write(*given: object) -> tuple[list[GradeReport], int]:
        wrote.append("written")
        return [], 0

    monkeypatch.setattr(regrading, "grade_assignment", write)
    _, code = regrade_assignment(course, ASSIGNMENT, [], Options(), 1, False, Watch(Console(quiet=True)))
    assert (wrote, code) == (["written"], 0)
