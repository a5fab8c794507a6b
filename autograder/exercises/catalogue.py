"""The exercises' data files: wrong answers with the sentence that names them, and right ones.

One TOML file an exercise, `exercises/<assignment>/<exercise>.toml`. The same entries serve the
tests, the audit, the feedback and the report.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.errors import CourseError

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Answer:
    """A right answer in some style: `code` stands whole in the solution cell."""

    name: str
    code: str
    #: What an experiment's cell with this code recorded, by name.
    claims: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Misconception:
    """A wrong answer that students give, and the one kind sentence that names it."""

    name: str
    sentence: str
    code: str
    claims: dict[str, dict[str, Any]] = field(default_factory=dict)
    #: The grade_id of the notebook's cell to read again; by default the exercise's statement.
    see: str = ""
    #: Why it can not be told from another one; empty where it is named.
    unnamed: str = ""


@dataclass(frozen=True)
class Exercise:
    """One exercise: the names that a student defines, and the catalogued answers."""

    assignment: str
    name: str
    title: str
    asks: tuple[str, ...]
    misconceptions: tuple[Misconception, ...] = ()
    right: tuple[Answer, ...] = ()
    #: Exercises whose answers this one uses.
    builds_on: tuple[str, ...] = ()
    #: The module of `autograder.reference` whose public names stand for the notebook's given code.
    given: str | None = None

    @property
    def answers(self) -> tuple[Answer | Misconception, ...]:
        """All that is catalogued, right or wrong."""
        return (*self.misconceptions, *self.right)


def load_exercise(path: Path) -> Exercise:
    """Read one data file. Raises `CourseError` naming the file and the entry that is wrong."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CourseError(path, f"cannot be read as TOML ({error})", "Mend the file.") from error
    try:
        exercise = Exercise(
            assignment=path.parent.name,
            name=path.stem,
            title=_text(data, "title"),
            asks=_names(data, "asks"),
            misconceptions=tuple(
                Misconception(
                    _text(one, "name"),
                    _text(one, "sentence"),
                    _text(one, "code"),
                    _claims(one),
                    see=_text(one, "see") if "see" in one else f"{path.stem}_statement",
                    unnamed=_text(one, "unnamed") if "unnamed" in one else "",
                )
                for one in data.get("misconception", [])
            ),
            right=tuple(
                Answer(_text(one, "name"), _text(one, "code"), _claims(one)) for one in data.get("right", [])
            ),
            builds_on=tuple(str(name) for name in data.get("builds_on", [])),
            given=_text(data, "given") if "given" in data else None,
        )
    except (KeyError, TypeError) as error:
        raise CourseError(path, f"lacks or spoils the entry {error}", "See docs/authoring.md.") from error
    names = [one.name for one in exercise.misconceptions] + [one.name for one in exercise.right]
    for name in names:
        if names.count(name) > 1:
            raise CourseError(path, f"has two answers called '{name}'", "Give each its own name.")
    return exercise


def load_exercises(assignment: str, folder: Path = FOLDER) -> dict[str, Exercise]:
    """The exercises of an assignment by name; empty for an assignment without data files."""
    return {path.stem: load_exercise(path) for path in sorted((folder / assignment).glob("*.toml"))}


def _names(data: dict[str, Any], key: str) -> tuple[str, ...]:
    value = data[key]
    if not isinstance(value, list) or not value or not all(isinstance(name, str) for name in value):
        raise TypeError(f"'{key}' (a list of names is needed)")
    return tuple(value)


def _text(data: dict[str, Any], key: str) -> str:
    value = data[key]
    if not isinstance(value, str) or not value.strip():
        raise TypeError(f"'{key}' (a non-empty text is needed)")
    return value


def _claims(data: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """A JSON object of objects: TOML has no word for None."""
    try:
        claims = json.loads(data.get("claims", "{}"))
    except ValueError as error:
        raise TypeError(f"'claims' (not JSON: {error})") from error
    if not isinstance(claims, dict) or not all(isinstance(one, dict) for one in claims.values()):
        raise TypeError("'claims' (an object of objects is needed)")
    return claims
