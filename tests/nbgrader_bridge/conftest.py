from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from autograder.nbgrader_bridge import grade
from autograder.nbgrader_bridge.release import release_assignment

from . import toy_course
from .toy_course import ASSIGNMENT, ToyGrader


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A toy course whose source was never released."""
    return toy_course.make_course(tmp_path / "course")


@pytest.fixture(scope="session")
def _released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = toy_course.make_course(tmp_path_factory.mktemp("released") / "course")
    release_assignment(root, ASSIGNMENT)
    return root


@pytest.fixture
def released(_released: Path, tmp_path: Path) -> Path:
    """A toy course after `deepdrills release`: release/, solutions/, gradebook.db."""
    root = tmp_path / "course"
    shutil.copytree(_released, root)
    return root


@pytest.fixture
def grader(monkeypatch: pytest.MonkeyPatch) -> ToyGrader:
    """The stand-in for the grading engine, in its place."""
    toy = ToyGrader()
    monkeypatch.setattr(grade, "grade_one", toy)
    return toy
