"""Write a file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from autograder.errors import DiskFullError, no_room


def write_text(path: Path, parts: str | Iterable[str]) -> None:
    """Replace a file by the joined parts. Raises OSError; the older file is then still there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fd, name = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            for part in [parts] if isinstance(parts, str) else parts:
                file.write(part)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


@contextmanager
def clear_when_full(folder: Path) -> Iterator[None]:
    """Turn what a full disk raises into `DiskFullError`, which says what to do."""
    try:
        yield
    except OSError as error:
        if no_room(error):
            raise DiskFullError(error.filename or folder) from error
        raise
