"""What keeps nbgrader from converting one student's folder, said before nbgrader's own code meets it.

nbgrader expands the names of students' folders as patterns, so that the notebook of one is taken for
another's; it matches them with an expression that ends at a line break, which stops everybody; and it
writes through links.
"""

from __future__ import annotations

import glob
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nbgrader.converters import NbGraderException
from sqlalchemy.exc import DBAPIError

from autograder.batch.folder import read_timestamp, timestamp_text
from autograder.errors import DeepdrillsError, no_room

Failure = tuple[str, str]

#: In a student's name these would make nbgrader look for other folders, or for none.
PATTERN = re.compile(r"[][*?\n]")
_TIME = "timestamp.txt"


def wrong_student(name: str) -> str:
    """Why a student's name cannot be used with nbgrader, as a sentence; empty for a plain one."""
    if PATTERN.search(name):
        return (
            "nbgrader reads one of [ ] * ? in a name as a pattern, and no line break. Rename the student's "
            "folder in submitted/, then grade again."
        )
    if name != name.strip():
        return (
            "nbgrader takes blanks off both ends of a name, and would then take it for another one. Rename "
            "the student's folder in submitted/, then grade again."
        )
    try:
        name.encode()
    except UnicodeEncodeError:
        return (
            "the name of the student's folder in submitted/ is not in UTF-8, which the gradebook needs. "
            "Rename the folder, then grade again."
        )
    return ""


def in_the_way(base: str, folder: str) -> str:
    """What is no folder on the way from `base` to `folder`, as half a sentence; empty if nothing is."""
    path = os.path.normpath(base)
    for part in os.path.relpath(folder, path).split(os.sep):
        path = os.path.join(path, part)
        try:
            mode = os.lstat(path).st_mode
        except OSError:
            return ""  # nothing is there, or nbgrader meets the same error there
        if not stat.S_ISDIR(mode):
            step = os.path.relpath(path, os.path.dirname(os.path.normpath(base)))
            return f"{step} is {'a link' if stat.S_ISLNK(mode) else 'no folder'}"
    return ""


def unreadable_time(folder: str) -> str:
    """Why nbgrader must not open a folder's timestamp.txt, as half a sentence; empty if it may."""
    try:
        mode = os.lstat(os.path.join(folder, _TIME)).st_mode
    except OSError:
        return ""
    if not stat.S_ISREG(mode):
        return "is no plain file"  # a pipe would never end, nor would what a link points to
    text = timestamp_text(Path(folder))
    if text is None:
        return "cannot be read, or is too long to be a time"
    return "holds no time that can be read" if text and read_timestamp(Path(folder)) is None else ""


def said_of(error: Exception) -> str:
    """What stopped one student's conversion, in words for whoever grades."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return (
            f"{error.filename}: it could not be read or written ({error.strerror}). "
            "Mend that, then run this again."
        )
    return str(error) if isinstance(error, DeepdrillsError) else f"{type(error).__name__}: {error}".strip()


def take_out(converter: Any, folders: list[str]) -> list[Failure]:
    """Remove the folders that cannot be converted from a converter's `assignments`: who, and why."""
    refused = []
    for folder in sorted({*folders, *converter.assignments}):
        assignment, student = _named(converter, folder)
        words = wrong_student(student) or _obstacle(converter, folder, assignment, student)
        if words:
            converter.assignments.pop(folder, None)
            refused.append((student, words))
    return refused


def _obstacle(converter: Any, folder: str, assignment: str, student: str) -> str:
    """What is wrong where a folder lies and where it is to be written, as sentences; empty if nothing is."""
    course = converter.coursedir
    if found := in_the_way(_step(course, converter._input_directory), folder):
        return f"{found}. Put the student's own folder there, then run this again."
    if not os.access(folder, os.R_OK | os.X_OK):
        return (
            f"{student}/{assignment} may not be read by the user who grades. Give that user the right to, "
            "then run this again."
        )
    if found := unreadable_time(folder):
        where = f"{student}/{assignment}/{_TIME}"
        return f"{where} {found}. Put a time into it or move it away, then run this again."
    written = converter._format_dest(assignment, student)
    if found := in_the_way(_step(course, converter._output_directory), written):
        return f"{found}, and a folder is to be written there. Move it away, then run this again."
    return ""


def _step(course: Any, directory: str) -> str:
    """The folder of one of nbgrader's steps, such as autograded/; it may be a link to a larger disk."""
    return str(course.format_path(directory, ".", "."))


def guard(converter: Any) -> None:
    """Let a converter of an `nbgrader` command refuse such folders, go on with the others, and fail then."""
    convert = converter.convert_notebooks

    def log(student: str, words: str) -> None:
        name = student.replace("\n", "?")  # a line of the log is one student's
        converter.log.error("%s, student '%s': %s", converter.coursedir.assignment_id, name, words)

    def convert_notebooks() -> None:
        course = converter.coursedir
        ignored = list(course.ignore)
        refused = take_out(converter, _meant(converter))
        for student, words in refused:
            log(student, words)
        try:
            for student, error in convert_each(converter, convert):
                refused.append((student, said_of(error)))
                log(*refused[-1])
        finally:
            course.ignore = ignored  # the formgrader uses the course again
        if refused:
            raise NbGraderException(f"{len(refused)} students' folders were left out; see above.")

    converter.convert_notebooks = convert_notebooks


def convert_each(converter: Any, convert: Callable[[], None]) -> list[tuple[str, OSError]]:
    """nbgrader's `convert_notebooks` for one student after the other: who stopped even its tidying up.

    It removes what a failed conversion left, and a folder that cannot be removed would stop everybody.
    Raises `NbGraderException` when a conversion failed, at once if the gradebook is the reason.
    """
    everything = converter.assignments
    failed: NbGraderException | None = None
    stuck: list[tuple[str, OSError]] = []
    try:
        for folder in sorted(everything):
            converter.assignments = {folder: everything[folder]}
            try:
                convert()
            except NbGraderException as error:
                if isinstance(error.__context__, DBAPIError):
                    raise
                failed = error
            except OSError as error:
                if no_room(error):
                    raise
                stuck.append((_named(converter, folder)[1], error))
    finally:
        converter.assignments = everything
    if failed is not None and not stuck:
        raise failed
    return stuck


def _meant(converter: Any) -> list[str]:
    """The folders that a command is for, also those in which nbgrader found no notebook or may not look.

    A student of just the name that was asked for is meant alone; nbgrader would read it as a pattern. `*`,
    which stands for everybody when nobody is asked for, is always one.
    """
    course = converter.coursedir
    asked = converter._format_source(course.assignment_id, course.student_id)
    if course.student_id != "*" and glob.has_magic(course.student_id) and os.path.lexists(asked):
        converter.assignments = {}
        return [asked]
    above, name = os.path.split(asked)
    shut = [one for one in glob.glob(above) if os.path.isdir(one) and not os.access(one, os.X_OK)]
    return [*glob.glob(asked), *(os.path.join(one, name) for one in shut)]


def _named(converter: Any, folder: str) -> tuple[str, str]:
    """The assignment and the student of a folder, told as nbgrader does but past line breaks."""
    structure = converter._format_source("(?P<assignment>.*)", "(?P<student>.*)", escape=True)
    match = re.fullmatch(structure, folder, re.DOTALL)
    return (match["assignment"], match["student"]) if match else ("", folder)
