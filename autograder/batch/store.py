"""Results by content: one JSON file a submission, written whole or not at all."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder.batch.atomic import write_text
from autograder.grading.graded import Graded
from autograder.results import GradeReport


class Store:
    """Graded submissions under `folder`, by key. A missing or spoiled file is a result not yet made.

    A file holds two lines of JSON: the report with what belongs to it, then the notebook, so that a
    report can be read without the pictures. A key is `<content>-<suites>`: results of the same content
    under other suites lie beside each other.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str) -> Graded | None:
        """The whole result."""
        return self._read(self._path(key), whole=True)

    def head(self, key: str) -> Graded | None:
        """The result with an empty notebook."""
        return self._read(self._path(key), whole=False)

    def relatives(self, key: str) -> list[Graded]:
        """Results of the same content under other suites, with empty notebooks; the newest first."""
        content, _, suites = key.partition("-")
        if not suites:
            return []
        found: list[tuple[int, Path]] = []
        for path in self._path(key).parent.glob(f"{content}-*.json"):
            try:
                found.append((path.stat().st_mtime_ns, path))
            except OSError:
                continue
        read = (self._read(path, whole=False) for _, path in sorted(found, reverse=True))
        return [one for one in read if one is not None]

    def put(self, key: str, graded: Graded) -> None:
        """Write one result. Raises OSError when the disk is full or the folder is not ours."""
        head = graded.to_json()
        notebook = head.pop("notebook")
        write_text(self._path(key), (json.dumps(head), "\n", json.dumps(notebook)))

    def _read(self, path: Path, whole: bool) -> Graded | None:
        try:
            with path.open(encoding="utf-8") as file:
                data: dict[str, Any] = json.loads(file.readline())
                data["notebook"] = json.loads(file.readline()) if whole else {}
            return Graded.from_json(data)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

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
    return replace(graded, report=GradeReport.from_json(report), notebook=notebook)
