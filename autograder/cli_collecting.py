"""The command that brings submissions in from a learning platform or from a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.cli_options import CourseOption, JsonOption, find_course, screen, write_json
from autograder.collect.choices import Pattern, Times


def collect(
    path: Annotated[Path, typer.Argument(help="The zip as the platform made it, or a folder.")],
    assignment: Annotated[str, typer.Argument(help="The assignment, as its folder in source/ is called.")],
    roster: Annotated[
        Path | None,
        typer.Option("--roster", help="A CSV file that says whose id is whose name.", show_default=False),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option("--id-column", help="The roster's column with the course's ids.", show_default=False),
    ] = None,
    pattern: Annotated[
        Pattern, typer.Option("--pattern", help="How the files are named; told from the names by default.")
    ] = Pattern.AUTO,
    times: Annotated[
        Times,
        typer.Option(
            "--times",
            help="Whether the files' own times say when they were handed in. auto: only if they lie more "
            "than an hour apart, as a download's never do.",
        ),
    ] = Times.AUTO,
    zone: Annotated[
        str | None,
        typer.Option(
            "--timezone",
            help="Of the times in a zip or in names, like Europe/Berlin; this machine's by default.",
            show_default=False,
        ),
    ] = None,
    update: Annotated[
        bool,
        typer.Option("--update", help="Replace different work; the old one goes to .deepdrills/replaced/."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done, and write nothing.")
    ] = False,
    course: CourseOption = None,
    json_file: JsonOption = None,
) -> None:
    """Bring a zip from Moodle, Canvas or Blackboard, or a folder of files named by student, into submitted/.

    Notebooks are known by their cells, whatever they are called. What was done is said of every file; with
    exit code 1, some are left for you to settle.
    """
    from autograder.collecting import collect_submissions

    record, code = collect_submissions(
        find_course(course),
        path,
        assignment,
        screen(json_file),
        roster=roster,
        id_column=id_column,
        pattern=pattern,
        times=times,
        zone_name=zone,
        update=update,
        dry_run=dry_run,
    )
    write_json(json_file, record.to_json())
    raise typer.Exit(code)
