"""Which files nbgrader must not copy out of a student's folder.

Before any preprocessor runs, nbgrader copies every file of a submission into autograded/, and what a
link points to is copied with it: the gradebook, or /dev/zero without end. From autograded/ it copies
them into feedback/, where they would lie among the pages that it writes.
"""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from autograder.batch.tree import apart

#: What nbgrader's exchange puts beside a submission and looks for beside its feedback.
_EXCHANGES = ("timestamp.txt", "submission_secret.txt")


def refused_names(folder: Path, own: Iterable[str] = ()) -> list[str]:
    """Names, as globs, of what is no plain file that can be read, or is in the way of the course's `own`.

    A folder whose name a glob could misread is refused whole, because nbgrader matches these
    names with a glob below the folder's own name.
    """
    refused: set[str] = set()
    found: dict[str, bytes] = {}
    for path, folders, files in os.walk(folder):
        for name in folders:
            if glob.has_magic(name):
                refused.add(glob.escape(name))
        for name in files:
            whole = os.path.join(path, name)
            found[os.path.relpath(whole, folder)] = b""
            if not _is_plain(whole):
                refused.add(glob.escape(name))
    _, clashing = apart(found, own)
    refused |= {glob.escape(name.split("/", 1)[0]) for name in clashing}
    return sorted(refused)


def names_without_feedback(folder: Path) -> list[str]:
    """Names, as globs, of all that lies in an autograded folder but what the exchange needs."""
    return sorted(
        glob.escape(name)
        for name in os.listdir(folder)
        if name not in _EXCHANGES or not _is_plain(os.path.join(folder, name))
    )


def _is_plain(path: str) -> bool:
    """Whether a path is a regular file that may be read; what has vanished is not."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode) and os.access(path, os.R_OK)
    except OSError:
        return False
