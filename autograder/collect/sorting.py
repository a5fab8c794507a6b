"""Sort the files of a download: whose each one is, and which of a student's notebooks counts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo

from autograder.batch.tree import Taken, plain_path, wrong_name
from autograder.collect.files import MIB, Download, Found, Room, Unreadable, open_inner
from autograder.collect.names import Name, Names
from autograder.collect.notebooks import Recogniser, looks_like_one
from autograder.collect.people import People, Unknown
from autograder.collect.record import Deed, Record

#: Files that were all written within this span have the time of the download, not of the hand-ins.
DOWNLOAD_SPAN = timedelta(hours=1)
_ATTEMPT = re.compile(r"[-_ ]?\(?(\d{1,3})\)?$")
_TIMESTAMP = "timestamp.txt"
#: All that is read of one student: it is in memory at once.
_STUDENT_LIMIT = 512 * MIB


@dataclass(frozen=True)
class Piece:
    """One file of a student's, and what its name says."""

    found: Found
    name: Name

    @property
    def file(self) -> str:
        return self.name.file


@dataclass
class Work:
    """What one student hands in: the notebook that counts, files beside it, and its time if it is known."""

    student: str
    path: str
    notebook: bytes
    words: str
    when: datetime | None = None
    beside: dict[str, bytes] = field(default_factory=dict)


class Sorter:
    """Turns a download into one `Work` a student; every other file gets its line in the record."""

    def __init__(
        self,
        assignment: str,
        notebook: str,
        names: Names,
        people: People,
        recogniser: Recogniser,
        record: Record,
        zone: tzinfo,
        times: bool,
    ) -> None:
        """`times`: whether the times of the files are those of handing in."""
        self._assignment, self._notebook = assignment, notebook
        self._names, self._people, self._recogniser = names, people, recogniser
        self._record = record
        self._zone = zone
        self._times = times

    def by_student(self, download: Download) -> dict[str, list[Piece]]:
        """Each student's files, by id. What cannot be told is recorded as unmatched."""
        add = self._record.add
        for path, why in download.refused:
            add(path, "", Deed.REFUSED, why)
        for path, why in download.ignored:
            add(path, "", Deed.LEFT_OUT, why)
        sorted_: dict[str, list[Piece]] = defaultdict(list)
        numbers: dict[str, set[tuple[str, str]]] = defaultdict(set)
        for found in download.files:
            name = self._names.read(found.path)
            if name is None:
                words = f"its name is not one of {self._names.pattern}'s, so it cannot be told whose it is"
                add(found.path, "", Deed.UNMATCHED, words)
                continue
            # What is left of a path without the platform's own part can be a worse one.
            wrong = wrong_name(name.file)
            if wrong:
                add(found.path, "", Deed.REFUSED, wrong)
                continue
            name = replace(name, file=plain_path(name.file))
            student = self._people.find(name)
            if isinstance(student, Unknown):
                add(found.path, "", Deed.UNMATCHED, student.why)
                continue
            when = name.when or (found.when if self._times else None)
            sorted_[student].append(Piece(found, replace(name, when=when)))
            numbers[student].add((name.student, name.number))
        for student, called in numbers.items():
            if len(called) > 1:
                who = " and ".join(
                    f"{name} ({number})" if number else name for name, number in sorted(called)
                )
                for piece in sorted_.pop(student):
                    words = f"{who} would both be '{student}'; give a roster that tells them apart"
                    add(piece.found.path, "", Deed.UNMATCHED, words)
        return dict(sorted(sorted_.items()))

    def work(self, student: str, pieces: Sequence[Piece]) -> Work | None:
        """The student's work; None, with a word in the record, when no notebook is among the files."""
        notebooks: list[tuple[Piece, bytes, int]] = []
        others: list[tuple[Piece, bytes]] = []
        room = Room(_STUDENT_LIMIT, "the student's files come")
        # Notebooks first, so that nothing else takes their room.
        opened = self._opened(student, pieces, room)
        for piece in sorted(opened, key=lambda one: not one.file.lower().endswith(".ipynb")):
            try:
                data = piece.found.read()
            except Unreadable as error:
                self._add(piece, student, Deed.REFUSED, str(error))
                continue
            if not looks_like_one(piece.file, data):
                others.append((piece, data))
                continue
            shared = self._recogniser.shared(data)
            mine = shared.get(self._assignment, 0)
            other = max(shared, key=lambda name: shared[name], default=self._assignment)
            if shared.get(other, 0) > mine:
                words = f"it answers {other} ({shared[other]} of its cells), not {self._assignment}"
                self._add(piece, student, Deed.REFUSED, words)
            else:
                notebooks.append((piece, data, mine))
        if not notebooks:
            for piece, _ in others:
                self._add(
                    piece, student, Deed.REFUSED, f"{student} handed in no notebook that could be taken"
                )
            return None
        return self._choose(student, notebooks, others)

    def _choose(
        self,
        student: str,
        notebooks: list[tuple[Piece, bytes, int]],
        others: list[tuple[Piece, bytes]],
    ) -> Work:
        known = [one for one in notebooks if one[2]] or notebooks
        piece, data, cells = sorted(known, key=lambda one: self._rank(one[0]))[-1]
        for one, other, _ in notebooks:
            if one is not piece:
                same = " (the same content)" if other == data else ""
                self._add(
                    one, student, Deed.OLDER, f"{self._why(one, piece, known)}: '{piece.file}' counts{same}"
                )
        words = self._said(piece, data, cells)
        work = Work(student, piece.found.path, data, words, piece.name.when)
        taken = Taken([f"{self._notebook}.ipynb", _TIMESTAMP])
        for one, other in sorted(others, key=lambda one: self._rank(one[0]), reverse=True):
            self._beside(work, one, other, piece, taken)
        if piece.name.late and work.when is None:
            late = "it is marked late, but no time is known: write one into timestamp.txt"
            work.words = "; ".join(filter(None, [work.words, late]))
        return work

    def _beside(self, work: Work, one: Piece, data: bytes, chosen: Piece, taken: Taken) -> None:
        if one.name.when != chosen.name.when and self._names.pattern == "blackboard":
            self._add(one, work.student, Deed.OLDER, "it belongs to another attempt")
        elif one.file.rsplit("/", 1)[-1].lower() == _TIMESTAMP:
            self._add(one, work.student, Deed.LEFT_OUT, "only the platform says when a file was handed in")
        elif not taken.take(one.file):
            self._add(one, work.student, Deed.LEFT_OUT, "another file of this name is kept already")
        else:
            work.beside[one.file] = data
            self._add(one, work.student, Deed.BESIDE)

    def _opened(self, student: str, pieces: Sequence[Piece], room: Room) -> list[Piece]:
        """The pieces, with those of a zip that was handed in instead of the zip; all read from one `room`."""
        opened: list[Piece] = []
        for piece in (replace(one, found=_metered(one.found, room)) for one in pieces):
            if piece.name.own:
                self._add(piece, student, Deed.LEFT_OUT, "a page that the platform wrote")
            elif piece.file.lower().endswith(".zip"):
                opened += self._unpacked(student, piece, room)
            else:
                opened.append(piece)
        return opened

    def _unpacked(self, student: str, piece: Piece, room: Room) -> list[Piece]:
        outer = piece.found.path
        try:
            inner = open_inner(piece.found, self._zone)
        except Unreadable as error:
            self._add(piece, student, Deed.REFUSED, str(error))
            return []
        for path, why in inner.refused:
            self._record.add(f"{outer}/{path}", student, Deed.REFUSED, why)
        for path, why in inner.ignored:
            self._record.add(f"{outer}/{path}", student, Deed.LEFT_OUT, why)
        self._add(
            piece, student, Deed.LEFT_OUT, f"a zip; its {len(inner.files)} files were looked at instead"
        )
        return [
            Piece(
                replace(_metered(found, room), path=f"{outer}/{found.path}"),
                replace(piece.name, file=found.path),
            )
            for found in inner.files
        ]

    def _rank(self, piece: Piece) -> tuple[float, int, bool]:
        """Later attempts rank higher: by time, then by the number that platforms put in a name."""
        when = piece.name.when.timestamp() if piece.name.when else float("-inf")
        return when, _attempt(piece.file), piece.file.rsplit("/", 1)[-1] == f"{self._notebook}.ipynb"

    def _why(self, one: Piece, chosen: Piece, known: list[tuple[Piece, bytes, int]]) -> str:
        if not any(one is piece for piece, _, _ in known):
            return "no cell of the assignment is in it"
        mine, best = self._rank(one), self._rank(chosen)
        if mine[0] != best[0]:
            return "an older attempt"
        return "an attempt with a lower number" if mine[1] != best[1] else "one notebook is graded"

    def _said(self, piece: Piece, data: bytes, cells: int) -> str:
        said = []
        if piece.file.rsplit("/", 1)[-1] != f"{self._notebook}.ipynb":
            said.append(f"renamed to {self._notebook}.ipynb")
        if not data.strip():
            said.append("the file is empty")
        elif not cells:
            said.append("no cell's grade_id was found in it")
        return "; ".join(said)

    def _add(self, piece: Piece, student: str, deed: Deed, words: str = "") -> None:
        self._record.add(piece.found.path, student, deed, words)


def _attempt(file: str) -> int:
    """The number at the end of `convolution-2.ipynb` or `convolution (1).ipynb`; 0 without one."""
    found = _ATTEMPT.search(file.rsplit("/", 1)[-1].rsplit(".", 1)[0])
    return int(found[1]) if found else 0


def _metered(found: Found, room: Room) -> Found:
    """A file whose bytes are counted when they are read."""

    def read() -> bytes:
        data = found.read()
        room.take(len(data))
        return data

    return replace(found, read=read)


def times_of_handing_in(files: Sequence[Found]) -> bool:
    """Whether files' times can be those of handing in: they lie further apart than a download takes."""
    times = [found.when for found in files if found.when]
    return bool(times) and max(times) - min(times) > DOWNLOAD_SPAN
