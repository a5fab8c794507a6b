"""A roster that a learning platform gave, and which of its rows is which student."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import UsageError

#: Columns that may hold a student's id, in the order in which they are asked.
ID_COLUMNS = (
    "student", "student_id", "student id", "id", "sis login id", "sis user id", "username", "user name",
    "id number", "idnumber", "sid", "login", "integration id", "email", "email address", "e-mail",
)  # fmt: skip
_LIMIT = 16 << 20


@dataclass(frozen=True)
class Roster:
    """The rows of a roster file under its headings."""

    headings: tuple[str, ...]
    rows: tuple[dict[str, str], ...]


@dataclass(frozen=True)
class Matched:
    """Whose row is whose; who was graded but is in no row, in several rows, or the other way round."""

    rows: dict[str, dict[str, str]]
    not_in_roster: tuple[str, ...]
    ambiguous: tuple[str, ...]
    not_graded: tuple[str, ...]


def read_roster(path: Path) -> Roster:
    """A CSV file with a line of headings; commas, semicolons or tabs. Raises `UsageError`."""
    try:
        if path.stat().st_size > _LIMIT:
            raise UsageError(f"{path}: it is larger than {_LIMIT >> 20} MiB and hardly a roster.")
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path}: the roster cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: the roster is not in UTF-8. Save it as CSV UTF-8.") from error
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    try:
        lines = [line for line in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if any(line)]
    except csv.Error as error:
        raise UsageError(f"{path}: the roster is no CSV file ({error}).") from error
    if len(lines) < 2:
        raise UsageError(f"{path}: the roster needs a line of headings and a line for each student.")
    headings = tuple(heading.strip() for heading in lines[0])
    if not _columns(headings):
        raise UsageError(
            f"{path}: no column of the roster holds ids. One of these headings is needed: "
            f"{', '.join(ID_COLUMNS)}."
        )
    rows = tuple(dict(zip(headings, [*line, *[""] * len(headings)], strict=False)) for line in lines[1:])
    return Roster(headings, tuple(row for row in rows if not _is_points_possible(row)))


def match(students: Sequence[str], roster: Roster) -> Matched:
    """Find each student's row: by an id column, without case; then by the part of an address before the @.

    A student that two rows claim, or a row that two students claim, is matched to nothing.
    """
    columns = _columns(roster.headings)
    claims: dict[str, list[int]] = {}
    for student in students:
        wanted = _key(student)
        if not wanted:
            claims[student] = []
            continue
        found: list[int] = []
        for one in columns:
            found = found or [n for n, row in enumerate(roster.rows) if _key(row[one]) == wanted]
        claims[student] = found or [
            n for n, row in enumerate(roster.rows) if wanted in {_mailbox(row[one]) for one in columns}
        ]
    taken = [found[0] for found in claims.values() if len(found) == 1]
    good = {
        student: found[0]
        for student, found in claims.items()
        if len(found) == 1 and taken.count(found[0]) == 1
    }
    return Matched(
        rows={student: roster.rows[place] for student, place in good.items()},
        not_in_roster=tuple(student for student, found in claims.items() if not found),
        ambiguous=tuple(student for student, found in claims.items() if found and student not in good),
        not_graded=tuple(
            _called(row, columns) for n, row in enumerate(roster.rows) if not _claimed(n, claims.values())
        ),
    )


def _claimed(place: int, claims: Iterable[list[int]]) -> bool:
    return any(place in found for found in claims)


def _columns(headings: Sequence[str]) -> list[str]:
    known = {heading.casefold(): heading for heading in headings}
    return [known[name] for name in ID_COLUMNS if name in known]


def _called(row: dict[str, str], columns: list[str]) -> str:
    return next((row[column] for column in columns if row[column].strip()), "(a row without an id)")


def _key(text: str) -> str:
    return text.strip().casefold()


def _mailbox(text: str) -> str:
    """The part of an address before the @; empty for what is no address."""
    name, at, _ = _key(text).partition("@")
    return name if at else ""


def _is_points_possible(row: dict[str, str]) -> bool:
    """Canvas's second line, which is no student."""
    return any(value.strip().casefold() == "points possible" for value in row.values())
