"""Checks of `causal_weights(scores)`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close
from autograder.reference import attention as reference
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]

#: (4, 4), both signs, without any symmetry.
SCORES = np.array(
    [[0.5, 2.0, -1.0, 1.5], [1.0, -0.5, 2.5, 0.25], [-1.5, 0.75, 1.25, 3.0], [2.0, -2.0, 0.5, -0.75]]
)


def _scores(rng: np.random.Generator, n: int) -> Array:
    return rng.permutation(n * n).reshape(n, n) / n - n / 2


def _agree(student: Student, cases: list[Array]) -> None:
    answers = [student.causal_weights(case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        close(answer, reference.causal_weights(case))


def test_equal_scores(student: Student, rng: np.random.Generator) -> None:
    """Equal scores: each word shares its attention equally over what it may look at."""
    _agree(
        student,
        [
            np.zeros((2, 2)),
            np.full((4, 4), float(rng.integers(1, 5))),
            np.full((3, 3), -2.5),
            np.ones((1, 1)),
        ],
    )


@pytest.mark.weight(2)
def test_moderate_scores(student: Student, rng: np.random.Generator) -> None:
    """Scores without symmetry, of both signs."""
    _agree(student, [SCORES, SCORES[:3, :3], SCORES.T.copy(), _scores(rng, 5)])


def test_large_future_scores(student: Student, rng: np.random.Generator) -> None:
    """A very large score of a later word has no effect."""
    fixed, drawn = SCORES.copy(), _scores(rng, 5)
    fixed[0, 3] = fixed[1, 2] = 1000.0
    drawn[int(rng.integers(0, 2)), int(rng.integers(2, 5))] = 1000.0
    _agree(student, [fixed, drawn, np.triu(np.full((3, 3), 1000.0), 1)])


def test_large_past_scores(student: Student, rng: np.random.Generator) -> None:
    """Scores of a thousand, of either sign, among the words that may be looked at."""
    shifted = SCORES + np.array([[1000.0], [-1000.0], [500.0], [0.0]])
    _agree(student, [shifted, SCORES - 1000.0, _scores(rng, 4) + 1000.0])
