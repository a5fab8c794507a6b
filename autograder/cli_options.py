"""What the commands share: their options, the course that they work on, where they print."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from autograder.batch.course import Course, Options
from autograder.errors import UsageError

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
        "--json",
        help="Write what was found to this file as JSON ('-' for standard output).",
        show_default=False,
    ),
]

QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="Show no progress and no table; what went wrong is still said.")
]
LogOption = Annotated[
    Path | None,
    typer.Option(
        "--log",
        help="Add a line for each submission to this file; by default .deepdrills/log/<assignment>.log.",
        show_default=False,
    ),
]
SchedulerOption = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="tcp://HOST:PORT",
        help="Grade on the workers of this Dask scheduler instead of here (docs/cluster.md). Each worker "
        "proves its sandbox first; a lost worker's submissions are done again elsewhere. --jobs is not used.",
        show_default=False,
    ),
]
JobsOption = Annotated[int, typer.Option("--jobs", "-j", min=1, help="Worker processes.")]
#: Worker processes by default.
JOBS = os.cpu_count() or 1


def find_course(given: Path | None) -> Course:
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


def options_of(course: Course, allow_degraded: bool, rerun_experiments: bool = False) -> Options:
    from autograder.nbgrader_bridge.settings import limits_from, load_settings, options_from

    settings = load_settings(course.root)
    degraded = allow_degraded or options_from(settings).allow_degraded
    return Options(limits_from(settings), degraded, rerun_experiments)


def screen(json_file: Path | None) -> Console:
    """Where people read: standard error when the JSON goes to standard output."""
    return errors if json_file is not None and str(json_file) == "-" else console


def write_json(path: Path | None, found: Any) -> None:
    if path is None:
        return
    text = json.dumps(found if isinstance(found, dict) else list(found), indent=1) + "\n"
    if str(path) == "-":
        print(text, end="")
        return
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: the JSON could not be written ({error.strerror}).") from error
