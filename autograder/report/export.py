"""Grades as CSV for a spreadsheet or a learning platform: the total and each exercise, one line a student."""

from __future__ import annotations

from collections.abc import Callable

from autograder.nbgrader_bridge.class_record import ClassRecord, StudentRecord
from autograder.report.formats import Format
from autograder.report.roster import Matched
from autograder.report.spreadsheet import csv_text

Rows = list[list[object]]
Roster = dict[str, dict[str, str]]


def export(record: ClassRecord, format_: Format, matched: Matched | None = None) -> str:
    """The file's text. With a roster only the matched students are in it, under the roster's own ids."""
    students = [one for one in record.students if matched is None or one.student in matched.rows]
    rows = _WRITERS[format_](record, students, matched.rows if matched else {})
    return csv_text(rows)


def _plain(record: ClassRecord, students: list[StudentRecord], roster: Roster) -> Rows:
    del roster
    rows: Rows = [["student", "score", "max_score", *record.exercises, "penalty", "late_seconds", "to_mark"]]
    for one in students:
        waiting = sum(mark.to_mark for mark in one.marks)
        rows.append(
            [
                one.student,
                one.score,
                one.max_score,
                *_points(record, one),
                one.penalty,
                one.late_seconds,
                waiting,
            ]
        )
    return rows


def _canvas(record: ClassRecord, students: list[StudentRecord], roster: Roster) -> Rows:
    """Canvas's gradebook import: five columns that say who, then one a column of grades."""
    columns = [record.assignment, *(f"{record.assignment} {name}" for name in record.exercises)]
    rows: Rows = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *columns]]
    rows.append(["    Points Possible", "", "", "", "", *_possible(record)])
    for one in students:
        row = roster.get(one.student, {})
        who = [
            _of(row, "Student", "Name") or one.student,
            _of(row, "ID") if "SIS Login ID" in row else "",
            _of(row, "SIS User ID"),
            _of(row, "SIS Login ID") or one.student,
            _of(row, "Section"),
        ]
        rows.append([*who, one.score, *_points(record, one)])
    return rows


def _moodle(record: ClassRecord, students: list[StudentRecord], roster: Roster) -> Rows:
    """Moodle's grade import maps columns by heading; username, ID number or address says who."""
    columns = [record.assignment, *(f"{record.assignment} {name}" for name in record.exercises)]
    rows: Rows = [["Username", "ID number", "Email address", *columns]]
    for one in students:
        row = roster.get(one.student, {})
        who = [
            _of(row, "Username") or ("" if row else one.student),
            _of(row, "ID number", "idnumber"),
            _of(row, "Email address", "Email"),
        ]
        rows.append([*who, one.score, *_points(record, one)])
    return rows


def _gradescope(
    record: ClassRecord, students: list[StudentRecord], roster: dict[str, dict[str, str]]
) -> Rows:
    """The columns of Gradescope's own grade files, the exercises as its numbered questions."""
    possible = _possible(record)
    questions = [
        f"{number}: {name} ({most:g} pts)"
        for number, (name, most) in enumerate(zip(record.exercises, possible[1:], strict=True), start=1)
    ]
    who = ["Name", "SID", "Email"]
    rows: Rows = [[*who, "Total Score", "Max Points", "Status", "Lateness (H:M:S)", *questions]]
    for one in students:
        row = roster.get(one.student, {})
        name = _of(row, "Name", "Full Name") or f"{_of(row, 'First Name')} {_of(row, 'Last Name')}".strip()
        status = "Ungraded" if any(mark.to_mark for mark in one.marks) else "Graded"
        hours, rest = divmod(int(one.late_seconds), 3600)
        late = f"{hours:02d}:{rest // 60:02d}:{rest % 60:02d}"
        who = [name or one.student, _of(row, "SID") or one.student, _of(row, "Email", "Email Address")]
        rows.append([*who, one.score, one.max_score, status, late, *_points(record, one)])
    return rows


_WRITERS: dict[Format, Callable[[ClassRecord, list[StudentRecord], Roster], Rows]] = {
    Format.CSV: _plain,
    Format.CANVAS: _canvas,
    Format.MOODLE: _moodle,
    Format.GRADESCOPE: _gradescope,
}


def _points(record: ClassRecord, one: StudentRecord) -> list[float | None]:
    found = {mark.grade_id: mark.score for mark in one.marks}
    return [found.get(name) for name in record.exercises]


def _possible(record: ClassRecord) -> list[float]:
    """The maximum of the assignment, then of each exercise."""
    most = {mark.grade_id: mark.max_score for one in record.students for mark in one.marks}
    each = [most.get(name, 0.0) for name in record.exercises]
    return [sum(each), *each]


def _of(row: dict[str, str], *headings: str) -> str:
    """The first value under one of these headings, whatever their case."""
    known = {heading.casefold(): value for heading, value in row.items()}
    return next((known[name.casefold()] for name in headings if known.get(name.casefold(), "").strip()), "")
