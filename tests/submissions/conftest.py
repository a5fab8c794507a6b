"""One arena for a test process: a warm sandbox, the suites, and a course with what an attack would like."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.grading.suite import Suite
from autograder.sandbox.process import Sandbox

from .arena import ASSIGNMENT, LIMITS, ROOT, SECRET, Arena


@pytest.fixture(scope="session")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course folder with what an attack would like to read."""
    root = tmp_path_factory.mktemp("course")
    for name in ("gradebook.db", ".deepdrills/secret", "submitted/ada/ps1-convolution/convolution.ipynb"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SECRET)
        path.chmod(0o666)
    return root


@pytest.fixture(scope="session")
def arena(course: Path) -> Iterator[Arena]:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("DEEPDRILLS_SECRET", SECRET)
        with Suite(ASSIGNMENT) as suite, Sandbox(LIMITS, hidden=[ROOT, course]) as sandbox:
            yield Arena(sandbox, suite, course)
