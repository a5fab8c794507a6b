"""The commands that help to teach: audit the exercises, write new ones, report on a class, export grades."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.cli_options import (
    JOBS,
    CourseOption,
    DegradedOption,
    JobsOption,
    JsonOption,
    console,
    errors,
    find_course,
    options_of,
    screen,
    write_json,
)
from autograder.report.formats import Format

AssignmentArgument = Annotated[
    str, typer.Argument(help="The assignment, as its folder in source/ is called.")
]


def audit(
    assignments: Annotated[
        list[str] | None,
        typer.Argument(help="Which to audit; all of source/ by default.", show_default=False),
    ] = None,
    exercise: Annotated[
        str | None, typer.Option("--exercise", "-e", help="Only this exercise.", show_default=False)
    ] = None,
    jobs: JobsOption = JOBS,
    allow_degraded: DegradedOption = False,
    course: CourseOption = None,
    json_file: JsonOption = None,
) -> None:
    """Try every catalogued wrong and right answer: are they refused, accepted and named as they should be?"""
    from autograder.auditing import audit_assignments

    found = find_course(course)
    options = options_of(found, allow_degraded)
    verdicts, code = audit_assignments(found, assignments or [], exercise, options, jobs, screen(json_file))
    write_json(json_file, verdicts)
    raise typer.Exit(code)


def report(
    assignment: AssignmentArgument,
    hide_names: Annotated[
        bool, typer.Option("--pseudonyms", help="Put the same pseudonyms for names in every report.")
    ] = False,
    json_file: JsonOption = None,
    csv_file: Annotated[
        Path | None,
        typer.Option("--csv", help="Write a line a student to this file as CSV.", show_default=False),
    ] = None,
    course: CourseOption = None,
) -> None:
    """Write report/<assignment>.html: scores, exercises, misconceptions and whom to talk to."""
    from autograder.reporting import write_report

    quiet = "-" in (str(json_file), str(csv_file))
    where = errors if quiet else console
    raise typer.Exit(write_report(find_course(course), assignment, hide_names, json_file, csv_file, where))


def export(
    assignment: AssignmentArgument,
    format_: Annotated[Format, typer.Option("--format", "-f", help="Who is to read the file.")] = Format.CSV,
    roster: Annotated[
        Path | None,
        typer.Option(
            "--roster", help="The platform's own CSV file of students, to match ids with.", show_default=False
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The file to write; '-' for standard output.")
    ] = Path("-"),
    course: CourseOption = None,
) -> None:
    """Write the grades, the total and each exercise, for a spreadsheet or a learning platform."""
    from autograder.reporting import export_grades

    raise typer.Exit(export_grades(find_course(course), assignment, format_, roster, output, errors))


def new_exercise(
    assignment: AssignmentArgument,
    name: Annotated[str, typer.Argument(help="The exercise, as the student's function is called.")],
    title: Annotated[
        str | None, typer.Option("--title", help="As people read it.", show_default=False)
    ] = None,
    points: Annotated[float, typer.Option("--points", min=0.0, help="What it is worth.")] = 1.0,
    course: CourseOption = None,
) -> None:
    """Write the skeletons of an exercise: cells, reference, data file and suite. Nothing is overwritten."""
    from autograder.authoring import new_exercise as write

    raise typer.Exit(write(find_course(course), assignment, name, title, points, console))
