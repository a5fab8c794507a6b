"""`deepdrills grade` and `regrade`: a class from submitted/ to the gradebook, and what changes on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from autograder.batch.atomic import clear_when_full
from autograder.batch.course import Course, Grader, Options
from autograder.batch.folder import passed_over, read_folder, timestamp_remark
from autograder.batch.local import Crew, Done, grade_all
from autograder.batch.plan import Job, plan
from autograder.batch.templates import kept_template
from autograder.errors import CourseError, DeepdrillsError, UsageError
from autograder.grading.secret import FOLDER, course_secret
from autograder.progress import GradingProgress
from autograder.recorder import End, Recorder, standing_of
from autograder.report.table import safe, score_table
from autograder.results import GradeReport

#: Longer tables than this are no help.
_TABLE = 300

#: What grades submissions that are not in the store.
Executor = Callable[[Course, str, list[Job], Options, bool], Iterator[Done]]


@dataclass(frozen=True)
class Watch:
    """What a person sees of a run."""

    console: Console
    quiet: bool = False
    log: Path | None = None


def grade_assignment(
    course: Course,
    assignment: str,
    students: list[str],
    options: Options,
    jobs: int,
    force: bool,
    watch: Watch,
    scheduler: str | None = None,
) -> tuple[Iterator[GradeReport], int]:
    """Grade, write the gradebook, print the table; the reports as they are asked for, and the exit code.

    `scheduler`: the address of a Dask scheduler whose workers grade, instead of `jobs` processes here.
    """
    work = jobs_of(course, assignment, students)
    with clear_when_full(course.root), closing(Crew(course, assignment, options, force)) as crew:
        if scheduler is None and (force or not course.store.folder.is_dir()):
            crew.start()  # there is something to grade for sure, and seconds of imports can pass meanwhile
        try:
            graded = _grade(course, assignment, work, options, jobs, force, watch, scheduler, crew)
            for words in [] if students else passed_over(course.root / "submitted", assignment):
                watch.console.print(safe(words), style="yellow")
            return graded
        except KeyboardInterrupt:
            words = "Stopped. What is graded is kept; run the same command again to go on from there."
            watch.console.print(words, style="yellow")
            raise


def _grade(
    course: Course,
    assignment: str,
    work: list[Job],
    options: Options,
    jobs: int,
    force: bool,
    watch: Watch,
    scheduler: str | None,
    crew: Crew,
) -> tuple[Iterator[GradeReport], int]:
    log = watch.log or course.root / FOLDER / "log" / f"{assignment}.log"
    notebook = kept_template(course.root, assignment, write=True).notebook
    with GradingProgress(watch.console, len(work), jobs, watch.quiet, log) as progress:
        progress.note(f"grading {len(work)} submissions of {assignment}")
        executor = None if scheduler is None else _cluster(scheduler, watch.console, progress)
        with Recorder(course, assignment, notebook) as recorder:
            ends = results(course, assignment, work, options, jobs, force, executor, crew, recorder.prepare)
            for done, known in ends:
                progress.add(done, known)
                recorder.add(done)
        for name, words in recorder.failures:
            progress.note(f"{name} not in the gradebook: {words}")
    ended = sorted(recorder.ends, key=lambda one: one.student)
    if not watch.quiet:
        _show(watch.console, course, assignment, ended)
    for name, words in recorder.failures:
        watch.console.print(f"{safe(name)}: not in the gradebook: {safe(words)}", style="red")
    bad = [one for one in ended if not one.ok]
    return _reports(course, assignment, ended), 1 if recorder.failures or bad else 0


def jobs_of(course: Course, assignment: str, students: list[str]) -> list[Job]:
    """One job for each student asked for, everybody by default. Raises `UsageError` naming who is missing."""
    if assignment not in course.assignments:
        raise CourseError(
            course.root / "source",
            f"there is no assignment '{assignment}'",
            f"There are: {', '.join(course.assignments) or 'none'}.",
        )
    everyone = course.students(assignment)
    unknown = sorted(set(students) - set(everyone))
    if unknown:
        raise UsageError(
            f"nothing was submitted by {', '.join(unknown)}: there is no "
            f"submitted/<student>/{assignment}/ of that name."
        )
    if not everyone:
        raise UsageError(
            f"{course.root / 'submitted'}: no submission of {assignment}. "
            f"Put each in submitted/<student>/{assignment}/ and run this again."
        )
    course_secret(course.root, create=True)
    return plan(course.root / "submitted", assignment, students or everyone)


def _cluster(scheduler: str, console: Console, progress: GradingProgress) -> Executor:
    """Grades on the workers of a Dask scheduler; what it says of them goes to the screen and the log."""

    def say(words: str) -> None:
        console.print(safe(words), style="yellow")
        progress.note(words)

    def executor(
        course: Course, assignment: str, work: list[Job], options: Options, force: bool
    ) -> Iterator[Done]:
        from autograder.batch.cluster import grade_on_cluster

        return grade_on_cluster(course, assignment, work, options, scheduler, force, say)

    return executor


def results(
    course: Course,
    assignment: str,
    work: list[Job],
    options: Options,
    jobs: int,
    force: bool,
    executor: Executor | None = None,
    crew: Crew | None = None,
    meanwhile: Callable[[], None] | None = None,
) -> Iterator[tuple[Done, bool]]:
    """The end of every job, and whether it was in the store: those come first, and start no worker.

    `executor`: grades what is left, instead of `jobs` processes here; `crew`: what those are forked from;
    `meanwhile`: what else is to do here while the first ones are graded.
    """
    grader = Grader(course, assignment, options)
    waiting: list[Job] = []
    for job in work:
        try:
            known = None if force else _look(grader, job)
        except DeepdrillsError:
            raise
        except Exception:  # an error of ours with one submission: its worker will meet it and say so
            known = None
        if known is None:
            waiting.append(job)
            if crew is not None and executor is None:
                crew.start()
        else:
            yield known, True
    if waiting:
        ends = (
            grade_all(course, assignment, waiting, options, jobs, force, crew)
            if executor is None
            else executor(course, assignment, waiting, options, force)
        )
        if meanwhile is not None:
            meanwhile()
        for done in ends:
            yield done, False


def _look(grader: Grader, job: Job) -> Done | None:
    if not grader.course.store.folder.is_dir():
        return None
    handed = read_folder(Path(job.folder), grader.template.notebook)
    key = grader.key(grader.submission(handed))
    known = grader.course.store.head(key)
    if known is None:
        return None
    report = GradeReport.from_json(known.report.to_json() | {"student": job.student})
    return Done(job.student, report, key, known.trouble)


def _reports(course: Course, assignment: str, ends: Iterable[End]) -> Iterator[GradeReport]:
    """Each report with how late it came, read when its turn comes."""
    known = standing_of(course, assignment)
    now = datetime.now(UTC).replace(tzinfo=None)
    for end in ends:
        report = end.report
        if report is None:
            head = course.store.head(end.key) if end.key else None
            report = head.report if head else None
        if report is not None:
            late = known[end.student].late_seconds if end.student in known else 0.0
            remark = timestamp_remark(course.root / "submitted" / end.student / assignment, now)
            own = {
                "student": end.student,
                "late_seconds": late,
                "flags": [*report.flags, *([remark] if remark else [])],
            }
            yield GradeReport.from_json(report.to_json() | own)


def _show(console: Console, course: Course, assignment: str, ends: list[End]) -> None:
    flags: list[str] = []

    def with_flags(reports: Iterable[GradeReport]) -> Iterator[GradeReport]:
        for report in reports:
            flags.extend(f"{safe(report.student)}: to look at: {safe(flag)}" for flag in report.flags)
            yield report

    reports = with_flags(_reports(course, assignment, ends))
    graded = sum(1 for end in ends if end.ok or end.report is not None)
    title = f"{assignment}: {graded} submissions"
    if graded <= _TABLE:
        console.print(score_table(reports, title))
    else:
        scores = [report.score for report in reports]
        console.print(
            f"{title}, {sum(scores) / len(scores):.2f} points on average, from {min(scores):g} to "
            f"{max(scores):g}. 'deepdrills report {assignment}' shows the class."
        )
    for end in ends:
        for words in end.trouble:
            console.print(f"{safe(end.student)}: {safe(words)}", style="yellow" if end.ok else "red")
    for flag in flags:
        console.print(flag, style="yellow")
