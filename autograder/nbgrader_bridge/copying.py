"""Which of a submission's files nbgrader must not copy into autograded/.

Before any preprocessor runs, nbgrader copies every file of a submission, and what a link points
to is copied with it: the gradebook, or /dev/zero without end.
"""

from __future__ import annotations

import glob
import os
import stat
from pathlib import Path


def refused_names(folder: Path) -> list[str]:
    """Names, as globs, of what is no plain file: links, pipes, sockets, devices.

    A folder whose name a glob could misread is refused whole, because nbgrader matches these
    names with a glob below the folder's own name.
    """
    refused: set[str] = set()
    for path, folders, files in os.walk(folder):
        for name in folders:
            if glob.has_magic(name):
                refused.add(glob.escape(name))
        for name in files:
            if not stat.S_ISREG(os.lstat(os.path.join(path, name)).st_mode):
                refused.add(glob.escape(name))
    return sorted(refused)
