"""Whose a file is: a platform's name or number for a student, and the id that the course uses."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from autograder.collect.names import Name
from autograder.errors import UsageError
from autograder.report.roster import Roster

#: Columns that may hold the id under which a course keeps a student, in the order in which they are asked.
ID_COLUMNS = (
    "student_id", "student id", "sis login id", "username", "user name", "login", "sid", "id number",
    "idnumber", "sis user id", "email address", "email", "e-mail", "id",
)  # fmt: skip
#: Columns with the number that stands in the names of files.
_NUMBERS = ("id", "identifier", "canvas user id", "user id")
_FULL = ("name", "student", "full name", "fullname", "student name", "display name")
_FIRST, _LAST = ("first name", "firstname", "given name"), ("last name", "lastname", "surname", "family name")


@dataclass(frozen=True)
class Unknown:
    """No id could be told; the text says why."""

    why: str


class People:
    """The students of a course by what platforms call them; without a roster, by their own names."""

    def __init__(self, pattern: str, roster: Roster | None = None, id_column: str | None = None) -> None:
        """`pattern`: of the names, see `names.py`. Raises `UsageError` for a column that the roster lacks."""
        self._pattern = pattern
        self._roster = roster
        self._by_key: dict[str, set[int]] = defaultdict(set)
        self._ids: list[str] = []
        self._seen: set[str] = set()
        if roster is not None:
            self._read(roster, id_column)

    @property
    def absent(self) -> list[str]:
        """Ids of the roster that nothing was found for."""
        return [one for one in self._ids if one and one not in self._seen]

    def find(self, name: Name) -> str | Unknown:
        """The id of the student whose file has this name."""
        if self._roster is None:
            if self._pattern == "canvas":
                return valid(name.number or name.student)  # a number of Canvas is a person's everywhere
            if self._pattern == "moodle":
                return valid("-".join(_plain(name.student).split()))
            return valid(name.student)
        keys = [f"number:{name.number}"] if name.number else []
        keys += [
            f"id:{name.student.casefold()}",
            f"name:{_squashed(name.student)}",
            f"words:{_sorted(name.student)}",
        ]
        for key in keys:
            rows = self._by_key.get(key, set())
            if len(rows) > 1:
                return Unknown(f"{len(rows)} people of the roster are called '{name.student}'")
            if rows:
                found = self._ids[next(iter(rows))]
                if not found:
                    return Unknown(f"'{name.student}' has no id in the roster")
                self._seen.add(found)
                return valid(found)
        return Unknown(f"'{name.student}' is not in the roster")

    def _read(self, roster: Roster, id_column: str | None) -> None:
        known = {heading.casefold(): heading for heading in roster.headings}
        chosen = known.get(id_column.casefold()) if id_column else None
        if id_column and chosen is None:
            raise UsageError(
                f"--id-column {id_column}: the roster has no such column. "
                f"There are: {', '.join(roster.headings)}."
            )
        columns = [chosen] if chosen else [known[name] for name in ID_COLUMNS if name in known]
        if not columns and "student" in known:
            columns = [known["student"]]
        for place, row in enumerate(roster.rows):
            values = [row[column].strip() for column in columns]
            self._ids.append(next((value for value in values if value), ""))
            cells = {name: row[heading].strip() for name, heading in known.items()}
            for key in _keys(cells, (*values, *(cells.get(name, "") for name in ID_COLUMNS))):
                self._by_key[key].add(place)


def _keys(cells: dict[str, str], ids: Iterable[str]) -> set[str]:
    """All that a row may be found by."""
    keys = set()
    for name in _NUMBERS:
        number = cells.get(name, "").rsplit(" ", 1)[-1]  # Moodle writes 'Participant 4711'
        if number.isdigit():
            keys.add(f"number:{number}")
    for value in ids:
        keys |= {f"id:{value.casefold()}", f"id:{value.casefold().partition('@')[0]}"}
    first = next((cells[name] for name in _FIRST if cells.get(name)), "")
    last = next((cells[name] for name in _LAST if cells.get(name)), "")
    names = [f"{first} {last}", f"{last} {first}"] + [cells.get(name, "") for name in _FULL]
    for whole in list(names):
        before, comma, after = whole.partition(",")
        if comma:
            names.append(f"{after} {before}")
    for whole in names:
        keys |= {f"name:{_squashed(whole)}", f"words:{_sorted(whole)}"}
    return keys - {"id:", "name:", "words:"}


def _plain(text: str) -> str:
    """Letters and digits of any script in lower case without accents, words apart."""
    bare = "".join(
        char for char in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(char)
    )
    return "".join(
        char if char.isalnum() else " " if char.isspace() or char in "-_.," else "" for char in bare
    )


def _squashed(text: str) -> str:
    return "".join(_plain(text).split())


def _sorted(text: str) -> str:
    return " ".join(sorted(_plain(text).split()))


def valid(name: str) -> str | Unknown:
    """The id, if it can be a folder of its own in submitted/."""
    name = unicodedata.normalize("NFC", name).strip()  # a Mac writes an accent as a character of its own
    if not name or name.startswith((".", "-")) or len(name.encode("utf-8", "replace")) > 150:
        return Unknown(f"'{name[:40]}' cannot be a student's id")
    if not name.isprintable() or any(char in '/\\*?[]{}:<>|"' for char in name):
        return Unknown(f"'{name[:40]}' holds characters that a student's id cannot have")
    return name
