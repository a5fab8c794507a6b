"""Read a download of submissions: a zip file or a folder that may hold anything. Nothing is unpacked to disk.

A file is read when it is asked for, and never beyond a limit, so that a zip bomb costs nothing.
"""

from __future__ import annotations

import io
import os
import stat
import struct
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from autograder.batch.folder import read_file
from autograder.batch.tree import plain_path, wrong_name
from autograder.errors import UsageError

MIB = 1 << 20
#: One file, and how many a download may hold.
FILE_LIMIT = 128 * MIB
_FILES = 50_000
#: All that is read of one zip that a student handed in.
_INNER_LIMIT, _INNER_FILES = 256 * MIB, 500
#: How an entry of a zip's directory begins, and how many a handed-in zip may have: each costs memory.
_ENTRY, _INNER_ENTRIES = b"PK\x01\x02", 50_000
_DEPTH = 12
_SYSTEM = ("__MACOSX", ".ipynb_checkpoints", "__pycache__", ".git", ".DS_Store", "Thumbs.db", "desktop.ini")


class Unreadable(Exception):
    """A file cannot be had; the text says why."""


@dataclass(frozen=True)
class Found:
    """A regular file: its path in the download, when it was written (as far as is known), and its bytes."""

    path: str
    when: datetime | None
    #: Raises `Unreadable`.
    read: Callable[[], bytes]


@dataclass
class Download:
    """What a zip or a folder holds; `refused` and `ignored`: paths with the reason."""

    files: list[Found] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    ignored: list[tuple[str, str]] = field(default_factory=list)

    def add(self, path: str, when: datetime | None, read: Callable[[], bytes], most: int) -> None:
        """Take one file, unless its name or the number of files forbids it."""
        wrong = wrong_name(path)
        path = path if wrong else plain_path(path)
        if wrong:
            self.refused.append((path or "(no name)", wrong))
        elif any(part in _SYSTEM or part.startswith("._") for part in path.split("/")):
            self.ignored.append((path, "a file of the computer's own, no work"))
        elif len(self.files) >= most:
            self.refused.append((path, f"there are more than {most} files; it was left out"))
        else:
            self.files.append(Found(path, when, read))


@contextmanager
def open_download(path: Path, zone: tzinfo) -> Iterator[Download]:
    """What `path` holds. `zone`: of the clock that wrote a zip. Raises `UsageError` when it is unreadable."""
    if path.is_dir():
        yield _folder(path)
    elif zipfile.is_zipfile(path):
        try:
            archive = zipfile.ZipFile(path)
        except Exception as error:  # zipfile raises more than it says
            raise UsageError(
                f"{path}: the zip cannot be read ({_said(error)}). Download it again."
            ) from error
        with archive:
            yield _archive(archive, zone, _FILES, Room(None))
    elif path.exists():
        raise UsageError(
            f"{path}: it is no folder and no whole zip file (a download that was cut off looks so too). "
            "Give the zip as the platform made it, or a folder."
        )
    else:
        raise UsageError(f"{path}: there is no such file or folder.")


def open_inner(found: Found, zone: tzinfo) -> Download:
    """The files of a zip inside a download, by their path in it. Raises `Unreadable`."""
    data = found.read()
    if data.count(_ENTRY) > _INNER_ENTRIES:
        raise Unreadable(f"the zip lists more than {_INNER_ENTRIES} files")
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        inner = _archive(archive, zone, _INNER_FILES, Room(_INNER_LIMIT))
    except Exception as error:  # a student made it, and zipfile raises more than it says
        raise Unreadable(f"the zip cannot be read ({_said(error)}); ask for it again") from error
    for known in list(inner.files):
        if known.path.lower().endswith(".zip"):
            inner.files.remove(known)
            inner.refused.append(
                (known.path, "a zip inside a zip that was handed in; hand in one zip at most")
            )
    return inner


class Room:
    """How many bytes may still be unpacked; without a limit for None."""

    def __init__(self, left: int | None, what: str = "the zip unpacks") -> None:
        self._left = self._limit = left
        self._what = what

    def take(self, size: int) -> None:
        """Raises `Unreadable` when there is no room for so many bytes."""
        if self._left is not None and self._limit is not None:
            self._left -= size
            if self._left < 0:
                raise Unreadable(f"{self._what} to more than {self._limit // MIB} MiB")


def _archive(archive: zipfile.ZipFile, zone: tzinfo, most: int, room: Room) -> Download:
    download = Download()
    for entry in archive.infolist():
        path = entry.orig_filename.replace("\\", "/")  # as written: zipfile cuts a name at a NUL
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if path.endswith("/"):
            continue
        if kind not in (0, stat.S_IFREG):
            what = "a link" if kind == stat.S_IFLNK else "a special file"
            download.refused.append((path or "(no name)", f"it is {what}; it was not followed"))
        elif entry.flag_bits & 1:
            download.refused.append((path or "(no name)", "it is encrypted; ask for it without a password"))
        else:
            download.add(path, _written(entry, zone), _reader(archive, entry, room), most)
    return download


def _reader(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, room: Room) -> Callable[[], bytes]:
    def read() -> bytes:
        if entry.file_size > FILE_LIMIT:
            raise Unreadable(f"it is larger than {FILE_LIMIT // MIB} MiB")
        try:
            with archive.open(entry) as file:
                data = file.read(FILE_LIMIT + 1)
        except (NotImplementedError, RuntimeError) as error:  # of a way of packing, or a password
            raise Unreadable(f"it cannot be unpacked ({_said(error)})") from error
        except Exception as error:  # each way of packing has errors of its own
            raise Unreadable(f"it is damaged in the zip ({_said(error)})") from error
        if len(data) > FILE_LIMIT:
            raise Unreadable(f"it is larger than {FILE_LIMIT // MIB} MiB")
        room.take(len(data))
        return data

    return read


def _said(error: Exception) -> str:
    """What a library says of a student's bytes, in a line."""
    text = "".join(char if char.isprintable() else "?" for char in str(error))[:200]
    return text or type(error).__name__


def _written(entry: zipfile.ZipInfo, zone: tzinfo) -> datetime | None:
    """The time of an entry: UTC where the zip has that, else the local time of who wrote it."""
    extra = entry.extra
    while len(extra) >= 4:
        kind, size = struct.unpack_from("<HH", extra)
        if kind == 0x5455 and size >= 5 and len(extra) >= 9 and extra[4] & 1:
            return datetime.fromtimestamp(struct.unpack_from("<i", extra, 5)[0], UTC)
        extra = extra[4 + size :]
    try:
        when = datetime(*entry.date_time, tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return when if when.year > 1980 else None


def _folder(folder: Path) -> Download:
    download = Download()
    waiting = [("", str(folder))]
    while waiting:
        prefix, place = waiting.pop()
        try:
            entries = sorted(os.scandir(place), key=lambda entry: entry.name)
        except OSError as error:
            download.refused.append((prefix or "./", f"it cannot be opened ({error.strerror})"))
            continue
        for entry in entries:
            path = prefix + entry.name
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError as error:
                download.refused.append((path, f"it cannot be read ({error.strerror})"))
                continue
            if stat.S_ISDIR(status.st_mode):
                if path.count("/") < _DEPTH:
                    waiting.append((path + "/", entry.path))
                else:
                    download.refused.append((path, "it lies too deep in folders"))
            elif stat.S_ISREG(status.st_mode):
                download.add(path, _changed(status.st_mtime), _file_reader(Path(entry.path)), _FILES)
            else:
                what = "a link" if stat.S_ISLNK(status.st_mode) else "a special file"
                download.refused.append((path, f"it is {what}; it was not followed"))
    download.files.sort(key=lambda found: found.path)
    return download


def _changed(seconds: float) -> datetime | None:
    """A file's own time; None for one that no calendar has."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _file_reader(path: Path) -> Callable[[], bytes]:
    def read() -> bytes:
        data = read_file(path).notebook
        if data is None:
            raise Unreadable(f"it cannot be read, or is larger than {FILE_LIMIT // MIB} MiB")
        return data

    return read
