"""The small course, made once a test process."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import small_course


@pytest.fixture(scope="session")
def _small_course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_course.make_course(tmp_path_factory.mktemp("small") / "course")


@pytest.fixture
def root(_small_course: Path, tmp_path: Path) -> Path:
    """A fresh copy of the small course."""
    return small_course.copy_course(_small_course, tmp_path / "course")
