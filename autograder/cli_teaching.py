"""The commands that help to teach: audit the exercises, write new ones, report on a class, export grades."""

from __future__ import annotations

from typing import Annotated

import typer

from autograder.cli_options import (
    JOBS,
    CourseOption,
    DegradedOption,
    JobsOption,
    JsonOption,
    find_course,
    options_of,
    screen,
    write_json,
)


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
