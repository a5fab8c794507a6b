"""How platforms name the files of a download of submissions.

Each pattern is a plugin of nbgrader's own `zip_collect`, so a course may also use it there:
`c.ZipCollectApp.collector_plugin = "autograder.collect.names.MoodleNames"`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any

from nbgrader.plugins.zipcollect import FileNameCollectorPlugin
from nbgrader.utils import parse_utc
from traitlets import Unicode

#: nbgrader warns of every name that a pattern does not match; here that is an ordinary answer.
_log = logging.getLogger("autograder.collect.names")
_log.setLevel(logging.ERROR)

#: Parts that a platform adds of its own.
_OWN = {"onlinetext", "comments"}


@dataclass(frozen=True)
class Name:
    """What a file's name says: whose it is, what the student called it, when, and whether it was late."""

    student: str
    file: str
    #: The platform's number for the student or for the participant.
    number: str = ""
    when: datetime | None = None
    late: bool = False
    #: Written by the platform, not by the student.
    own: bool = False


class MoodleNames(FileNameCollectorPlugin):  # type: ignore[misc]
    """`Ada Lovelace_4711_assignsubmission_file_/convolution.ipynb`, with or without folders.

    The number is the participant's, another one for each assignment; a group's files have the group's name.
    """

    named_regexp = Unicode(
        r"(?:.*/)?(?P<student_id>[^/]+?)(?:_(?P<number>\d+))?_assignsubmission_(?P<part>[a-z0-9]+)"
        r"(?:_?/|_)(?P<file_id>.+)"
    ).tag(config=True)


class CanvasNames(FileNameCollectorPlugin):  # type: ignore[misc]
    """`lovelaceada_LATE_1234_56789_convolution-1.ipynb`: the name, the user's number, the file's number.

    Anonymous ones are `anon_AbC12_56789_convolution.ipynb`; a text entry is `lovelaceada_1234_text.html`.
    """

    named_regexp = Unicode(
        r"(?:.*/)?(?:(?P<late>LATE)_)?(?P<student_id>(?P<anonymous>anon_[A-Za-z0-9]+)|[^/]+?)"
        r"(?:_(?P<late_2>LATE))?(?(anonymous)|_(?P<number>\d+))"
        r"_(?:(?P<attachment>\d+)_(?P<file_id>[^/]+)|(?:text|link)\.html$)"
    ).tag(config=True)


class BlackboardNames(FileNameCollectorPlugin):  # type: ignore[misc]
    """`ps1_ada_attempt_2026-10-05-15-30-10_convolution.ipynb`, as in nbgrader's own example."""

    named_regexp = Unicode(
        r"(?:.*/)?[^/]+_(?P<student_id>[^_/]+)_attempt_(?P<timestamp>\d{4}(?:-\d\d){5})"
        r"(?:_(?P<file_id>[^/]+)|\.txt)"
    ).tag(config=True)


PATTERNS: dict[str, type[FileNameCollectorPlugin]] = {
    "moodle": MoodleNames,
    "canvas": CanvasNames,
    "blackboard": BlackboardNames,
}


class Names:
    """One pattern, by its name: those above, `course` for the course's own, or `student`."""

    def __init__(self, pattern: str, zone: tzinfo, config: Any = None) -> None:
        """`config`: nbgrader's settings; their `FileNameCollectorPlugin.named_regexp` is for `course`."""
        self.pattern = pattern
        self._zone = zone
        self._plugin: FileNameCollectorPlugin | None = None
        if pattern in PATTERNS:
            self._plugin = PATTERNS[pattern](log=_log)
        elif pattern == "course":
            self._plugin = FileNameCollectorPlugin(config=config, log=_log)

    def read(self, path: str) -> Name | None:
        """What a path says; None where it is not of this pattern."""
        if self._plugin is None:
            return _by_student(path)
        groups = self._plugin._match(path)
        if not groups or not groups.get("student_id"):
            return None
        part, file = groups.get("part"), groups.get("file_id") or ""
        return Name(
            student=groups["student_id"].replace("_", " ").strip() if part else groups["student_id"],
            file=file if file else path.rsplit("/", 1)[-1],
            number=groups.get("number") or "",
            when=self._time(groups.get("timestamp")),
            late=bool(groups.get("late") or groups.get("late_2")),
            own=part in _OWN or not file,
        )

    def _time(self, text: str | None) -> datetime | None:
        if not text:
            return None
        try:
            return datetime.strptime(text, "%Y-%m-%d-%H-%M-%S").replace(tzinfo=self._zone).astimezone(UTC)
        except OverflowError:  # the year 1 has no time in another zone
            return None
        except ValueError:
            pass
        try:
            return parse_utc(text).replace(tzinfo=UTC)  # type: ignore[no-any-return]
        except Exception:  # dateutil raises more than it says
            return None


def recognise(paths: Sequence[str], zone: tzinfo, config: Any = None) -> Names:
    """The pattern that most of the paths are of; files named by student where there is none."""
    own = config is not None and bool(config.get("FileNameCollectorPlugin", {}).get("named_regexp"))
    known = [Names(name, zone, config) for name in ((("course",) if own else ()) + tuple(PATTERNS))]
    counts = [_count(names, paths) for names in known]
    most = max(counts, default=0)
    return known[counts.index(most)] if most else Names("student", zone)


def _count(names: Names, paths: Iterable[str]) -> int:
    return sum(names.read(path) is not None for path in paths)


def _by_student(path: str) -> Name:
    """`ada/anything` or `ada.ipynb`."""
    first, slash, rest = path.partition("/")
    return Name(first, rest) if slash else Name(first.rsplit(".", 1)[0] if "." in first[1:] else first, first)
