"""Files below one folder: which names may lie in it together, and writing them without leaving it."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OUT = "its name points out of the download"
#: Bytes that a path may have in all, and each of its parts: disks hold 255.
_PATH_BYTES, _PART_BYTES = 900, 250


class WrongName(ValueError):
    """A path that may not be joined to a folder."""


def plain_path(path: str) -> str:
    """The path without empty parts and `.`: what follows two slashes would replace the folder before it."""
    return "/".join(part for part in path.split("/") if part not in ("", "."))


def wrong_name(path: str) -> str:
    """Why a path of an archive or a folder may not be used; empty for a plain one."""
    if not path.isprintable():
        return "its name holds characters that do not show"
    if path.startswith("/") or path[1:2] == ":" or ".." in path.split("/"):
        return _OUT
    if not plain_path(path):
        return "it has no name"
    if len(path.encode()) > _PATH_BYTES or any(len(part.encode()) > _PART_BYTES for part in path.split("/")):
        return "its name is too long"
    return ""


class Taken:
    """The files that are to lie in one folder."""

    def __init__(self, names: Iterable[str]) -> None:
        self._files: set[str] = set()
        self._folders: set[str] = set()
        for name in names:
            self.take(name)

    def take(self, name: str) -> bool:
        """Add a file; False when another is in its way: the same on some disk, or a folder of its name."""
        name = unicodedata.normalize("NFC", name).casefold()
        parts = name.split("/")
        above = {"/".join(parts[:end]) for end in range(1, len(parts))}
        if name in self._files or name in self._folders or above & self._files:
            return False
        self._files.add(name)
        self._folders |= above
        return True


def apart(files: Mapping[str, bytes], own: Iterable[str]) -> tuple[dict[str, bytes], list[str]]:
    """A student's files without those in the way of the course's own, and the names that were left out.

    A file of the very same name is kept: the course's own replaces it.
    """
    names = list(own)
    left = [
        file
        for file in files
        if any(file.startswith(name + "/") or name.startswith(file + "/") for name in names)
    ]
    return {file: data for file, data in files.items() if file not in left}, left


def write_tree(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write new files below a folder that exists. Raises `WrongName`, and OSError for what is there already.

    No link is followed: every folder on the way is opened below the one before it.
    """
    root = folder.resolve(strict=True)
    for name, data in files.items():
        parts = name.split("/")
        odd = "\0" in name or any(part in ("", ".", "..") for part in parts)
        if odd or not (root / name).resolve().is_relative_to(root):
            raise WrongName(f"'{name}' does not lie in the folder that it should be written to")
        at = os.open(root, _FOLDER)
        try:
            for part in parts[:-1]:
                try:
                    os.mkdir(part, dir_fd=at)
                except FileExistsError:
                    pass
                below = os.open(part, _FOLDER, dir_fd=at)
                os.close(at)
                at = below
            with os.fdopen(os.open(parts[-1], _NEW_FILE, 0o666, dir_fd=at), "wb") as file:
                file.write(data)
        finally:
            os.close(at)
