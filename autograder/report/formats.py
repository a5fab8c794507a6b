"""The formats of an export, by name: apart, so that the command can list them without nbgrader."""

from __future__ import annotations

from enum import StrEnum


class Format(StrEnum):
    """Who is to read the file."""

    CSV = "csv"
    CANVAS = "canvas"
    MOODLE = "moodle"
    GRADESCOPE = "gradescope"
