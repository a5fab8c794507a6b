"""What `deepdrills report` and `deepdrills export` do: read a class, write files, say where they are."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console

from autograder.batch.course import Course
from autograder.commands import known_assignments
from autograder.errors import UsageError
from autograder.exercises.catalogue import load_exercises
from autograder.grading.secret import course_secret
from autograder.nbgrader_bridge.class_record import class_record
from autograder.report.class_report import class_report
from autograder.report.export import export
from autograder.report.formats import Format
from autograder.report.page import page, report_csv
from autograder.report.pseudonyms import pseudonymised
from autograder.report.roster import Matched, match, read_roster
from autograder.report.table import safe


def write_report(
    course: Course,
    assignment: str,
    hide_names: bool,
    json_file: Path | None,
    csv_file: Path | None,
    console: Console,
) -> int:
    """Write report/<assignment>.html, and the same as JSON or CSV where asked."""
    known_assignments(course, [assignment])
    with console.status(f"Reading the class of {assignment} ..."):
        record = class_record(course.root, assignment)
        if hide_names:
            record = pseudonymised(record, course_secret(course.root, create=True))
        report = class_report(record, load_exercises(assignment), pseudonymous=hide_names)
    target = course.root / "report" / f"{assignment}.html"
    _write(target, page(report))
    if json_file is not None:
        _write(json_file, json.dumps(report.to_json(), indent=1) + "\n")
    if csv_file is not None:
        _write(csv_file, report_csv(report))
    count = len(report.students)
    console.print(f"The report on {count} submissions is {target}", highlight=False, markup=False)
    return 0


def export_grades(
    course: Course, assignment: str, format_: Format, roster_file: Path | None, output: Path, console: Console
) -> int:
    """Write the grades; 1 when a graded student could not be matched with the roster."""
    known_assignments(course, [assignment])
    record = class_record(course.root, assignment)
    matched = None
    if roster_file is not None:
        matched = match([one.student for one in record.students], read_roster(roster_file))
    text = export(record, format_, matched)
    if str(output) == "-":
        print(text, end="")
    else:
        _write(output, text)
        count = len(record.students) if matched is None else len(matched.rows)
        console.print(f"{count} grades are in {output}", highlight=False, markup=False)
    return _say_unmatched(matched, console) if matched else 0


def _say_unmatched(matched: Matched, console: Console) -> int:
    for student in matched.not_in_roster:
        console.print(f"not in the roster, left out: {safe(student)}", style="red")
    for student in matched.ambiguous:
        console.print(f"several rows or students match, left out: {safe(student)}", style="red")
    for name in matched.not_graded:
        console.print(f"in the roster, without a grade: {safe(name)}", style="yellow")
    return 1 if matched.not_in_roster or matched.ambiguous else 0


def _write(path: Path, text: str) -> None:
    if str(path) == "-":
        print(text, end="")
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise UsageError(f"{path}: it could not be written ({error.strerror}).") from error
