"""Read what a student handed in, from a folder that may hold anything.

Only regular files are opened, without following links and without waiting on pipes.
"""

from __future__ import annotations

import os
import stat
import warnings
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

_FILES, _BYTES, _NOTEBOOK_BYTES = 200, 64 << 20, 128 << 20
#: Notebooks that are read, together, where none has the expected name; one of them is graded.
_NOTEBOOKS_BYTES = _NOTEBOOK_BYTES
#: Entries of the folders that are entered; whoever hands in a folder of more has the notebook above it.
_ENTRIES = 10_000
_CHECKPOINTS = ".ipynb_checkpoints"
_IGNORED = {_CHECKPOINTS, "__pycache__", "__MACOSX", ".git", ".DS_Store", "timestamp.txt", "feedback"}
_ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar")


@dataclass(frozen=True)
class Handed:
    """The notebook's bytes (None if there is none), the files beside it, and what was noticed."""

    notebook: bytes | None
    files: dict[str, bytes] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class Shut(PermissionError):
    """A submission may not be read by who grades: nothing of it was seen, so it earns no zero."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{_said(str(path), 300)} may not be read by the user who grades. Give that user the right to, "
            "then grade again."
        )


def said_of(error: Exception) -> str:
    """What stopped one submission, in words for whoever grades."""
    return str(error) if isinstance(error, Shut) else f"{type(error).__name__}: {error}"


def read_folder(folder: Path, notebook: str) -> Handed:
    """The submission in `folder`, whose notebook should be `<notebook>.ipynb`.

    Another single notebook is taken for a renamed one. Never raises on content; a folder that is not there,
    or a link in its place, gives no notebook and a note. Raises `Shut` when the folder or its notebook may
    not be read.
    """
    notes: list[str] = []
    if os.path.islink(folder):
        return Handed(None, notes=(f"The folder '{_said(folder.name)}' is a link; it was not followed.",))
    try:
        os.listdir(folder)
    except PermissionError as error:
        raise Shut(folder) from error
    except OSError:
        pass  # said below
    found: dict[str, bytes] = {}
    room = _BYTES
    wanted = f"{notebook}.ipynb"
    # What counts comes first, so that no limit leaves it out.
    files = sorted(
        _regular_files(folder, notes), key=lambda one: (one[0] != wanted, not one[0].endswith(".ipynb"))
    )
    expected = _read(dict(files)[wanted], _NOTEBOOK_BYTES) if wanted in dict(files) else None
    spare = _NOTEBOOKS_BYTES
    for name, path in files:
        if len(found) >= _FILES:
            notes.append(f"More than {_FILES} files were handed in; the rest was left out.")
            break
        if not name.endswith(".ipynb"):
            data = _read(path, room)
        elif name == wanted:
            data = expected
        elif expected is not None:
            data = b""  # it is named, and not read
        else:
            data = _read(path, min(_NOTEBOOK_BYTES, spare))
            spare -= len(data or b"")
        if data is None:
            notes.append(f"The file '{_said(name)}' could not be read or is too large; it was left out.")
            continue
        room -= 0 if name.endswith(".ipynb") else len(data)
        found[name] = data
    handed = _sort_out(found, notebook, notes)
    if handed.notebook is None and _is_shut(folder / wanted):
        raise Shut(folder / wanted)
    return handed if handed.notebook is not None else _without(handed, folder, notebook)


def _without(handed: Handed, folder: Path, notebook: str) -> Handed:
    """A submission without a notebook: Jupyter's automatic copy if there is one, and what was found."""
    saved = folder / _CHECKPOINTS
    notes: list[str] = []
    if os.path.isdir(saved) and not saved.is_symlink():
        copies = [path for name, path in _regular_files(saved, notes) if name.endswith(".ipynb")]
        data = _read(copies[0], _NOTEBOOK_BYTES) if len(copies) == 1 else None
        if data is not None:
            words = f"There was no notebook but Jupyter's automatic copy in {_CHECKPOINTS}; it was graded."
            return Handed(data, handed.files, (*handed.notes, words))
    for name in handed.files:
        if name.lower().endswith(_ARCHIVES):
            notes.append(
                f"The archive '{_said(name)}' was not opened; unpack it in the student's folder, "
                "then grade again."
            )
    others = [name for name in handed.files if not name.lower().endswith(_ARCHIVES)]
    if others:
        notes.append(f"No notebook was found, but only {_listed(others)}.")
    return Handed(None, handed.files, (*handed.notes, *notes))


def read_file(path: Path) -> Handed:
    """A single notebook file, wherever it is."""
    data = _read(path, _NOTEBOOK_BYTES)
    return Handed(data, notes=() if data is not None else ("The file could not be read.",))


def _sort_out(found: dict[str, bytes], notebook: str, notes: list[str]) -> Handed:
    wanted = f"{notebook}.ipynb"
    notebooks = sorted(name for name in found if name.lower().endswith(".ipynb"))
    chosen = wanted if wanted in found else None
    if chosen is None:
        same = [name for name in notebooks if os.path.basename(name).casefold() == wanted.casefold()]
        only = same if len(same) == 1 else notebooks
        chosen = only[0] if len(only) == 1 else None
        if chosen is None and notebooks:
            chosen = min(notebooks, key=lambda name: (notebook not in name, name.count("/"), len(name), name))
            notes.append(f"Several notebooks were handed in; '{_said(chosen)}' was graded.")
        elif chosen is not None:
            notes.append(f"The notebook was called '{_said(chosen)}'; it was taken for '{wanted}'.")
        else:
            stray = [name for name in found if _looks_like_a_notebook(found[name])]
            if len(stray) == 1:
                chosen = stray[0]
                notes.append(f"The file '{_said(chosen)}' holds a notebook; it was taken for '{wanted}'.")
    elif len(notebooks) > 1:
        others = ", ".join(f"'{_said(name)}'" for name in notebooks if name != chosen)
        notes.append(f"Other notebooks were handed in too and not graded: {others}.")
    files = {name: data for name, data in found.items() if name != chosen and name not in notebooks}
    below = [name for name in files if name.startswith(wanted + "/")]
    for name in below:  # the notebook itself is to lie there
        del files[name]
    if below:
        notes.append(f"'{wanted}' is a folder; what lies in it was left out: {_listed(below)}.")
    return Handed(found.get(chosen) if chosen else None, files, tuple(notes))


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(f"'{_said(name)}'" for name in names[:5]) + more


def _regular_files(folder: Path, notes: list[str]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    waiting = [("", str(folder))]
    looked_at = 0
    while waiting and len(found) < 10 * _FILES and looked_at < _ENTRIES:
        prefix, place = waiting.pop()
        try:
            entries = sorted(os.scandir(place), key=lambda entry: entry.name)
            looked_at += len(entries) + 1
        except OSError as error:
            notes.append(
                f"The folder '{_said(prefix or folder.name)}' could not be opened ({error.strerror})."
            )
            continue
        for entry in entries:
            if entry.name in _IGNORED or entry.name.startswith("._"):  # ._name: a Mac's own notes on a file
                continue
            name = prefix + entry.name
            try:
                mode = entry.stat(follow_symlinks=False).st_mode
            except OSError:
                notes.append(f"The file '{_said(name)}' could not be read; it was left out.")
                continue
            if stat.S_ISDIR(mode):
                if name.count("/") < 6:
                    waiting.append((name + "/", entry.path))
            elif stat.S_ISREG(mode):
                if _plain_name(name):
                    found.append((name, entry.path))
                else:
                    notes.append(f"The file '{_said(name)}' has a name that is not allowed; it was left out.")
            else:
                kind = "link" if stat.S_ISLNK(mode) else "special file"
                notes.append(f"'{_said(name)}' is a {kind}; it was not followed and was left out.")
    return sorted(found)


def passed_over(submitted: Path, assignment: str) -> list[str]:
    """What lies in submitted/ where a student's folder should be, and is graded for nobody, as sentences."""
    said: list[str] = []
    for entry in sorted(os.scandir(submitted), key=lambda one: one.name) if submitted.is_dir() else ():
        if entry.name.startswith("."):
            continue
        name = f"{submitted.name}/{_said(entry.name)}"
        inside = os.path.join(entry.path, assignment)
        if entry.is_symlink():
            said.append(f"{name} is a link; it was not followed. Put the student's own folder there.")
        elif not entry.is_dir():
            said.append(f"{name} is no folder. Put work in {submitted.name}/<student>/{assignment}/.")
        elif os.path.islink(inside) and not os.path.isdir(inside):
            said.append(f"{name}/{assignment} is a link to nothing. Put the student's own folder there.")
        elif os.path.lexists(inside) and not os.path.isdir(inside):
            said.append(f"{name}/{assignment} is no folder. Put the student's notebook into a folder there.")
    return said


def _read(path: Path | str, limit: int) -> bytes | None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        return None
    with os.fdopen(fd, "rb") as file:
        try:
            data = file.read(limit + 1)
        except OSError:
            return None
    return data if len(data) <= limit else None


def _plain_name(name: str) -> bool:
    return name.isprintable() and len(name.encode("utf-8", "replace")) < 200 and ".." not in name.split("/")


def _is_shut(path: Path) -> bool:
    """Whether a regular file is there and may not be read."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode) and not os.access(path, os.R_OK)
    except OSError:
        return False


def _said(name: str, most: int = 120) -> str:
    return "".join(char if char.isprintable() else "?" for char in name)[:most]


def _looks_like_a_notebook(data: bytes) -> bool:
    head = data[:2_000_000].lstrip(b"\xef\xbb\xbf \r\n\t")
    return head.startswith(b"{") and b'"cells"' in data and b'"nbformat"' in data


def timestamp_text(folder: Path) -> str | None:
    """What timestamp.txt holds, whatever it is; None without one."""
    data = _read(folder / "timestamp.txt", 200)
    return None if data is None else data.decode("utf-8", "replace").strip()


def read_timestamp(folder: Path) -> str | None:
    """The text of timestamp.txt if it says a time that nbgrader can read; None otherwise."""
    return _timestamp(folder)[0]


def timestamp_remark(folder: Path, now: datetime) -> str | None:
    """What a person should know of an odd timestamp.txt, as a sentence. `now`: in UTC, without a zone."""
    text, time, found = _timestamp(folder)
    if not found:
        return None
    if time is None:
        return "timestamp.txt holds no time that can be read; the submission counts as handed in on time."
    if time > now + timedelta(days=1):
        return f"timestamp.txt says {text}, which is still to come; lateness was counted from it."
    return None


def _timestamp(folder: Path) -> tuple[str | None, datetime | None, bool]:
    """The text and the time of timestamp.txt, None where it says none, and whether there is such a file."""
    text = timestamp_text(folder)
    if text is None:
        return None, None, os.path.lexists(folder / "timestamp.txt")
    from nbgrader.utils import parse_utc

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an unknown time zone is only a warning
            time: datetime = parse_utc(text)
    except Exception:  # a student may have written it: dateutil raises more than it says
        return None, None, True
    return text, time, True
