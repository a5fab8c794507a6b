"""What the commands do: release, try and feedback, with what a person sees meanwhile."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from autograder.batch.course import Course, Grader, Options
from autograder.batch.folder import read_file
from autograder.errors import CourseError, UsageError
from autograder.grading.reading import read_notebook
from autograder.grading.secret import course_secret
from autograder.grading.template import load_template
from autograder.nbgrader_bridge.gradebook import write_feedback
from autograder.nbgrader_bridge.release import release_assignment
from autograder.nbgrader_bridge.release_audit import audit_release
from autograder.report.table import check_table, safe
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
