"""The course's secret, and the random numbers that hidden inputs are drawn from."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.errors import UsageError

if TYPE_CHECKING:
    import numpy as np

VARIABLE = "DEEPDRILLS_SECRET"
FOLDER = ".deepdrills"


def course_secret(root: Path, create: bool) -> str:
    """The secret of a course folder: the same for the whole cohort and for every regrade.

    From the environment variable, else from `.deepdrills/secret`, which is made (readable by its
    owner only) when `create` is true; otherwise a passing one, for a look at one file.
    Raises `UsageError` for a secret that can not be read or is empty: another one would change the grades.
    """
    if os.environ.get(VARIABLE):
        return os.environ[VARIABLE]
    path = root / FOLDER / "secret"
    try:
        kept = path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return _make(path) if create else secrets.token_hex(32)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path}: the course's secret cannot be read ({error}). Restore the file."
        ) from error
    if not kept:
        raise UsageError(
            f"{path}: the course's secret is empty. Restore the file, or delete it for a new secret."
        )
    return kept


def _make(path: Path) -> str:
    """Write a new secret whole or not at all; the one of a process that was faster wins."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd, name = tempfile.mkstemp(dir=path.parent, prefix=".secret-")  # mode 0600
    try:
        with os.fdopen(fd, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(32) + "\n")
        with contextlib.suppress(FileExistsError):
            os.link(name, path)
    finally:
        os.unlink(name)
    return path.read_text(encoding="ascii").strip()


def generator(secret: str, *names: str) -> np.random.Generator:
    """A generator that depends on the secret and on what it is drawn for, and on nothing else."""
    import numpy as np  # not for those who only need the secret

    digest = hashlib.sha256("\0".join([secret, *names]).encode()).digest()
    return np.random.default_rng(np.frombuffer(digest, np.uint32))
