"""What was done with each file of a download: the lines of the table and of the JSON."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Deed(StrEnum):
    """What was done with one file."""

    COLLECTED = "collected"
    REPLACED = "replaced"
    SAME = "already there"
    BESIDE = "kept beside"
    OLDER = "older attempt"
    LEFT_OUT = "left out"
    NOT_REPLACED = "not replaced"
    REFUSED = "refused"
    UNMATCHED = "unmatched"


#: Deeds after which a person should look.
TO_LOOK_AT = (Deed.NOT_REPLACED, Deed.REFUSED, Deed.UNMATCHED)


@dataclass(frozen=True)
class Line:
    """One file: its path in the download, whose it is if that is known, and what became of it."""

    file: str
    student: str
    deed: Deed
    words: str = ""

    def to_json(self) -> dict[str, str]:
        return {"file": self.file, "student": self.student, "deed": self.deed.value, "words": self.words}


@dataclass
class Record:
    """All lines of one download, and who of the roster handed in nothing."""

    assignment: str
    source: str
    pattern: str
    dry_run: bool
    lines: list[Line] = field(default_factory=list)
    #: Words on the whole download.
    notes: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)

    def add(self, file: str, student: str, deed: Deed, words: str = "") -> None:
        self.lines.append(Line(file, student, deed, words))

    @property
    def complete(self) -> bool:
        """Whether nothing is left for a person to settle."""
        return not any(line.deed in TO_LOOK_AT for line in self.lines)

    @property
    def counts(self) -> dict[str, int]:
        counted = Counter(line.deed for line in self.lines)
        return {deed.value: counted[deed] for deed in Deed if counted[deed]}

    def to_json(self) -> dict[str, Any]:
        return {
            "assignment": self.assignment,
            "source": self.source,
            "pattern": self.pattern,
            "dry_run": self.dry_run,
            "counts": self.counts,
            "files": [line.to_json() for line in self.lines],
            "notes": self.notes,
            "absent": self.absent,
        }
