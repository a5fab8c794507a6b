"""Checks of `dropout_expectation(a, p)`.

The right value is the argument itself, so that `return a` needs no thought: every check also asks
for an impossible probability.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close
from autograder.reference import dropout as reference
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]

A = np.array([2.0, 4.0, 6.0, 8.0])


def _drawn(rng: np.random.Generator, n: int) -> Array:
    a: Array = rng.permutation(np.arange(1, 2 * n + 1))[:n] * rng.choice([-0.5, 0.5], n)
    return a


def _agree(student: Student, cases: list[tuple[Array, float]], impossible: float) -> None:
    answers = [student.dropout_expectation(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        close(answer, reference.dropout_expectation(*case), atol=1e-5)
    with student.rejects(ValueError):
        student.dropout_expectation(cases[0][0], impossible)


@pytest.mark.weight(2)
def test_weights_of_the_masks(student: Student, rng: np.random.Generator) -> None:
    """Every mask counts with its probability, and a p of 1 is refused."""
    cases = [(A, 0.25), (A, 0.2), (np.array([1.0, -3.0]), 0.75), (_drawn(rng, 5), 0.35)]
    _agree(student, cases, 1.0)


def test_other_sizes(student: Student, rng: np.random.Generator) -> None:
    """One unit, or several, with large and small p; a negative p is refused."""
    cases = [(np.array([5.0]), 0.6), (_drawn(rng, 3), 0.9), (_drawn(rng, 7), 0.05)]
    _agree(student, cases, -0.1)


def test_nothing_dropped(student: Student, rng: np.random.Generator) -> None:
    """A p of zero is allowed and drops nothing; a p above 1 is refused."""
    _agree(student, [(A, 0.0), (_drawn(rng, 3), 0.0), (A, 0.5)], 1.5)
