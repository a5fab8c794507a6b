"""Zips as platforms make them, and notebooks of the toy course, some of them renamed or stripped."""

from __future__ import annotations

import json
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path

from tests.nbgrader_bridge.toy_course import source_notebook

NIGHT = (2026, 10, 5, 23, 30, 0)


def notebook(answer: str = "return a + b", stripped: bool = False, prefix: str = "") -> bytes:
    """A submission of the toy course; `stripped` of its metadata; `prefix`: of another assignment's cells."""
    data = json.loads(json.dumps(source_notebook()))
    for cell in data["cells"]:
        about = cell["metadata"].get("nbgrader")
        if about is not None and about["grade_id"] == "add":
            cell["source"] = f"def add(a, b):\n    {answer}"
        if about is not None:
            about["grade_id"] = prefix + about["grade_id"]
        if stripped:
            cell["metadata"] = {}
    return json.dumps(data).encode()


def make_zip(
    path: Path,
    files: Mapping[str, bytes],
    times: Mapping[str, tuple[int, int, int, int, int, int]] | None = None,
) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (times or {}).get(name, (2026, 10, 7, 9, 0, 0)))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return path


def add_link(path: Path, name: str, target: str) -> None:
    with zipfile.ZipFile(path, "a") as archive:
        entry = zipfile.ZipInfo(name)
        entry.create_system = 3
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(entry, target)


def encrypt_flag(path: Path, name: str) -> None:
    """Mark an entry as encrypted, in the zip's directory, as a password does."""
    data = bytearray(path.read_bytes())
    place = data.rfind(b"PK\x01\x02", 0, data.rfind(name.encode()))
    data[place + 8] |= 1
    path.write_bytes(bytes(data))
