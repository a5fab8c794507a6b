"""The command `deepdrills`. Each function parses, calls and prints; what it does lives below."""

from __future__ import annotations

import json
import logging
import os
from enum import IntEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from autograder.batch.course import Course, Options
from autograder.errors import DeepdrillsError, UsageError
from autograder.results import GradeReport

app = typer.Typer(
    name="deepdrills",
    help=(
        "Release, grade and give feedback on the notebooks of a course whose grades can be trusted.\n\n"
        "A usual week: [bold]deepdrills release ps1-convolution[/], hand out release/, collect into "
        "submitted/<student>/<assignment>/, [bold]deepdrills grade ps1-convolution[/], mark written "
        "answers in formgrader, [bold]deepdrills feedback ps1-convolution[/]."
    ),
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
console = Console()
errors = Console(stderr=True)

CourseOption = Annotated[
    Path | None,
    typer.Option(
        "--course", help="The course folder; by default the one that you are in.", show_default=False
    ),
]
DegradedOption = Annotated[
    bool,
    typer.Option(
        "--allow-degraded",
        help="Grade even where a layer of the sandbox is missing. Hostile code may then get out.",
    ),
]
RerunOption = Annotated[
    bool,
    typer.Option(
        "--rerun-experiments",
        help="Run experiments again too, and flag what differs from what was handed in. Takes minutes each.",
    ),
]
JsonOption = Annotated[
    Path | None,
    typer.Option(
        "--json", help="Write the reports to this file as JSON ('-' for standard output).", show_default=False
    ),
]


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

    raise typer.Exit(release_assignments(_course(course), assignments or [], console))


@app.command()
def grade(
    assignment: Annotated[str, typer.Argument(help="The assignment, as its folder in source/ is called.")],
    student: Annotated[
        list[str] | None,
        typer.Option("--student", "-s", help="Only this student; may be repeated.", show_default=False),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Worker processes.")] = os.cpu_count() or 1,
    force: Annotated[bool, typer.Option("--force", help="Grade again what is already in the store.")] = False,
    rerun_experiments: RerunOption = False,
    allow_degraded: DegradedOption = False,
    course: CourseOption = None,
    json_file: JsonOption = None,
) -> None:
    """Grade submitted/<student>/<assignment>/ in parallel, and write gradebook.db and autograded/."""
    from autograder.commands import grade_assignment

    found = _course(course)
    options = _options(found, allow_degraded, rerun_experiments)
    reports, code = grade_assignment(
        found, assignment, student or [], options, jobs, force, _screen(json_file)
    )
    _write_json(json_file, reports)
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

    found = _course(course)
    report, code = try_notebook(
        found, notebook, assignment, _options(found, allow_degraded, rerun_experiments), _screen(json_file)
    )
    _write_json(json_file, [report])
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

    raise typer.Exit(write_feedback_pages(_course(course), assignment, student or [], console))


@app.command()
def demo(
    folder: Annotated[Path, typer.Argument(help="The scratch course folder; made anew each time.")] = Path(
        "demo-course"
    ),
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Worker processes.")] = os.cpu_count() or 1,
    allow_degraded: DegradedOption = False,
) -> None:
    """Make a class of twelve, some of them broken or hostile, grade it, and say which page to open."""
    from autograder.demo import run_demo

    raise typer.Exit(run_demo(_course(None), folder, jobs, allow_degraded, console))


@app.command()
def doctor(course: CourseOption = None) -> None:
    """Say whether this machine is fit to grade: versions, threads, and each layer of the sandbox, tried."""
    from autograder.doctor import examine

    raise typer.Exit(examine(course or Path.cwd(), console))


def main() -> None:
    """Run the command; an error of ours is one line that says what to do, with its own exit code."""
    logging.basicConfig(level=os.environ.get("DEEPDRILLS_LOG", "ERROR"), format="%(levelname)s %(message)s")
    try:
        app()
    except UsageError as error:
        errors.print(f"deepdrills: {error}", style="red", markup=False, highlight=False)
        raise SystemExit(ExitCode.WRONG_USE) from None
    except DeepdrillsError as error:
        errors.print(f"deepdrills: {error}", style="red", markup=False, highlight=False)
        raise SystemExit(ExitCode.OUR_ERROR) from None


def _course(given: Path | None) -> Course:
    """The named course, the one we are in, or the repository that this package is in."""
    if given is not None:
        return Course.find(given)
    try:
        return Course.find(Path.cwd())
    except UsageError as error:
        home = Path(__file__).resolve().parents[1]
        if (home / "source").is_dir() and (home / "nbgrader_config.py").is_file():
            return Course(home)
        raise error


def _options(course: Course, allow_degraded: bool, rerun_experiments: bool) -> Options:
    from autograder.nbgrader_bridge.settings import limits_from, load_settings, options_from

    settings = load_settings(course.root)
    return Options(
        limits_from(settings), allow_degraded or options_from(settings).allow_degraded, rerun_experiments
    )


def _screen(json_file: Path | None) -> Console:
    """Where people read: standard error when the JSON goes to standard output."""
    return errors if json_file is not None and str(json_file) == "-" else console


def _write_json(path: Path | None, reports: list[GradeReport]) -> None:
    if path is None:
        return
    text = json.dumps([report.to_json() for report in reports], indent=1) + "\n"
    if str(path) == "-":
        print(text, end="")
        return
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: the reports could not be written ({error.strerror}).") from error


if __name__ == "__main__":
    main()
