"""What a person chooses between; apart, so that the command imports nothing heavy."""

from __future__ import annotations

from enum import StrEnum


class Pattern(StrEnum):
    """How the files of a download are named."""

    AUTO = "auto"
    MOODLE = "moodle"
    CANVAS = "canvas"
    BLACKBOARD = "blackboard"
    COURSE = "course"
    STUDENT = "student"


class Times(StrEnum):
    """Whether the times of files are those of handing in."""

    AUTO = "auto"
    YES = "yes"
    NO = "no"
