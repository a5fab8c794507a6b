"""nbgrader's commands as typed in a course's folder, and where their files lie."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from nbgrader.apps import NbGrader

from .toy_course import ASSIGNMENT, NOTEBOOK

#: Runs a command on the toy course; what is said meanwhile.
Run = Callable[[Path], str]


def command(app: type[NbGrader], root: Path, *options: str) -> int:
    """An `nbgrader` command as typed in the course's folder; its exit code."""
    before = os.getcwd()
    os.chdir(root)
    app.clear_instance()
    try:
        made = app.instance()
        made.initialize([ASSIGNMENT, *options])
        made.start()
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        app.clear_instance()
        os.chdir(before)
    return 0


def notebook_of(root: Path, step: str, student: str, end: str = "ipynb") -> Path:
    return root / step / student / ASSIGNMENT / f"{NOTEBOOK}.{end}"
