"""Put a student's work into submitted/, whole or not at all, and never over different work unasked."""

from __future__ import annotations

import os
import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from autograder.batch.folder import read_file, read_timestamp
from autograder.batch.tree import WrongName, write_tree
from autograder.collect.record import Deed, Record
from autograder.collect.sorting import Work
from autograder.errors import DeepdrillsError, no_room
from autograder.grading.secret import FOLDER

_TIMESTAMP = "timestamp.txt"


class Placer:
    """Writes works of one assignment below a course's folder; with `dry_run`, only says what it would do."""

    def __init__(
        self, root: Path, assignment: str, notebook: str, record: Record, update: bool, dry_run: bool
    ) -> None:
        self._root = root
        self._assignment = assignment
        self._notebook = f"{notebook}.ipynb"
        self._record = record
        self._update = update
        self._dry_run = dry_run

    def place(self, work: Work) -> None:
        """Write one work and record what became of it. Raises `DeepdrillsError` when there is no room."""
        folder = self._root / "submitted" / work.student / self._assignment
        try:
            deed, words = self._decide(work, folder)
            if deed in (Deed.COLLECTED, Deed.REPLACED) and not self._dry_run:
                kept = self._write(work, folder)
                words = f"{words}; the old one is in {kept.relative_to(self._root)}" if kept else words
        except (OSError, WrongName) as error:
            if no_room(error):
                raise DeepdrillsError(
                    f"{folder}: the disk is full. Make room, then run this again: what was collected is kept."
                ) from error
            why = error.strerror if isinstance(error, OSError) else str(error)
            where = folder.relative_to(self._root)
            deed, words = (
                Deed.REFUSED,
                f"{where} could not be written ({why}); mend that, then run this again",
            )
        if deed in (Deed.COLLECTED, Deed.REPLACED) and work.when:
            words = "; ".join(filter(None, [words, f"handed in {_utc(work.when)}"]))
        self._record.add(work.path, work.student, deed, "; ".join(filter(None, [words, work.words])))

    def _decide(self, work: Work, folder: Path) -> tuple[Deed, str]:
        for path in (self._root / "submitted", folder.parent, folder):
            if path.is_symlink() or (path.exists() and not path.is_dir()):
                return Deed.REFUSED, f"{path.relative_to(self._root)} is no folder; move it away"
        if not folder.exists() or not any(folder.iterdir()):
            return Deed.COLLECTED, ""
        there = _regular(folder)
        earlier = there.pop(_TIMESTAMP, None)
        same = there == {self._notebook: work.notebook, **work.beside}
        if same:
            if work.when is None or (earlier or b"").decode("utf-8", "replace").strip() == _utc(work.when):
                return Deed.SAME, ""
            if earlier is None:
                return Deed.REPLACED, "only its time was added"
        if not self._update:
            what = "the same work with another time" if same else "different work"
            return Deed.NOT_REPLACED, f"{what} is there; --update replaces it"
        when = _time(folder)
        if when and work.when and work.when < when:
            return Deed.NOT_REPLACED, f"what is there was handed in later ({_utc(when)})"
        return Deed.REPLACED, ""

    def _write(self, work: Work, folder: Path) -> Path | None:
        """The new folder is made aside and moved into its place; returns where the old one went."""
        aside = self._root / FOLDER / "collecting"
        aside.mkdir(mode=0o700, parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=aside))
        try:
            made.chmod(0o755)
            files = {**work.beside, self._notebook: work.notebook}
            if work.when:
                files[_TIMESTAMP] = (_utc(work.when) + "\n").encode()
            write_tree(made, files)
            folder.parent.mkdir(parents=True, exist_ok=True)
            kept = self._move_away(folder) if folder.exists() else None
            os.rename(made, folder)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise
        return kept

    def _move_away(self, folder: Path) -> Path | None:
        if not any(folder.iterdir()):
            folder.rmdir()
            return None
        old = self._root / FOLDER / "replaced" / self._assignment / folder.parent.name
        old.mkdir(parents=True, exist_ok=True)
        number = 1 + max((int(path.name) for path in old.iterdir() if path.name.isdecimal()), default=0)
        os.rename(folder, old / str(number))
        return old / str(number)


def _regular(folder: Path) -> dict[str, bytes | None]:
    """Every file below a folder; None for what is no regular file, which equals nothing."""
    return {
        str(path.relative_to(folder)): read_file(path).notebook
        for path in folder.rglob("*")
        if path.is_symlink() or not path.is_dir()
    }


def _time(folder: Path) -> datetime | None:
    from nbgrader.utils import parse_utc

    text = read_timestamp(folder)
    return parse_utc(text).replace(tzinfo=UTC) if text else None


def _utc(when: datetime) -> str:
    """As nbgrader reads it."""
    return when.strftime("%Y-%m-%d %H:%M:%S UTC")
