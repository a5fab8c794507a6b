"""The course's secret, and the random numbers that hidden inputs are drawn from."""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path

import numpy as np

from autograder.errors import UsageError

VARIABLE = "DEEPDRILLS_SECRET"
FOLDER = ".deepdrills"


def course_secret(root: Path, create: bool) -> str:
    """The secret of a course folder: the same for the whole cohort and for every regrade.

    From the environment variable, else from `.deepdrills/secret`, which is made (readable by its
    owner only) when `create` is true; otherwise a passing one, for a look at one file.
    """
    if os.environ.get(VARIABLE):
        return os.environ[VARIABLE]
    path = root / FOLDER / "secret"
    try:
        kept = path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        kept = ""
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path}: the course's secret cannot be read ({error}). Restore the file."
        ) from error
    if kept:
        return kept
    fresh = secrets.token_hex(32)
    if create:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return course_secret(root, create=False)
        with os.fdopen(fd, "w") as file:
            file.write(fresh + "\n")
    return fresh


def generator(secret: str, *names: str) -> np.random.Generator:
    """A generator that depends on the secret and on what it is drawn for, and on nothing else."""
    digest = hashlib.sha256("\0".join([secret, *names]).encode()).digest()
    return np.random.default_rng(np.frombuffer(digest, np.uint32))
