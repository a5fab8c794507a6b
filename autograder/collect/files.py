"""Read a download of submissions: a zip file or a folder that may hold anything. Nothing is unpacked to disk.

A file is read when it is asked for, and never beyond a limit, so that a zip bomb costs nothing.
"""

from __future__ import annotations

import io
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from autograder.batch.folder import read_file
from autograder.errors import UsageError

MIB = 1 << 20
#: One file, and how many a download may hold.
FILE_LIMIT = 128 * MIB
_FILES = 50_000
#: All that is read of one zip that a student handed in.
_INNER_LIMIT, _INNER_FILES = 256 * MIB, 500
_DEPTH = 12
_SYSTEM = ("__MACOSX", ".ipynb_checkpoints", "__pycache__", ".git", ".DS_Store", "Thumbs.db", "desktop.ini")


class Unreadable(Exception):
    """A file can not be had; the text says why."""


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
        if wrong:
            self.refused.append((path, wrong))
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
        except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError) as error:
            raise UsageError(f"{path}: the zip can not be read ({error}). Download it again.") from error
        with archive:
            yield _archive(archive, zone, _FILES, _Room(None))
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
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        inner = _archive(archive, zone, _INNER_FILES, _Room(_INNER_LIMIT))
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError) as error:
        raise Unreadable(f"the zip can not be read ({error})") from error
    for known in list(inner.files):
        if known.path.lower().endswith(".zip"):
            inner.files.remove(known)
            inner.refused.append(
                (known.path, "a zip inside a zip that was handed in; hand in one zip at most")
            )
    return inner


class _Room:
    """How many bytes may still be unpacked; without a limit for None."""

    def __init__(self, left: int | None) -> None:
        self._left = left

    def take(self, size: int) -> None:
        if self._left is not None:
            self._left -= size
            if self._left < 0:
                raise Unreadable(f"the zip unpacks to more than {_INNER_LIMIT // MIB} MiB")


def _archive(archive: zipfile.ZipFile, zone: tzinfo, most: int, room: _Room) -> Download:
    download = Download()
    for entry in archive.infolist():
        path = entry.orig_filename.replace("\\", "/")  # as written: zipfile cuts a name at a NUL
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if entry.is_dir():
            continue
        if kind not in (0, stat.S_IFREG):
            what = "a link" if kind == stat.S_IFLNK else "a special file"
            download.refused.append((path, f"it is {what}; it was not followed"))
        elif entry.flag_bits & 1:
            download.refused.append((path, "it is encrypted; ask for it without a password"))
        else:
            download.add(path, _written(entry, zone), _reader(archive, entry, room), most)
    return download


def _reader(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, room: _Room) -> Callable[[], bytes]:
    def read() -> bytes:
        if entry.file_size > FILE_LIMIT:
            raise Unreadable(f"it is larger than {FILE_LIMIT // MIB} MiB")
        try:
            with archive.open(entry) as file:
                data = file.read(FILE_LIMIT + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError) as error:
            raise Unreadable(f"it is damaged in the zip ({error})") from error
        except RuntimeError as error:
            raise Unreadable(f"it can not be unpacked ({error})") from error
        if len(data) > FILE_LIMIT:
            raise Unreadable(f"it is larger than {FILE_LIMIT // MIB} MiB")
        room.take(len(data))
        return data

    return read


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
            download.refused.append((prefix or "./", f"it can not be opened ({error.strerror})"))
            continue
        for entry in entries:
            path = prefix + entry.name
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                if path.count("/") < _DEPTH:
                    waiting.append((path + "/", entry.path))
                else:
                    download.refused.append((path, "it lies too deep in folders"))
            elif stat.S_ISREG(status.st_mode):
                when = datetime.fromtimestamp(status.st_mtime, UTC)
                download.add(path, when, _file_reader(Path(entry.path)), _FILES)
            else:
                what = "a link" if stat.S_ISLNK(status.st_mode) else "a special file"
                download.refused.append((path, f"it is {what}; it was not followed"))
    download.files.sort(key=lambda found: found.path)
    return download


def _file_reader(path: Path) -> Callable[[], bytes]:
    def read() -> bytes:
        data = read_file(path).notebook
        if data is None:
            raise Unreadable(f"it can not be read, or is larger than {FILE_LIMIT // MIB} MiB")
        return data

    return read


def wrong_name(path: str) -> str:
    """Why a path may not be used; empty for a plain one."""
    if not path.isprintable():
        return "its name holds characters that do not show"
    if path.startswith("/") or path[1:2] == ":" or ".." in path.split("/"):
        return "its name points out of the download"
    if len(path.encode("utf-8", "replace")) > 900 or any(
        len(part.encode("utf-8", "replace")) > 250 for part in path.split("/")
    ):
        return "its name is too long"
    return ""
