"""A clean tree for nbgrader, which opens and copies files before anything of ours runs.

`.deepdrills/staged/submitted/` holds regular files only, read once by `batch/folder.py`, under the
notebook's right name; the key of each result lies beside it, so that nothing is graded twice.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from autograder.batch.folder import read_folder, read_timestamp
from autograder.batch.tree import apart, write_tree
from autograder.grading.secret import FOLDER

_EMPTY = b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'


def staged_root(root: Path) -> Path:
    return root / FOLDER / "staged"


def stage(root: Path, student: str, assignment: str, notebook: str, folder: Path, key: str) -> None:
    """Copy one submission into the clean tree, with the key of its result. Raises OSError."""
    handed = read_folder(folder, notebook)
    target = staged_root(root) / "submitted" / student / assignment
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    # nbgrader copies the course's own files over these, and cannot where one is a folder in the other.
    files, _ = apart(handed.files, course_files(root, assignment))
    files[f"{notebook}.ipynb"] = handed.notebook or _EMPTY
    timestamp = read_timestamp(folder)
    if timestamp is not None:
        files["timestamp.txt"] = timestamp.encode()
    write_tree(target, files)
    path = _key_path(root, assignment, student)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(key, encoding="ascii")


def course_files(root: Path, assignment: str) -> list[str]:
    """The paths of the files that the course gives beside its notebook."""
    source = root / "source" / assignment
    return [str(path.relative_to(source)) for path in source.rglob("*") if path.is_file()]


def unstage(root: Path, student: str, assignment: str) -> None:
    """Remove a submission from the clean tree once it is in the gradebook."""
    shutil.rmtree(staged_root(root) / "submitted" / student, ignore_errors=True)
    _key_path(root, assignment, student).unlink(missing_ok=True)


def staged_key(root: Path, student: str, assignment: str, folder: Path) -> str | None:
    """The key of the result of a staged folder; None for a folder outside the clean tree."""
    if staged_root(root).resolve() not in Path(os.path.realpath(folder)).parents:
        return None
    try:
        return _key_path(root, assignment, student).read_text(encoding="ascii")
    except OSError:
        return None


def _key_path(root: Path, assignment: str, student: str) -> Path:
    return staged_root(root) / "keys" / assignment / student
