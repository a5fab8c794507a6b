"""The hidden suites: collected once by pytest in the trusted process, run for many submissions."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _pytest.config import _prepareconfig
from _pytest.runner import runtestprotocol

from autograder.errors import CourseError
from autograder.grading.secret import generator
from autograder.sandbox.student import Channel, Experiments, Student

FOLDER = Path(__file__).parents[1] / "suites"

#: No plugin of the environment, no cache, no capture, no rewriting (pytest's differ would run on
#: a student's text), no configuration file of a folder above.
_ARGUMENTS = [
    "--disable-plugin-autoload",
    "--import-mode=importlib",
    "--assert=plain",
    "--capture=no",
    "-p", "no:cacheprovider",
    "-p", "no:terminal",
    "-p", "no:warnings",
    "-p", "no:unraisableexception",
    "-p", "no:threadexception",
    "-p", "no:logging",
    "-p", "no:faulthandler",
    "-p", "no:doctest",
    "-p", "no:junitxml",
    "-p", "no:pastebin",
    "-p", "no:stepwise",
    "-c", os.devnull,
]  # fmt: skip


@dataclass(frozen=True)
class Check:
    """One scored item of a suite."""

    exercise: str
    name: str
    sentence: str
    weight: float
    item: Any


class Suite:
    """The suites of one assignment. Use as a context manager."""

    def __init__(self, assignment: str, folder: Path = FOLDER) -> None:
        self.assignment = assignment
        self.path = folder / assignment
        self._current: _Current | None = None
        self._checks: dict[str, list[Check]] = {}

    def __enter__(self) -> Suite:
        if not any(self.path.glob("test_*.py")):
            raise CourseError(self.path, "holds no suite", "Each exercise needs a test_<exercise>.py there.")
        arguments = [*_ARGUMENTS, f"--rootdir={self.path}", str(self.path)]
        with _no_options_from_outside():
            self._config = _prepareconfig(arguments, [self])
        self._config._do_configure()
        try:
            self._collect()
        except BaseException:
            self._config._ensure_unconfigure()
            raise
        return self

    def _collect(self) -> None:
        self._session = pytest.Session.from_config(self._config)
        self._config.hook.pytest_sessionstart(session=self._session)
        try:
            self._session.perform_collect()
        except pytest.UsageError as error:
            raise CourseError(
                self.path, f"cannot be collected ({error})", "Run pytest on it to see why."
            ) from error
        if self._session.testsfailed:
            raise CourseError(self.path, "a suite cannot be imported", "Run pytest on it to see why.")
        for module in {_module_name(item) for item in self._session.items}:
            # Another suite may have a file of that name; pytest would take this one's for it.
            sys.modules.pop(module, None)
        for item in self._session.items:
            check = _check(item)
            _keep_unformatted(item)
            self._checks.setdefault(check.exercise, []).append(check)

    def __exit__(self, *_exc: object) -> None:
        self._config.hook.pytest_sessionfinish(session=self._session, exitstatus=0)
        self._config._ensure_unconfigure()

    def checks(self, exercise: str) -> list[Check]:
        """The checks of an exercise. Raises `CourseError` when there are none."""
        if exercise not in self._checks:
            raise CourseError(
                self.path / f"test_{exercise}.py", "holds no check", "Write the exercise's suite."
            )
        return self._checks[exercise]

    @property
    def exercises(self) -> list[str]:
        return list(self._checks)

    def run(
        self, check: Check, channel: Channel, secret: str, experiments: Experiments | None = None
    ) -> BaseException | None:
        """Run one check against a student's names; returns what it raised, None if it passed."""
        self._current = _Current(
            Student(channel, experiments), generator(secret, self.assignment, check.exercise, check.name)
        )
        check.item._initrequest()
        runtestprotocol(check.item, nextitem=None, log=False)
        raised = self._current.raised
        self._current = None
        return raised

    @pytest.fixture
    def student(self) -> Student:
        assert self._current is not None
        return self._current.student

    @pytest.fixture
    def rng(self) -> np.random.Generator:
        assert self._current is not None
        return self._current.rng

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Iterator[None]:
        if self._current is not None and call.excinfo is not None and self._current.raised is None:
            self._current.raised = call.excinfo.value
        return (yield)

    def pytest_configure(self, config: Any) -> None:
        config.addinivalue_line("markers", "weight(share): the check's share of its exercise's points")


class _Current:
    """The submission that a check is run for."""

    def __init__(self, student: Student, rng: np.random.Generator) -> None:
        self.student = student
        self.rng = rng
        self.raised: BaseException | None = None


def _keep_unformatted(item: Any) -> None:
    """Let pytest not format what an item raises: it may hold a student's text, and nobody reads it."""
    item.repr_failure = lambda excinfo, style=None: ""


def _module_name(item: Any) -> str:
    return str(item.module.__name__)


def _check(item: Any) -> Check:
    exercise = Path(str(item.path)).stem.removeprefix("test_")
    sentence = " ".join((item.function.__doc__ or "").split())
    if not sentence:
        raise CourseError(
            item.path, f"{item.name} has no docstring", "It is the sentence that a student reads."
        )
    marker = item.get_closest_marker("weight")
    weight = float(marker.args[0]) if marker else 1.0
    return Check(exercise, item.name.removeprefix("test_"), sentence, weight, item)


@contextlib.contextmanager
def _no_options_from_outside() -> Iterator[None]:
    """pytest reads options from the environment; a course's checks must not depend on them."""
    kept = os.environ.pop("PYTEST_ADDOPTS", None)
    try:
        yield
    finally:
        if kept is not None:
            os.environ["PYTEST_ADDOPTS"] = kept
