"""What the gradebook says of an assignment, read without nbgrader: it takes a second to import."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from autograder.nbgrader_bridge.settings import load_settings


@dataclass
class Standing:
    """One student: the autograder's score of each grade cell, and seconds after the due date."""

    scores: dict[str, float | None] = field(default_factory=dict)
    late_seconds: float = 0.0


#: nbgrader's own tables, in words that every database understands.
_QUESTION = """
SELECT handed_in.student_id, handed_in.timestamp, handed_in.extension, assignment.duedate,
       base_cell.name, grade.auto_score
FROM submitted_assignment AS handed_in
JOIN assignment ON assignment.id = handed_in.assignment_id
LEFT JOIN submitted_notebook ON submitted_notebook.assignment_id = handed_in.id
LEFT JOIN grade ON grade.notebook_id = submitted_notebook.id
LEFT JOIN base_cell ON base_cell.id = grade.cell_id
WHERE assignment.name = :assignment
"""
_FILE = "sqlite:///"
_EPOCH = datetime(1970, 1, 1)


class Unreadable(Exception):
    """The gradebook could not be read: it is locked, out of reach, or not nbgrader's."""


def database(root: Path) -> str:
    """The address of the course's gradebook, as nbgrader takes it from nbgrader_config.py."""
    named = load_settings(root).CourseDirectory.get("db_url")
    return str(named or f"{_FILE}{root.resolve() / 'gradebook.db'}")


def standing(root: Path, assignment: str) -> dict[str, Standing]:
    """Every student with a submission in the gradebook; nobody where there is no gradebook yet.

    Raises `Unreadable`.
    """
    url = database(root)
    read = _from_file if url.startswith(_FILE) and "?" not in url else _from_server
    found: dict[str, Standing] = {}
    for student, timestamp, extension, due, cell, score in read(url, assignment):
        one = found.get(student)
        if one is None:
            one = found[student] = Standing(late_seconds=_late(timestamp, due, extension))
        if cell is not None:
            one.scores[cell] = score
    return found


def _from_file(url: str, assignment: str) -> Iterator[tuple[Any, ...]]:
    """By the standard library: sqlalchemy takes most of a second to import."""
    path = Path(url.removeprefix(_FILE))
    if not path.exists():
        return
    try:
        with closing(
            sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True, timeout=1)
        ) as connection:
            yield from connection.execute(_QUESTION, {"assignment": assignment})
    except sqlite3.Error as error:
        raise Unreadable(str(error)) from error


def _from_server(url: str, assignment: str) -> Iterator[tuple[Any, ...]]:
    from sqlalchemy import create_engine, text
    from sqlalchemy.exc import DBAPIError

    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            for row in connection.execute(text(_QUESTION), {"assignment": assignment}):
                yield tuple(row)
    except DBAPIError as error:
        raise Unreadable(str(error.orig)) from error
    finally:
        engine.dispose()


def _late(timestamp: Any, due: Any, extension: Any) -> float:
    """As nbgrader counts it. SQLite keeps dates as texts, and a span as the date so long after 1970."""
    if timestamp is None or due is None:
        return 0.0
    span = extension or timedelta(0)
    if isinstance(span, str):
        span = datetime.fromisoformat(span) - _EPOCH
    return float(max(0.0, (_date(timestamp) - (_date(due) + span)).total_seconds()))


def _date(value: Any) -> datetime:
    return datetime.fromisoformat(value) if isinstance(value, str) else value
