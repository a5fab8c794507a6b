"""`deepdrills collect`: a download of submissions into submitted/, and a word on every file of it."""

from __future__ import annotations

from datetime import datetime, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from rich.console import Console
from rich.progress import track
from rich.table import Table

from autograder.batch.course import Course
from autograder.collect.choices import Pattern, Times
from autograder.collect.files import Download, open_download
from autograder.collect.names import Names, recognise
from autograder.collect.notebooks import Recogniser
from autograder.collect.people import People
from autograder.collect.placing import Placer
from autograder.collect.record import TO_LOOK_AT, Deed, Record
from autograder.collect.sorting import Sorter, times_of_handing_in
from autograder.commands import known_assignments
from autograder.errors import DeepdrillsError, UsageError
from autograder.grading.template import load_template
from autograder.nbgrader_bridge.settings import load_settings
from autograder.report.roster import read_roster
from autograder.report.table import safe


def collect_submissions(
    course: Course,
    path: Path,
    assignment: str,
    console: Console,
    *,
    roster: Path | None = None,
    id_column: str | None = None,
    pattern: Pattern = Pattern.AUTO,
    times: Times = Times.AUTO,
    zone_name: str | None = None,
    update: bool = False,
    dry_run: bool = False,
) -> tuple[Record, int]:
    """Collect a zip or a folder and print the table; the record, and 1 when a file needs a person's look."""
    known_assignments(course, [assignment])
    notebook = load_template(course.root, assignment).notebook
    recogniser = Recogniser(course.root, course.assignments)
    zone = _zone(zone_name)
    listed = read_roster(roster) if roster else None
    with open_download(path, zone) as download:
        names = _names(course, pattern, [found.path for found in download.files], zone)
        people = People(names.pattern, listed, id_column)
        record = Record(assignment, str(path), names.pattern, dry_run)
        if names.pattern == "student":
            _without_wrapper(download, notebook)
        trusted = _trusted(download, times, record)
        sorter = Sorter(assignment, notebook, names, people, recogniser, record, zone, trusted)
        placer = Placer(course.root, assignment, notebook, record, update, dry_run)
        students = sorter.by_student(download)
        for student, pieces in track(students.items(), "Collecting", console=console, transient=True):
            try:
                work = sorter.work(student, pieces)
                if work is not None:
                    placer.place(work)
            except DeepdrillsError:
                raise
            except Exception as error:  # an error of ours with the files of one student is nobody else's
                words = f"our own error ({type(error).__name__}: {error}); put the work in submitted/ by hand"
                record.add(pieces[0].found.path, student, Deed.REFUSED, f"{words}, and report it")
    record.absent = people.absent
    _print(record, console)
    return record, 0 if record.complete else 1


def _names(course: Course, pattern: Pattern, paths: list[str], zone: tzinfo) -> Names:
    config = load_settings(course.root)
    if pattern is Pattern.AUTO:
        return recognise(paths, zone, config)
    if pattern is Pattern.COURSE and not config.get("FileNameCollectorPlugin", {}).get("named_regexp"):
        raise UsageError(
            "--pattern course: nbgrader_config.py sets no c.FileNameCollectorPlugin.named_regexp. "
            "Set it, or choose another pattern."
        )
    return Names(pattern.value, zone, config)


def _trusted(download: Download, times: Times, record: Record) -> bool:
    if times is not Times.AUTO:
        return times is Times.YES
    trusted = times_of_handing_in(download.files)
    if not trusted and download.files:
        record.notes.append(
            "The files were all written within an hour, so their times were taken for the download's and no "
            "timestamp.txt was made from them; --times yes takes them for the times of handing in."
        )
    return trusted


def _without_wrapper(download: Download, notebook: str) -> None:
    """Take off a folder that holds the files of everybody, as a zip of a folder has it."""
    first = {found.path.split("/", 1)[0] for found in download.files}
    inside = [found.path.split("/", 1)[1] for found in download.files if "/" in found.path]
    notebooks = [path for path in inside if path.lower().endswith((".ipynb", ".zip"))]
    if len(first) != 1 or len(inside) != len(download.files) or len(notebooks) < 2:
        return
    if f"{notebook}.ipynb" not in inside:
        download.files = [
            type(found)(found.path.split("/", 1)[1], found.when, found.read) for found in download.files
        ]


def _zone(name: str | None) -> tzinfo:
    """The named zone, by default this machine's. Raises `UsageError`."""
    if name is None:
        here = datetime.now().astimezone().tzinfo
        assert here is not None
        return here
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UsageError(f"--timezone {name}: there is no such zone. Give one like Europe/Berlin.") from error


def _print(record: Record, console: Console) -> None:
    title = f"{record.assignment}: {len(record.lines)} files, named as by {record.pattern}"
    table = Table(title=title + (" (nothing was written)" if record.dry_run else ""), title_justify="left")
    for heading in ("file", "student", "what was done", "why"):
        table.add_column(heading, overflow="fold")
    for line in record.lines:
        style = "red" if line.deed in TO_LOOK_AT else None
        table.add_row(safe(line.file), safe(line.student), line.deed.value, safe(line.words), style=style)
    console.print(table)
    for note in record.notes:
        console.print(note, style="yellow", markup=False, highlight=False)
    if record.absent:
        console.print(f"In the roster, but with no file here: {safe(', '.join(record.absent))}")
    console.print(
        "; ".join(f"{count} {deed}" for deed, count in record.counts.items()) or "No file was found."
    )
    if not record.complete:
        console.print("The red lines are for you to settle; run this again when you have.", style="red")
