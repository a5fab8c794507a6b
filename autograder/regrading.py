"""`deepdrills regrade`: whose points change under today's suites, and why, before anything is written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from autograder.batch.course import Course, Options
from autograder.batch.local import Done
from autograder.batch.templates import kept_template
from autograder.batch.written import Written
from autograder.grading.graded import Graded
from autograder.grading_run import Watch, grade_assignment, jobs_of, results
from autograder.nbgrader_bridge.standing import Standing
from autograder.progress import GradingProgress
from autograder.recorder import standing_of
from autograder.report.table import safe
from autograder.results import ExerciseResult, GradeReport

#: Smaller differences are rounding.
_EPSILON = 1e-6


@dataclass(frozen=True)
class Change:
    """One exercise of one student whose points differ; `before` is None where there were none."""

    student: str
    exercise: str
    before: float | None
    after: float
    why: str


def regrade_assignment(
    course: Course,
    assignment: str,
    students: list[str],
    options: Options,
    jobs: int,
    diff: bool,
    watch: Watch,
) -> tuple[list[Change], int]:
    """Grade by today's suites, print what changes, write it unless `diff`; the changes and the exit code."""
    found, failed = changes_of(course, assignment, students, options, jobs, watch)
    show(watch.console, found, assignment)
    for student, words in failed:
        watch.console.print(f"{safe(student)}: {safe(words)}", style="red")
    if diff:
        watch.console.print("Nothing was written. Without --diff, the gradebook gets these points.")
        return found, 1 if failed else 0
    _, code = grade_assignment(course, assignment, students, options, jobs, False, watch)
    return found, code


def changes_of(
    course: Course, assignment: str, students: list[str], options: Options, jobs: int, watch: Watch
) -> tuple[list[Change], list[tuple[str, str]]]:
    """What would change in the gradebook, by student, and whom we could not grade with the reason."""
    work = jobs_of(course, assignment, students)
    written = Written(course.root, assignment, kept_template(course.root, assignment, write=True).notebook)
    known = standing_of(course, assignment)
    found: list[Change] = []
    failed: list[tuple[str, str]] = []
    with GradingProgress(watch.console, len(work), jobs, watch.quiet, watch.log) as progress:
        for done, kept in results(course, assignment, work, options, jobs, force=False):
            progress.add(done, kept)
            if not done.ok:
                failed.append((done.student, "; ".join(done.trouble) or "it could not be graded"))
                continue
            old = written.key(done.student)
            before = course.store.head(old) if old else None
            now = course.store.head(done.key)
            found += compare(done, before, now, known.get(done.student), old)
    return sorted(found, key=lambda one: (one.student, one.exercise)), sorted(failed)


def compare(
    done: Done, before: Graded | None, now: Graded | None, known: Standing | None, old_key: str | None
) -> list[Change]:
    """The exercises of one student whose points differ from what the gradebook has."""
    assert done.report is not None
    older = _by_name(before.report) if before else {}
    found = []
    for exercise in done.report.exercises:
        name = exercise.grade_id
        points = known.scores.get(name) if known else None
        if points is not None and abs(points - exercise.points) <= _EPSILON:
            continue
        why = _why(name, exercise, older.get(name), before, now, done.key, old_key)
        found.append(Change(done.student, name.removesuffix("_checks"), points, exercise.points, why))
    return found


def _why(
    name: str,
    after: ExerciseResult,
    before: ExerciseResult | None,
    old: Graded | None,
    new: Graded | None,
    key: str,
    old_key: str | None,
) -> str:
    if before is None or old is None:
        return "it is not in the gradebook yet" if old_key is None else "its older result is no longer kept"
    reasons = []
    if old_key is not None and old_key.partition("-")[0] != key.partition("-")[0]:
        reasons.append("the submission, the notebook or a setting has changed")
    exercise = name.removesuffix("_checks")
    if new is not None and old.digests.get(exercise) != new.digests.get(exercise):
        reasons.append("its suite has changed")
    known = {check.name: check for check in before.checks}
    for check in after.checks:
        was = known.pop(check.name, None)
        if was is None:
            reasons.append(f"{check.name} is new: {check.outcome.value}")
        elif was.outcome is not check.outcome:
            reasons.append(f"{check.name}: {was.outcome.value}, now {check.outcome.value}")
        elif abs(was.max_points - check.max_points) > _EPSILON:
            reasons.append(f"{check.name} counts {was.max_points:g}, now {check.max_points:g}")
    reasons += [f"{gone} is gone" for gone in known]
    return "; ".join(reasons) or "the gradebook has another score than was written"


def _by_name(report: GradeReport) -> dict[str, ExerciseResult]:
    return {exercise.grade_id: exercise for exercise in report.exercises}


def show(console: Console, changes: Iterable[Change], assignment: str) -> None:
    """A table of the changes and a line that sums them up."""
    changes = list(changes)
    if not changes:
        console.print(f"{assignment}: no student's points change.")
        return
    table = Table(title=f"{assignment}: what changes", title_justify="left")
    for heading in ("student", "exercise", "before", "after", "why"):
        table.add_column(heading, overflow="fold")
    for one in changes:
        before = "none" if one.before is None else f"{one.before:g}"
        table.add_row(safe(one.student), safe(one.exercise), before, f"{one.after:g}", safe(one.why))
    console.print(table)
    totals: dict[str, float] = {}
    for one in changes:
        totals[one.student] = totals.get(one.student, 0.0) + one.after - (one.before or 0.0)
    up, down = (sum(sign * total > _EPSILON for total in totals.values()) for sign in (1, -1))
    console.print(f"{len(totals)} students' points change: {up} get more, {down} get less.")
