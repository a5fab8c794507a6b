"""What the commands do: release, grade, try and feedback, with what a person sees meanwhile."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from autograder.batch.course import Course, Grader, Options
from autograder.batch.folder import read_file
from autograder.batch.local import Done, grade_all
from autograder.batch.plan import Job, plan
from autograder.batch.staging import stage, staged_root
from autograder.errors import CourseError, UsageError
from autograder.grading.reading import read_notebook
from autograder.grading.secret import course_secret
from autograder.grading.template import load_template
from autograder.nbgrader_bridge.gradebook import ensure_assignment, write_feedback, write_grades
from autograder.nbgrader_bridge.lateness import late_seconds
from autograder.nbgrader_bridge.release import release_assignment
from autograder.nbgrader_bridge.release_audit import audit_release
from autograder.report.table import check_table, safe, score_table
from autograder.results import GradeReport, Outcome


def release_assignments(course: Course, names: list[str], console: Console) -> int:
    """Release each assignment and audit it; 1 when an audit finds something."""
    problems = 0
    for name in known_assignments(course, names or course.assignments):
        with console.status(f"Releasing {name} ..."):
            result = release_assignment(course.root, name)
            found = audit_release(course.root, name)
        for path in (*result.released, *result.solutions):
            console.print(f"{path.relative_to(course.root)}", highlight=False)
        for problem in found:
            console.print(f"  problem: {problem}", style="red", markup=False)
        problems += len(found)
        if not found:
            console.print(f"{name}: released, and the audit found nothing that students should not see.")
    return 1 if problems else 0


def grade_assignment(
    course: Course,
    assignment: str,
    students: list[str],
    options: Options,
    jobs: int,
    force: bool,
    console: Console,
) -> tuple[list[GradeReport], int]:
    """Grade, write the gradebook, print the table; the reports and the exit code."""
    known_assignments(course, [assignment])
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
    work = plan(course.root / "submitted", assignment, students or everyone)
    done = _grade(course, assignment, work=work, options=options, jobs=jobs, force=force, console=console)
    notebook = load_template(course.root, assignment).notebook
    good = [one for one in done if one.ok]
    for one in good:
        stage(
            course.root,
            one.student,
            assignment,
            notebook,
            course.root / "submitted" / one.student / assignment,
            one.key,
        )
    with console.status("Writing the gradebook ..."):
        ensure_assignment(course.root, assignment)
        names = [one.student for one in good]
        failures = (
            write_grades(course.root, assignment, names, staged_root(course.root) / "submitted")
            if names
            else []
        )
        late = late_seconds(course.root, assignment)
    reports = [
        GradeReport.from_json(one.report.to_json() | {"late_seconds": late.get(one.student, 0.0)})
        for one in done
        if one.report is not None
    ]
    console.print(score_table(reports, f"{assignment}: {len(reports)} submissions"))
    for one in done:
        for words in one.trouble:
            console.print(f"{safe(one.student)}: {safe(words)}", style="red" if not one.ok else "yellow")
    for report in reports:
        for flag in report.flags:
            console.print(f"{safe(report.student)}: to look at: {safe(flag)}", style="yellow")
    for name, words in failures:
        console.print(f"{safe(name)}: not in the gradebook: {safe(words)}", style="red")
    return reports, 1 if failures or len(good) < len(done) else 0


def try_notebook(
    course: Course, path: Path, assignment: str | None, options: Options, console: Console
) -> tuple[GradeReport, int]:
    """Grade one file and print its checks; the report and the exit code."""
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file.")
    handed = read_file(path)
    name = assignment or _guess(course, handed.notebook or b"", path)
    known_assignments(course, [name])
    with console.status(f"Grading {path.name} as {name} ..."):
        secret = course_secret(course.root, create=False)
        with Grader(course, name, options, secret) as grader:
            graded = grader.grade(handed, path.stem, keep=False)
    console.print(check_table(graded.report))
    for repair in graded.report.repairs:
        console.print(f"repaired: {safe(repair)}")
    for flag in graded.report.flags:
        console.print(f"to look at: {safe(flag)}", style="yellow")
    for words in graded.trouble:
        console.print(safe(words), style="red")
    return graded.report, 1 if graded.report.outcome is Outcome.ERROR else 0


def write_feedback_pages(course: Course, assignment: str, students: list[str], console: Console) -> int:
    """Write the feedback pages; 1 when some could not be."""
    known_assignments(course, [assignment])
    with console.status("Writing feedback ..."):
        failures = write_feedback(course.root, assignment, students or None)
    for name, words in failures:
        console.print(f"{safe(name)}: no feedback: {safe(words)}", style="red")
    pages = sorted((course.root / "feedback").glob(f"*/{assignment}/*.html"))
    console.print(f"{len(pages)} feedback pages in {(course.root / 'feedback').name}/<student>/{assignment}/")
    return 1 if failures else 0


def _grade(
    course: Course,
    assignment: str,
    *,
    work: list[Job],
    options: Options,
    jobs: int,
    force: bool,
    console: Console,
) -> list[Done]:
    done: list[Done] = []
    progress = Progress(
        TextColumn("Grading"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("failed {task.fields[failed]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
    )
    with progress:
        task = progress.add_task("grading", total=len(work), failed=0)
        for one in grade_all(course, assignment, work, options, jobs, force):
            done.append(one)
            progress.update(task, advance=1, failed=sum(not each.ok for each in done))
    return sorted(done, key=lambda one: one.student)


def known_assignments(course: Course, names: list[str]) -> list[str]:
    """The names, each an assignment of the course. Raises `CourseError` otherwise."""
    known = course.assignments
    for name in names:
        if name not in known:
            raise CourseError(
                course.root / "source",
                f"there is no assignment '{name}'",
                f"There are: {', '.join(known) or 'none'}.",
            )
    return names


def _guess(course: Course, raw: bytes, path: Path) -> str:
    """The assignment whose cells a notebook shares most. Raises `UsageError` when it shares none."""
    cells, _ = read_notebook(raw)
    ids = {cell.grade_id for cell in cells}
    best, most = "", 0
    for name in course.assignments:
        template = load_template(course.root, name)
        shared = len(ids & {cell.grade_id for cell in template.cells}) + (template.notebook == path.stem)
        if shared > most:
            best, most = name, shared
    if not best:
        raise UsageError(
            f"{path}: it could not be told which assignment this is. Pass --assignment, "
            f"one of {', '.join(course.assignments)}."
        )
    return best
