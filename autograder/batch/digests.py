"""What an exercise's result depends on besides the submission: its suite, and whatever that imports."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable
from pathlib import Path

from autograder.exercises.catalogue import load_exercises

PACKAGE = Path(__file__).parents[1]


def exercise_digests(suites: Path, assignment: str, exercises: Iterable[str]) -> dict[str, str]:
    """By exercise, a digest of its suite and data file and of every file of ours that they use.

    Imports are followed as they stand in the text, so a suite imports what it needs by name.
    """
    known = load_exercises(assignment)
    digests = {}
    for name in exercises:
        files = [suites / assignment / f"test_{name}.py", suites / assignment / "conftest.py"]
        for one in (name, *(known[name].builds_on if name in known else ())):
            files.append(PACKAGE / "exercises" / assignment / f"{one}.toml")
            if one in known and known[one].given:
                files.append(PACKAGE / "reference" / f"{known[one].given}.py")
        digests[name] = files_digest(_closure(files))
    return digests


def files_digest(files: Iterable[Path]) -> str:
    """A digest of the contents of those files that exist, and of their names."""
    total = hashlib.sha256()
    for path in sorted(files):
        if path.is_file():
            total.update(f"{path.parent.name}/{path.name}".encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()


def _closure(files: Iterable[Path]) -> set[Path]:
    found: set[Path] = set()
    waiting = list(files)
    while waiting:
        path = waiting.pop()
        if path in found or not path.is_file():
            continue
        found.add(path)
        if path.suffix == ".py":
            waiting.extend(_imported(path))
    return found


def _imported(path: Path) -> list[Path]:
    """The files of this package that a file imports."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return []  # pytest will say so
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    found = []
    for name in names:
        top, *rest = name.split(".")
        if top == PACKAGE.name:
            place = PACKAGE.joinpath(*rest)
            found += [place.with_suffix(".py"), place / "__init__.py"] if rest else []
    return found
