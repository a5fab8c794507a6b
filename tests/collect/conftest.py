"""A course of two assignments, and the command as typed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder import cli
from tests.nbgrader_bridge import toy_course

from .downloads import notebook

ASSIGNMENT = toy_course.ASSIGNMENT
Collect = Callable[..., dict[str, Any]]


@pytest.fixture
def course(tmp_path: Path) -> Path:
    root = toy_course.make_course(tmp_path / "course")
    other = root / "source" / "ps9-other"
    other.mkdir()
    (other / "other.ipynb").write_bytes(notebook(prefix="other_"))
    return root


@pytest.fixture
def collect(course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Collect:
    """Run the command; its JSON, with the exit code as `code` and each file's deed as `deeds`."""

    def run(path: Path, *options: str) -> dict[str, Any]:
        out = tmp_path / "record.json"
        arguments = ["collect", str(path), ASSIGNMENT, "--course", str(course), "--json", str(out), *options]
        monkeypatch.setattr("sys.argv", ["deepdrills", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        if not out.exists():
            return {"code": ended.value.code}
        record: dict[str, Any] = json.loads(out.read_text())
        out.unlink()
        deeds = {line["file"]: line["deed"] for line in record["files"]}
        words = {line["file"]: line["words"] for line in record["files"]}
        return record | {"code": ended.value.code or 0, "deeds": deeds, "words": words}

    return run


def submitted(course: Path) -> dict[str, bytes]:
    folder = course / "submitted"
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
