"""One sandbox for all the catalogue's answers of a test process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from autograder.batch.trial import Trial
from autograder.grading.answers import AnswerSheet
from autograder.grading.suite import Suite
from autograder.sandbox.limits import Limits
from autograder.sandbox.process import Sandbox

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def trial() -> Iterator[Callable[[str], Trial]]:
    """`trial("ps1-convolution")`: answers of that assignment, against its suites."""
    limits = Limits(cell_seconds=20, call_seconds=5)
    made: dict[str, Trial] = {}
    with ExitStack() as stack:
        sandbox = stack.enter_context(Sandbox(limits, hidden=[ROOT]))

        def get(assignment: str) -> Trial:
            if assignment not in made:
                suite = stack.enter_context(Suite(assignment))
                made[assignment] = Trial(
                    AnswerSheet(ROOT, assignment), suite, sandbox, limits, "the tests' own secret"
                )
            return made[assignment]

        yield get
