"""The command `deepdrills`. Each function parses, calls and prints; what it does lives below."""

from __future__ import annotations

import logging
import os
from enum import IntEnum
from pathlib import Path
from typing import Annotated

import typer

from autograder import cli_collecting, cli_teaching
from autograder.cli_options import (
    JOBS,
    CourseOption,
    DegradedOption,
    JobsOption,
    JsonOption,
    LogOption,
    QuietOption,
    RerunOption,
    SchedulerOption,
    console,
    errors,
    find_course,
    options_of,
    screen,
    write_json,
)
from autograder.errors import DeepdrillsError, UsageError, no_room
from autograder.imports import collect_garbage_rarely, skip_slow_grammar

app = typer.Typer(
    name="deepdrills",
    help=(
        "Release, grade and give feedback on the notebooks of a course whose grades can be trusted.\n\n"
        "A usual week: [bold]deepdrills release ps1-convolution[/], hand out release/, "
        "[bold]deepdrills collect submissions.zip ps1-convolution[/] (or collect into "
        "submitted/<student>/<assignment>/ yourself), [bold]deepdrills grade ps1-convolution[/], mark "
        "written answers in formgrader, [bold]deepdrills feedback ps1-convolution[/]."
    ),
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class ExitCode(IntEnum):
    """What the command's exit code says."""

    DONE = 0
    OUR_ERROR = 1
    WRONG_USE = 2


@app.command()
def release(
    assignments: Annotated[
        list[str] | None,
        typer.Argument(help="Which to release; all of source/ by default.", show_default=False),
    ] = None,
    course: CourseOption = None,
) -> None:
    """Make release/ (for students) and solutions/ (executed) from source/, and audit what students get."""
    from autograder.commands import release_assignments

    raise typer.Exit(release_assignments(find_course(course), assignments or [], console))


@app.command()
def grade(
    assignment: Annotated[str, typer.Argument(help="The assignment, as its folder in source/ is called.")],
    student: Annotated[
        list[str] | None,
        typer.Option("--student", "-s", help="Only this student; may be repeated.", show_default=False),
    ] = None,
    jobs: JobsOption = JOBS,
    scheduler: SchedulerOption = None,
    force: Annotated[bool, typer.Option("--force", help="Grade again what is already in the store.")] = False,
    rerun_experiments: RerunOption = False,
    allow_degraded: DegradedOption = False,
    course: CourseOption = None,
    json_file: JsonOption = None,
    quiet: QuietOption = False,
    log: LogOption = None,
) -> None:
    """Grade submitted/<student>/<assignment>/ in parallel, and write gradebook.db and autograded/.

    A run that ends early goes on where it was when it is started again: what is graded is kept by its
    content. What has not changed since it was written is not touched.
    """
    from autograder.grading_run import Watch, grade_assignment

    found = find_course(course)
    options = options_of(found, allow_degraded, rerun_experiments)
    watch = Watch(screen(json_file), quiet, log)
    reports, code = grade_assignment(found, assignment, student or [], options, jobs, force, watch, scheduler)
    write_json(json_file, (report.to_json() for report in reports))
    raise typer.Exit(code)


@app.command()
def regrade(
    assignment: Annotated[str, typer.Argument(help="The assignment, as its folder in source/ is called.")],
    student: Annotated[
        list[str] | None,
        typer.Option("--student", "-s", help="Only this student; may be repeated.", show_default=False),
    ] = None,
    diff: Annotated[
        bool, typer.Option("--diff", help="Only show what would change; write no gradebook.")
    ] = False,
    jobs: JobsOption = JOBS,
    rerun_experiments: RerunOption = False,
    allow_degraded: DegradedOption = False,
    course: CourseOption = None,
    json_file: JsonOption = None,
    quiet: QuietOption = False,
    log: LogOption = None,
) -> None:
    """Show whose points change since they were written, and why; then write them, unless --diff is given.

    Run it after a change of a suite, a reference or a setting. Only exercises whose suite changed are
    checked again.
    """
    from dataclasses import asdict

    from autograder.grading_run import Watch
    from autograder.regrading import regrade_assignment

    found = find_course(course)
    options = options_of(found, allow_degraded, rerun_experiments)
    watch = Watch(screen(json_file), quiet, log)
    changes, code = regrade_assignment(found, assignment, student or [], options, jobs, diff, watch)
    write_json(json_file, [asdict(change) for change in changes])
    raise typer.Exit(code)


@app.command("try")
def try_(
    notebook: Annotated[Path, typer.Argument(help="Any notebook file.")],
    assignment: Annotated[
        str | None,
        typer.Option("--assignment", "-a", help="Which assignment it answers; guessed by default."),
    ] = None,
    rerun_experiments: RerunOption = False,
    allow_degraded: DegradedOption = False,
    course: CourseOption = None,
    json_file: JsonOption = None,
) -> None:
    """Grade one notebook file anywhere, show each check, and write nothing else."""
    from autograder.commands import try_notebook

    found = find_course(course)
    report, code = try_notebook(
        found, notebook, assignment, options_of(found, allow_degraded, rerun_experiments), screen(json_file)
    )
    write_json(json_file, [report.to_json()])
    raise typer.Exit(code)


@app.command()
def feedback(
    assignment: Annotated[str, typer.Argument(help="The assignment, as its folder in source/ is called.")],
    student: Annotated[
        list[str] | None,
        typer.Option("--student", "-s", help="Only this student; may be repeated.", show_default=False),
    ] = None,
    course: CourseOption = None,
) -> None:
    """Write feedback/<student>/<assignment>/<notebook>.html from the gradebook and autograded/."""
    from autograder.commands import write_feedback_pages

    raise typer.Exit(write_feedback_pages(find_course(course), assignment, student or [], console))


app.command()(cli_collecting.collect)
app.command()(cli_teaching.report)
app.command()(cli_teaching.export)
app.command()(cli_teaching.audit)
app.command()(cli_teaching.new_exercise)


@app.command()
def demo(
    folder: Annotated[Path, typer.Argument(help="The scratch course folder; made anew each time.")] = Path(
        "demo-course"
    ),
    jobs: JobsOption = JOBS,
    allow_degraded: DegradedOption = False,
) -> None:
    """Make two small classes, some of them broken or hostile, grade them, and say which pages to open."""
    from autograder.demo import run_demo

    raise typer.Exit(run_demo(find_course(None), folder, jobs, allow_degraded, console))


@app.command()
def doctor(course: CourseOption = None) -> None:
    """Say whether this machine is fit to grade: versions, threads, and each layer of the sandbox, tried."""
    from autograder.doctor import examine

    raise typer.Exit(examine(course or Path.cwd(), console))


def main() -> None:
    """Run the command; an error of ours is one line that says what to do, with its own exit code."""
    skip_slow_grammar()
    collect_garbage_rarely()
    logging.basicConfig(level=os.environ.get("DEEPDRILLS_LOG", "ERROR"), format="%(levelname)s %(message)s")
    try:
        app()
    except UsageError as error:
        _say(str(error))
        raise SystemExit(ExitCode.WRONG_USE) from None
    except DeepdrillsError as error:
        _say(str(error))
        raise SystemExit(ExitCode.OUR_ERROR) from None
    except OSError as error:
        if not no_room(error):
            raise
        words = (
            f"{error.filename or Path.cwd()}: the disk is full. Make room, then run the same command again."
        )
        _say(words)
        raise SystemExit(ExitCode.OUR_ERROR) from None


def _say(words: str) -> None:
    """An error, in which the name of a file or of a student may stand."""
    plain = "".join(char if char.isprintable() or char == "\n" else "?" for char in words)
    errors.print(f"deepdrills: {plain}", style="red", markup=False, highlight=False)


if __name__ == "__main__":
    main()
