from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from nbgrader.apps import AutogradeApp, GenerateFeedbackApp

from autograder.nbgrader_bridge import grade
from autograder.nbgrader_bridge.gradebook import write_feedback
from autograder.nbgrader_bridge.release import release_assignment
from autograder.nbgrader_bridge.writing import write_grades

from . import toy_course
from .commands import Run, command
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


@pytest.fixture(params=["nbgrader", "deepdrills"])
def autograde(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> Run:
    def nbgrader(root: Path) -> str:
        code = command(AutogradeApp, root, "--force")
        said = capsys.readouterr().err
        assert (code == 0) == ("| ERROR]" not in said)
        return said

    def deepdrills(root: Path) -> str:
        students = sorted(path.parent.name for path in root.glob(f"submitted/*/{ASSIGNMENT}"))
        return "\n".join(f"{name}: {words}" for name, words in write_grades(root, ASSIGNMENT, students))

    return nbgrader if request.param == "nbgrader" else deepdrills


@pytest.fixture(params=["nbgrader", "deepdrills"])
def feedback(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> Run:
    def nbgrader(root: Path) -> str:
        command(GenerateFeedbackApp, root, "--force")
        return capsys.readouterr().err

    def deepdrills(root: Path) -> str:
        return "\n".join(f"{name}: {words}" for name, words in write_feedback(root, ASSIGNMENT))

    return nbgrader if request.param == "nbgrader" else deepdrills
