"""Results by content: one JSON file a submission, written whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from autograder.grading.engine import Graded
from autograder.results import GradeReport


class Store:
    """Graded submissions under `folder`, by key. A missing or spoiled file is a result not yet made."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str) -> Graded | None:
        try:
            data: dict[str, Any] = json.loads(self._path(key).read_text(encoding="utf-8"))
            return Graded.from_json(data)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, graded: Graded) -> None:
        """Write one result. Raises OSError when the disk is full or the folder is not ours."""
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        fd, name = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
        try:
            with os.fdopen(fd, "w", encoding="utf-8") as file:
                json.dump(graded.to_json(), file)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"


def content_key(*parts: str) -> str:
    """The key of a result: everything that it depends on."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def tree_digest(*places: Path) -> str:
    """A digest of some files, and of the Python and data files of some folders.

    Results do not outlive the code that made them.
    """
    total = hashlib.sha256()
    for place in places:
        folder = place.parent if place.is_file() else place
        for path in [place] if place.is_file() else sorted(place.rglob("*")):
            if path.suffix in (".py", ".toml") and "__pycache__" not in path.parts:
                total.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()


def for_student(graded: Graded, student: str, late_seconds: float) -> Graded:
    """A stored result as one student's: equal content may have been handed in by several."""
    report = graded.report.to_json() | {"student": student, "late_seconds": late_seconds}
    notebook = {
        **graded.notebook,
        "metadata": {**graded.notebook["metadata"], "deepdrills": {"report": report}},
    }
    return Graded(GradeReport.from_json(report), notebook, graded.trouble)
